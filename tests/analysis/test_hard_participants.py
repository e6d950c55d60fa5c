"""Participants and RTs that break programs, through every step from flags to the written tables.

Two ordinary participants, `p1` and `p2`, stand beside each hard one. Each participant's RTs in a
cell are a level times 0.8, 1 and 1.25, so the level is their geometric mean.
"""

from __future__ import annotations

import csv
import json
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ghostblitz_analysis.dataset import Dataset, load_dataset
from ghostblitz_analysis.exclusions import flag_exclusions, used_for_accuracy, used_for_rt
from ghostblitz_analysis.importing import import_table
from ghostblitz_analysis.measures import cell_factors, cell_measures, complete_cells
from ghostblitz_analysis.models import group_cells, rule_contrasts
from ghostblitz_analysis.pipeline import analyze_dataset, write_analysis
from ghostblitz_analysis.provenance import settings_provenance
from ghostblitz_analysis.results import AnalysisResult, analyze_trials
from ghostblitz_analysis.settings import AnalysisSettings, BoundsSettings
from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.studies import begin_dataset, log_session, new_identity
from tests.analysis.loading.plain_tables import DIRECT, EXCLUSION, PLAIN, plain

pytestmark = pytest.mark.usefixtures("quick_figures")

RULES = ("direct", "exclusion")
PATTERN = (0.8, 1.0, 1.25)
MEAN_OF_PATTERN = sum(PATTERN) / 3
DEFAULTS = AnalysisSettings()


def trials_at(level, rule="direct", *, n=12, **others):
    rts = [level * PATTERN[index % 3] for index in range(n)]
    return [{"rule": rule, "rt_s": rt, **others} for rt in rts]


def both_rules(direct, exclusion, **others):
    return trials_at(direct, **others) + trials_at(exclusion, "exclusion", **others)


ORDINARY = both_rules(0.5, 1.0, participant_id="p1") + both_rules(0.5, 2.0, participant_id="p2")
#: Exclusion/direct of the ordinary ones are 2 and 4.
RATIO = math.sqrt(8)


@dataclass(frozen=True)
class Hard:
    """One hard participant: trials, and per rule what should be counted and averaged."""

    rows: list[dict[str, Any]]
    #: Trials, correct ones, RTs, mean RT; by rule, direct first. None for no row at all.
    cells: tuple[tuple[int, int, int, float | None], ...] | None
    #: The exclusion/direct ratio; None if there is none, so that the participant is left out.
    ratio: float | None = None
    settings: AnalysisSettings = field(default_factory=AnalysisSettings)


def _repeated(n=12, **others):
    return [{"rule": rule, **others} for rule in RULES for _ in range(n)]


SLOW = AnalysisSettings(bounds=BoundsSettings(max_rt_s=100.0))
HARD = {
    "all_correct": Hard(
        both_rules(0.5, 0.5),
        ((12, 12, 12, 0.5 * MEAN_OF_PATTERN), (12, 12, 12, 0.5 * MEAN_OF_PATTERN)),
        ratio=1.0,
    ),
    "all_wrong": Hard(_repeated(error_kind="shape_capture"), ((12, 0, 0, None),) * 2),
    "all_late": Hard(_repeated(error_kind="late"), ((12, 0, 0, None),) * 2),
    "all_early": Hard(_repeated(error_kind="early", rt_s=-0.1), ((12, 0, 0, None),) * 2),
    "one_rule_missing": Hard(
        trials_at(0.5), ((12, 12, 12, 0.5 * MEAN_OF_PATTERN), (0, 0, 0, None))
    ),
    "one_trial": Hard([{"rt_s": 0.7}], ((1, 1, 1, 0.7), (0, 0, 0, None))),
    "one_wrong_trial": Hard([{"error_kind": "late"}], ((1, 0, 0, None), (0, 0, 0, None))),
    "one_trial_per_rule": Hard(both_rules(0.5, 1.5, n=1), ((1, 1, 1, 0.4), (1, 1, 1, 1.2)), 3.0),
    "identical_rts": Hard(_repeated(rt_s=0.7), ((12, 12, 12, 0.7),) * 2, ratio=1.0),
    "rts_of_88_s": Hard(_repeated(rt_s=88.0), ((12, 12, 0, None),) * 2),
    "rts_of_88_s_allowed": Hard(
        _repeated(rt_s=88.0), ((12, 12, 12, 88.0),) * 2, ratio=1.0, settings=SLOW
    ),
    "one_rt_of_88_s": Hard(
        [*both_rules(0.5, 1.5), {"rt_s": 88.0}],
        ((13, 13, 12, 0.5 * MEAN_OF_PATTERN), (12, 12, 12, 1.5 * MEAN_OF_PATTERN)),
        ratio=3.0,
    ),
    "practice_only": Hard(both_rules(0.5, 1.0, phase="practice"), None),
    "recycled_only": Hard(both_rules(0.5, 1.0, recycled=True), None),
}
EVERY_HARD = pytest.mark.parametrize("name", HARD)


