"""From design settings and a seed to the sequence of trials, with a report of what was met."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import permutations
from typing import Any

import numpy as np

from ghostblitz_task.cards import Card, Picture
from ghostblitz_task.config import BlockSettings, StudySettings
from ghostblitz_task.deck import Deck, build_deck, solve_cards
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.games import Game, GameState, Stimulus
from ghostblitz_task.ordering import longest_run, n_repetitions, order_block, target_of
from ghostblitz_task.seeds import rng_for

__all__ = ["BlockReport", "Plan", "TrialPlan", "direct_position", "plan_session", "study_deck"]


@dataclass(frozen=True, slots=True)
class TrialPlan:
    """One trial as planned; the card's pictures stand in the order in which they are drawn."""

    trial_index: int
    block_index: int
    trial_in_block: int
    card: Card
    foreperiod_s: float


@dataclass(frozen=True, slots=True)
class BlockReport:
    """What the order of one block came to; rates are per pair of neighbouring trials.

    A rate is null in a block of one trial; switch rates are 0 in a block of one rule or mode.
    """

    label: str
    phase: str
    type: str
    n_trials: int
    n_by_rule: dict[str, int]
    n_by_mode: dict[str, int]
    n_by_target: dict[str, int]
    n_card_repeats: int
    rule_switch_rate: float | None
    rule_switch_rate_requested: float | None
    mode_switch_rate: float | None
    target_repetition_rate: float | None
    target_repetition_rate_requested: float | None
    longest_run_rule: int
    longest_run_target: int
    longest_run_mode: int
    n_direct_by_position: dict[str, int]
    n_by_item_and_position: dict[str, int]


@dataclass(frozen=True, slots=True)
class Plan:
    """The trials of a session in order, the table before the first, and what was met."""

    blocks: tuple[BlockSettings, ...]
    trials: tuple[TrialPlan, ...]
    report: tuple[BlockReport, ...]
    table: GameState

    def trials_of(self, block_index: int) -> tuple[TrialPlan, ...]:
        """Return the trials of one block."""
        return tuple(t for t in self.trials if t.block_index == block_index)

    @property
    def sha256(self) -> str:
        """The hash of the sequence; a resumed session must find the same."""
        rows = [[t.block_index, str(t.card), t.foreperiod_s] for t in self.trials]
        return hashlib.sha256(json.dumps(rows).encode()).hexdigest()

    def trials_json(self, game: Game) -> list[dict[str, Any]]:
        """Return the trials as rows, cards as text, each solved.

        Where a hat may hide the target, the answer depends on the trials before, and is null.
        """
        rows = []
        for trial in self.trials:
            solution = asdict(game.stimulus(trial.card, self.table).solution)
            if game.hideable:
                solution["answer"] = None
            rows.append({**asdict(trial), "card": str(trial.card), **solution})
        return rows

    def report_json(self) -> list[dict[str, Any]]:
        """Return the report as it stands in the log."""
        return [asdict(block) for block in self.report]


def plan_session(settings: StudySettings, game: Game, *, seed: int) -> Plan:
    """Plan every trial of a session.

    Cards are drawn without replacement: none of its rule comes again before all have been
    shown, within practice and within test blocks. Within a block the targets are drawn evenly.

    Raises
    ------
    ConfigError
        If the deck cannot be built, holds no card for a block, or a limit cannot be kept; the
        message names the block and the nearest that was found.
    """
    deck = study_deck(settings, game, rng_for(seed, "deck"))
    order_rng = rng_for(seed, "order")
    piles = {phase: _Piles(deck.stimuli, order_rng) for phase in ("practice", "test")}
    foreperiod_rng = rng_for(seed, "foreperiods")
    position_rng = rng_for(seed, "positions")
    trials: list[TrialPlan] = []
    reports = []
    previous: Stimulus | None = None
    for block_index, block in enumerate(settings.blocks):
        drawn = _draw_block(block, piles[block.phase], deck)
        order = order_block(drawn, settings.sequence, previous=previous, rng=order_rng)
        if order.unmet:
            raise ConfigError(f"block {block.label}: {'; '.join(order.unmet)}")
        ordered = [drawn[i] for i in order.indices]
        previous = ordered[-1]
        cards = _place_pictures(ordered, position_rng)
        shortest, longest = settings.timing.foreperiod_s
        foreperiods = foreperiod_rng.uniform(shortest, longest, size=len(cards))
        for i, (card, foreperiod_s) in enumerate(zip(cards, foreperiods, strict=True)):
            trials.append(TrialPlan(len(trials), block_index, i, card, float(foreperiod_s)))
        reports.append(_report(block, ordered, cards, settings))
    table = game.initial_state(rng_for(seed, "table"), n_trials=len(trials))
    return Plan(settings.blocks, tuple(trials), tuple(reports), table)


