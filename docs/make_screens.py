"""Make the pictures of the task's screens for README and docs, from the real window.

Needs Xvfb: `.venv/bin/python docs/make_screens.py`
"""

from __future__ import annotations

import time
from pathlib import Path

from PIL import Image

from ghostblitz_task.config import ApparatusSettings
from ghostblitz_task.screens import Screen
from ghostblitz_task.studies import Study, open_study
from ghostblitz_task.virtual_display import virtual_display

ROOT = Path(__file__).parent.parent
PICTURES = Path(__file__).parent / "pictures"


def screens_of(study: Study) -> dict[str, Screen]:
    """Return the screens that the docs show, by file name."""
    screens, game = study.screens, study.game
    stimulus = game.stimulus(game.parse("book:red ghost:green"), game.initial_state())
    pages = list(screens.instructions())
    return {
        "screen-card": screens.card(stimulus),
        "screen-instructions": pages[3],
        "screen-break": screens.block_break(done=2, n_blocks=4),
    }


def main() -> None:
    """Show each screen and save what the display shows."""
    study = open_study(ROOT / "experiments" / "grab-or-shout")
    with virtual_display((1280, 720)) as display:
        # Imported here: PsychoPy needs the display when it is imported.
        from ghostblitz_task.apparatus.psychopy_window import PsychoPyApparatus

        window = PsychoPyApparatus(
            ApparatusSettings(fullscreen=False),
            palette=study.screens.palette,
            extent_deg=study.screens.extent_deg(),
        )
        for name, screen in screens_of(study).items():
            window.prepare([screen])
            for _ in range(3):
                window.present(screen)
            time.sleep(0.2)  # the server copies the picture when it can
            Image.fromarray(display.pixels()).save(PICTURES / f"{name}.png", optimize=True)
            print(PICTURES / f"{name}.png")
        window.close()


if __name__ == "__main__":
    main()
