"""What the real window shows, read back from the screen, and what the adapter keeps out."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.virtual_display import VirtualDisplay
from tests.screen.short_study import write_study

pytestmark = pytest.mark.screen


def run_in_window(folder: Path, body: str) -> str:
    """Run some code with an open apparatus in a process of its own (PsychoPy ends with it)."""
    code = f"""
import sys
from pathlib import Path
import numpy as np
from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.errors import GhostBlitzError
from ghostblitz_task.studies import open_study
from ghostblitz_task.apparatus.psychopy_window import PsychoPyApparatus
study = open_study(Path({str(folder / "study")!r}))
screens = study.screens

def open_window(**settings):
    return PsychoPyApparatus(
        ApparatusSettings(fullscreen=False, **settings),
        palette=screens.palette,
        extent_deg=screens.extent_deg(),
    )

plan = study.plan(1)
card = screens.card(study.game.stimulus(plan.trials[0].card, study.game.initial_state()))
{textwrap.dedent(body)}
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_study(tmp_path / "study", n_practice=2, n_trials=4)
    return tmp_path


def rgb(tone: str) -> tuple[int, ...]:
    return tuple(int(tone[i : i + 2], 16) for i in (1, 3, 5))


def share_of(pixels: np.ndarray, tone: str) -> float:
    return float((pixels == np.array(rgb(tone), np.uint8)).all(axis=-1).mean())


def test_card_is_shown_in_its_exact_colours_with_a_white_patch(folder, xvfb):
    shot = folder / "shot.png"
    run_in_window(
        folder,
        f"""
        from ghostblitz_task.virtual_display import VirtualDisplay
        import time
        window = open_window()
        window.prepare([card])
        for _ in range(3):
            window.present(card)
        time.sleep(0.2)
        from PIL import Image
        shown = VirtualDisplay("", Path({str(xvfb.picture)!r})).pixels()
        Image.fromarray(shown).save({str(shot)!r})
        window.close()
        """,
    )
    from ghostblitz_task.studies import open_study

    study = open_study(folder / "study")
    palette = study.screens.palette
    picture = study.plan(1).trials[0].card.pictures[0]
    pixels = np.array(Image.open(shot))
    assert pixels.shape == (720, 1280, 3)
    assert share_of(pixels, palette.table_ground) > 0.6
    assert share_of(pixels, palette.card_ground) > 0.01
    assert share_of(pixels[280:440, 490:640], palette.colours[picture.colour]) > 0.1
    patch = pixels[-30:, :30]
    assert (patch == 255).all()


def test_screen_that_was_not_prepared_is_our_bug_and_never_rendered_late(folder, xvfb):
    out = run_in_window(
        folder,
        """
        window = open_window()
        try:
            window.present(card)
        except KeyError:
            print("refused")
        window.close()
        """,
    )
    assert "refused" in out


def test_window_too_small_for_the_study_is_refused(folder, xvfb):
    out = run_in_window(
        folder,
        """
        try:
            open_window(viewing_distance_cm=500)
        except GhostBlitzError as error:
            print(error)
        """,
    )
    assert "the study needs 26 x" in out
    assert "viewing_distance_cm" in out


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ('key_backend="event"', "stamps the time of polling"),
        ("screen_index=3", "there are 1 screens"),
        ("window_px=(5000, 3000)", "but the screen has 1280 x 720"),
    ],
)
def test_what_cannot_be_measured_or_shown_is_refused(folder, xvfb, settings, message):
    out = run_in_window(
        folder,
        f"""
        try:
            open_window({settings})
        except GhostBlitzError as error:
            print(error)
        """,
    )
    assert message in out


def test_polled_keys_are_said_to_be_polled(folder, xvfb):
    out = run_in_window(
        folder,
        """
        from Xlib import X, XK, display
        from Xlib.ext import xtest
        window = open_window(key_backend="event", allow_polled_keys=True)
        window.prepare([card])
        window.present(card)
        server = display.Display()
        code = server.keysym_to_keycode(XK.string_to_keysym("s"))
        for kind in (X.KeyPress, X.KeyRelease):
            xtest.fake_input(server, kind, code)
            server.sync()
        found = []
        for _ in range(20):
            window.present(card)
            found += window.events()
        print(window.describe()["keys_polled"], [(e.kind, e.key) for e in found])
        print(all(0 < e.resolution_s < 0.1 for e in found))
        window.close()
        """,
    )
    assert out.splitlines() == ["True [('press', 's'), ('release', 's')]", "True"]


def test_psychopy_device_still_has_what_the_adapter_touches(folder, xvfb):
    """Our use of `KeyboardDevice` goes beyond its documented interface; the version is pinned."""
    out = run_in_window(
        folder,
        """
        import psychopy
        from psychopy.hardware import keyboard
        device = keyboard.KeyboardDevice(backend="ptb")
        print(psychopy.__version__, device.getBackend(), isinstance(device._ids, list))
        device.dispatchMessages()
        print(device.responses == [])
        press = keyboard.KeyPress(code=39, tDown=1.0)
        print(press.duration is None, press.tDown, press.code)
        """,
    )
    assert out.splitlines() == ["2026.2.5 ptb True", "True", "True 1.0 39"]


