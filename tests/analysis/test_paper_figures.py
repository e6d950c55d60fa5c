from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from ghostblitz_analysis.distribution_plots import (
    plot_conditional_accuracy,
    plot_delta,
    plot_ex_gaussian,
    plot_quantiles,
    plot_speed_accuracy,
)
from ghostblitz_analysis.figure_layout import COLUMN_MM, fit_column, grid_sheet, panels
from ghostblitz_analysis.figures import build_figures, figure_captions, save_figure
from ghostblitz_analysis.forest_plots import estimate_limits, plot_estimates
from ghostblitz_analysis.model_plots import (
    bayes_label,
    contrast_rows,
    fixed_effect_rows,
    plot_contrasts,
    plot_errors_by_chance,
    plot_fixed_effects,
)
from ghostblitz_analysis.rainclouds import jitter, plot_clouds
from ghostblitz_analysis.reliability_plots import plot_reliability, score_names
from ghostblitz_analysis.results import analyze_trials
from ghostblitz_analysis.sequence_plots import (
    effect_rows,
    plot_errors_over_session,
    plot_sequence_effects,
)
from ghostblitz_analysis.settings import AnalysisSettings, BoundsSettings
from ghostblitz_analysis.wording import RULE_COLOURS

pytestmark = pytest.mark.slow

WIDE = AnalysisSettings(bounds=BoundsSettings(min_rt_s=0, max_rt_s=1000))


def axes():
    return Figure().subplots()


def line(ax, label):
    return next(each for each in ax.lines if each.get_label() == label)


def points(ax, marker="o"):
    """All drawn points of one marker that are not only of the legend."""
    return sorted(
        (float(x), float(y))
        for each in ax.lines
        if each.get_marker() == marker
        for x, y in zip(each.get_xdata(), each.get_ydata(), strict=True)
    )


def segments(ax):
    return [
        np.asarray(segment).tolist()
        for each in ax.collections
        if isinstance(each, LineCollection)
        for segment in each.get_segments()
    ]


def floats(values):
    return pd.array(values, dtype="Float64")


# --- rainclouds -----------------------------------------------------------------------------


def test_dots_of_a_participant_are_moved_alike_in_every_cell():
    moved = jitter(pd.Series(["b", "a", "b", "c"]))
    assert moved[0] == moved[2]
    assert len(set(moved.tolist())) == 3
    assert np.abs(moved).max() <= 0.5
    # The order of the rows does not matter.
    assert jitter(pd.Series(["c", "b", "a"])).tolist() == moved[[3, 0, 1]].tolist()


def test_a_cloud_reaches_from_the_smallest_to_the_largest_value():
    values = np.log([1.0, 1.1, 1.2, 1.3, 1.4, 2.0])
    ax = plot_clouds([values], axes(), places=np.array([3.0]), colours=["k"], back=np.exp)
    shape = ax.collections[0].get_paths()[0].vertices
    assert shape[:, 1].min() == pytest.approx(1.0)
    assert shape[:, 1].max() == pytest.approx(2.0)
    assert shape[:, 0].min() == pytest.approx(3.0)
    assert shape[:, 0].max() == pytest.approx(3.36)


@pytest.mark.parametrize("values", [[], [1.0] * 9, [1.0, 2.0, 3.0, 4.0, 5.0, np.nan]])
def test_few_or_equal_values_give_no_cloud(values):
    ax = axes()
    plot_clouds([np.array(values)], ax, places=np.zeros(1), colours=["k"], back=np.exp)
    assert not ax.collections


# --- distributions --------------------------------------------------------------------------


def quantile_table(**changes):
    table = {
        "rule": ["direct", "direct", "exclusion", "exclusion"],
        "probability": [0.1, 0.9] * 2,
        "quantile_s": floats([0.5, 1.0, 0.8, 2.0]),
        "quantile_low_s": floats([0.4, 0.9, -0.1, None]),
        "quantile_high_s": floats([0.6, 1.1, 1.7, None]),
    }
    return pd.DataFrame(table | changes)


def test_quantiles_stand_at_the_vincentiles_with_their_intervals():
    ax = plot_quantiles(quantile_table(), axes())
    assert line(ax, "direct").get_xdata().tolist() == [0.5, 1.0]
    assert line(ax, "exclusion").get_ydata().tolist() == [10, 90]
    assert [[0.4, 10], [0.6, 10]] in segments(ax)
    # A bound below 0 leaves the log axis, and does not stretch it.
    assert ax.get_xlim()[0] > 0.2
    assert ax.get_xscale() == "log"


