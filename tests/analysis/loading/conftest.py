"""Small logs and trial tables, made from the rules by the code that a session uses."""

from __future__ import annotations

import csv
import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_analysis.importing import import_table
from ghostblitz_task import __version__
from ghostblitz_task.cards import Card, Picture
from ghostblitz_task.config import StudySettings
from ghostblitz_task.design import Plan, plan_session
from ghostblitz_task.errors import CardError, GhostBlitzError
from ghostblitz_task.games import base_rule
from ghostblitz_task.scoring import TrialEvent, TrialFacts, score_trial
from ghostblitz_task.settings_files import validate_settings
from ghostblitz_task.trial_log import FORMAT, TrialLog, file_sha256, log_path
from tests.analysis.loading.played_logs import FIRST, RIVAL, both, for_two, play, study_of, wrong_at

KEYS = {"ghost": "a", "chair": "s", "bottle": "d", "book": "f", "mouse": "g"}
STUDY = {
    "game": {"name": "classic"},
    "responses": {"grab_keys": KEYS},
}


@dataclasses.dataclass
class LogMaker:
    """Writes logs as a session does: facts from a plan, scores from the facts."""

    folder: Path

    def __call__(
        self,
        participant_id: str = "p01",
        *,
        session: int = 1,
        run: int = 1,
        trials: Sequence[int] = range(12),
        end: str | None = "completed",
        resumes: Path | None = None,
        rt_s: Callable[[int], float | None] = lambda index: 0.6 + 0.0137 * index,
        wrong: Sequence[int] = (),
        phase: str = "test",
        header: Mapping[str, Any] | None = None,
        trial: Mapping[str, Any] | None = None,
        interrupted: int = 0,
        file_name: str | None = None,
        blocks: Sequence[int] | None = None,
    ) -> Path:
        header = dict(header or {})
        n_planned = max(trials) + 1 if end == "completed" and trials else 12
        n_each = tuple(blocks or [header.get("n_trials_planned", n_planned)])
        settings, plan = planned(n_each, phase, header.get("study_id", "small"))
        game = settings.make_game()
        path = log_path(self.folder, participant_id, session=session, run=run)
        if file_name:
            path = path.with_name(file_name)
        simulated = header.get("source") == "simulated"
        apparatus = {
            "apparatus": "simulated" if simulated else "psychopy",
            "display_synchronised": True,
            "keys_polled": False,
        }
        top = {
            "format": FORMAT,
            "schema_version": 1,
            "software": {"ghostblitz": __version__},
            "study_id": "small",
            "study_title": "A small study",
            "settings": settings.model_dump(mode="json"),
            "settings_sha256": settings.sha256,
            "apparatus_settings": {},
            "participant_id": participant_id,
            "session": session,
            "run": run,
            "seed": 1,
            "source": "human",
            "participant_model": "ex-gaussian" if simulated else None,
            "language": "en",
            "game": {
                "name": game.name,
                "item_colours": dict(game.item_colours),
                "n_pictures": 2,
                "shout_item": None,
                "rules": [],
            },
            "plan_sha256": plan.sha256,
            "n_trials_planned": len(plan.trials),
            "resumes": None
            if resumes is None
            else {
                "file": resumes.name,
                "sha256": file_sha256(resumes),
                "n_trials": trials[0],
            },
            "started_utc": "2026-01-01T00:00:00+00:00",
            "design_report": {},
        }
        top |= header | {"apparatus": apparatus | header.get("apparatus", {})}
        block_index = -1
        with TrialLog(path) as log:
            log.append("header", top)
            for index in trials:
                place = plan.trials[index]
                block = plan.blocks[place.block_index]
                if place.block_index != block_index:
                    block_index = place.block_index
                    about = {"block_index": block_index, "label": block.label}
                    about |= {"phase": block.phase, "block_type": block.type}
                    log.append("block", {**about, "n_trials": block.n_trials, "t_s": 10.0 * index})
                stimulus = game.stimulus(place.card, game.initial_state())
                answer = stimulus.solution.answer
                if index in wrong:
                    answer = next(item for item in KEYS if item != answer)
                onset_s, rt = 10.0 * index + 1.5, rt_s(index)
                events = ()
                if rt is not None:
                    press = TrialEvent(
                        onset_s + rt, "grab_keys", "press", KEYS[answer], 1, 0.001, "grab", answer
                    )
                    events = (
                        press,
                        dataclasses.replace(press, t_s=press.t_s + 0.1, kind="release"),
                    )
                facts = TrialFacts(10.0 * index, onset_s, 8.0, 0.5, events)
                record = {
                    "trial_index": index,
                    "block_index": place.block_index,
                    "block_type": block.type,
                    "phase": block.phase,
                    "trial_in_block": place.trial_in_block,
                    "card": str(place.card),
                    "hat_over": None,
                    "rule": stimulus.solution.rule,
                    "mode": stimulus.solution.mode,
                    "target": stimulus.solution.target,
                    "answer": stimulus.solution.answer,
                    "answer_kind": stimulus.solution.answer_kind,
                    "foreperiod_requested_s": place.foreperiod_s,
                    "fixation_onset_s": facts.fixation_onset_s,
                    "onset_s": onset_s,
                    "offset_s": onset_s + 1,
                    "end_s": onset_s + 2,
                    "deadline_s": facts.deadline_s,
                    "second_response_window_s": facts.second_response_window_s,
                    "n_dropped_frames": 0,
                    "longest_frame_s": 0.017,
                    "events": [event.to_json() for event in events],
                    "held_at_onset": [],
                    **score_trial(facts, stimulus, game).to_json(),
                }
                log.append("trial", {**record, **(trial or {})})
            for _ in range(interrupted):
                log.append("interrupted", {"trial_index": 99})
            if end:
                n_done = len(trials) + (trials[0] if resumes else 0)
                log.append("end", {"status": end, "n_trials": n_done, "reason": None})
        return path


