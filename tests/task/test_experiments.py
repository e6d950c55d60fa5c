"""The studies in experiments/: each can be opened, planned and run, and is what its README says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_analysis.figures import build_figures, figure_svg
from ghostblitz_analysis.provenance import settings_provenance
from ghostblitz_analysis.report import render_report
from ghostblitz_analysis.results import ANALYSIS_PARTS, AnalysisResult, analyze_trials
from ghostblitz_analysis.settings import AnalysisSettings
from ghostblitz_analysis.validation import validate_dataset
from ghostblitz_task.card_studies import open_card_study
from ghostblitz_task.config import StudySettings, load_study
from ghostblitz_task.settings_files import load_settings, read_toml, validate_settings
from ghostblitz_task.studies import open_study, simulate_study

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
# The captain's deck has settings, and tests, of its own.
STUDIES = sorted(
    path.parent
    for path in EXPERIMENTS.glob("*/study.toml")
    if not path.parent.name.startswith("captain")
)
PUBLISHED = [folder for folder in STUDIES if folder.name.startswith("styrnal2025-")]
N_SEEDS = 10

every_study = pytest.mark.parametrize("folder", STUDIES, ids=lambda folder: folder.name)


def table_row(folder: Path, name: str) -> str:
    """Return what a README's table says of a thing."""
    text = (folder / "README.md").read_text(encoding="utf-8")
    found = re.search(rf"^\| {name} \| (.+) \|$", text, flags=re.MULTILINE)
    assert found, f"{folder.name}/README.md has no row {name!r}"
    return found[1]


def raw_settings(folder: Path) -> dict[str, Any]:
    return read_toml(folder / "study.toml")


def analysis_settings(folder: Path) -> AnalysisSettings:
    return load_settings(folder / "analysis.toml", AnalysisSettings)


def test_there_is_a_study_of_each_card_game() -> None:
    games = {load_study(folder).game.name for folder in STUDIES}
    assert games == {"classic", "grab-or-shout", "spooky-doo", "five-to-twelve"}
    assert len(PUBLISHED) == 3


@every_study
def test_folder_is_whole_and_named_as_the_study(folder: Path) -> None:
    names = {path.name for path in folder.iterdir() if path.is_file()}
    assert names >= {"README.md", "analysis.toml", "run.py", "study.toml"}
    assert load_study(folder).study.id == folder.name
    assert (folder / "README.md").read_text(encoding="utf-8").startswith(f"# {folder.name}: ")


@pytest.mark.slow
@every_study
@pytest.mark.parametrize("language", ["en", "de"])
def test_study_can_be_drawn(folder: Path, language: str) -> None:
    assert open_study(folder, language=language).settings.study.language == language


@pytest.mark.slow
@every_study
def test_every_seed_has_a_plan(folder: Path) -> None:
    study = open_card_study(folder)
    plans = [study.plan(seed) for seed in range(N_SEEDS)]
    assert len({plan.sha256 for plan in plans}) == N_SEEDS
    for plan in plans:
        assert [b.n_trials for b in plan.report] == [b.n_trials for b in study.settings.blocks]
        for block in plan.report:
            mixed = block.type == "mixed"
            assert set(block.n_by_rule) == {block.type} or (mixed and len(block.n_by_rule) > 1)


@pytest.mark.slow
@every_study
def test_every_cell_has_ten_trials_and_more(folder: Path) -> None:
    """Below ten the report warns; a few errors must not bring a cell there."""
    study = open_card_study(folder)
    for seed in range(N_SEEDS):
        n_by_cell: dict[tuple[str, bool, str], int] = {}
        plan = study.plan(seed)
        for trial in plan.trials:
            block = plan.blocks[trial.block_index]
            if block.phase == "test":
                solution = study.game.stimulus(trial.card, plan.table).solution
                cell = (solution.rule, block.type == "mixed", solution.mode)
                n_by_cell[cell] = n_by_cell.get(cell, 0) + 1
        assert min(n_by_cell.values()) >= 12, n_by_cell


@every_study
def test_readme_counts_the_trials_of_the_plan(folder: Path) -> None:
    blocks = load_study(folder).blocks
    found = re.match(r"(\d+) practice \+ (\d+) test = (\d+)", table_row(folder, "Trials"))
    assert found
    n_by_phase = {
        phase: sum(b.n_trials for b in blocks if b.phase == phase) for phase in ("practice", "test")
    }
    assert [int(n) for n in found.groups()] == [*n_by_phase.values(), sum(n_by_phase.values())]


@every_study
def test_readme_names_the_blocks_of_the_plan(folder: Path) -> None:
    expected: list[tuple[int, int, str]] = []
    for block in load_study(folder).blocks:
        kind = "practice" if block.phase == "practice" else block.type
        if expected and expected[-1][1:] == (block.n_trials, kind):
            expected[-1] = (expected[-1][0] + 1, block.n_trials, kind)
        else:
            expected.append((1, block.n_trials, kind))
    said = []
    for part in table_row(folder, "Blocks").split("; "):
        found = re.match(r"(?:(\d+) x )?(\d+) ([a-z-]+)", part)
        if found:
            said.append((int(found[1] or 1), int(found[2]), found[3]))
    assert said == expected


@every_study
def test_table_of_all_studies_has_its_number_of_trials(folder: Path) -> None:
    n_trials = sum(block.n_trials for block in load_study(folder).blocks)
    lines = (EXPERIMENTS / "README.md").read_text(encoding="utf-8").splitlines()
    (line,) = [x for x in lines if x.startswith(f"| [{folder.name}]({folder.name}/README.md) ")]
    assert line.endswith(f"| {n_trials} |")


