"""A de-identified copy is a valid data set with the same numbers, and tells nobody's name."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from marked_sessions import KeptOutput, give_outputs
from small_study import make_screens, make_settings
from timing_figures import GOOD

from ghostblitz_analysis.captain.dataset import load_captain_dataset
from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_analysis.export.sharing.codes import read_key
from ghostblitz_analysis.export.sharing.copies import SharingReport, participant_ids, shared_copy
from ghostblitz_analysis.export.source import load_source
from ghostblitz_analysis.importing import import_table
from ghostblitz_analysis.log_tables import RunInfo
from ghostblitz_analysis.mapping import Mapping as TableMapping
from ghostblitz_analysis.provenance import settings_provenance
from ghostblitz_analysis.results import analyze_trials
from ghostblitz_analysis.run_checks import check_runs
from ghostblitz_analysis.self_tests import self_test_part
from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.settings_files import load_settings
from ghostblitz_task.studies import (
    Study,
    log_session,
    new_identity,
    open_study,
    resume_identity,
    simulate_study,
)
from ghostblitz_task.timing.checks import check_all
from ghostblitz_task.timing.record import write_record
from ghostblitz_task.timing.self_test import SelfTestRequest, self_test_document
from ghostblitz_task.trial_log import file_sha256, read_log

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
SECOND_KEYS = {"ghost": "y", "chair": "u", "bottle": "i", "book": "o", "mouse": "l"}
#: Hard to tell from other words, to write, or to find in a sentence.
HARD_IDS = ("01", "1", "NA", "n a", "=1+1", "Zoë", "a", "was right", "card", "x" * 64)


def small(game: str = "classic", **overrides: Any) -> Study:
    dotted = {key.replace("__", "."): value for key, value in overrides.items()}
    settings = make_settings(game, dotted)
    return Study(Path(), settings, settings.make_game(), make_screens(settings))


def for_two() -> Study:
    return small(company={}, responses__more_players=[{"grab_keys": SECOND_KEYS}])


class Stream(KeptOutput):
    """An output for markers that says what an LSL stream says."""

    def describe(self) -> dict[str, Any]:
        return {"stream": "LAB-PC-7", "source_id": "ghostblitz/small/Quigley/1"}


def run_session(
    study: Study,
    folder: Path,
    who: str,
    *,
    others: tuple[str, ...] = (),
    session: int = 1,
    stop_after: int | None = None,
    resumes: Path | None = None,
    markers: bool = False,
) -> Path:
    """Log a simulated session of somebody, which may stop after some trials."""
    logs = folder / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    if resumes is not None:
        identity = resume_identity(study, read_log(resumes))
    else:
        identity = new_identity(
            logs, who, session=session, seed=7, source="simulated", participant_model="ex-gaussian",
            others=others,
        )  # fmt: skip
    done: list[int] = []
    apparatus = study.simulated_apparatus("ex-gaussian", 11 + identity.run)
    if markers:
        give_outputs(apparatus, Stream(name="lsl", fails_at=lambda number: number == 3))
    path, _ = log_session(
        study,
        logs,
        identity,
        open_apparatus=lambda: apparatus,
        apparatus_settings=ApparatusSettings(),
        stop_requested=lambda: "SIGTERM" if stop_after and len(done) >= stop_after else None,
        on_trial=lambda n, _planned: done.append(n),
    )
    return path


def edit_header(path: Path, **changes: Any) -> None:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    header = json.loads(lines[0]) | changes
    path.write_text(json.dumps(header) + "\n" + "".join(lines[1:]), encoding="utf-8")


def as_human(path: Path, started: str, **changes: Any) -> None:
    """Make a log one of a person at a screen."""
    apparatus = read_log(path).header["apparatus"] | {
        "apparatus": "psychopy",
        "platform": "Linux-6.1.0-lab-custom-x86_64-with-glibc2.36",
        "display_reason": "read from /home/quigley/display.txt",
    }
    edit_header(
        path, source="human", participant_model=None, started_utc=started, apparatus=apparatus,
        **changes,
    )  # fmt: skip


def resumed(folder: Path) -> Path:
    for who in HARD_IDS:
        first = run_session(small(), folder, who, stop_after=9)
        run_session(small(), folder, who, resumes=first)
    return folder


def two_players(folder: Path) -> Path:
    for one, other in zip(HARD_IDS[::2], HARD_IDS[1::2], strict=True):
        first = run_session(for_two(), folder, one, others=(other,), stop_after=8)
        run_session(for_two(), folder, one, resumes=first)
        run_session(for_two(), folder, other, others=(one,), session=2)
    return folder


def ghosts(folder: Path) -> Path:
    alone = small(blocks=[{"label": "one", "n_trials": 40}])
    haunted = small(blocks=[{"label": "one", "n_trials": 40}], company={"rival": {"kind": "ghost"}})
    for who in HARD_IDS[:3]:
        run_session(alone, folder, who)
        run_session(haunted, folder, who, session=2)
    return folder


def marked(folder: Path) -> Path:
    run_session(small(), folder, "Quigley", markers=True)
    return folder


def captain(folder: Path) -> Path:
    study = open_study(ROOT / "experiments" / "captain-static")
    simulate_study(study, folder, n_participants=2, seed=1)
    return folder


MAPPING = """\
# Written by Q. Quigley, q.quigley@uni-example.org
[dataset]
name = "brought"

