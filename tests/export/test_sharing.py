"""A de-identified copy is a valid data set with the same numbers, and tells nobody's name."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest

from ghostblitz_analysis.captain.dataset import load_captain_dataset
from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_analysis.export.source import load_source
from ghostblitz_analysis.results import analyze_trials
from ghostblitz_task.trial_log import read_log
from tests.export.sharing_sets import (
    KINDS,
    ROOT,
    captain,
    coded,
    edit_header,
    findings,
    for_two,
    human,
    run_session,
    share,
    small,
    tables,
    texts_below,
)

pytestmark = pytest.mark.slow


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


def test_the_copy_loads_to_the_same_numbers(pair) -> None:
    folder, copy, codes = pair
    for before, after in zip(tables(folder), tables(copy), strict=True):
        kept = [c for c in before if not c.startswith("factor_")]
        keys = [c for c in ("participant_id", "session", "run", "block_index") if c in before]
        keys += [c for c in ("trial_index", "turn_index", "player") if c in before]
        expected = coded(before[kept], codes).sort_values(keys, kind="stable", ignore_index=True)
        found = after[kept].sort_values(keys, kind="stable", ignore_index=True)
        pd.testing.assert_frame_equal(found, expected)


def test_the_copy_gives_the_same_findings(pair) -> None:
    folder, copy, _ = pair
    assert findings(load_source(copy).runs) == findings(load_source(folder).runs)


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