def test_rule_without_rts_has_no_quantiles():
    ax = plot_quantiles(quantile_table(quantile_s=floats([0.5, 1.0, None, None])), axes())
    assert [each.get_label() for each in ax.lines] == ["direct"]
    every = floats([None] * 4)
    nothing = {f"quantile{end}_s": every for end in ("", "_low", "_high")}
    assert not plot_quantiles(quantile_table(**nothing), axes()).lines


def delta_tables(n_people=3):
    people = pd.DataFrame(
        [
            {"participant_id": f"p{i}", "contrast": "exclusion - direct", "probability": p,
             "mean_s": 1.0 + p + i / 10, "difference_s": p + i / 10}
            for i in range(n_people)
            for p in (0.25, 0.75)
        ]
    ).astype({"mean_s": "Float64", "difference_s": "Float64"})  # fmt: skip
    group = pd.DataFrame(
        {
            "contrast": "exclusion - direct",
            "probability": [0.25, 0.75],
            "mean_s": floats([1.35, 1.85]),
            "difference_s": floats([0.35, 0.85]),
            "difference_low_s": floats([0.1, 0.6]) if n_people > 1 else floats([None] * 2),
            "difference_high_s": floats([0.6, 1.1]) if n_people > 1 else floats([None] * 2),
        }
    )
    return people, group


def test_delta_plot_draws_the_group_and_each_participant():
    people, group = delta_tables()
    ax = plot_delta(people, group, axes())
    drawn = line(ax, "exclusion − direct")
    assert drawn.get_xdata().tolist() == [1.35, 1.85]
    assert drawn.get_ydata().tolist() == [0.35, 0.85]
    assert drawn.get_color() == RULE_COLOURS["exclusion"]
    assert [[1.35, 0.1], [1.35, 0.6]] in segments(ax)
    assert np.array(segments(ax)[1]) == pytest.approx(np.array([[1.35, 0.35], [1.85, 0.85]]))
    low, high = ax.get_ylim()
    assert low < 0
    assert high > 1.1


def test_delta_plot_of_one_participant_has_one_line_and_no_bars():
    ax = plot_delta(*delta_tables(n_people=1), axes())
    assert len(line(ax, "exclusion − direct").get_xdata()) == 2
    assert all(not len(each) for each in segments(ax))


def test_one_slow_participant_does_not_set_the_scale_of_a_delta_plot():
    people, group = delta_tables(n_people=30)
    slow = people["participant_id"] == "p29"
    people.loc[slow, ["mean_s", "difference_s"]] = 80.0
    ax = plot_delta(people, group, axes())
    assert ax.get_xlim()[1] < 10
    assert ax.get_ylim()[1] < 10


def test_conditional_accuracy_stands_at_the_bins_in_percent():
    table = pd.DataFrame(
        {
            "rule": "direct",
            "bin": [1, 2, 3],
            "mean_rt_s": floats([0.5, 0.8, 1.5]),
            "p_correct": floats([0.7, 0.9, 1.0]),
            "p_correct_low": floats([0.6, 0.85, None]),
            "p_correct_high": floats([0.8, 0.95, None]),
        }
    )
    ax = plot_conditional_accuracy(table, axes())
    assert line(ax, "direct").get_xdata().tolist() == [0.5, 0.8, 1.5]
    assert line(ax, "direct").get_ydata() == pytest.approx([70, 90, 100])
    assert ax.get_ylim()[0] <= 60
    assert max(ax.get_yticks()) == 100


@pytest.mark.parametrize("p_correct", [0.0, 1.0])
def test_conditional_accuracy_of_all_right_or_all_wrong_is_within_the_axis(p_correct):
    table = pd.DataFrame(
        {"rule": ["direct"], "bin": [1], "mean_rt_s": floats([0.5]),
         "p_correct": floats([p_correct]), "p_correct_low": floats([None]),
         "p_correct_high": floats([None])}
    )  # fmt: skip
    ax = plot_conditional_accuracy(table, axes())
    low, high = ax.get_ylim()
    assert low < 100 * p_correct < high
    assert min(ax.get_yticks()) >= 0


