from __future__ import annotations

import itertools
import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text

from ghostblitz_analysis import results
from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_analysis.figures import build_figures, figure_svg, save_figure
from ghostblitz_analysis.hat_plots import plot_lag_errors, plot_lag_rt
from ghostblitz_analysis.paper_figures import MAKERS
from ghostblitz_analysis.plot_axes import join_seconds_axes
from ghostblitz_analysis.plots import (
    kinds_are_pooled,
    kinds_to_draw,
    plot_accuracy,
    plot_error_kinds,
    plot_group_rt,
    plot_participant_rt,
    plot_rt_distribution,
    plot_rt_over_session,
)
from ghostblitz_analysis.settings import AnalysisSettings, BoundsSettings
from ghostblitz_analysis.wording import ERROR_COLOURS, RULE_COLOURS
from ghostblitz_task.schema import ERROR_KINDS, RULES

#: What these tests look at; the other parts have tests of their own.
analyze_trials = partial(results.analyze_trials, parts=("cells",))

KINDS_OF_CARDS = ("plain", "hat_grab", "hat_call")
WIDE = AnalysisSettings(bounds=BoundsSettings(min_rt_s=0, max_rt_s=1000))
HAT_FIGURES = {"hat_rt", "hat_lag"}
EVERY = {"rt_by_cell", "rt_distribution", "accuracy_by_cell", "error_kinds", "rt_over_session"}
#: Those that need more than any trial at all.
FURTHER = set(MAKERS)


def axes():
    return Figure().subplots()


def labels_beyond_limits(figure: Figure) -> set[int]:
    """Matplotlib keeps labels of ticks outside the limits, but never draws them."""
    hidden = set()
    for ax in [a for parent in figure.axes for a in (parent, *parent.child_axes)]:
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in axis.get_major_ticks():
                if not low <= tick.get_loc() <= high:
                    hidden |= {id(tick.label1), id(tick.label2)}
    return hidden


def shown_texts(figure: Figure) -> list[tuple[str, object]]:
    figure.draw_without_rendering()
    hidden = labels_beyond_limits(figure)
    return [
        (text.get_text(), text.get_window_extent())
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip() and id(text) not in hidden
    ]


def overlapping(figure: Figure) -> list[tuple[str, str]]:
    pairs = itertools.combinations(shown_texts(figure), 2)
    # A pixel of overlap of the boxes is air between the letters.
    return [(a, b) for (a, p), (b, q) in pairs if p.padded(-1).overlaps(q.padded(-1))]


def cut(figure: Figure) -> list[str]:
    width, height = figure.bbox.width, figure.bbox.height
    return [
        text
        for text, box in shown_texts(figure)
        if box.x0 < -1 or box.y0 < -1 or box.x1 > width + 1 or box.y1 > height + 1
    ]


@pytest.mark.slow
@pytest.mark.parametrize("n_participants", [1, 2, 12, 40])
@pytest.mark.parametrize("modes", [("grab",), ("grab", "shout")])
@pytest.mark.parametrize("block_kinds", [("mixed",), ("pure", "mixed")])
def test_no_text_overlaps_or_is_cut(draw_trials, n_participants, modes, block_kinds):
    trials = draw_trials(
        np.random.default_rng(n_participants), n_participants=n_participants, n_per_cell=6,
        modes=modes, block_kinds=block_kinds, p_error=0.3, person_sd=0.5,
    )  # fmt: skip
    figures = build_figures(analyze_trials(trials, WIDE))
    assert set(figures) - FURTHER == EVERY
    for name, figure in figures.items():
        assert (name, overlapping(figure), cut(figure)) == (name, [], [])


@pytest.mark.slow
@pytest.mark.parametrize(
    "rows",
    [
        [{}],
        [{"rt_s": 0.7}] * 30,
        [{"rt_s": 0.001}, {"rt_s": 900.0, "rule": "exclusion"}],
        [{"participant_id": "a"}, {"participant_id": "b", "rule": "exclusion"}],
        [{}, {"rule": "exclusion", "error_kind": "late"}],
        [{"error_kind": kind, "rt_s": -0.1 if kind == "early" else 1.0} for kind in ERROR_KINDS]
        + [{}],
    ],
    ids=["one trial", "identical RTs", "extreme RTs", "half cells", "no exclusion RT", "all kinds"],
)
def test_hard_data_can_be_drawn(make_trials, tmp_path, rows):
    figures = build_figures(analyze_trials(make_trials(rows), WIDE))
    assert set(figures) - FURTHER == EVERY
    for name, figure in figures.items():
        assert (name, overlapping(figure), cut(figure)) == (name, [], [])
        save_figure(figure, tmp_path / name)
    assert len(list(tmp_path.iterdir())) == 3 * len(figures)