def study_deck(settings: StudySettings, game: Game, rng: np.random.Generator) -> Deck:
    """Build the deck that a study draws from."""
    if settings.deck.kind == "custom":
        return solve_cards(settings.deck.cards, game)
    return build_deck(game, kind=settings.deck.kind, rng=rng)


class _Piles:
    """One shuffled pile per rule; used up before it is shuffled again."""

    def __init__(self, stimuli: Sequence[Stimulus], rng: np.random.Generator) -> None:
        self._rng = rng
        self._all: dict[str, list[Stimulus]] = {}
        for stimulus in stimuli:
            self._all.setdefault(stimulus.solution.rule, []).append(stimulus)
        self._left: dict[str, list[Stimulus]] = {rule: [] for rule in self._all}

    def draw(self, rule: str, n_by_target: Counter[str]) -> Stimulus:
        """Take the topmost card whose target has been drawn least."""
        pile = self._left[rule]
        if not pile:
            cards = self._all[rule]
            pile.extend(cards[i] for i in self._rng.permutation(len(cards)))
        chosen = min(range(len(pile)), key=lambda i: n_by_target[target_of(pile[i])])
        return pile.pop(chosen)


def _draw_block(block: BlockSettings, piles: _Piles, deck: Deck) -> list[Stimulus]:
    n_by_rule = deck.counts("rule")
    wanted: dict[str, int] = {block.type: block.n_trials}
    if block.type == "mixed":
        wanted = _shares(block, n_by_rule)
    drawn = []
    n_by_target: Counter[str] = Counter()
    for rule, n in wanted.items():
        if n and not n_by_rule[rule]:
            raise ConfigError(f"block {block.label}: the deck holds no {rule} card")
        for _ in range(n):
            stimulus = piles.draw(rule, n_by_target)
            n_by_target[target_of(stimulus)] += 1
            drawn.append(stimulus)
    return drawn


def _shares(block: BlockSettings, n_by_rule: Counter[str]) -> dict[str, int]:
    """Give each rule its share of a mixed block: as in the deck, but for a stated `p_direct`."""
    share = block.p_direct
    if share is None:
        share = n_by_rule["direct"] / max(n_by_rule.total(), 1)
    wanted = {"direct": round(share * block.n_trials)}
    # The rest goes to the other rules by largest remainders; where there are none, to exclusion,
    # which is then refused.
    others = {rule: n for rule, n in sorted(n_by_rule.items()) if rule != "direct"}
    others = others or {"exclusion": 1}
    n_left = block.n_trials - wanted["direct"]
    exact = {rule: n_left * n / sum(others.values()) for rule, n in others.items()}
    wanted |= {rule: int(n) for rule, n in exact.items()}
    by_remainder = sorted(exact, key=lambda rule: int(exact[rule]) - exact[rule])
    for rule in by_remainder[: block.n_trials - sum(wanted.values())]:
        wanted[rule] += 1
    return wanted


