"""Enumerate the legal cards of a game and build decks with stated margins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np

from ghostblitz_task.cards import Card, Picture
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


@dataclass(frozen=True, slots=True)
class Deck:
    """Solved cards, and what the margins asked for against what was reached."""

    kind: str
    stimuli: tuple[Stimulus, ...]
    margins: DeckMargins | None

    def counts(self, factor: str) -> Counter[str]:
        """Count the cards (or pictures) at each level of a factor or of factors joined by *."""
        return Counter(level for s in self.stimuli for level in levels(s, factor))


def levels(stimulus: Stimulus, factor: str) -> list[str]:
    """Return the levels of a factor, or of factors joined by ``*``, that a card counts at."""
    found = [""]
    for name in factor.split("*"):
        found = [f"{a}*{b}" if a else b for a in found for b in FACTORS[name](stimulus)]
    return found


def legal_stimuli(game: Game) -> tuple[Stimulus, ...]:
    """Enumerate every legal card with different items in different colours, each once, solved."""
    colours = sorted(set(game.item_colours.values()))
    found = []
    for items in combinations(sorted(game.item_colours), game.n_pictures):
        for shown in permutations(colours, game.n_pictures):
            card = Card(tuple(Picture(i, c) for i, c in zip(items, shown, strict=True)))
            try:
                found.append(game.stimulus(card, game.initial_state()))
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
    candidates = legal_stimuli(game)
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
        chosen = _choose(candidates, margins, rng)
    order = rng.permutation(len(chosen))
    return Deck(kind, tuple(chosen[i] for i in order), margins)


def _choose(
    candidates: Sequence[Stimulus], margins: DeckMargins, rng: np.random.Generator
) -> tuple[Stimulus, ...]:
    """Search for the cards that meet all quotas: swap cards in and out while it does not hurt."""
    incidence, quota = _incidence(candidates, margins)
    strata = _strata(candidates, margins)
    for _ in range(_N_RESTARTS):
        inside = np.zeros(len(candidates), dtype=bool)
        for members, n in strata:
            inside[rng.permutation(members)[:n]] = True
        counts = incidence[inside].sum(axis=0)
        for _ in range(_N_SWAPS):
            if not np.any(counts - quota):
                return tuple(c for c, keep in zip(candidates, inside, strict=True) if keep)
            members, _n = strata[int(rng.integers(len(strata)))]
            selected = inside[members]
            if selected.all():
                continue
            out = int(rng.choice(members[selected]))
            into = int(rng.choice(members[~selected]))
            swapped = counts - incidence[out] + incidence[into]
            if np.abs(swapped - quota).sum() <= np.abs(counts - quota).sum():
                counts = swapped
                inside[out], inside[into] = False, True
    raise ConfigError("no deck with these margins was found; are the quotas consistent?")


def _incidence(
    candidates: Sequence[Stimulus], margins: DeckMargins
) -> tuple[np.ndarray, np.ndarray]:
    """Return (n_candidates, n_quotas) counts each card adds, and the (n_quotas,) quotas."""
    columns = [(f, level) for f, quotas in margins.quotas.items() for level in quotas]
    index = {column: i for i, column in enumerate(columns)}
    incidence = np.zeros((len(candidates), len(columns)), dtype=np.int64)
    for row, stimulus in enumerate(candidates):
        for factor in margins.quotas:
            for level in levels(stimulus, factor):
                if (factor, level) in index:
                    incidence[row, index[factor, level]] += 1
    quota = np.array([margins.quotas[f][level] for f, level in columns], dtype=np.int64)
    return incidence, quota


def _strata(candidates: Sequence[Stimulus], margins: DeckMargins) -> list[tuple[np.ndarray, int]]:
    """Group the candidates by a factor whose quotas a random draw can meet at once."""
    quotas = margins.quotas[margins.strata]
    members: dict[str, list[int]] = {level: [] for level in quotas}
    for row, stimulus in enumerate(candidates):
        for level in levels(stimulus, margins.strata):
            if level in members:  # a level without a quota is in no deck
                members[level].append(row)
    return [(np.array(m), quotas[level]) for level, m in members.items()]
