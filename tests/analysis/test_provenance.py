"""Whether settings were stated before the data: by the logs' word, not the file's time."""

from __future__ import annotations

import hashlib
import json
import os
from datetime import datetime, timezone
from pathlib import Path

import pytest
from small_study import make_screens, study_table

from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_analysis.provenance import settings_provenance
from ghostblitz_task.config import StudySettings
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.settings_files import validate_settings
from ghostblitz_task.studies import Study, simulate_study
from ghostblitz_task.trial_log import read_log

STATED = "skip_first_trials = 2\n"
SUM = hashlib.sha256(STATED.encode()).hexdigest()
FIELD = "analysis_file_sha256"
BEGAN = "2026-03-01T10:00:00+00:00"


def simulate(folder: Path, *, stated: str | None) -> Path:
    home = folder / "study"
    home.mkdir()
    if stated is not None:
        (home / "analysis.toml").write_bytes(stated.encode())
    settings = validate_settings(study_table(), StudySettings, where="study.toml")
    study = Study(home, settings, settings.make_game(), make_screens(settings))
    simulate_study(study, folder / "data", n_participants=2, seed=1, model="perfect")
    return folder / "data"


@pytest.fixture
def data(tmp_path):
    return simulate(tmp_path, stated=STATED)


def logs_of(data):
    return sorted((data / "logs").glob("*.jsonl"))


def change_header(log, **changes):
    """Write a header anew; a value of ... takes the key out, as in logs of earlier versions."""
    first, *rest = log.read_text(encoding="utf-8").splitlines(keepends=True)
    header = json.loads(first) | changes
    header = {key: value for key, value in header.items() if value is not ...}
    log.write_text(json.dumps(header) + "\n" + "".join(rest), encoding="utf-8")


def as_human(log, **changes):
    header = json.loads(log.read_text(encoding="utf-8").splitlines()[0])
    apparatus = header["apparatus"] | {"apparatus": "psychopy"}
    human = {"source": "human", "participant_model": None, "apparatus": apparatus}
    change_header(log, **human, **({"started_utc": BEGAN} | changes))


def found_in(data):
    return settings_provenance(load_dataset(data))


def test_logs_hold_the_sum_of_the_file_as_it_stood(data):
    assert (data / "analysis.toml").read_bytes() == STATED.encode()
    assert [read_log(log).header[FIELD] for log in logs_of(data)] == [SUM, SUM]


def test_logs_hold_null_where_no_file_stood(tmp_path):
    data = simulate(tmp_path, stated=None)
    assert [read_log(log).header[FIELD] for log in logs_of(data)] == [None, None]


def test_settings_are_stated_before_where_every_log_holds_their_sum(data):
    for log in logs_of(data):
        as_human(log)
    found = found_in(data)
    assert (found.status, found.sha256, found.first_session_utc) == ("yes", SUM, BEGAN)
    assert found.reason == (
        "analysis.toml stood in the data set, as it is now, when the first session began: all its "
        "2 logs hold its SHA-256 sum"
    )
    assert found.file_modified_utc is not None


def test_of_simulated_data_it_is_said_that_there_were_none_before(data):
    found = found_in(data)
    assert found.status == "yes"
    assert found.reason.endswith(
        "the data are simulated, and before the simulation there were none"
    )
    assert found.first_session_utc is None


@pytest.mark.parametrize("change", ["# a remark\n" + STATED, STATED.replace("2", "3")])
def test_a_file_changed_since_was_not_stated_before(data, change):
    as_human(logs_of(data)[0])
    as_human(logs_of(data)[1])
    (data / "analysis.toml").write_text(change)
    # Its time says nothing: the logs do.
    os.utime(data / "analysis.toml", (0, 0))
    found = found_in(data)
    assert found.status == "no"
    assert found.reason == (
        f"when {logs_of(data)[0].name} began, analysis.toml was another than it is now (and 2 of 2 "
        "logs differ from it)"
    )


