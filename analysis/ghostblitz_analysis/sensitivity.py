"""How far the planned rule contrast hangs on how RTs are trimmed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_analysis.exclusion_settings import (
    ExclusionSettings,
    MadTrim,
    SdTrim,
    VanSelstJolicoeurTrim,
)
from ghostblitz_analysis.exclusions import (
    exclusion_steps,
    flag_exclusions,
    used_for_accuracy,
    used_for_rt,
)
from ghostblitz_analysis.measures import cell_factors
from ghostblitz_analysis.models import rule_contrasts
from ghostblitz_analysis.settings import AnalysisSettings, BoundsSettings
from ghostblitz_analysis.trimming import hybrid_means

__all__ = ["sensitivity_table"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

#: What stands for the RTs of a participant in a cell.
Score = Literal["mean", "median", "hybrid"]

#: What the exclusions look at: texts, which are compared much faster as categories, and others.
_TEXTS = ("participant_id", "phase", "rule", "block_kind", "mode", "error_kind")
_VALUES = (
    *("session", "run", "block_index", "trial_in_block", "recycled", "resumed"),
    *("rt_s", "correct", "n_dropped_frames"),
)
_FROM_CONTRASTS = (
    *("n_participants", "n_left_out", "left_out", "rt_ratio", "rt_ratio_low", "rt_ratio_high"),
    *("difference_s", "difference_low_s", "difference_high_s", "dz", "p", "note"),
)
_TYPES = {
    **dict.fromkeys(("n_rt", "n_participants", "n_left_out"), "Int64"),
    **dict.fromkeys(("exclusion_rule", "in_words", "contrast", "left_out", "note"), "string"),
}


@dataclass(frozen=True, slots=True)
class _Alternative:
    """One way to exclude RTs, and what is made of those that are left."""

    name: str
    in_words: str
    settings: AnalysisSettings
    score: Score = "mean"


def sensitivity_table(trials: pd.DataFrame, settings: AnalysisSettings) -> pd.DataFrame:
    """Repeat the planned rule contrast under other rules for the exclusion of RTs.

    The rules are: none (every correct RT above 0); the bounds; 2, 2.5 and 3 SD; 2.5 and 3 scaled
    MAD; Van Selst & Jolicoeur's (1994) non-recursive and modified recursive procedures, and their
    hybrid; medians of untrimmed RTs; and the settings as they are stated. Each takes the place of
    the bounds and of all trimming that the settings state, and looks at each participant's RTs in
    each cell; other steps, such as first trials and limits for participants, are made as stated,
    except where every correct RT is kept. The contrast is that of `rule_contrasts`; of medians and
    hybrid means the ratio is that of these scores instead of geometric means.

    Parameters
    ----------
    trials : DataFrame, one row per trial
        With the columns of the schema, flagged or not.
    settings : AnalysisSettings
        As stated.

    Returns
    -------
    DataFrame, one row per rule and contrast, in the order above
        ``exclusion_rule`` (a name), ``in_words``, the factors other than rule, ``contrast``;
        ``n_rt``, the RTs that were kept in its two cells, and ``p_trimmed``, the share that was
        left out of all correct RTs above 0 in them; then as in `rule_contrasts`
        ``n_participants``, ``n_left_out``, ``left_out``, ``rt_ratio`` with ``rt_ratio_low`` and
        ``rt_ratio_high``, ``difference_s`` with ``difference_low_s`` and ``difference_high_s``,
        ``dz``, ``p`` and ``note``. No rows where there is nothing to compare.

    Raises
    ------
    DatasetError
        As `cell_factors`, under the settings as stated.
    """
    slim = _slim(trials)
    factors = cell_factors(flag_exclusions(slim, settings), settings)
    others = [factor for factor in factors if factor != "rule"]
    # The first alternative keeps all, so that it has every contrast that any has.
    every: pd.DataFrame | None = None
    parts = []
    for alternative in _alternatives(settings):
        cells = _cells(flag_exclusions(slim, alternative.settings), factors, alternative.score)
        found = _contrasts(cells, factors, settings.confidence)
        if every is None:
            every = found.rename(columns={"n_rt": "n_correct_rt"})
            every = every[[*others, "contrast", "n_correct_rt"]]
        table = every.merge(found, how="left", on=[*others, "contrast"])
        table.insert(0, "exclusion_rule", alternative.name)
        table.insert(1, "in_words", alternative.in_words)
        # With one type each, columns without a value keep theirs when tables are joined.
        parts.append(table.astype({name: _type_of(name, others) for name in table.columns}))
    table = pd.concat(parts, ignore_index=True)
    table = table.fillna({"n_rt": 0, "n_participants": 0, "note": "no participant is left"})
    correct = table["n_correct_rt"]
    table["p_trimmed"] = 1 - table["n_rt"] / correct.mask(correct == 0)
    columns = ["exclusion_rule", "in_words", *others, "contrast", "n_rt", "p_trimmed"]
    return table[[*columns, *_FROM_CONTRASTS]]


def _type_of(column: str, others: list[str]) -> str:
    return "string" if column in others else _TYPES.get(column, "Float64")


def _slim(trials: pd.DataFrame) -> pd.DataFrame:
    flags = [name for name in trials.columns if str(name).startswith("exclude_")]
    return trials[[*_TEXTS, *_VALUES, *flags]].astype(dict.fromkeys(_TEXTS, "category"))


def _alternatives(settings: AnalysisSettings) -> Iterator[_Alternative]:
    """Yield the rules in the order of the table, the settings as stated last."""
    keeps_all = BoundsSettings(min_rt_s=0.0, max_rt_s=float("inf"))
    changes = {"bounds": keeps_all, "skip_first_trials": 0, "exclusions": ()}
    nothing = settings.model_copy(update=changes)
    steps = settings.exclusions
    trims = [n for n, step in enumerate(steps) if _trims(step)]
    before = steps[: trims[0]] if trims else ()
    after = tuple(step for step in steps[len(before) :] if not _trims(step))
    also = "; other steps as stated" if before or after or settings.skip_first_trials else ""
    instead = f" (instead of the bounds){also}"

    def untrimmed(*steps: ExclusionSettings) -> AnalysisSettings:
        exclusions = (*before, *steps, *after)
        return settings.model_copy(update={"bounds": keeps_all, "exclusions": exclusions})

    yield _Alternative("none", "every correct RT kept", nothing)
    low, high = settings.bounds.min_rt_s, settings.bounds.max_rt_s
    bounded = settings.model_copy(update={"exclusions": (*before, *after)})
    yield _Alternative("bounds", f"without RT below {low:g} s or above {high:g} s{also}", bounded)
    for name, trim in _trimming_rules():
        alone = nothing.model_copy(update={"exclusions": (trim,)})
        words = f"without {exclusion_steps(alone)[-1].reason}{instead}"
        yield _Alternative(name, words, untrimmed(trim))
    words = f"hybrid means of Van Selst and Jolicoeur (1994){instead}"
    yield _Alternative("van_selst_jolicoeur_hybrid", words, untrimmed(), "hybrid")
    words = "every correct RT kept, medians instead of means"
    yield _Alternative("median", words, nothing, "median")
    yield _Alternative("as_stated", "all exclusions as stated", settings)


def _trims(step: ExclusionSettings) -> bool:
    return isinstance(step, SdTrim | MadTrim | VanSelstJolicoeurTrim)


def _trimming_rules() -> Iterator[tuple[str, ExclusionSettings]]:
    for n_sd in (2.0, 2.5, 3.0):
        yield f"sd_{n_sd:g}", SdTrim(step="sd", n_sd=n_sd)
    for n_mad in (2.5, 3.0):
        yield f"mad_{n_mad:g}", MadTrim(step="mad", n_mad=n_mad)
    step: Literal["van_selst_jolicoeur"] = "van_selst_jolicoeur"
    yield f"{step}_nonrecursive", VanSelstJolicoeurTrim(step=step, method="nonrecursive")
    yield f"{step}_modified_recursive", VanSelstJolicoeurTrim(step=step)


def _cells(flagged: pd.DataFrame, factors: tuple[str, ...], score: Score) -> pd.DataFrame:
    """Score each participant's RTs in each cell, with the columns that contrasts are made of."""
    keys = ["participant_id", *factors]
    analysed = flagged[used_for_accuracy(flagged)].dropna(subset=keys)
    by_cell = analysed.groupby(keys, observed=True)
    cells = by_cell.size().reset_index()[keys].astype("string")
    usable = used_for_rt(analysed)
    groups = np.asarray(by_cell.ngroup(), dtype=np.int64)[usable]
    rt_s = analysed["rt_s"].to_numpy(dtype="float64", na_value=np.nan)[usable]
    n_rt = np.bincount(groups, minlength=len(cells))
    logs, seconds = _scores(rt_s, groups, n_rt, score)
    return cells.assign(
        n_rt=n_rt, mean_log_rt=logs, mean_rt_s=seconds, median_rt_s=seconds, p_correct=np.nan
    )


