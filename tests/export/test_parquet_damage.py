"""Parquet stores that were damaged or tampered with are refused in one line."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ghostblitz_analysis.export.formats import parquet_parts
from ghostblitz_analysis.export.formats.parquet_store import add_tables, read_store
from ghostblitz_task.errors import DatasetError
from tests.export.odd_tables import ODD_IDS, odd_source, part_of, with_frame

pytestmark = pytest.mark.slow


def test_lost_part_is_refused(tmp_path):
    add_tables(odd_source(), tmp_path / "store")
    part_of("01", tmp_path / "store").unlink()
    with pytest.raises(DatasetError, match="is missing; the store was changed"):
        read_store(tmp_path / "store")


def test_symbolic_link_in_a_store_is_refused(tmp_path):
    add_tables(odd_source(), tmp_path / "store")
    (tmp_path / "store" / "trials" / "study_id=other").symlink_to(tmp_path)
    with pytest.raises(DatasetError, match="holds a symbolic link"):
        read_store(tmp_path / "store")
    with pytest.raises(DatasetError, match="holds a symbolic link"):
        add_tables(odd_source(), tmp_path / "store")


@pytest.mark.parametrize("keep", [0, 3, 200, -1, -9])
def test_truncated_part_is_refused(tmp_path, keep):
    add_tables(odd_source(), tmp_path / "store")
    path = part_of("01", tmp_path / "store")
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(DatasetError, match="damaged") as caught:
        read_store(tmp_path / "store")
    assert "\n" not in str(caught.value)


def test_damaged_bytes_never_give_other_errors(tmp_path):
    add_tables(odd_source(), tmp_path / "store")
    path = part_of("01", tmp_path / "store")
    data, rng = path.read_bytes(), np.random.default_rng(2)
    messages = []
    for _ in range(60):
        broken = bytearray(data)
        for place in rng.integers(len(data), size=5):
            broken[place] ^= int(rng.integers(1, 256))
        path.write_bytes(broken)
        try:
            read_store(tmp_path / "store", participants=["01"])
        except DatasetError as error:
            messages.append(str(error))
    assert len(messages) > 10
    assert not [message for message in messages if "\n" in message]


def test_other_parquet_file_is_refused(tmp_path):
    add_tables(odd_source(), tmp_path / "store")
    pq.write_table(pa.table({"a": [1]}), part_of("01", tmp_path / "store"))
    with pytest.raises(DatasetError, match="is no part of a store"):
        read_store(tmp_path / "store")


def test_part_with_too_many_rows_is_refused(tmp_path, monkeypatch):
    add_tables(odd_source(), tmp_path / "store")
    monkeypatch.setattr(parquet_parts, "_MOST_ROWS", 7)
    with pytest.raises(DatasetError, match="is too large for a part: 8 rows"):
        read_store(tmp_path / "store")


@pytest.mark.parametrize(
    "text", ["{}", '{"blocks": [1]}', '{"blocks": [{"studies": [], "parts": [2]}]}', "x"]
)
def test_damaged_order_is_refused(tmp_path, text):
    add_tables(odd_source(), tmp_path / "store")
    (tmp_path / "store" / "trials" / "_order.json").write_text(text, encoding="utf-8")
    with pytest.raises(DatasetError, match=r"_order\.json is (damaged|no JSON)"):
        read_store(tmp_path / "store")


def test_place_of_rows_that_are_not_there_is_refused(tmp_path):
    frame = odd_source().main.frame
    add_tables(
        with_frame(odd_source(), frame.iloc[::-1].iloc[np.r_[5, 0:5, 6 : len(frame)]]),
        tmp_path / "store",
    )
    path = tmp_path / "store" / "trials" / "_order.json"
    order = json.loads(path.read_text(encoding="utf-8"))
    assert read_store(tmp_path / "store")["participant_id"].iloc[0] == ODD_IDS[-1]
    order["blocks"][0]["rows"] = [10**6]
    path.write_text(json.dumps(order), encoding="utf-8")
    with pytest.raises(DatasetError, match="places rows that are not there"):
        read_store(tmp_path / "store")


def test_not_a_number_in_a_part_is_refused(tmp_path):
    add_tables(odd_source(), tmp_path / "store")
    path = part_of("01", tmp_path / "store")
    rows = pq.read_table(path, partitioning=None)
    meta = pq.read_metadata(path).metadata[b"ghostblitz"]
    place = rows.column_names.index("rt_s")
    rows = rows.set_column(place, "rt_s", pa.array([float("nan")] * len(rows)))
    pq.write_table(rows.replace_schema_metadata({b"ghostblitz": meta}), path)
    with pytest.raises(DatasetError, match="rt_s holds something that is no finite number"):
        read_store(tmp_path / "store", participants=["01"])
