"""From the log of a run to rows of the tables of turns and games, every turn scored again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ghostblitz_analysis.captain.facts import GameFollower, differs
from ghostblitz_analysis.log_tables import ANALYSIS_FILE_KEY, RunInfo
from ghostblitz_analysis.marker_checks import check_captain_markers
from ghostblitz_analysis.record_values import check_values, shown
from ghostblitz_analysis.self_test_quotes import quoted_self_test
from ghostblitz_task.captain.reading import captain_key_meanings
from ghostblitz_task.captain.settings import COLOURS
from ghostblitz_task.captain.study import games_sha256
from ghostblitz_task.captain.study_settings import GAME, CaptainStudySettings
from ghostblitz_task.errors import ConfigError, DatasetError
from ghostblitz_task.event_meanings import as_buttons, is_button
from ghostblitz_task.settings_files import validate_settings
from ghostblitz_task.trial_log import RunLog, file_sha256, read_log

__all__ = ["CHANGE_COLUMNS", "CaptainRun", "is_captain_log", "read_captain_run"]

Row = dict[str, Any]

_HEADER = {
    "study_id": "text", "settings": "table", "settings_sha256": "text", "apparatus": "table",
    "participant_id": "text", "session": "integer", "run": "integer", "seed": "integer",
    "source": "text", "participant_model": "text?", "game": "table", "plan_sha256": "text",
    "n_games_planned": "integer", "resumes": "table?", "started_utc": "text?", "others": "list",
}  # fmt: skip
_BLOCK = {
    "block_index": "integer", "label": "text", "phase": "text", "mode": "text", "colours": "list",
    "deck": "table",
}  # fmt: skip
_EVENT = {"t_s": "number", "device": "text"}
#: What measures of the die's changes need beyond the columns of turns.
CHANGE_COLUMNS = (
    "player_id", "mode", "phase", "censored", "followed", "is_nudged", "n_on_deck", "n_new",
    "n_old",
)  # fmt: skip
_ENDS = ("completed", "quit", "failed")
_FACT_COLUMNS = (
    "began_s", "cue_at_start", "cue_at_pick", "cue_at_look", "dropping_id", "colour", "named",
    "claimed", "outcome",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CaptainRun:
    """A run, and its turns and games as rows.

    Attributes
    ----------
    info : RunInfo
        About the run; trials are turns here.
    turns, games : tuple of dict
        The columns of `TURN_COLUMNS` and `GAME_COLUMNS`.
    changes : tuple of dict
        The columns of `CHANGE_COLUMNS`, one for each turn with a value of ``followed``.
    returns_to : str
        Where a wrong dropping went: ``middle`` or ``place``.
    """

    info: RunInfo
    turns: tuple[Row, ...]
    games: tuple[Row, ...]
    changes: tuple[Row, ...]
    returns_to: str


def is_captain_log(path: Path) -> bool:
    """Say whether a file is a log of the captain's deck; False for what cannot be read."""
    try:
        with open(path, "rb") as file:
            header = json.loads(file.readline())
    except (OSError, ValueError):
        return False
    game = header.get("game") if isinstance(header, dict) else None
    return isinstance(game, dict) and game.get("name") == GAME


def read_captain_run(path: Path) -> CaptainRun:
    """Read one log and derive its measures again.

    Raises
    ------
    LogError
        If the file is no log, or is damaged.
    DatasetError
        If a record lacks a value or holds one of the wrong kind, or if a stored value is not what
        the facts or the settings give; naming file, line, turn and both values.
    """
    log = read_log(path)
    where = f"{path}, line 1 (header)"
    check_values(log.header, _HEADER, where)
    if ANALYSIS_FILE_KEY in log.header:
        check_values(log.header, {ANALYSIS_FILE_KEY: "text?"}, where)
    settings = _settings(log, where)
    _check_header(log, settings, where)
    _check_events(log, settings)
    turns, games, changes = _follow(log, settings)
    _check_end(log, len(turns), len(games))
    check_captain_markers(log)
    return CaptainRun(
        info=_info(log, turns, settings),
        turns=tuple(turns),
        games=tuple(games),
        changes=tuple(changes),
        returns_to=settings.captain.returns_to,
    )


def _settings(log: RunLog, where: str) -> CaptainStudySettings:
    header = log.header
    if header["game"].get("name") != GAME:
        raise DatasetError(
            f"{where}: game.name is {shown(header['game'].get('name'))}, but the other logs are of "
            "the captain's deck; analyse them apart"
        )
    text = json.dumps(header["settings"], sort_keys=True, ensure_ascii=True)
    if hashlib.sha256(text.encode()).hexdigest() != header["settings_sha256"]:
        raise DatasetError(
            f"{where}: settings and settings_sha256 do not belong together; the header was "
            "changed after the session began"
        )
    try:
        return validate_settings(
            header["settings"], CaptainStudySettings, where=f"{where}, settings"
        )
    except ConfigError as error:
        raise DatasetError(str(error)) from error


