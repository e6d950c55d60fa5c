"""Notebooks: they run, they define nothing, and what they show is what a fresh run shows.

Run as a script, it writes the outputs of a fresh run into the notebooks::

    .venv/bin/python tests/test_notebooks.py
"""

from __future__ import annotations

import ast
import base64
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

MAX_BYTES = 1_000_000
PNG = b"\x89PNG\r\n\x1a\n"
# In a process of its own: the client's event loop and sockets are no matter of the other tests.
RUN = """
import sys
import nbformat
from nbclient import NotebookClient

source, target, folder = sys.argv[1:]
notebook = nbformat.read(source, as_version=4)
client = NotebookClient(
    notebook,
    timeout=300,
    kernel_name="python3",
    record_timing=False,
    resources={"metadata": {"path": folder}},
)
client.execute()
nbformat.write(notebook, target)
"""


def run_afresh(path: Path, folder: Path) -> Any:
    """Execute a copy in a new kernel whose working directory is `folder`, and return it."""
    blank, done = folder / f"blank-{path.name}", folder / f"run-{path.name}"
    notebook = nbformat.read(path, as_version=4)
    for cell in code_cells(notebook):
        cell.outputs, cell.execution_count = [], None
    nbformat.write(notebook, blank)
    # This environment's kernel, without the user's start-up files or plotting back end.
    environment = {k: v for k, v in os.environ.items() if k != "MPLBACKEND"}
    environment |= {"JUPYTER_PREFER_ENV_PATH": "1", "IPYTHONDIR": str(folder / "ipython")}
    ran = subprocess.run(
        [sys.executable, "-c", RUN, str(blank), str(done), str(folder)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ran.returncode == 0, f"{path.name} does not run:\n{ran.stderr[-4000:]}"
    return nbformat.read(done, as_version=4)


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def shown_by(cell: Any) -> list[tuple[str, Any]]:
    """Return what a cell shows: streams in one piece, other text as it is, pictures by kind."""
    streams: dict[str, str] = {}
    others: list[tuple[str, Any]] = []
    for output in cell.outputs:
        if output.output_type == "stream":
            streams[output.name] = streams.get(output.name, "") + output.text
        elif output.output_type == "error":
            others.append(("error", output.ename))
        else:
            data = {k: v if k.startswith("text/") else "" for k, v in output.data.items()}
            others.append((output.output_type, data))
    return [*sorted(streams.items()), *others]


@pytest.fixture(params=NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def path(request: pytest.FixtureRequest) -> Path:
    return request.param


@pytest.fixture
def stored(path: Path) -> Any:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@pytest.mark.slow
def test_notebook_runs_anywhere_and_shows_what_is_stored(
    path: Path, stored: Any, tmp_path: Path
) -> None:
    fresh = run_afresh(path, tmp_path)
    for before, after in zip(code_cells(stored), code_cells(fresh), strict=True):
        assert shown_by(before) == shown_by(after), (
            f"{path.name}, cell {before.id}: stored outputs are not those of a fresh run; "
            "look at the difference, then run python tests/test_notebooks.py"
        )


def test_notebook_defines_no_function(path: Path, stored: Any) -> None:
    defining = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
    for cell in code_cells(stored):
        found = [n for n in ast.walk(ast.parse(cell.source)) if isinstance(n, defining)]
        assert not found, (
            f"{path.name}, cell {cell.id}, line {found[0].lineno}: belongs to the library"
        )


def test_notebook_was_run_in_order_without_error_or_warning(path: Path, stored: Any) -> None:
    cells = code_cells(stored)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    for cell in cells:
        kinds = {kind for kind, _ in shown_by(cell)}
        assert not kinds & {"error", "stderr"}, f"{path.name}, cell {cell.id}"


def test_cells_that_print_or_plot_have_their_outputs_stored(path: Path, stored: Any) -> None:
    for cell in code_cells(stored):
        calls = {ast.unparse(n.func) for n in ast.walk(ast.parse(cell.source))
                 if isinstance(n, ast.Call)}  # fmt: skip
        kinds = [kind for kind, _ in shown_by(cell)]
        pictures = [o.data["image/png"] for o in cell.outputs if "image/png" in o.get("data", {})]
        where = f"{path.name}, cell {cell.id}"
        assert "print" not in calls or "stdout" in kinds, where
        assert "display" not in calls or "display_data" in kinds, where
        assert "plt.show" not in calls or pictures, where
        for picture in pictures:
            assert base64.b64decode(picture).startswith(PNG), where


def test_notebook_is_small_and_carries_nothing_of_the_machine(path: Path, stored: Any) -> None:
    assert path.stat().st_size < MAX_BYTES
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    assert stored.metadata == {"kernelspec": kernel, "language_info": {"name": "python"}}
    for cell in stored.cells:
        assert cell.metadata == {}, f"{path.name}, cell {cell.id}"
        text = cell.source + repr(shown_by(cell) if cell.cell_type == "code" else "")
        found = re.search(r"/(home|root|tmp|work|Users)/|[A-Z]:\\|site-packages", text)
        assert not found, f"{path.name}, cell {cell.id}: {found}"


def write_outputs(path: Path) -> None:
    """Store the outputs of a fresh run, and nothing of the machine that ran it."""
    with tempfile.TemporaryDirectory() as folder:
        notebook = run_afresh(path, Path(folder))
    notebook.metadata.language_info = {"name": "python"}
    for cell in notebook.cells:
        cell.metadata = {}
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for each in NOTEBOOKS:
        write_outputs(each)
