"""Conditional accuracy functions: how often answers are right, from the fastest to the slowest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_analysis.distributions.level_pairs import pair_levels
from ghostblitz_analysis.distributions.participant_means import mean_over_participants
from ghostblitz_analysis.distributions.ranked_rts import bins_by_rank, nullable, rank_rts
from ghostblitz_analysis.intervals import EQUAL_PROPORTIONS
from ghostblitz_task.errors import DatasetError

__all__ = [
    "N_BINS",
    "accuracy_differences",
    "conditional_accuracy",
    "group_accuracy_differences",
    "group_conditional_accuracy",
]

#: Bins of equal size in each participant's cell.
N_BINS = 5


def conditional_accuracy(
    trials: pd.DataFrame,
    *,
    factors: Sequence[str],
    n_bins: int = N_BINS,
    used: npt.ArrayLike | None = None,
    participant: str = "participant_id",
    rt: str = "rt_s",
    correct: str = "correct",
) -> pd.DataFrame:
    """Find each participant's accuracy in bins of RT, right and wrong answers ordered together.

    Bins are cut by rank within participant and cell; with n RTs the first ``n % n_bins`` bins hold
    one more than the others (Ulrich, Schröter, Leuthold & Birngruber 2015, Cognitive Psychology
    78, 148-174, show such functions). Equal RTs are ordered as in the table.

    Parameters
    ----------
    trials : DataFrame, one row per trial
        It is not changed.
    factors : sequence of str
        Columns whose combinations are the cells.
    n_bins : int
        At least 2.
    used : (n_trials,) boolean array or None
        The answers to order; None for all with an RT, right or wrong.
    participant, rt, correct : str
        The columns of participant, RT in seconds, and correctness.

    Returns
    -------
    DataFrame, one row per participant, cell and bin
        Every participant has rows for every cell that anyone has. ``participant_id``, the
        factors, ``bin`` (from 1, the fastest), ``n_trials``, ``n_correct``, ``p_correct``,
        ``mean_rt_s`` (of right and wrong answers), ``note``: why they are missing.

    Raises
    ------
    DatasetError
        If a column or a key is missing, an RT to use is not above 0, or there are fewer than two
        bins.

    Examples
    --------
    >>> import pandas as pd
    >>> trials = pd.DataFrame(
    ...     {"participant_id": "a", "rule": "direct", "rt_s": [0.3, 0.4, 0.5, 0.6, 0.7],
    ...      "correct": [False, True, False, True, True]}
    ... )
    >>> caf = conditional_accuracy(trials, factors=["rule"], n_bins=2)
    >>> caf["n_trials"].tolist(), caf["n_correct"].tolist()
    ([3, 2], [1, 2])
    """
    if n_bins < 2:
        raise DatasetError(f"n_bins is {n_bins}; a conditional accuracy function needs 2 or more")
    ranked = rank_rts(
        trials,
        factors=factors,
        used=used,
        participant=participant,
        rt=rt,
        correct=correct,
        errors_too=True,
    )
    n_cells = len(ranked.cells)
    bins = bins_by_rank(ranked.rank, np.repeat(ranked.n_rt, ranked.n_rt), n_bins=n_bins)
    place = ranked.cell * n_bins + bins
    n = np.bincount(place, minlength=n_cells * n_bins)
    n_correct = np.bincount(place[ranked.correct], minlength=n_cells * n_bins)
    sums = np.bincount(place, weights=ranked.rt_s, minlength=n_cells * n_bins)
    divisor = np.where(n > 0, n, np.nan)
    rows = np.repeat(np.arange(n_cells), n_bins)
    n_answers = ranked.n_rt[rows]
    few = pd.Series(n_answers).astype("string").to_numpy(dtype=object)
    table = ranked.cells.iloc[rows].reset_index(drop=True)
    table = table.assign(
        bin=np.tile(np.arange(1, n_bins + 1), n_cells),
        n_trials=n,
        n_correct=n_correct,
        p_correct=n_correct / divisor,
        mean_rt_s=sums / divisor,
        note=np.select(
            [n_answers == 0, n == 0],
            ["no answer with an RT", "answers with an RT: " + few + ", fewer than bins"],
            "",
        ),
    )
    return nullable(table, keys=["participant_id", *factors])


def group_conditional_accuracy(
    caf: pd.DataFrame, *, factors: Sequence[str], confidence: float = 0.95
) -> pd.DataFrame:
    """Average participants' conditional accuracy functions, bin by bin.

    Parameters
    ----------
    caf : DataFrame
        From `conditional_accuracy`, with the same `factors`.
    factors : sequence of str
        What makes the cells.
    confidence : float
        Level of the t intervals over participants.

    Returns
    -------
    DataFrame, one row per cell and bin
        The factors, ``bin``, ``n_participants``, ``n_left_out`` and ``left_out`` (JSON list of
        the participants without an answer in the bin), ``mean_rt_s`` with ``mean_rt_low_s`` and
        ``mean_rt_high_s``, ``p_correct`` with ``p_correct_low`` and ``p_correct_high`` (cut at 0
        and 1; missing where all participants agree), ``sd_p_correct``, ``note``.

    Examples
    --------
    >>> import pandas as pd
    >>> caf = pd.DataFrame(
    ...     {"participant_id": ["a", "b"], "rule": "direct", "bin": 1, "p_correct": [0.5, 1.0],
    ...      "mean_rt_s": [0.4, 0.6]}
    ... )
    >>> group_conditional_accuracy(caf, factors=["rule"])["p_correct"].tolist()
    [0.75]
    """
    by = [*factors, "bin"]
    times = mean_over_participants(caf, by=by, value="mean_rt_s", confidence=confidence)
    times = times.rename(
        columns={"mean": "mean_rt_s", "low": "mean_rt_low_s", "high": "mean_rt_high_s"}
    )
    shares = mean_over_participants(
        caf, by=by, value="p_correct", confidence=confidence, is_proportion=True
    )
    counted = [*by, "n_participants", "n_left_out", "left_out"]
    table = times[[*counted, "mean_rt_s", "mean_rt_low_s", "mean_rt_high_s"]].assign(
        p_correct=shares["mean"],
        p_correct_low=shares["low"],
        p_correct_high=shares["high"],
        sd_p_correct=shares["sd"],
        note=shares["note"],
    )
    return nullable(table, keys=list(factors))


def accuracy_differences(
    caf: pd.DataFrame, *, of: str, reference: str, factors: Sequence[str]
) -> pd.DataFrame:
    """Compare conditional accuracy between every other level of a factor and one, bin by bin.

    Parameters
    ----------
    caf : DataFrame
        From `conditional_accuracy`, with the same `factors`.
    of, reference : str
        The factor, and the level that the others are compared with.
    factors : sequence of str
        What makes the cells.

    Returns
    -------
    DataFrame, one row per participant, contrast and bin
        Within each level of the other factors: ``participant_id``, the other factors,
        ``contrast`` ("level - reference"), ``bin``, ``p_correct_level``,
        ``p_correct_reference``, ``mean_s`` (of the two bins' mean RTs), ``p_difference``,
        ``note``. No row where the reference was never met, or alone.

    Examples
    --------
    >>> import pandas as pd
    >>> caf = pd.DataFrame(
    ...     {"participant_id": "a", "rule": ["direct", "exclusion"], "bin": 1,
    ...      "p_correct": [1.0, 0.75], "mean_rt_s": [0.5, 0.75], "note": ""}
    ... )
    >>> accuracy_differences(caf, of="rule", reference="direct", factors=["rule"])[
    ...     "p_difference"
    ... ].tolist()
    [-0.25]
    """
    pairs = pair_levels(caf, of=of, reference=reference, factors=factors, along="bin")
    others = [factor for factor in factors if factor != of]
    table = pairs[
        ["participant_id", *others, "contrast", "bin", "p_correct_level", "p_correct_reference"]
    ].assign(
        mean_s=(pairs["mean_rt_s_level"] + pairs["mean_rt_s_reference"]) / 2,
        p_difference=pairs["p_correct_level"] - pairs["p_correct_reference"],
    )
    missing = table["p_difference"].isna().to_numpy(dtype=bool)
    table["note"] = np.where(missing, "no answer in this bin of one of the two cells", "")
    return nullable(table, keys=["participant_id", *others])


def group_accuracy_differences(
    differences: pd.DataFrame, *, of: str, factors: Sequence[str], confidence: float = 0.95
) -> pd.DataFrame:
    """Average participants' differences of conditional accuracy, bin by bin.

    Parameters
    ----------
    differences : DataFrame
        From `accuracy_differences`, with the same `of` and `factors`.
    of : str
        The factor whose levels were compared.
    factors : sequence of str
        What makes the cells.
    confidence : float
        Level of the t intervals over participants.

    Returns
    -------
    DataFrame, one row per contrast and bin
        The other factors, ``contrast``, ``bin``, ``n_participants``, ``n_left_out`` and
        ``left_out`` (JSON list of the participants without an answer in one of the two bins),
        ``mean_s``, ``p_difference`` with ``p_difference_low`` and ``p_difference_high`` (missing
        where all participants have the same difference), ``sd_p_difference``, ``note``.

    Examples
    --------
    >>> import pandas as pd
    >>> differences = pd.DataFrame(
    ...     {"participant_id": ["a", "b"], "contrast": "exclusion - direct", "bin": 1,
    ...      "mean_s": [0.5, 0.75], "p_difference": [-0.25, 0.0]}
    ... )
    >>> group_accuracy_differences(differences, of="rule", factors=["rule"])[
    ...     "p_difference"
    ... ].tolist()
    [-0.125]
    """
    others = [factor for factor in factors if factor != of]
    by = [*others, "contrast", "bin"]
    means = mean_over_participants(differences, by=by, value="p_difference", confidence=confidence)
    times = mean_over_participants(differences, by=by, value="mean_s", confidence=confidence)
    # As `of_proportions`: that all have the same difference does not make it certain.
    is_shared = (means["n_participants"] > 1) & (means["sd"] == 0)
    table = means[[*by, "n_participants", "n_left_out", "left_out"]].assign(
        mean_s=times["mean"],
        p_difference=means["mean"],
        p_difference_low=means["low"].mask(is_shared),
        p_difference_high=means["high"].mask(is_shared),
        sd_p_difference=means["sd"],
        note=means["note"].mask(is_shared, EQUAL_PROPORTIONS),
    )
    return nullable(table, keys=others)
