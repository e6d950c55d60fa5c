"""From the logs of runs to rows of the trial table, every trial scored again from its facts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ghostblitz_analysis.company_records import read_company
from ghostblitz_analysis.marker_checks import check_markers
from ghostblitz_analysis.record_checks import Checked, PlanCheck, check_records
from ghostblitz_analysis.record_values import check_level, check_values, shown
from ghostblitz_analysis.rescoring import Rescorer, Row
from ghostblitz_analysis.self_test_quotes import SelfTestQuote, quoted_self_test
from ghostblitz_analysis.solving import item_colours_text, rules_text
from ghostblitz_task.config import StudySettings
from ghostblitz_task.design import Plan
from ghostblitz_task.errors import ConfigError, DatasetError, LogError
from ghostblitz_task.games import Game, GameSettings, GameState, make_game
from ghostblitz_task.rounds import Company
from ghostblitz_task.trial_log import RunLog, file_sha256, read_log

__all__ = ["ANALYSIS_FILE_KEY", "RunInfo", "RunTable", "read_run"]

#: The header's key for the sum of the data set's ``analysis.toml``; earlier logs lack it.
ANALYSIS_FILE_KEY = "analysis_file_sha256"
# How every log begins.
_HEADER_START = b'{"type": "header", '
# A kind that ends in "?" may be null.
_HEADER = {
    "study_id": "text", "settings": "table", "settings_sha256": "text", "apparatus": "table",
    "participant_id": "text", "session": "integer", "run": "integer", "seed": "integer",
    "source": "text", "participant_model": "text?", "game": "table", "plan_sha256": "text",
    "n_trials_planned": "integer", "resumes": "table?", "started_utc": "text?",
}  # fmt: skip
_GAME = {
    "name": "text", "item_colours": "table", "n_pictures": "integer", "shout_item": "text?",
    "rules": "list",
}  # fmt: skip
_GAME_OF_HATS = {"times": "list", "hat_mover": "text?"}
_RESUMES = {"file": "text", "sha256": "text", "n_trials": "integer"}


@dataclass(frozen=True, slots=True)
class RunInfo:
    """One run of a session, as its log tells it.

    Attributes
    ----------
    file : str
        Name of the log.
    sha256 : str
        Of the file's bytes.
    status : str
        ``completed``, ``quit``, ``failed`` or ``killed`` (the log just ends).
    torn : bool
        Whether a last, incomplete line was left out.
    n_trials, n_interrupted, n_trials_planned : int
        Trials in this run, trials cut short, and trials that the whole session was to have.
        Where several play together, a trial is all players'.
    display_synchronised : bool or None
        Whether flips were seen to wait for the screen's refresh.
    keys_polled : bool or None
        Whether key times are those of polling, not of the key.
    display_findings : tuple of (str, str)
        What is out of the ordinary about the display: kind and sentence.
    resumes_file, resumes_sha256, resumes_n_trials
        The run that this one continues, its sum and its trials; null for a first run.
    plan_check : str
        Whether the trials are those that settings and seed give: ``same``, ``differs``,
        ``other_version`` (which wrote the log, so that they cannot be compared) or ``unknown``.
    others : tuple of str
        The participants in the other seats.
    rival_kind : str or None
        The simulated rival, where there was one.
    n_recycled : int
        Of the trials in this run, those with cards that came again, beyond the planned ones.
    self_test : SelfTestQuote or None
        The timing self-test that the log quotes.
    says_analysis_file : bool
        Whether the log says which ``analysis.toml`` stood in the data set as the run began; those
        of earlier versions do not.
    analysis_file_sha256 : str or None
        The sum of that file; null where none stood there.
    """

    file: str
    sha256: str
    study_id: str
    game: str
    participant_id: str
    session: int
    run: int
    source: str
    participant_model: str | None
    status: str
    torn: bool
    n_trials: int
    n_interrupted: int
    n_trials_planned: int
    started_utc: str | None
    seed: int
    display_synchronised: bool | None
    keys_polled: bool | None
    settings_sha256: str
    plan_sha256: str
    resumes_file: str | None = None
    resumes_sha256: str | None = None
    resumes_n_trials: int | None = None
    plan_check: PlanCheck = "unknown"
    others: tuple[str, ...] = ()
    rival_kind: str | None = None
    n_recycled: int = 0
    self_test: SelfTestQuote | None = None
    display_findings: tuple[tuple[str, str], ...] = ()
    says_analysis_file: bool = False
    analysis_file_sha256: str | None = None

    @property
    def players(self) -> tuple[str, ...]:
        """All participants of the run, by seat."""
        return (self.participant_id, *self.others)

    @property
    def identity(self) -> tuple[str, int, int]:
        """The participant in the first seat, session and run."""
        return self.participant_id, self.session, self.run


@dataclass(frozen=True, slots=True)
class RunTable:
    """A run, its trials as rows of the trial table, and what hat and cards need to be followed.

    Attributes
    ----------
    info : RunInfo
        About the run.
    rows : tuple of dict
        Its trials, one row for each player.
    game : Game
        Whose rules solve the cards.
    table : GameState or None
        What lay on the table before the session's first card, where the plan is known.
    records : tuple of mapping
        All records of a run with a hat or played for cards, in order; none of others.
    company : Company or None
        Who played for the cards; None where nobody did.
    settings : StudySettings or None
        The study's, of a run played for cards whose settings this version can read.
    plan : Plan or None
        What seed and settings give, of a run played for cards that follows it.
    """

    info: RunInfo
    rows: tuple[Row, ...]
    game: Game
    table: GameState | None = None
    records: tuple[Mapping[str, Any], ...] = ()
    company: Company | None = None
    settings: StudySettings | None = None
    plan: Plan | None = None

    @property
    def has_hat(self) -> bool:
        """Whether there is a hat, or a record of one."""
        return bool(self.game.hideable) or any(r["type"] == "hat" for r in self.records)


def read_run(path: Path) -> RunTable:
    """Read one log and score its trials again.

    Raises
    ------
    LogError
        If the file is no log, or is damaged.
    DatasetError
        If a record lacks a value or holds one of the wrong kind, or if a stored value is not
        what the facts, the settings or the plan give; naming file, trial, column and both values.
    """
    _check_first_line(path)
    log = read_log(path)
    check_values(log.header, _HEADER, f"{path}, line 1 (header)")
    _check_header(log)
    game = _game(log)
    company = read_company(log, game)
    rows = tuple(_rows(log, game, company))
    checked = check_records(log, company)
    check_markers(log)
    info = _run_info(log, company, checked)
    needs_records = company is not None or game.hideable or any(log.of_type("hat"))
    return RunTable(
        info,
        rows,
        game,
        checked.table,
        log.records if needs_records else (),
        company,
        checked.settings if company else None,
        checked.plan if company else None,
    )


def _check_first_line(path: Path) -> None:
    """Refuse a log that was cut off in its header, with advice; it holds no trial."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise LogError(f"{path} cannot be read: {error.strerror}") from error
    if data.strip() and b"\n" not in data and (
        data.startswith(_HEADER_START) or _HEADER_START.startswith(data)
    ):  # fmt: skip
        try:
            json.loads(data)
        except ValueError:
            raise LogError(
                f"{path}, line 1: the header was cut off, as when a session is killed while it "
                "begins; the log holds no trial, so move it out of the data set"
            ) from None


