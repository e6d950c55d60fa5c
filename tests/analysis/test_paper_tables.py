from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from ghostblitz_analysis.citations import citations
from ghostblitz_analysis.paper_sentences import (
    anova_sentences,
    contrast_sentences,
    model_sentences,
    reliability_sentences,
    score_name,
    sequence_sentences,
)
from ghostblitz_analysis.paper_tables import anova_tables, limits_table, model_parts, planned_tables
from ghostblitz_analysis.report_sections import figures_left, paper_sections
from ghostblitz_analysis.results import analyze_trials
from ghostblitz_analysis.settings import AnalysisSettings, ModelSettings, ReliabilitySettings
from ghostblitz_analysis.table_columns import bounds, count, lay_out, p_column, remarks, words

pytestmark = pytest.mark.slow

QUICK = AnalysisSettings(reliability=ReliabilitySettings(n_splits=20))


_MADE = {}


@pytest.fixture
def human(draw_trials):
    """Return one analysis of people, made once: results are frozen."""
    if "human" not in _MADE:
        trials = draw_trials(
            np.random.default_rng(4), n_participants=5, n_per_cell=12, p_error=0.2, source="human"
        )
        _MADE["human"] = analyze_trials(trials, QUICK)
    return _MADE["human"]


def with_contrasts(analysis, **changes):
    table = analysis.inference.planned_contrasts.head(1)
    columns = {
        "measure": "mean_log_rt", "estimate": 0.5, "ratio": 1.6487, "ratio_low": 1.35,
        "ratio_high": 2.0, "t": 2.5, "df": 39, "p": 0.0171, "p_corrected": 0.0171,
        "significant": True, "dz": 0.4, "dz_low": 0.08, "dz_high": 0.71,
        "bayes_factor": "BF10 = 2.6, BF01 = 0.385", "note": "",
    } | changes  # fmt: skip
    table = table.assign(**{n: pd.array([v], dtype=table[n].dtype) for n, v in columns.items()})
    return replace(analysis, inference=replace(analysis.inference, planned_contrasts=table))


def test_a_contrast_is_said_with_test_effect_and_bayes_factor(human):
    assert contrast_sentences(with_contrasts(human)) == [
        "RT was longer for exclusion cards than for direct cards, ratio = 1.65, 95% CI [1.35, "
        "2.00], t(39) = 2.50, p = .017; dz = 0.40, 95% CI [0.08, 0.71]; BF10 = 2.6."
    ]


def test_a_contrast_that_is_not_significant_is_not_called_absent(human):
    (said,) = contrast_sentences(
        with_contrasts(human, estimate=-0.1, ratio=0.905, significant=False, p=0.3)
    )
    assert said.startswith("RT was shorter for exclusion cards than for direct cards")
    assert said.endswith("not significant at alpha = .05.")


def test_a_contrast_without_test_says_why(human):
    (said,) = contrast_sentences(
        with_contrasts(human, t=None, ratio_low=None, note="one participant, so no interval; more")
    )
    assert said.endswith("no interval, no test (one participant, so no interval).")
    (said,) = contrast_sentences(with_contrasts(human, estimate=None, note=""))
    assert said == (
        "Exclusion cards and direct cards cannot be compared in RT: no participant has both."
    )


@pytest.mark.parametrize(
    ("within", "mode", "opening"),
    [
        ('{"rule": "direct"}', None, "On direct cards, RT was longer for mixed blocks than "),
        ('{"rule": "direct"}', "grab", "On direct cards in grab trials, RT was longer for mixed "),
        (None, "shout", "In shout trials, RT was longer for mixed blocks than for pure blocks"),
    ],
)
def test_a_contrast_within_a_rule_is_on_its_cards(human, within, mode, opening):
    kinds = {"of": "block_kind", "level": "mixed", "reference": "pure"}
    (said,) = contrast_sentences(with_contrasts(human, within=within, mode=mode, **kinds))
    assert said.startswith(opening)
    (said,) = contrast_sentences(
        with_contrasts(human, within=within, mode=mode, estimate=None, **kinds)
    )
    assert said.startswith(opening.split(",")[0] + ", mixed blocks and pure blocks cannot be ")


def test_a_contrast_of_two_rules_effects_is_on_the_cards_of_both(human):
    changes = {"of": "block_kind", "level": "mixed", "reference": "pure"}
    cards = {"within": '{"rule": "exclusion"}', "against": '{"rule": "direct"}'}
    (said,) = contrast_sentences(with_contrasts(human, **changes, **cards))
    assert said.startswith(
        "The ratio of RT, mixed blocks against pure blocks, was larger on exclusion cards than on "
        "direct cards, ratio of ratios"
    )


