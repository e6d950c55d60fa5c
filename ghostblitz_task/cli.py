"""The `ghostblitz` command; it imports what a command needs when it runs, and catches errors."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ghostblitz_task.deck import Deck
    from ghostblitz_task.games import Game

__all__ = ["app", "main"]

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


# --- cards and decks ---------------------------------------------------------------------------


@app.command()
def solve(
    game: GameName = "",
    rules: Annotated[str, typer.Option(help="Additional rules in play, R,R.")] = "",
    hat_over: Annotated[
        str | None, typer.Option(help="The item under the hat, in games with one.")
    ] = None,
    card: Annotated[str | None, typer.Option(help="One card, as in 'book:red ghost:blue'.")] = None,
    study: Annotated[
        Path | None, typer.Option(help="Solve by a study's own items and colours.")
    ] = None,
    jsonl_in: Annotated[
        bool, typer.Option("--jsonl-in", help="Read objects with game, card, rules, hat_over.")
    ] = False,
) -> None:
    """Print the answer to a card, or to one card per line of standard input, as JSON.

    Exit status 1 if any card is illegal.
    """
    from ghostblitz_task.errors import ConfigError
    from ghostblitz_task.solving import solve_lines, solve_objects

    if jsonl_in:
        if game or rules or hat_over is not None or card is not None or study is not None:
            raise ConfigError("with --jsonl-in, each line says its game, card, rules and hat_over")
        results = solve_objects(_stdin_lines())
    else:
        chosen = _game(game, rules=rules, study=study)
        lines: Iterable[str] = [card] if card is not None else _stdin_lines()
        results = solve_lines(lines, chosen, hat_over=hat_over)
    any_illegal = False
    for result in results:
        any_illegal = any_illegal or '"error": ' in result
        # As bytes: JSON is UTF-8 whatever the terminal; a half character becomes its JSON escape.
        sys.stdout.buffer.write(result.encode("utf-8", errors="backslashreplace") + b"\n")
    sys.stdout.flush()
    raise typer.Exit(1 if any_illegal else 0)


def _stdin_lines() -> Iterator[str]:
    from ghostblitz_task.errors import ConfigError

    if sys.stdin is None:
        raise ConfigError("standard input is closed; give --card, or cards on standard input")
    encoding = "utf-8-sig"
    for line in sys.stdin.buffer:
        yield line.decode(encoding, errors="replace")
        encoding = "utf-8"


def _game(name: str, *, rules: str = "", study: Path | None = None) -> Game:
    from ghostblitz_task.config import load_study
    from ghostblitz_task.errors import ConfigError
    from ghostblitz_task.games import GameSettings, available_games, make_game

    if study is not None:
        if name or rules:
            raise ConfigError("--study says the game and its rules; leave --game and --rules out")
        return load_study(study).make_game()
    if not name:
        raise ConfigError(f"--game is missing; there are {', '.join(available_games())}")
    wanted = frozenset(part.strip() for part in rules.split(",") if part.strip())
    return make_game(GameSettings(name, rules=wanted))


@app.command()
def deck(
    game: GameName = "",
    seed: Seed = 0,
    legal: Annotated[bool, typer.Option("--legal", help="Every legal card once.")] = False,
    balanced: Annotated[
        bool, typer.Option("--balanced", help="Direct and exclusion cards equally often.")
    ] = False,
    study: Annotated[
        Path | None, typer.Option(help="The deck of a study, with its own items and cards.")
    ] = None,
    format_: Annotated[
        str | None, typer.Option("--format", help="csv, jsonl, png or pdf; else from --out.")
    ] = None,
    palette: Annotated[str, typer.Option(help="Colours of the drawn cards.")] = "standard",
    out: Out = None,
) -> None:
    """Build a deck: as CSV or JSON Lines, or drawn as a contact sheet (PNG, PDF).

    Pictures stand in alphabetical order; `design` is what balances their places.
    """
    from ghostblitz_task.errors import ConfigError
    from ghostblitz_task.tables import deck_format, deck_text, write_contact_sheets

    if legal and balanced:
        raise ConfigError("give --legal or --balanced, not both")
    built = _deck(game, seed=seed or 0, kind=_deck_kind(legal, balanced), study=study)
    kind = deck_format(format_, out)
    if kind in {"png", "pdf"}:
        if out is None:
            raise ConfigError(f"a {kind} goes into a file; give --out NAME.{kind}")
        write_contact_sheets(built, out, palette=palette)
    elif out is None:
        sys.stdout.write(deck_text(built, kind))
    else:
        _write_new(out, deck_text(built, kind))


def _deck_kind(legal: bool, balanced: bool) -> str | None:
    return "legal" if legal else "balanced" if balanced else None


def _deck(name: str, *, seed: int, kind: str | None, study: Path | None) -> Deck:
    from ghostblitz_task.config import load_study
    from ghostblitz_task.deck import build_deck
    from ghostblitz_task.design import study_deck
    from ghostblitz_task.seeds import rng_for

    rng = rng_for(seed, "deck")
    game = _game(name, study=study)
    if study is not None and kind is None:
        return study_deck(load_study(study), game, rng)
    return build_deck(game, kind=kind or "standard", rng=rng)


def _write_new(path: Path, text: str) -> None:
    from ghostblitz_task.errors import ConfigError

    try:
        with open(path, "x", encoding="utf-8", newline="") as file:
            file.write(text)
    except FileExistsError:
        raise ConfigError(f"{path} exists already; it is not written over") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from error


@app.command()
def design(
    study: StudyFolder,
    seed: Seed = 0,
    trials: Annotated[bool, typer.Option("--trials", help="Print the trial sequence.")] = False,
) -> None:
    """Plan a session of a study and report what of its design was met, as JSON Lines."""
    from ghostblitz_task.studies import open_study

    opened = open_study(study)
    plan = opened.plan(seed or 0)
    rows: Iterable[dict[str, Any]] = plan.trials_json(opened.game) if trials else plan.report_json()
    for row in rows:
        typer.echo(json.dumps(row, ensure_ascii=False))


# --- sessions ----------------------------------------------------------------------------------


@app.command()
def run(
    study: StudyFolder,
    participant: Annotated[
        str | None,
        typer.Option("--participant", "-p", help="Participant id; without it, a dialogue asks."),
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
    from ghostblitz_task.running import RunRequest, ask_for_session, run_study

    if participant is None:
        asked = ask_for_session()
        if asked is None:
            raise typer.Exit(1)
        participant, session, resume = asked
    request = RunRequest(
        study=study,
        participant_id=participant,
        dataset=out,
        session=session,
        seed=seed,
        resume=resume,
        source="robot" if robot else "human",
        apparatus=apparatus,
        windowed=window,
        language=language,
    )
    with _progress("trials") as on_trial:
        path, outcome = run_study(request, on_trial=on_trial)
    typer.echo(f"{outcome.status} after {outcome.n_trials} trials")
    typer.echo(f"log: {path}")


@app.command()
def simulate(
    study: StudyFolder,
    out: Annotated[Path, typer.Option("--out", help="Folder of the data set to make.")],
    participants: Annotated[int, typer.Option(min=1, max=100_000, help="How many.")] = 40,
    seed: Seed = 1,
    model: Annotated[str, typer.Option(help="ex-gaussian, guessing or perfect.")] = "ex-gaussian",
) -> None:
    """Run simulated participants through a study, on a virtual clock; the data say so."""
    from ghostblitz_task.studies import open_study, simulate_study

    with _progress("simulated participants") as on_participant:
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


# --- analysis ----------------------------------------------------------------------------------


@app.command()
def analyze(
    dataset: Annotated[Path, typer.Argument(help="Folder of logs, or an imported data set.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for report, tables and figures.")],
) -> None:
    """Analyse a data set: RT and errors per rule, as a report, tables and figures."""
    with _analysis_extra():
        from ghostblitz_analysis.pipeline import analyze_dataset
        from ghostblitz_analysis.summary import summary_text

    result = analyze_dataset(dataset, out=out)
    typer.echo(summary_text(result))


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


@contextmanager
def _progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar on a terminal; it is only drawn when told, between trials."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, auto_refresh=False, transient=False) as progress:
        task = progress.add_task(what, total=None, visible=False)

        def show(done: int, planned: int) -> None:
            progress.update(task, completed=done, total=planned, visible=True, refresh=True)

        yield show


if __name__ == "__main__":
    main()
