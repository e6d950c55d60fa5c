"""Dates of a copy count days, and do not say of settings what they did not say before."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest
from timing_figures import GOOD

from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_analysis.provenance import settings_provenance
from ghostblitz_analysis.self_tests import self_test_part
from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.studies import open_study
from ghostblitz_task.timing.checks import check_all
from ghostblitz_task.timing.record import write_record
from ghostblitz_task.timing.self_test import SelfTestRequest, self_test_document
from ghostblitz_task.trial_log import file_sha256
from tests.export.sharing_sets import (
    ROOT,
    as_human,
    human,
    run_session,
    share,
    small,
    texts_below,
)

pytestmark = pytest.mark.slow


def test_dates_become_days_since_the_first_session_of_those_who_played_together(
    tmp_path: Path,
) -> None:
    copy, codes, _ = share(human(tmp_path))
    found = {(run.participant_id, run.session): run.started_utc for run in load_dataset(copy).runs}
    assert found == {
        (codes["Anna"], 1): "1900-01-01T00:00:00+00:00",
        (codes["Bert"], 2): "1900-01-11T00:00:00+00:00",
        (codes["Carl"], 1): "1900-01-01T00:00:00+00:00",
        (codes["Carl"], 2): "1900-01-01T00:00:00+00:00",
    }


def test_dates_are_dropped_where_a_made_up_one_would_be_taken_for_a_hint(tmp_path: Path) -> None:
    log = run_session(small(), tmp_path / "data", "p1")
    as_human(log, "2025-03-04T10:00:00+00:00")
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    header = json.loads(lines[0])
    del header["analysis_file_sha256"]
    log.write_text(json.dumps(header) + "\n" + "".join(lines[1:]), encoding="utf-8")
    (tmp_path / "data" / "analysis.toml").write_text("alpha = 0.01\n", encoding="utf-8")
    copy, _, _ = share(tmp_path / "data")
    reason = settings_provenance(load_dataset(copy)).reason
    assert "when the first session began is not known" in reason


def test_that_the_analysis_was_stated_before_the_data_is_still_shown(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "analysis.toml").write_text("# By us\nalpha = 0.01\n", encoding="utf-8")
    as_human(run_session(small(), folder, "p1"), "2025-03-04T10:00:00+00:00")
    copy, _, _ = share(folder)
    assert settings_provenance(load_dataset(copy)).status == "yes"
    # What somebody noted beside the settings may name anybody.
    assert (copy / "analysis.toml").read_text(encoding="utf-8") == "alpha = 0.01\n"


def test_settings_that_were_stated_later_are_not_shown_as_stated_before(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    as_human(run_session(small(), folder, "p1"), "2025-03-04T10:00:00+00:00")
    (folder / "analysis.toml").write_text("alpha = 0.01  # chosen now\n", encoding="utf-8")
    before = settings_provenance(load_dataset(folder)).status
    copy, _, _ = share(folder)
    assert settings_provenance(load_dataset(copy)).status == before == "no"


def self_test(folder: Path, started: str, stamp: str) -> Path:
    checks = check_all(GOOD)
    document = self_test_document(
        GOOD, checks, study=open_study(ROOT / "experiments" / "classic-grab"),
        settings=ApparatusSettings(), request=SelfTestRequest(seconds=1.0, n_taps=0),
        started=datetime.fromisoformat(started),
    )  # fmt: skip
    (folder / "timing").mkdir(parents=True, exist_ok=True)
    return write_record(folder / "timing", document, stamp=stamp)


def test_self_tests_are_shared_without_their_date_and_still_quoted(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    old = self_test(folder, "2025-03-01T09:00:00+00:00", "20250301T090000Z")
    new = self_test(folder, "2025-03-03T09:00:00+00:00", "20250303T090000Z")
    (folder / "timing" / "timing-20250303T090000Z.html").write_text("page", encoding="utf-8")
    for number, path in enumerate((new, new, old), start=1):
        record = json.loads(path.read_text(encoding="utf-8"))
        quote = {
            "file": path.name, "sha256": file_sha256(path), "verdict": record["verdict"],
            "started_utc": record["started_utc"], "refresh_hz": 60.0,
        }  # fmt: skip
        log = run_session(small(), folder, f"p{number}")
        as_human(log, "2025-03-04T10:00:00+00:00", timing_self_test=quote)
    copy, _, _ = share(folder)
    part = self_test_part(copy, load_dataset(copy).runs)
    assert part.notes == ()
    assert [test.n_runs for test in part.tests] == [1, 2]
    told = [name for name, text in texts_below(copy) if "2025" in text and "timing" in name]
    assert [n for n in told if "2025-" in dict(texts_below(copy))[n]] == []
    assert sorted(p.name for p in (copy / "timing").iterdir()) == [
        "timing-19000101T000000Z-2.json", "timing-19000101T000000Z.json",
    ]  # fmt: skip
