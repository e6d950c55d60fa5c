"""Make the pictures of the task's screens for README and docs, from the real window.

Needs Xvfb: `.venv/bin/python docs/make_screens.py`
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from PIL import Image

from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.card_studies import open_card_study
from ghostblitz_task.company import Attempt, Round, new_table, play_round
from ghostblitz_task.config import StudySettings
from ghostblitz_task.games import GameState, Outcome
from ghostblitz_task.round_screens import round_feedback
from ghostblitz_task.rounds import PlayedCard, make_company
from ghostblitz_task.screens import Screen, Screens
from ghostblitz_task.settings_files import validate_settings
from ghostblitz_task.texts import load_texts
from ghostblitz_task.virtual_display import virtual_display

ROOT = Path(__file__).parent.parent
PICTURES = Path(__file__).parent / "pictures"
# 16:9 with a little more than the table of nine items needs.
APPARATUS = ApparatusSettings(fullscreen=False, screen_width_cm=38.0)

ITEMS = ["bat", "hat", "key", "mirror", "flashlight", "clock", "vial", "owl", "ghost"]
TIMES = ["11:55", "01:40", "03:00", "04:20", "05:10", "06:30", "07:50", "09:15", "10:05"]
COLOURS = ["black", "green", "blue", "red", "white"]


def screens_of(game: dict[str, object], responses: dict[str, dict[str, str]]) -> Screens:
    """Return the screens of a study of a game; nothing but the game matters for what is shown."""
    table = {
        "study": {"id": "pictures", "title": "Pictures for the docs"},
        "game": game,
        "blocks": [{"label": "one", "n_trials": 1}],
        "responses": responses,
    }
    settings = validate_settings(table, StudySettings, where="docs/make_screens.py")
    return Screens(settings, settings.make_game(), load_texts("en"))


def card(screens: Screens, text: str, *, hat_over: str | None = None) -> Screen:
    """Return the screen of one card."""
    game = screens.game
    return screens.card(game.stimulus(game.parse(text), GameState(hat_over)))


def page(screens: Screens, shows: str) -> Screen:
    """Return the page of instructions that shows something."""
    shown = [made.shows for made in screens.pages()]
    return list(screens.instructions())[shown.index(shows)]


def feedback(settings: StudySettings, screens: Screens) -> Screen:
    """Return what is said after a card that the second of two players takes from the first."""
    company = make_company(settings, ("first", "second"))
    assert company is not None
    table = new_table(company.players, [f"card {i}" for i in range(13)])
    for winner in ("first", "second") * 6:
        won = Round((Attempt(winner, 1.0, right=True),))
        table, _ = play_round(table, won, company.rules)
    last = Round((Attempt("first", 0.9, right=False), Attempt("second", 1.0, right=True)))
    after, result = play_round(table, last, company.rules)
    played = PlayedCard((), Outcome(None, False), after, result)
    return round_feedback(screens, played, company, GameState())


def pictures() -> Iterator[tuple[str, Screen]]:
    """Return the screens that the docs show, by file name."""
    screens = open_card_study(ROOT / "experiments" / "grab-or-shout").screens
    yield "screen-card", card(screens, "book:red ghost:green")
    yield "screen-instructions", page(screens, "grab_and_shout")
    yield "screen-break", screens.block_break(done=2, n_blocks=4)

    study = open_card_study(ROOT / "experiments" / "classic-company")
    yield "screen-company-card", card(study.screens, "ghost:red mouse:green")
    yield "screen-company-feedback", feedback(study.settings, study.screens)

    items = ["ghost", "hat", "bottle", "barrel", "mouse"]
    screens = screens_of(
        {"name": "spooky-doo"},
        {
            "grab_keys": dict(zip(items, "sdfjk", strict=True)),
            "shout_keys": dict(zip(items, "werui", strict=True)),
        },
    )
    yield "screen-spooky-card", card(screens, "bottle:red mouse:grey", hat_over="barrel")

    shouted = [*zip(ITEMS, "qwertyuio", strict=True), *zip(COLOURS, "zxcvb", strict=True)]
    screens = screens_of(
        {"name": "five-to-twelve", "rules": ["mirror", "owl", "mirror-owl"]},
        {
            "grab_keys": dict(zip(ITEMS, "asdfghjkl", strict=True)),
            "shout_keys": dict([*shouted, *zip(TIMES, "123456789", strict=True)]),
        },
    )
    yield "screen-five-to-twelve-card", card(screens, "clock:red@11:55 ghost:blue vial:green")
    yield "screen-five-to-twelve-instructions", page(screens, "mirror_owl")


def main() -> None:
    """Show each screen and save what the display shows."""
    shown = dict(pictures())
    palette = open_card_study(ROOT / "experiments" / "grab-or-shout").screens.palette
    with virtual_display(APPARATUS.window_px) as display:
        # Imported here: PsychoPy needs the display when it is imported.
        from ghostblitz_task.apparatus.psychopy_window import PsychoPyApparatus

        window = PsychoPyApparatus(APPARATUS, palette=palette, extent_deg=(0, 0))
        for name, screen in shown.items():
            window.prepare([screen])
            for _ in range(3):
                window.present(screen)
            time.sleep(0.2)  # the server copies the picture when it can
            # Flat colours and letters: a palette of 128 tones keeps them and makes small files.
            picture = Image.fromarray(display.pixels()).quantize(128, dither=Image.Dither.NONE)
            picture.save(PICTURES / f"{name}.png", optimize=True)
            print(PICTURES / f"{name}.png")
        window.close()


if __name__ == "__main__":
    main()
