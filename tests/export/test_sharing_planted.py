"""What somebody wrote into a data set by hand is not in its copy."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_task.trial_log import read_log
from tests.export.sharing_sets import (
    as_human,
    coded,
    run_session,
    share,
    small,
    texts_below,
)

pytestmark = pytest.mark.slow


PLANTED = (
    "Quigley", "LAB-PC-7", "quigley", "lab-custom", "A9007SER", "ttyUSB7", "uni-example",
    "2025-03-04", "23:50",
)  # fmt: skip


def plant(folder: Path) -> None:
    """Names, ports, paths and free text where a log can have them."""
    log = run_session(small(), folder, "Quigley", stop_after=9, markers=True)
    settings = json.loads(json.dumps(read_log(log).header["apparatus_settings"]))
    settings["response_pads"] = [
        {"kind": "serial", "port": "/dev/ttyUSB7", "device_arguments": {"serial": "A9007SER"}}
    ]
    settings["markers"] |= {
        "lsl": {"name": "LAB-PC-7"},
        "serial": {"port": "/dev/serial/by-id/A9007SER"},
        "parallel": {"address": "/dev/parport-A9007SER"},
    }
    as_human(
        log,
        "2025-03-04T23:50:11+00:00",
        apparatus_settings=settings,
        experimenter="Quigley",
        timing_self_test={
            "file": "timing-20250304T200000Z.json", "sha256": "0" * 64, "verdict": "pass",
            "started_utc": "2025-03-04T20:00:00+00:00", "refresh_hz": 60.0,
        },
    )  # fmt: skip
    records = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    records[0]["software"]["host"] = "LAB-PC-7"
    end = records[-1]
    assert end["type"] == "end"
    end["reason"] = "Quigley felt ill at 23:50"
    end["marker_report"]["first_failure"]["reason"] = "no /dev/ttyUSB7 on LAB-PC-7"
    records.insert(-1, {"type": "note", "text": "Quigley, q@uni-example.org"})
    lines = [json.dumps({**record, "n": n}) for n, record in enumerate(records)]
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "study.toml").write_text('# Quigley\'s\nid = "x#y" # LAB-PC-7\n', encoding="utf-8")
    (folder / "recording.wav").write_bytes(b"RIFF Quigley")
    (folder / "notes.txt").write_text("Quigley", encoding="utf-8")


@pytest.mark.parametrize("word", PLANTED)
def test_what_was_planted_is_gone(word: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    copy, report = _planted(tmp_path_factory)
    assert [name for name, text in texts_below(copy) if word in text] == []
    assert word not in report


_CACHE: dict[str, tuple[Path, str]] = {}


def _planted(factory: pytest.TempPathFactory) -> tuple[Path, str]:
    if "planted" not in _CACHE:
        folder = factory.mktemp("planted") / "data"
        plant(folder)
        load_dataset(folder)
        words = [w for w in PLANTED if not any(w in text for _, text in texts_below(folder))]
        assert words == [], "planted, but not in the original"
        copy, _, report = share(folder)
        load_dataset(copy)
        _CACHE["planted"] = copy, report.to_text()
    return _CACHE["planted"]


def test_the_report_counts_what_was_done(tmp_path: Path) -> None:
    plant(tmp_path / "data")
    _, _, report = share(tmp_path / "data")
    counts = {step.what: step.n for step in report.steps if step.action == "dropped"}
    assert counts["files that are no part of a data set (recordings, notes)"] == 2
    assert counts["records of no known type"] == 1
    assert counts["entries of no known meaning in header"] == 1
    assert counts["entries of no known meaning in header.software"] == 1
    assert counts["reasons for which sessions ended, in free text"] == 1


NOTES = ("Meierwald", "ADHDx", "meier-pc", "Oberhuber")


def annotate(folder: Path) -> None:
    """Notes, hosts and operators in records of each type, and deep in a header."""
    log = run_session(small(), folder, "Quigley", stop_after=9)
    records = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    for record in records:
        record["remark"] = "Meierwald: diagnosis ADHDx"
        record["operator"] = "Oberhuber"
        # Loading refuses unknown entries in the events of trials alone.
        for event in record.get("events", ()) if record["type"] != "trial" else ():
            event["hostname"] = "meier-pc"
    header = records[0]
    header["apparatus"] |= {"hostname": "meier-pc", "key_time_source": "clock of Oberhuber"}
    header["software"]["numpy"] = "meier-pc build"
    header["design_report"][0]["remark"] = "Meierwald"
    header["settings_note"] = {"deep": ["Oberhuber"]}
    next(r for r in records if r["type"] == "screen")["name"] = "Meierwald"
    records.insert(5, {"type": "MeierwaldNote", "text": "Oberhuber"})
    lines = [json.dumps({**record, "n": n}) for n, record in enumerate(records)]
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_what_somebody_added_to_records_is_gone_and_told_by_place(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    annotate(folder)
    before = load_dataset(folder)
    copy, codes, report = share(folder)
    told = report.to_text() + "\n".join(report.to_lines())
    for name, text in (*texts_below(copy), ("report", told)):
        assert not [word for word in NOTES if word in text], name
    pd.testing.assert_frame_equal(load_dataset(copy).trials, coded(before.trials, codes))
    (log,) = (copy / "logs").glob("*.jsonl")
    assert [record["n"] for record in read_log(log).records] == list(
        range(1, len(read_log(log).records) + 1)
    )
    for what in (
        "entries of no known meaning in trial: ", "entries of no known meaning in end: ",
        "entries of no known meaning in header.design_report[]: 1",
        "entries of no known meaning in header.apparatus: 1", "records of no known type: 1",
        "values of no known form of header.software.numpy: 1",
        "values of no known form of header.apparatus.key_time_source: 1",
        "values of no known form of screen.name: 1",
    ):  # fmt: skip
        assert what in report.to_text()
        assert f"Dropped: {what}" in "\n".join(report.to_lines())