@every_study
def test_readme_states_the_bounds_and_the_deadline_fits_them(folder: Path) -> None:
    bounds = analysis_settings(folder).bounds
    text = " ".join((folder / "README.md").read_text(encoding="utf-8").split())
    assert f"correct RTs from {bounds.min_rt_s:g} to {bounds.max_rt_s:g} s for RT" in text
    assert bounds.max_rt_s <= load_study(folder).timing.deadline_s


def test_two_spooky_studies_differ_in_the_table_only() -> None:
    visible, masked = (raw_settings(EXPERIMENTS / f"spooky-doo-{k}") for k in ("visible", "masked"))
    assert visible["display"].pop("tabletop") == "visible"
    assert masked["display"].pop("tabletop") == "masked"
    assert visible.pop("study") != masked.pop("study")
    assert visible == masked
    analyses = [analysis_settings(EXPERIMENTS / f"spooky-doo-{k}") for k in ("visible", "masked")]
    assert analyses[0] == analyses[1]


@pytest.mark.parametrize("folder", PUBLISHED, ids=lambda folder: folder.name)
def test_published_design_has_its_eight_blocks(folder: Path) -> None:
    settings = load_study(folder)
    assert [b.type for b in settings.blocks] == [
        *("direct", "exclusion", "mixed", "mixed", "mixed", "mixed", "exclusion", "direct")
    ]
    assert {b.n_trials for b in settings.blocks} == {80}
    assert analysis_settings(folder).skip_first_trials == 4


def test_published_designs_have_their_objects_colours_and_cards() -> None:
    found = {}
    for folder in PUBLISHED:
        study = open_card_study(folder)
        n_objects = len(study.game.item_colours)
        n_colours = len(set(study.game.item_colours.values()))
        n_by_rule = study.deck(0).counts("rule")
        found[folder.name] = (n_objects, n_colours, study.game.n_pictures, dict(n_by_rule))
    assert found == {
        "styrnal2025-exp1": (3, 3, 1, {"direct": 3, "exclusion": 6}),
        "styrnal2025-exp2": (5, 3, 2, {"direct": 24, "exclusion": 16}),
        "styrnal2025-exp3": (9, 5, 3, {"direct": 1848, "exclusion": 432}),
    }


@pytest.mark.slow
@pytest.mark.parametrize(("name", "rate"), [("styrnal2025-exp2", 0.47), ("styrnal2025-exp3", 0.35)])
def test_targets_repeat_as_often_as_in_the_published_data(name: str, rate: float) -> None:
    study = open_card_study(EXPERIMENTS / name)
    for seed in range(N_SEEDS):
        for block in study.plan(seed).report:
            assert block.target_repetition_rate == pytest.approx(rate, abs=0.02)


def test_digit_to_press_is_the_hour_on_the_clock() -> None:
    for name in ("five-to-twelve-basic", "five-to-twelve-full"):
        settings = load_study(EXPERIMENTS / name)
        assert len(settings.game.times) == 9
        for time in settings.game.times:
            hour, minute = (int(part) for part in time.split(":"))
            assert settings.responses.shout_keys[time] == str(hour)
            assert minute <= 20


def test_rival_in_the_company_readme_is_a_valid_setting(tmp_path: Path) -> None:
    folder = EXPERIMENTS / "classic-company"
    text = (folder / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```toml\n(.+?)```", text, flags=re.DOTALL)
    (tmp_path / "block.toml").write_text(block, encoding="utf-8")
    settings = raw_settings(folder)
    del settings["responses"]["more_players"]
    settings |= read_toml(tmp_path / "block.toml")
    study = validate_settings(settings, StudySettings, where="README.md")
    assert study.company is not None
    assert study.company.rival is not None


@pytest.mark.slow
@every_study
def test_simulated_session_is_whole(folder: Path, tmp_path: Path) -> None:
    study = open_card_study(folder)
    (log,) = simulate_study(study, tmp_path / "data", n_participants=1, seed=1, model="perfect")
    records = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    trials = [record for record in records if record["type"] == "trial"]
    assert len(trials) == sum(block.n_trials for block in study.settings.blocks)
    players = [player for t in trials for player in t.get("players", [t])]
    assert {player["error_kind"] for player in players} == {None}


@pytest.mark.slow
@every_study
def test_simulated_data_are_analysed(folder: Path, tmp_path: Path) -> None:
    study = open_card_study(folder)
    data = tmp_path / "data"
    simulate_study(study, data, n_participants=2, seed=1, model="ex-gaussian")
    dataset = load_dataset(data)
    assert dataset.analysis == analysis_settings(folder)
    # Without models of single trials, which take longest, and without the files of the figures.
    parts = [part for part in ANALYSIS_PARTS if part != "regression"]
    analysis = analyze_trials(dataset.trials, dataset.analysis, parts=parts)
    assert analysis.n_participants == 2 * len(study.settings.responses.players)
    assert (analysis.company is not None) == (study.settings.company is not None)
    result = AnalysisResult(
        dataset=dataset,
        findings=tuple(validate_dataset(dataset)),
        analysis=analysis,
        analysed_utc="2026-01-01T00:00:00+00:00",
        versions={"Python": "3"},
        out=tmp_path,
        provenance=settings_provenance(dataset),
    )
    figures = {name: figure_svg(figure) for name, figure in build_figures(analysis).items()}
    page = render_report(result, figures)
    assert 5 < len(figures) <= page.count("<svg")
