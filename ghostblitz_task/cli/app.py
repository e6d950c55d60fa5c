"""The `ghostblitz` command itself: its options, and how it ends when something is wrong."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["GameName", "Out", "Seed", "StudyFolder", "analysis_extra", "app", "main", "progress"]

app = typer.Typer(
    name="ghostblitz",
    help="Reaction-time tasks of the Ghost Blitz family: run, simulate, analyse.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

GameName = Annotated[str, typer.Option("--game", help="Name of the game.")]
StudyFolder = Annotated[Path, typer.Argument(help="Folder of the study (holds study.toml).")]
Seed = Annotated[int | None, typer.Option(min=0, help="Seed; the same seed, the same result.")]
Out = Annotated[Path | None, typer.Option("--out", help="Where the result goes.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        from ghostblitz_task import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def ghostblitz(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Reaction-time tasks of the Ghost Blitz family: run, simulate, analyse."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit; an error of the user's is one line and status 2."""
    from ghostblitz_task.errors import GhostBlitzError

    try:
        try:
            app(args=list(arguments) if arguments is not None else None)
        finally:
            # Here, where it can still be said in words, not when the interpreter ends.
            sys.stdout.flush()
    except GhostBlitzError as error:
        typer.echo("ghostblitz: " + " ".join(str(error).split()), err=True)
        sys.exit(2)
    except BrokenPipeError:
        _drop_output()  # Its reader went away, as `head` does.
        sys.exit(1)
    except OSError as error:
        # Files of ours are opened where their errors are named; this is standard input or output.
        _drop_output()
        typer.echo(f"ghostblitz: {error.strerror or error}", err=True)
        sys.exit(2)


def _drop_output() -> None:
    """Let what is still to be written to standard output go, so that it cannot fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar on a terminal; it is only drawn when told, between trials."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, auto_refresh=False, transient=False) as progress:
        task = progress.add_task(what, total=None, visible=False)

        def show(done: int, planned: int) -> None:
            progress.update(task, completed=done, total=planned, visible=True, refresh=True)

        yield show


@contextmanager
def analysis_extra() -> Iterator[None]:
    """Say in one line that a command needs the analysis, where that is not installed."""
    from ghostblitz_task.errors import ConfigError

    try:
        yield
    except ImportError as error:
        raise ConfigError(
            f"the analysis is not installed ({error}); install ghostblitz[analysis]"
        ) from error