def test_one_log_of_many_that_began_beside_another_file_is_enough(data):
    change_header(logs_of(data)[1], **{FIELD: "0" * 64})
    found = found_in(data)
    assert found.status == "no"
    assert found.reason.startswith(f"when {logs_of(data)[1].name} began, analysis.toml was another")


def test_a_file_added_afterwards_was_not_stated_before(tmp_path):
    data = simulate(tmp_path, stated=None)
    (data / "analysis.toml").write_text(STATED)
    found = found_in(data)
    assert found.status == "no"
    assert found.reason.startswith(
        f"when {logs_of(data)[0].name} began, there was no analysis.toml"
    )


def test_without_a_file_nothing_was_stated(tmp_path):
    data = simulate(tmp_path, stated=None)
    found = found_in(data)
    assert (found.status, found.sha256, found.file_modified_utc) == ("no", None, None)
    assert found.reason.startswith("the data set has no analysis.toml")


@pytest.mark.parametrize(("shift_s", "order"), [(-60, "before"), (60, "after")])
def test_logs_of_earlier_versions_load_and_leave_the_time_as_a_hint(data, shift_s, order):
    for log in logs_of(data):
        as_human(log, **{FIELD: ...})
    modified = datetime.fromisoformat(BEGAN).timestamp() + shift_s
    os.utime(data / "analysis.toml", (modified, modified))
    found = found_in(data)
    assert found.status == "not known"
    assert f"2 of 2 logs, {logs_of(data)[0].name} the first of them" in found.reason
    assert f"{order} the first session began at {BEGAN}, which is a weak hint" in found.reason
    expected = datetime.fromtimestamp(modified, tz=timezone.utc).isoformat()
    assert found.file_modified_utc == expected


def test_an_earlier_log_beside_one_that_differs_is_a_no(data):
    change_header(logs_of(data)[0], **{FIELD: ...})
    change_header(logs_of(data)[1], **{FIELD: None})
    assert found_in(data).status == "no"


def test_where_the_start_is_not_known_no_order_is_told(data):
    for log in logs_of(data):
        change_header(log, **{FIELD: ...})
    assert "when the first session began is not known" in found_in(data).reason


def test_first_session_is_the_earliest_in_any_zone(data):
    as_human(logs_of(data)[0], started_utc="2026-03-01T10:30:00+01:00")
    as_human(logs_of(data)[1], started_utc=BEGAN)
    assert found_in(data).first_session_utc == "2026-03-01T09:30:00+00:00"


def test_a_start_that_is_no_time_is_an_error(data):
    as_human(logs_of(data)[0], started_utc="this morning")
    as_human(logs_of(data)[1])
    with pytest.raises(DatasetError, match="started_utc is 'this morning'"):
        found_in(data)


def test_a_sum_that_is_no_text_is_refused_on_loading(data):
    change_header(logs_of(data)[0], **{FIELD: 7})
    with pytest.raises(DatasetError, match=rf"{FIELD} is 7, but should be a text"):
        load_dataset(data)


def test_one_log_by_itself_finds_the_file_of_its_data_set(data):
    found = found_in(logs_of(data)[0])
    assert (found.status, found.sha256) == ("yes", SUM)
    assert "its one log holds" in found.reason


@pytest.mark.slow
def test_imported_data_do_not_say(shared, tmp_path):
    from ghostblitz_analysis.importing import import_table

    root = Path(__file__).resolve().parents[2]
    mapping = root / "data" / "mappings" / "styrnal2025-five-objects.toml"
    source = shared / "published" / "five_objects_trials.csv"
    import_table(source, mapping=mapping, out=tmp_path / "imported")
    found = found_in(tmp_path / "imported")
    assert (found.status, found.first_session_utc) == ("not known", None)
    assert found.reason.startswith("imported data do not say what was stated before")


def test_the_example_data_set_states_its_settings():
    example = Path(__file__).resolve().parents[2] / "data" / "example"
    assert found_in(example).status == "yes"
