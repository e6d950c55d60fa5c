"""The log: nothing is lost, nothing is written over, and what is damaged is found."""

from __future__ import annotations

import errno
import json
import os
import resource
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghostblitz_task.errors import ConfigError, LogError
from ghostblitz_task.schema import SCHEMA_VERSION
from ghostblitz_task.trial_log import (
    FORMAT,
    TrialLog,
    check_participant_id,
    file_sha256,
    log_path,
    participant_logs,
    read_log,
)

HEADER = {
    "format": FORMAT,
    "schema_version": SCHEMA_VERSION,
    "study_id": "Zoë 李",
    "settings_sha256": "a",
    "plan_sha256": "b",
    "participant_id": "p",
    "session": 1,
    "run": 1,
    "seed": 1,
    "source": "human",
    "language": "en",
    "participant_model": None,
    "resumes": None,
}
ROOT = Path(__file__).resolve().parents[2]


def write_log(
    path: Path, *, n_trials: int = 3, header: dict | None = None, end: bool = True
) -> Path:
    with TrialLog(path) as log:
        log.append("header", HEADER | (header or {}))
        for i in range(n_trials):
            log.append("trial", {"trial_index": i, "card": "ghost:white", "note": "„ü“ \n 👻"})
        if end:
            log.append("end", {"status": "completed"})
    return path


@pytest.fixture
def log_file(tmp_path: Path) -> Path:
    return write_log(tmp_path / "logs" / "a.jsonl")


def full_disk(_descriptor: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


# --- writing ------------------------------------------------------------------------------------


def test_log_reads_back_as_it_was_written(log_file: Path) -> None:
    run = read_log(log_file)
    assert run.header == {"type": "header", "n": 0} | HEADER
    assert [r["n"] for r in run.records] == [1, 2, 3, 4]
    assert [t["trial_index"] for t in run.of_type("trial")] == [0, 1, 2]
    assert run.records[0]["note"] == "„ü“ \n 👻"
    assert run.status == "completed"
    assert not run.torn


def test_each_record_is_one_line_of_utf8(log_file: Path) -> None:
    data = log_file.read_bytes()
    assert data.count(b"\n") == 5
    assert data.endswith(b"\n")
    assert "Zoë 李".encode() in data


def test_existing_file_is_never_written_over(log_file: Path) -> None:
    before = log_file.read_bytes()
    with pytest.raises(LogError, match=r"a\.jsonl exists already; a log is never written over"):
        TrialLog(log_file)
    assert log_file.read_bytes() == before


def test_file_that_cannot_be_created_is_an_error_of_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LogError, match=r"cannot be created") as caught:
        TrialLog(tmp_path / "file" / "a.jsonl")
    assert "\n" not in str(caught.value)


def test_each_record_is_synced_after_it_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    synced: list[tuple[int, int]] = []
    fsync = os.fsync

    def counting(descriptor: int) -> None:
        stat = os.fstat(descriptor)
        synced.append((stat.st_ino, stat.st_size))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", counting)
    log = TrialLog(path)
    log.append("header", HEADER)
    # The record, then the folder that holds the file's name.
    assert [inode for inode, _ in synced] == [path.stat().st_ino, tmp_path.stat().st_ino]
    for n in range(3):
        log.append("trial", {"text": "x" * 10 * n})
        assert synced[-1] == (path.stat().st_ino, path.stat().st_size)
        assert len(synced) == n + 3
    log.close()


def test_log_without_a_header_never_has_a_name(tmp_path: Path) -> None:
    """A kill between the two must leave nothing that is in the way of another try."""
    log = TrialLog(tmp_path / "a.jsonl")
    assert not (tmp_path / "a.jsonl").exists()
    log.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("has_links", [True, False])
def test_second_of_two_logs_of_the_same_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool
) -> None:
    if not has_links:  # as on a memory stick

        def link(_source: Path, _target: Path) -> None:
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

        monkeypatch.setattr(os, "link", link)
    first, second = TrialLog(tmp_path / "a.jsonl"), TrialLog(tmp_path / "a.jsonl")
    first.append("header", HEADER)
    before = (tmp_path / "a.jsonl").read_bytes()
    with pytest.raises(LogError, match=r"exists already|could not be written: File exists"):
        second.append("header", HEADER)
    first.append("trial", {"trial_index": 0})
    first.close()
    second.close()
    assert (tmp_path / "a.jsonl").read_bytes().startswith(before)
    assert len(read_log(tmp_path / "a.jsonl").records) == 1


