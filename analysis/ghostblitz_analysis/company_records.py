"""Who played for the cards of a run, and what its trials say of their rounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ghostblitz_analysis.record_values import check_level, check_values, shown
from ghostblitz_analysis.solving import check_answer
from ghostblitz_task.company import scoring_rules
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.games import Game, Mode, Response, Stimulus
from ghostblitz_task.rounds import RIVAL, Company, PlayedCard, RivalDescription
from ghostblitz_task.trial_log import RunLog

__all__ = ["check_round", "read_company", "read_others", "round_columns"]

Record = Mapping[str, Any]

_COMPANY = {"players": "list", "max_recycled": "integer", "rival": "table?"}
_RIVAL = {"kind": "text", "n_trials_by_rule": "table?", "files": "list"}
_TRIAL = {"recycled": "flag", "rival": "list", "lot": "list", "round": "table?"}
_ATTEMPT = {"t_s": "number", "mode": "text", "answer": "text"}
_ROUND = {
    "outcome": "text", "winner": "text?", "tied": "list", "by_lot": "flag", "voided_by": "text?",
    "penalties": "list", "recycled": "list", "n_won": "table", "n_jackpot": "integer",
    "n_pile": "integer", "reason": "text",
}  # fmt: skip
_PENALTY = {"player": "text", "gave": "flag", "mistaken": "flag"}
#: A ghost that grabs and shouts gives two; a model answers each card, once.
_MOST_ATTEMPTS = {"model": 1, "ghost": 2}


def read_others(log: RunLog) -> tuple[str, ...]:
    """Return who sat at the other keys; nobody in logs of before there was company.

    Raises
    ------
    DatasetError
        If the header names them wrongly, or one of them twice.
    """
    header, where = log.header, f"{log.path}, line 1 (header)"
    check_values({"others": [], **header}, {"others": "list"}, where)
    others = tuple(header.get("others", ()))
    for place, name in enumerate(others):
        if not isinstance(name, str) or not name.strip():
            raise DatasetError(f"{where}: others.{place} is {shown(name)}, but names a participant")
        if name in (header["participant_id"], *others[:place]):
            raise DatasetError(f"{where}: {shown(name)} has two seats; everybody has one")
    return others


def read_company(log: RunLog, game: Game) -> Company | None:
    """Read back who played for the cards; None where nobody did.

    Of a rival it is known what it did, not how it came about: it draws nothing.

    Raises
    ------
    DatasetError
        If the header contradicts itself, or names nobody who could have played.
    """
    header, where = log.header, f"{log.path}, line 1 (header)"
    others = read_others(log)
    check_values({"company": None, **header}, {"company": "table?"}, where)
    company = header.get("company")
    if company is None:
        if others:
            raise DatasetError(
                f"{where}: others is {shown(list(others))}, but company is null; several players "
                "play for cards"
            )
        return None
    check_values(company, _COMPANY, f"{where}, company")
    players = [header["participant_id"], *others]
    if company["players"] != players:
        raise DatasetError(
            f"{where}: company.players is {shown(company['players'])}, but participant_id and "
            f"others give {shown(players)}; the log was changed"
        )
    if RIVAL in players:
        raise DatasetError(f"{where}: {shown(RIVAL)} is no participant; a simulated rival is so")
    if company["max_recycled"] < 0:
        raise DatasetError(
            f"{where}: company.max_recycled is {company['max_recycled']}, but cannot be negative"
        )
    return Company(
        tuple(players),
        scoring_rules(game.name),
        company["max_recycled"],
        rival_description=_read_rival(company["rival"], f"{where}, company.rival"),
    )


def _read_rival(rival: Record | None, where: str) -> RivalDescription | None:
    if rival is None:
        return None
    check_values(rival, _RIVAL, where)
    check_level(rival["kind"], "rival_kind", where)
    counts = rival["n_trials_by_rule"]
    if (rival["kind"] == "ghost") != (counts is not None):
        raise DatasetError(
            f"{where}: kind is {shown(rival['kind'])}, but n_trials_by_rule is {shown(counts)}; a "
            "ghost is made of trials, a model of settings"
        )
    return RivalDescription(rival["kind"], counts, tuple(map(str, rival["files"])))


def check_round(
    record: Record, company: Company, stimulus: Stimulus, game: Game, where: str
) -> None:
    """Check that a trial says of its round what it must, in values of the right kinds.

    Raises
    ------
    DatasetError
        Naming the place and the value.
    """
    check_values(record, _TRIAL, where)
    if sorted(map(str, record["lot"])) != sorted(company.at_table):
        raise DatasetError(
            f"{where}: lot is {shown(record['lot'])}, but orders {shown(list(company.at_table))}"
        )
    _check_attempts(record, company, stimulus, game, where)
    if len(company.players) > 1:
        check_values(record, {"players": "list"}, where)
        n_scores, n_players = len(record["players"]), len(company.players)
        if n_scores != n_players or not all(isinstance(s, dict) for s in record["players"]):
            raise DatasetError(
                f"{where}: players holds {n_scores} scores, but {n_players} players have one each"
            )
    played = record["round"]
    if (record["phase"] == "test") != (played is not None):
        raise DatasetError(
            f"{where}: round is {shown(played)}, but phase is {shown(record['phase'])}; the cards "
            "of tests are played for, and no others"
        )
    if played is None:
        return
    check_values(played, _ROUND, f"{where}, round")
    check_level(played["outcome"], "round_outcome", f"{where}, round")
    for penalty in played["penalties"]:
        if not isinstance(penalty, dict):
            raise DatasetError(f"{where}, round: {shown(penalty)} is no penalty")
        check_values(penalty, _PENALTY, f"{where}, round, penalties")
    won = dict.fromkeys(company.at_table, "integer")
    if set(played["n_won"]) != set(won):
        raise DatasetError(
            f"{where}, round: n_won counts cards of {shown(list(played['n_won']))}, but at the "
            f"table are {shown(list(won))}"
        )
    check_values(played["n_won"], won, f"{where}, round, n_won")


def _check_attempts(
    record: Record, company: Company, stimulus: Stimulus, game: Game, where: str
) -> None:
    rival = company.rival_description
    most = _MOST_ATTEMPTS[rival.kind] if rival else 0
    if len(record["rival"]) > most:
        raise DatasetError(
            f"{where}: rival is {shown(record['rival'])}, but "
            + (f"a {rival.kind} answers at most {most} times" if rival else "there is no rival")
        )
    for attempt in record["rival"]:
        if not isinstance(attempt, dict):
            raise DatasetError(f"{where}: rival: {shown(attempt)} is no attempt")
        check_values(attempt, _ATTEMPT, f"{where}, rival")
        check_level(attempt["mode"], "mode", f"{where}, rival")
        response = Response(cast(Mode, attempt["mode"]), attempt["answer"])
        try:
            check_answer(response, game, stimulus)
        except DatasetError as error:
            raise DatasetError(f"{where}, rival: {error}") from error


def round_columns(
    record: Record, company: Company, played: PlayedCard, seat: int
) -> dict[str, Any]:
    """Return the columns that say what the round was to the player in a seat.

    Parameters
    ----------
    record : mapping
        A trial whose round was checked; what the table of the cards decides is taken from it.
    company : Company
        Who played.
    played : PlayedCard
        The card scored again.
    seat : int
        From 0.
    """
    result = record["round"]
    if result is None:
        return {}
    player = company.players[seat]
    columns = {
        "recycled": record["recycled"],
        "round_outcome": result["outcome"],
        "took_card": result["winner"] == player,
        "gave_card": any(p["player"] == player and p["gave"] for p in result["penalties"]),
        "tied": player in result["tied"],
        "n_cards_won": result["n_won"][player],
    }
    if company.rival_description is None:
        return columns
    attempt = next((a for a in played.result.attempts if a.player == RIVAL), None)
    return columns | {
        "rival_rt_s": None if attempt is None else min(a["t_s"] for a in record["rival"]),
        "rival_correct": attempt is not None and attempt.correct,
        "rival_took_card": result["winner"] == RIVAL,
    }
