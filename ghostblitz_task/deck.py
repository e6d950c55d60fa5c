"""Enumerate the legal cards of a game and build decks with stated margins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ghostblitz_task.errors import CardError, ConfigError
from ghostblitz_task.games import DeckMargins, Game, Stimulus

__all__ = ["DECK_KINDS", "FACTORS", "Deck", "build_deck", "legal_stimuli", "solve_cards"]

DECK_KINDS = ("standard", "balanced", "legal")

#: Each factor gives the levels at which a card counts: one, or one per picture.
FACTORS: Mapping[str, Callable[[Stimulus], tuple[str, ...]]] = {
    "rule": lambda s: (s.solution.rule,),
    "mode": lambda s: (s.solution.mode,),
    "target": lambda s: (str(s.solution.target),),
    "pair": lambda s: ("+".join(sorted(p.item for p in s.card.pictures)),),
    "depicted": lambda s: tuple(p.item for p in s.card.depicted),
    "shown_colour": lambda s: tuple(p.colour for p in s.card.depicted),
}

# A deck of 60 from 120 cards is found within some hundred swaps; the limits only end a hopeless
# search.
_N_RESTARTS = 40
_N_SWAPS = 4000
# Exchanges that are tried to make what the quotas leave open more even.
_N_EVENING_SWAPS = 3000


@dataclass(frozen=True, slots=True)
class Deck:
    """Solved cards, and what the margins asked for against what was reached."""

    kind: str
    stimuli: tuple[Stimulus, ...]
    margins: DeckMargins | None

    def counts(self, factor: str) -> Counter[str]:
        """Count the cards (or pictures) at each level of a factor or of factors joined by *."""
        return Counter(
            level for s in self.stimuli for level in levels(s, factor, margins=self.margins)
        )


def levels(stimulus: Stimulus, factor: str, *, margins: DeckMargins | None = None) -> list[str]:
    """Return the levels of a factor, or of factors joined by ``*``, that a card counts at.

    A game's own factors are known by its `margins`.
    """
    own = margins.factors if margins else {}
    found = [""]
    for name in factor.split("*"):
        counted = own[name] if name in own else FACTORS[name]
        found = [f"{a}*{b}" if a else b for a in found for b in counted(stimulus)]
    return found


@lru_cache(maxsize=64)
def legal_stimuli(game: Game, kind: str = "legal") -> tuple[Stimulus, ...]:
    """Enumerate every legal card that the game can make, each once, solved on the first table."""
    table = game.initial_state()
    found = []
    for card in game.cards(kind):
        try:
            found.append(game.stimulus(card, table))
        except CardError:
            continue
    return tuple(found)


def solve_cards(texts: Sequence[str], game: Game) -> Deck:
    """Make a custom deck of the cards a study lists, in their order.

    Raises
    ------
    ConfigError
        If a card is illegal in this game, shows more pictures than the game has on a card, or
        is listed twice.
    """
    stimuli = []
    for text in texts:
        try:
            stimuli.append(game.stimulus(game.parse(text), game.initial_state()))
        except CardError as error:
            raise ConfigError(f"deck.cards: {error} ({error.code})") from error
        if len(stimuli[-1].card.pictures) > game.n_pictures:
            raise ConfigError(
                f"deck.cards: card {text!r} shows more than {game.n_pictures} pictures, which is "
                "game.n_pictures"
            )
        answer = stimuli[-1].solution
        if answer.answer not in game.answers(answer.mode):
            raise ConfigError(
                f"deck.cards: card {text!r} asks to {answer.mode} {answer.answer!r}, which is none "
                f"of {', '.join(game.answers(answer.mode))}"
            )
    repeated = [c for c, n in Counter(s.card.card_id for s in stimuli).items() if n > 1]
    if repeated:
        raise ConfigError(f"deck.cards lists {repeated[0]!r} more than once")
    return Deck("custom", tuple(stimuli), None)


def build_deck(game: Game, *, kind: str, rng: np.random.Generator) -> Deck:
    """Build a deck of a game.

    Parameters
    ----------
    game : Game
        The game as the study sets it.
    kind : str
        ``standard`` (the physical deck's margins), ``balanced`` (rules equally often) or
        ``legal`` (every legal card once).
    rng : numpy.random.Generator
        Draws one of the many decks with these margins, and shuffles it.

    Raises
    ------
    ConfigError
        If the game, or the study's mapping, has no such deck.
    """
    candidates = legal_stimuli(game, kind)
    if kind == "legal":
        chosen = candidates
        margins = None
    else:
        margins = game.deck_margins(kind)
        if margins is None:
            raise ConfigError(
                f"game {game.name} with {len(game.item_colours)} items in "
                f"{len(set(game.item_colours.values()))} colours and {game.n_pictures} on a card "
                f"has no {kind} deck; use legal, or list the cards"
            )
        chosen = _choose(_candidates(game, kind), rng)
    order = rng.permutation(len(chosen))
    table = game.initial_state()
    cards = game.vary([chosen[i].card for i in order], rng)
    return Deck(kind, tuple(game.stimulus(card, table) for card in cards), margins)


@dataclass(frozen=True, slots=True, eq=False)
class _Candidates:
    """The cards that a deck is chosen from, and what each adds to its margins.

    Attributes
    ----------
    incidence : (n_candidates, n_quotas) int array
        How often each card counts at each level with a quota.
    quota : (n_quotas,) int array
        What a deck must come to.
    strata : tuple of (array, int)
        Row numbers of the cards of each stratum, and how many of them a deck holds.
    even : (n_candidates, n_levels) int array
        How often each card counts at each level that is to be even.
    weights : (n_levels,) int array
        How much the evenness of each level counts.
    """

    stimuli: tuple[Stimulus, ...]
    incidence: np.ndarray
    quota: np.ndarray
    strata: tuple[tuple[np.ndarray, int], ...]
    even: np.ndarray
    weights: np.ndarray


@lru_cache(maxsize=64)
def _candidates(game: Game, kind: str) -> _Candidates:
    margins = game.deck_margins(kind)
    assert margins is not None
    stimuli = legal_stimuli(game, kind)
    columns = [(f, level) for f, quotas in margins.quotas.items() for level in quotas]
    # A level without a quota among the strata is in no deck.
    quotas = margins.quotas[margins.strata]
    members: dict[str, list[int]] = {level: [] for level in quotas}
    for row, stimulus in enumerate(stimuli):
        for level in levels(stimulus, margins.strata, margins=margins):
            if level in members:
                members[level].append(row)
    even = sorted(
        {(f, n) for s in stimuli for f in margins.even for n in levels(s, f, margins=margins)}
    )
    return _Candidates(
        stimuli,
        _counted(stimuli, margins, columns),
        np.array([margins.quotas[f][level] for f, level in columns], dtype=np.int64),
        tuple((np.array(rows), quotas[level]) for level, rows in members.items()),
        _counted(stimuli, margins, even),
        np.array([margins.even[f] for f, _ in even], dtype=np.int64),
    )


def _counted(
    stimuli: Sequence[Stimulus], margins: DeckMargins, columns: Sequence[tuple[str, str]]
) -> np.ndarray:
    """Return (n_stimuli, n_columns) how often each card counts at each level of a factor."""
    index = {column: i for i, column in enumerate(columns)}
    counted = np.zeros((len(stimuli), len(columns)), dtype=np.int64)
    for row, stimulus in enumerate(stimuli):
        for factor in dict.fromkeys(f for f, _ in columns):
            for level in levels(stimulus, factor, margins=margins):
                if (factor, level) in index:
                    counted[row, index[factor, level]] += 1
    return counted


def _choose(cards: _Candidates, rng: np.random.Generator) -> tuple[Stimulus, ...]:
    """Search for the cards that meet all quotas: swap cards in and out while it does not hurt."""
    for _ in range(_N_RESTARTS):
        inside = np.zeros(len(cards.stimuli), dtype=bool)
        for members, n in cards.strata:
            inside[rng.permutation(members)[:n]] = True
        counts = cards.incidence[inside].sum(axis=0)
        for _ in range(_N_SWAPS):
            if not np.any(counts - cards.quota):
                _make_even(cards, inside, rng)
                return tuple(c for c, keep in zip(cards.stimuli, inside, strict=True) if keep)
            members, _n = cards.strata[int(rng.integers(len(cards.strata)))]
            selected = inside[members]
            if selected.all():
                continue
            out = int(rng.choice(members[selected]))
            into = int(rng.choice(members[~selected]))
            swapped = counts - cards.incidence[out] + cards.incidence[into]
            if np.abs(swapped - cards.quota).sum() <= np.abs(counts - cards.quota).sum():
                counts = swapped
                inside[out], inside[into] = False, True
    raise ConfigError("no deck with these margins was found; are the quotas consistent?")


def _make_even(cards: _Candidates, inside: np.ndarray, rng: np.random.Generator) -> None:
    """Exchange cards, quotas kept, while the levels of the even factors come nearer to each other.

    The counts of a factor add up to nearly the same in each deck, so the smallest sum of their
    squares is the most even.
    """
    if not cards.even.shape[1]:
        return
    strata = [members for members, n in cards.strata if 0 < n < len(members)]
    counts = cards.even[inside].sum(axis=0)
    quota = cards.incidence[inside].sum(axis=0)
    for _ in range(_N_EVENING_SWAPS):
        members = strata[int(rng.integers(len(strata)))]
        selected = inside[members]
        out, into = int(rng.choice(members[selected])), int(rng.choice(members[~selected]))
        if np.any(quota - cards.incidence[out] + cards.incidence[into] - cards.quota):
            continue
        swapped = counts - cards.even[out] + cards.even[into]
        if cards.weights @ swapped**2 <= cards.weights @ counts**2:
            counts = swapped
            inside[out], inside[into] = False, True