@pytest.mark.slow
def test_without_any_rt_only_errors_are_drawn(make_trials):
    trials = make_trials([{"error_kind": "late"}] * 3)
    figures = set(build_figures(results.analyze_trials(trials, WIDE)))
    assert figures & EVERY == {"accuracy_by_cell", "error_kinds"}
    assert figures - EVERY == {"errors_over_session"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "note"),
    [
        ("simulated", "simulated data, not people"),
        ("robot", "played by a robot, not a person"),
        ("human", None),
        ("imported", None),
    ],
)
def test_every_figure_says_when_no_person_answered(make_trials, source, note):
    figures = build_figures(analyze_trials(make_trials([{"source": source}]), WIDE))
    for figure in figures.values():
        texts = [text for text, _ in shown_texts(figure)]
        assert (note in texts) is (note is not None)


@pytest.mark.slow
def test_group_markers_stand_at_the_group_means(draw_trials):
    trials = draw_trials(np.random.default_rng(1), n_participants=5, n_per_cell=4)
    group = analyze_trials(trials, WIDE).group_cells
    ax = plot_group_rt(group, axes())
    drawn = [bars[0].get_ydata()[0] for bars in ax.containers]
    assert drawn == pytest.approx(group["geometric_mean_within_rt_s"].tolist())
    bars = [container[2][0].get_segments()[0][:, 1] for container in ax.containers]
    expected = group[["geometric_mean_within_rt_low_s", "geometric_mean_within_rt_high_s"]]
    assert np.array(bars) == pytest.approx(expected.to_numpy(dtype=float))


@pytest.mark.slow
def test_every_participant_has_a_dot_in_every_cell(draw_trials):
    trials = draw_trials(np.random.default_rng(2), n_participants=7, n_per_cell=4)
    cells = analyze_trials(trials, WIDE).participant_cells
    ax = plot_participant_rt(cells, axes())
    drawn = sorted(y for line in ax.lines for y in line.get_ydata())
    assert drawn == pytest.approx(sorted(cells["geometric_mean_rt_s"]))


def test_accuracy_is_drawn_in_percent(make_trials):
    group = analyze_trials(make_trials([{}] * 3 + [{"error_kind": "late"}]), WIDE).group_cells
    ax = plot_accuracy(group, axes())
    assert ax.containers[0][0].get_ydata()[0] == pytest.approx(75)
    assert "%" in ax.get_ylabel()


def test_bars_are_as_long_as_the_share_of_errors(make_trials):
    rows = [{"error_kind": "rule_confusion"}] * 2 + [{"error_kind": "late"}] + [{}] * 7
    ax = plot_error_kinds(analyze_trials(make_trials(rows), WIDE).error_totals, axes())
    widths = {c.get_label(): c.patches[0].get_width() for c in ax.containers}
    assert widths == {"rule confusion": pytest.approx(20), "late": pytest.approx(10)}
    assert ax.get_yticklabels()[0].get_text() == "direct\n3 of 10 trials wrong"
    assert ax.yaxis_inverted()  # The first rule stands on top.


def test_without_errors_the_figure_says_so(make_trials):
    ax = plot_error_kinds(analyze_trials(make_trials([{}]), WIDE).error_totals, axes())
    assert [text.get_text() for text in ax.texts] == ["no errors"]


def test_a_histogram_adds_up_to_all_trials_of_its_rule(make_trials):
    trials = make_trials([{"rt_s": rt} for rt in (0.5, 0.6, 1.5, 3.0)])
    ax = plot_rt_distribution(trials, axes(), edges_s=np.array([0.1, 1.0, 2.0, 4.0]))
    assert ax.patches[0].get_data().values.tolist() == [50, 25, 25]


def test_the_course_of_the_session_is_the_mean_of_participants(make_trials):
    rows = [{"participant_id": "a", "rt_s": rt} for rt in (1.0, 1.0, 1.0, 4.0)]
    rows += [{"participant_id": "b", "rt_s": rt} for rt in (4.0, 4.0, 1.0, 1.0)]
    ax = plot_rt_over_session(make_trials(rows), axes(), edges=np.array([0.0, 2.0, 4.0]))
    line = next(line for line in ax.lines if line.get_label() == "direct")
    assert line.get_xdata().tolist() == [1.5, 3.5]
    assert line.get_ydata() == pytest.approx([2.0, np.sqrt(2.0)])


