"""The outputs for markers that the settings name, on PsychoPy's clock; ports are PsychoPy's."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from psychopy import logging as psychopy_logging

from ghostblitz_task.apparatus.marker_outputs import MarkerOutput, Markers, PortOutput, open_lsl
from ghostblitz_task.apparatus_settings import (
    MARKER_CODES,
    MarkerSettings,
    ParallelSettings,
    SerialSettings,
)
from ghostblitz_task.errors import ApparatusError

__all__ = ["open_markers"]

Clock = Callable[[], float]


def open_markers(settings: MarkerSettings, *, source_id: str) -> Markers | None:
    """Open every output that the settings name, and try each.

    Parameters
    ----------
    settings : MarkerSettings
        The outputs and their bytes.
    source_id : str
        By which recorders know the session.

    Returns
    -------
    Markers or None
        None where the settings name no output.

    Raises
    ------
    ApparatusError
        If one of them cannot be used; the others are closed.
    """
    clock: Clock = psychopy_logging.defaultClock.getTime
    outputs: list[MarkerOutput] = []
    try:
        if settings.serial is not None:
            outputs.append(_open_serial(settings.serial, clock))
        if settings.parallel is not None:
            outputs.append(_open_parallel(settings.parallel, clock))
        if settings.lsl is not None:
            outputs.append(open_lsl(settings.lsl.name, source_id=source_id, clock=clock))
    except ApparatusError:
        for output in outputs:
            output.close()
        raise
    return Markers(outputs, {**MARKER_CODES, **settings.codes}, clock) if outputs else None


def _open_serial(settings: SerialSettings, clock: Clock) -> PortOutput:
    """Open a serial port with the library that PsychoPy opens it with.

    PsychoPy's own class is not used: it waits for the port to take each byte, and does not say why
    a port cannot be opened.
    """
    import serial

    try:
        port = serial.Serial(settings.port, settings.baud, timeout=0, write_timeout=0)
    except (OSError, ValueError) as error:
        raise ApparatusError(
            f"markers.serial: {settings.port} cannot be opened: {error}"
        ) from error

    def write(code: int) -> None:
        try:
            n_written = _write_at_once(port, bytes([code]))
        except OSError as error:
            raise ApparatusError(
                f"markers.serial: {settings.port} takes no byte: {error}"
            ) from error
        if n_written != 1:
            raise ApparatusError(f"markers.serial: {settings.port} takes no byte: it is not read")

    try:
        return PortOutput(
            "serial",
            write=write,
            close=port.close,
            about={"port": settings.port, "baud": settings.baud},
            pulse_s=settings.pulse_s,
            clock=clock,
        )
    except ApparatusError:
        port.close()
        raise


def _write_at_once(port: Any, data: bytes) -> int:
    if os.name == "posix":
        # pyserial 3.5 tries again for ever where a port that should not wait takes nothing.
        return os.write(port.fileno(), data)
    return int(port.write(data))


def _open_parallel(settings: ParallelSettings, clock: Clock) -> PortOutput:
    from psychopy import parallel

    where = f"markers.parallel: {settings.address}"
    if sys.platform.startswith("linux"):
        _check_pyparallel()
    if parallel.ParallelPort is None or sys.platform == "darwin":
        raise ApparatusError(
            f"{where} cannot be opened: PsychoPy has no driver for parallel ports here; on Windows "
            "install inpoutx64, elsewhere take parallel out of the settings' markers"
        )
    try:
        port = parallel.ParallelPort(address=settings.address)
    except (OSError, TypeError, ValueError, AttributeError) as error:
        advice = "; as root: modprobe -r lp; modprobe ppdev" if sys.platform == "linux" else ""
        raise ApparatusError(f"{where} cannot be opened: {error}{advice}") from error

    def write(code: int) -> None:
        try:
            port.setData(code)
        except OSError as error:
            raise ApparatusError(f"{where} takes no byte: {error}") from error

    return PortOutput(
        "parallel",
        write=write,
        close=lambda: None,  # PsychoPy gives the port back when nobody holds it any more.
        about={"address": settings.address, "driver": type(port).__name__},
        pulse_s=settings.pulse_s,
        clock=clock,
    )


def _check_pyparallel() -> None:
    """Refuse a Linux without pyparallel, through which PsychoPy writes to the port there."""
    try:
        import parallel as pyparallel
    except ImportError as error:
        raise ApparatusError(
            f"markers.parallel: on Linux PsychoPy needs pyparallel ({error}); install it"
        ) from error
    if not hasattr(pyparallel, "Parallel"):
        raise ApparatusError(
            "markers.parallel: on Linux PsychoPy needs pyparallel, but the module called parallel "
            f"is another one ({pyparallel.__file__})"
        )
