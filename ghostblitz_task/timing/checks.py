"""Judge what a self-test measured: pass, warn or fail, why, and what to do; pure.

Every threshold is a named constant with the reason for it. What was not measured gets no verdict.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import numpy as np

from ghostblitz_task.timing.display_checks import display_checks
from ghostblitz_task.timing.judging import NOT_MEASURED, Check, Verdict, graded, ms
from ghostblitz_task.timing.measured import (
    ClockFigures,
    DiskFigures,
    InjectionFigures,
    Measured,
    RepeatFigures,
    Unfinished,
)

__all__ = ["Check", "Verdict", "check_all", "checks_json", "overall_verdict"]

# The clock: a tenth of the millisecond that key stamps are good for adds nothing to them; a
# clock as coarse as Windows' old 15.6 ms timer would be all that RTs show.
_FINE_CLOCK_S, _COARSE_CLOCK_S = 0.000_1, 0.001
# A key that was held until its second repeat has surely repeated once.
_FEWEST_REPEATS = 2
# Time servers slew a wall clock by at most 500 ppm (RFC 5905, "MAXFREQ"), and a second of it may
# be set at once; more than both together is a clock that runs wrong.
_WALL_SLEW, _WALL_SETTING_S = 500e-6, 0.1
# A program in each processor's queue already; with more than half, frames are waited for.
_BUSY_PROCESSOR = 0.5
# A trial is written while nothing is awaited. Half of that time leaves the other half for a disk
# that is slower on another day; more than all of it makes pauses longer than the study says.
_DISK_SHARE = 0.5
# Standard deviation of the RT error. The robot's own, on a bare window of its own, was 0.7 ms
# where we measured it; three times that is what a robot can vouch for. Not to know at all within
# which part of a 60-Hz frame a card came would be 4.8 ms (1/60 s over the square root of 12).
_SMALL_RT_SD_S, _LARGE_RT_SD_S = 0.002, 0.0048
# A frame that is shown when its flip says so is seen by the robot within one frame.
_MOST_BIAS_FRAMES = 1.0
# Fewer RTs than these say little of a standard deviation: with 20 its 95 % interval reaches from
# 0.76 to 1.46 times what was found (chi-square).
_FEW_RTS = 20


def check_all(measured: Measured) -> tuple[Check, ...]:
    """Return every check of a self-test, in the order in which they are reported."""
    apparatus = measured.apparatus
    return (
        *display_checks(measured),
        _clock(measured.clock),
        _keys(apparatus.get("key_backend"), apparatus.get("key_time_source"), measured),
        _repeat(measured.repeat, measured.injection),
        Check(
            "keyboard latency",
            NOT_MEASURED,
            "",
            "what a keyboard needs to notice a finger, and how often it asks its switches, cannot "
            "be seen from within the computer",
            "measure it with a device that closes a switch at a known time, or say in the paper "
            "that it is not known",
        ),
        _conserved(measured.injection),
        _rt_error(measured.injection, measured.flips.expected_hz),
        _disk(measured.disk),
        _load(measured.load_per_processor),
        Check(
            "display lag",
            NOT_MEASURED,
            "",
            "when light leaves the screen after a flip cannot be seen from within the computer",
            "measure it with a photodiode on the square in the corner, or say in the paper that "
            "it is not known",
        ),
    )


def overall_verdict(checks: Iterable[Check]) -> Verdict:
    """Return the worst verdict there is; what was not measured counts for nothing.

    Raises
    ------
    ValueError
        If nothing was measured.
    """
    found = {check.verdict for check in checks} - {NOT_MEASURED}
    for verdict in ("fail", "warn", "pass"):
        if verdict in found:
            return verdict
    raise ValueError("nothing was measured")


def checks_json(checks: Iterable[Check]) -> list[dict[str, Any]]:
    """Return the checks as they stand in a record."""
    return [asdict(check) for check in checks]


def _clock(clock: ClockFigures) -> Check:
    value = f"steps of {ms(clock.step_s, 4)} or finer"
    if clock.n_backwards:
        return Check(
            "clock",
            "fail",
            value,
            f"it went backwards {clock.n_backwards} times in {clock.n_reads:,} readings",
            "do not run studies here; look for a virtual machine's clock or a faulty driver",
        )
    allowed_s = _WALL_SLEW * clock.span_s + _WALL_SETTING_S
    if abs(clock.against_wall_s) > allowed_s:
        return Check(
            "clock",
            "warn",
            value,
            f"in {clock.span_s:.0f} s it went {ms(clock.against_wall_s, 1, signed=True)} against "
            f"the wall clock, where {ms(allowed_s, 1)} can be explained",
            "repeat the test; if it stays so, and nobody set the wall clock meanwhile, one of the "
            "two runs wrong",
        )
    verdict = graded(clock.step_s, passes=_FINE_CLOCK_S, warns=_COARSE_CLOCK_S)
    return Check(
        "clock",
        verdict,
        value,
        f"{ms(_FINE_CLOCK_S, 1)} is a tenth of what key times are good for",
        "" if verdict == "pass" else "use another machine or operating system",
    )


def _keys(backend: object, source: object, measured: Measured) -> Check:
    value = f"{backend}: {source}"
    polled_pads = [p for p in measured.apparatus.get("response_pads") or () if p.get("polled")]
    if polled_pads:
        frame_s = 1.0 / measured.flips.refresh_hz
        return Check(
            "key times",
            "warn",
            value,
            f"{len(polled_pads)} of the response pads are asked once per frame: their times are "
            f"up to {ms(frame_s, 1)} late",
            "use a pad that stamps its presses, or say in the paper how coarse its times are",
        )
    if measured.apparatus.get("keys_polled") is False:
        return Check("key times", "pass", value, "each key event has a time of its own", "")
    if measured.apparatus.get("keys_polled"):
        frame_s = 1.0 / measured.flips.refresh_hz
        return Check(
            "key times",
            "warn",
            value,
            f"a key's time is that of asking for it, once per frame: up to {ms(frame_s, 1)} late",
            'set key_backend = "ptb" in apparatus.toml',
        )
    return Check(
        "key times",
        "warn",
        value,
        "the apparatus does not say whether keys are polled",
        "find out before a study",
    )


def _repeat(repeat: RepeatFigures | str, injection: InjectionFigures | str) -> Check:
    if isinstance(repeat, str):
        value, known = "", repeat
    else:
        value = f"after {ms(repeat.delay_s, 0)} every {ms(repeat.interval_s, 0)}"
        known = "the X server repeats a key that is held so"
        if not repeat.is_on:
            value, known = "off", "the X server repeats no key"
    if not isinstance(injection, str) and injection.n_repeats_logged:
        return Check(
            "key repeat",
            "fail",
            value,
            f"the log has {injection.n_repeats_logged} presses of keys that were held beyond "
            "those that were sent",
            "turn key repeat off in the system's keyboard settings, and report this",
        )
    untested = _repeat_untested(repeat, injection)
    if untested is not None:
        why, advice = untested
        reason = f"{known}; {why}, so whether repeats count as presses was not tested"
        return Check("key repeat", NOT_MEASURED, value, reason, advice)
    assert isinstance(injection, InjectionFigures)
    held = f"a key was held for {ms(min(injection.held_s), 0)} or longer {_times(injection)}"
    return Check(
        "key repeat",
        "pass",
        value,
        f"{known}; {held}, and is in the log as one press each time",
        "",
    )


def _repeat_untested(
    repeat: RepeatFigures | str, injection: InjectionFigures | str
) -> tuple[str, str] | None:
    """Say why no key was held until it repeated, and what to do; None if one was."""
    if isinstance(injection, str):
        return "no key was held", "run the test with keys, on an X display"
    if isinstance(repeat, str):
        return "no key is known to have repeated", "run the test on an X display that says"
    if not repeat.is_on:
        return (
            "no key repeated",
            "none while it stays off; to test it, turn key repeat on (xset r on) and repeat",
        )
    if not injection.held_s:
        return "no key was held that it repeats", "let all keys repeat (xset r on), and repeat"
    if min(injection.held_s) < repeat.delay_s + _FEWEST_REPEATS * repeat.interval_s:
        return (
            f"keys were held for {ms(min(injection.held_s), 0)} only, before they repeated twice",
            "let keys repeat sooner (xset r rate 660 25), and repeat the test",
        )
    return None


def _times(injection: InjectionFigures) -> str:
    return "once" if len(injection.held_s) == 1 else f"{len(injection.held_s)} times"


def _conserved(injection: InjectionFigures | str) -> Check:
    name = "key events kept"
    if isinstance(injection, Unfinished):
        return Check(
            name,
            "fail",
            "",
            f"{injection}; a key or a card may have gone unseen",
            "repeat the test without touching the machine; if it stays so, RTs of this machine "
            "cannot be trusted",
        )
    if isinstance(injection, str):
        return Check(name, NOT_MEASURED, "", injection, "")
    i = injection
    value = f"{i.n_injected} sent, {i.n_logged} logged"
    unanswered = [tap for tap in i.taps if tap.n_answered < tap.n_taps]
    faults = [
        f"{n} {what}"
        for n, what in (
            (i.n_lost, "lost"),
            (i.n_invented, "in the log only"),
            (i.n_misattributed, "counted for another trial"),
        )
        if n
    ]
    faults += [
        f"of {tap.n_taps} taps of {ms(tap.hold_s, 0)} only {tap.n_answered} answered their card"
        for tap in unanswered
    ]
    if faults:
        return Check(
            name,
            "fail",
            value,
            "; ".join(faults),
            "repeat the test without touching the machine; if it stays so, RTs of this machine "
            "cannot be trusted",
        )
    holds = ", ".join(ms(tap.hold_s, 0) for tap in i.taps)
    return Check(
        name,
        "pass",
        value,
        f"taps of {holds}: none lost, none invented, none in another trial (up to "
        f"{100 * 3 / i.n_injected:.1f} % lost could still go unnoticed in so many)",
        "",
    )


def _rt_error(injection: InjectionFigures | str, expected_hz: float) -> Check:
    name = "RT error"
    if isinstance(injection, str):
        return Check(name, NOT_MEASURED, "", injection, "")
    errors_s = np.array(injection.rt_error_s)
    if len(errors_s) < 2:
        return Check(name, NOT_MEASURED, "", "fewer than two cards were answered", "")
    mean_s, sd_s = float(errors_s.mean()), float(errors_s.std(ddof=1))
    value = f"mean {ms(mean_s, 1, signed=True)}, SD {ms(sd_s, 1)} (n = {len(errors_s)})"
    path = "from the picture the X server has to the press it was sent; not screen nor keyboard"
    verdict = graded(sd_s, passes=_SMALL_RT_SD_S, warns=_LARGE_RT_SD_S)
    advice = "close other programs and repeat the test; see dropped frames and machine load"
    if verdict == "pass" and abs(mean_s) > _MOST_BIAS_FRAMES / expected_hz:
        return Check(
            name,
            "warn",
            value,
            f"{path}; the mean is more than a frame, so that pictures come later or earlier than "
            "their flips say",
            "turn a compositor off, or let it pass full-screen windows by; measure the lag with a "
            "photodiode",
        )
    if verdict == "pass" and len(errors_s) < _FEW_RTS:
        return Check(
            name,
            "warn",
            value,
            f"{path}; {len(errors_s)} RTs say little of their standard deviation",
            f"inject {_FEW_RTS} taps or more",
        )
    limits = f"SDs up to {ms(_SMALL_RT_SD_S, 1)} pass, above {ms(_LARGE_RT_SD_S, 1)} fail"
    return Check(
        name,
        verdict,
        value,
        f"{path}; {limits}",
        "" if verdict == "pass" else advice,
    )


def _disk(disk: DiskFigures) -> Check:
    time = disk.time
    value = f"median {ms(time.median_s, 1)}, 95 % {ms(time.p95_s, 1)}, longest {ms(time.max_s, 1)}"
    if disk.pause_s is None:
        return Check(
            "disk writes",
            NOT_MEASURED,
            value,
            "the study has no interval between trials to compare this with",
            "",
        )
    pause = f"the {ms(disk.pause_s, 0)} between trials"
    local = "put the data set on a disk of this machine, not on a network or a memory stick"
    if time.p95_s > disk.pause_s:
        return Check(
            "disk writes", "fail", value, f"more than 1 in 20 takes longer than {pause}", local
        )
    if time.max_s > _DISK_SHARE * disk.pause_s:
        return Check(
            "disk writes", "warn", value, f"the longest takes more than half of {pause}", local
        )
    return Check("disk writes", "pass", value, f"all within half of {pause}", "")


def _load(load: float | None) -> Check:
    name = "machine load"
    if load is None:
        return Check(name, NOT_MEASURED, "", "the system does not say", "")
    value = f"{load:.2f} programs per processor"
    if load > _BUSY_PROCESSOR:
        return Check(
            name,
            "warn",
            value,
            "other programs were busy in the minute before the test",
            "close them, wait for updates and backups to end, and repeat the test",
        )
    return Check(name, "pass", value, "in the minute before the test", "")
