"""The lines of a transcript: what each may hold, and its first fault in one line of words."""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ghostblitz_task.errors import ConfigError
from ghostblitz_task.games import Mode, suggestion

__all__ = ["AttemptLine", "HeaderLine", "RoundLine", "read_line"]

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Line(BaseModel):
    """Takes what it knows, and nothing else for it."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class HeaderLine(Line):
    """The first line: game, players, and what is known of devices and pile."""

    game: str
    players: tuple[str, ...]
    rules: tuple[str, ...] = ()
    item_colours: dict[str, str] = Field(default_factory=dict)
    n_pictures: int | None = None
    shout_item: str | None = None
    hat_over: str | None = None
    resolution_s: Seconds = 0.0
    second_response_window_s: Seconds | None = None
    deadline_s: Seconds | None = None
    max_rounds: Annotated[int, Field(ge=1)] | None = None
    seed: Annotated[int, Field(ge=0)] | None = None
    pile: tuple[str, ...] | None = None


class AttemptLine(Line):
    """One response of one player."""

    player: str
    t_s: Annotated[float, Field(allow_inf_nan=False)]
    mode: Mode
    answer: str


class RoundLine(Line):
    """One round: the card, and all that was done with it."""

    card: str
    attempts: tuple[AttemptLine, ...]
    hat_over: str | None = None
    hat_to: str | None = None
    lot: tuple[str, ...] = ()


LineType = TypeVar("LineType", bound=Line)


def read_line(line: str, model: type[LineType]) -> LineType:
    """Read one line as JSON; `ConfigError` for the first fault, without the line's number."""
    try:
        return model.model_validate_json(line)
    except ValidationError as error:
        raise ConfigError(_in_words(error, model)) from error


def _in_words(error: ValidationError, model: type[Line]) -> str:
    """Name the first fault; a misspelt key before the one that it leaves missing."""
    faults = error.errors(include_url=False)
    first = min(faults, key=lambda fault: fault["type"] != "extra_forbidden")
    if not first["loc"]:
        expected = ", ".join(name for name, f in model.model_fields.items() if f.is_required())
        return f"this is no JSON object with {expected}"
    path = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        inner = AttemptLine if len(first["loc"]) > 1 else model
        return f"{path} is not a key of this line" + (
            suggestion(str(first["loc"][-1]), inner.model_fields)
            or f"; there are {', '.join(inner.model_fields)}"
        )
    if first["type"] == "missing":
        return f"{path} is missing"
    shown = repr(first["input"])
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    return f"{path}: {first['msg'][0].lower()}{first['msg'][1:]}, but it is {shown}"
