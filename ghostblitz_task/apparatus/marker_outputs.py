"""Outputs that take markers, and what gives each marker to all of them without ever raising."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ghostblitz_task.apparatus import Marker, SentMarker
from ghostblitz_task.errors import ApparatusError

__all__ = ["ClockOffset", "LslOutput", "MarkerOutput", "Markers", "PortOutput", "open_lsl"]

# Reads of two clocks, of which the closest together are taken.
_N_CLOCK_READS = 200


class MarkerOutput(Protocol):
    """One way in which markers go out."""

    @property
    def name(self) -> str:
        """What the settings call it."""
        ...

    def send(self, code: int, marker: Marker) -> None:
        """Give a marker out without waiting; `ApparatusError` if it is not taken."""
        ...

    def end_pulse(self) -> None:
        """End a pulse that has lasted long enough; `ApparatusError` if that fails."""
        ...

    def describe(self) -> Mapping[str, Any]:
        """Say what this is, for the header."""
        ...

    def report(self) -> Mapping[str, Any]:
        """Say how it went, for the log's last record."""
        ...

    def close(self) -> None:
        """Give it back."""
        ...


class Markers:
    """Gives each marker to every output; one that fails is counted, and the others go on.

    Parameters
    ----------
    outputs : sequence of MarkerOutput
        Opened, and so known to work.
    codes : mapping of str to int
        The byte of each marker, by name.
    clock : callable
        Returns the time on the session clock, in seconds.
    """

    def __init__(
        self,
        outputs: Sequence[MarkerOutput],
        codes: Mapping[str, int],
        clock: Callable[[], float],
    ) -> None:
        self._outputs = tuple(outputs)
        self._codes = dict(codes)
        self._clock = clock
        self._n_sent = 0
        self._n_failed = Counter({output.name: 0 for output in outputs})
        self._n_stuck = 0
        self._first_failure: dict[str, Any] | None = None

    def now_s(self) -> float:
        """Return the time on the session clock."""
        return self._clock()

    def send(self, marker: Marker) -> SentMarker:
        """Give a marker to every output at once, and say how that went."""
        code = self._codes[marker.name]
        failed = []
        for output in self._outputs:
            try:
                output.send(code, marker)
            except ApparatusError as error:
                failed.append(output.name)
                self._n_failed[output.name] += 1
                self._note(output, marker.label, error)
        self._n_sent += 1
        return SentMarker(marker.name, marker.label, code, marker.t_s, self._clock(), tuple(failed))

    def end_pulses(self) -> None:
        """End the pulses that have lasted long enough; called at each frame."""
        for output in self._outputs:
            try:
                output.end_pulse()
            except ApparatusError as error:
                self._n_stuck += 1
                self._note(output, None, error)

    def _note(self, output: MarkerOutput, label: str | None, error: ApparatusError) -> None:
        if self._first_failure is None:
            self._first_failure = {"output": output.name, "label": label, "reason": str(error)}

    def describe(self) -> Mapping[str, Any]:
        """Say what the outputs are, for the header."""
        outputs = {output.name: dict(output.describe()) for output in self._outputs}
        return {"codes": dict(self._codes), "outputs": outputs}

    def report(self) -> Mapping[str, Any]:
        """Say how all of it went, for the log's last record."""
        return {
            "n_sent": self._n_sent,
            "n_failed": dict(self._n_failed),
            "n_pulses_not_ended": self._n_stuck,
            "first_failure": self._first_failure,
            "outputs": {output.name: dict(output.report()) for output in self._outputs},
        }

    def close(self) -> None:
        """Give all outputs back; one that fails keeps none of the others open."""
        with contextlib.ExitStack() as closing:
            for output in self._outputs:
                closing.callback(output.close)


class PortOutput:
    """A port that takes a byte per marker, and goes back to 0 where the device wants pulses.

    Nothing waits for the end of a pulse: the first frame after it ends it, so that a pulse lasts
    up to a frame longer than was asked for. The next marker cuts it short; if its byte is the
    same, a 0 goes before it.

    Parameters
    ----------
    name : str
        What the settings call it.
    write : callable
        Writes a byte without waiting; `ApparatusError` if it is not taken.
    close : callable
        Gives the port back.
    about : mapping
        For the header.
    pulse_s : float or None
        Null leaves each byte until the next one.
    clock : callable
        Returns the time on the session clock, in seconds.

    Raises
    ------
    ApparatusError
        If the port does not take a 0, with which it begins.
    """

    def __init__(
        self,
        name: str,
        *,
        write: Callable[[int], None],
        close: Callable[[], None],
        about: Mapping[str, Any],
        pulse_s: float | None,
        clock: Callable[[], float],
    ) -> None:
        self.name = name
        self._write = write
        self._close = close
        self._about = dict(about)
        self._pulse_s = pulse_s
        self._clock = clock
        self._up: tuple[int, float] | None = None
        self._n_cut_short = 0
        self._longest_s: float | None = None
        write(0)

    def send(self, code: int, marker: Marker) -> None:
        if self._up is not None:
            self._n_cut_short += 1
            if self._up[0] == code:
                self._write(0)
        self._up = None
        self._write(code)
        if self._pulse_s is not None:
            self._up = code, self._clock()

    def end_pulse(self) -> None:
        if self._up is None or self._pulse_s is None:
            return
        lasted_s = self._clock() - self._up[1]
        if lasted_s >= self._pulse_s:
            self._up = None  # Whether that succeeds or not: a dead port is not tried each frame.
            self._write(0)
            self._longest_s = max(lasted_s, self._longest_s or 0.0)

    def describe(self) -> Mapping[str, Any]:
        return {**self._about, "pulse_s": self._pulse_s}

    def report(self) -> Mapping[str, Any]:
        return {"n_pulses_cut_short": self._n_cut_short, "longest_pulse_s": self._longest_s}

    def close(self) -> None:
        if self._up is not None:
            with contextlib.suppress(ApparatusError):
                self._write(0)
        self._close()


