"""Forest plots of models' fixed effects and of planned contrasts, and errors against chance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ghostblitz_analysis.forest_plots import Comparison, plot_estimates, set_row_labels
from ghostblitz_analysis.plot_axes import FAINT, INK, SMALL_PT, SOFT, floats, plain
from ghostblitz_analysis.plots import rule_colour, rules_of
from ghostblitz_analysis.wording import ERROR_COLOURS

__all__ = [
    "bayes_label",
    "contrast_rows",
    "fixed_effect_rows",
    "kinds_with_chance",
    "plot_contrasts",
    "plot_errors_by_chance",
    "plot_fixed_effects",
]

_RT_COLOUR, _ERROR_COLOUR = "#0072B2", "#882255"
_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


# --- models ---------------------------------------------------------------------------------


def fixed_effect_rows(fixed_effects: pd.DataFrame, *, outcome: str) -> pd.DataFrame:
    """Return the effects of the models to read, as ratios where there are any.

    Parameters
    ----------
    fixed_effects : DataFrame
        From `fixed_effect_table`.
    outcome : str
        ``log_rt`` (RT ratios), ``inverse_rt`` (differences of -1/RT, per second) or ``error``
        (odds ratios).

    Returns
    -------
    DataFrame, one row per effect
        ``mode``, ``words``, ``estimate``, ``low``, ``high``; the intercept is not an effect and
        is left out.
    """
    chosen = (
        fixed_effects["selected"].astype("boolean").fillna(False)
        & (fixed_effects["outcome"] == outcome)
        & (fixed_effects["term"] != "(Intercept)")
    )
    rows = fixed_effects[chosen.fillna(False).to_numpy(dtype=bool)]
    names = ("estimate", "low", "high")
    if outcome != "inverse_rt":
        names = ("ratio", "ratio_low", "ratio_high")
    return (
        rows[["mode", "words"]]
        .assign(
            **{
                own: floats(rows[name])
                for own, name in zip(("estimate", "low", "high"), names, strict=True)
            }
        )
        .reset_index(drop=True)
    )


def plot_fixed_effects(
    rows: pd.DataFrame,
    ax: Axes,
    *,
    outcome: str,
    terms: Sequence[str],
    limits: tuple[float, float] | None = None,
) -> Axes:
    """Draw the effects of one model as a forest, as ratios of RTs or odds.

    Parameters
    ----------
    rows : DataFrame
        From `fixed_effect_rows`, of one mode.
    ax : Axes
        Where to draw.
    outcome : str
        As for `fixed_effect_rows`.
    terms : sequence of str
        The ``words`` that are the rows from above; a term that the model lacks stays empty.
    limits : (float, float), optional
        As for `plot_estimates`.
    """
    colour = _ERROR_COLOUR if outcome == "error" else _RT_COLOUR
    placed = rows.assign(place=[list(terms).index(term) for term in rows["words"]], colour=colour)
    on: Comparison = "difference" if outcome == "inverse_rt" else "ratio"
    plot_estimates(placed, ax, on=on, limits=limits)
    return set_row_labels(ax, terms, width=38)


# --- planned contrasts ----------------------------------------------------------------------


def contrast_rows(planned_contrasts: pd.DataFrame, *, measure: str) -> pd.DataFrame:
    """Return the contrasts of one measure in the unit that they are drawn in.

    Log RT as ratios, seconds as they are, accuracy in percentage points: ``mode``, ``name``,
    ``estimate``, ``low``, ``high``, ``label`` (the Bayes factor).
    """
    rows = planned_contrasts[planned_contrasts["measure"] == measure]
    stem, scale = "estimate", 1.0
    if measure == "mean_log_rt":
        stem = "ratio"
    elif measure == "p_correct":
        scale = 100.0
    return (
        rows[["mode", "name"]]
        .assign(
            estimate=scale * floats(rows[stem]),
            low=scale * floats(rows[f"{stem}_low"]),
            high=scale * floats(rows[f"{stem}_high"]),
            label=[bayes_label(text) for text in rows["bayes_factor"]],
        )
        .reset_index(drop=True)
    )


def plot_contrasts(rows: pd.DataFrame, ax: Axes, *, measure: str, labels: Sequence[str]) -> Axes:
    """Draw contrasts as a forest, with their Bayes factors at the right.

    Parameters
    ----------
    rows : DataFrame
        From `contrast_rows`.
    ax : Axes
        Where to draw; contrasts are rows from above.
    measure : str
        As for `contrast_rows`; log RT stands on a ratio axis.
    labels : sequence of str
        The name of each row.
    """
    placed = rows.assign(
        place=np.arange(len(rows), dtype=np.float64),
        colour=_ERROR_COLOUR if measure == "p_correct" else _RT_COLOUR,
    )
    plot_estimates(placed, ax, on="ratio" if measure == "mean_log_rt" else "difference")
    set_row_labels(ax, labels, width=36)
    factors = rows["label"].fillna("")
    # Their heading stands above them, half a row beyond the first.
    beside = [("BF₁₀", -0.5, 8.0), *((text, place, 0.0) for place, text in enumerate(factors))]
    for text, place, rise in beside if factors.ne("").any() else ():
        ax.annotate(
            text, (1.0, place), xycoords=("axes fraction", "data"), xytext=(6, rise),
            textcoords="offset points", va="center", fontsize=SMALL_PT, color=INK,
        )  # fmt: skip
    return ax


def bayes_label(text: object) -> str:
    """Return the Bayes factor for an effect as it stands beside a contrast; empty without one.

    Examples
    --------
    >>> bayes_label("BF10 = 4.06 × 10^4, BF01 = 2.46 × 10^-5")
    '4.06 × 10⁴'
    """
    if not isinstance(text, str) or not text:
        return ""
    stem, _, power = text.split(",")[0].removeprefix("BF10 = ").partition("^")
    return stem + power.translate(_RAISED)


# --- errors against chance ------------------------------------------------------------------


def kinds_with_chance(error_totals: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of kinds that have a chance level, without those that no card allows."""
    known = error_totals[error_totals["p_by_chance"].notna() & (error_totals["n_wrong_items"] > 0)]
    return known[(known["p_by_chance"] > 0) | (known["p_of_wrong_items"] > 0)]