def _check_header(log: RunLog, settings: CaptainStudySettings, where: str) -> None:
    header = log.header
    games = json.loads(json.dumps(settings.games_json()))
    expected = {
        "study_id": settings.study.id,
        "n_games_planned": len(settings.blocks),
        "plan_sha256": games_sha256(settings, header["seed"]),
        "number of players": settings.captain.n_players,
        "game.games": games,
    }
    found = {**header, "number of players": 1 + len(header["others"])}
    found["game.games"] = header["game"].get("games")
    for name, value in expected.items():
        if found[name] != value:
            raise differs(where, name, found[name], "its settings give", value)
    kind, source = header["apparatus"].get("apparatus"), header["source"]
    if source not in ("human", "robot", "simulated"):
        raise DatasetError(f"{where}: source is {shown(source)}, but a log is of a session here")
    if (source == "simulated") != (kind == "simulated"):
        raise DatasetError(
            f"{where}: source is {shown(source)}, but apparatus.apparatus is {shown(kind)}; only "
            "a simulated apparatus gives simulated data"
        )
    if (source == "simulated") != (header["participant_model"] is not None):
        raise DatasetError(
            f"{where}: source is {shown(source)}, but participant_model is "
            f"{shown(header['participant_model'])}; only simulated data have a model"
        )


def _check_events(log: RunLog, settings: CaptainStudySettings) -> None:
    """Check that each key has the meaning that the settings give it."""
    meanings = captain_key_meanings(settings)
    for record in log.records:
        place = f"{log.path}, line {record['n'] + 1} ({record['type']})"
        events = record.get("events", [])
        if not isinstance(events, list):
            raise DatasetError(f"{place}: events is {shown(events)}, but should be a list")
        for number, event in enumerate(events):
            where = f"{place}, event {number}"
            if not isinstance(event, dict):
                raise DatasetError(f"{where}: {shown(event)} is no event")
            check_values(event, _EVENT, where)
            device, key = event.get("device"), event.get("key")
            if device == "pointer":
                continue
            meaning = meanings.get(str(key), ("other_keys", None, None, None))
            kind = as_buttons(meaning[0]) if is_button(str(device)) else meaning[0]
            expected = (kind, meaning[2])
            for name, value in zip(("device", "answer"), expected, strict=True):
                if event.get(name) != value:
                    source = f"by the settings, key {shown(key)} gives"
                    raise differs(where, name, event.get(name), source, value)


def _follow(log: RunLog, settings: CaptainStudySettings) -> tuple[list[Row], list[Row], list[Row]]:
    header = log.header
    players = (header["participant_id"], *header["others"])
    following = (header["resumes"] or {"n_games": 0}).get("n_games", 0)
    turns: list[Row] = []
    games: list[Row] = []
    changes: list[Row] = []
    game: GameFollower | None = None
    row: Row = {}
    for record in log.records:
        where = f"{log.path}, line {record['n'] + 1} ({record['type']})"
        if record["type"] == "block":
            if game is not None:
                raise DatasetError(f"{where}: the game before it has no record of its end")
            _check_block(record, settings, following, where)
            following += 1
            game_settings = settings.game_of(settings.blocks[record["block_index"]])
            game = GameFollower(game_settings, tuple(record["colours"]), players)
            row = _session_row(log) | _block_row(record, settings)
        elif record["type"] in ("turn", "game"):
            if record["type"] == "turn":
                where += f", turn {record.get('turn_index')}"
            if game is None or record.get("block_index") != row["block_index"]:
                raise DatasetError(
                    f"{where}: block_index is {record.get('block_index')}, but the last block "
                    f"record before it is {row.get('block_index', 'none')}; a record is missing"
                )
            if record["type"] == "turn":
                if record.get("phase") != row["phase"]:
                    raise differs(where, "phase", record.get("phase"), "its block has",
                                  row["phase"])  # fmt: skip
                turns.append(row | _turn_row(record, game.check_turn(record, where)))
                if turns[-1]["followed"] is not None:
                    changes.append(_change_row(game, turns[-1]))
            else:
                game.check_game(record, where)
                games.append(row | _game_row(game, record))
                game = None
    if game is not None:  # Killed: what is in its turns is all there is.
        if any(True for _ in log.of_type("end")):
            raise DatasetError(f"{log.path}: its last game has no record of its end")
        games.append(row | _game_row(game, None))
    return turns, games, changes


