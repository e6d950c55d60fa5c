"""The machine's settings, which change only how a study runs on it: apparatus.toml."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from ghostblitz_task.settings_files import Key, Settings, load_settings

__all__ = [
    "MARKER_CODES",
    "ApparatusSettings",
    "LslSettings",
    "MarkerSettings",
    "PadSettings",
    "ParallelSettings",
    "PatchCorner",
    "SerialSettings",
    "load_apparatus",
]

APPARATUS_FILE = "apparatus.toml"

Pixels = Annotated[int, Field(ge=100, le=20_000)]
#: One byte, and 0 is the state between two markers.
Code = Annotated[int, Field(ge=1, le=255)]
BaudRate = Annotated[int, Field(ge=300, le=4_000_000)]
#: The shortest time from a byte to the 0 after it, in seconds.
PulseLength = Annotated[float, Field(gt=0, le=1)]
PatchCorner = Literal["lower-left", "lower-right", "upper-left", "upper-right"]

_LARGEST_BYTE = 255
_BITS = frozenset("01234567")

#: What serial and parallel ports send unless the settings say otherwise.
MARKER_CODES: Mapping[str, int] = {
    "block-start": 1,
    "block-end": 2,
    "card": 10,
    "grab": 20,
    "shout": 21,
    "cue": 30,
}


class PadSettings(Settings):
    """A button box or response pad beside the keyboard.

    Attributes
    ----------
    kind : str
        ``serial`` for a pad that sends a byte (or a state byte) for each button, ``psychopy``
        for a device class of PsychoPy or one of its plugins.
    buttons : dict of str to str
        The key of the study that each button stands for. For a serial pad the button is named
        by the character it sends, or by its number in a state byte (from 0); for a device class
        by its channel (from 0).
    releases : dict of str to str
        For a serial pad that sends a character when a button comes up: that character, and the
        one sent when it went down. A button without one is never known to be held.
    port, baud : str, int
        Of a serial pad.
    protocol : str
        ``characters``: one per press; ``state``: a byte whose bits are the buttons that are down.
    device_class : str
        Of a ``psychopy`` pad, as in ``psychopy.hardware.button.KeyboardButtonBox``.
    device_arguments : dict
        For its constructor.
    device_reports_releases : bool
        Whether that device says when a button comes up; if not, none is known to be held.
    """

    kind: Literal["serial", "psychopy"]
    buttons: dict[str, Key] = Field(min_length=1)
    releases: dict[str, str] = Field(default_factory=dict)
    port: str | None = None
    baud: BaudRate = 115_200
    protocol: Literal["characters", "state"] = "characters"
    device_class: str | None = None
    device_arguments: dict[str, Any] = Field(default_factory=dict)
    device_reports_releases: bool = False

    @model_validator(mode="after")
    def _has_what_its_kind_needs(self) -> PadSettings:
        needed, other = ("port", "device_class")
        if self.kind == "psychopy":
            needed, other = other, needed
        if getattr(self, needed) is None:
            raise ValueError(f'a pad of kind "{self.kind}" needs {needed}')
        if getattr(self, other) is not None:
            raise ValueError(f'{other} is not for a pad of kind "{self.kind}"')
        of_psychopy = ("device_arguments", "device_reports_releases")
        of_serial = ("baud", "protocol")
        for name in of_serial if self.kind == "psychopy" else of_psychopy:
            if name in self.model_fields_set:
                raise ValueError(f'{name} is not for a pad of kind "{self.kind}"')
        if len(set(self.buttons.values())) < len(self.buttons):
            raise ValueError("buttons: two buttons stand for the same key")
        for released, pressed in self.releases.items():
            if pressed not in self.buttons:
                raise ValueError(f"releases.{released}: {pressed!r} is none of the buttons")
            if released in self.buttons:
                raise ValueError(f"releases.{released}: {released!r} is a button that goes down")
        return self

    @model_validator(mode="after")
    def _buttons_can_be_told_apart(self) -> PadSettings:
        if self.kind == "serial" and self.protocol == "characters":
            for name in (*self.buttons, *self.releases):
                if len(name) != 1 or ord(name) > _LARGEST_BYTE:
                    raise ValueError(f"buttons: {name!r} is not the one character of one byte")
            return self
        if self.releases:
            raise ValueError("releases are for a serial pad that sends characters")
        for name in self.buttons:
            if self.kind == "serial" and name not in _BITS:
                raise ValueError(f"buttons: {name!r} is no bit of a state byte, 0 to 7")
        return self


class LslSettings(Settings):
    """An outlet of Lab Streaming Layer, one string per marker."""

    name: str = Field(default="ghostblitz", min_length=1)


class SerialSettings(Settings):
    """A serial port that takes one byte per marker.

    With `pulse_s` a 0 follows after that time; null leaves it to the device to end its pulse.
    """

    port: str = Field(min_length=1)
    baud: BaudRate = 115_200
    pulse_s: PulseLength | None = None


class ParallelSettings(Settings):
    """A parallel port: its address (Windows) or device (Linux)."""

    address: int | str
    pulse_s: PulseLength = 0.01


class MarkerSettings(Settings):
    """Where markers go at card onset, response and block borders; null for nowhere.

    Attributes
    ----------
    lsl, serial, parallel
        Any of them together.
    codes : dict of str to int
        Bytes for serial and parallel ports that differ from `MARKER_CODES`.
    """

    lsl: LslSettings | None = None
    serial: SerialSettings | None = None
    parallel: ParallelSettings | None = None
    codes: dict[str, Code] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _codes_are_known(self) -> MarkerSettings:
        for name in self.codes:
            if name not in MARKER_CODES:
                raise ValueError(
                    f"codes: {name!r} is no marker; there are {', '.join(MARKER_CODES)}"
                )
        names: dict[int, str] = {}
        for name, code in {**MARKER_CODES, **self.codes}.items():
            if code in names:
                raise ValueError(f"codes: {names[code]!r} and {name!r} would both be {code}")
            names[code] = name
        return self


class ApparatusSettings(Settings):
    """The machine: what changes only how a study runs.

    Attributes
    ----------
    screen_width_cm, viewing_distance_cm : float
        Measured with a ruler; sizes in degrees follow from them.
    fullscreen : bool
        Take the whole screen, as a study should; otherwise a window of `window_px`.
    refresh_hz : float
        Frames per second to keep where flips do not wait for the screen.
    key_backend : str
        ``ptb`` stamps the key itself; ``event`` stamps the time of polling and is refused
        unless `allow_polled_keys` says that this is known.
    patch_corner, patch_deg : str, float
        Where the square stands that turns white with the card, for a photodiode or the robot,
        and its side; 0 leaves it out.
    raise_priority : bool
        Ask the system to run the session before other programs, where it allows that.
    response_pads : tuple of PadSettings
        Devices whose buttons stand for keys.
    markers : MarkerSettings
        Marks for other recordings.
    """

    screen_index: int = Field(default=0, ge=0)
    fullscreen: bool = True
    window_px: tuple[Pixels, Pixels] = (1280, 720)
    screen_width_cm: float = Field(default=53.0, gt=1, le=1000)
    viewing_distance_cm: float = Field(default=60.0, gt=5, le=1000)
    refresh_hz: float = Field(default=60.0, ge=20, le=1000)
    key_backend: Literal["ptb", "event"] = "ptb"
    allow_polled_keys: bool = False
    patch_corner: PatchCorner = "lower-left"
    patch_deg: float = Field(default=1.5, ge=0, le=10)
    raise_priority: bool = True
    response_pads: tuple[PadSettings, ...] = Field(default=(), max_length=4)
    markers: MarkerSettings = MarkerSettings()

    @model_validator(mode="after")
    def _buttons_stand_for_different_keys(self) -> ApparatusSettings:
        keys = [key for pad in self.response_pads for key in pad.buttons.values()]
        for key in keys:
            if keys.count(key) > 1:
                raise ValueError(f"response_pads: buttons of two pads stand for key {key!r}")
        return self


def load_apparatus(study_folder: Path, path: Path | None = None) -> ApparatusSettings:
    """Read the machine's settings: a given file, else the study's own, else the defaults."""
    own = study_folder / APPARATUS_FILE
    if path is None and not own.exists():
        return ApparatusSettings()
    return load_settings(path or own, ApparatusSettings)