def test_record_is_in_the_file_before_append_returns(tmp_path: Path) -> None:
    """No buffer of ours may hold it: another reader sees it at once."""
    with TrialLog(tmp_path / "a.jsonl") as log:
        log.append("header", HEADER)
        assert read_log(tmp_path / "a.jsonl").header["study_id"] == "Zoë 李"
        log.append("trial", {"trial_index": 0})
        assert len(read_log(tmp_path / "a.jsonl").records) == 1


def test_value_that_json_has_no_word_for_is_not_written(tmp_path: Path) -> None:
    with TrialLog(tmp_path / "a.jsonl") as log:
        log.append("header", HEADER)
        with pytest.raises(ValueError, match=r"JSON compliant"):
            log.append("trial", {"rt_s": float("nan")})
        log.append("trial", {"rt_s": None})
    assert [r["n"] for r in read_log(tmp_path / "a.jsonl").records] == [1]


def test_full_disk_keeps_earlier_records_and_takes_back_the_torn_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_log(tmp_path / "whole.jsonl", n_trials=1, end=False)
    whole = path.read_bytes()
    log = TrialLog(tmp_path / "a.jsonl")
    log.append("header", HEADER)
    log.append("trial", {"trial_index": 0, "card": "ghost:white", "note": "„ü“ \n 👻"})
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full_disk)
        with pytest.raises(LogError, match=r"record 2 \(trial\) could not be written: No space"):
            log.append("trial", {"trial_index": 1})
    assert (tmp_path / "a.jsonl").read_bytes() == whole
    log.close()


def test_log_can_go_on_when_the_disk_has_room_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = TrialLog(tmp_path / "a.jsonl")
    log.append("header", HEADER)
    with monkeypatch.context() as patched:
        patched.setattr(
            os, "fsync", lambda _d: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full"))
        )
        with pytest.raises(LogError, match=r"could not be written"):
            log.append("trial", {"trial_index": 0, "note": "x" * 100})
    log.append("trial", {"trial_index": 0})
    log.close()
    assert [r["trial_index"] for r in read_log(tmp_path / "a.jsonl").records] == [0]


_FILL = """
import json, resource, signal, sys
from pathlib import Path
from ghostblitz_task.errors import LogError
from ghostblitz_task.trial_log import FORMAT, TrialLog
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))
log = TrialLog(Path(sys.argv[1]))
log.append("header", json.loads(sys.argv[2]))
try:
    for i in range(100):
        log.append("trial", {"trial_index": i, "text": "x" * 150})
except LogError as error:
    print(i, error)
"""


def test_write_that_the_system_cuts_short_leaves_whole_records(tmp_path: Path) -> None:
    """A limit on the file's size: the system writes part of a record, then refuses."""
    path = tmp_path / "a.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", _FILL, str(path), json.dumps(HEADER)],
        capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    n_kept = int(done.stdout.split()[0])
    assert "could not be written" in done.stdout
    assert 0 < n_kept < 10
    run = read_log(path)
    assert [t["trial_index"] for t in run.records] == list(range(n_kept))
    assert not run.torn
    assert path.stat().st_size <= 2000
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 2000


# --- reading what is damaged --------------------------------------------------------------------


def test_log_cut_at_any_byte_gives_its_complete_records(log_file: Path, tmp_path: Path) -> None:
    data = log_file.read_bytes()
    whole = read_log(log_file)
    ends = [i + 1 for i, byte in enumerate(data) if byte == ord("\n")]
    cut = tmp_path / "cut.jsonl"
    for size in range(len(data)):
        cut.write_bytes(data[:size])
        # The line break itself is no part of a record.
        n_complete = sum(end - 1 <= size for end in ends)
        if n_complete == 0:
            with pytest.raises(LogError, match=r"cut\.jsonl"):
                read_log(cut)
            continue
        run = read_log(cut)
        assert run.header == whole.header
        assert run.records == whole.records[: n_complete - 1]
        assert run.torn == (size not in ends and size + 1 not in ends)
        assert run.status == "killed" or n_complete == len(ends)