def _check_block(
    record: Mapping[str, Any], settings: CaptainStudySettings, following: int, where: str
) -> None:
    check_values(record, _BLOCK, where)
    index = record["block_index"]
    if index != following or index >= len(settings.blocks):
        raise DatasetError(
            f"{where}: block_index is {index}, but the next game is {following} of "
            f"{len(settings.blocks)}; games are missing, repeated or out of order"
        )
    block = settings.blocks[index]
    game = settings.game_of(block)
    expected = {"label": block.label, "phase": block.phase, "mode": game.mode}
    for name, value in expected.items():
        if record[name] != value:
            raise differs(where, name, record[name], "the settings say", value)
    counts = {colour: record["colours"].count(colour) for colour in COLOURS}
    dealt = dict.fromkeys(COLOURS, game.n_per_colour)
    if counts != dealt or len(record["colours"]) != game.n_droppings:
        raise differs(where, "colours", counts, "the settings deal", dealt)


def _session_row(log: RunLog) -> Row:
    header = log.header
    return {
        "study_id": header["study_id"],
        "participant_id": header["participant_id"],
        "session": header["session"],
        "run": header["run"],
        "source": header["source"],
        "participant_model": header["participant_model"],
        "display_synchronised": _flag(header["apparatus"], "display_synchronised"),
    }


def _block_row(record: Mapping[str, Any], settings: CaptainStudySettings) -> Row:
    row = {name: record[name] for name in ("block_index", "label", "phase", "mode")}
    return row | {"n_players": settings.captain.n_players}


def _turn_row(record: Mapping[str, Any], derived: Mapping[str, Any]) -> Row:
    facts = record["facts"]
    names = ("turn_index", "player_id", "cue_onset_s", "colour_onset_s", "n_dropped_frames")
    return {
        **{name: record[name] for name in (*names, "longest_frame_s")},
        "player_index": facts["player_index"],
        **{name: facts[name] for name in _FACT_COLUMNS},
        "n_cue_changes": len(facts["cue_changes"]),
        **derived,
        "n_events": len(record["events"]),
    }


def _change_row(game: GameFollower, row: Row) -> Row:
    """Return what was on deck where the die at the pick is not the one at the turn's start."""
    turn = game.turns[-1].turn
    lying = [game.colours[spot.dropping_id] for spot in turn.on_deck]
    return {
        **{name: row[name] for name in ("player_id", "mode", "phase", "censored", "followed")},
        "is_nudged": game.is_nudged,
        "n_on_deck": len(lying),
        "n_new": lying.count(str(turn.cue_at_pick)),
        "n_old": lying.count(turn.cue_at_start),
    }


def _game_row(game: GameFollower, record: Mapping[str, Any] | None) -> Row:
    return {
        "outcome": "killed" if record is None else record["outcome"],
        "duration_s": None if record is None else record["ended_s"],
        "n_turns": len(game.turns),
        "n_censored": sum(facts.turn.outcome == "censored" for facts in game.turns),
        "n_kept": len(game.kept),
        "n_fallen": len(game.fallen),
        "n_left": len(game.on_deck) + len(game.held),
    }


def _check_end(log: RunLog, n_turns: int, n_games: int) -> None:
    for record in log.of_type("end"):
        where = f"{log.path}, line {record['n'] + 1} (end)"
        if record is not log.records[-1]:
            raise DatasetError(
                f"{where}: there are records after the end; the log was changed, or two were joined"
            )
        if record.get("status") not in _ENDS:
            raise DatasetError(
                f"{where}: status is {shown(record.get('status'))}, but should be one of "
                f"{', '.join(_ENDS)}"
            )
        for name, value in (("n_turns", n_turns), ("n_games", n_games)):
            if record.get(name) != value:
                raise differs(where, name, record.get(name), "the records up to it are", value)


def _info(log: RunLog, turns: list[Row], settings: CaptainStudySettings) -> RunInfo:
    header = log.header
    resumes = header["resumes"] or {}
    apparatus = header["apparatus"]
    return RunInfo(
        file=log.path.name,
        sha256=file_sha256(log.path),
        study_id=header["study_id"],
        game=GAME,
        participant_id=header["participant_id"],
        session=header["session"],
        run=header["run"],
        source=header["source"],
        participant_model=header["participant_model"],
        status=log.status,
        torn=log.torn,
        n_trials=len(turns),
        n_interrupted=sum(turn["outcome"] == "censored" for turn in turns),
        n_trials_planned=len(settings.blocks),
        started_utc=header["started_utc"],
        seed=header["seed"],
        settings_sha256=header["settings_sha256"],
        plan_sha256=header["plan_sha256"],
        resumes_file=resumes.get("file"),
        resumes_sha256=resumes.get("sha256"),
        resumes_n_trials=resumes.get("n_games"),
        display_synchronised=_flag(apparatus, "display_synchronised"),
        keys_polled=_flag(apparatus, "keys_polled"),
        self_test=quoted_self_test(header, f"{log.path}, line 1 (header)"),
        says_analysis_file=ANALYSIS_FILE_KEY in header,
        analysis_file_sha256=header.get(ANALYSIS_FILE_KEY),
    )


def _flag(table: Mapping[str, Any], name: str) -> bool | None:
    value = table.get(name)
    return value if isinstance(value, bool) else None
