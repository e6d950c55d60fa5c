"""Cards that are played for in a session: the round of each card, and the game they add up to.

What the players did comes from the facts of the trial, who takes the card from the engine of
`ghostblitz_task.company`. Nothing here shows or writes anything.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ghostblitz_task.company import (
    LogNormal,
    PlannedAttempt,
    Rival,
    Round,
    RoundResult,
    ScoringRules,
    Table,
    TimedResponse,
    draw_lot,
    judge_attempts,
    make_rival,
    new_table,
    play_round,
    scoring_rules,
    standings,
)
from ghostblitz_task.config import RivalSettings, StudySettings
from ghostblitz_task.design import Plan, TrialPlan
from ghostblitz_task.games import Game, GameState, Outcome, Response, Stimulus
from ghostblitz_task.scoring import Score, TrialFacts, responses, score_trial
from ghostblitz_task.seeds import rng_for

__all__ = [
    "RIVAL",
    "Company",
    "PlayedCard",
    "ReplayedRound",
    "RivalDescription",
    "first_table",
    "lot_of",
    "make_company",
    "model_rival",
    "play_card",
    "read_rival",
    "recycled_trial",
    "replay_rounds",
    "rival_attempts",
]

#: The seat of a simulated rival; no participant can be called so.
RIVAL = "(rival)"


@dataclass(frozen=True, slots=True)
class RivalDescription:
    """What stands in the header about a rival: its kind, and what it was made of."""

    kind: str
    n_trials_by_rule: Mapping[str, int] | None = None
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Company:
    """Who plays for the cards, and by which rules.

    Attributes
    ----------
    players : tuple of str
        Participants, by seat.
    rules : ScoringRules
        The game's.
    max_recycled : int
        Most trials with cards that went back under the pile.
    rival : Rival or None
        Plays along.
    rival_description : RivalDescription or None
        For the header.
    """

    players: tuple[str, ...]
    rules: ScoringRules
    max_recycled: int
    rival: Rival | None = None
    rival_description: RivalDescription | None = None

    @property
    def at_table(self) -> tuple[str, ...]:
        """The players, and a rival as the last."""
        return (*self.players, RIVAL) if self.rival_description is not None else self.players

    @property
    def seats(self) -> tuple[int | None, ...]:
        """The players' seats as events name them: null for the only one."""
        return tuple(range(len(self.players))) if len(self.players) > 1 else (None,)

    def header(self) -> dict[str, Any]:
        """Return what the header says of the company."""
        rival = self.rival_description
        return {
            "players": list(self.players),
            "max_recycled": self.max_recycled,
            "rival": dataclasses.asdict(rival) if rival else None,
        }


@dataclass(frozen=True, slots=True)
class PlayedCard:
    """What a card came to: a score for each player, the round, the table after it.

    `outcome` is what moves a hat: the answer of whoever took the card. `table` and `result` are
    of a game of their own where the card is not played for.
    """

    scores: tuple[Score, ...]
    outcome: Outcome
    table: Table
    result: RoundResult

    def round_json(self) -> dict[str, Any]:
        """Return the round as it stands in the log; all of it follows from the facts."""
        result = self.result
        return {
            "outcome": result.outcome,
            "winner": result.winner,
            "tied": list(result.tied),
            "by_lot": result.by_lot,
            "voided_by": result.voided_by,
            "penalties": [
                {"player": p.player, "gave": p.card is not None, "mistaken": p.mistaken}
                for p in result.penalties
            ],
            "recycled": [card.text for card in result.returned],
            "n_won": self.table.n_won,
            "n_jackpot": len(self.table.jackpot),
            "n_pile": len(self.table.pile),
            "reason": result.reason,
        }

    def standings_json(self) -> list[dict[str, Any]]:
        """Return who has how many cards, best first."""
        return [dataclasses.asdict(standing) for standing in standings(self.table)]


def first_table(company: Company, plan: Plan) -> Table:
    """Lay out the game: the cards of all test trials in their order."""
    cards = [str(t.card) for t in plan.trials if plan.blocks[t.block_index].phase == "test"]
    return new_table(company.at_table, cards)


def recycled_trial(
    settings: StudySettings, plan: Plan, table: Table, game: Game, *, seed: int, n_recycled: int
) -> TrialPlan:
    """Return the trial with the next card of the pile, after all planned ones.

    It stands in a block of its own, after the study's; its foreperiod is drawn by its number.
    """
    trial_index = len(plan.trials) + n_recycled
    shortest, longest = settings.timing.foreperiod_s
    foreperiod_s = float(rng_for(seed, "foreperiods", trial_index).uniform(shortest, longest))
    card = game.parse(table.pile[0].text)
    return TrialPlan(trial_index, len(plan.blocks), n_recycled, card, foreperiod_s)


