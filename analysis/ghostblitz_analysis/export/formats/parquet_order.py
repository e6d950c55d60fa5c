"""In which order the parts of a Parquet store make its tables."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ghostblitz_analysis.export.formats.parquet_parts import Part, joined_rows, read_part
from ghostblitz_analysis.export.formats.stored_tables import read_json
from ghostblitz_task.errors import DatasetError

__all__ = ["N_THREADS", "ORDER_FILE", "Block", "ordered_blocks", "read_block", "write_order"]

#: Programs that read a folder of Parquet files pass over names that begin so.
ORDER_FILE = "_order.json"
#: Arrow and the disk work beside one another; more threads than that gain nothing.
N_THREADS = 4
#: So many parts are joined as soon as they are read: pandas takes few long columns much faster.
_BATCH = 100


@dataclass(frozen=True, slots=True)
class Block:
    """Parts that make the table of a data set, and the places of its rows.

    Attributes
    ----------
    studies : tuple of str
        Those that the data set is of.
    parts : tuple of str
        Files relative to the table's folder, in the order of their first rows.
    rows : tuple of int or None
        For each row of the table, its place in the parts as they follow one another; null where
        every run's rows stand together, so that this is the table. What was taken away from the
        data set follows in later parts, beyond these rows.
    """

    studies: tuple[str, ...]
    parts: tuple[str, ...]
    rows: tuple[int, ...] | None = field(default=None)


def write_order(
    folder: Path, names: Sequence[str], studies: Collection[str], order: npt.NDArray[np.intp] | None
) -> None:
    """Put the parts of a data set in the order of its table, before others of the same studies.

    Parameters
    ----------
    folder : Path
        That of the table.
    names : sequence of str
        All parts of the data set, new and known.
    studies : collection of str
    order : (n_rows,) int or None
        The rows of the table in the order of the parts; None where they stand so.
    """
    blocks = _read_order(folder) if (folder / ORDER_FILE).exists() else []
    alike = [block for block in blocks if not set(studies).isdisjoint(block.studies)]
    listed = dict.fromkeys([*names, *(name for block in alike for name in block.parts)])
    block = Block(
        studies=tuple(sorted({*studies, *(study for each in alike for study in each.studies)})),
        parts=tuple(listed),
        rows=None if order is None else tuple(np.argsort(order, kind="stable").tolist()),
    )
    place = blocks.index(alike[0]) if alike else len(blocks)
    before = [each for each in blocks[:place] if each not in alike]
    after = [each for each in blocks[place:] if each not in alike]
    text = json.dumps({"blocks": [asdict(each) for each in (*before, block, *after)]})
    partial = folder / f".{ORDER_FILE}.{uuid.uuid4().hex[:8]}.partial"
    with partial.open("x", encoding="utf-8", newline="\n") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    partial.replace(folder / ORDER_FILE)


def _read_order(folder: Path) -> list[Block]:
    found = read_json(folder, ORDER_FILE).get("blocks")
    if not isinstance(found, list):
        raise DatasetError(f"{folder / ORDER_FILE} is damaged: it says nothing of parts")
    return [_block(each, folder) for each in found]


def _block(entry: Any, folder: Path) -> Block:
    sound = (
        isinstance(entry, dict)
        and _is_list_of(entry.get("studies"), str)
        and _is_list_of(entry.get("parts"), str)
        and (entry.get("rows") is None or _is_list_of(entry["rows"], int))
    )
    if not sound:
        raise DatasetError(f"{folder / ORDER_FILE} is damaged: it says nothing sound of parts")
    rows = entry.get("rows")
    return Block(
        tuple(entry["studies"]), tuple(entry["parts"]), None if rows is None else tuple(rows)
    )


def _is_list_of(value: object, kind: type) -> bool:
    return isinstance(value, list) and all(type(each) is kind for each in value)


def ordered_blocks(folder: Path, parts: Sequence[str]) -> list[Block]:
    """Return the parts on disk in their order; those that an update left without one stand last.

    Raises
    ------
    DatasetError
        If the order is damaged, or a part that it names is not there.
    """
    blocks = _read_order(folder)
    listed = {name for block in blocks for name in block.parts}
    for name in sorted(listed - set(parts)):
        raise DatasetError(f"{folder / name} is missing; the store was changed")
    return [*blocks, Block((), tuple(name for name in parts if name not in listed))]


def read_block(folder: Path, block: Block, wanted: Collection[str]) -> list[Part]:
    """Read the parts of a block that are wanted, in order.

    Parameters
    ----------
    folder : Path
        That of the table.
    block : Block
    wanted : collection of str
        Names of parts.

    Returns
    -------
    list of Part
        Some of them joined. Where runs were mixed row by row, a single one with all rows of the
        block: the place of each row counts those of all.

    Raises
    ------
    DatasetError
        As `read_part`; or if the order is not that of the rows.
    """
    shuffled = block.rows is not None and not set(wanted).isdisjoint(block.parts)
    names = [name for name in block.parts if shuffled or name in wanted]
    batches = [names[first : first + _BATCH] for first in range(0, len(names), _BATCH)]
    with ThreadPoolExecutor(N_THREADS) as pool:
        read = pool.map(lambda batch: _read_batch(folder, batch), batches)
        parts = [part for batch in read for part in batch]
    return [_in_order(parts, block, folder)] if shuffled else parts


def _read_batch(folder: Path, names: Sequence[str]) -> list[Part]:
    """Read parts one after the other; those of one version of the schema become one."""
    parts = [read_part(folder / name) for name in names]
    joined = []
    for (table, _), group in groupby(parts, key=lambda p: (p.table, repr(p.schema_version))):
        alike = list(group)
        rows = joined_rows([part.rows for part in alike], str(folder))
        joined.append(Part(table, alike[0].schema_version, rows.combine_chunks()))
    return joined


def _in_order(parts: Sequence[Part], block: Block, folder: Path) -> Part:
    if len({str(part.schema_version) for part in parts}) > 1:
        raise DatasetError(f"{folder} mixes runs row by row, of several versions of the schema")
    whole = joined_rows([part.rows for part in parts], str(folder))
    rows = np.array(block.rows or (), dtype=np.int64)
    if len(rows) > len(whole) or not np.array_equal(np.sort(rows), np.arange(len(rows))):
        raise DatasetError(f"{folder / ORDER_FILE} is damaged: it places rows that are not there")
    taken = whole.take(pa.array(np.append(rows, np.arange(len(rows), len(whole)))))
    return Part(parts[0].table, parts[0].schema_version, taken)