def test_lines_over_the_session_break_where_a_stretch_has_no_trial(make_trials):
    rows = [
        {"participant_id": person, "rule": rule, "trial_index": i}
        for person in "ab"
        for i, rule in enumerate(["direct"] * 2 + ["exclusion"] * 2 + ["direct"] * 2)
    ]
    edges = np.array([0.0, 2.0, 4.0, 6.0, 8.0])
    ax = plot_rt_over_session(make_trials(rows), axes(), edges=edges)
    line = next(line for line in ax.lines if line.get_label() == "direct")
    assert np.isnan(line.get_ydata()).tolist() == [False, True, False]
    for thin in ax.collections[0].get_segments():
        assert len(thin) < 3 or np.isnan(thin[1, 1])


def test_the_mean_over_the_session_does_not_join_different_people(make_trials):
    rows = [{"participant_id": p, "trial_index": i} for p in "ab" for i in (0, 1)]
    rows += [{"participant_id": p, "trial_index": i} for p in "bcd" for i in (2, 3)]
    edges = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    ax = plot_rt_over_session(make_trials(rows), axes(), edges=edges)
    line = next(line for line in ax.lines if line.get_label() == "direct")
    assert line.get_xdata() == pytest.approx([1, 2, np.nan, 3, 4], nan_ok=True)
    assert np.isnan(line.get_ydata()).tolist() == [False, False, True, False, False]


@pytest.mark.slow
def test_no_line_over_the_session_is_cut_by_the_limits_of_another_panel(make_trials):
    rows = [
        {"participant_id": person, "mode": mode, "rt_s": rt_s}
        for person, fast, slow in (("a", 0.5, 9.0), ("b", 0.6, 0.7))
        for mode, rt_s in [("grab", slow)] * 12 + [("shout", fast)] * 12
    ]
    figure = build_figures(analyze_trials(make_trials(rows), WIDE))["rt_over_session"]
    for ax in figure.axes:
        low, high = ax.get_ylim()
        assert low < 0.5
        assert high > 9.0


def test_bars_stand_above_their_markers(draw_trials):
    trials = draw_trials(np.random.default_rng(1), n_participants=5, n_per_cell=4)
    ax = plot_group_rt(analyze_trials(trials, WIDE).group_cells, axes())
    for marker, caps, bars in ax.containers:
        assert min(artist.get_zorder() for artist in (*caps, *bars)) > marker.get_zorder()


@pytest.mark.slow
@pytest.mark.parametrize("rows", [[{}], [{}, {"error_kind": "late"}], [{"error_kind": "late"}]])
def test_accuracy_has_no_tick_beyond_what_exists(make_trials, rows):
    ax = plot_accuracy(analyze_trials(make_trials(rows), WIDE).group_cells, axes())
    ticks = ax.get_yticks()
    assert len(ticks) > 2
    assert ticks.min() >= 0
    assert ticks.max() == 100


@pytest.mark.slow
def test_one_trial_stands_on_a_whole_number_of_the_session(make_trials):
    figure = build_figures(analyze_trials(make_trials([{}]), WIDE))["rt_over_session"]
    ax = figure.axes[0]
    low, high = ax.get_xlim()
    shown = [tick for tick in ax.get_xticks() if low <= tick <= high]
    assert shown == [1.0]


def test_an_axis_of_one_participant_has_several_ticks(make_trials):
    trials = make_trials([{"rt_s": 0.8}, {"rt_s": 1.2, "rule": "exclusion"}])
    ax = plot_group_rt(analyze_trials(trials, WIDE).group_cells, axes())
    low, high = ax.get_ylim()
    assert sum(low <= tick <= high for tick in ax.get_yticks()) >= 3


@pytest.mark.slow
def test_errors_of_two_modes_are_drawn_apart_on_one_scale(make_trials):
    rows = [{"error_kind": "late"}, {}, {"mode": "shout", "error_kind": "late"}]
    figure = build_figures(analyze_trials(make_trials(rows), WIDE))["error_kinds"]
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["grab trials", "shout trials"]
    assert [ax.patches[0].get_width() for ax in figure.axes] == [50, 100]
    assert {ax.get_xlim()[1] for ax in figure.axes} == {104}


@pytest.mark.slow
def test_figures_of_mixed_sources_say_partly(make_trials):
    rows = [{"participant_id": "a", "source": "simulated"}, {"participant_id": "b"}]
    for figure in build_figures(analyze_trials(make_trials(rows), WIDE)).values():
        assert "partly simulated data, not people" in [text for text, _ in shown_texts(figure)]


