"""Checks of what is drawn and when it is shown; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ghostblitz_task.timing.judging import Check, Verdict, graded, ms
from ghostblitz_task.timing.measured import FlipFigures, Measured

__all__ = ["display_checks"]

# Rate: screens keep theirs to some 0.01 %. A difference of 0.5 % is set by something else
# (variable refresh, power saving, the software's own pace on a busy machine); at 5 % a fixation
# of 1 s is three frames off at 60 Hz.
_SAME_RATE, _OTHER_RATE = 0.005, 0.05
# Dropped frames: a card is shown for some 1.2 s, 72 frames at 60 Hz. At 1 in 1000 frames 7 % of
# the trials miss one, at 1 in 100 half of them.
_RARE_DROPS, _FREQUENT_DROPS = 0.001, 0.01
# If none of n is seen, the share may still be 3/n (95 %; Hanley & Lippman-Hand 1983, JAMA 249,
# 1743): fewer frames than this cannot rule out 1 in 1000.
_ENOUGH_FRAMES = 3000
# Jitter of flips goes into each RT, whose start they are. A millisecond is what key times are
# good for; not to know within which part of a frame a flip came is a frame over sqrt(12).
_SMALL_JITTER_S = 0.001
_FRAME_UNKNOWN = 12**-0.5
# Drawing and asking for events must fit into a frame; half of it is left to the system.
_LIGHT_FRAME, _FULL_FRAME = 0.5, 0.9
# Things that the apparatus says of a display that have a check of their own here.
_CHECKED_ANYWAY = frozenset({"no_vsync"})


def display_checks(measured: Measured) -> Iterator[Check]:
    """Return the checks of flips and drawing."""
    yield _synchronised(measured)
    yield from _display_set_up(measured)
    yield _rate(measured)
    yield _dropped(measured.flips)
    yield _jitter(measured.flips)
    yield _frame_budget(measured)


def _synchronised(measured: Measured) -> Check:
    name, apparatus = "flips wait for screen", measured.apparatus
    reason = str(apparatus.get("display_reason") or "")
    if apparatus.get("display_synchronised"):
        return Check(name, "pass", "yes", reason, "")
    paced = "frames are paced by software, so when a card is seen is not known to a frame"
    return Check(
        name,
        "fail",
        "no",
        f"{reason}; {paced}" if reason else paced,
        "run full screen on a real screen, with vertical synchronisation on in the graphics "
        "driver; no study of people belongs on a virtual display",
    )


def _display_set_up(measured: Measured) -> Iterator[Check]:
    """Pass on what the apparatus found about the display."""
    apparatus = measured.apparatus
    found = [
        str(finding["text"])
        for finding in apparatus.get("display_findings") or ()
        if finding.get("kind") not in _CHECKED_ANYWAY
        and not (finding.get("kind") == "compositor" and _lets_full_screen_by(apparatus))
        and finding.get("text") != apparatus.get("display_reason")
    ]
    if apparatus.get("fullscreen") is False:
        found.append("this was a window, not the whole screen")
    value = str(apparatus.get("gl_renderer") or "")
    if found:
        yield Check(
            "display set-up",
            "warn",
            value,
            "; ".join(found),
            "test as the study will run: full screen, drawn by the graphics card, on a desktop "
            "without effects",
        )
    else:
        yield Check("display set-up", "pass", value, "nothing out of the ordinary was found", "")


def _lets_full_screen_by(apparatus: Mapping[str, Any]) -> bool:
    """Whether the compositor is one that every machine of this system has, and may step aside."""
    return bool(apparatus.get("fullscreen")) and apparatus.get("display_server") in {
        "Windows",
        "macOS",
    }


def _rate(measured: Measured) -> Check:
    flips = measured.flips
    off = abs(flips.refresh_hz / flips.expected_hz - 1.0)
    worst = max(off, flips.drift)
    verdict = graded(worst, passes=_SAME_RATE, warns=_OTHER_RATE)
    value = f"{flips.refresh_hz:.2f} Hz over {flips.duration_s:.0f} s"
    parts = f"its parts differ by {100 * flips.drift:.2f} %"
    if measured.apparatus.get("pacing") == "software":
        reason = (
            f"{100 * off:.2f} % from the {flips.expected_hz:.2f} Hz that software is to keep; "
            f"{parts}"
        )
        advice = (
            "close other programs, use a smaller window, or keep a lower rate (refresh_hz in "
            "apparatus.toml); a screen that flips wait for keeps its own"
        )
    else:
        reason = f"{100 * off:.2f} % from the {flips.expected_hz:.2f} Hz at the start; {parts}"
        advice = "turn variable refresh and power saving off, and choose one fixed rate"
    return Check("refresh rate", verdict, value, reason, "" if verdict == "pass" else advice)


def _dropped(flips: FlipFigures) -> Check:
    n, n_dropped = flips.n_intervals, flips.n_dropped
    share = n_dropped / n
    value = f"{n_dropped} of {n:,} ({100 * share:.2f} %), longest {ms(flips.longest_s, 1)}"
    verdict: Verdict = graded(share, passes=_RARE_DROPS, warns=_FREQUENT_DROPS)
    if verdict == "pass" and n < _ENOUGH_FRAMES:
        return Check(
            "dropped frames",
            "warn",
            value,
            f"{n:,} frames are too few to rule out 1 in 1,000",
            f"let the test run for {_ENOUGH_FRAMES:,} frames or more (60 s at 60 Hz)",
        )
    reason = "1 in 1,000 passes, 1 in 100 makes half of all trials miss one"
    advice = (
        "close other programs, turn off desktop effects and updates, keep a laptop on its mains"
    )
    return Check("dropped frames", verdict, value, reason, "" if verdict == "pass" else advice)


def _jitter(flips: FlipFigures) -> Check:
    frame_s = 1.0 / flips.expected_hz
    if flips.jitter_s is None:
        return Check(
            "steadiness of flips",
            "fail",
            "",
            "no interval was shorter than 1.5 frames",
            "use a graphics card, a lower rate, or a smaller window",
        )
    verdict = graded(
        flips.jitter_s,
        passes=_SMALL_JITTER_S,
        warns=max(_SMALL_JITTER_S, _FRAME_UNKNOWN * frame_s),
    )
    return Check(
        "steadiness of flips",
        verdict,
        f"SD {ms(flips.jitter_s, 2)} without dropped frames",
        f"a flip is the start of each RT; key times are good for {ms(_SMALL_JITTER_S, 0)}",
        ""
        if verdict == "pass"
        else "close other programs; let the session have a raised priority "
        "(raise_priority in apparatus.toml)",
    )


def _frame_budget(measured: Measured) -> Check:
    frame_s = 1.0 / measured.flips.expected_hz
    draw, poll = measured.draw.all, measured.poll.time
    share = (draw.p95_s + poll.p95_s) / frame_s
    verdict = graded(share, passes=_LIGHT_FRAME, warns=_FULL_FRAME)
    return Check(
        "work per frame",
        verdict,
        f"drawing a card {ms(draw.median_s, 2)} (95 % {ms(draw.p95_s, 2)}), asking for events "
        f"{ms(poll.median_s, 2)} (95 % {ms(poll.p95_s, 2)})",
        f"{100 * share:.0f} % of a frame of {ms(frame_s, 1)}; half is to be left free",
        "" if verdict == "pass" else "use a graphics card, a lower rate, or a smaller window",
    )
