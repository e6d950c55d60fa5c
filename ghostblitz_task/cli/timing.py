"""The command that tests a machine before a study: timing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ghostblitz_task.cli.app import StudyFolder, app

if TYPE_CHECKING:
    from ghostblitz_task.timing.self_test import SelfTest

_SECONDS = 60.0
_TAPS = 30
_MARKS = {"pass": "pass", "warn": "WARN", "fail": "FAIL", "not_measured": "not measured"}


@app.command()
def timing(
    study: StudyFolder,
    out: Annotated[
        Path | None, typer.Option("--out", help="Data set to keep it with; default data/<study>.")
    ] = None,
    apparatus: Annotated[
        Path | None, typer.Option(help="Apparatus settings of this machine (TOML).")
    ] = None,
    window: Annotated[
        bool, typer.Option("--window", help="A window instead of the whole screen.")
    ] = False,
    seconds: Annotated[
        float, typer.Option("--seconds", help="How long flips are timed; 60 s can pass.")
    ] = _SECONDS,
    taps: Annotated[
        int, typer.Option("--taps", help="How many key presses are injected, on X displays.")
    ] = _TAPS,
    no_keys: Annotated[
        bool, typer.Option("--no-keys", help="Inject no keys into the display.")
    ] = False,
) -> None:
    """Test this machine's timing with a study, before people take part in it.

    On X displays real key presses are injected, so leave the machine alone meanwhile. Ends with
    status 0 if every check passes or warns, with 1 if one fails, with 2 if the test could not be
    made. The record stays with the study's data set, and sessions quote it.
    """
    from ghostblitz_task.apparatus_settings import load_apparatus
    from ghostblitz_task.running import open_window, stop_signals
    from ghostblitz_task.studies import begin_dataset, open_study
    from ghostblitz_task.timing.self_test import SelfTestRequest, run_self_test

    request = SelfTestRequest(seconds=seconds, n_taps=0 if no_keys else taps)
    opened = open_study(study)
    settings = load_apparatus(opened.folder, apparatus)
    if window:
        settings = settings.model_copy(update={"fullscreen": False})
    dataset = out or Path("data") / opened.settings.study.id
    begin_dataset(opened, dataset)
    with stop_signals() as stop_requested:
        test = run_self_test(
            opened,
            dataset,
            settings=settings,
            request=request,
            open_apparatus=lambda: open_window(opened, settings),
            stop_requested=stop_requested,
            say=lambda text: typer.echo(text, err=True),
        )
    typer.echo(_in_words(test))
    _draw(test)
    if test.verdict == "fail":
        raise typer.Exit(1)


def _in_words(test: SelfTest) -> str:
    lines = []
    width = max(len(check.name) for check in test.checks)
    for check in test.checks:
        lines.append(f"{_MARKS[check.verdict]:<12}  {check.name:<{width}}  {check.value}".rstrip())
        if check.verdict != "pass":
            indent = " " * 14
            lines.append(f"{indent}{check.reason}")
            lines += [f"{indent}-> {check.advice}"] if check.advice else []
    methods: str = test.document["methods"]
    return "\n".join(
        [*lines, "", f"Overall: {_MARKS[test.verdict]}", "", "For a Methods section:", methods, ""]
    )


def _draw(test: SelfTest) -> None:
    """Say where the files are; without the analysis there are no plots."""
    typer.echo(f"record: {test.path}")
    try:
        from ghostblitz_analysis.timing_report import write_timing_page
    except ImportError as error:
        typer.echo(f"plots were left out: the analysis is not installed ({error})")
        return
    typer.echo(f"page:   {write_timing_page(test.path)}")
