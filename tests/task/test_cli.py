"""The command as users call it: what it prints, how it ends, and that errors are one line."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
import rich.progress  # noqa: F401

# Imported here, since the commands import late and a module they import draws random numbers.
from ghostblitz_task.cli import main

ROOT = Path(__file__).parent.parent.parent
STUDY = ROOT / "experiments" / "grab-or-shout"


@dataclass
class Done:
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


def ghostblitz(*arguments: object, stdin: str = "") -> Done:
    """Run the command in this process, with streams of its own."""
    streams = [
        io.TextIOWrapper(io.BytesIO(data), encoding="utf-8") for data in (stdin.encode(), b"", b"")
    ]
    before = sys.stdin, sys.stdout, sys.stderr
    sys.stdin, sys.stdout, sys.stderr = streams
    try:
        main([str(a) for a in arguments])
        code = 0
    except SystemExit as ended:
        code = int(ended.code or 0)
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
    written = []
    for stream in streams[1:]:
        stream.flush()
        written.append(stream.buffer.getvalue().decode())
    return Done(code, *written)


def assert_one_clear_line(done: Done, *words: str) -> None:
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr.startswith("ghostblitz: ")
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr


# --- solve -------------------------------------------------------------------------------------


def test_solve_prints_one_object():
    done = ghostblitz("solve", "--game", "grab-or-shout", "--card", "book:red ghost:green")
    assert done.returncode == 0
    assert json.loads(done.stdout) == {
        "card": "book:red ghost:green",
        "rule": "exclusion",
        "mode": "shout",
        "answer": "mouse",
        "answer_kind": "item",
        "target": "mouse",
    }


def test_solve_of_an_illegal_card_prints_its_code_and_ends_with_1():
    done = ghostblitz("solve", "--game", "classic", "--card", "ghost:pink mouse:red")
    assert done.returncode == 1
    result = json.loads(done.stdout)
    assert (result["card"], result["error"]) == ("ghost:pink mouse:red", "unknown_colour")
    assert set(result) == {"card", "error", "message"}


def test_solve_reads_one_card_per_line():
    done = ghostblitz(
        "solve", "--game", "classic", stdin="book:red ghost:white\r\n\nchair:red mouse:green\n"
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1
    assert [r.get("answer", r.get("error")) for r in rows] == ["ghost", "malformed", "chair"]


def test_solve_reads_objects():
    lines = [
        {"game": "classic", "card": "book:red ghost:white"},
        {"game": "grab-or-shout", "card": "book:red ghost:white", "rules": [], "hat_over": None},
    ]
    done = ghostblitz("solve", "--jsonl-in", stdin="\n".join(map(json.dumps, lines)))
    assert done.returncode == 0
    assert [json.loads(line)["mode"] for line in done.stdout.splitlines()] == ["grab", "shout"]


@pytest.mark.parametrize(
    "line",
    [
        "no json",
        "[]",
        "{}",
        '{"game": "classic", "card": 5}',
        '{"game": "nope", "card": "book:red ghost:white"}',
        '{"game": "classic", "card": "book:red ghost:white", "rules": "x"}',
        '{"game": "classic", "card": "book:red ghost:white", "rules": ["owl"]}',
        '{"game": "classic", "card": "book:red ghost:white", "hat_over": "mouse"}',
        '{"game": "classic", "card": "book:red ghost:white", "rules": 0}',
        '{"game": "classic", "card": NaN}',
        '{"game": "classic", "card": 1e999}',
        '{"game": "classic", "card": "\\ud800:white ghost:red"}',
        "[" * 100_000,
        '{"card":' * 100_000,
        "null",
    ],
)
def test_solve_of_an_impossible_request_is_an_error_object(line):
    done = ghostblitz("solve", "--jsonl-in", stdin=line + "\n")
    assert done.returncode == 1
    result = json.loads(done.stdout, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert result["error"] in {"malformed", "unknown_item"}
    assert result["message"]


def test_solve_uses_a_studys_own_mapping(tmp_path):
    text = (ROOT / "experiments" / "classic-grab" / "study.toml").read_text()
    text = text.replace(
        'name = "classic"',
        'name = "classic"\nitem_colours = { ghost = "red", chair = "white", bottle = "green", '
        'book = "blue", mouse = "grey" }',
    )
    (tmp_path / "study.toml").write_text(text)
    done = ghostblitz("solve", "--study", tmp_path, "--card", "book:green ghost:red")
    assert json.loads(done.stdout)["answer"] == "ghost"


@pytest.mark.slow
def test_solve_takes_100_000_cards_within_a_few_seconds():
    cards = ghostblitz("deck", "--game", "classic", "--legal").stdout.splitlines()[1:]
    texts = [line.split(",")[0] for line in cards]
    many = "\n".join(texts[i % len(texts)] for i in range(100_000)) + "\n"
    began_s = time.monotonic()
    done = ghostblitz("solve", "--game", "classic", stdin=many)
    assert done.stdout.count("\n") == 100_000
    # Far above what it takes; only a change of kind (seconds to minutes) is caught here.
    assert time.monotonic() - began_s < 15


@pytest.mark.slow
def test_solve_ends_quietly_when_its_reader_goes_away():
    command = f"yes 'book:red ghost:white' | {sys.executable} -m ghostblitz_task.cli"
    done = subprocess.run(
        ["bash", "-c", f"{command} solve --game classic | head -n 1"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        timeout=60,
    )
    assert json.loads(done.stdout)["answer"] == "ghost"
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["solve"], ["--game is missing", "classic"]),
        (["solve", "--game", "clasic", "--card", "x"], ["did you mean classic?"]),
        (["solve", "--game", "classic", "--rules", "owl", "--card", "x"], ["owl"]),
        (["solve", "--jsonl-in", "--game", "classic"], ["--jsonl-in"]),
        (["deck", "--game", "classic", "--legal", "--balanced"], ["not both"]),
        (["deck", "--game", "classic", "--format", "xls"], ["no format"]),
        (["deck", "--game", "classic", "--format", "png"], ["--out"]),
        (["design", "nowhere"], ["no study"]),
        (["run", "nowhere", "-p", "x"], ["no study"]),
        (["run", STUDY, "-p", "../x"], ["participant id"]),
        (["run", STUDY, "-p", ""], ["it is empty"]),
        (["run", STUDY, "-p", "x", "--language", "fr"], ["de, en"]),
        (["run", STUDY, "-p", "x", "--apparatus", "nowhere.toml"], ["nowhere.toml"]),
        (["run", STUDY, "-p", "nobody", "--resume"], ["no session 1"]),
        (["simulate", STUDY, "--out", "x", "--model", "perfekt"], ["did you mean perfect?"]),
        (["analyze", "nowhere", "--out", "x"], ["nowhere"]),
        (["import", "nowhere.csv", "--mapping", "nowhere.toml", "--out", "x"], ["nowhere"]),
    ],
)
def test_error_is_one_line_and_status_2(arguments, words, tmp_path, monkeypatch):
    arguments = [
        STUDY if a == STUDY else (tmp_path / a if str(a).startswith("nowhere") else a)
        for a in arguments
    ]
    monkeypatch.chdir(tmp_path)
    assert_one_clear_line(ghostblitz(*arguments), *words)


# --- decks and designs -------------------------------------------------------------------------


def test_deck_is_csv_with_one_row_per_card_and_repeats_with_its_seed():
    done = ghostblitz("deck", "--game", "grab-or-shout", "--seed", 4)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert len(rows) == 60
    assert sum(r["mode"] == "shout" for r in rows) == 24
    assert ghostblitz("deck", "--game", "grab-or-shout", "--seed", 4).stdout == done.stdout
    assert ghostblitz("deck", "--game", "grab-or-shout", "--seed", 5).stdout != done.stdout


@pytest.mark.parametrize(("option", "n_direct"), [("--legal", 60), ("--balanced", 30)])
def test_deck_kinds_as_json_lines(option, n_direct):
    done = ghostblitz("deck", "--game", "classic", option, "--format", "jsonl")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert sum(r["rule"] == "direct" for r in rows) == n_direct


@pytest.mark.slow
@pytest.mark.parametrize(("name", "magic"), [("d.png", b"\x89PNG"), ("d.pdf", b"%PDF")])
def test_deck_is_drawn_and_never_written_over(tmp_path, name, magic):
    done = ghostblitz("deck", "--game", "classic", "--out", tmp_path / name)
    assert done.returncode == 0, done.stderr
    made = sorted(tmp_path.iterdir())
    assert made
    assert all(path.read_bytes().startswith(magic) for path in made)
    again = ghostblitz("deck", "--game", "classic", "--out", tmp_path / name)
    assert_one_clear_line(again, "exists already")


def test_design_reports_each_block_and_lists_the_trials():
    blocks = [json.loads(r) for r in ghostblitz("design", STUDY).stdout.splitlines()]
    assert [b["label"] for b in blocks] == [
        "practice",
        "direct",
        "exclusion",
        "mixed-1",
        "mixed-2",
    ]
    trials = ghostblitz("design", STUDY, "--trials").stdout.splitlines()
    assert len(trials) == sum(b["n_trials"] for b in blocks)


# --- sessions without a screen -----------------------------------------------------------------


@pytest.mark.slow
def test_simulate_writes_labelled_sessions_and_repeats_with_its_seed(tmp_path):
    for folder in ("a", "b"):
        done = ghostblitz("simulate", STUDY, "--participants", 2, "--out", tmp_path / folder)
        assert done.returncode == 0, done.stderr
    logs = sorted((tmp_path / "a" / "logs").glob("*.jsonl"))
    assert len(logs) == 2
    for log in logs:
        assert json.loads(log.read_text().splitlines()[0])["source"] == "simulated"
        assert log.read_bytes() == (tmp_path / "b" / "logs" / log.name).read_bytes()
    again = ghostblitz("simulate", STUDY, "--participants", 2, "--out", tmp_path / "a")
    assert_one_clear_line(again, "already")


@pytest.mark.slow
def test_run_without_a_display_is_one_clear_line(tmp_path):
    environment = {k: v for k, v in os.environ.items() if k not in {"DISPLAY", "WAYLAND_DISPLAY"}}
    done = subprocess.run(
        [sys.executable, "-m", "ghostblitz_task.cli", "run", str(STUDY), "-p", "x"],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 2
    assert "display" in done.stderr
    assert "Traceback" not in done.stderr
    assert list((tmp_path / "data").rglob("*.jsonl")) == []


def test_data_of_another_study_are_not_mixed_in(tmp_path):
    out = tmp_path / "data"
    assert ghostblitz("simulate", STUDY, "--participants", 1, "--out", out).returncode == 0
    other = ghostblitz(
        "simulate", ROOT / "experiments" / "classic-grab", "--participants", 1, "--out", out
    )
    assert_one_clear_line(other, "holds study grab-or-shout")


def test_help_comes_without_loading_what_it_does_not_need():
    code = (
        "import sys; from ghostblitz_task.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'pandas', 'pydantic', 'psychopy', 'scipy', 'matplotlib'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_version_is_printed():
    from ghostblitz_task import __version__

    assert ghostblitz("--version").stdout.strip() == __version__


@pytest.mark.slow
def test_output_that_cannot_be_written_is_one_line():
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m ghostblitz_task.cli deck --game classic > /dev/full"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert (done.returncode, done.stderr) == (2, "ghostblitz: No space left on device\n")


def test_what_cannot_be_met_leaves_no_data_set_behind(tmp_path):
    text = (STUDY / "study.toml").read_text()
    text = text.replace("target_repetition_rate = 0.1", "target_repetition_rate = 0.9")
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "study.toml").write_text(text)
    for command in (["simulate"], ["run", "-p", "x"]):
        done = ghostblitz(*command, tmp_path / "study", "--out", tmp_path / "data")
        assert_one_clear_line(done, "target_repetition_rate")
        assert not (tmp_path / "data").exists()


def test_study_without_exclusion_blocks_does_not_explain_exclusion(tmp_path):
    text = (ROOT / "experiments" / "classic-grab" / "study.toml").read_text()
    text = text.replace('type = "mixed"', 'type = "direct"').replace(
        'type = "exclusion"', 'type = "direct"'
    )
    (tmp_path / "study.toml").write_text(text)
    from ghostblitz_task.studies import open_study

    shown = [screen.name for screen in open_study(tmp_path).screens.instructions()]
    assert (
        len(shown)
        == len(list(open_study(STUDY.parent / "classic-grab").screens.instructions())) - 1
    )


@pytest.mark.parametrize("size", ["[0, 0]", "[-5, 100]", "[1280, 0]"])
def test_window_without_a_size_is_refused(tmp_path, size):
    (tmp_path / "apparatus.toml").write_text(f"window_px = {size}\n")
    done = ghostblitz("run", STUDY, "-p", "x", "--apparatus", tmp_path / "apparatus.toml")
    assert_one_clear_line(done, "window_px")
