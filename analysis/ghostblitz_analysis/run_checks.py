"""What the logs of a data set say about how its runs went."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Literal

from ghostblitz_analysis.log_tables import RunInfo
from ghostblitz_task.trial_log import log_path

__all__ = ["check_runs"]

#: Severity, code, where, message.
Found = tuple[Literal["info", "warning", "error"], str, str, str]


def check_runs(runs: Sequence[RunInfo]) -> Iterator[Found]:
    """Look over the runs of a data set, in the order of participant, session and run.

    Yields
    ------
    tuple
        Severity, code, where and message of each finding.
    """
    for info in runs:
        yield from _about_run(info)
    for _, session in groupby(runs, key=lambda info: info.identity[:2]):
        yield from _about_session(list(session))
    studies: dict[str, set[str]] = {}
    for info in runs:
        studies.setdefault(info.study_id, set()).add(info.settings_sha256)
    for study_id, hashes in studies.items():
        if len(hashes) > 1:
            yield (
                "warning",
                "mixed_settings",
                f"study {study_id}",
                f"its sessions ran with {len(hashes)} different settings; compare their headers "
                "before you pool them",
            )
    yield from _about_plans(runs)
    yield from _about_company(runs)
    yield from _about_displays(runs)
    polled = [info.file for info in runs if info.keys_polled]
    if polled:
        yield (
            "warning",
            "keys_polled",
            _first_and_more(polled),
            "key times are the times of polling, not of the key; RTs are late by up to a frame",
        )


def _first_and_more(files: Sequence[str]) -> str:
    return f"{files[0]} and {len(files) - 1} more" if len(files) > 1 else files[0]


def _about_plans(runs: Sequence[RunInfo]) -> Iterator[Found]:
    differing = [info.file for info in runs if info.plan_check == "differs"]
    if differing:
        yield (
            "error",
            "plan_differs",
            _first_and_more(differing),
            "settings and seed give another trial sequence than the one in the header: seed or "
            "sequence were changed, or another version of NumPy planned it then",
        )
    older = [info.file for info in runs if info.plan_check == "other_version"]
    if older:
        yield (
            "info",
            "plan_not_checked",
            _first_and_more(older),
            "another version of ghostblitz wrote this, so its trial sequence was not planned again "
            "to compare",
        )


def _about_company(runs: Sequence[RunInfo]) -> Iterator[Found]:
    together = [info.file for info in runs if info.others]
    if together:
        yield (
            "warning",
            "played_together",
            _first_and_more(together),
            "several participants played in one session and saw each other's answers, so their "
            "data are not independent; tests and intervals here take them as if they were",
        )
    kinds = {
        "model": "a model with set RTs; its answers were drawn again and agree, where the plan "
        "could be made again",
        "ghost": "a ghost of the participant's own earlier trials; what it drew from them was not "
        "drawn again",
    }
    for kind, words in kinds.items():
        files = [info.file for info in runs if info.rival_kind == kind]
        if files:
            yield (
                "info",
                "simulated_rival",
                _first_and_more(files),
                f"the rival was simulated: {words}",
            )


def _about_displays(runs: Sequence[RunInfo]) -> Iterator[Found]:
    """Tell each kind once, in the words of the first run that has it."""
    files: dict[str, list[str]] = {}
    words: dict[str, str] = {}
    for info in runs:
        for kind, text in info.display_findings:
            files.setdefault(kind, []).append(info.file)
            words.setdefault(kind, text)
    for kind, found in files.items():
        yield "warning", f"display_{kind}", _first_and_more(found), words[kind]


def _about_run(info: RunInfo) -> Iterator[Found]:
    ends = {
        "killed": "the log just ends: the program was killed or the machine went down",
        "quit": "the session was ended by the quit key or a signal",
        "failed": "the program stopped on an error",
    }
    if info.status in ends:
        kept = f"{info.n_trials} completed trials are kept"
        yield "warning", f"run_{info.status}", info.file, f"{ends[info.status]}; {kept}"
    if info.torn:
        yield "info", "torn_line", info.file, "the last line was cut off and is left out"
    if info.n_interrupted:
        yield (
            "info",
            "trials_interrupted",
            info.file,
            f"{info.n_interrupted} trial(s) were cut short by quitting and do not count",
        )
    expected = log_path(Path(), info.participant_id, session=info.session, run=info.run)
    if info.file != expected.name:
        yield (
            "warning",
            "file_name_differs",
            info.file,
            f"its header says {expected.name}; the header is believed",
        )


def _about_session(runs: Sequence[RunInfo]) -> Iterator[Found]:
    last = runs[-1]
    where = f"{' with '.join(last.players)}, session {last.session}"
    n_done = 0
    for before, info in zip([None, *runs], runs, strict=False):
        if info.run > 1:
            yield from _about_resumption(before, info, n_done, where)
        n_done += info.n_trials
    if n_done < last.n_trials_planned:
        yield (
            "warning",
            "session_incomplete",
            where,
            f"{n_done} of {last.n_trials_planned} trials were done",
        )


def _about_resumption(
    before: RunInfo | None, info: RunInfo, n_done: int, where: str
) -> Iterator[Found]:
    yield (
        "info",
        "session_resumed",
        where,
        f"run {info.run} took the session up again after {info.resumes_n_trials} trials; its "
        "first trial is marked",
    )
    if before is None or before.file != info.resumes_file:
        yield (
            "warning",
            "earlier_run_missing",
            where,
            f"{info.file} continues {info.resumes_file}, which is not in the data set",
        )
    elif before.sha256 != info.resumes_sha256 or n_done != info.resumes_n_trials:
        yield (
            "error",
            "earlier_run_changed",
            where,
            f"{before.file} was changed after {info.file} took it up",
        )
    if before is not None and before.plan_sha256 != info.plan_sha256:
        yield (
            "error",
            "plans_differ",
            where,
            f"{info.file} follows another trial sequence than {before.file}",
        )
