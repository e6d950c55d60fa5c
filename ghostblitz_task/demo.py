"""The demonstration: a short session in a real window, played by the robot or by you."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path

from ghostblitz_task.apparatus_settings import ApparatusSettings, load_apparatus
from ghostblitz_task.errors import ApparatusError, ConfigError, LogError
from ghostblitz_task.participants import make_participant
from ghostblitz_task.robot.script import Action, script_session, taps_like
from ghostblitz_task.seeds import rng_for
from ghostblitz_task.studies import LOG_FOLDER, Study, open_card_study
from ghostblitz_task.trial_log import log_path, read_log
from ghostblitz_task.virtual_display import VirtualDisplay, virtual_display

__all__ = ["play_with_robot", "run_demo"]

_PARTICIPANT = {True: "demo-human", False: "demo-robot"}
# The robot is done at once when the session is; a session that goes on without it is stuck.
_END_TIMEOUT_S = 60.0
_OWN_END_TIMEOUT_S = 3.0


def run_demo(*, human: bool, dataset: Path | None, say: Callable[[str], object]) -> None:
    """Play, analyse and report; prints where everything is.

    Raises
    ------
    GhostBlitzError
        If there is no display (and no Xvfb for the robot), or the session fails.
    """
    dataset = dataset or _next_free(Path("data"))
    participant = _PARTICIPANT[human]
    with as_file(files("ghostblitz_task") / "demo_study") as study_folder:
        study = open_card_study(study_folder)
        if human:
            _play_as_person(study, dataset, participant, say)
        else:
            _play_as_robot(study, dataset, participant, say)
    log = log_path(dataset / LOG_FOLDER, participant, session=1, run=1)
    if read_log(log).status != "completed":
        raise ConfigError(f"the session was not finished; what there is, is in {log}")
    _report(dataset, log, say)


def _next_free(folder: Path) -> Path:
    number = 1
    while (folder / f"demo-{number}").exists():
        number += 1
    return folder / f"demo-{number}"


def _play_as_person(
    study: Study, dataset: Path, participant: str, say: Callable[[str], object]
) -> None:
    say("You play: follow the screen. Esc ends the session.")
    code = subprocess.run(_run_command(study, dataset, participant), check=False).returncode
    if code:
        raise ApparatusError("the session could not be run; the line above says why")


def _play_as_robot(
    study: Study, dataset: Path, participant: str, say: Callable[[str], object]
) -> None:
    if sys.platform != "linux":
        raise ApparatusError(
            "the robot needs an X display (Linux); here, play yourself: ghostblitz demo --human"
        )
    seed = secrets.randbits(32)
    rng = rng_for(seed, "robot")
    settings = study.settings.responses
    taps_for = taps_like(make_participant("ex-gaussian", rng), study.game, settings, rng)
    actions = script_session(study.plan(seed), study.screens, taps_for)
    with _display(say) as virtual:
        say("The robot plays a short session: it watches the screen and presses real keys.")
        play_with_robot(
            study,
            actions,
            dataset=dataset,
            participant=participant,
            seed=seed,
            picture=virtual.picture if virtual else None,
        )


@contextmanager
def _display(say: Callable[[str], object]) -> Iterator[VirtualDisplay | None]:
    """Take the display that there is, or a virtual one."""
    if os.environ.get("DISPLAY"):
        yield None
        return
    with virtual_display() as display:
        say("There is no display here, so the window is on a virtual one (Xvfb).")
        yield display


def play_with_robot(
    study: Study,
    actions: tuple[Action, ...],
    *,
    dataset: Path,
    participant: str,
    seed: int,
    picture: Path | None,
    others: Sequence[str] = (),
    resume: bool = False,
) -> Path:
    """Run a session and the robot, each as a process of its own, on the current display.

    The robot presses the keys of `others` too. With `resume`, the session is taken up where it
    stopped, and keeps its seed.

    Returns
    -------
    Path
        The robot's log, beside the session's.

    Raises
    ------
    ApparatusError
        If either fails; the other is stopped.
    ConfigError
        If the study shows no patch.
    """
    apparatus = load_apparatus(study.folder)
    if not apparatus.patch_deg:
        raise ConfigError("the robot watches the patch, which patch_deg = 0 leaves out")
    robot_log = dataset / "robot" / f"{participant}{'-resumed' if resume else ''}.jsonl"
    try:
        robot_log.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LogError(f"{dataset} cannot be written: {error.strerror}") from error
    told = {
        "settings": {
            "patch_px": _patch_px(apparatus),
            "patch_corner": apparatus.patch_corner,
            "picture": str(picture) if picture else None,
            "log": str(robot_log),
        },
        "actions": [action.to_json() for action in actions],
    }
    command = _run_command(study, dataset, participant)
    command += [part for other in others for part in ("--with", other)]
    command += ["--resume"] if resume else ["--seed", str(seed), "--robot"]
    session = subprocess.Popen(command)
    robot = subprocess.Popen(
        [sys.executable, "-m", "ghostblitz_task.robot.playing"],
        stdin=subprocess.PIPE,
        # Ctrl-C in the terminal is for the session; the robot is ended when that ends.
        start_new_session=True,
    )
    assert robot.stdin is not None
    robot.stdin.write(json.dumps(told).encode())
    robot.stdin.close()
    _wait_for_both(session, robot)
    return robot_log


def _wait_for_both(session: subprocess.Popen[bytes], robot: subprocess.Popen[bytes]) -> None:
    try:
        while session.poll() is None and robot.poll() in {None, 0}:
            try:
                session.wait(timeout=0.2)
            except subprocess.TimeoutExpired:
                continue
        if robot.poll():
            # A session whose window went away is just about to end, and to say why.
            with contextlib.suppress(subprocess.TimeoutExpired):
                session.wait(timeout=_OWN_END_TIMEOUT_S)
        if robot.poll() and not session.returncode:
            said = "the line above says why" if robot.returncode > 0 else "a signal ended it"
            raise ApparatusError(f"the robot could not go on; {said}")
        if session.returncode:
            raise ApparatusError("the session could not be run; the line above says why")
        try:
            robot.wait(timeout=_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            raise ApparatusError("the session ended before the robot had done everything") from None
    finally:
        for process in (session, robot):
            if process.poll() is None:
                process.terminate()
                process.wait()


def _patch_px(settings: ApparatusSettings) -> int:
    """Return a side that lies within the patch, whatever the size of the screen."""
    return max(4, round(settings.patch_deg * 8))


def _run_command(study: Study, dataset: Path, participant: str) -> list[str]:
    command = [sys.executable, "-m", "ghostblitz_task.cli", "run", str(study.folder)]
    return [*command, "--participant", participant, "--out", str(dataset), "--window"]


def _report(dataset: Path, log: Path, say: Callable[[str], object]) -> None:
    from ghostblitz_analysis.pipeline import analyze_dataset
    from ghostblitz_analysis.summary import summary_text
    from ghostblitz_task.robot.comparing import compare

    out = dataset / "analysis"
    result = analyze_dataset(dataset, out=out)
    say(summary_text(result))
    robot_log = dataset / "robot" / f"{_PARTICIPANT[False]}.jsonl"
    if robot_log.exists():
        say(compare(robot_log, read_log(log)).in_words())
    say("")
    say(f"log:    {log.resolve()}")
    say(f"table:  {(out / 'tables' / 'participant_cells.csv').resolve()}")
    say(f"report: {(out / 'report.html').resolve()}")