@pytest.mark.parametrize("tail", [b"{", b"\x00" * 40, b"\xff\xfe", b'{"type": "trial", "n": 9'])
def test_torn_last_line_is_dropped_and_said(log_file: Path, tail: bytes) -> None:
    log_file.write_bytes(log_file.read_bytes() + tail)
    run = read_log(log_file)
    assert run.torn
    assert len(run.records) == 4


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda ls: [*ls[:2], b"garbage\n", *ls[2:]], r"line 3: this is no record of a log: 'garb"),
        (lambda ls: [*ls[:2], b"\n", *ls[2:]], r"line 3: this is no record"),
        (lambda ls: [*ls[:2], b"[1, 2]\n", *ls[2:]], r"line 3: this is no record"),
        (lambda ls: [*ls[:2], b'{"n": 2}\n', *ls[2:]], r"line 3: this is no record"),
        (lambda ls: [*ls[:2], b"\x00\x00\n", *ls[2:]], r"line 3: this is no record"),
        (lambda ls: [*ls[:2], ls[2][:-9], *ls[3:]], r"line 3: this is no record"),
        (lambda ls: [*ls, b"garbage\n"], r"line 6: this is no record"),
        (
            lambda ls: [ls[0], ls[2], ls[1], *ls[3:]],
            r"line 2: record 2 stands where record 1",
        ),
        (lambda ls: [*ls[:2], ls[1], *ls[2:]], r"line 3: record 1 stands where record 2 should"),
        (lambda ls: [*ls[:2], *ls[3:]], r"line 3: record 3 stands where record 2 should"),
        (lambda ls: ls[1:], r"line 1: record 1 stands where record 0 should"),
        (lambda ls: [b"\xef\xbb\xbf" + ls[0], *ls[1:]], r"line 1: this is no record"),
        (lambda ls: [b"trial,rt\n", b"1,0.5\n"], r"line 1: this is no record"),
    ],
)
def test_damage_is_named_by_its_line(log_file: Path, damage, message: str) -> None:
    log_file.write_bytes(b"".join(damage(lines_of(log_file))))
    with pytest.raises(LogError, match=message) as caught:
        read_log(log_file)
    assert "a.jsonl" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"\n", b"  \n\n"])
def test_empty_file_is_said_to_be_empty(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.jsonl").write_bytes(data)
    with pytest.raises(LogError, match=r"a\.jsonl is empty"):
        read_log(tmp_path / "a.jsonl")


def test_missing_file_and_folder_are_errors(tmp_path: Path) -> None:
    with pytest.raises(LogError, match=r"a\.jsonl cannot be read"):
        read_log(tmp_path / "a.jsonl")
    with pytest.raises(LogError, match=r"cannot be read"):
        read_log(tmp_path)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"format": "other"}, r"line 1: this is no ghostblitz log"),
        (
            {"schema_version": SCHEMA_VERSION + 1},
            r"schema version 2, .* up to 1; use a newer",
        ),
        ({"schema_version": "1"}, r"schema version 1"),
        ({"schema_version": None}, r"schema version None"),
    ],
)
def test_log_of_another_kind_or_time_is_refused(tmp_path: Path, header, message: str) -> None:
    path = write_log(tmp_path / "a.jsonl", header=header)
    with pytest.raises(LogError, match=message):
        read_log(path)


def test_log_that_begins_with_another_record_is_refused(tmp_path: Path) -> None:
    with TrialLog(tmp_path / "a.jsonl") as log:
        log.append("trial", HEADER)
    with pytest.raises(LogError, match=r"its header is missing"):
        read_log(tmp_path / "a.jsonl")


@pytest.mark.parametrize("deep", [b"[" * 100_000, b'{"type":' * 100_000])
def test_line_nested_without_end_is_no_record(log_file: Path, deep: bytes) -> None:
    log_file.write_bytes(lines_of(log_file)[0] + deep + b"\n")
    with pytest.raises(LogError, match=r"line 2: this is no record"):
        read_log(log_file)


@settings(max_examples=100)
@given(st.binary(max_size=200), st.integers(0, 4))
def test_any_bytes_in_the_middle_are_read_or_refused_in_words(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, after: int
) -> None:
    folder = tmp_path_factory.mktemp("noise", numbered=True)
    path = write_log(folder / "a.jsonl")
    lines = lines_of(path)
    path.write_bytes(b"".join([*lines[:after], noise, *lines[after:]]))
    try:
        run = read_log(path)
    except LogError as error:
        assert "a.jsonl" in str(error)  # noqa: PT017 - any outcome is tested
    else:
        assert len(run.records) == 4