def _check_header(log: RunLog) -> None:
    header, where = log.header, f"{log.path}, line 1 (header)"
    check_values(header["game"], _GAME, f"{where}, game")
    newer = {name: kind for name, kind in _GAME_OF_HATS.items() if name in header["game"]}
    check_values(header["game"], newer, f"{where}, game")
    for item, colour in header["game"]["item_colours"].items():
        if not isinstance(colour, str):
            raise DatasetError(
                f"{where}, game: item_colours.{item} is {shown(colour)}, but should be a text"
            )
    if header["resumes"] is not None:
        check_values(header["resumes"], _RESUMES, f"{where}, resumes")
    if ANALYSIS_FILE_KEY in header:
        check_values(header, {ANALYSIS_FILE_KEY: "text?"}, where)
    if not header["participant_id"].strip():
        raise DatasetError(f"{where}: participant_id is empty; every run belongs to a participant")
    check_level(header["source"], "source", where)
    for name in ("session", "run"):
        if header[name] < 1:
            raise DatasetError(f"{where}: {name} is {header[name]}, but they count from 1")
    text = json.dumps(header["settings"], sort_keys=True, ensure_ascii=True)
    if hashlib.sha256(text.encode()).hexdigest() != header["settings_sha256"]:
        raise DatasetError(
            f"{where}: settings and settings_sha256 do not belong together; the header was "
            "changed after the session began"
        )


