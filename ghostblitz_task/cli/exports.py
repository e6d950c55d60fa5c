"""Commands about data sets for others: export, verify."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ghostblitz_task.cli.app import analysis_extra, app


@app.command()
def export(
    dataset: Annotated[Path, typer.Argument(help="Folder of a data set.")],
    format_: Annotated[
        str, typer.Option("--format", help="bids, psych-ds, frictionless, csv, parquet, …")
    ] = "",
    out: Annotated[
        Path | None, typer.Option("--out", help="A folder that is not there yet.")
    ] = None,
    share: Annotated[
        bool, typer.Option("--share", help="De-identify: random codes, no dates, no machines.")
    ] = False,
    key: Annotated[
        Path | None,
        typer.Option("--key", help="With --share: the file that says whose each code is."),
    ] = None,
    zip_: Annotated[bool, typer.Option("--zip", help="Pack it for OSF or Zenodo, too.")] = False,
    store: Annotated[
        Path | None,
        typer.Option("--store", help="Add what is new to a Parquet store, instead of --out."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; list what a reviewer would miss.")
    ] = False,
) -> None:
    """Export a data set for a journal, a repository, or another program."""
    with analysis_extra():
        from ghostblitz_analysis.export import (
            NotPackedError,
            export_dataset,
            export_text,
            load_source,
            review_export,
            review_text,
            store_text,
            update_store,
        )

    from ghostblitz_task.errors import ConfigError

    if check:
        if out or store or share or zip_ or format_:
            raise ConfigError("--check writes nothing; give it alone")
        typer.echo(review_text(review_export(load_source(dataset))))
    elif store is not None:
        if out or share or zip_ or format_ not in ("", "parquet"):
            raise ConfigError("--store takes a data set into a Parquet store; give it alone")
        typer.echo(store_text(update_store(dataset, store)))
    else:
        if not format_ or out is None:
            raise ConfigError("give --format and --out (or --check, or --store)")
        if key is not None and not share:
            raise ConfigError("--key is the key of --share; give both")
        try:
            result = export_dataset(
                dataset, out=out, format_name=format_, share=share, key=key, zipped=zip_
            )
        except NotPackedError as error:
            typer.echo(export_text(error.result))  # Where the key is must be said all the same.
            raise
        typer.echo(export_text(result))


@app.command()
def verify(
    path: Annotated[Path, typer.Argument(help="Folder of an export, or its zip file.")],
) -> None:
    """Compare every file of an export with the sums that it was written with.

    Exit status 1 if any was changed, added or taken away, or if BIDS tables hold what cannot be.
    """
    with analysis_extra():
        from ghostblitz_analysis.export import verify_export, verify_text

    found = verify_export(path)
    typer.echo(verify_text(path, found))
    raise typer.Exit(1 if found else 0)