def trials_of(make_trials, *names):
    rows = list(ORDINARY)
    for name in names:
        rows += [{**row, "participant_id": name} for row in HARD[name].rows]
    return make_trials(rows)


def check_tables(tables, ids):
    """No value is infinite, every count a whole number, every id one of the texts that came in."""
    for name, table in tables.items():
        for column in table.columns:
            values, where = table[column], f"{name}.{column}"
            if len(values) == 0:
                continue
            if pd.api.types.is_float_dtype(values):
                numbers = values.to_numpy(dtype="float64", na_value=np.nan)
                assert not np.isinf(numbers).any(), where
            elif values.dtype == object:
                assert not any(isinstance(v, float) and math.isinf(v) for v in values), where
            if column == "n" or column.startswith("n_"):
                assert pd.api.types.is_integer_dtype(values), where
            if column == "participant_id":
                assert pd.api.types.is_string_dtype(values), where
                found = set(values.dropna())
                assert all(isinstance(person, str) for person in found), where
                assert found <= set(ids), where
            if column == "left_out":
                left_out = [person for text in values.dropna() for person in json.loads(text)]
                assert set(left_out) <= set(ids), where


def steps(trials, settings):
    flagged = flag_exclusions(trials, settings)
    factors = cell_factors(flagged, settings)
    cells = complete_cells(cell_measures(flagged, factors=factors), factors=factors)
    group = group_cells(cells, factors=factors, confidence=0.95)
    return flagged, cells, group, rule_contrasts(cells, factors=factors, confidence=0.95)


@pytest.mark.slow
@EVERY_HARD
def test_cells_of_a_hard_participant_are_those_of_the_definitions(make_trials, name):
    hard = HARD[name]
    _, cells, _, _ = steps(trials_of(make_trials, name), hard.settings)
    own = cells[cells["participant_id"] == name]
    if hard.cells is None:
        assert own.empty
        return
    assert own["rule"].tolist() == list(RULES)
    for (_, row), (n_trials, n_correct, n_rt, mean_rt_s) in zip(
        own.iterrows(), hard.cells, strict=True
    ):
        assert (row["n_trials"], row["n_correct"], row["n_rt"]) == (n_trials, n_correct, n_rt)
        if n_trials:
            assert row["p_correct"] == pytest.approx(n_correct / n_trials)
        else:
            assert row["p_correct"] is pd.NA
        names = ("mean_rt_s", "median_rt_s", "geometric_mean_rt_s", "mean_log_rt")
        if mean_rt_s is None:
            assert all(row[measure] is pd.NA for measure in (*names, "sd_rt_s"))
        else:
            assert row["mean_rt_s"] == pytest.approx(mean_rt_s)
            assert (row["sd_rt_s"] is pd.NA) == (n_rt == 1)


@pytest.mark.slow
@EVERY_HARD
def test_exclusions_of_a_hard_participant_leave_what_the_cells_hold(make_trials, name):
    hard = HARD[name]
    flagged, _, _, _ = steps(trials_of(make_trials, name), hard.settings)
    own = flagged[flagged["participant_id"] == name]
    cells = hard.cells or ((0, 0, 0, None),)
    assert len(own) == len(hard.rows)
    assert used_for_accuracy(own).sum() == sum(cell[0] for cell in cells)
    assert used_for_rt(own).sum() == sum(cell[2] for cell in cells)


@pytest.mark.slow
@EVERY_HARD
def test_groups_count_a_hard_participant_only_where_there_is_an_rt(make_trials, name):
    hard = HARD[name]
    _, _, group, _ = steps(trials_of(make_trials, name), hard.settings)
    cells = hard.cells or ((0, 0, 0, None),) * 2
    assert group["rule"].tolist() == list(RULES)
    ordinary = {"direct": [0.5, 0.5], "exclusion": [1.0, 2.0]}
    for (_, row), (n_trials, n_correct, n_rt, mean_rt_s) in zip(
        group.iterrows(), cells, strict=True
    ):
        assert row["n_participants"] == 2 + (n_rt > 0)
        assert (row["n_trials"], row["n_correct"]) == (24 + n_trials, 24 + n_correct)
        assert row["n_rt"] == 24 + n_rt
        means = [MEAN_OF_PATTERN * level for level in ordinary[row["rule"]]]
        means += [] if mean_rt_s is None else [mean_rt_s]
        assert row["mean_rt_s"] == pytest.approx(np.mean(means))


