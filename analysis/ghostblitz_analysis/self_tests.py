"""The timing self-tests that stand with a data set, and the sessions that quote them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ghostblitz_analysis.log_tables import RunInfo
from ghostblitz_analysis.wording import count_of
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.timing.record import TIMING_FOLDER, read_record, self_test_files
from ghostblitz_task.trial_log import file_sha256

__all__ = ["SelfTestPart", "ToldSelfTest", "self_test_part", "told_self_test"]

_LOGS = "logs"
_WORDS = {"pass": "every check passed", "warn": "passed with warnings", "fail": "failed"}


@dataclass(frozen=True, slots=True)
class ToldSelfTest:
    """A self-test as a report quotes it.

    Attributes
    ----------
    file, sha256 : str
        Of its record.
    started_utc : str
        When it began.
    verdict : str
        ``pass``, ``warn`` or ``fail``.
    in_words : str
        The verdict, for people.
    figures : tuple of (str, str)
        Name and figures of each check that was made.
    troubles : tuple of (str, str, str)
        Verdict, name and reason of each check that did not pass.
    methods : str
        A paragraph for a Methods section.
    n_runs : int
        Runs that quote it.
    """

    file: str
    sha256: str
    started_utc: str
    verdict: str
    in_words: str
    figures: tuple[tuple[str, str], ...]
    troubles: tuple[tuple[str, str, str], ...]
    methods: str
    n_runs: int

    def to_json(self) -> dict[str, Any]:
        """Return what `analysis.json` holds of it."""
        return {
            "file": self.file,
            "sha256": self.sha256,
            "started_utc": self.started_utc,
            "verdict": self.verdict,
            "n_runs": self.n_runs,
        }


@dataclass(frozen=True, slots=True)
class SelfTestPart:
    """What a report says of self-tests.

    Attributes
    ----------
    tests : tuple of ToldSelfTest
        Those in the data set, oldest first.
    notes : tuple of str
        What does not fit together: records that are missing, changed or damaged.
    n_damaged : int
        Records in the data set that cannot be quoted; `notes` says why.
    n_runs, n_without : int
        Runs at a real screen, and those of them that quote no test.
    """

    tests: tuple[ToldSelfTest, ...]
    notes: tuple[str, ...]
    n_damaged: int
    n_runs: int
    n_without: int

    @property
    def is_told(self) -> bool:
        """Whether there is anything to say: a test, or a session that should have had one."""
        return bool(self.tests or self.notes or self.n_runs)


def told_self_test(record: Mapping[str, Any], path: Path, *, n_runs: int) -> ToldSelfTest:
    """Return a record of a self-test as a report quotes it."""
    made = [check for check in record["checks"] if check["verdict"] != "not_measured"]
    return ToldSelfTest(
        file=path.name,
        sha256=file_sha256(path),
        started_utc=record["started_utc"],
        verdict=record["verdict"],
        in_words=_WORDS[record["verdict"]],
        figures=tuple((check["name"], check["value"]) for check in made if check["value"]),
        troubles=tuple(
            (check["verdict"], check["name"], check["reason"])
            for check in made
            if check["verdict"] != "pass"
        ),
        methods=record["methods"],
        n_runs=n_runs,
    )


def self_test_part(path: Path, runs: Sequence[RunInfo]) -> SelfTestPart:
    """Find the self-tests of a data set, and hold the logs' quotes against them.

    Parameters
    ----------
    path : Path
        The data set's folder, that of its logs, or one log.
    runs : sequence of RunInfo
        Its runs; simulated ones need no self-test.

    Notes
    -----
    A record that cannot be read, or is not the one that a log names, is told in `notes`; it is no
    error, since no result depends on it.
    """
    tests, notes = [], []
    timed = [run for run in runs if run.source != "simulated"]
    quotes = [run.self_test for run in timed if run.self_test is not None]
    counts = Counter(quote.sha256 for quote in quotes)
    for file in self_test_files(_dataset_folder(path)):
        try:
            record = read_record(file)
            tests.append(told_self_test(record, file, n_runs=counts[file_sha256(file)]))
        except DatasetError as error:
            notes.append(f"{file.name} cannot be quoted: {_reason(error, file)}")
    n_damaged = len(notes)
    found = {test.sha256 for test in tests}
    for file_name, sha256 in sorted({(quote.file, quote.sha256) for quote in quotes}):
        if sha256 not in found:
            n = count_of(counts[sha256], "run")
            notes.append(
                f"{n} quote{'s' if counts[sha256] == 1 else ''} {file_name}, which is not in "
                f"{TIMING_FOLDER}/ as it was then"
            )
    return SelfTestPart(
        tests=tuple(tests),
        notes=tuple(notes),
        n_damaged=n_damaged,
        n_runs=len(timed),
        n_without=len(timed) - len(quotes),
    )


def _reason(error: DatasetError, file: Path) -> str:
    """Return what is wrong with a file, without its folder, which no report gives away."""
    said = str(error).removeprefix(str(file))
    return said.removeprefix(": ") if said.startswith(": ") else f"it{said}"


def _dataset_folder(path: Path) -> Path:
    folder = path if path.is_dir() else path.parent
    return folder.parent if folder.name == _LOGS else folder