[columns]
participant = "who"
items = "objects"
item_colours = "colours"
card = "card"
response = "response"
rt = "rt"
rt_unit = "s"

[factors]
group = "group"
name = "name"
age = "age"
seen = "seen"

[[filters]]
column = "who"
equals = "Quigley"
reason = "Quigley withdrew"
"""


def imported(folder: Path) -> Path:
    mapping = MAPPING.replace('items = "objects"\nitem_colours = "colours"\n', "")
    beside = folder.parent
    (beside / "mapping.toml").write_text(mapping, encoding="utf-8")
    rows = ["who,card,response,rt,group,name,age,seen"]
    people = ["Zora", "NA", "1", "Quigley", "007"]
    for number, who in enumerate(people):
        for trial in range(4):
            card = ("ghost:white mouse:red", "ghost:green chair:blue")[trial % 2]
            answer = ("ghost", "mouse")[trial % 2]
            name, age = f"Name{number}", (19, 23, 24, 67, 93)[number]
            rows.append(
                f"{who},{card},{answer},{0.5 + trial / 10},{'ab'[number % 2]},{name},{age},"
                f"2025-03-{number + 1:02d}"
            )
    (beside / "table.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    import_table(beside / "table.csv", mapping=beside / "mapping.toml", out=folder)
    return folder


KINDS: Mapping[str, Callable[[Path], Path]] = {
    "resumed": resumed,
    "two_players": two_players,
    "ghosts": ghosts,
    "marked": marked,
    "captain": captain,
    "imported": imported,
}


def share(folder: Path, **settings: Any) -> tuple[Path, dict[str, str], SharingReport]:
    """Copy a data set, and return the copy with its key and the report."""
    copy, key = folder.parent / "copy", folder.parent / "key.csv"
    report = shared_copy(folder, copy, key_file=key, **settings)
    return copy, read_key(key), report


_SLOW = ("captain", "ghosts", "resumed", "two_players")


@pytest.fixture(
    scope="module",
    params=[pytest.param(k, marks=[pytest.mark.slow] * (k in _SLOW)) for k in KINDS],
)
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path, dict[str, str]]:
    """A data set of each kind, its copy, and the key."""
    folder = KINDS[request.param](tmp_path_factory.mktemp(request.param) / "data")
    copy, codes, _ = share(folder)
    return folder, copy, codes


def tables(folder: Path) -> list[pd.DataFrame]:
    source = load_source(folder)
    return [source.main.frame, *(table.frame for table in source.others)]


def coded(frame: pd.DataFrame, codes: Mapping[str, str]) -> pd.DataFrame:
    """The table as it should come back: with codes, in their order, no factors."""
    names = [n for n in ("participant_id", "player_id") if n in frame]
    frame = frame.assign(**{n: frame[n].map(codes).astype("string") for n in names})
    return frame.sort_values(names[:1], kind="stable", ignore_index=True)


def test_the_copy_loads_to_the_same_numbers(pair) -> None:
    folder, copy, codes = pair
    for before, after in zip(tables(folder), tables(copy), strict=True):
        kept = [c for c in before if not c.startswith("factor_")]
        keys = [c for c in ("participant_id", "session", "run", "block_index") if c in before]
        keys += [c for c in ("trial_index", "turn_index", "player") if c in before]
        expected = coded(before[kept], codes).sort_values(keys, kind="stable", ignore_index=True)
        found = after[kept].sort_values(keys, kind="stable", ignore_index=True)
        pd.testing.assert_frame_equal(found, expected)


def findings(runs: tuple[RunInfo, ...]) -> Counter[tuple[str, str]]:
    return Counter((severity, code) for severity, code, _where, _message in check_runs(runs))


def test_the_copy_gives_the_same_findings(pair) -> None:
    folder, copy, _ = pair
    assert findings(load_source(copy).runs) == findings(load_source(folder).runs)


def texts_below(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = path.relative_to(folder).as_posix()
        yield name, name + "\n" + path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def of_nobody(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What logs of these studies say, whoever takes part."""
    folder = tmp_path_factory.mktemp("nobody")
    logs = [run_session(small(), folder, "nobody-1", stop_after=9)]
    logs += [run_session(small(), folder, "nobody-1", resumes=logs[0])]
    logs += [run_session(for_two(), folder, "nobody-2", others=("nobody-3",))]
    return "".join(log.read_text(encoding="utf-8") for log in logs)