@lru_cache
def planned(n_each: tuple[int, ...], phase: str, study_id: str) -> tuple[StudySettings, Plan]:
    """A study with mixed blocks of so many trials, and its plan by seed 1."""
    blocks = [
        {"label": f"mixed-{number}", "n_trials": n, "phase": phase}
        for number, n in enumerate(n_each)
    ]
    table = {**STUDY, "blocks": blocks, "study": {"id": study_id, "title": "A small study"}}
    settings = validate_settings(table, StudySettings, where="test study")
    return settings, plan_session(settings, settings.make_game(), seed=1)


@pytest.fixture
def make_log(tmp_path: Path) -> LogMaker:
    """Make logs in a data set's folder, ``tmp_path / "data" / "logs"``."""
    return LogMaker(tmp_path / "data" / "logs")


def edit_record(path: Path, number: int, change: Callable[[dict[str, Any]], object]) -> None:
    """Change one record of a log in place."""
    lines = path.read_text(encoding="utf-8").splitlines()
    record = json.loads(lines[number])
    change(record)
    lines[number] = json.dumps(record, ensure_ascii=False)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def edit_log() -> Callable[[Path, int, Callable[[dict[str, Any]], object]], None]:
    return edit_record


Rows = list[dict[str, str]]


def otree_rows(
    n_items: int, *, n_colours: int, n_pictures: int, n_blocks: int = 2, n_trials: int = 6
) -> Rows:
    """Rows as oTree exports them, for two people with mappings of their own.

    Block 1 is pure direct, block 2 mixed. Every fifth response is wrong.
    """
    rng = np.random.default_rng(5)
    names = ["bonbon", "books", "bus", "fan", "baloons", "flipflops", "bowl", "teapot", "suitcase"]
    palette = ["red", "blue", "green", "black", "yellow"][:n_colours]
    rows: Rows = []
    for code in ("007", "NA"):
        items = [str(i) for i in rng.permutation(names[:n_items])]
        own = dict(zip(items, (palette * 2)[:n_items], strict=True))
        cards = solvable_cards(own, n_pictures)
        for block, number in product(range(1, n_blocks + 1), range(1, n_trials + 1)):
            rule = "direct" if block == 1 or number % 2 else "exclusion"
            card, target = cards[rule][int(rng.integers(len(cards[rule])))]
            wrong = next(i for i in items if i != target)
            rows.append(
                {
                    "participant.code": code,
                    "player.attention_set": "Direct" if block == 1 else "Mixed",
                    "player.objects": " ".join(items),
                    "player.object_colors": " ".join(own.values()),
                    "player.direct_cues": "1" if rule == "direct" else "0",
                    "player.target": target,
                    "player.target_color": own[target],
                    "player.round_objects": " ".join(p.item for p in card.pictures),
                    "player.round_colors": " ".join(p.colour for p in card.pictures),
                    "player.rt": str(int(rng.integers(400, 3000))),
                    "player.response": wrong if number % 5 == 0 else target,
                    "player.block": str(block),
                    "player.trial": str(number),
                    "session.is_demo": "0",
                }
            )
    return rows