@pytest.mark.parametrize(
    ("kind", "score", "levels", "name"),
    [
        ("contrast", "exclusion - direct, pure blocks", {"block_kind": "pure"}, ""),
        ("contrast", "mixing cost on direct cards", {"rule": "direct"}, ""),
        ("contrast", "cost", {"rule": "direct", "mode": "grab"}, ", direct cards in grab trials"),
        (
            "contrast", "cost, pure blocks", {"block_kind": "pure", "mode": "grab"},
            " in grab trials",
        ),
        ("contrast", "cost of mirror-owl", {"rule": "mirror"}, ", mirror cards"),
        ("rule_effect", "exclusion - direct", {"block_kind": "mixed"}, " in mixed blocks"),
        ("mixing_cost", "mixed - pure", {"rule": "direct"}, ", direct cards"),
        ("rule_effect", "exclusion - direct", {}, ""),
    ],
)  # fmt: skip
def test_a_score_tells_each_level_once(kind, score, levels, name):
    row = {"kind": kind, "score": score, "measure": "mean_log_rt", **levels}
    assert score_name(row) == f"{score}{name} (mean log RT)"


def test_the_score_of_a_cell_is_named_by_its_levels():
    row = {"kind": "cell", "score": "direct, pure", "measure": "p_correct", "rule": "direct"}
    assert score_name(row) == "direct cards (accuracy)"
    assert score_name(row | {"block_kind": "pure"}) == "direct cards in pure blocks (accuracy)"


def test_accuracy_and_mean_rt_have_their_units(human):
    sizes = {"estimate": -0.028, "estimate_low": -0.053, "estimate_high": -0.003}
    (said,) = contrast_sentences(with_contrasts(human, measure="p_correct", **sizes))
    assert "accuracy was lower" in said.lower()
    assert "difference = −2.8 percentage points, 95% CI [−5.3, −0.3]" in said
    (said,) = contrast_sentences(with_contrasts(human, measure="mean_rt_s", **sizes))
    assert "difference = −28 ms, 95% CI [−53, −3]" in said


def test_corrected_p_stands_beside_p_where_there_are_several_tests(draw_trials):
    trials = draw_trials(
        np.random.default_rng(4), n_participants=5, n_per_cell=8, block_kinds=("pure", "mixed"),
        source="human",
    )  # fmt: skip
    analysis = analyze_trials(trials, QUICK)
    said = contrast_sentences(analysis, measure="mean_log_rt")
    assert len(said) == 3
    assert all("(Holm-corrected over 3 tests: p " in text for text in said)
    assert said[2].startswith("The ratio of RT, exclusion cards against direct cards, was")


def test_anova_with_more_degrees_of_freedom_is_corrected(human):
    table = human.inference.anova.head(1)
    columns = {
        "effect": "rule", "f": 3.2, "df1": 2, "df2": 18, "p": 0.06, "p_gg": 0.0713,
        "df1_gg": 1.4213, "df2_gg": 12.791, "epsilon_gg": 0.7106, "generalized_eta2": 0.118,
        "n_participants": 10, "note": "",
    }  # fmt: skip
    table = table.assign(**{n: pd.array([v], dtype=table[n].dtype) for n, v in columns.items()})
    analysis = replace(human, inference=replace(human.inference, anova=table))
    assert anova_sentences(analysis) == [
        "Repeated-measures analysis of variance of mean log RT (10 participants): rule, "
        "F(1.42, 12.79) = 3.20, p = .071, Greenhouse-Geisser epsilon = .71, ηG² = .12."
    ]


def test_a_model_effect_is_said_with_its_ratio(human):
    found = human.regression
    effects = found.fixed_effects
    row = (effects["model"].isin(found.models.loc[found.models["selected"], "model"])) & (
        effects["term"] == "rule[exclusion]"
    )
    columns = {
        "estimate": -0.7687, "se": 0.1346, "statistic": -5.7106, "df": None, "p": 1e-8,
        "ratio": 0.4636, "ratio_low": 0.3561, "ratio_high": 0.6036,
    }  # fmt: skip
    changed = effects.copy()
    for name, value in columns.items():
        changed.loc[row, name] = value
    said = model_sentences(replace(human, regression=replace(found, fixed_effects=changed)))[-1]
    assert said.startswith("Mixed logistic model of errors (")
    assert said.endswith(
        "b = −0.77, SE = 0.13, z = −5.71, p < .001, odds ratio = 0.46, 95% CI [0.36, 0.60]."
    )


def test_a_model_that_was_not_fitted_says_why(make_trials):
    trials = make_trials([{"source": "human", "rule": r} for r in ("direct", "exclusion")] * 2)
    analysis = analyze_trials(trials, QUICK)
    assert model_sentences(analysis)[0] == (
        "There is no linear mixed model of log RT to read: one participant, so no model over "
        "participants."
    )
    assert model_parts(analysis)[0].fixed is None


def test_every_sentence_on_simulated_data_says_so(draw_trials):
    trials = draw_trials(np.random.default_rng(4), n_participants=3, n_per_cell=8, p_error=0.2)
    trials = trials.assign(source=pd.array(["simulated"] * len(trials), dtype="string"))
    analysis = analyze_trials(trials, QUICK)
    for say in (
        contrast_sentences, anova_sentences, model_sentences, sequence_sentences,
        reliability_sentences,
    ):  # fmt: skip
        said = say(analysis)
        assert all(text.startswith("Simulated data: ") for text in said), say.__name__
    assert contrast_sentences(analysis)


