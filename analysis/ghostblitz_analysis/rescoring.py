"""One logged trial scored again from its facts, and compared with what was stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ghostblitz_analysis.company_records import check_round, round_columns
from ghostblitz_analysis.record_values import check_level, check_values, shown
from ghostblitz_analysis.solving import check_answer, direct_position
from ghostblitz_task.errors import CardError, DatasetError
from ghostblitz_task.games import Game, GameState, Response, Stimulus
from ghostblitz_task.rounds import Company, play_card, read_rival
from ghostblitz_task.scoring import Score, TrialEvent, TrialFacts, score_trial

__all__ = ["Rescorer", "Row"]

Row = dict[str, Any]

#: Times are sums of a few floats; a difference beyond this is no rounding.
TOLERANCE = 1e-9
# No session lasts 30 years; larger times lose their microseconds.
_MAX_TIME_S = 1e9
# A kind that ends in "?" may be null.
_TRIAL = {
    "trial_index": "integer", "block_index": "integer", "block_type": "text", "phase": "text",
    "trial_in_block": "integer", "card": "text", "hat_over": "text?", "rule": "text",
    "mode": "text", "target": "text?", "answer": "text", "answer_kind": "text",
    "foreperiod_requested_s": "number", "fixation_onset_s": "number", "onset_s": "number",
    "deadline_s": "number", "second_response_window_s": "number", "events": "list",
    "held_at_onset": "list", "n_dropped_frames": "integer?", "longest_frame_s": "number?",
}  # fmt: skip
_SCORE = dict.fromkeys(Score.__dataclass_fields__, "any")
_EVENT = {"t_s": "number", "device": "text", "kind": "text", "key": "text",
          "resolution_s": "number", "mode": "text?", "answer": "text?"}  # fmt: skip


class Rescorer:
    """Scores the trials of a run again; what a card comes to is found once.

    Parameters
    ----------
    game : Game
        Whose rules solve the cards.
    company : Company or None
        Who played for the cards; None where nobody did.
    """

    def __init__(self, game: Game, company: Company | None = None) -> None:
        self.game = game
        self.company = company
        self._stimuli: dict[tuple[str, str | None], Stimulus] = {}

    def __call__(
        self, record: Mapping[str, Any], last: Mapping[str, Any] | None, line: str
    ) -> tuple[Row, ...]:
        """Return the trial's columns, once for each player.

        Parameters
        ----------
        record : mapping
            The trial.
        last : mapping or None
            The trial before it in the log.
        line : str
            File and line, for messages.

        Raises
        ------
        DatasetError
            Naming file, line, trial, column and both values, if the record lacks a value or
            holds one of the wrong kind, or if a stored value is not what the facts give.
        """
        check_values(record, _TRIAL, line)
        where = f"{line}, trial {record['trial_index']}"
        _check_trial(record, last, where)
        _check_hat(record, self.game, where)
        key = (record["card"], record["hat_over"])
        if key not in self._stimuli:
            self._stimuli[key] = _stimulus(self.game, *key, where)
        stimulus, facts = self._stimuli[key], _facts(record, where)
        _check_presses(facts, stimulus, self.game, where)
        shared = _of_card(record, facts, stimulus, self.game, where)
        if self.company is None:
            score = score_trial(facts, stimulus, self.game)
            return (shared | _score_columns(record, score, where),)
        check_round(record, self.company, stimulus, self.game, where)
        return self._of_players(record, facts, stimulus, shared, where)

    def _of_players(
        self,
        record: Mapping[str, Any],
        facts: TrialFacts,
        stimulus: Stimulus,
        shared: Row,
        where: str,
    ) -> tuple[Row, ...]:
        company = self.company
        assert company is not None
        played = play_card(
            facts,
            stimulus,
            self.game,
            company,
            # Whose the cards before it are changes no score; the whole game is replayed later.
            table=None,
            rival=read_rival(record),
            lot=tuple(record["lot"]),
        )
        rows = []
        for seat, score in enumerate(played.scores):
            alone = len(played.scores) == 1
            stored = record if alone else record["players"][seat]
            at = where if alone else f"{where}, player {seat + 1}"
            rows.append(
                shared
                | _score_columns(stored, score, at)
                | round_columns(record, company, played, seat)
            )
        return tuple(rows)


def _check_trial(record: Mapping[str, Any], last: Mapping[str, Any] | None, where: str) -> None:
    for name in ("block_type", "phase"):
        check_level(record[name], name, where)
    for name in ("trial_index", "block_index", "trial_in_block", "fixation_onset_s"):
        if record[name] < 0:
            raise DatasetError(f"{where}: {name} is {record[name]}, but cannot be negative")
    for name in ("onset_s", "deadline_s", "second_response_window_s"):
        if record[name] > _MAX_TIME_S:
            raise DatasetError(f"{where}: {name} is {record[name]} s, which is no time here")
    if record["onset_s"] < record["fixation_onset_s"]:
        raise DatasetError(
            f"{where}: onset_s is {record['onset_s']}, before fixation_onset_s "
            f"({record['fixation_onset_s']}); the card comes after the fixation mark"
        )
    if record["deadline_s"] <= 0:
        raise DatasetError(f"{where}: deadline_s is {record['deadline_s']}, but must be positive")
    if last is None:
        return
    for name in ("trial_index", "onset_s"):
        if record[name] <= last[name]:
            raise DatasetError(
                f"{where}: {name} is {record[name]}, but {last[name]} in the trial before it "
                f"(line {last['n'] + 1}); trials are repeated or out of order"
            )


def _check_hat(record: Mapping[str, Any], game: Game, where: str) -> None:
    """Check that a trial says where the hat is, if the game has one; else that it has none."""
    if not game.hideable:
        for name in ("hat_over", "trials_since_hat_move"):
            if record.get(name) is not None:
                raise DatasetError(
                    f"{where}: {name} is {shown(record[name])}, but {game.name} has no hat"
                )
        return
    check_values(record, {"hat_over": "text", "trials_since_hat_move": "integer"}, where)
    if record["trials_since_hat_move"] < 0:
        raise DatasetError(
            f"{where}: trials_since_hat_move is {record['trials_since_hat_move']}, but cannot be "
            "negative"
        )


def _stimulus(game: Game, card: str, hat_over: str | None, where: str) -> Stimulus:
    try:
        return game.stimulus(game.parse(card), GameState(hat_over=hat_over))
    except CardError as error:
        raise DatasetError(f"{where}: {error}") from error


def _facts(record: Mapping[str, Any], where: str) -> TrialFacts:
    for place, event in enumerate(record["events"]):
        if not isinstance(event, dict):
            raise DatasetError(f"{where}, event {place}: {shown(event)} is no event")
        check_values(event, _EVENT, f"{where}, event {place}")
        unknown = sorted(set(event) - set(TrialEvent.__dataclass_fields__))
        if unknown or "code" not in event:
            what = f"{unknown[0]} is unknown" if unknown else "code is missing"
            raise DatasetError(f"{where}, event {place}: {what}; this is no log of this program")
        if event["mode"] is not None and event["answer"] is None:
            raise DatasetError(f"{where}, event {place}: it has a mode but no answer")
    return TrialFacts.from_json(record)


def _of_card(
    record: Mapping[str, Any], facts: TrialFacts, stimulus: Stimulus, game: Game, where: str
) -> Row:
    """Return the columns that are the same for all players."""
    solution = stimulus.solution
    derived = {
        "rule": solution.rule,
        "mode": solution.mode,
        "target": solution.target,
        "answer": solution.answer,
        "answer_kind": solution.answer_kind,
    }
    _compare(record, derived, where)
    block_type = record["block_type"]
    if block_type != "mixed" and solution.rule != block_type:
        raise DatasetError(
            f"{where}: card '{stimulus.card}' is {solution.rule}, but its block is {block_type}"
        )
    copied = (
        "trial_index", "block_index", "block_type", "phase", "trial_in_block", "card",
        "foreperiod_requested_s", "fixation_onset_s", "onset_s", "deadline_s",
        "n_dropped_frames", "longest_frame_s",
    )  # fmt: skip
    return (
        {name: record[name] for name in copied}
        | derived
        | {
            "block_kind": "mixed" if block_type == "mixed" else "pure",
            "hat_over": record["hat_over"],
            "trials_since_hat_move": record.get("trials_since_hat_move"),
            "direct_position": direct_position(stimulus, game.item_colours),
            "foreperiod_s": facts.onset_s - facts.fixation_onset_s,
        }
    )


def _score_columns(stored: Mapping[str, Any], score: Score, where: str) -> Row:
    check_values(stored, _SCORE, where)
    derived = score.to_json()
    _compare(stored, derived, where)
    return derived


def _compare(stored: Mapping[str, Any], derived: Row, where: str) -> None:
    for name, value in derived.items():
        if not _agree(stored[name], value):
            raise DatasetError(
                f"{where}: {name} is stored as {shown(stored[name])}, but the facts give "
                f"{shown(value)}; the log was changed, or written by another version"
            )


def _check_presses(facts: TrialFacts, stimulus: Stimulus, game: Game, where: str) -> None:
    for event in facts.events:
        if event.mode is not None and event.answer is not None:
            try:
                check_answer(Response(event.mode, event.answer), game, stimulus)
            except DatasetError as error:
                raise DatasetError(f"{where}: {error}") from error


def _agree(stored: object, derived: object) -> bool:
    if isinstance(derived, float) and isinstance(stored, (int, float)):
        return not isinstance(stored, bool) and abs(stored - derived) <= TOLERANCE
    return type(stored) is type(derived) and stored == derived