def _place_pictures(ordered: Sequence[Stimulus], rng: np.random.Generator) -> list[Card]:
    """Choose the places of the pictures on each card, evenly over a block.

    The picture in its own colour stands equally often at each place, for each target; within
    that, every item does, as far as can be.
    """
    direct = [i for i, s in enumerate(ordered) if s.solution.rule == "direct"]
    shuffled = [direct[int(i)] for i in rng.permutation(len(direct))]
    # In turn over the trials of one target after the other: even per target and in all. The first
    # place is drawn, so that no place has the odd trial of every block.
    by_target = sorted(shuffled, key=lambda i: target_of(ordered[i]))
    direct_places: dict[int, int] = {}
    for n_places in sorted({len(s.card.pictures) for s in ordered}):
        first = int(rng.integers(n_places))
        alike = [i for i in by_target if len(ordered[i].card.pictures) == n_places]
        direct_places |= {i: (first + k) % n_places for k, i in enumerate(alike)}
    seen: Counter[tuple[str, int]] = Counter()
    cards: dict[int, Card] = {}
    # Direct cards first: their places are fixed, the others make up for them.
    by_rule = sorted(range(len(ordered)), key=lambda i: ordered[i].solution.rule != "direct")
    for i in by_rule:
        stimulus = ordered[i]
        fixed = direct_places.get(i)
        arrangements = [
            arranged
            for arranged in permutations(stimulus.card.pictures)
            if fixed is None or _holds(arranged[fixed], stimulus.solution.target)
        ]
        tie_break = rng.random(len(arrangements))
        crowding = [
            sum(seen[p.item, place] for place, p in enumerate(arranged)) + tie
            for arranged, tie in zip(arrangements, tie_break, strict=True)
        ]
        chosen = arrangements[int(np.argmin(crowding))]
        seen.update((p.item, place) for place, p in enumerate(chosen))
        cards[i] = Card(chosen)
    return [cards[i] for i in range(len(ordered))]


def direct_position(card: Card, stimulus: Stimulus) -> int | None:
    """Return the place of the picture in its own colour, from 0 at the left, if there is one."""
    if stimulus.solution.rule != "direct":
        return None
    target = stimulus.solution.target
    return next(i for i, p in enumerate(card.pictures) if _holds(p, target))


def _holds(picture: Picture, item: str | None) -> bool:
    """Say whether a picture is of this item, or has it in its mirror."""
    return any(inner.item == item for inner in picture)


def _report(
    block: BlockSettings,
    ordered: Sequence[Stimulus],
    cards: Sequence[Card],
    settings: StudySettings,
) -> BlockReport:
    rules = [s.solution.rule for s in ordered]
    modes = [str(s.solution.mode) for s in ordered]
    targets = [target_of(s) for s in ordered]
    places = [
        direct_position(card, stimulus) for card, stimulus in zip(cards, ordered, strict=True)
    ]
    n_pairs = len(ordered) - 1

    def switch_rate(values: Sequence[str]) -> float | None:
        return 1 - n_repetitions(values) / n_pairs if n_pairs else None

    return BlockReport(
        label=block.label,
        phase=block.phase,
        type=block.type,
        n_trials=len(ordered),
        n_by_rule=_counted(rules),
        n_by_mode=_counted(modes),
        n_by_target=_counted(targets),
        n_card_repeats=n_repetitions([c.card_id for c in cards]),
        rule_switch_rate=switch_rate(rules),
        rule_switch_rate_requested=settings.sequence.rule_switch_rate,
        mode_switch_rate=switch_rate(modes),
        target_repetition_rate=n_repetitions(targets) / n_pairs if n_pairs else None,
        target_repetition_rate_requested=settings.sequence.target_repetition_rate,
        longest_run_rule=longest_run(rules),
        longest_run_target=longest_run(targets),
        longest_run_mode=longest_run(modes),
        n_direct_by_position=_counted(str(p) for p in places if p is not None),
        n_by_item_and_position=_counted(
            f"{p.item}@{place}" for card in cards for place, p in enumerate(card.pictures)
        ),
    )


def _counted(values: Iterator[str] | Sequence[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))