@dataclass(frozen=True, slots=True)
class ClockOffset:
    """Another clock minus the session's, from reads of one between two reads of the other.

    Attributes
    ----------
    offset_s : float
        To be added to a time of the session.
    uncertainty_s : float
        The offset is wrong by at most this: half of what passed between the two reads.
    """

    offset_s: float
    uncertainty_s: float

    @classmethod
    def measure(cls, clock: Callable[[], float], other: Callable[[], float]) -> ClockOffset:
        """Read both clocks a number of times, and take the reads that were closest together."""
        best: ClockOffset | None = None
        for _ in range(_N_CLOCK_READS):
            before_s, there_s, after_s = clock(), other(), clock()
            half_s = (after_s - before_s) / 2
            if best is None or half_s < best.uncertainty_s:
                best = cls(there_s - (before_s + half_s), half_s)
        assert best is not None
        return best

    def to_json(self) -> dict[str, float]:
        """Return this as it stands in the log."""
        return {"clock_offset_s": self.offset_s, "clock_uncertainty_s": self.uncertainty_s}


class LslOutput:
    """An outlet of Lab Streaming Layer: a text per marker, stamped with what it marks.

    Parameters
    ----------
    outlet : pylsl.StreamOutlet
        Of one channel of texts.
    lsl_clock, clock : callable
        Return the time on the clock of Lab Streaming Layer and on the session's, in seconds.
    about : mapping
        For the header.
    """

    name = "lsl"

    def __init__(
        self,
        outlet: Any,
        *,
        lsl_clock: Callable[[], float],
        clock: Callable[[], float],
        about: Mapping[str, Any],
    ) -> None:
        self._outlet = outlet
        self._lsl_clock = lsl_clock
        self._clock = clock
        self._about = dict(about)
        self._offset = ClockOffset.measure(clock, lsl_clock)

    def send(self, code: int, marker: Marker) -> None:
        try:
            self._outlet.push_sample([marker.label], marker.t_s + self._offset.offset_s)
        except (RuntimeError, OSError, ValueError) as error:
            raise ApparatusError(f"Lab Streaming Layer took no marker: {error}") from error

    def end_pulse(self) -> None:
        pass

    def describe(self) -> Mapping[str, Any]:
        return {**self._about, **self._offset.to_json()}

    def report(self) -> Mapping[str, Any]:
        offset = ClockOffset.measure(self._clock, self._lsl_clock)
        return {"had_consumers_at_end": bool(self._outlet.have_consumers()), **offset.to_json()}

    def close(self) -> None:
        self._outlet = None  # Its end takes the stream away.


def open_lsl(name: str, *, source_id: str, clock: Callable[[], float]) -> LslOutput:
    """Open an outlet of Lab Streaming Layer.

    Parameters
    ----------
    name : str
        Of the stream.
    source_id : str
        By which a recorder finds the stream again after an interruption.
    clock : callable
        Returns the time on the session clock, in seconds.

    Raises
    ------
    ApparatusError
        If pylsl or its library is missing, or no outlet can be made.
    """
    try:
        import pylsl  # late: only those who use it need it
    except ImportError as error:
        raise ApparatusError(
            f"markers.lsl: pylsl cannot be imported ({error}); install ghostblitz[lsl], or take "
            "lsl out of the settings' markers"
        ) from error
    except (RuntimeError, OSError) as error:
        raise ApparatusError(
            "markers.lsl: pylsl finds no liblsl, which its package holds for some systems only; "
            "install liblsl and set PYLSL_LIB to its file, or take lsl out of the settings' markers"
        ) from error
    try:
        info = pylsl.StreamInfo(name, "Markers", 1, pylsl.IRREGULAR_RATE, "string", source_id)
        outlet = pylsl.StreamOutlet(info)
    except (RuntimeError, OSError, ValueError) as error:
        raise ApparatusError(f"markers.lsl: no outlet can be made: {error}") from error
    about = {
        "stream": name,
        "stream_type": "Markers",
        "source_id": source_id,
        "liblsl": pylsl.library_version(),
    }
    return LslOutput(outlet, lsl_clock=pylsl.local_clock, clock=clock, about=about)
