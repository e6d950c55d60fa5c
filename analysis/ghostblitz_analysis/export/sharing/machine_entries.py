"""All that this program writes about a machine, in headers and self-tests: what is passed on."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, get_args

from ghostblitz_analysis.export.sharing.allow_list import (
    ANY,
    FLAG,
    NUMBER,
    SENTENCE,
    STUDY_WORD,
    Entry,
    Keyed,
    form,
    keeper,
    one_of,
)
from ghostblitz_task.apparatus.display_facts import DisplayServer, FindingKind
from ghostblitz_task.apparatus_settings import MARKER_CODES
from ghostblitz_task.timing.judging import NOT_MEASURED
from ghostblitz_task.timing.record import VERDICTS

__all__ = [
    "APPARATUS",
    "APPARATUS_SETTINGS",
    "KEY",
    "MARKER_NAME",
    "REPLACED",
    "SELF_TEST",
    "SHA256",
    "SOFTWARE",
    "WORD",
]

WORD = form(r"[a-z][a-z0-9_-]{0,29}")
SHA256 = form(r"[0-9a-f]{1,64}")
#: Another text stands there already, or will.
REPLACED = ANY
MARKER_NAME = one_of(*MARKER_CODES)
_VERSION = form(r"\d{1,6}(\.\d{1,6}){0,4}((a|b|rc|\.post|\.dev)\d{1,4}){0,3}")
#: Keys have names of PsychoPy or one printed letter; those of the study are among its words.
_KEY_NAME = form(r"\S|[a-z0-9_]{1,24}(\([0-9a-f]+\))?|(pad-\d+:|button-)\S{1,8}")


def KEY(value: Any, words: Collection[str]) -> bool:  # noqa: N802 - it stands among constants
    """Whether a value is the name of a key."""
    return STUDY_WORD(value, words) or _KEY_NAME(value, words)


SOFTWARE: Entry = {
    **dict.fromkeys(("ghostblitz", "python", "psychopy", "numpy"), _VERSION),
    "platform": one_of("Linux", "Windows", "Darwin", "FreeBSD"),
}
_TIME_SOURCE = one_of(
    "psychtoolbox event thread", "time of polling", "virtual clock",
    "reading thread, as each byte arrives",
)  # fmt: skip
_DEVICE_CLASS = form(r"psychopy[\w.]{0,80}")
_PROTOCOL = one_of("characters", "state")
_OUTPUT: Entry = {
    "port": REPLACED, "baud": NUMBER, "pulse_s": NUMBER, "address": REPLACED,
    "driver": form(r"P\w{0,12}Parallel\w{0,12}|ParallelPort"), "stream": REPLACED,
    "stream_type": one_of("Markers"), "source_id": REPLACED, "liblsl": NUMBER,
    "clock_offset_s": NUMBER, "clock_uncertainty_s": NUMBER,
}  # fmt: skip
APPARATUS: Entry = {
    "apparatus": WORD, "psychopy": _VERSION,
    "platform": form(r"(Linux|Windows|macOS|Darwin|FreeBSD)(-\d{1,6}(\.\d{1,6})?)?"),
    "display_server": one_of(*get_args(DisplayServer)), "compositor": SENTENCE,
    "gl_renderer": SENTENCE, "software_rendering": FLAG, "window_px": [NUMBER],
    "fullscreen": FLAG, "px_per_deg": NUMBER, "patch_corner": WORD,
    "process_priority": form(r"ordinary|high|nice -?\d{1,2}|real-time \(round robin\)"),
    "refresh_hz": NUMBER, "flip_interval_s": NUMBER, "flip_interval_spread_s": NUMBER,
    "display_synchronised": FLAG, "display_reason": SENTENCE, "stated_hz": NUMBER,
    "rate_agrees": FLAG, "display_findings": [
        {"kind": one_of(*get_args(FindingKind)), "text": SENTENCE}
    ],
    "pacing": one_of("screen", "software"), "key_backend": one_of("ptb", "event", "simulated"),
    "key_time_source": _TIME_SOURCE, "keys_polled": FLAG, "n_keyboards": NUMBER,
    "key_names": one_of("places on a US keyboard", "as printed on the keys"),
    "keyboard_layout": form(r"[a-z]{2,3}(,[a-z]{2,3}){0,3}( \([a-z0-9_,]{1,40}\))?"),
    "caps_lock": FLAG, "num_lock": FLAG, "keys_down_at_start": [KEY],
    "response_pads": [
        {
            "kind": one_of("serial", "psychopy"), "port": REPLACED, "baud": NUMBER,
            "protocol": _PROTOCOL, "device_class": _DEVICE_CLASS, "time_source": _TIME_SOURCE,
            "polled": FLAG, "resolution_s": NUMBER, "adapter_latency_s": NUMBER,
        }
    ],
    "markers": {"codes": Keyed(MARKER_NAME, NUMBER), "outputs": Keyed(WORD, _OUTPUT)},
}  # fmt: skip
_BUTTON = form(r"\S|\d{1,3}")
APPARATUS_SETTINGS: Entry = {
    "screen_index": NUMBER, "fullscreen": FLAG, "window_px": [NUMBER], "screen_width_cm": NUMBER,
    "viewing_distance_cm": NUMBER, "refresh_hz": NUMBER, "key_backend": one_of("ptb", "event"),
    "allow_polled_keys": FLAG, "patch_corner": WORD, "patch_deg": NUMBER, "raise_priority": FLAG,
    "response_pads": [
        {
            "kind": one_of("serial", "psychopy"), "buttons": Keyed(_BUTTON, KEY),
            "releases": Keyed(_BUTTON, _BUTTON), "port": REPLACED, "baud": NUMBER,
            "protocol": _PROTOCOL, "device_class": _DEVICE_CLASS, "device_arguments": REPLACED,
            "device_reports_releases": FLAG,
        }
    ],
    "markers": {
        "lsl": {"name": REPLACED},
        "serial": {"port": REPLACED, "baud": NUMBER, "pulse_s": NUMBER},
        "parallel": {"address": REPLACED, "pulse_s": NUMBER},
        "codes": Keyed(MARKER_NAME, NUMBER),
    },
}  # fmt: skip


def _figures(value: Any, words: Any) -> bool:
    """Whether all keys and texts of what was measured are in words of this program."""
    if isinstance(value, Mapping):
        named = all(SENTENCE(name, words) for name in value)
        return named and all(_figures(inner, words) for inner in value.values())
    if isinstance(value, list):
        return all(_figures(inner, words) for inner in value)
    return value is None or isinstance(value, (bool, int, float)) or SENTENCE(value, words)


#: What is kept of the record of a timing self-test.
SELF_TEST = keeper(
    {
        "format": WORD, "format_version": NUMBER, "started_utc": REPLACED,
        "study_id": form(r"[\w-]{1,80}"), "settings_sha256": SHA256, "verdict": one_of(*VERDICTS),
        "checks": [
            {
                "name": SENTENCE, "verdict": one_of(*VERDICTS, NOT_MEASURED), "value": SENTENCE,
                "reason": SENTENCE, "advice": SENTENCE,
            }
        ],
        "methods": SENTENCE,
        "asked": {"seconds": NUMBER, "n_taps": NUMBER}, "software": SOFTWARE,
        "machine": REPLACED, "n_processors": NUMBER, "apparatus_settings": APPARATUS_SETTINGS,
        "apparatus": APPARATUS,
        "measured": Keyed(form(r"[a-z][a-z0-9_]{0,39}"), _figures),
    },
    "self-tests",
)  # fmt: skip