def plot_errors_by_chance(error_totals: pd.DataFrame, ax: Axes) -> Axes:
    """Draw how often each kind of wrong item was taken, against how often chance would take it.

    Parameters
    ----------
    error_totals : DataFrame
        From `error_totals`, of one mode: shares of the answers with a wrong item, and what they
        would be if each wrong item of each card were as likely as the others. Only kinds that
        have a chance level are drawn.
    ax : Axes
        Where to draw; rules and their kinds are rows from above.
    """
    known = kinds_with_chance(error_totals)
    labels: list[str] = []
    for rule in rules_of(known) if len(known) else ():
        for row in known[known["rule"] == rule].to_dict("records"):
            place, kind = len(labels), str(row["error_kind"])
            share, chance = 100 * row["p_of_wrong_items"], 100 * row["p_by_chance"]
            ax.hlines(place, min(share, chance), max(share, chance), color=SOFT, lw=1.0, zorder=1)
            ax.plot([chance], [place], "|", ms=13, mew=2.2, color=INK, zorder=2)
            ax.plot([share], [place], "o", ms=7, mec="white", mew=1.0, zorder=3,
                    color=ERROR_COLOURS.get(kind, rule_colour(rule)))  # fmt: skip
            labels.append(f"{rule}: {kind.replace('_', ' ')}")
    ax.plot([], [], "o", ms=7, color=SOFT, label="observed")
    ax.plot([], [], "|", ms=11, mew=2.2, color=INK, label="by chance")
    plain(ax).grid(visible=False)
    ax.grid(visible=True, axis="x", color=FAINT, lw=0.8)
    ax.set_xlim(-2, 102)
    return set_row_labels(ax, labels, width=46)
