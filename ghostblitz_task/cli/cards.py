"""Commands about cards and decks: solve, deck, design, score."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ghostblitz_task.cli.app import GameName, Out, Seed, StudyFolder, app

if TYPE_CHECKING:
    from ghostblitz_task.deck import Deck
    from ghostblitz_task.games import Game


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
    rules: Annotated[str, typer.Option(help="Additional rules in play, R,R.")] = "",
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
    margins: Annotated[
        bool, typer.Option("--margins", help="Say which margins the deck meets, as JSON Lines.")
    ] = False,
    out: Out = None,
) -> None:
    """Build a deck: as CSV or JSON Lines, or drawn as a contact sheet (PNG, PDF).

    Pictures stand in alphabetical order; `design` is what balances their places.
    """
    from ghostblitz_task.errors import ConfigError
    from ghostblitz_task.tables import deck_format, deck_text, margin_rows, write_contact_sheets

    if legal and balanced:
        raise ConfigError("give --legal or --balanced, not both")
    chosen = _game(game, rules=rules, study=study)
    built = _deck(chosen, seed=seed or 0, kind=_deck_kind(legal, balanced), study=study)
    if margins:
        for row in margin_rows(built):
            typer.echo(json.dumps(row, ensure_ascii=False))
        return
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


def _deck(game: Game, *, seed: int, kind: str | None, study: Path | None) -> Deck:
    from ghostblitz_task.config import load_study
    from ghostblitz_task.deck import build_deck
    from ghostblitz_task.design import study_deck
    from ghostblitz_task.seeds import rng_for

    rng = rng_for(seed, "deck")
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
    from ghostblitz_task.studies import open_card_study

    opened = open_card_study(study)
    plan = opened.plan(seed or 0)
    rows: Iterable[dict[str, Any]] = plan.trials_json(opened.game) if trials else plan.report_json()
    for row in rows:
        typer.echo(json.dumps(row, ensure_ascii=False))


@app.command()
def score(
    transcript: Annotated[
        Path, typer.Argument(help="A game of several players, round by round (JSON Lines).")
    ],
) -> None:
    """Score a game that was written down: who takes each card, and how it ends, as JSON Lines.

    docs/scoring.md says what stands in a transcript.
    """
    from ghostblitz_task.company import replay
    from ghostblitz_task.errors import ConfigError

    try:
        text = transcript.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{transcript} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{transcript} is not UTF-8 text: {error.reason}") from error
    try:
        for line in replay(text.splitlines()):
            typer.echo(line)
    except ConfigError as error:
        raise ConfigError(f"{transcript}, {error}") from error