def _game(log: RunLog) -> Game:
    table = log.header["game"]
    settings = GameSettings(
        name=table["name"],
        item_colours=table["item_colours"],
        n_pictures=table["n_pictures"],
        shout_item=table["shout_item"],
        rules=frozenset(map(str, table["rules"])),
        # Logs of before there were such games lack these.
        times=tuple(map(str, table.get("times") or ())),
        hat_mover=table.get("hat_mover"),
    )
    try:
        return make_game(settings)
    except ConfigError as error:
        raise DatasetError(f"{log.path}, line 1 (header): {error}") from error


def _run_info(log: RunLog, company: Company | None, checked: Checked) -> RunInfo:
    header = log.header
    resumes = header["resumes"] or {}
    trials = list(log.of_type("trial"))
    rival = company.rival_description if company else None
    return RunInfo(
        file=log.path.name,
        sha256=file_sha256(log.path),
        study_id=header["study_id"],
        game=header["game"]["name"],
        participant_id=header["participant_id"],
        session=header["session"],
        run=header["run"],
        source=header["source"],
        participant_model=header["participant_model"],
        status=log.status,
        torn=log.torn,
        n_trials=len(trials),
        n_interrupted=sum(1 for _ in log.of_type("interrupted")),
        n_trials_planned=header["n_trials_planned"],
        started_utc=header["started_utc"],
        seed=header["seed"],
        display_synchronised=_flag(header["apparatus"], "display_synchronised"),
        keys_polled=_flag(header["apparatus"], "keys_polled"),
        settings_sha256=header["settings_sha256"],
        plan_sha256=header["plan_sha256"],
        resumes_file=resumes.get("file"),
        resumes_sha256=resumes.get("sha256"),
        resumes_n_trials=resumes.get("n_trials"),
        plan_check=checked.plan_check,
        others=company.players[1:] if company else (),
        rival_kind=rival.kind if rival else None,
        n_recycled=sum(trial["recycled"] for trial in trials) if company else 0,
        self_test=quoted_self_test(header, f"{log.path}, line 1 (header)"),
        says_analysis_file=ANALYSIS_FILE_KEY in header,
        analysis_file_sha256=header.get(ANALYSIS_FILE_KEY),
        display_findings=_display_findings(header["apparatus"], f"{log.path}, line 1 (header)"),
    )


def _flag(table: Mapping[str, Any], name: str) -> bool | None:
    value = table.get(name)
    return value if isinstance(value, bool) else None


def _display_findings(apparatus: Mapping[str, Any], where: str) -> tuple[tuple[str, str], ...]:
    """Return kind and sentence of each; logs from before there were any have none."""
    check_values({"display_findings": None} | dict(apparatus), {"display_findings": "list?"}, where)
    findings = apparatus.get("display_findings") or []
    for finding in findings:
        inner = f"{where}, apparatus.display_findings"
        check_values({"finding": finding}, {"finding": "table"}, inner)
        check_values(finding, {"kind": "text", "text": "text"}, inner)
    return tuple((finding["kind"], finding["text"]) for finding in findings)


def _rows(log: RunLog, game: Game, company: Company | None) -> Iterator[Row]:
    header = log.header
    players = company.players if company else (header["participant_id"],)
    rival = company.rival_description if company else None
    session = {
        "study_id": header["study_id"],
        "game": game.name,
        "session": header["session"],
        "run": header["run"],
        "source": header["source"],
        "participant_model": header["participant_model"],
        "n_players": len(players),
        "rival_kind": rival.kind if rival else None,
        "display_synchronised": _flag(header["apparatus"], "display_synchronised"),
        "item_colours": item_colours_text(game.item_colours),
        "rules": rules_text(game.rules),
    }
    last: Mapping[str, Any] | None = None
    rescore = Rescorer(game, company)
    for record in log.of_type("trial"):
        rows = rescore(record, last, f"{log.path}, line {record['n'] + 1}")
        for seat, (player, row) in enumerate(zip(players, rows, strict=True)):
            yield (
                session
                | row
                | {
                    "participant_id": player,
                    "player": seat + 1 if len(players) > 1 else None,
                    "resumed": header["run"] > 1 and last is None,
                }
            )
        last = record
