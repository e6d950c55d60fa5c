"""Commands that run sessions: run, simulate, demo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ghostblitz_task.cli.app import Out, Seed, StudyFolder, app, progress


@app.command()
def run(
    study: StudyFolder,
    participant: Annotated[
        str | None,
        typer.Option("--participant", "-p", help="Participant id; without it, a dialogue asks."),
    ] = None,
    others: Annotated[
        list[str] | None,
        typer.Option("--with", help="Who plays along with keys of their own; once for each."),
    ] = None,
    session: Annotated[int, typer.Option(min=1, max=99, help="Session of this participant.")] = 1,
    resume: Annotated[
        bool, typer.Option("--resume", help="Take up a session that was not finished.")
    ] = False,
    seed: Seed = None,
    out: Out = None,
    apparatus: Annotated[
        Path | None, typer.Option(help="Apparatus settings of this machine (TOML).")
    ] = None,
    window: Annotated[
        bool, typer.Option("--window", help="A window instead of the whole screen.")
    ] = False,
    language: Annotated[str | None, typer.Option(help="Language of the screens.")] = None,
    robot: Annotated[
        bool,
        typer.Option(
            "--robot", hidden=True, help="Mark the run as a robot's; it is started elsewhere."
        ),
    ] = False,
) -> None:
    """Run a session of a study on this screen and keyboard."""
    from ghostblitz_task.running import RunRequest, ask_for_session, marker_failures, run_study

    if participant is None:
        asked = ask_for_session()
        if asked is None:
            raise typer.Exit(1)
        participant, session, resume = asked
    request = RunRequest(
        study=study,
        participant_id=participant,
        others=tuple(others or ()),
        dataset=out,
        session=session,
        seed=seed,
        resume=resume,
        source="robot" if robot else "human",
        apparatus=apparatus,
        windowed=window,
        language=language,
    )
    with progress("trials") as on_trial:
        path, outcome = run_study(
            request, on_trial=on_trial, say=lambda text: typer.echo(text, err=True)
        )
    typer.echo(f"{outcome.status} after {outcome.n_trials} {outcome.unit}")
    for failure in marker_failures(path):
        typer.echo(failure, err=True)
    typer.echo(f"log: {path}")


@app.command()
def simulate(
    study: StudyFolder,
    out: Annotated[Path, typer.Option("--out", help="Folder of the data set to make.")],
    participants: Annotated[int, typer.Option(min=1, max=100_000, help="How many.")] = 40,
    seed: Seed = 1,
    model: Annotated[
        str | None,
        typer.Option(
            help="Who answers: ex-gaussian (captain: forgetting), guessing or perfect; the first "
            "by default."
        ),
    ] = None,
) -> None:
    """Run simulated participants through a study, on a virtual clock; the data say so."""
    from ghostblitz_task.studies import open_study, simulate_study

    with progress("simulated participants") as on_participant:
        paths = simulate_study(
            open_study(study),
            out,
            n_participants=participants,
            seed=1 if seed is None else seed,
            model=model,
            on_participant=on_participant,
        )
    sessions = "session" if len(paths) == 1 else "sessions"
    typer.echo(f"{len(paths)} simulated {sessions} in {out}")


@app.command()
def demo(
    human: Annotated[bool, typer.Option("--human", help="You play, instead of the robot.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder of the data set; default data/demo-N.")
    ] = None,
) -> None:
    """Play a short grab-or-shout session (the robot does, or you), analyse it and report."""
    from ghostblitz_task.demo import run_demo

    run_demo(human=human, dataset=out, say=typer.echo)
