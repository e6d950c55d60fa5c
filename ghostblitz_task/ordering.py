"""Put the trials of a block into an order that keeps stated limits; pure.

A local search exchanges two trials at a time. All costs are sums over places, so an exchange
needs only the places near it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ghostblitz_task.config import SequenceSettings
from ghostblitz_task.games import Stimulus

__all__ = ["Order", "longest_run", "n_repetitions", "order_block", "target_of"]

_N_RESTARTS = 6
_N_STEPS = 12_000
_N_STEPS_AT_ONCE = 200
# Rarely accept a worse order, to leave a dead end; found by trial on blocks of 20 to 2000 trials.
_P_WORSE = 0.003


@dataclass(frozen=True, slots=True)
class Order:
    """An order, as indices into the given trials, and what it fails to keep (in words)."""

    indices: tuple[int, ...]
    unmet: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Limit:
    name: str
    values: Sequence[str]
    longest: int


@dataclass(frozen=True, slots=True)
class _Rate:
    name: str
    values: Sequence[str]
    count_equal: bool
    lowest: int
    highest: int
    wanted: float


def target_of(stimulus: Stimulus) -> str:
    """Return what is repeated where a target is: the item, or the time that stands for it."""
    return stimulus.solution.target or stimulus.solution.answer


def longest_run(values: Sequence[str]) -> int:
    """Return the length of the longest run of equal values; 0 for none."""
    longest = run = 0
    previous: str | None = None
    for value in values:
        run = run + 1 if value == previous else 1
        previous = value
        longest = max(longest, run)
    return longest


def n_repetitions(values: Sequence[str]) -> int:
    """Count the values that equal the one before."""
    return sum(a == b for a, b in pairwise(values))


def _shortest_longest_run(values: Sequence[str]) -> int:
    """Return the length that the longest run has at least, in whatever order."""
    most = max(Counter(values).values())
    # The others part the commonest value into one group more than they are.
    return math.ceil(most / (len(values) - most + 1))


def _possible_repetitions(values: Sequence[str]) -> tuple[int, int]:
    """Return the fewest and the most repetitions that any order has."""
    counts = Counter(values)
    n_others = len(values) - max(counts.values())
    return max(0, max(counts.values()) - n_others - 1), len(values) - len(counts)


def order_block(
    stimuli: Sequence[Stimulus],
    settings: SequenceSettings,
    *,
    previous: Stimulus | None,
    rng: np.random.Generator,
) -> Order:
    """Order a block's trials.

    Parameters
    ----------
    stimuli : sequence of Stimulus
        The block's trials, in any order.
    settings : SequenceSettings
        Limits on runs, and rates with their tolerance.
    previous : Stimulus or None
        The last trial of the block before, whose card may not follow itself.
    rng : numpy.random.Generator
        Draws the order.

    Returns
    -------
    Order
        With `unmet` empty, or the nearest order found and what it fails to keep.
    """
    search = _Search(stimuli, settings, previous)
    impossible = search.impossible()
    if impossible:
        return Order(tuple(range(len(stimuli))), impossible)
    best: tuple[int, list[int]] | None = None
    for _ in range(_N_RESTARTS):
        cost, order = search.run(rng)
        if best is None or cost < best[0]:
            best = (cost, order)
        if cost == 0:
            break
    assert best is not None
    return Order(tuple(best[1]), search.unmet(best[1]))


class _Search:
    def __init__(
        self, stimuli: Sequence[Stimulus], settings: SequenceSettings, previous: Stimulus | None
    ) -> None:
        self.n = len(stimuli)
        self.cards = [s.card.card_id for s in stimuli]
        self.previous_card = previous.card.card_id if previous else None
        self.repeats_allowed = settings.allow_card_repeats
        rules = [s.solution.rule for s in stimuli]
        targets = [target_of(s) for s in stimuli]
        modes = [s.solution.mode for s in stimuli]
        limits = (
            ("max_run_rule", rules, settings.max_run_rule),
            ("max_run_target", targets, settings.max_run_target),
            ("max_run_mode", modes, settings.max_run_mode),
        )
        # A block of one rule (or mode) is one run by design.
        self.limits = [_Limit(n, v, m) for n, v, m in limits if m and len(set(v)) > 1]
        rates = (
            self._rate("target_repetition_rate", targets, True, settings),
            self._rate("rule_switch_rate", rules, False, settings),
        )
        self.rates = [r for r in rates if r is not None]
        self.reach = max([1, *(limit.longest for limit in self.limits)])

    def _rate(
        self, name: str, values: Sequence[str], count_equal: bool, settings: SequenceSettings
    ) -> _Rate | None:
        wanted: float | None = getattr(settings, name)
        if wanted is None or self.n < 2 or (not count_equal and len(set(values)) == 1):
            return None
        n_pairs = self.n - 1
        lowest = math.ceil((wanted - settings.rate_tolerance) * n_pairs - 1e-9)
        highest = math.floor((wanted + settings.rate_tolerance) * n_pairs + 1e-9)
        if lowest > highest:  # the block is too short for the tolerance: the nearest count
            exact = wanted * n_pairs
            lowest, highest = math.ceil(exact - 0.5), math.floor(exact + 0.5)
        return _Rate(name, values, count_equal, lowest, highest, wanted)

    def impossible(self) -> tuple[str, ...]:
        """Name what no order can keep, each limit taken alone."""
        found = []
        if not self.repeats_allowed and _shortest_longest_run(self.cards) > 1:
            found.append("a card would follow itself, since it is most of the block")
        for limit in self.limits:
            shortest = _shortest_longest_run(limit.values)
            if shortest > limit.longest:
                found.append(
                    f"{limit.name} is {limit.longest}, but the shortest possible is {shortest}"
                )
        for rate in self.rates:
            fewest, most = _possible_repetitions(rate.values)
            if not rate.count_equal:
                fewest, most = self.n - 1 - most, self.n - 1 - fewest
            if rate.highest < fewest or rate.lowest > most:
                nearest = (fewest if rate.highest < fewest else most) / (self.n - 1)
                found.append(
                    f"{rate.name} is {rate.wanted:g}, but the nearest possible is {nearest:.2f}"
                )
        return tuple(found)

    def run(self, rng: np.random.Generator) -> tuple[int, list[int]]:
        """Search from a random order; return the best that was found and what it costs."""
        order = [int(i) for i in rng.permutation(self.n)]
        if self.n < 2:
            return len(self.unmet(order)), order
        counts = [self._count(rate, order, range(self.n)) for rate in self.rates]
        broken = self._broken(order, range(self.n))
        cost = broken + self._distance(counts)
        best_cost, best = cost, list(order)
        for a, b, chance in self._steps(order, rng):
            if cost == 0:
                break
            if a == b:
                continue
            near = self._near(a, b)
            before = self._broken(order, near)
            counts_before = [self._count(rate, order, near) for rate in self.rates]
            order[a], order[b] = order[b], order[a]
            new_broken = broken - before + self._broken(order, near)
            new_counts = [
                n - old + self._count(rate, order, near)
                for n, old, rate in zip(counts, counts_before, self.rates, strict=True)
            ]
            new_cost = new_broken + self._distance(new_counts)
            if new_cost <= cost or chance < _P_WORSE / (new_cost - cost):
                broken, counts, cost = new_broken, new_counts, new_cost
                if cost < best_cost:
                    best_cost, best = cost, list(order)
            else:
                order[a], order[b] = order[b], order[a]
        return best_cost, best

    def _steps(
        self, order: list[int], rng: np.random.Generator
    ) -> Iterator[tuple[int, int, float]]:
        """Draw pairs of places to exchange, every other one with a place that is broken now."""
        for _ in range(0, _N_STEPS, _N_STEPS_AT_ONCE):
            places = rng.integers(0, self.n, size=(_N_STEPS_AT_ONCE, 2)).tolist()
            luck = rng.random(_N_STEPS_AT_ONCE).tolist()
            broken = [i for i in range(self.n) if self._broken(order, (i,))]
            for step, ((a, b), chance) in enumerate(zip(places, luck, strict=True)):
                if broken and step % 2:
                    a = broken[a % len(broken)]
                yield a, b, chance

    def _near(self, a: int, b: int) -> list[int]:
        first, second = min(a, b), max(a, b)
        end = min(first + self.reach + 1, self.n)
        return [
            *range(first, end),
            *range(max(second, end), min(second + self.reach + 1, self.n)),
        ]

    def _broken(self, order: list[int], places: Sequence[int]) -> int:
        """Count, over these places, card repeats and runs that end there and are too long."""
        n = 0
        cards, limits = self.cards, self.limits
        for i in places:
            here = order[i]
            if not self.repeats_allowed and cards[here] == (
                cards[order[i - 1]] if i else self.previous_card
            ):
                n += 1
            for limit in limits:
                if i < limit.longest:
                    continue
                values = limit.values
                value = values[here]
                # A loop with a break: this is where the search spends its time.
                for k in range(i - limit.longest, i):
                    if values[order[k]] != value:
                        break
                else:
                    n += 1
        return n

    @staticmethod
    def _count(rate: _Rate, order: list[int], places: Sequence[int]) -> int:
        values = rate.values
        equal = rate.count_equal
        return sum((values[order[i]] == values[order[i - 1]]) is equal for i in places if i)

    def _distance(self, counts: Sequence[int]) -> int:
        return sum(
            max(rate.lowest - n, n - rate.highest, 0)
            for rate, n in zip(self.rates, counts, strict=True)
        )

    def unmet(self, order: Sequence[int]) -> tuple[str, ...]:
        found = []
        cards = [self.cards[i] for i in order]
        if self.previous_card:
            cards.insert(0, self.previous_card)
        if not self.repeats_allowed and n_repetitions(cards):
            found.append("a card would follow itself")
        for limit in self.limits:
            run = longest_run([limit.values[i] for i in order])
            if run > limit.longest:
                found.append(f"{limit.name} is {limit.longest}, but the shortest found is {run}")
        for rate in self.rates:
            n = self._count(rate, list(order), range(self.n))
            if not rate.lowest <= n <= rate.highest:
                reached = n / (self.n - 1)
                found.append(f"{rate.name} is {rate.wanted:g}, but the nearest is {reached:.2f}")
        return tuple(found)