def test_reliability_is_said_with_interval_or_with_its_warning(human):
    table = human.reliability.split_half.head(1)
    columns = {
        "measure": "mean_log_rt", "n_participants": 40, "n_splits": 5000, "r": 0.9317,
        "spearman_brown": 0.9646, "spearman_brown_low": 0.7621, "spearman_brown_high": 0.9947,
        "note": "", "warning": "",
    }  # fmt: skip

    def said(**changes):
        made = {n: pd.array([v], dtype=table[n].dtype) for n, v in (columns | changes).items()}
        found = replace(human.reliability, split_half=table.assign(**made))
        return reliability_sentences(replace(human, reliability=found))

    assert said() == [
        "Split-half reliability of exclusion - direct (mean log RT): Spearman-Brown-corrected "
        "r = .96, 95% CI [.76, .99] (mean of 5,000 random splits, 40 participants)."
    ]
    (text,) = said(r=-0.17, spearman_brown=None, warning="careful")
    assert "uncorrected r = −.17" in text
    assert text.endswith("; careful.")


def test_tables_name_files_that_exist(human):
    names = set(human.tables)
    told = [item.table for part in paper_sections(human).values() for item in part.tables]
    told += [t for part in model_parts(human) for t in (part.fixed, part.random) if t]
    assert len(told) > 10
    assert {table.stem for table in told} <= names
    assert all(len(row) == len(table.header) for table in told for row in table.rows)


def test_numbers_of_the_contrast_table_are_those_of_the_csv(human):
    row = human.inference.planned_contrasts.iloc[0]
    table = planned_tables(human)[0].table
    cells = dict(zip(table.header, table.rows[0], strict=True))
    assert cells["RT ratio"] == f"{row['ratio']:.3f}"
    assert cells["n"] == str(row["n_participants"])
    assert anova_tables(human)[0].table.rows[0][:2] == ("mean log RT", "rule")


def test_people_left_out_and_notes_are_named_with_their_rows():
    table = pd.DataFrame(
        {
            "name": ["a", "b", "c"],
            "left_out": ['["p1", "p2"]', '["p1", "p2"]', "[]"],
            "note": ["few; 2 participants left out, with few RTs", "few (x; y)", None],
        }
    )
    assert remarks(table, lambda row: row["name"]) == [
        "Left out: p1, p2 (of a; b).",
        "Few (a).",
        "Few (x; y) (b).",
    ]


def test_columns_write_missing_values_as_dashes_and_cut_long_tables():
    values = {"x": [None, "y"], "n": [None, 1200], "p": [None, 0.0004], "low": [None, -1.0]}
    table = pd.DataFrame(values | {"high": [2.0, 2.0]}).astype({"n": "Int64"})
    columns = (words("x", "x"), count("n", "n"), p_column("p"), bounds("low", "high", "CI", 1))
    laid = lay_out(table, columns, n_left=1, stem="made")
    assert laid.rows == (("", "–", "–", "–"), ("y", "1,200", "< .001", "[−1.0, 2.0]"))
    assert lay_out(pd.concat([table] * 150), columns, n_left=1, stem="made").n_more == 100


def test_a_figure_that_nobody_placed_stands_at_the_end_of_its_section():
    found = figures_left(dict.fromkeys(["rt_by_cell", "rt_delta", "sequence_x", "unheard_of"], ""))
    assert found == {
        "distributions": ["rt_delta"], "sequences": ["sequence_x"], "models": ["unheard_of"],
    }  # fmt: skip


def test_sources_are_cited_only_where_they_were_used(human):
    cited = " ".join(source.text for source in citations(human))
    assert "Holm, S. (1979)" in cited
    assert "Benjamini" not in cited
    assert "Liang" not in cited.replace("Liang, C.-C.", "")
    assert "timing mega-study" in cited
    plain = replace(human, inference=None, regression=None, reliability=None, sequences=None)
    assert "Holm" not in " ".join(source.text for source in citations(plain))
    openings = [source.opening for source in citations(human)]
    assert openings == sorted(openings)


def test_without_limits_nobody_is_listed(human):
    assert limits_table(human) is None


def test_no_results_give_no_tables_and_no_sentences(human):
    bare = replace(
        human, inference=None, distributions=None, speed_accuracy=None, sequences=None,
        reliability=None, regression=None, sensitivity=None,
    )  # fmt: skip
    assert not any(paper_sections(bare).values())
    assert model_parts(bare) == []


def test_models_left_out_of_the_settings_have_no_part(draw_trials):
    trials = draw_trials(np.random.default_rng(4), n_participants=3, n_per_cell=8)
    settings = QUICK.model_copy(update={"models": ModelSettings(rt=(), errors=())})
    assert model_parts(analyze_trials(trials, settings)) == []
