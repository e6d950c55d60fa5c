"""What a mapping states: how somebody else's trial table becomes ours."""

from __future__ import annotations

import codecs
import re
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from ghostblitz_analysis.settings import AnalysisSettings
from ghostblitz_task.settings_files import Name, Settings

__all__ = [
    "ColumnSettings",
    "FilterSettings",
    "LevelSettings",
    "Mapping",
    "SourceSettings",
    "comparable",
]

_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d{1,3})?")
_FLAGS = {"true": "1", "false": "0"}

Scalar = bool | int | float | str


def comparable(value: object) -> str:
    """Return the text by which a cell and a value of the mapping are compared.

    Spaces at the ends do not count. Numbers compare by value (``1``, ``1.0`` and ``1e0`` are
    the same; ``01`` is no number but a text), and ``true`` and ``false``, in any case, are
    ``1`` and ``0``. All other texts compare to the letter.
    """
    text = str(value).strip()
    if text.lower() in _FLAGS:
        return _FLAGS[text.lower()]
    if _NUMBER.fullmatch(text):
        number = float(text)
        return str(int(number)) if number.is_integer() else repr(number)
    return text


def _as_columns(value: object) -> object:
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


#: One column whose cells are lists, or several columns of one name each.
ListColumns = Annotated[tuple[str, ...], BeforeValidator(_as_columns), Field(min_length=1)]
Levels = dict[str, str]
Rule = Literal["direct", "exclusion", "mirror", "mirror-owl", "time"]


class DatasetInfo(Settings):
    """What the data set is, and whom to cite."""

    name: Name
    citation: str | None = None
    licence: str | None = None
    url: str | None = None


class SourceSettings(Settings):
    """How the source is written.

    Attributes
    ----------
    format : str
        ``auto`` goes by the ending of the file name.
    sheet : str or None
        Of an Excel file, where several sheets hold something.
    encoding : str
        The default reads UTF-8 with or without a byte-order mark.
    delimiter : str
        ``auto`` takes what the header holds most of: comma, semicolon, tab or bar.
    quote : str
        What stands around cells that hold the delimiter.
    decimal : str
        Decimal point or comma.
    missing : tuple of str
        Texts that mean no value, as R's ``NA`` or jsPsych's ``null``; a blank cell always does.
        They are never applied to participant ids.
    pattern : str
        Where the source is a folder with a file per participant: which files.
    """

    format: Literal["auto", "csv", "tsv", "json", "jsonl", "xlsx"] = "auto"
    sheet: str | None = None
    encoding: str = "utf-8-sig"
    delimiter: str = "auto"
    quote: str = Field(default='"', min_length=1, max_length=1)
    decimal: Literal[".", ","] = "."
    missing: tuple[str, ...] = ()
    pattern: str = "*.csv"

    @field_validator("encoding")
    @classmethod
    def _encoding_exists(cls, value: str) -> str:
        try:
            codecs.lookup(value)
        except LookupError:
            raise ValueError(f"{value!r} is no encoding; utf-8 and cp1252 are common") from None
        return value

    @field_validator("delimiter")
    @classmethod
    def _delimiter_is_a_character(cls, value: str) -> str:
        value = {"tab": "\t", "\\t": "\t"}.get(value, value)
        if value != "auto" and (len(value) != 1 or value in '\r\n"'):
            raise ValueError(f'{value!r} is no delimiter; write one character, "tab" or "auto"')
        return value


class ColumnSettings(Settings):
    """Which column of the source holds what.

    Attributes
    ----------
    items, item_colours
        The items of the game and their own colours: one column whose cells are lists, or one
        column each. Left out where ``game.item_colours`` fixes them, or they are the game's.
    picture_items, picture_colours
        What the card shows, likewise; or `card`, a column with the whole card text.
    hat_over : str
        The item that the hat hid while the card was shown, in games that have one.
    list_separator : str
        What stands between the names of a list; a space stands for any white space. JSON and
        Python lists are read as such.
    trial : str
        Number of the trial, from `trial_starts_at`, in its block or in its session
        (`trial_counts`). Left out, trials are numbered as they come.
    rule, target, correct, block_type
        Compared with what the cards and responses give; a blank cell is not compared. Without
        `block_type`, it follows from the cards of the block.
    """

    participant: str
    session: str | None = None
    block: str | None = None
    block_type: str | None = None
    phase: str | None = None
    trial: str | None = None
    trial_starts_at: Literal[0, 1] = 1
    trial_counts: Literal["block", "session"] = "block"
    items: ListColumns | None = None
    item_colours: ListColumns | None = None
    picture_items: ListColumns | None = None
    picture_colours: ListColumns | None = None
    card: str | None = None
    hat_over: str | None = None
    list_separator: str = Field(default=" ", min_length=1)
    response: str
    response_mode: str | None = None
    rt: str
    rt_unit: Literal["s", "ms"]
    rule: str | None = None
    target: str | None = None
    correct: str | None = None

    @model_validator(mode="after")
    def _lists_come_in_pairs(self) -> ColumnSettings:
        pairs = (("items", "item_colours"), ("picture_items", "picture_colours"))
        for one, other in pairs:
            first, second = getattr(self, one), getattr(self, other)
            if (first is None) != (second is None):
                raise ValueError(f"{one} and {other} go together; one is missing")
            if first is not None and len(first) != len(second):
                raise ValueError(f"{one} and {other} name different numbers of columns")
        if (self.card is None) == (self.picture_items is None):
            raise ValueError("give either card, or picture_items and picture_colours")
        return self

    def named(self) -> dict[str, str]:
        """Return every column that is named, with the setting that names it."""
        found: dict[str, str] = {}
        for key in type(self).model_fields:
            value = getattr(self, key)
            if key in ("list_separator", "trial_counts", "rt_unit", "trial_starts_at"):
                continue
            for name in value if isinstance(value, tuple) else (value,):
                if name is not None:
                    found.setdefault(name, f"columns.{key}")
        return found