def speed_table(p_correct=(0.9, 0.8, 1.0, 0.6)):
    return pd.DataFrame(
        {
            "participant_id": ["a", "a", "b", "b"],
            "rule": ["direct", "exclusion"] * 2,
            "mean_rt_s": floats([0.5, 1.0, 0.7, 1.4]),
            "p_correct": floats(list(p_correct)),
        }
    )


def test_arrows_lead_from_direct_to_the_other_rule():
    ax = plot_speed_accuracy(speed_table(), axes())
    (arrow,) = (text for text in ax.texts if hasattr(text, "arrow_patch"))
    assert arrow.xyann == pytest.approx((0.6, 95))
    assert arrow.xy == pytest.approx((1.2, 70))
    assert [[0.5, 90], [1.0, 80]] in segments(ax)
    assert points(ax, "D") == [(pytest.approx(0.6), 95), (pytest.approx(1.2), 70)]


def test_participant_without_one_of_the_rules_has_no_arrow():
    ax = plot_speed_accuracy(speed_table(p_correct=(0.9, 0.8, 1.0, None)), axes())
    assert points(ax, "D") == [(0.5, pytest.approx(90)), (1.0, pytest.approx(80))]
    assert not segments(ax)


def test_speed_and_accuracy_of_one_rule_are_an_empty_panel_and_no_error():
    table = speed_table()
    ax = plot_speed_accuracy(table[table["rule"] == "direct"], axes())
    assert not ax.lines


def test_ex_gaussian_parameters_are_drawn_where_a_fit_converged():
    people = pd.DataFrame(
        {
            "participant_id": ["a", "b", "c"],
            "rule": "direct",
            "tau_s": floats([0.2, 0.4, 9.0]),
            "converged": pd.array([True, True, False], dtype="boolean"),
        }
    )
    groups = pd.DataFrame(
        {"measure": ["mu_s", "tau_s"], "rule": "direct", "mean": floats([0.5, 0.3]),
         "low": floats([0.4, -0.1]), "high": floats([0.6, 0.7])}
    )  # fmt: skip
    ax = plot_ex_gaussian(people, groups, axes(), parameter="tau_s")
    assert [x for x, _ in points(ax)] == pytest.approx([0.2, 0.4])
    assert [x for x, _ in points(ax, "D")] == pytest.approx([0.3])
    assert [each[0][0] for each in segments(ax)] == pytest.approx([-0.1])
    assert ax.get_xlim()[0] <= -0.1
    assert [label.get_text() for label in ax.get_yticklabels()] == ["direct"]


# --- forests --------------------------------------------------------------------------------


def estimates(rows):
    names = ["estimate", "low", "high"]
    table = pd.DataFrame([dict(zip(names, row, strict=True)) for row in rows]).astype("Float64")
    return table.assign(place=np.arange(len(table), dtype=float), colour="#123456")


def test_estimates_stand_where_the_table_says_with_their_intervals():
    ax = plot_estimates(estimates([(1.5, 1.2, 1.9), (0.8, 0.7, 0.9)]), axes(), on="ratio")
    assert points(ax) == [(0.8, 1.0), (1.5, 0.0)]
    spans = [each.get_xdata() for each in ax.lines if each.get_xdata()[0] == 1.2]
    assert [[float(x) for x in span] for span in spans] == [[1.2, 1.9]]
    assert ax.get_xscale() == "log"
    assert 1.0 in ax.get_xticks()


def test_estimate_without_interval_is_hollow_and_missing_one_is_absent():
    table = estimates([(0.1, None, None), (None, None, None), (0.2, 0.1, 0.3)])
    ax = plot_estimates(table, axes(), on="difference")
    assert points(ax) == [(0.1, 0.0), (0.2, 2.0)]
    hollow = {each.get_ydata()[0]: each.get_markerfacecolor() for each in ax.lines
              if each.get_marker() == "o"}  # fmt: skip
    assert hollow == {0.0: "white", 2.0: "#123456"}


def test_extremely_wide_interval_is_cut_and_ends_in_arrows():
    rows = [(1.0, 0.9, 1.1)] * 5 + [(1.05, 0.05, 20.0)]
    ax = plot_estimates(estimates(rows), axes(), on="ratio")
    start, end = ax.get_xlim()
    assert start > 0.5
    assert end < 2.0
    assert points(ax, "<") == [(pytest.approx(start), 5.0)]
    assert points(ax, ">") == [(pytest.approx(end), 5.0)]