def play_card(
    facts: TrialFacts,
    stimulus: Stimulus,
    game: Game,
    company: Company,
    *,
    table: Table | None,
    rival: Sequence[PlannedAttempt],
    lot: tuple[str, ...],
) -> PlayedCard:
    """Score a card for each player and find who takes it.

    Parameters
    ----------
    facts : TrialFacts
        All presses of all players.
    stimulus, game
        The card on the table as it lay.
    company : Company
        Who plays.
    table : Table or None
        The game before the round; null where the card is not played for, as in practice.
    rival : sequence of PlannedAttempt
        What the rival did.
    lot : tuple of str
        The order that decides between equal times.
    """
    given: list[TimedResponse] = []
    resolutions_s = [0.0]
    for player, seat in zip(company.players, company.seats, strict=True):
        for event in responses(facts, seat):
            response = Response(event.mode, str(event.answer))  # type: ignore[arg-type]
            given.append(TimedResponse(player, event.t_s - facts.onset_s, response))
            resolutions_s.append(event.resolution_s)
    given += [attempt.by(RIVAL) for attempt in rival]
    judged = judge_attempts(
        given,
        stimulus,
        game,
        second_response_window_s=facts.second_response_window_s,
        deadline_s=facts.deadline_s,
    )
    played = Round(judged.attempts, max(resolutions_s), lot)
    before = new_table(company.at_table, [str(stimulus.card)]) if table is None else table
    after, result = play_round(before, played, company.rules)
    winners = [a for a in result.attempts if a.player == result.winner]
    outcome = Outcome(winners[0].response, True) if winners else Outcome(None, False)
    scores = tuple(score_trial(facts, stimulus, game, seat) for seat in company.seats)
    return PlayedCard(scores, outcome, after, result)


def read_rival(record: Mapping[str, Any]) -> tuple[PlannedAttempt, ...]:
    """Read back what the rival did in a trial."""
    return tuple(
        PlannedAttempt(Response(attempt["mode"], attempt["answer"]), attempt["t_s"])
        for attempt in record["rival"]
    )


@dataclass(frozen=True, slots=True)
class ReplayedRound:
    """A logged trial met again, with the table of the game and of the cards after it."""

    record: Mapping[str, Any]
    stimulus: Stimulus
    played: PlayedCard
    after: GameState


def replay_rounds(
    records: Iterable[Mapping[str, Any]],
    game: Game,
    state: GameState,
    company: Company,
    table: Table,
    *,
    hat_moves: Mapping[int, str],
) -> Iterator[ReplayedRound]:
    """Go through a session's trials again, each on the tables that the ones before it left.

    Parameters as in `ghostblitz_task.scoring.replay_trials`, and the company with its first table.
    """
    for record in records:
        stimulus = game.stimulus(game.parse(record["card"]), state)
        counts = record["phase"] == "test"
        played = play_card(
            TrialFacts.from_json(record),
            stimulus,
            game,
            company,
            table=table if counts else None,
            rival=read_rival(record),
            lot=tuple(record["lot"]),
        )
        table = played.table if counts else table
        chosen = hat_moves.get(record["trial_index"])
        state = game.advance(state, stimulus, dataclasses.replace(played.outcome, hat_to=chosen))
        yield ReplayedRound(record, stimulus, played, state)


def make_company(
    settings: StudySettings,
    players: tuple[str, ...],
    *,
    rival: Rival | None = None,
    rival_description: RivalDescription | None = None,
) -> Company | None:
    """Return the company of a session, or None where nothing is played for."""
    if settings.company is None:
        return None
    rules = scoring_rules(settings.game.name)
    return Company(players, rules, settings.company.max_recycled, rival, rival_description)


def model_rival(settings: RivalSettings) -> Rival:
    """Make the rival that a study's settings describe; one of kind ``model``."""
    medians = settings.median_rt_s
    rts = {rule: LogNormal(rt_s, settings.spread) for rule, rt_s in medians.items()}
    return make_rival(rts, settings.error_rate)


def lot_of(company: Company, *, seed: int, trial_index: int) -> tuple[str, ...]:
    """Draw the order that decides between equal times in a trial."""
    return draw_lot(company.at_table, rng_for(seed, "lot", trial_index))


def rival_attempts(
    company: Company, stimulus: Stimulus, game: Game, *, seed: int, trial_index: int
) -> tuple[PlannedAttempt, ...]:
    """Draw what the rival will do with a card; nothing without a rival."""
    if company.rival is None:
        return ()
    return company.rival.attempt(stimulus, game, rng_for(seed, "rival", trial_index))
