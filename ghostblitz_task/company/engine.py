"""One round: who takes the card, who gives one up, and where all cards of the round go; pure.

All cards of a round go to one place. That is what the rulebooks have in common; where it is, and
who gives up a card, `ScoringRules` says. ``docs/scoring.md`` says how the rulebooks are read.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ghostblitz_task.company.attempts import Attempt
from ghostblitz_task.company.rules import ScoringRules
from ghostblitz_task.company.table import DealtCard, Move, Place, Table
from ghostblitz_task.errors import ConfigError

__all__ = ["Penalty", "Round", "RoundResult", "draw_lot", "play_round"]

RoundOutcome = Literal["won", "voided", "nobody_right", "nobody_answered"]

# Far below any device's resolution, and above what is lost in a difference of two times: 0.62 s
# and 0.61 s are 0.01 s apart.
_ROUNDING_S = 1e-9


@dataclass(frozen=True, slots=True)
class Round:
    """What is known when a card is closed.

    Attributes
    ----------
    attempts : tuple of Attempt
        At most one for each player, in any order; who is not there did not answer.
    resolution_s : float
        The coarsest resolution of the devices: times no further apart cannot be told apart.
    lot : tuple of str
        Players in an order drawn beforehand (`draw_lot`), which decides between equal times.
    """

    attempts: tuple[Attempt, ...]
    resolution_s: float = 0.0
    lot: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Penalty:
    """A player who had to give up a card; `card` is null where there was none to give.

    `mistaken` is false where nobody was right and all set one aside, mistaken or not.
    """

    player: str
    card: DealtCard | None
    mistaken: bool


@dataclass(frozen=True, slots=True)
class RoundResult:
    """All there is to show and to log of a round.

    Attributes
    ----------
    round_index : int
        From 0.
    card : DealtCard
        The card turned over; `card.recycled` if it was seen in an earlier round.
    outcome : str
        ``won``, ``voided`` (the first who was right also erred), ``nobody_right`` or
        ``nobody_answered``.
    winner : str or None
        Who takes the card.
    attempts : tuple of Attempt
        As they were given.
    tied : tuple of str
        The players whose right answers cannot be told apart in time from the first one, that one
        first; empty if there is no other.
    by_lot : bool
        Whether the lot decided, because the first times were equal.
    voided_by : str or None
        Who was right first and also erred.
    penalties : tuple of Penalty
        In the order in which the players sit.
    moves : tuple of Move
        All cards of the round, in the order in which they were put down.
    reason : str
        The same in words.
    """

    round_index: int
    card: DealtCard
    outcome: RoundOutcome
    winner: str | None
    attempts: tuple[Attempt, ...]
    tied: tuple[str, ...]
    by_lot: bool
    voided_by: str | None
    penalties: tuple[Penalty, ...]
    moves: tuple[Move, ...]
    reason: str

    @property
    def returned(self) -> tuple[DealtCard, ...]:
        """The cards that went under the pile, as they lie there: all of them recycled."""
        under = (m.card for m in self.moves if m.destination.kind == "under_pile")
        return tuple(dataclasses.replace(card, recycled=True) for card in under)


@dataclass(frozen=True, slots=True)
class _Verdict:
    outcome: RoundOutcome
    first: str | None = None
    tied: tuple[str, ...] = ()
    by_lot: bool = False


def draw_lot(players: Sequence[str], rng: np.random.Generator) -> tuple[str, ...]:
    """Draw the order of players that decides between equal times in one round."""
    return tuple(players[int(i)] for i in rng.permutation(len(players)))


def play_round(table: Table, round_: Round, rules: ScoringRules) -> tuple[Table, RoundResult]:
    """Score the next card of the pile.

    The first right answer takes the card, with one card of each player who made a mistake and
    with the jackpot, if there is one. Only cards won before the round are given up, the last won
    first; who has none gives none. With one player, the same rules hold against the deadline.

    Parameters
    ----------
    table : Table
        The game before the round.
    round_ : Round
        What the players did.
    rules : ScoringRules
        Of the game that is played.

    Returns
    -------
    table : Table
        The game after the round, with as many cards as before.
    result : RoundResult
        What happened.

    Raises
    ------
    ConfigError
        If the pile is used up, an attempt is nobody's at the table or a player's second, a time
        or the resolution is no number of seconds, or times are equal and the lot does not decide.
    """
    _check(table, round_)
    verdict = _verdict(round_, table.players, rules)
    winner = verdict.first if verdict.outcome == "won" else None
    penalties = _penalties(table, round_, verdict, rules)
    destination = _destination(winner, verdict, rules)
    turned = table.pile[0]
    moves = [Move(turned, Place("turned"), destination)]
    moves += [
        Move(p.card, Place("hand", p.player), destination) for p in penalties if p.card is not None
    ]
    if winner is not None:
        moves += [Move(card, Place("jackpot"), destination) for card in table.jackpot]
    after = _moved(table, penalties, tuple(m.card for m in moves), destination)
    result = RoundResult(
        round_index=table.n_rounds,
        card=turned,
        outcome=verdict.outcome,
        winner=winner,
        attempts=round_.attempts,
        tied=verdict.tied,
        by_lot=verdict.by_lot,
        voided_by=verdict.first if verdict.outcome == "voided" else None,
        penalties=penalties,
        moves=tuple(moves),
        reason=_in_words(verdict, penalties, table, after),
    )
    return after, result


def _check(table: Table, round_: Round) -> None:
    if not table.pile:
        raise ConfigError("the pile is used up, so no card can be turned over")
    if not (math.isfinite(round_.resolution_s) and round_.resolution_s >= 0):
        raise ConfigError(f"resolution_s is {round_.resolution_s}; give seconds, from 0")
    players = [attempt.player for attempt in round_.attempts]
    for attempt in round_.attempts:
        if attempt.player not in table.players:
            raise ConfigError(
                f"{attempt.player!r} is not at the table; there are {', '.join(table.players)}"
            )
        if players.count(attempt.player) > 1:
            raise ConfigError(f"{attempt.player!r} has two attempts; a card allows one")
        if not math.isfinite(attempt.t_s):
            raise ConfigError(f"the attempt of {attempt.player!r} is at {attempt.t_s} s")


def _verdict(round_: Round, players: tuple[str, ...], rules: ScoringRules) -> _Verdict:
    """Say who was right first, and whether that wins the round."""
    if not round_.attempts:
        return _Verdict("nobody_answered")
    voids = rules.right_and_mistaken == "voids_round"
    contenders = [a for a in round_.attempts if (a.right if voids else a.correct)]
    if not contenders:
        return _Verdict("nobody_right")
    earliest_s = min(a.t_s for a in contenders)
    equal = [a.player for a in contenders if a.t_s == earliest_s]
    missing = [player for player in equal if player not in round_.lot]
    if len(equal) > 1 and missing:
        raise ConfigError(
            f"{' and '.join(equal)} were right at the same time, {earliest_s:g} s, and no lot was "
            "drawn that names them all"
        )
    # Without a lot the order of the seats, which decides nothing then.
    order = (*round_.lot, *players)
    contenders.sort(key=lambda a: (a.t_s, order.index(a.player)))
    first = contenders[0]
    limit_s = earliest_s + round_.resolution_s + _ROUNDING_S
    tied = tuple(a.player for a in contenders if a.t_s <= limit_s)
    return _Verdict(
        "won" if first.correct else "voided",
        first.player,
        tied if len(tied) > 1 else (),
        len(equal) > 1,
    )


def _penalties(
    table: Table, round_: Round, verdict: _Verdict, rules: ScoringRules
) -> tuple[Penalty, ...]:
    mistaken = {a.player for a in round_.attempts if not a.correct}
    all_give = verdict.first is None and rules.nobody_right == "jackpot"
    return tuple(
        Penalty(player, hand[-1] if hand else None, player in mistaken)
        for player, hand in zip(table.players, table.hands, strict=True)
        if all_give or player in mistaken
    )


def _destination(winner: str | None, verdict: _Verdict, rules: ScoringRules) -> Place:
    if winner is not None:
        return Place("hand", winner)
    return Place("under_pile" if verdict.outcome == "voided" else rules.nobody_right)


def _moved(
    table: Table,
    penalties: tuple[Penalty, ...],
    cards: tuple[DealtCard, ...],
    destination: Place,
) -> Table:
    """Put all cards of the round where they go."""
    giving = {p.player for p in penalties if p.card is not None}
    hands = {
        player: hand[:-1] if player in giving else hand
        for player, hand in zip(table.players, table.hands, strict=True)
    }
    pile, jackpot = table.pile[1:], table.jackpot
    if destination.player is not None:
        hands[destination.player] += cards
        jackpot = ()
    elif destination.kind == "under_pile":
        pile += tuple(dataclasses.replace(card, recycled=True) for card in cards)
    else:
        jackpot += cards
    return dataclasses.replace(
        table,
        pile=pile,
        hands=tuple(hands.values()),
        jackpot=jackpot,
        n_rounds=table.n_rounds + 1,
    )


# --- in words --------------------------------------------------------------------------------


def _in_words(
    verdict: _Verdict, penalties: tuple[Penalty, ...], before: Table, after: Table
) -> str:
    parts = [_outcome_words(verdict, len(before.jackpot))]
    if verdict.by_lot:
        parts.append(f"{_listed(verdict.tied)} cannot be told apart in time: the lot decides")
    elif verdict.tied:
        parts.append(
            f"{_listed(verdict.tied)} cannot be told apart in time: the earlier stamp decides"
        )
    givers = [p.player for p in penalties if p.card is not None]
    empty = [p.player for p in penalties if p.card is None]
    if givers:
        gives = "gives" if len(givers) == 1 else "give"
        each = "a card" if len(givers) == 1 else "a card each"
        to = f" to {verdict.first}" if verdict.outcome == "won" else ""
        parts.append(f"{_listed(givers)} {gives} up {each}{to}")
    if empty:
        parts.append(f"{_listed(empty)} {'has' if len(empty) == 1 else 'have'} none to give up")
    if len(after.jackpot) > len(before.jackpot):
        parts.append(f"the jackpot holds {len(after.jackpot)}")
    elif verdict.outcome != "won":
        parts.append("all cards of the round go under the pile")
    return "; ".join(parts)


def _outcome_words(verdict: _Verdict, n_jackpot: int) -> str:
    if verdict.outcome == "won":
        with_jackpot = f" and the jackpot of {n_jackpot}" if n_jackpot else ""
        return f"{verdict.first} was right first and takes the card{with_jackpot}"
    if verdict.outcome == "voided":
        return f"{verdict.first} was right first but grabbed and shouted: nobody takes the card"
    return "nobody answered" if verdict.outcome == "nobody_answered" else "nobody was right"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