@pytest.mark.parametrize("on", ["ratio", "difference"])
@pytest.mark.parametrize("rows", [[(None, None, None)], [(1.0, 1.0, 1.0)], [(1e-9, None, None)]])
def test_axis_of_estimates_always_has_a_length(on, rows):
    start, end = estimate_limits(estimates(rows), on=on)
    assert np.isfinite([start, end]).all()
    assert start < end
    ax = plot_estimates(estimates(rows), axes(), on=on)
    assert len(ax.get_xticks()) >= 1


# --- sequences ------------------------------------------------------------------------------


def effects_table():
    return pd.DataFrame(
        {
            "effect": ["mixing", "mixing", "rule_switch"],
            "mode": pd.array([None] * 3, dtype="string"),
            "rule": pd.array([None, "exclusion", None], dtype="string"),
            "rt_ratio": floats([1.2, 1.4, None]),
            "rt_ratio_low": floats([1.1, None, None]),
            "rt_ratio_high": floats([1.3, None, None]),
            "p_error_difference": floats([0.05, None, -0.02]),
            "p_error_difference_low": floats([0.01, None, None]),
            "p_error_difference_high": floats([0.09, None, None]),
        }
    )


def test_sequence_effects_stand_in_their_rows_rule_below_rule():
    rows = effect_rows(effects_table(), of="rt")
    assert rows["effect"].tolist() == ["mixing", "mixing"]
    ax = plot_sequence_effects(
        rows, axes(), of="rt", effects=["rule_switch", "mixing"], rules=["exclusion"]
    )
    assert points(ax) == [(1.2, pytest.approx(0.85)), (1.4, pytest.approx(1.15))]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["rule switch", "mixing"]


def test_an_effect_with_one_estimate_has_it_beside_its_name():
    rows = effect_rows(effects_table().assign(rt_ratio=floats([1.2, None, 1.3])), of="rt")
    ax = plot_sequence_effects(
        rows, axes(), of="rt", effects=["rule_switch", "mixing"], rules=["direct", "exclusion"]
    )
    assert points(ax) == [(1.2, 1.0), (1.3, 0.0)]


def test_differences_of_errors_are_drawn_in_percentage_points():
    rows = effect_rows(effects_table(), of="errors")
    assert rows["estimate"].tolist() == [5.0, -2.0]
    assert rows["high"].tolist()[0] == 9.0


def stretch_tables():
    people = pd.DataFrame(
        [
            {"participant_id": p, "rule": "direct", "stretch": stretch}
            for stretch, there in ((1, "abcd"), (2, "a"), (3, "ab"), (5, "abcd"))
            for p in there
        ]
    )
    group = pd.DataFrame(
        {
            "rule": "direct",
            "stretch": pd.array([1, 2, 3, 5], dtype="Int64"),
            "p_correct": floats([0.9, 0.0, 0.8, 1.0]),
            "p_correct_low": floats([0.8, None, 0.5, None]),
            "p_correct_high": floats([1.0, None, 1.0, None]),
        }
    )
    return people, group


def test_errors_over_the_session_are_those_of_the_table():
    ax = plot_errors_over_session(*stretch_tables(), axes())
    drawn = line(ax, "direct")
    assert drawn.get_xdata().tolist() == [1, 2, 3, 4, 5]
    # Of the second stretch one participant in four has a trial; the fourth holds none.
    assert drawn.get_ydata() == pytest.approx([10, np.nan, 20, np.nan, 0], nan_ok=True)
    assert ax.get_ylim()[1] > 50
    assert ax.get_ylim()[0] == 0


# --- reliability ----------------------------------------------------------------------------


def reliability_table():
    return pd.DataFrame(
        {
            "kind": ["rule_effect", "interaction", "cell"],
            "score": [
                "exclusion - direct",
                "(exclusion - direct) mixed - (exclusion - direct) pure",
                "direct, mixed, grab",
            ],
            "rule": pd.array([None, None, "direct"], dtype="string"),
            "block_kind": pd.array(["mixed", None, "mixed"], dtype="string"),
            "r": floats([0.5, -0.2, 0.8]),
            "spearman_brown": floats([0.67, None, 0.89]),
            "spearman_brown_low": floats([0.4, None, None]),
            "spearman_brown_high": floats([0.8, None, None]),
        }
    )


