"""The page in the docs: tables from a run's results, between markers in text written by hand."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from tests.bench.goals import Row, goal_rows
from tests.bench.peers import FLOOR, MINIMAL, MINIMAL_60, PEERS
from tests.bench.picture import draw_errors
from tests.bench.scoring import Summary, Trial, ratio_interval, summarise

__all__ = ["LOADS", "Summaries", "read_results", "write_page"]

Summaries = Mapping[tuple[str, str], Summary]

#: How the two loads are called in files, and for people.
LOADS = {"idle": "idle", "busy": "one core busy"}
PAGE, PICTURE = "timing-bench.md", "pictures/timing-bench.png"
_BEGIN, _END = "<!-- bench:begin -->", "<!-- bench:end -->"
# What the issue asks for; a shorter run is for trying things out.
_N_WANTED = 200
_TRIAL_FIELDS = tuple(field.name for field in fields(Trial))


def write_page(results: Path, docs: Path) -> list[Path]:
    """Write the plot, and the part of the page between its markers; return both paths."""
    run, blocks = read_results(results)
    summaries = summaries_of(blocks)
    picture, page = docs / PICTURE, docs / PAGE
    draw_errors(summaries, picture, loads=LOADS)
    before, rest = page.read_text(encoding="utf-8").split(_BEGIN)
    after = rest.split(_END)[1]
    made = "\n".join(_generated(run, blocks, summaries))
    page.write_text(f"{before}{_BEGIN}\n{made}\n{_END}{after}", encoding="utf-8")
    return [page, picture]


def read_results(path: Path) -> tuple[Mapping[str, Any], list[Mapping[str, Any]]]:
    """Return the record of the run, with its `minutes` if it ended, and those of its blocks."""
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    run = dict(records[0])
    for record in records:
        if record["type"] == "end":
            run["minutes"] = record["minutes"]
    return run, [record for record in records if record["type"] == "block"]


def trials_of(blocks: Sequence[Mapping[str, Any]], peer: str, load: str) -> list[Trial]:
    """Return the trials of a peer beside a load, in the order in which they were played."""
    return [
        Trial(**{name: trial[name] for name in _TRIAL_FIELDS})
        for block in blocks
        if (block["peer"], block["load"]) == (peer, load)
        for trial in block.get("trials", ())
    ]


def summaries_of(blocks: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], Summary]:
    """Summarise each peer beside each load; those that gave nothing are left out."""
    rng = np.random.default_rng(0)  # of the intervals only, so that they repeat
    found = {}
    for load in LOADS:
        for peer in PEERS:
            if trials := trials_of(blocks, peer.name, load):
                found[peer.name, load] = summarise(trials, rng=rng)
    return found


def _generated(
    run: Mapping[str, Any], blocks: Sequence[Mapping[str, Any]], summaries: Summaries
) -> list[str]:
    lines = [*_short_run(summaries), "", "### The machine", "", "| | |", "|---|---|"]
    lines += [f"| {name} | {value} |" for name, value in _machine(run, blocks).items()]
    lines += ["", "### The peers", ""]
    lines += _table(("peer", "how it times"), [(peer.label, peer.timing) for peer in PEERS])
    lines += ["", "### The goals", ""]
    lines += _table(("goal", "load", "figures", ""), [_goal(row) for row in goal_rows(summaries)])
    for load, words in LOADS.items():
        lines += ["", f"### RT errors, {words}", "", *_error_table(run, summaries, load)]
    lines += ["", "### Lost presses, by how long the key was held", "", *_hold_table(blocks)]
    failed = [block for block in blocks if "failed" in block]
    if failed:
        names = sorted({block["peer"] for block in failed})
        lines += [
            "",
            f"Blocks that failed and were begun again: {len(failed)} ({', '.join(names)}).",
        ]
    return lines


def _short_run(summaries: Summaries) -> list[str]:
    fewest = min((s.n_sent for s in summaries.values()), default=0)
    if fewest >= _N_WANTED:
        return []
    return [
        "",
        f"**This was a short run** (n from {fewest} per peer and load, not {_N_WANTED}), to try "
        "the bench, possibly beside other work: no result.",
    ]


def _machine(run: Mapping[str, Any], blocks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    about: dict[str, Any] = {}
    for block in blocks:
        about |= block.get("about", {})
    names = {
        "gl_renderer": "OpenGL renderer",
        "process_priority": "priority that our task asks for",
        "psychtoolbox": "psychtoolbox",
        "pyglet": "pyglet",
        "expyriment": "Expyriment",
        "pygame": "pygame",
        "sdl": "SDL",
        "jspsych": "jsPsych",
    }
    found = {"date": run["date"], **run["machine"]}
    found |= {name: about[key] for key, name in names.items() if key in about}
    minutes = f", {run['minutes']:.0f} minutes" if "minutes" in run else ", not finished"
    found["run"] = (
        f"{run['n_rounds'] * run['n_per_block']} trials per peer and load, in blocks of "
        f"{run['n_per_block']}, "
        f"seed {run['seed']}{minutes}"
    )
    return found


def _goal(row: Row) -> tuple[str, ...]:
    verdict = "not measured" if row.met is None else "**met**" if row.met else "**missed**"
    return row.goal, row.load, row.figures, verdict


def _error_table(run: Mapping[str, Any], summaries: Summaries, load: str) -> list[str]:
    header = (
        "peer", "n", "bias", "SD [95 %]", "robust SD", "95th percentile", "lost", "misattributed",
        "SD / PsychoPy", "SD / PsychoPy 60 Hz", "SD / floor",
    )  # fmt: skip
    rows = []
    for peer in PEERS:
        summary = summaries.get((peer.name, load))
        if summary is None:
            why = run["not_run"].get(peer.name, "every block failed")
            rows.append((peer.label, f"not run: {why}", *[""] * (len(header) - 2)))
            continue
        low_s, high_s = summary.sd_interval_s
        rows.append(
            (
                peer.label,
                str(summary.n_sent),
                _ms(summary.bias_s, sign="+"),
                f"{_ms(summary.sd_s)} [{_ms(low_s)}, {_ms(high_s)}]",
                _ms(summary.robust_sd_s),
                _ms(summary.p95_s),
                str(summary.n_lost),
                str(summary.n_misattributed),
                *(_ratio(summaries, peer.name, to, load) for to in (MINIMAL, MINIMAL_60, FLOOR)),
            )
        )
    return _table(header, rows)


def _ratio(summaries: Summaries, name: str, to: str, load: str) -> str:
    if name == to or (to, load) not in summaries:
        return ""
    rng = np.random.default_rng(0)
    ratio, low, high = ratio_interval(summaries[name, load], summaries[to, load], rng=rng)
    return "–" if math.isnan(ratio) else f"{ratio:.2f} [{low:.2f}, {high:.2f}]"


def _hold_table(blocks: Sequence[Mapping[str, Any]]) -> list[str]:
    rng = np.random.default_rng(0)
    kinds = {"tap-10ms": "10 ms", "tap-80ms": "80 ms", "held": "held into the next trial"}
    rows = []
    for peer in PEERS:
        trials = [t for load in LOADS for t in trials_of(blocks, peer.name, load)]
        if not trials:
            continue
        counts = []
        for kind in kinds:
            summary = summarise([t for t in trials if t.hold == kind], rng=rng)
            counts.append(f"{summary.n_lost} of {summary.n_sent}")
        rows.append((peer.label, *counts))
    return _table(("peer, both loads", *kinds.values()), rows)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def _ms(value_s: float, *, sign: str = "") -> str:
    return "–" if math.isnan(value_s) else f"{1000 * value_s:{sign}.2f}"
