"""What de-identification did to a data set, in counts and never in values."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

__all__ = ["SESSION_DATES", "Action", "SharedFactor", "SharingReport", "SharingStep", "Tally"]

Action = Literal["replaced", "dropped", "coarsened", "kept"]
#: A step that is told at more length.
SESSION_DATES = "times at which sessions began (days are counted from the first)"
_ACTIONS: tuple[Action, ...] = ("replaced", "dropped", "coarsened", "kept")
_TITLES = {
    "replaced": "Replaced",
    "dropped": "Dropped",
    "coarsened": "Coarsened",
    "kept": "Kept as it was",
}
_INTRODUCTION = """\
# De-identification

Participants have random codes, drawn anew and not derived from their ids. The key that joins the
two is not part of this data set. What was done, with the number of places:
"""
#: Said in the terminal, where somebody reads it.
_LOOK = (
    "Look through the export before you publish it: a program does not know every name, and "
    "removing identifiers is no anonymity."
)
_HEADING = "## What a reader should know\n\n"
_DATES = """\
- Each participant's first session is dated 1900-01-01, and further ones by the days since then;
  the time of day is gone. A year before 1925 marks a date as shifted, as BIDS asks. Nothing is
  left of who came before whom.
- Where participants shared a session, their dates are counted from the first session of all of
  them.
"""
_LIMITS = """\
- The order of participants follows from their codes. So whatever is drawn at random over
  participants (bootstraps, permutations, split halves) differs from an analysis of the original
  within its simulation error, and mixed models within the tolerance of their search; all else is
  the same but for rounding.
- Timing self-tests are dated 1900-01-01; their seconds tell only which came first.
- RTs, responses and the random seed of each session are as recorded.
- Of logs and self-tests only what this program writes itself was kept, and of texts only those in
  a form that it writes: levels of the study, versions, sentences in its own words. All else was
  dropped, and stands above by place.
- The study's settings, `analysis.toml` and `publication.toml` say what they said.
- Files that are no part of a data set, recordings among them, were not copied.
- A program does not know every name. Somebody who knows the study should look through the copy.
- Removing identifiers lowers the risk that somebody is recognised; it does not exclude it. This is
  no anonymity: the data themselves (a rare age, a rare result, an order of trials that somebody
  kept) may tell who somebody is.
"""


@dataclass(frozen=True, slots=True)
class SharingStep:
    """One kind of thing that was done.

    Attributes
    ----------
    action : str
        ``replaced``, ``dropped``, ``coarsened`` or ``kept``.
    what : str
        In words; never a value.
    n : int
        In how many places.
    """

    action: Action
    what: str
    n: int


@dataclass(frozen=True, slots=True)
class SharedFactor:
    """What became of a column that a mapping calls a factor.

    Attributes
    ----------
    name : str
        The column.
    levels : tuple of str
        As shared; for the person who shares the data, and never in the data set.
    n_of_one : int
        Levels that one participant alone has.
    in_bands : bool
        Whether the levels are bands of years.
    why_dropped : str or None
        Why the column is not shared; null where it is.
    """

    name: str
    levels: tuple[str, ...]
    n_of_one: int = 0
    in_bands: bool = False
    why_dropped: str | None = None

    def to_text(self) -> str:
        """Say it without values."""
        if self.why_dropped is not None:
            return f"`{self.name}`: dropped, since {self.why_dropped}"
        said = f"`{self.name}`: {'bands of five years' if self.in_bands else 'kept'}, "
        said += f"{len(self.levels)} level{'s' * (len(self.levels) != 1)}"
        return said + (f", {self.n_of_one} of one participant alone" if self.n_of_one else "")


@dataclass(frozen=True, slots=True)
class SharingReport:
    """What was done to a data set.

    Attributes
    ----------
    n_participants : int
        Ids that have codes.
    n_new_codes : int
        Of these, without a code in an earlier key.
    steps : tuple of SharingStep
        By action, then in words.
    factors : tuple of SharedFactor
        Of imported data.
    """

    n_participants: int
    n_new_codes: int
    steps: tuple[SharingStep, ...]
    factors: tuple[SharedFactor, ...] = ()

    def to_text(self) -> str:
        """Return the report as Markdown."""
        parts = [_INTRODUCTION]
        for action in _ACTIONS:
            steps = [step for step in self.steps if step.action == action]
            if steps:
                lines = [f"- {step.what}: {step.n}" for step in steps]
                parts.append("\n".join([f"## {_TITLES[action]}", "", *lines, ""]))
        if self.factors:
            lines = [f"- {factor.to_text()}" for factor in self.factors]
            parts.append("\n".join(["## Columns of factors", "", *lines, ""]))
        dates = _DATES if any(step.what == SESSION_DATES for step in self.steps) else ""
        return "\n".join([*parts, _HEADING + dates + _LIMITS])

    def to_lines(self) -> tuple[str, ...]:
        """Return what the person who shares the data should look at before anybody else does.

        Levels of the factors that are kept stand there by their names, so that somebody can see
        whether they are conditions or people.
        """
        unknown = [s for s in self.steps if s.action == "dropped" and " of no known " in s.what]
        lines = [f"Dropped: {step.what}: {step.n}" for step in unknown]
        for factor in self.factors:
            levels = "" if factor.why_dropped else f": {', '.join(factor.levels)}"
            lines.append(f"Factor {factor.to_text()}{levels}")
        return (*lines, _LOOK)


class Tally:
    """Counts what is done while a data set is copied."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[Action, str]] = Counter()
        self._factors: list[SharedFactor] = []

    def add(self, action: Action, what: str, n: int = 1) -> None:
        """Count something that was done in `n` places."""
        if n:
            self._counts[action, what] += n

    def steps(self) -> tuple[SharingStep, ...]:
        """Return what was counted."""
        ordered = sorted(self._counts.items(), key=lambda i: (_ACTIONS.index(i[0][0]), i[0][1]))
        return tuple(SharingStep(action, what, n) for (action, what), n in ordered)

    def add_factor(self, factor: SharedFactor) -> None:
        """Note what became of a column."""
        self._factors.append(factor)

    def factors(self) -> tuple[SharedFactor, ...]:
        """Return what became of the columns, in their order."""
        return tuple(self._factors)