def test_reliabilities_are_drawn_and_negative_ones_are_said():
    ax = plot_reliability(reliability_table(), axes())
    assert points(ax) == [(0.67, 0.0), (0.89, 2.0)]
    assert [[0.4, 0.0], [0.8, 0.0]] in segments(ax)
    assert [(text.get_text(), text.get_position()[1]) for text in ax.texts] == [("r < 0", 1)]


def test_scores_are_named_with_their_levels():
    assert score_names(reliability_table()) == [
        "exclusion − direct, mixed", "exclusion − direct, mixed − pure", "direct, mixed",
    ]  # fmt: skip


# --- contrasts, models, chance --------------------------------------------------------------


def test_contrasts_are_drawn_in_their_units_with_bayes_factors():
    table = pd.DataFrame(
        {
            "measure": ["mean_log_rt", "p_correct"],
            "name": "exclusion - direct",
            "mode": pd.array([None, None], dtype="string"),
            "estimate": floats([0.5, -0.05]),
            "estimate_low": floats([0.4, -0.08]),
            "estimate_high": floats([0.6, -0.02]),
            "ratio": floats([1.65, None]),
            "ratio_low": floats([1.5, None]),
            "ratio_high": floats([1.8, None]),
            "bayes_factor": pd.array(["BF10 = 365, BF01 = 0.00274", None], dtype="string"),
        }
    )
    ratio = contrast_rows(table, measure="mean_log_rt")
    ax = plot_contrasts(ratio, axes(), measure="mean_log_rt", labels=["rule"])
    assert points(ax) == [(1.65, 0.0)]
    assert [text.get_text() for text in ax.texts] == ["BF₁₀", "365"]
    accuracy = contrast_rows(table, measure="p_correct")
    ax = plot_contrasts(accuracy, axes(), measure="p_correct", labels=["rule"])
    assert points(ax) == [(-5.0, 0.0)]
    assert not ax.texts


def test_bayes_factors_keep_their_powers():
    assert bayes_label("BF10 = 2.45 × 10^-12, BF01 = 4.1 × 10^11") == "2.45 × 10⁻¹²"
    assert bayes_label(pd.NA) == ""


def test_effects_of_the_chosen_model_are_drawn_without_the_intercept():
    table = pd.DataFrame(
        {
            "outcome": ["log_rt"] * 3 + ["error"],
            "mode": pd.array([None] * 4, dtype="string"),
            "selected": pd.array([True, True, False, True], dtype="boolean"),
            "term": ["(Intercept)", "rule[exclusion]", "rule[exclusion]", "rule[exclusion]"],
            "words": ["direct", "exclusion", "exclusion", "exclusion"],
            "estimate": floats([0.0, 0.5, 0.6, 0.2]),
            "low": floats([0.0, 0.4, 0.5, 0.1]),
            "high": floats([0.0, 0.6, 0.7, 0.3]),
            "ratio": floats([1.0, 1.65, 1.8, 1.22]),
            "ratio_low": floats([1.0, 1.5, 1.6, 1.1]),
            "ratio_high": floats([1.0, 1.8, 2.0, 1.35]),
        }
    )
    rows = fixed_effect_rows(table, outcome="log_rt")
    ax = plot_fixed_effects(rows, axes(), outcome="log_rt", terms=["pure", "exclusion"])
    assert points(ax) == [(1.65, 1.0)]
    assert fixed_effect_rows(table, outcome="inverse_rt").empty


def test_errors_stand_beside_their_chance_level():
    table = pd.DataFrame(
        {
            "rule": "direct",
            "error_kind": ["late", "rule_confusion", "shape_capture", "colour_capture"],
            "n_wrong_items": 4,
            "p_of_wrong_items": floats([None, 0.75, 0.25, 0.0]),
            "p_by_chance": floats([None, 0.5, 0.25, 0.0]),
        }
    )
    ax = plot_errors_by_chance(table, axes())
    labels = [label.get_text() for label in ax.get_yticklabels()]
    # Late is no item, and no card allowed a colour capture.
    assert labels == ["direct: rule confusion", "direct: shape capture"]
    assert points(ax) == [(25.0, 1.0), (75.0, 0.0)]
    assert points(ax, "|") == [(25.0, 1.0), (50.0, 0.0)]