@pytest.mark.slow
def test_the_same_figure_gives_the_same_bytes(make_trials):
    analysis = analyze_trials(make_trials([{}, {"rule": "exclusion"}]), WIDE)
    first, second = build_figures(analysis), build_figures(analysis)
    for name in EVERY:
        assert figure_svg(first[name]) == figure_svg(second[name])


@pytest.mark.slow
def test_pyplot_is_not_used(make_trials):
    build_figures(analyze_trials(make_trials([{}]), WIDE))
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or not pyplot.get_fignums()


# --- hats and further rules --------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "rules"),
    [
        ("spooky-doo", ()),
        ("five-to-twelve", ()),
        ("five-to-twelve", ("mirror", "mirror-owl", "owl")),
    ],
)
def test_no_text_overlaps_or_is_cut_with_hats_or_further_rules(simulate_game, game, rules):
    for path in simulate_game(game, rules=rules, n_participants=2, n_trials=80, model="guessing"):
        dataset = load_dataset(path)
        figures = build_figures(analyze_trials(dataset.trials, WIDE))
        for name, figure in figures.items():
            assert not cut(figure), name
            assert not overlapping(figure), name


@pytest.mark.slow
def test_no_text_overlaps_where_modes_have_rules_of_their_own(make_trials):
    rules = {"grab": ("direct", "exclusion", "mirror"),
             "shout": ("direct", "exclusion", "mirror-owl", "time")}  # fmt: skip
    rows = [
        {"rule": rule, "mode": mode, "block_kind": kind, "block_index": int(kind == "mixed"),
         "rt_s": 0.5 + 0.01 * n, "card": "ghost:white mouse:red", "target": "ghost",
         "participant_id": f"p{n}", "game": "grab-or-shout", "source": "simulated"}
        for n in range(3)
        for kind in ("pure", "mixed")
        for mode in ("grab", "shout")
        for rule in rules[mode]
    ]  # fmt: skip
    figures = build_figures(analyze_trials(make_trials(rows), WIDE))
    for name in ("rt_by_cell", "accuracy_by_cell"):
        assert not overlapping(figures[name]), name
        assert not cut(figures[name]), name


@pytest.mark.slow
def test_no_text_overlaps_with_five_rules_in_pure_and_mixed_blocks_and_two_modes(make_trials):
    rows = [
        {"rule": rule, "mode": mode, "block_kind": kind, "block_index": int(kind == "mixed"),
         "rt_s": 0.5 + 0.01 * n, "card": "ghost:white mouse:red", "target": "ghost",
         "participant_id": f"p{n}", "game": "grab-or-shout"}
        for n in range(3)
        for kind in ("pure", "mixed")
        for mode in ("grab", "shout")
        for rule in RULES
    ]  # fmt: skip
    figures = build_figures(analyze_trials(make_trials(rows), WIDE))
    for name in ("rt_by_cell", "accuracy_by_cell", "error_kinds"):
        assert not cut(figures[name]), name
        assert not overlapping(figures[name]), name


@pytest.mark.slow
def test_a_hat_has_figures_of_its_own(make_trials, make_hat_row):
    rows = [make_hat_row(kind, lag=lag) for kind in KINDS_OF_CARDS for lag in range(4)]
    trials = make_trials(row | {"source": "simulated"} for row in rows)
    figures = build_figures(analyze_trials(trials, WIDE))
    assert set(figures) - FURTHER == EVERY | HAT_FIGURES
    for name in HAT_FIGURES:
        assert "simulated data, not people" in {text for text, _ in shown_texts(figures[name])}


@pytest.mark.slow
def test_without_known_moves_there_is_no_figure_of_lags(make_trials, make_hat_row):
    rows = [make_hat_row(kind, trials_since_hat_move=None) for kind in KINDS_OF_CARDS]
    figures = set(build_figures(analyze_trials(make_trials(rows), WIDE)))
    assert figures - FURTHER == EVERY | {"hat_rt"}


@pytest.mark.slow
def test_without_any_rt_the_hat_has_no_figure(make_trials, make_hat_row):
    rows = [make_hat_row(kind, error_kind="late") for kind in KINDS_OF_CARDS]
    assert set(build_figures(analyze_trials(make_trials(rows), WIDE))) & HAT_FIGURES == set()


