"""Commands about data: analyze, import."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from ghostblitz_task.cli.app import app


@app.command()
def analyze(
    dataset: Annotated[Path, typer.Argument(help="Folder of logs, or an imported data set.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for report, tables and figures.")],
) -> None:
    """Analyse a data set: RT and errors per rule, or memory, as report, tables and figures."""
    with _analysis_extra():
        from ghostblitz_analysis.captain.dataset import holds_captain_logs
        from ghostblitz_analysis.captain.pipeline import analyze_captain, captain_summary
        from ghostblitz_analysis.pipeline import analyze_dataset
        from ghostblitz_analysis.summary import summary_text

    if holds_captain_logs(dataset):
        typer.echo(captain_summary(analyze_captain(dataset, out=out)))
    else:
        typer.echo(summary_text(analyze_dataset(dataset, out=out)))


@app.command("import")
def import_(
    source: Annotated[Path, typer.Argument(help="A trial table of somebody else's.")],
    mapping: Annotated[Path, typer.Option("--mapping", help="How to read it (TOML).")],
    out: Annotated[Path, typer.Option("--out", help="Folder of the data set to make.")],
) -> None:
    """Bring a trial table with other names and units into our format."""
    with _analysis_extra():
        from ghostblitz_analysis.importing import import_table, import_text

    typer.echo(import_text(import_table(source, mapping=mapping, out=out)))


@contextmanager
def _analysis_extra() -> Iterator[None]:
    from ghostblitz_task.errors import ConfigError

    try:
        yield
    except ImportError as error:
        raise ConfigError(
            f"the analysis is not installed ({error}); install ghostblitz[analysis]"
        ) from error