@pytest.mark.slow
@EVERY_HARD
def test_a_hard_participant_is_compared_or_left_out_by_name(make_trials, name):
    hard = HARD[name]
    _, _, _, contrasts = steps(trials_of(make_trials, name), hard.settings)
    row = contrasts.iloc[0]
    assert row["contrast"] == "exclusion / direct"
    if hard.ratio is None:
        assert row["n_participants"] == 2
        assert json.loads(row["left_out"]) == ([] if hard.cells is None else [name])
        assert row["rt_ratio"] == pytest.approx(RATIO)
    else:
        assert (row["n_participants"], row["n_left_out"]) == (3, 0)
        assert row["rt_ratio"] == pytest.approx((8 * hard.ratio) ** (1 / 3))


@EVERY_HARD
@pytest.mark.slow
def test_every_table_of_a_hard_participant_is_sound(make_trials, name):
    trials = trials_of(make_trials, name)
    analysis = analyze_trials(trials, HARD[name].settings)
    check_tables(analysis.tables, {"p1", "p2", name})
    assert analysis.n_participants == 3
    audit = analysis.audit[analysis.audit["participant_id"] == name]
    last = audit[audit["step"] == audit["step"].max()]
    assert last["n_trials"].sum() == len(HARD[name].rows)
    cells = HARD[name].cells or ()
    assert last["n_left"].sum() == sum(cell[2] for cell in cells)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, hard in HARD.items() if hard.cells is not None])
def test_a_hard_participant_alone_is_analysed(make_trials, name):
    rows = [{**row, "participant_id": name} for row in HARD[name].rows]
    analysis = analyze_trials(make_trials(rows), HARD[name].settings)
    check_tables(analysis.tables, {name})
    n_rt = [cell[2] for cell in HARD[name].cells if cell[0]]
    assert analysis.group_cells["n_rt"].tolist() == n_rt
    assert analysis.group_cells["n_participants"].tolist() == [int(n > 0) for n in n_rt]
    assert analysis.group_cells["geometric_mean_rt_low_s"].isna().all()


@pytest.mark.parametrize("name", [name for name, hard in HARD.items() if hard.cells is None])
def test_nothing_to_analyse_is_said_in_one_line(make_trials, name):
    with pytest.raises(DatasetError, match=r"^none of the 24 trials .*nothing to analyse[^\n]*$"):
        analyze_trials(make_trials(HARD[name].rows), DEFAULTS)


@pytest.mark.slow
@pytest.mark.parametrize("factor", ["rule", "block_kind", "participant_id"])
def test_categories_that_nobody_has_make_no_cells(make_trials, factor):
    trials = trials_of(make_trials, "one_rule_missing")
    levels = pd.CategoricalDtype([*trials[factor].unique(), "time" if factor == "rule" else "pure"])
    found = steps(trials.assign(**{factor: trials[factor].astype(levels)}), DEFAULTS)
    for table, expected in zip(found[1:], steps(trials, DEFAULTS)[1:], strict=True):
        pd.testing.assert_frame_equal(table, expected)


# --- all of them in one data set, as it is written --------------------------------------------


def written(trials, out):
    dataset = Dataset(out.with_name("made"), "made", ("human",), trials, DEFAULTS)
    analysis = analyze_trials(trials, DEFAULTS)
    result = AnalysisResult(
        dataset=dataset,
        findings=(),
        analysis=analysis,
        analysed_utc="2026-01-01T00:00:00+00:00",
        versions={"Python": "3"},
        out=out,
        provenance=settings_provenance(dataset),
    )
    write_analysis(result)
    return analysis