@pytest.mark.slow
def test_lags_are_drawn_at_the_group_means(make_trials, make_hat_row):
    rows = [make_hat_row("plain", lag=lag, rt_s=1.0 + lag) for lag in range(4)]
    rows += [make_hat_row("plain", lag=1, error_kind="late")]
    hat = analyze_trials(make_trials(rows), WIDE).hat
    ax = plot_lag_rt(hat.participant_lags, hat.lags, axes())
    line = next(
        line for line in ax.lines if line.get_linestyle() == "-" and len(line.get_xdata()) == 4
    )
    assert list(line.get_xdata()) == [0, 1, 2, 3]
    assert list(line.get_ydata()) == pytest.approx([1, 2, 3, 4])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0", "1", "2", "3+"]
    ax = plot_lag_errors(hat.participant_lags, hat.lags, axes())
    line = next(
        line for line in ax.lines if line.get_linestyle() == "-" and len(line.get_xdata()) == 4
    )
    assert list(line.get_ydata()) == pytest.approx([0, 50, 0, 0])


def test_rare_kinds_of_error_stand_together_so_that_bars_stay_as_long(make_trials):
    kinds = [kind for n, kind in enumerate(ERROR_KINDS) for _ in range(n + 1)]
    rows = [{"error_kind": kind, "rt_s": -0.1 if kind == "early" else 0.8} for kind in kinds]
    table = analyze_trials(make_trials([*rows, *({} for _ in rows)]), WIDE).error_groups
    drawn = kinds_to_draw(table)
    assert len(drawn) == 11
    assert set(drawn) == set(ERROR_KINDS[-11:])
    assert kinds_are_pooled(table)
    ax = plot_error_kinds(table, axes())
    assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(50)
    assert ax.get_legend_handles_labels()[1][-1] == "other kinds"


def test_a_few_kinds_of_error_are_all_drawn(make_trials):
    rows = [{"error_kind": kind} for kind in ERROR_KINDS[3:8]]
    table = analyze_trials(make_trials(rows), WIDE).error_groups
    assert set(kinds_to_draw(table)) == set(ERROR_KINDS[3:8])
    assert not kinds_are_pooled(table)


def test_every_rule_has_a_colour_and_a_line_of_its_own(make_trials):
    assert set(RULE_COLOURS) == set(RULES)
    assert len({to_hex(colour) for colour in RULE_COLOURS.values()}) == len(RULES)
    rows = [
        {"rule": rule, "card": "ghost:white mouse:red", "target": "ghost", "rt_s": 0.5}
        for rule in RULES
    ]
    ax = plot_rt_distribution(make_trials(rows), axes(), edges_s=np.array([0.1, 1.0, 2.0]))
    outlines = [patch for patch in ax.patches if not patch.get_fill()]
    assert len({str(patch.get_linestyle()) for patch in outlines}) == len(RULES)


def test_kinds_of_error_share_no_colour_with_rules_and_all_have_one():
    assert set(ERROR_COLOURS) == set(ERROR_KINDS)
    drawn = {"direct", "exclusion"}
    rules = {to_hex(colour) for rule, colour in RULE_COLOURS.items() if rule in drawn}
    kinds = [to_hex(colour) for colour in ERROR_COLOURS.values()]
    assert len(set(kinds)) == len(kinds)
    assert not rules & set(kinds)


def test_transformation_without_any_rt_leaves_its_column_empty() -> None:
    """The first trials of a pilot, say: a hat was called once, and wrongly."""
    figure = Figure()
    ax = figure.add_subplot()
    people = pd.DataFrame(
        {
            "participant_id": ["a", "a"],
            "lag": ["0", "1"],
            "geometric_mean_rt_s": pd.array([None, None], "Float64"),
            "p_correct": pd.array([0.0, 0.0], "Float64"),
        }
    )
    group = pd.DataFrame({"lag": ["0", "1"]}).assign(
        **{
            name: pd.array([None, None], "Float64")
            for name in (
                "geometric_mean_rt_s", "geometric_mean_rt_low_s", "geometric_mean_rt_high_s",
                "p_error", "p_error_low", "p_error_high",
            )
        }
    )  # fmt: skip
    assert plot_lag_rt(people, group, ax) is ax
    join_seconds_axes([ax])
    assert plot_lag_errors(people, group, figure.add_subplot()).get_ylim()[1] > 100


@pytest.mark.slow
def test_letters_of_a_pdf_are_text_in_fonts_that_journals_take(draw_trials, tmp_path):
    trials = draw_trials(np.random.default_rng(1), n_participants=3, n_per_cell=5)
    figure = build_figures(analyze_trials(trials, WIDE))["accuracy_by_cell"]
    save_figure(figure, tmp_path / "accuracy")
    written = (tmp_path / "accuracy.pdf").read_bytes()
    assert b"/CIDFontType2" in written
    assert b"/Type3" not in written