class LevelSettings(Settings):
    """What the values of the source are called here, as ``source value = "ours"``.

    For rule, block_type, phase, mode and correct every value must be listed; without a list
    they must be ours already. An item, colour, response or factor level that is not listed
    keeps its name. A response is looked up among the responses, then among the items; what the hat
    hides, among the items.
    """

    rule: dict[str, Rule] = Field(default_factory=dict)
    block_type: dict[str, Rule | Literal["mixed", "pure"]] = Field(default_factory=dict)
    phase: dict[str, Literal["practice", "test"]] = Field(default_factory=dict)
    mode: dict[str, Literal["grab", "shout"]] = Field(default_factory=dict)
    correct: dict[str, bool] = Field(default_factory=dict)
    item: Levels = Field(default_factory=dict)
    colour: Levels = Field(default_factory=dict)
    response: Levels = Field(default_factory=dict)
    factors: dict[str, Levels] = Field(default_factory=dict)


class GameMapping(Settings):
    """The game whose rules solve the cards; `item_colours` if not the game's own for all.

    `rules` are the additional rules that were played; a game that has such rules needs them said,
    if only that there were none (``[]``).
    """

    name: str = "classic"
    item_colours: dict[str, str] = Field(default_factory=dict)
    n_pictures: int | None = Field(default=None, ge=1)
    shout_item: str | None = None
    rules: tuple[str, ...] | None = None


class FilterSettings(Settings):
    """Rows to drop (or the only ones to keep), by one column and one condition."""

    column: str
    action: Literal["drop", "keep"] = "drop"
    equals: Scalar | None = None
    not_equals: Scalar | None = None
    one_of: tuple[Scalar, ...] | None = None
    none_of: tuple[Scalar, ...] | None = None
    blank: bool | None = None
    below: float | None = None
    above: float | None = None
    reason: str = Field(min_length=1)

    @property
    def condition(self) -> str:
        """The name of the condition that is set."""
        return next(name for name in _CONDITIONS if getattr(self, name) is not None)

    @model_validator(mode="after")
    def _one_condition(self) -> FilterSettings:
        if sum(getattr(self, name) is not None for name in _CONDITIONS) != 1:
            raise ValueError(f"give one condition: {', '.join(_CONDITIONS)}")
        return self


_CONDITIONS = ("equals", "not_equals", "one_of", "none_of", "blank", "below", "above")


class CompleteSettings(Settings):
    """Trials of a complete participant, counted after the filters; others are dropped."""

    n_trials: int = Field(ge=1)


class ResponseMapping(Settings):
    """What a trial without a response looks like.

    Attributes
    ----------
    blank : str
        Whether a blank response is an ``error`` or a ``late`` trial, which has no RT.
    no_response : tuple of str
        Texts that mean the same as a blank response, such as PsychoPy's ``None``.
    no_rt : tuple of float
        Numbers in the column of RTs, as it has them, that stand for no RT, such as -1 or 9999.
    deadline_s : float or None
        Time that was allowed for the response.
    """

    blank: Literal["error", "late"] = "error"
    no_response: tuple[str, ...] = ()
    no_rt: tuple[float, ...] = ()
    deadline_s: float | None = Field(default=None, gt=0, allow_inf_nan=False)


class CheckSettings(Settings):
    """What to do about cards without a single answer: stop, or drop and count them."""

    on_unsolvable: Literal["error", "drop"] = "error"


class Mapping(Settings):
    """Everything that an import needs to know about a source."""

    dataset: DatasetInfo
    source: SourceSettings = SourceSettings()
    columns: ColumnSettings
    levels: LevelSettings = LevelSettings()
    game: GameMapping = GameMapping()
    filters: tuple[FilterSettings, ...] = ()
    complete: CompleteSettings | None = None
    responses: ResponseMapping = ResponseMapping()
    checks: CheckSettings = CheckSettings()
    factors: dict[str, str] = Field(default_factory=dict)
    analysis: AnalysisSettings = AnalysisSettings()

    def columns_used(self) -> dict[str, str]:
        """Return every column of the source that counts, with the setting that names it."""
        found = self.columns.named()
        found |= {f.column: f"filters.{n}.column" for n, f in enumerate(self.filters)}
        return found | {title: f"factors.{name}" for name, title in self.factors.items()}

    @model_validator(mode="after")
    def _parts_fit_together(self) -> Mapping:
        if self.game.item_colours and self.columns.items is not None:
            raise ValueError(
                "game.item_colours and columns.items both say what the items are; give one"
            )
        for name in self.factors:
            if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
                raise ValueError(
                    f"factors: {name!r} cannot name a column; use small letters, digits and _"
                )
        for name in self.levels.factors:
            if name not in self.factors:
                raise ValueError(f"levels.factors: {name!r} is no factor of this mapping")
        return self