def _scores(
    rt_s: FloatArray, groups: IntArray, n_rt: IntArray, score: Score
) -> tuple[FloatArray, FloatArray]:
    """Return, per group, the scores on the log scale and in seconds; NaN without RTs."""
    n_groups = len(n_rt)
    if score == "mean":
        divisors = np.where(n_rt > 0, n_rt, np.nan)
        logs, seconds = (
            np.bincount(groups, weights=values, minlength=n_groups) / divisors
            for values in (np.log(rt_s), rt_s)
        )
        return logs, seconds
    if score == "median":
        medians = pd.Series(rt_s).groupby(groups).median().reindex(range(n_groups))
        seconds = np.asarray(medians, dtype=np.float64)
    else:
        seconds = np.full(n_groups, np.nan)
        means = hybrid_means(rt_s, groups)
        seconds[: len(means)] = means
    return np.log(seconds), seconds


def _contrasts(cells: pd.DataFrame, factors: tuple[str, ...], confidence: float) -> pd.DataFrame:
    """Contrast the rules, and count the RTs in the two cells of each contrast."""
    table = rule_contrasts(cells, factors=factors, confidence=confidence)
    others = [factor for factor in factors if factor != "rule"]
    n_rt = cells.groupby([*others, "rule"])["n_rt"].sum().to_dict()
    counts = []
    for *levels, contrast in table[[*others, "contrast"]].itertuples(index=False, name=None):
        rules = contrast.split(" / ")
        counts.append(sum(n_rt[(*levels, rule) if others else rule] for rule in rules))
    typed = {name: _type_of(name, others) for name in (*others, "contrast", *_FROM_CONTRASTS)}
    return table.astype(typed).assign(n_rt=pd.array(counts, dtype="Int64"))