def solvable_cards(own: Mapping[str, str], n_pictures: int) -> dict[str, list[tuple[Card, str]]]:
    """All cards with one answer, by rule; pictures in distinct colours, some of them sampled."""
    found: dict[str, list[tuple[Card, str]]] = {"direct": [], "exclusion": []}
    palette = sorted(set(own.values()))
    for items in permutations(own, n_pictures):
        for colours in permutations(palette, n_pictures):
            card = Card(tuple(Picture(i, c) for i, c in zip(items, colours, strict=True)))
            try:
                rule, target = base_rule(card, own)
            except CardError:
                continue
            found[rule].append((card, target))
        if min(map(len, found.values())) > 200:
            break
    return found


@pytest.fixture
def make_otree_rows() -> Callable[..., Rows]:
    return otree_rows


def write_rows(path: Path, rows: Rows, *, delimiter: str = ",", encoding: str = "utf-8") -> Path:
    with open(path, "w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture
def write_table() -> Callable[..., Path]:
    return write_rows


@pytest.fixture
def bring(tmp_path: Path, write_table) -> Callable[..., pd.DataFrame]:
    """Import rows (or a text) by a mapping and load the result."""
    counter = iter(range(1000))

    def run(
        source: Rows | str | bytes | Path, mapping: str, *, name: str = "trials.csv"
    ) -> pd.DataFrame:
        place = tmp_path / f"{next(counter)}"
        place.mkdir()
        if isinstance(source, Path):
            path = source
        else:
            path = place / name
            if isinstance(source, list):
                write_table(path, source)
            elif isinstance(source, str):
                path.write_bytes(source.encode())
            else:
                path.write_bytes(source)
        (place / "mapping.toml").write_text(mapping, encoding="utf-8")
        out = place / "out"
        try:
            run.report = import_table(path, mapping=place / "mapping.toml", out=out)  # type: ignore[attr-defined]
        except GhostBlitzError as error:
            if "\n" in str(error):
                pytest.fail(f"more than one line: {error}")
            if {p for p in place.iterdir()} - {path, place / "mapping.toml"}:
                pytest.fail("something was left behind")
            raise
        run.dataset = load_dataset(out)  # type: ignore[attr-defined]
        return run.dataset.trials  # type: ignore[attr-defined, no-any-return]

    return run


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A game of p1 and p2: p1 is right first, but wrong at the third card played for."""
    script = both(0.3, 0.5, first_wrong_at=(FIRST + 2,))
    return play(for_two(), tmp_path, script, others=("p2",))


@pytest.fixture
def alone(tmp_path: Path) -> Path:
    """A game of p1 alone, who is wrong at the first two cards, which come again."""
    return play(study_of(), tmp_path, wrong_at(FIRST, FIRST + 1))


@pytest.fixture
def rival(tmp_path: Path) -> Path:
    """A game of p1 against a simulated rival."""
    return play(study_of(company__rival=RIVAL), tmp_path, wrong_at(FIRST))
