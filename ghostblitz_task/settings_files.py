"""Settings from TOML, validated whole before anything opens."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from ghostblitz_task.errors import ConfigError
from ghostblitz_task.games import suggestion

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover
    import tomli as tomllib

__all__ = [
    "KEY_NAMES",
    "Key",
    "Name",
    "Settings",
    "load_settings",
    "read_toml",
    "validate_settings",
]

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")]


def _known_key(name: str) -> str:
    if name not in KEY_NAMES:
        raise ValueError(f"{name!r} is the name of no key{suggestion(name, KEY_NAMES)}")
    return name


#: As PsychoPy names keys, by their place on a US keyboard.
KEY_NAMES = frozenset(
    [
        *"abcdefghijklmnopqrstuvwxyz0123456789",
        *(f"f{n}" for n in range(1, 20)),
        *(f"num_{n}" for n in range(10)),
        *("num_add", "num_decimal", "num_divide", "num_enter", "num_equal", "num_multiply"),
        *("num_subtract", "numlock", "apostrophe", "backslash", "backspace", "bracketleft"),
        *("bracketright", "capslock", "comma", "delete", "down", "end", "equal", "escape"),
        *("function", "grave", "home", "insert", "lalt", "lcommand", "lctrl", "left", "less"),
        *("loption", "lshift", "lwindows", "menu", "minus", "pagedown", "pageup", "pause"),
        *("period", "pound", "quoteleft", "ralt", "rcommand", "rctrl", "return", "right"),
        *(
            "roption",
            "rshift",
            "rwindows",
            "scrolllock",
            "semicolon",
            "slash",
            "space",
            "tab",
            "up",
        ),
    ]
)
Key = Annotated[str, AfterValidator(_known_key)]


class Settings(BaseModel):
    """Frozen settings that refuse what they do not know."""

    model_config = ConfigDict(extra="forbid", frozen=True)


SettingsType = TypeVar("SettingsType", bound=Settings)


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises
    ------
    ConfigError
        If it is missing, not UTF-8, or no TOML; with line and column.
    """
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text: {error.reason}") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from error


def load_settings(
    path: Path, model: type[SettingsType], *, overrides: Mapping[str, Any] | None = None
) -> SettingsType:
    """Read settings of a kind from a TOML file.

    Parameters
    ----------
    path : Path
        The file.
    model : type of Settings
        What it is to hold.
    overrides : mapping, optional
        Values from the command line, by dotted key path.

    Raises
    ------
    ConfigError
        Naming the file and the key path of the first fault; an unknown key names the nearest
        known one.
    """
    return validate_settings(read_toml(path), model, where=str(path), overrides=overrides)


def validate_settings(
    table: Mapping[str, Any],
    model: type[SettingsType],
    *,
    where: str,
    overrides: Mapping[str, Any] | None = None,
) -> SettingsType:
    """Validate settings that were read already, as `load_settings` does."""
    merged = json.loads(json.dumps(table, default=str))
    for key_path, value in (overrides or {}).items():
        *parents, last = key_path.split(".")
        place = merged
        for parent in parents:
            place = place.setdefault(parent, {})
        place[last] = value
    try:
        # From JSON, since lists are then taken for tuples while nothing else is made to fit.
        return model.model_validate_json(json.dumps(merged), strict=True)
    except ValidationError as error:
        raise ConfigError(f"{where}: {_in_words(error, model)}") from error


def _in_words(error: ValidationError, model: type[Settings]) -> str:
    faults = error.errors(include_url=False)
    # A misspelt key also leaves the right one missing: name the spelling.
    first = min(faults, key=lambda fault: fault["type"] != "extra_forbidden")
    path, models = _place(model, first["loc"])
    key_path = ".".join(path)
    if first["type"] == "extra_forbidden":
        *_, name = path
        known = [
            key for parent in _place(model, first["loc"][:-1])[1] for key in parent.model_fields
        ]
        text = f"{key_path} is not a setting{_nearest(name, known)}"
    elif first["type"] in ("union_tag_invalid", "union_tag_not_found"):
        text = _kind_in_words(first, key_path, models)
    elif first["type"] == "missing":
        text = f"{key_path} is missing"
    elif first["type"] == "value_error":
        message = str(first["ctx"]["error"])
        text = f"{key_path}: {message}" if key_path else message
    else:
        text = f"{key_path}: {_demand(first)}, but it is {_short(first['input'])}"
    more = len(faults) - 1
    return text + (f" (and {more} more)" if more else "")


def _demand(fault: ErrorDetails) -> str:
    """Say what should have been there."""
    if fault["type"] == "too_short":
        return f"must not have fewer entries than {fault['ctx']['min_length']}"
    if fault["type"] == "too_long":
        return f"must not have more entries than {fault['ctx']['max_length']}"
    return fault["msg"][0].lower() + fault["msg"][1:]


def _kind_in_words(fault: ErrorDetails, key_path: str, models: list[type[BaseModel]]) -> str:
    """Say that a table is of no kind that can stand there, or does not say of which it is."""
    key = fault["ctx"]["discriminator"].strip("'")
    known = [str(tag) for model in models for tag in get_args(model.model_fields[key].annotation)]
    if fault["type"] == "union_tag_not_found":
        return f"{key_path}.{key} is missing; there are {', '.join(known)}"
    found = fault["input"][key]
    return f"{key_path}.{key}: {_short(found)} is not known{_nearest(str(found), known)}"


def _nearest(name: str, known: list[str]) -> str:
    """Suggest the name that was meant, or list those that are known."""
    return suggestion(name, known) or f"; there are {', '.join(known)}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _place(
    model: type[BaseModel], location: tuple[int | str, ...]
) -> tuple[list[str], list[type[BaseModel]]]:
    """Follow a fault's location down the models.

    Returns
    -------
    path : list of str
        The location as keys of the file: without the kind of table that was tried, where tables of
        several kinds can stand.
    models : list of type
        The models of what can stand there.
    """
    path: list[str] = []
    models = [model]
    for part in location:
        if isinstance(part, int):
            path.append(str(part))
        elif len(models) > 1:
            models = [kind for kind in models if part in _tags(kind)]
        elif part != "[key]":
            path.append(part)
            fields = models[0].model_fields if models else {}
            models = _models_in(fields[part].annotation) if part in fields else []
    return path, models


def _tags(model: type[BaseModel]) -> list[str]:
    """Return the kinds of table that a model is for: its keys of a few fixed texts."""
    annotations = [field.annotation for field in model.model_fields.values()]
    fixed = [annotation for annotation in annotations if get_origin(annotation) is Literal]
    return [str(tag) for annotation in fixed for tag in get_args(annotation)]


def _models_in(annotation: object) -> list[type[BaseModel]]:
    """Return the models that a type is made of, in order."""
    if get_origin(annotation) is None:
        known = isinstance(annotation, type) and issubclass(annotation, BaseModel)
        return [annotation] if known else []  # type: ignore[list-item]
    return [model for part in get_args(annotation) for model in _models_in(part)]