def test_no_original_id_is_left(pair, of_nobody: str) -> None:
    _, copy, codes = pair
    quoted = {f'"{who}"' for who in codes}
    quoted -= {word for word in quoted if word in of_nobody}
    assert len(quoted) >= len(codes) - 3
    for name, text in texts_below(copy):
        told = [who for who in quoted if who in text]
        told += [who for who in codes if f"sub-{who}_" in text]
        assert not told, name
        for row in text.splitlines():
            assert not {*codes} & {row.split(",")[0]}, name


def test_the_original_is_not_touched(tmp_path: Path) -> None:
    folder = human(tmp_path)
    before = {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in folder.rglob("*") if p.is_file()}
    share(folder)
    after = {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in folder.rglob("*") if p.is_file()}
    assert after == before


def test_a_header_keeps_all_its_entries(pair) -> None:
    folder, copy, codes = pair
    for log in sorted((folder / "logs").glob("*.jsonl")):
        header = read_log(log).header
        code = codes[header["participant_id"]]
        name = f"sub-{code}_ses-{header['session']:02d}_run-{header['run']:02d}.jsonl"
        assert read_log(copy / "logs" / name).header.keys() == header.keys()


def test_a_run_that_was_changed_is_still_found_to_be(tmp_path: Path) -> None:
    first = run_session(small(), tmp_path / "data", "p1", stop_after=9)
    run_session(small(), tmp_path / "data", "p1", resumes=first)
    edit_header(first, study_title="Another title")
    assert ("error", "earlier_run_changed") in findings(load_dataset(tmp_path / "data").runs)
    copy, _, _ = share(tmp_path / "data")
    assert ("error", "earlier_run_changed") in findings(load_dataset(copy).runs)


def test_a_run_whose_earlier_one_is_missing_names_it_by_code(tmp_path: Path) -> None:
    first = run_session(small(), tmp_path / "data", "p1", stop_after=9)
    run_session(small(), tmp_path / "data", "p1", resumes=first)
    first.unlink()
    copy, codes, _ = share(tmp_path / "data")
    (run,) = load_dataset(copy).runs
    assert run.resumes_file == f"sub-{codes['p1']}_ses-01_run-01.jsonl"


def test_a_torn_line_is_dropped_and_still_told(tmp_path: Path) -> None:
    log = run_session(small(), tmp_path / "data", "p1", stop_after=9)
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    log.write_text("".join(lines[:-1]) + '{"type": "end", "reason": "Quigley', encoding="utf-8")
    copy, _, _ = share(tmp_path / "data")
    (run,) = load_dataset(copy).runs
    assert run.torn
    assert all("Quigley" not in text for _, text in texts_below(copy))


def human(tmp_path: Path) -> Path:
    """Three people: two who played together on 4 and 14 March, and one of 9 March, twice."""
    folder = tmp_path / "data"
    together = run_session(for_two(), folder, "Anna", others=("Bert",))
    again = run_session(for_two(), folder, "Bert", others=("Anna",), session=2)
    as_human(together, "2025-03-04T23:50:11.123456+00:00")
    as_human(again, "2025-03-15T00:30:00+01:00")
    alone = run_session(small(), folder, "Carl")
    as_human(alone, "2025-03-09T08:00:00+00:00")
    later = run_session(small(), folder, "Carl", session=2)
    as_human(later, "2025-03-09T17:45:00Z")
    return folder


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
    assert counts["contents of records of no known meaning"] == 1
    assert counts["header entries of no known meaning"] == 1
    assert counts["reasons for which sessions ended, in free text"] == 1


# --- self-tests ----------------------------------------------------------------------------


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


# --- the key -------------------------------------------------------------------------------


