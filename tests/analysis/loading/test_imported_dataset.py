"""An imported data set on disk: whatever was changed there is noticed or noted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghostblitz_analysis.dataset import ImportFlow, load_dataset
from ghostblitz_analysis.importing import import_table
from ghostblitz_task.errors import DatasetError, GhostBlitzError
from tests.analysis.loading.plain_tables import DIRECT, EXCLUSION, PLAIN, plain

# --- an imported data set on disk --------------------------------------------------------------


@pytest.fixture
def imported(tmp_path: Path) -> Path:
    source, mapping, out = tmp_path / "t.csv", tmp_path / "m.toml", tmp_path / "out"
    rows = [f"a,{DIRECT},ghost,0.5", f"a,{DIRECT},book,0.625", f"a,{EXCLUSION},mouse,0.75"]
    source.write_text(plain(*rows))
    mapping.write_text(PLAIN)
    import_table(source, mapping=mapping, out=out)
    return out


def replace_in(folder: Path, old: str, new: str) -> None:
    table = folder / "trials.csv"
    text = table.read_text()
    assert old in text
    table.write_text(text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (",grab,true,true,", ",grab,false,true,", "row 2: correct is stored as False, .*True"),
        ("shape_capture", "colour_capture", "row 3: error_kind is stored as colour_capture"),
        ("shape_capture", "bad_luck", "row 3: error_kind is 'bad_luck', but should be one of"),
        (",direct,grab,ghost", ",exclusion,grab,ghost", "row 2: rule is stored as exclusion"),
        (DIRECT, EXCLUSION, "row 2: rule is stored as direct, but .* exclusion"),
        (",0.5,", ",half,", "row 2: rt_s is 'half', but should be a finite number"),
        (",0.5,", ",inf,", "row 2: rt_s is 'inf'"),
        (",0.5,", ",,", "row 2: response is ghost, .* and rt_s nothing; a trial has all three"),
        (",0.5,", ",-0.5,", "row 2: correct is stored as True, but .*False"),
        (",a,1,", ",,1,", "row 2: participant_id is empty"),
        (",a,1,", ",a,one,", "row 2: session is 'one', but should be a whole number"),
        (",a,1,", ",a,0,", "row 2: session is 0, but they count from 1"),
        ("imported,1,", "imported,0,", "row 3: trial 0 of participant 'a', .*row 2 already"),
        ("imported,", "human?,", r"row 2: source is 'human\?', but should be one of"),
        ("rt_s", "rt_ms", "'rt_ms' is no column of the schema; did you mean"),
        ("rt_s", "factor_rt", "column rt_s is missing"),
        ("plain,classic", "study_id,game", "row 2"),
        (",classic,", ",golf,", "row 2: 'golf' is no game"),
    ],
)  # fmt: skip
def test_changed_table_is_refused(imported, old, new, message):
    replace_in(imported, old, new)
    with pytest.raises(DatasetError, match=message):
        load_dataset(imported)


def test_table_in_milliseconds_is_refused(imported):
    for rt in ("0.5", "0.625", "0.75"):
        replace_in(imported, f",{rt},", f",{float(rt) * 1000},")
    with pytest.raises(DatasetError, match="median RT is 625 s, which looks like milliseconds"):
        load_dataset(imported)


def test_lost_row_is_noticed(imported):
    table = imported / "trials.csv"
    table.write_text("".join(table.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(DatasetError, match="has 2 rows, but 3 were imported"):
        load_dataset(imported)


def test_change_that_contradicts_nothing_is_noted(imported):
    replace_in(imported, ",0.5,", ",0.51,")
    assert "was changed after the import" in load_dataset(imported).notes[0]


def test_table_itself_can_be_given(imported):
    assert len(load_dataset(imported / "trials.csv").trials) == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is no JSON"),
        ("[]", "does not describe an imported data set"),
        ('{"format": "ghostblitz-dataset", "schema_version": 99}', "schema version 99"),
        ('{"format": "ghostblitz-dataset", "schema_version": 1}', "name is missing"),
    ],
)
def test_damaged_description_is_refused(imported, content, message):
    (imported / "dataset.json").write_text(content)
    with pytest.raises(DatasetError, match=message):
        load_dataset(imported)


@pytest.mark.slow
@settings(
    deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_damaged_table_loads_or_is_refused_in_one_line(imported, data):
    for name in ("trials.csv", "dataset.json", "analysis.toml"):
        path, kept = imported / name, imported.parent / f"good-{name}"
        if not kept.exists():
            kept.write_bytes(path.read_bytes())
        path.write_bytes(kept.read_bytes())
    path = imported / data.draw(st.sampled_from(["trials.csv", "dataset.json", "analysis.toml"]))
    content = path.read_bytes()
    start = data.draw(st.integers(0, len(content)))
    noise = data.draw(st.binary(max_size=12))
    lost = data.draw(st.integers(0, 60))
    path.write_bytes(content[:start] + noise + content[start + lost :])
    try:
        load_dataset(imported)
    except GhostBlitzError as error:
        if "\n" in str(error):
            pytest.fail(f"more than one line: {error}")


# --- what the import wrote down ----------------------------------------------------------------


def change_info(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = folder / "dataset.json"
    info = json.loads(path.read_text())
    change(info)
    path.write_text(json.dumps(info))


def test_what_the_import_dropped_comes_with_the_data_set(imported):
    assert load_dataset(imported).import_flow == ImportFlow(3, (), ())

    def drop(info):
        report = {"n_rows_read": 9, "dropped": [{"reason": "demo", "n_rows": 4}]}
        info["report"] = report | {"incomplete": [["b", 2]]}

    change_info(imported, drop)
    assert load_dataset(imported).import_flow == ImportFlow(9, (("demo", 4),), (("b", 2),))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("n_rows_read", -1), ("n_rows_read", "9"), ("n_rows_read", True),
        ("dropped", None), ("dropped", [3]), ("dropped", [{"reason": "x"}]),
        ("dropped", [{"reason": 1, "n_rows": 1}]),
        ("incomplete", {}), ("incomplete", [["a"]]), ("incomplete", [["a", None]]),
    ],
)  # fmt: skip
def test_damaged_report_is_refused(imported, key, value):
    change_info(imported, lambda info: info["report"].update({key: value}))
    with pytest.raises(DatasetError, match=rf"report\.{key} is missing or damaged"):
        load_dataset(imported)


def test_missing_report_is_refused(imported):
    change_info(imported, lambda info: info.pop("report"))
    with pytest.raises(DatasetError, match=r"report\.n_rows_read is missing"):
        load_dataset(imported)


def test_imported_data_of_another_source_are_refused(imported):
    change_info(imported, lambda info: info.update(source="human"))
    with pytest.raises(DatasetError, match="source is 'human', but should be 'imported'"):
        load_dataset(imported)
    change_info(imported, lambda info: info.update(source="imported"))
    replace_in(imported, ",imported,", ",human,")
    with pytest.raises(DatasetError, match="row 2: source is 'human', but should be 'imported'"):
        load_dataset(imported)


def test_missing_analysis_settings_are_refused(imported):
    (imported / "analysis.toml").unlink()
    with pytest.raises(DatasetError, match=r"has no analysis\.toml, which every import writes"):
        load_dataset(imported)


def test_absurd_rt_in_the_table_is_refused(imported):
    replace_in(imported, ",0.5,", ",1e300,")
    with pytest.raises(DatasetError, match="rt_s is 1e\\+300 s, which is no reaction time"):
        load_dataset(imported)
