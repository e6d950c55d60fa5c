"""Rows of a source in the words of the schema, checked against the rules of the game."""

from __future__ import annotations

from collections.abc import Mapping as MappingType
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ghostblitz_analysis.imported_tables import derive_columns
from ghostblitz_analysis.mapping import Mapping, comparable
from ghostblitz_analysis.numbering import number_trials
from ghostblitz_analysis.rt_cells import as_number, check_thousands, odd_rts, read_rt_s
from ghostblitz_analysis.rt_units import (
    check_milliseconds,
    check_seconds,
    check_units_of_blocks,
)
from ghostblitz_analysis.solving import GameOptions, Solver, item_colours_text
from ghostblitz_analysis.sources import Source
from ghostblitz_analysis.tables import RawTable
from ghostblitz_task.errors import CardError, ConfigError, DatasetError
from ghostblitz_task.games import Game, GameSettings, make_game
from ghostblitz_task.schema import FACTOR_PREFIX, column

__all__ = ["Translation", "translate"]

#: Cards that are well written but have no single answer.
_UNSOLVABLE = (
    "several_direct_matches", "no_candidate", "several_candidates", "ambiguous_rulebook",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Translation:
    """Columns of the schema, and what happened on the way."""

    columns: dict[str, list[Any]]
    n_unsolvable: int
    first_unsolvable: str | None
    notes: tuple[str, ...]


def translate(raw: RawTable, mapping: Mapping) -> Translation:
    """Translate the rows of a source, solve their cards and compare with what it says.

    Raises
    ------
    DatasetError
        Naming the row, its column, what was found and what was expected.
    """
    source = Source(raw, mapping)
    game = _game(mapping)
    columns, notes = _facts(source, game)
    solver = Solver(GameOptions(mapping.game.shout_item, game.rules))
    rule_or_none, first = _rules(columns, source, solver)
    rules = [rule for rule in rule_or_none if rule is not None]
    n_unsolvable = len(rule_or_none) - len(rules)
    if n_unsolvable:
        solvable = [rule is not None for rule in rule_or_none]
        source = Source(raw.keep(solvable), mapping)
        columns = {
            name: [v for v, kept in zip(values, solvable, strict=True) if kept]
            for name, values in columns.items()
        }
    if not rules:
        raise DatasetError(f"no card has a single answer; {first}")
    numbers, more_notes = number_trials(
        columns["participant_id"], source.optional("session"), source.optional("block"),
        source.optional("trial"), source.raw.places, mapping.columns,
    )  # fmt: skip
    columns |= numbers
    check_units_of_blocks(columns, f"column {mapping.columns.rt}")
    columns["block_type"] = _block_types(columns, rules, source)
    columns |= derive_columns(columns, source.raw.places, solver, on_unsolvable=_never)
    _compare(columns, source)
    for name, title in mapping.factors.items():
        columns[FACTOR_PREFIX + name] = source.factor(name, title)
    order = sorted(range(len(rules)), key=lambda row: columns["_order"][row])
    del columns["_order"]
    columns = {name: [values[row] for row in order] for name, values in columns.items()}
    return Translation(columns, n_unsolvable, first, (*notes, *more_notes))


def _never(row: int, error: CardError) -> bool:
    raise AssertionError(f"row {row} was solved before: {error}")


def _game(mapping: Mapping) -> Game:
    """Return the game that the mapping names, with items of its own, if all it needs is said."""
    stated = mapping.game
    own_items = mapping.columns.items is not None
    settings = GameSettings(
        stated.name,
        stated.item_colours,
        n_pictures=stated.n_pictures or 1,
        # With items of each row's own, the one that asks for shouting is looked up there.
        shout_item=None if own_items else stated.shout_item,
        rules=frozenset(stated.rules or ()),
    )
    try:
        game = make_game(settings)
    except ConfigError as error:
        raise DatasetError(f"the mapping: {error}") from error
    known = sorted(getattr(game, "additional_rules", ()))
    if known and stated.rules is None:
        raise DatasetError(
            f"the mapping: game.rules is missing; {game.name} is solved by the additional rules "
            f"that were played ({', '.join(known)}), or [] for none"
        )
    if game.hideable and mapping.columns.hat_over is None:
        raise DatasetError(
            f"the mapping: columns.hat_over is missing; {game.name} is solved by the item under "
            "the hat, so name the column that says which it was"
        )
    if not game.hideable and mapping.columns.hat_over is not None:
        raise DatasetError(
            f"the mapping: columns.hat_over names a column, but {game.name} has no hat"
        )
    return game


def _facts(source: Source, game: Game) -> tuple[dict[str, list[Any]], tuple[str, ...]]:
    mapping, n_rows = source.mapping, len(source.raw)
    columns: dict[str, list[Any]] = {
        "study_id": [mapping.dataset.name] * n_rows,
        "game": [mapping.game.name] * n_rows,
        # Ids are kept to the letter.
        "participant_id": list(source.raw.columns[mapping.columns.participant]),
        "run": [1] * n_rows,
        "source": ["imported"] * n_rows,
        "phase": source.levels_of("phase", column("phase").levels) or ["test"] * n_rows,
        "item_colours": _item_colours(source, game),
        "card": _cards(source),
        "hat_over": _hats(source),
        "deadline_s": [mapping.responses.deadline_s] * n_rows,
    }
    for value, place in zip(columns["phase"], source.raw.places, strict=True):
        if value is None:
            raise DatasetError(f"{place}: {mapping.columns.phase} is blank; every trial has one")
    notes = _responses(source, columns)
    return columns, notes


def _hats(source: Source) -> list[str | None]:
    cells = source.optional("hat_over")
    if cells is None:
        return [None] * len(source.raw)
    items = {comparable(k): v for k, v in source.levels.item.items()}
    for cell, place in zip(cells, source.raw.places, strict=True):
        if cell is None:
            raise DatasetError(
                f"{place}: {source.titles.hat_over} is blank, but the hat always hides an item"
            )
    return [None if cell is None else items.get(comparable(cell), cell) for cell in cells]


def _item_colours(source: Source, game: Game) -> list[str]:
    titles = source.titles
    if titles.items is None or titles.item_colours is None:
        return [item_colours_text(game.item_colours)] * len(source.raw)
    texts: dict[tuple[tuple[str, ...], tuple[str, ...]], str] = {}
    result = []
    items = source.lists(titles.items, kind="item")
    colours = source.lists(titles.item_colours, kind="colour")
    for pair, place in zip(zip(items, colours, strict=True), source.raw.places, strict=True):
        if pair not in texts:
            _check_pair(*pair, place, titles.items, titles.item_colours)
            if len(set(pair[0])) < len(pair[0]):
                raise DatasetError(f"{place}: {' '.join(pair[0])} names an item twice")
            texts[pair] = item_colours_text(dict(zip(*pair, strict=True)))
        result.append(texts[pair])
    return result


def _check_pair(
    items: tuple[str, ...],
    colours: tuple[str, ...],
    place: str,
    item_titles: Sequence[str],
    colour_titles: Sequence[str],
) -> None:
    if len(items) != len(colours):
        raise DatasetError(
            f"{place}: {', '.join(item_titles)} holds {len(items)} items ({' '.join(items)}), but "
            f"{', '.join(colour_titles)} {len(colours)} colours ({' '.join(colours)})"
        )


def _cards(source: Source) -> list[str]:
    titles, n_pictures = source.titles, source.mapping.game.n_pictures
    cards = []
    if titles.card is not None:
        for cell, place in zip(source.cells(titles.card), source.raw.places, strict=True):
            if cell is None:
                raise DatasetError(f"{place}: {titles.card} is blank; every trial shows a card")
            cards.append(" ".join(cell.split()))
    elif titles.picture_items is not None and titles.picture_colours is not None:
        items = source.lists(titles.picture_items, kind="item")
        colours = source.lists(titles.picture_colours, kind="colour")
        for pair, place in zip(zip(items, colours, strict=True), source.raw.places, strict=True):
            _check_pair(*pair, place, titles.picture_items, titles.picture_colours)
            cards.append(" ".join(f"{item}:{colour}" for item, colour in zip(*pair, strict=True)))
    for card, place in zip(cards, source.raw.places, strict=True):
        if n_pictures is not None and len(card.split()) != n_pictures:
            raise DatasetError(
                f"{place}: card '{card}' has {len(card.split())} pictures, but game.n_pictures "
                f"is {n_pictures}"
            )
    return cards


def _responses(source: Source, columns: dict[str, list[Any]]) -> tuple[str, ...]:
    """Add response, mode and RT to the columns; return notes about them."""
    titles, settings = source.titles, source.mapping.responses
    keys = {comparable(k): v for k, v in source.levels.response.items()}
    items = {comparable(k): v for k, v in source.levels.item.items()}
    none = {comparable(text) for text in settings.no_response}
    modes = source.levels_of("response_mode", column("mode").levels)
    if modes is None:
        modes = ["grab"] * len(source.raw)
    found: dict[str, list[Any]] = {"response": [], "response_mode": [], "rt_s": []}
    n_ignored, decimal = 0, source.mapping.source.decimal
    check_thousands(source)
    rows = zip(
        source.cells(titles.response), modes, source.cells(titles.rt), source.raw.places,
        strict=True,
    )  # fmt: skip
    for cell, mode, rt, place in rows:
        if cell is None or comparable(cell) in none:
            if settings.blank == "error":
                raise DatasetError(
                    f"{place}: {titles.response} is {'blank' if cell is None else repr(cell)}; "
                    'drop such rows with a filter, or set responses.blank = "late" if these are '
                    "trials that nobody answered in time"
                )
            # NaN and its like, which mean no value, are no RT; nor is what stands for none.
            number = None if rt is None else as_number(rt, decimal)
            n_ignored += number is not None and number not in settings.no_rt
            values: tuple[Any, ...] = (None, None, None)
        else:
            response = keys.get(comparable(cell)) or items.get(comparable(cell), cell)
            if mode is None:
                raise DatasetError(f"{place}: {titles.response_mode} is blank; write how it was")
            values = (response, mode, read_rt_s(rt, source, place))
        for name, value in zip(found, values, strict=True):
            found[name].append(value)
    if titles.rt_unit == "ms":
        check_milliseconds(found["rt_s"], columns["participant_id"], f"column {titles.rt}")
    check_seconds(found["rt_s"], columns["participant_id"], f"column {titles.rt}")
    columns.update(found)
    notes = odd_rts(found["rt_s"], source)
    if n_ignored:
        notes = (f"{n_ignored} late trials had an RT, which is left out", *notes)
    return notes


def _rules(
    columns: MappingType[str, list[Any]], source: Source, solver: Solver
) -> tuple[list[str | None], str | None]:
    """Return the rule of every card, None where it has no single answer, and the first such."""
    drop = source.mapping.checks.on_unsolvable == "drop"
    rules: list[str | None] = []
    first = None
    names = ("game", "item_colours", "card", "hat_over")
    rows = zip(*(columns[name] for name in names), source.raw.places, strict=True)
    for game, item_colours, card, hat_over, place in rows:
        try:
            solved = solver.solve(game, item_colours, card, hat_over)
        except DatasetError as error:
            raise DatasetError(f"{place}: {error}") from error
        if isinstance(solved, CardError):
            first = first or f"{place}: {solved}"
            if not drop or solved.code not in _UNSOLVABLE:
                raise DatasetError(f"{place}: {solved} (the items are {item_colours})")
            rules.append(None)
        else:
            rules.append(solved.stimulus.solution.rule)
    return rules, first


def _block_types(
    columns: MappingType[str, list[Any]], rules: Sequence[str], source: Source
) -> list[str]:
    """Return the type of each trial's block, as stated or as its cards have it."""
    blocks = list(
        zip(columns["participant_id"], columns["session"], columns["block_index"], strict=True)
    )
    stated = source.levels_of("block_type", column("block_type").levels)
    if stated is None:
        seen: dict[tuple[Any, ...], set[str]] = {}
        for block, rule in zip(blocks, rules, strict=True):
            seen.setdefault(block, set()).add(rule)
        return ["mixed" if len(seen[b]) > 1 else rules[row] for row, b in enumerate(blocks)]
    types: list[str] = []
    first: dict[tuple[Any, ...], tuple[str, str]] = {}
    for block, rule, level, place in zip(blocks, rules, stated, source.raw.places, strict=True):
        title = source.titles.block_type
        if level is None:
            raise DatasetError(f"{place}: {title} is blank; every block has a type")
        block_type = rule if level == "pure" else level
        other, other_place = first.setdefault(block, (block_type, place))
        if other != block_type:
            raise DatasetError(
                f"{place}: {title} makes this block {block_type}, but {other} in {other_place}; "
                "a block has one type"
            )
        types.append(block_type)
    return types


def _compare(columns: MappingType[str, list[Any]], source: Source) -> None:
    """Compare what the source says of rule, target and correctness with what was found."""
    items = {comparable(k): v for k, v in source.levels.item.items()}
    targets = source.optional("target")
    said: dict[str, list[Any] | None] = {
        "rule": source.levels_of("rule", column("rule").levels),
        "target": targets and [None if t is None else items.get(comparable(t), t) for t in targets],
        "correct": _said_correct(source),
    }
    for name, values in said.items():
        if values is None:
            continue
        rows = zip(values, columns[name], columns["card"], source.raw.places, strict=True)
        for row, (value, found, card, place) in enumerate(rows):
            if value is not None and value != found:
                raise DatasetError(
                    f"{place}: {getattr(source.titles, name)} makes {name} {value}, but card "
                    f"'{card}' with response {columns['response'][row]} gives {found}; the items "
                    f"are {columns['item_colours'][row]}"
                )


def _said_correct(source: Source) -> list[Any] | None:
    if source.levels.correct:
        return source.levels_of("correct", ())
    cells = source.optional("correct")
    if cells is None:
        return None
    flags = {"1": True, "0": False}
    values: list[bool | None] = []
    for cell, place in zip(cells, source.raw.places, strict=True):
        if cell is not None and comparable(cell) not in flags:
            raise DatasetError(
                f"{place}: {source.titles.correct} is {cell!r}, which is neither true (1) nor "
                "false (0); list its values in levels.correct"
            )
        values.append(None if cell is None else flags[comparable(cell)])
    return values