# --- participants -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["007", "NA", "null", "True", "1e5", "Zoë", "李", "p-1", "p_1", "a.b", "👻", "x y", "A" * 120,
     "COM", "COM10x", "console", "lpt", "x.con", "ñandú", "Ω", "0", "a-"],
)  # fmt: skip
def test_id_that_file_names_can_hold_is_kept_to_the_letter(text: str) -> None:
    assert check_participant_id(text) == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it is empty"),
        ("   ", "it is empty"),
        (" p1", "begins or ends with a space"),
        ("p1 ", "begins or ends with a space"),
        ("p1\u00a0", "begins or ends with a space"),
        ("p1\n", "begins or ends with a space"),
        ("p\n1", "control character"),
        ("p\t1", "control character"),
        ("p\x00", "control character"),
        ("p\x7f1", "control character"),
        ("p\u202e1", "control character"),
        ("p\u200b1", "control character"),
        ("p\u20281", "control character"),
        ("\ud800", "control character"),
        ("a/b", "it holds /"),
        ("a\\b", "it holds"),
        ("../x", "it holds /"),
        ("..", "begins with a dot"),
        (".", "begins with a dot"),
        (".x", "begins with a dot"),
        ("-x", "begins with a dot or dash"),
        ("x.", "ends with a dot"),
        ('a"b', 'it holds "'),
        ("a'b", "it holds '"),
        ("a:b", "it holds :"),
        ("a*?", "it holds"),
        ("<a>|", "it holds < > |"),
        ("CON", "reserves this name"),
        ("con.txt", "reserves this name"),
        ("Aux", "reserves this name"),
        ("LPT1", "reserves this name"),
        ("com9.x.y", "reserves this name"),
        ("nul", "reserves this name"),
        ("A" * 300, "longer than 120 bytes"),
        ("李" * 41, "longer than 120 bytes"),
    ],
)
def test_id_that_file_names_cannot_hold_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_participant_id(text)
    message = str(caught.value)
    assert reason in message
    assert message.startswith("participant id ")
    assert len(message) < 200
    assert message.isprintable()


def test_composed_and_decomposed_letters_are_the_same_id() -> None:
    composed, decomposed = (unicodedata.normalize(form, "Zoë") for form in ("NFC", "NFD"))
    assert composed != decomposed
    assert check_participant_id(decomposed) == check_participant_id(composed) == composed


@given(st.text(max_size=140))
def test_id_that_is_accepted_makes_a_file_and_is_found_again(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    try:
        accepted = check_participant_id(text)
    except ConfigError:
        return
    folder = tmp_path_factory.mktemp("ids", numbered=True)
    path = log_path(folder, accepted, session=1, run=1)
    assert path.parent == folder
    write_log(path, n_trials=0, header={"participant_id": accepted})
    assert participant_logs(folder, accepted, session=1) == [path]
    assert read_log(path).header["participant_id"] == accepted


@pytest.mark.parametrize(("here", "new"), [("anna", "Anna"), ("ZOË", "Zoë"), ("P1", "p1")])
def test_id_that_differs_in_case_only_is_refused(tmp_path: Path, here: str, new: str) -> None:
    write_log(log_path(tmp_path, here, session=1, run=1))
    with pytest.raises(ConfigError, match=r"differs in upper and lower case only"):
        participant_logs(tmp_path, new, session=1)
    with pytest.raises(ConfigError, match=r"differs in upper and lower case only"):
        participant_logs(tmp_path, new, session=2)
    assert len(participant_logs(tmp_path, here, session=1)) == 1


def test_logs_of_a_session_are_its_own_runs_oldest_first(tmp_path: Path) -> None:
    for session, run in [(1, 2), (1, 1), (2, 1), (1, 10)]:
        write_log(log_path(tmp_path, "p1", session=session, run=run))
    for other in ("p10", "p", "xp1"):
        write_log(log_path(tmp_path, other, session=1, run=1))
    found = participant_logs(tmp_path, "p1", session=1)
    assert [p.name for p in found] == [f"sub-p1_ses-01_run-{r:02d}.jsonl" for r in (1, 2, 10)]
    assert participant_logs(tmp_path / "nowhere", "p1", session=1) == []


def test_logs_of_an_id_that_looks_like_a_run_are_not_anothers(tmp_path: Path) -> None:
    write_log(log_path(tmp_path, "p1_ses-01_run-x", session=1, run=1))
    assert participant_logs(tmp_path, "p1", session=1) == []


def test_hash_of_a_file_is_its_sha256(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    # FIPS 180-2, appendix B.1.
    assert file_sha256(tmp_path / "a") == (
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )


def test_records_hold_any_json_value_and_come_back(tmp_path: Path) -> None:
    value = {"a": [1, 2.5, None, True, '\u2028\r\n\t\\"'], "ü": {"x": -1e-300}}
    with TrialLog(tmp_path / "a.jsonl") as log:
        log.append("header", HEADER)
        log.append("trial", value)
    assert read_log(tmp_path / "a.jsonl").records[0]["a"] == value["a"]
    json.loads(lines_of(tmp_path / "a.jsonl")[1])


def test_header_that_lacks_what_a_run_is_known_by_is_refused(tmp_path: Path) -> None:
    with TrialLog(tmp_path / "a.jsonl") as log:
        log.append("header", {k: v for k, v in HEADER.items() if k not in {"seed", "run"}})
    with pytest.raises(LogError, match=r"line 1: the header lacks run, seed$"):
        read_log(tmp_path / "a.jsonl")
