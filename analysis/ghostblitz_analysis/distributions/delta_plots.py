"""Delta plots: how a difference between two conditions grows from fast to slow responses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ghostblitz_analysis.distributions.level_pairs import pair_levels
from ghostblitz_analysis.distributions.participant_means import mean_over_participants
from ghostblitz_analysis.distributions.ranked_rts import nullable

__all__ = ["delta_functions", "delta_slopes", "group_delta_functions", "group_delta_slopes"]

#: What is left of a spread of RTs below this share of their size is rounding error.
_EQUAL_WITHIN = 1e-12


def delta_functions(
    quantiles: pd.DataFrame, *, of: str, reference: str, factors: Sequence[str]
) -> pd.DataFrame:
    """Compare participants' quantiles between every other level of a factor and one.

    The difference between two levels at each quantile, against the mean of the two quantiles (De
    Jong, Liang & Lauber 1994, Journal of Experimental Psychology: Human Perception and Performance
    20, 731-750). Assumes that the same quantiles were found in both.

    Parameters
    ----------
    quantiles : DataFrame
        From `participant_quantiles`, with the same `factors`.
    of, reference : str
        The factor, and the level that the others are compared with.
    factors : sequence of str
        What makes the cells.

    Returns
    -------
    DataFrame, one row per participant, contrast and probability
        Within each level of the other factors: ``participant_id``, the other factors,
        ``contrast`` ("level - reference"), ``probability``, ``n_rt_level``, ``n_rt_reference``,
        ``level_s``, ``reference_s`` (the two quantiles), ``mean_s``, ``difference_s``, ``slope``
        (of the segment that leads here from the point before: change of the difference over
        change of the mean; missing at the first point and where the mean does not grow) and
        ``note``: what is missing, and for whom a quantile lies beyond the RTs. No row where the
        reference was never met, or alone.

    Examples
    --------
    >>> import pandas as pd
    >>> quantiles = pd.DataFrame(
    ...     {"participant_id": "a", "rule": ["direct"] * 2 + ["exclusion"] * 2,
    ...      "probability": [0.25, 0.75] * 2, "n_rt": 8, "quantile_s": [1.0, 2.0, 1.5, 3.5],
    ...      "note": ""}
    ... )
    >>> delta = delta_functions(quantiles, of="rule", reference="direct", factors=["rule"])
    >>> delta["difference_s"].tolist(), delta["slope"].tolist()
    ([0.5, 1.5], [<NA>, 0.6666666666666666])
    """
    pairs = pair_levels(quantiles, of=of, reference=reference, factors=factors, along="probability")
    others = [factor for factor in factors if factor != of]
    level, referred = pairs["quantile_s_level"], pairs["quantile_s_reference"]
    first = ["participant_id", *others, "contrast", "probability"]
    table = pairs[[*first, "n_rt_level", "n_rt_reference"]].assign(
        level_s=level,
        reference_s=referred,
        mean_s=(level + referred) / 2,
        difference_s=level - referred,
    )
    table["slope"] = _slopes(table, by=first[:-1])
    table["note"] = _joined_notes(pairs, reference)
    return nullable(table, keys=["participant_id", *others])


def group_delta_functions(
    delta: pd.DataFrame, *, of: str, factors: Sequence[str], confidence: float = 0.95
) -> pd.DataFrame:
    """Average participants' delta functions, quantile by quantile.

    Parameters
    ----------
    delta : DataFrame
        From `delta_functions`, with the same `of` and `factors`.
    of : str
        The factor whose levels were compared.
    factors : sequence of str
        What makes the cells.
    confidence : float
        Level of the t intervals over participants.

    Returns
    -------
    DataFrame, one row per contrast and probability
        The other factors, ``contrast``, ``probability``, ``n_participants``, ``n_left_out`` and
        ``left_out`` (JSON list of the participants without an RT in one of the two cells),
        ``level_s``, ``reference_s``, ``mean_s``, ``difference_s`` (all over the same
        participants) with ``difference_low_s`` and ``difference_high_s``, ``sd_s`` of the
        differences, ``slope`` (of the segment that leads here, between the averages), ``note``.

    Examples
    --------
    >>> import pandas as pd
    >>> delta = pd.DataFrame(
    ...     {"participant_id": ["a", "b"], "contrast": "exclusion - direct", "probability": 0.5,
    ...      "level_s": [2.0, 4.0], "reference_s": [1.0, 1.0], "mean_s": [1.5, 2.5],
    ...      "difference_s": [1.0, 3.0]}
    ... )
    >>> group_delta_functions(delta, of="rule", factors=["rule"])["difference_s"].tolist()
    [2.0]
    """
    others = [factor for factor in factors if factor != of]
    by = [*others, "contrast", "probability"]
    means = mean_over_participants(delta, by=by, value="difference_s", confidence=confidence)
    names = {
        "mean": "difference_s",
        "low": "difference_low_s",
        "high": "difference_high_s",
        "sd": "sd_s",
    }
    means = means.drop(columns=["t", "df", "p"]).rename(columns=names)
    complete = delta[delta["difference_s"].notna()]
    for place, name in enumerate(("level_s", "reference_s", "mean_s")):
        average = complete.groupby(by, sort=False, observed=True)[name].mean().reset_index()
        at = list(means.columns).index("left_out") + 1 + place
        means.insert(at, name, means[by].merge(average, how="left", on=by)[name].astype("Float64"))
    means.insert(list(means.columns).index("note"), "slope", _slopes(means, by=by[:-1]))
    return nullable(means, keys=others)


def delta_slopes(delta: pd.DataFrame, *, of: str, factors: Sequence[str]) -> pd.DataFrame:
    """Find how steeply each participant's delta function rises.

    ``slope`` is that of the least-squares line of the differences on the means;
    ``final_slope`` is that of the last segment, where suppression of a wrong response should show
    as a fall (Ridderinkhof 2002, in Prinz & Hommel, Attention and Performance XIX, 494-519).
    Points of a delta function are not independent, so neither has a standard error of its own;
    test them over participants with `group_delta_slopes`.

    Parameters
    ----------
    delta : DataFrame
        From `delta_functions`, with the same `of` and `factors`.
    of : str
        The factor whose levels were compared.
    factors : sequence of str
        What makes the cells.

    Returns
    -------
    DataFrame, one row per participant and contrast
        ``participant_id``, the other factors, ``contrast``, ``n_points``, ``slope``,
        ``final_slope`` and ``note``.

    Examples
    --------
    >>> import pandas as pd
    >>> delta = pd.DataFrame(
    ...     {"participant_id": "a", "contrast": "time - direct", "probability": [0.2, 0.5, 0.8],
    ...      "mean_s": [1.0, 2.0, 3.0], "difference_s": [0.5, 0.7, 0.9],
    ...      "slope": [None, 0.2, 0.2]}
    ... )
    >>> round(delta_slopes(delta, of="rule", factors=["rule"])["slope"].iloc[0], 12)
    np.float64(0.2)
    """
    others = [factor for factor in factors if factor != of]
    keys = ["participant_id", *others, "contrast"]
    points = delta[keys].assign(
        x=delta["mean_s"].astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan),
        y=delta["difference_s"].astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan),
        last=delta["slope"].astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan),
    )
    groups = points.groupby(keys, sort=False, observed=True)
    means = groups[["x", "y"]].transform("mean")
    x, y = points["x"] - means["x"], points["y"] - means["y"]
    sums = (
        points.assign(n_points=points["x"].notna().astype("int64"), xx=x**2, xy=x * y)
        .groupby(keys, sort=False, observed=True)[["n_points", "xx", "xy"]]
        .sum()
    )
    size = groups["x"].mean()
    spread = sums["xx"].where(sums["xx"] > (_EQUAL_WITHIN * size) ** 2 * sums["n_points"])
    table = sums[["n_points"]].assign(
        slope=sums["xy"] / spread,
        # The last row, missing or not: the last one with a value may be another segment.
        final_slope=points.drop_duplicates(keys, keep="last").set_index(keys)["last"],
        note=np.select(
            [sums["n_points"] == 0, sums["n_points"] == 1, spread.isna()],
            ["no RT in one of the two cells", "one point, so no slope", "the RTs do not spread"],
            "",
        ),
    )
    return nullable(table.reset_index(), keys=["participant_id", *others])


def group_delta_slopes(
    slopes: pd.DataFrame, *, of: str, factors: Sequence[str], confidence: float = 0.95
) -> pd.DataFrame:
    """Average the slopes of participants' delta functions and test them against 0.

    Assumes that slopes are independent and normal over participants; a slope of 0 is a difference
    that is the same for fast and slow responses.

    Parameters
    ----------
    slopes : DataFrame
        From `delta_slopes`, with the same `of` and `factors`.
    of : str
        The factor whose levels were compared.
    factors : sequence of str
        What makes the cells.
    confidence : float
        Level of the t intervals over participants.

    Returns
    -------
    DataFrame, one row per kind of slope and contrast
        ``measure`` (``slope``, ``final_slope``), the other factors, ``contrast``,
        ``n_participants``, ``n_left_out``, ``left_out``, ``mean``, ``low``, ``high``, ``sd``,
        ``t``, ``df``, ``p``, ``note``.

    Examples
    --------
    >>> import pandas as pd
    >>> slopes = pd.DataFrame(
    ...     {"participant_id": ["a", "b", "c"], "contrast": "exclusion - direct",
    ...      "slope": [0.1, 0.2, 0.3], "final_slope": [0.0, 0.1, 0.2]}
    ... )
    >>> group_delta_slopes(slopes, of="rule", factors=["rule"])["mean"].round(12).tolist()
    [0.2, 0.1]
    """
    others = [factor for factor in factors if factor != of]
    parts = []
    for measure in ("slope", "final_slope"):
        means = mean_over_participants(
            slopes, by=[*others, "contrast"], value=measure, confidence=confidence
        )
        means.insert(0, "measure", pd.Series(measure, index=means.index, dtype="string"))
        parts.append(means)
    return nullable(pd.concat(parts, ignore_index=True), keys=others)


def _slopes(table: pd.DataFrame, *, by: list[str]) -> pd.Series:
    """Change of the difference over change of the mean since the row before in each group."""
    values = table[["mean_s", "difference_s"]].astype("Float64")
    changes = values - values.groupby([table[name] for name in by], observed=True).shift(1)
    grows = changes["mean_s"] > _EQUAL_WITHIN * values["mean_s"]
    return changes["difference_s"] / changes["mean_s"].where(grows.fillna(False))


def _joined_notes(pairs: pd.DataFrame, reference: str) -> pd.Series:
    """Tell the notes of both cells, each with its level, as one."""
    level = pairs["contrast"].str.removesuffix(f" - {reference}")
    own, referred = pairs["note_level"], pairs["note_reference"]
    texts = (level + ": " + own).where(own != "", "")
    both = texts.where((own == "") | (referred == ""), texts + "; ")
    return both + (f"{reference}: " + referred).where(referred != "", "")
