"""What de-identification did to a data set, in counts and never in values."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

__all__ = ["SESSION_DATES", "Action", "SharingReport", "SharingStep", "Tally"]

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
- Entries in the logs' records that this program does not write itself are kept, though searched.
- Files that are no part of a data set, recordings among them, were not copied.
- Removing identifiers lowers the risk that somebody is recognised; it does not exclude it.
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
    """

    n_participants: int
    n_new_codes: int
    steps: tuple[SharingStep, ...]

    def to_text(self) -> str:
        """Return the report as Markdown."""
        parts = [_INTRODUCTION]
        for action in _ACTIONS:
            steps = [step for step in self.steps if step.action == action]
            if steps:
                lines = [f"- {step.what}: {step.n}" for step in steps]
                parts.append("\n".join([f"## {_TITLES[action]}", "", *lines, ""]))
        dates = _DATES if any(step.what == SESSION_DATES for step in self.steps) else ""
        return "\n".join([*parts, _HEADING + dates + _LIMITS])


class Tally:
    """Counts what is done while a data set is copied."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[Action, str]] = Counter()

    def add(self, action: Action, what: str, n: int = 1) -> None:
        """Count something that was done in `n` places."""
        if n:
            self._counts[action, what] += n

    def steps(self) -> tuple[SharingStep, ...]:
        """Return what was counted."""
        ordered = sorted(self._counts.items(), key=lambda i: (_ACTIONS.index(i[0][0]), i[0][1]))
        return tuple(SharingStep(action, what, n) for (action, what), n in ordered)