def test_a_later_copy_keeps_the_codes_of_an_earlier_key(tmp_path: Path) -> None:
    run_session(small(), tmp_path / "data", "p1")
    _, before, _ = share(tmp_path / "data")
    run_session(small(), tmp_path / "data", "p2")
    report = shared_copy(tmp_path / "data", tmp_path / "later", key_file=tmp_path / "key.csv")
    after = read_key(tmp_path / "key.csv")
    assert (after["p1"], len(after), report.n_new_codes) == (before["p1"], 2, 1)
    assert set(participant_ids(load_source(tmp_path / "later"))) == set(after.values())


def test_the_key_of_another_data_set_is_refused(tmp_path: Path) -> None:
    run_session(small(), tmp_path / "data", "p1")
    (tmp_path / "key.csv").write_text("id,code\nq1,PBCDFGH\n", encoding="utf-8")
    with pytest.raises(DatasetError, match="the key of another data set"):
        share(tmp_path / "data")
    assert not (tmp_path / "copy").exists()


@pytest.mark.parametrize("place", ["data/key.csv", "copy/key.csv", "export/deep/../key.csv"])
def test_a_key_among_the_data_is_refused(place: str, tmp_path: Path) -> None:
    run_session(small(), tmp_path / "data", "p1")
    (tmp_path / "export" / "deep").mkdir(parents=True)
    with pytest.raises(DatasetError, match="keep it elsewhere"):
        shared_copy(
            tmp_path / "data", tmp_path / "copy", key_file=tmp_path / place,
            outside=[tmp_path / "export"],
        )  # fmt: skip


def test_a_folder_that_is_not_empty_is_refused(tmp_path: Path) -> None:
    run_session(small(), tmp_path / "data", "p1")
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "mine.txt").write_text("x", encoding="utf-8")
    with pytest.raises(DatasetError, match="no empty folder"):
        share(tmp_path / "data")
    assert not (tmp_path / "key.csv").exists()


# --- imported data -------------------------------------------------------------------------


@pytest.fixture
def brought(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    # Codes whose order is neither that of the ids nor that of the rows.
    draws = iter(["PDDDDDD", "PBBBBBB", "PCCCCCC", "PFFFFFF", "PGGGGGG"])
    copy, codes, _ = share(imported(tmp_path / "data"), draw_code=lambda: next(draws))
    return copy, codes


def test_names_and_dates_are_dropped_and_ages_are_in_bands(brought) -> None:
    copy, codes = brought
    trials = load_dataset(copy).trials
    assert [c for c in trials if c.startswith("factor_")] == ["factor_group", "factor_age"]
    ages = trials.groupby("participant_id")["factor_age"].unique().map(list)
    assert {who: ages[codes[who]] for who in ("Zora", "NA", "1", "007")} == {
        "Zora": ["15-19"], "NA": ["20-24"], "1": ["20-24"], "007": ["90+"],
    }  # fmt: skip


def test_an_import_is_told_without_whom_it_left_out(brought) -> None:
    copy, _ = brought
    text = "".join(text for _, text in texts_below(copy))
    assert "Quigley" not in text
    assert "quigley" not in text
    assert load_settings(copy / "mapping.toml", TableMapping).filters == ()
    flow = load_dataset(copy).import_flow
    assert flow is not None
    assert flow.dropped == (("left out by filter 1 of the import", 4),)
    assert load_dataset(copy).notes == ()


def test_rows_of_an_import_do_not_stand_in_their_old_order(brought) -> None:
    copy, _ = brought
    raw = pd.read_csv(copy / "trials.csv", dtype=str, keep_default_na=False)
    assert list(raw["participant_id"]) == sorted(raw["participant_id"])


def test_captains_turns_are_told_by_code(tmp_path: Path) -> None:
    copy, codes, _ = share(captain(tmp_path / "data"))
    assert set(load_captain_dataset(copy).turns["player_id"]) == set(codes.values())


def test_an_analysis_of_the_copy_gives_the_same_numbers(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    shutil.copytree(ROOT / "data" / "example", folder)
    copy, codes, _ = share(folder)
    before, after = (
        analyze_trials(d.trials, d.analysis, parts=("sensitivity", "inference", "distributions"))
        for d in map(load_dataset, (folder, copy))
    )
    for name in ("group_cells", "contrasts", "error_totals", "participant_cells", "audit"):
        one, other = getattr(before, name), getattr(after, name)
        if "participant_id" in one:
            keys = [c for c in ("step", "participant_id", *before.factors) if c in one]
            one = coded(one, codes).sort_values(keys, kind="stable", ignore_index=True)
            other = other.sort_values(keys, kind="stable", ignore_index=True)
        pd.testing.assert_frame_equal(other, one, rtol=1e-12)
