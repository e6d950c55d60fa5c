"""The page in the docs: tables from a run's results, between markers in text written by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from tests.bench_analysis.comparisons import OURS, TASKS, Task, is_same
from tests.bench_analysis.stages import STAGES

__all__ = ["PAGE", "goal_rows", "write_page"]

PAGE = "analysis-bench.md"
_BEGIN, _END = "<!-- bench:begin -->", "<!-- bench:end -->"
#: What was asked for: of a million trials, of a thousand splits of 200 participants, and of a study
#: of 40 from its logs to its report.
_MAX_SECONDS, _MAX_MB, _MAX_SPLIT_SECONDS, _MAX_STUDY_SECONDS = 20.0, 2000.0, 10.0, 30.0
_FULL_TRIALS, _FULL_SPLITS, _FULL_FEW, _FULL_STUDY = 1_000_000, 1000, 200, 40

Results = Mapping[str, Any]


def write_page(results: Path, docs: Path) -> Path:
    """Write the part of the page between its markers; return the page's path."""
    found: Results = json.loads(results.read_text(encoding="utf-8"))
    page = docs / PAGE
    before, rest = page.read_text(encoding="utf-8").split(_BEGIN)
    after = rest.split(_END)[1]
    made = "\n".join(_generated(found))
    page.write_text(f"{before}{_BEGIN}\n{made}\n{_END}{after}", encoding="utf-8")
    return page


def _generated(found: Results) -> list[str]:
    lines = [*_short_run(found), "", "### The machine", "", "| | |", "|---|---|"]
    about = {"date": found["run"]["date"], **found["run"]["machine"], "run": _about_run(found)}
    lines += [f"| {name} | {value} |" for name, value in about.items()]
    lines += ["", "### The goals", ""]
    lines += _table(("goal", "figures", ""), goal_rows(found))
    lines += ["", "### A million trials", "", *_many_table(found)]
    lines += ["", "### Side by side", "", *_comparison_table(found)]
    lines += ["", "### A study of logs", "", *_study_table(found)]
    return lines


def _is_full(found: Results) -> bool:
    run = found["run"]
    n_trials = run["n_participants"] * run["n_trials"]
    full = n_trials >= _FULL_TRIALS and run["n_splits"] >= _FULL_SPLITS
    return bool(full and run["n_few"] >= _FULL_FEW)


def _short_run(found: Results) -> list[str]:
    if _is_full(found):
        return []
    return ["", "**This was a short run**, to try the bench: no result."]


def _about_run(found: Results) -> str:
    run = found["run"]
    return (
        f"{run['n_participants']} participants x {run['n_trials']} trials, {run['n_few']} of them "
        f"in the ANOVA and the {run['n_splits']} splits, {run['n_rounds']} rounds, seed "
        f"{run['seed']}, {run['minutes']:.0f} minutes"
    )


def goal_rows(found: Results) -> list[tuple[str, str, str]]:
    """Hold the figures of a run against each goal; a short run cannot meet one."""
    many = [sum(each["seconds"].values()) for each in found["many"]]
    peaks = [each["peak_mb"] for each in found["many"]]
    splits = seconds_of(found, "split_half", OURS)
    study = found["study"]
    is_whole = study is not None and study["n_participants"] >= _FULL_STUDY
    rows = [
        ("a million trials: load, validate, exclude, summarise in under 20 s", many, "s",
         _MAX_SECONDS),
        ("... and 2 GB (2,000 MB)", peaks, "MB", _MAX_MB),
        ("1,000 splits of 200 participants in under 10 s", splits, "s", _MAX_SPLIT_SECONDS),
        ("a study of 40 participants, from logs to report, in under 30 s",
         [study["analyze_s"]] if is_whole else [], "s", _MAX_STUDY_SECONDS),
    ]  # fmt: skip
    made = []
    for goal, values, unit, most in rows:
        if not values:
            made.append((goal, "–", "not measured"))
            continue
        worst = f" (worst {_number(max(values))})" if len(values) > 1 else ""
        figures = f"{_number(median(values))} {unit}{worst}"
        verdict = "**met**" if max(values) < most else "**missed**"
        made.append((goal, figures, verdict if _is_full(found) else "not measured"))
    return made


def _many_table(found: Results) -> list[str]:
    if not found["many"]:
        return ["Not measured."]
    rows = [
        (stage, what, _number(median(each["seconds"][stage] for each in found["many"])))
        for stage, what in STAGES.items()
    ]
    total = median(sum(each["seconds"].values()) for each in found["many"])
    rows.append(("together", "", _number(total)))
    peak = max(each["peak_mb"] for each in found["many"])
    rows.append(("most memory", "of the process, MB", f"{peak:.0f}"))
    return _table(("stage", "what it does", "s"), rows)


def seconds_of(found: Results, task: str, peer: str) -> list[float]:
    """Return every time that a program took for a task."""
    return [
        value
        for each in found["comparisons"]
        if (each["task"], each["peer"]) == (task, peer) and "seconds" in each
        for value in each["seconds"]
    ]


def _comparison_table(found: Results) -> list[str]:
    rows = []
    for task in TASKS:
        ours = seconds_of(found, task.name, OURS)
        for peer, by in {OURS: "our own function", **task.peers}.items():
            rows.append(_comparison(found, task, peer, by, ours))
    header = ("work", "program", "by", "s", "times ours", "same figures")
    return _table(header, rows)


def _comparison(
    found: Results, task: Task, peer: str, by: str, ours: Sequence[float]
) -> tuple[str, ...]:
    what = task.what if peer == OURS else ""
    records = [e for e in found["comparisons"] if (e["task"], e["peer"]) == (task.name, peer)]
    done = [record for record in records if "seconds" in record]
    if not done:
        failed = [record["failed"] for record in records]
        why = failed[0] if failed else found["run"]["not_run"].get(peer, "not asked for")
        return what, peer, by, f"not run: {why}", "", ""
    seconds = median(seconds_of(found, task.name, peer))
    label = f"{peer} {done[0]['version']}"
    if peer == OURS:
        return what, label, by, _number(seconds), "1", ""
    reference = [r for r in found["comparisons"] if (r["task"], r["peer"]) == (task.name, OURS)]
    figures = next((r["figures"] for r in reference if "figures" in r), [])
    same = all(is_same(r["figures"], figures, tolerance=task.tolerance) for r in done)
    ratio = _number(seconds / median(ours)) if ours else "–"
    return what, label, by, _number(seconds), ratio, "yes" if same else "**no**"


def _study_table(found: Results) -> list[str]:
    study = found["study"]
    if study is None:
        return ["Not measured."]
    rows = [
        ("`ghostblitz simulate`", f"{study['n_participants']} participants", study["simulate_s"]),
        ("`ghostblitz analyze`", f"{study['n_trials']} trials to {study['n_files']} files, the "
         "start of Python with it", study["analyze_s"]),
    ]  # fmt: skip
    rows += [(f"of it, {stage}", what, study["seconds"][stage]) for stage, what in STAGES.items()]
    lines = [(name, what, _number(seconds)) for name, what, seconds in rows]
    lines.append(("most memory", "of these four stages, MB", f"{study['peak_mb']:.0f}"))
    return _table(("command", "what it does", "s"), lines)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def _number(value: float) -> str:
    """Write a number with three significant digits."""
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}"