# --- whole figures --------------------------------------------------------------------------


def test_grab_and_shout_never_share_a_panel():
    table = pd.DataFrame(
        {"rule": ["direct"] * 4, "block_kind": ["pure", "pure", "mixed", "mixed"],
         "mode": ["grab", "shout"] * 2, "value": range(4)}
    )  # fmt: skip
    found = list(panels(table, ("rule", "block_kind", "mode")))
    assert [name for name, _ in found] == [
        "pure blocks, grab trials", "pure blocks, shout trials", "mixed blocks, grab trials",
        "mixed blocks, shout trials",
    ]  # fmt: skip
    assert all(rows["mode"].nunique() == 1 for _, rows in found)


@pytest.mark.parametrize("n_panels", [1, 2, 3, 4])
def test_every_lowest_panel_of_a_grid_has_numbers(n_panels):
    figure, drawn = grid_sheet(n_panels, row_in=2.0)
    figure.draw_without_rendering()
    assert len(figure.axes) == len(drawn) == n_panels
    lowest = drawn[-min(n_panels, 2) :]
    for ax in lowest:
        assert any(label.get_visible() for label in ax.get_xticklabels())


@pytest.mark.parametrize("column", ["single", "one_and_a_half", "double"])
def test_files_have_the_width_of_the_column_and_legible_letters(tmp_path, column):
    figure, (ax,) = grid_sheet(1, row_in=2.0)
    ax.plot([0, 1], [0, 1], label="rule")
    ax.set_title("grab trials", fontsize=8)
    ax.legend(fontsize=9)
    save_figure(figure, tmp_path / "made", column=column)
    with Image.open(tmp_path / "made.png") as image:
        assert image.width / 300 * 25.4 == pytest.approx(COLUMN_MM[column], abs=0.2)
    assert figure.get_figwidth() * 25.4 == pytest.approx(COLUMN_MM[column])
    sizes = [text.get_fontsize() for text in figure.findobj(Text) if text.get_text().strip()]
    assert min(sizes) >= 7
    assert sorted(p.suffix for p in tmp_path.iterdir()) == [".pdf", ".png", ".svg"]


def test_figure_that_has_the_width_is_not_laid_out_again():
    figure, _ = grid_sheet(2, row_in=2.0)
    height = figure.get_figheight()
    assert fit_column(figure, "double").get_figheight() == height


def test_every_figure_has_a_caption_that_says_n_and_who_answered(draw_trials):
    trials = draw_trials(
        np.random.default_rng(4), n_participants=6, n_per_cell=12, modes=("grab", "shout"),
        block_kinds=("pure", "mixed"), p_error=0.2,
    )  # fmt: skip
    analysis = analyze_trials(trials, WIDE)
    figures, captions = build_figures(analysis), figure_captions(analysis)
    assert set(figures) <= set(captions)
    assert {"rt_delta", "rt_caf", "rt_quantiles", "speed_accuracy", "errors_by_chance",
            "sequence_effects", "errors_over_session", "reliability", "model_effects",
            "planned_contrasts"} <= set(figures)  # fmt: skip
    for name, text in captions.items():
        assert "n = 6" in text or "of 6" in text, name
        assert text.endswith("Simulated data, not people."), name
        assert "never pooled" in text, name
        assert "<" not in text.replace("r < 0", ""), name
    quantiles = figures["rt_quantiles"].axes
    table = analysis.distributions.group_quantiles
    of_panel = table[(table["mode"] == "grab") & (table["block_kind"] == "pure")]
    drawn = line(quantiles[0], "direct").get_xdata()
    expected = of_panel.loc[of_panel["rule"] == "direct", "quantile_s"]
    assert drawn.tolist() == pytest.approx(expected.tolist())


def test_caption_of_one_participant_promises_no_interval(make_trials):
    rows = [{}, {"rule": "exclusion", "rt_s": 1.4}] * 4
    captions = figure_captions(analyze_trials(make_trials(rows), WIDE))
    for name in ("rt_by_cell", "accuracy_by_cell", "rt_delta", "rt_quantiles", "rt_caf"):
        assert "t interval" not in captions[name], name
        assert "within-participant" not in captions[name], name