def test_taps_shorter_than_a_frame_come_once_with_both_their_times(folder, xvfb: VirtualDisplay):
    """PsychoPy's own `getKeys(waitRelease=False)` loses such presses."""
    out = run_in_window(
        folder,
        """
        import time
        from Xlib import X, XK, display
        from Xlib.ext import xtest
        window = open_window()
        window.prepare([card])
        window.present(card)
        server = display.Display()
        code = server.keysym_to_keycode(XK.string_to_keysym("s"))
        found = []
        for _ in range(50):
            xtest.fake_input(server, X.KeyPress, code)
            server.sync()
            time.sleep(0.005)
            xtest.fake_input(server, X.KeyRelease, code)
            server.sync()
            window.present(card)
            found += window.events()
        for _ in range(10):
            window.present(card)
            found += window.events()
        kinds = [e.kind for e in found]
        print(kinds.count("press"), kinds.count("release"))
        holds = [b.t_s - a.t_s for a, b in zip(found[::2], found[1::2])]
        print(kinds == ["press", "release"] * 50, 0.003 < float(np.median(holds)) < 0.02)
        # Nobody takes keys from PsychoPy's own list, so it must not grow with each of them.
        from psychopy import event, logging
        print(event._keyBuffer, sum("press" in entry.msg for entry in logging.root.toFlush))
        window.close()
        """,
    )
    assert out.splitlines() == ["50 50", "True True", "[] 0"]


def test_keys_are_called_by_what_is_printed_on_them(folder, xvfb):
    """Psychtoolbox names keys by their place on a US keyboard; people read what is printed."""
    subprocess.run(["setxkbmap", "de"], check=True)
    out = run_in_window(
        folder,
        """
        window = open_window()
        labels = window.key_labels()
        layout = window.describe()["keyboard_layout"]
        print([labels[k] for k in ("y", "z", "semicolon", "s")], layout)
        print("space" in labels, "escape" in labels)
        print(screens.with_key_labels(labels).key_name("y"), screens.key_name("y"))
        window.close()
        """,
    )
    assert out.splitlines() == ["['Z', 'Y', 'Ö', 'S'] de", "False False", "Z Y"]


def test_destroyed_window_is_an_apparatus_error(folder, xvfb):
    out = run_in_window(
        folder,
        """
        from Xlib import display
        window = open_window()
        window.prepare([card])
        window.present(card)
        server = display.Display()
        for child in server.screen().root.query_tree().children:
            child.destroy()
        server.sync()
        try:
            for _ in range(30):
                window.present(card)
        except GhostBlitzError as error:
            print(error)
        window.close()
        """,
    )
    assert "cannot be drawn in any more" in out


def test_defaults_are_the_whole_screen_and_timed_keys():
    settings = ApparatusSettings()
    assert settings.fullscreen
    assert settings.key_backend == "ptb"
    assert not settings.allow_polled_keys


@pytest.mark.parametrize("corner", ["lower-left", "lower-right", "upper-left", "upper-right"])
def test_patch_stands_in_the_corner_of_the_settings(folder, xvfb, corner):
    run_in_window(
        folder,
        f"""
        from ghostblitz_task.virtual_display import VirtualDisplay
        window = open_window(patch_corner={corner!r}, patch_deg=2.0)
        window.prepare([card])
        for _ in range(3):
            window.present(card)
        shown = VirtualDisplay("", Path({str(xvfb.picture)!r})).pixels()
        np.save({str(folder / "shown.npy")!r}, shown)
        window.close()
        """,
    )
    pixels = np.load(folder / "shown.npy")
    rows = slice(0, 40) if corner.startswith("upper") else slice(-40, None)
    columns = slice(0, 40) if corner.endswith("left") else slice(-40, None)
    # 2 degrees at 60 cm are 2.09 cm of 53 cm: 50 of 1280 pixels.
    assert (pixels[rows, columns] == 255).all()
    white = (pixels == 255).all(axis=-1)
    edges = [white[:40, :40], white[:40, -40:], white[-40:, :40], white[-40:, -40:]]
    assert sum(bool(edge.any()) for edge in edges) == 1


def test_patch_of_no_size_is_left_out(folder, xvfb):
    run_in_window(
        folder,
        f"""
        from ghostblitz_task.virtual_display import VirtualDisplay
        window = open_window(patch_deg=0)
        window.prepare([card])
        for _ in range(3):
            window.present(card)
        shown = VirtualDisplay("", Path({str(xvfb.picture)!r})).pixels()
        np.save({str(folder / "shown.npy")!r}, shown)
        print(window.describe()["patch_corner"])
        window.close()
        """,
    )
    pixels = np.load(folder / "shown.npy")
    corner = pixels[-40:, :40]
    assert (corner == corner[0, 0]).all()
    assert tuple(corner[0, 0]) != (255, 255, 255)
