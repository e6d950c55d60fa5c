"""Commands about data: analyze, multiverse, import."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ghostblitz_task.cli.app import analysis_extra, app, progress


@app.command()
def analyze(
    dataset: Annotated[Path, typer.Argument(help="Folder of logs, or an imported data set.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for report, tables and figures.")],
) -> None:
    """Analyse a data set: RT and errors per rule, or memory, as report, tables and figures."""
    with analysis_extra():
        from ghostblitz_analysis.captain.dataset import holds_captain_logs
        from ghostblitz_analysis.captain.pipeline import analyze_captain, captain_summary
        from ghostblitz_analysis.pipeline import analyze_dataset
        from ghostblitz_analysis.summary import summary_text

    if holds_captain_logs(dataset):
        typer.echo(captain_summary(analyze_captain(dataset, out=out)))
    else:
        with progress("parts of the analysis") as show:
            result = analyze_dataset(
                dataset, out=out, on_progress=lambda _stage, done, total: show(done, total)
            )
        typer.echo(summary_text(result))


def _print_grid(wanted: bool) -> None:
    if wanted:
        with analysis_extra():
            from ghostblitz_analysis.multiverse.grid import MultiverseGrid, grid_toml

        typer.echo(grid_toml(MultiverseGrid()), nl=False)
        raise typer.Exit


@app.command()
def multiverse(
    dataset: Annotated[Path, typer.Argument(help="Folder of logs, or an imported data set.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for page, tables and figures.")],
    grid: Annotated[
        Path | None, typer.Option("--grid", help="The alternatives (TOML); a default grid without.")
    ] = None,
    show_grid: Annotated[
        bool,
        typer.Option(
            "--show-grid", callback=_print_grid, is_eager=True, help="Print the default grid."
        ),
    ] = False,
) -> None:
    """Test the planned contrasts under a grid of exclusions, measures and models."""
    with analysis_extra():
        from ghostblitz_analysis.captain.dataset import holds_captain_logs
        from ghostblitz_analysis.multiverse import (
            MultiverseGrid,
            multiverse_of_dataset,
            multiverse_text,
        )

    from ghostblitz_task.errors import DatasetError
    from ghostblitz_task.settings_files import load_settings

    if holds_captain_logs(dataset):
        raise DatasetError(
            f"{dataset} holds games of the captain's deck, whose measures are no RTs; a multiverse "
            "is of the other games' RTs"
        )
    chosen = load_settings(grid, MultiverseGrid) if grid else MultiverseGrid()
    with progress("exclusions and models") as on_progress:
        result = multiverse_of_dataset(dataset, out=out, grid=chosen, on_progress=on_progress)
    typer.echo(multiverse_text(result))


@app.command("import")
def import_(
    source: Annotated[
        Path, typer.Argument(help="A trial table of somebody else's, or an export of ours.")
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder of the data set to make.")],
    mapping: Annotated[
        Path | None, typer.Option("--mapping", help="How to read a table (TOML).")
    ] = None,
) -> None:
    """Bring a trial table with other names and units into our format, or an export back."""
    with analysis_extra():
        from ghostblitz_analysis.export import import_export, is_export
        from ghostblitz_analysis.importing import import_table, import_text

    from ghostblitz_task.errors import ConfigError

    if mapping is not None:
        typer.echo(import_text(import_table(source, mapping=mapping, out=out)))
    elif is_export(source):
        back = import_export(source, out=out)
        typer.echo(f"{back.n_rows} rows in {back.n_files} files, as they were exported: {back.out}")
    else:
        raise ConfigError(
            f"{source} is no export of ours, so --mapping must say how to read it "
            "(docs/importing.md)"
        )