def written_tables(folder):
    tables = {}
    for path in sorted((folder / "tables").glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            tables[path.stem] = list(csv.DictReader(file))
    return tables


@pytest.mark.slow
def test_hard_participants_together_are_written(make_trials, tmp_path):
    trials = trials_of(make_trials, *HARD)
    analysis = written(trials, tmp_path / "out")
    ids = {"p1", "p2", *HARD}
    check_tables(analysis.tables, ids)
    tables = written_tables(tmp_path / "out")
    assert set(analysis.tables) <= set(tables)
    for name, rows in tables.items():
        for row in rows:
            assert not {"inf", "-inf", "nan", "NaN"} & set(row.values()), name
    ratios = [hard.ratio for hard in HARD.values() if hard.settings == DEFAULTS and hard.ratio]
    contrast = tables["contrasts"][0]
    assert int(contrast["n_participants"]) == 2 + len(ratios)
    expected = (8 * math.prod(ratios)) ** (1 / (2 + len(ratios)))
    assert float(contrast["rt_ratio"]) == pytest.approx(expected)
    analysed = {row["participant_id"] for row in tables["participant_cells"]}
    assert ids - analysed == {"practice_only", "recycled_only"}
    assert {row["participant_id"] for row in tables["audit"]} == ids
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert not any(f">{text}<" in page for text in ("inf", "-inf", "nan", "&lt;NA&gt;"))


@pytest.mark.slow
def test_one_participant_with_one_trial_makes_a_whole_folder(make_trials, tmp_path):
    trials = make_trials([{"rt_s": 0.7}])
    written(trials, tmp_path / "out")
    rows = written_tables(tmp_path / "out")["group_cells"]
    assert [(row["n_trials"], row["geometric_mean_rt_s"][:3]) for row in rows] == [("1", "0.7")]
    assert rows[0]["geometric_mean_rt_low_s"] == ""
    assert rows[0]["note"] == "one participant, so no interval"


# --- ids that look like numbers or like nothing -----------------------------------------------

ODD_IDS = ("01", "1", "NA")
#: Different levels, so that a mix-up of ids shows.
LEVELS = {"01": 0.5, "1": 0.6, "NA": 0.7}


def check_odd_ids(result):
    """The ids stand in every table of every participant as they were given."""
    check_tables(result.analysis.tables, ODD_IDS)
    tables = written_tables(result.out)
    told = [n for n, rows in tables.items() if rows and "participant_id" in rows[0]]
    assert {"trials", "audit", "participant_cells"} <= set(told)
    for name in ("trials", "audit", "participant_cells"):
        assert {row["participant_id"] for row in tables[name]} == set(ODD_IDS), name
    for name in told:
        assert {row["participant_id"] for row in tables[name]} <= {*ODD_IDS, ""}, name
    return tables


@pytest.mark.slow
def test_odd_ids_stay_texts_from_an_imported_table_to_the_results(tmp_path):
    rows = [
        f"{person},{card},{answer},{level * factor * step}"
        for person, level in LEVELS.items()
        for card, answer, factor in ((DIRECT, "ghost", 1), (EXCLUSION, "mouse", 2))
        for step in PATTERN
    ]
    (tmp_path / "t.csv").write_text(plain(*rows), encoding="utf-8")
    (tmp_path / "m.toml").write_text(PLAIN, encoding="utf-8")
    folder = tmp_path / "dataset"
    import_table(tmp_path / "t.csv", mapping=tmp_path / "m.toml", out=folder)
    loaded = load_dataset(folder).trials["participant_id"]
    assert loaded.dtype == "string"
    assert tuple(loaded.drop_duplicates()) == ODD_IDS
    tables = check_odd_ids(analyze_dataset(folder, out=tmp_path / "out"))
    means = {
        row["participant_id"]: float(row["geometric_mean_rt_s"])
        for row in tables["participant_cells"]
        if row["rule"] == "direct"
    }
    assert means == pytest.approx(LEVELS)
    assert tables["contrasts"][0]["n_participants"] == "3"
    assert float(tables["contrasts"][0]["rt_ratio"]) == pytest.approx(2)


@pytest.mark.slow
def test_odd_ids_stay_texts_from_logs_to_the_results(make_study, tmp_path):
    study = make_study("classic", n_trials=20)
    logs = begin_dataset(study, tmp_path / "dataset")
    for seed, person in enumerate(ODD_IDS):
        identity = new_identity(
            logs, person, session=1, seed=seed, source="simulated", participant_model="ex-gaussian"
        )
        log_session(
            study,
            logs,
            identity,
            open_apparatus=lambda seed=seed: study.simulated_apparatus("ex-gaussian", seed),
            apparatus_settings=ApparatusSettings(),
        )
    dataset = load_dataset(tmp_path / "dataset")
    assert dataset.trials["participant_id"].dtype == "string"
    assert dataset.trials["participant_id"].value_counts().to_dict() == dict.fromkeys(ODD_IDS, 24)
    tables = check_odd_ids(analyze_dataset(tmp_path / "dataset", out=tmp_path / "out"))
    n_trials = {person: 0 for person in ODD_IDS}
    for row in tables["participant_cells"]:
        n_trials[row["participant_id"]] += int(row["n_trials"])
    assert n_trials == dict.fromkeys(ODD_IDS, 20)


@pytest.mark.slow
def test_odd_ids_that_are_left_out_are_named_as_they_are(make_trials):
    rows = [
        *ORDINARY,
        *(row for person in ODD_IDS for row in trials_at(0.5, participant_id=person)),
    ]
    contrasts = analyze_trials(make_trials(rows), DEFAULTS).contrasts
    assert contrasts["left_out"].tolist() == ['["01", "1", "NA"]']
