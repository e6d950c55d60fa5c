"""What a self-test measured, as values; what was not measured is null.

Times are in seconds. Every class says what its numbers are of, so that nothing more is read out
of them than was measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = [
    "ClockFigures",
    "DiskFigures",
    "DrawFigures",
    "FlipFigures",
    "InjectionFigures",
    "Measured",
    "PollFigures",
    "RepeatFigures",
    "Spread",
    "TapFigures",
    "Unfinished",
]


class Unfinished(str):
    """Why keys were not injected to the end, although that had begun."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Spread:
    """Durations in short.

    Attributes
    ----------
    n : int
        How many.
    median_s, p95_s, max_s : float
        Median, 95th percentile, and the longest.
    """

    n: int
    median_s: float
    p95_s: float
    max_s: float


@dataclass(frozen=True, slots=True)
class FlipFigures:
    """Flips one after the other, each with a card of the study drawn anew and events polled.

    Attributes
    ----------
    n_intervals : int
        Intervals between flips; one less than the flips.
    duration_s : float
        From the first flip to the last.
    expected_hz : float
        The rate that the session goes by, measured as the window opened.
    refresh_hz : float
        Frames per second over the whole run; a longer interval counts as the frames it took.
        Where software paces the flips, flips per second.
    median_s, sd_s, longest_s : float
        Of all intervals.
    jitter_s : float or None
        Standard deviation of the intervals that are no longer than 1.5 frames; None if all are.
    n_dropped : int
        Intervals longer than 1.5 frames, as each trial of a session counts them.
    stretches_hz : tuple of float
        The rate in parts of the run that are as long as one another, in order.
    seconds : tuple of (float, float, float, float)
        For the course of the run, second by second: when it began, and the shortest, the median
        and the longest interval that ended in it.
    histogram_edges_s, histogram_counts
        How often intervals of each length occurred.
    """

    n_intervals: int
    duration_s: float
    expected_hz: float
    refresh_hz: float
    median_s: float
    sd_s: float
    jitter_s: float | None
    longest_s: float
    n_dropped: int
    stretches_hz: tuple[float, ...]
    seconds: tuple[tuple[float, float, float, float], ...]
    histogram_edges_s: tuple[float, ...]
    histogram_counts: tuple[int, ...]

    @property
    def drift(self) -> float:
        """How far the rates of parts of the run lie apart, as a share of the rate."""
        return (max(self.stretches_hz) - min(self.stretches_hz)) / self.refresh_hz


@dataclass(frozen=True, slots=True)
class PollFigures:
    """Asking the devices for events, once per frame as a session does."""

    time: Spread


@dataclass(frozen=True, slots=True)
class ClockFigures:
    """The clock that stamps flips and keys.

    Attributes
    ----------
    n_reads : int
        How often it was read.
    step_s : float
        The smallest difference between two readings that was not 0; a clock that is finer than
        reading it takes shows the time of reading.
    n_backwards : int
        Readings that were smaller than the one before.
    span_s : float
        How long clock and wall clock were compared.
    against_wall_s : float
        How much further this clock went than the wall clock in that time.
    """

    n_reads: int
    step_s: float
    n_backwards: int
    span_s: float
    against_wall_s: float


@dataclass(frozen=True, slots=True)
class DrawFigures:
    """Drawing each card of the study, without the flip, until the graphics were done with it.

    Attributes
    ----------
    cards : mapping of str to Spread
        By card.
    all : Spread
        Over all of them.
    empty_s : float
        Median of drawing nothing but the patch.
    """

    cards: Mapping[str, Spread]
    all: Spread
    empty_s: float


@dataclass(frozen=True, slots=True)
class DiskFigures:
    """Writing records as long as a trial's to the data set's disk, each waited for (fsync).

    Attributes
    ----------
    time : Spread
        Of one record.
    times_s : tuple of float
        Of each, in order.
    n_bytes : int
        Length of a record.
    pause_s : float or None
        How long the study has for it: its inter-trial interval; null where it has none.
    file_system : str or None
        As the system names it, where it does.
    """

    time: Spread
    times_s: tuple[float, ...]
    n_bytes: int
    pause_s: float | None
    file_system: str | None


@dataclass(frozen=True, slots=True)
class RepeatFigures:
    """What the X server does with a key that is held.

    Attributes
    ----------
    delay_s, interval_s : float
        When it begins to repeat, and how often it then does.
    is_on : bool
        Whether it repeats at all; the other two are only set, if not.
    """

    delay_s: float
    interval_s: float
    is_on: bool = True


@dataclass(frozen=True, slots=True)
class TapFigures:
    """Taps of one length, each the answer to a card.

    Attributes
    ----------
    hold_s : float
        From press to release, as planned.
    n_taps : int
        Cards that were answered by one.
    n_answered : int
        Of these, the trials with an RT from the card on; an earlier press answered no card.
    """

    hold_s: float
    n_taps: int
    n_answered: int


@dataclass(frozen=True, slots=True)
class InjectionFigures:
    """Keys that a robot pressed through the X server, against the log of the session it played.

    Attributes
    ----------
    game : str
        Whose cards were answered: the study's own game, or another for the captain's deck.
    n_injected, n_logged : int
        Presses and releases.
    n_lost, n_invented : int
        Those that only the robot, or only the log, has.
    n_misattributed : int
        Trials that have another trial's key events or lack their own, or whose RT is not that
        of the robot's press (see `ghostblitz_task.robot.comparing.Comparison`).
    taps : tuple of TapFigures
        By their length.
    held_s : tuple of float
        How long keys were held that were to repeat, and that the X server does not except.
    n_repeats_logged : int
        Presses that the log has of the held keys, beyond those that the robot sent.
    rt_error_s : tuple of float
        Logged RT minus the robot's own, from the picture it saw to the press it sent.
    """

    game: str
    n_injected: int
    n_logged: int
    n_lost: int
    n_invented: int
    n_misattributed: int
    taps: tuple[TapFigures, ...]
    held_s: tuple[float, ...]
    n_repeats_logged: int
    rt_error_s: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything that a self-test found out.

    Attributes
    ----------
    apparatus : mapping
        What the apparatus says of itself, as in the header of a log.
    load_per_processor : float or None
        Programs that wanted to run in the minute before, by processor; null where the system does
        not say.
    injection : InjectionFigures or str
        Or why no keys were injected.
    repeat : RepeatFigures or str
        Or why it is not known.
    """

    apparatus: Mapping[str, Any]
    load_per_processor: float | None
    flips: FlipFigures
    poll: PollFigures
    clock: ClockFigures
    draw: DrawFigures
    disk: DiskFigures
    repeat: RepeatFigures | str
    injection: InjectionFigures | str
