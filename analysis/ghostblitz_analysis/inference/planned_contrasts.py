"""Planned contrasts: paired comparisons of cells, with effect sizes and Bayes factors."""

from __future__ import annotations

import json
from math import nan

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_analysis.inference.bayes_factors import (
    bayes_factor,
    bayes_factor_text,
    jzs_log_bf10,
)
from ghostblitz_analysis.inference.cell_scores import (
    PROPORTION_NOTE,
    CellScores,
    names_of,
    read_cell_scores,
    typed_table,
)
from ghostblitz_analysis.inference.contrast_weights import (
    WeightedCells,
    check_contrasts,
    default_contrasts,
    weigh_cells,
)
from ghostblitz_analysis.inference.corrections import correct_p_values
from ghostblitz_analysis.inference.effect_sizes import EffectSize, cohens_dav, cohens_dz
from ghostblitz_analysis.inference.rank_tests import signed_rank_test
from ghostblitz_analysis.intervals import MeanInterval, exponentiated, mean_interval, of_proportions
from ghostblitz_analysis.settings import AnalysisSettings, ContrastSettings

__all__ = ["contrast_table"]

#: Grab Or Shout has a book on every card that is shouted, and on no card that is grabbed.
_MODE_NOTE = (
    "by the rulebook of Grab Or Shout the card decides on the mode, so mode is confounded with "
    "rule and target: this is no comparison of modes alone"
)

FloatArray = npt.NDArray[np.float64]

_COLUMNS = {
    **dict.fromkeys(("measure", "name", "mode", "of", "level", "reference"), "string"),
    **dict.fromkeys(("within", "against"), "string"),
    **dict.fromkeys(("n_participants", "n_left_out"), "Int64"),
    "left_out": "string",
    **dict.fromkeys(("estimate", "estimate_low", "estimate_high"), "Float64"),
    **dict.fromkeys(("ratio", "ratio_low", "ratio_high", "sd", "t"), "Float64"),
    "df": "Int64",
    **dict.fromkeys(("p", "p_corrected"), "Float64"),
    "correction": "string",
    "significant": "boolean",
    **dict.fromkeys(("dz", "dz_low", "dz_high", "gz", "gz_low", "gz_high"), "Float64"),
    **dict.fromkeys(("dav", "dav_low", "dav_high", "gav", "gav_low", "gav_high"), "Float64"),
    "n_nonzero": "Int64",
    **dict.fromkeys(("wilcoxon_w_plus", "wilcoxon_p"), "Float64"),
    "wilcoxon_exact": "boolean",
    "rank_biserial": "Float64",
    **dict.fromkeys(("bayes_r_scale", "log_bf10", "bf10", "bf01"), "Float64"),
    **dict.fromkeys(("bayes_factor", "note"), "string"),
}


def contrast_table(
    participant_cells: pd.DataFrame, *, factors: tuple[str, ...], settings: AnalysisSettings
) -> pd.DataFrame:
    """Test the planned contrasts on every measure of the settings.

    Each participant has one difference: `level` minus `reference` in the cells that `within`
    names, averaged over factors left open with equal weights, and less the same in `against`. A
    mode left open gives a contrast per mode, since grab and shout trials are never averaged.
    Participants without a score in one of the cells needed are left out and named. Without stated
    contrasts they are those of `default_contrasts`. The t test assumes that differences come
    independently from one normal distribution; the signed-rank test beside it that they are
    symmetric.

    Parameters
    ----------
    participant_cells : DataFrame, one row per participant and cell
        From `complete_cells`; it may be empty.
    factors : tuple of str
        What makes the cells.
    settings : AnalysisSettings
        Measures, contrasts, correction, alpha, confidence and the scale of the prior.

    Returns
    -------
    DataFrame, one row per measure, contrast and mode that the contrast leaves open
        - ``measure``, ``name`` (of the contrast), ``mode`` (missing where there is one mode, or the
          contrast compares modes), ``of``, ``level``, ``reference``, ``within`` and ``against``
          (as JSON);
        - ``n_participants``, ``n_left_out`` and ``left_out`` (as JSON list);
        - ``estimate`` with ``_low`` and ``_high``, on the measure's scale: log seconds, seconds or
          proportion; for mean_log_rt also ``ratio`` (exp of it; of an interaction a ratio of
          ratios); ``sd`` of the differences;
        - ``t``, ``df``, ``p`` (two-sided), ``p_corrected`` over the rows of one measure by
          ``correction``, and ``significant``: whether it is below alpha;
        - ``dz`` and ``dav`` with intervals (`cohens_dz`, `cohens_dav`; an interaction, which is not
          of two conditions, has no dav), and the same with Hedges' correction: ``gz``, ``gav``;
        - ``n_nonzero``, ``wilcoxon_w_plus``, ``wilcoxon_p``, ``wilcoxon_exact`` and
          ``rank_biserial``: see `signed_rank_test`; not corrected;
        - ``bayes_r_scale``, ``log_bf10`` (natural), ``bf10`` and ``bf01`` (missing where no
          floating-point number holds them) and ``bayes_factor``, both in words: `jzs_log_bf10`;
        - ``note``: what is missing and why, and what to know of tests of proportions and of
          comparisons of modes.

    Raises
    ------
    DatasetError
        If a stated contrast names a factor or level that the data do not hold, or if a
        participant has two rows for a cell.

    Examples
    --------
    >>> cells = pd.DataFrame(
    ...     {
    ...         "participant_id": ["a", "a", "b", "b", "c", "c"],
    ...         "rule": ["direct", "exclusion"] * 3,
    ...         "mean_rt_s": [0.6, 1.1, 0.9, 1.2, 0.7, 1.6],
    ...     }
    ... )
    >>> settings = AnalysisSettings(measures=("mean_rt_s",))
    >>> table = contrast_table(cells, factors=("rule",), settings=settings)
    >>> print(table["estimate"].round(3)[0], table["t"].round(3)[0], table["bayes_factor"][0])
    0.567 3.213 BF10 = 1.85, BF01 = 0.540
    """
    scores = read_cell_scores(participant_cells, factors=factors, measures=settings.measures)
    check_contrasts(scores, settings.contrasts)
    contrasts = settings.contrasts or default_contrasts(scores)
    weighted = [(c, cells) for c in contrasts for cells in weigh_cells(scores, c)]
    if not settings.contrasts:
        # The defaults are made where they can be; a stated one says why it cannot.
        weighted = [(c, cells) for c, cells in weighted if cells.used.any()]
    rows: list[dict[str, object]] = []
    for measure in settings.measures:
        of_measure = [_row(scores, measure, c, cells, settings) for c, cells in weighted]
        p = correct_p_values(
            np.array([row["p"] for row in of_measure], dtype=np.float64),
            correction=settings.correction,
        )
        for row, corrected in zip(of_measure, p, strict=True):
            row["p_corrected"] = corrected
            row["significant"] = None if np.isnan(corrected) else bool(corrected < settings.alpha)
        rows += of_measure
    return typed_table(rows, _COLUMNS)


def _row(
    scores: CellScores,
    measure: str,
    contrast: ContrastSettings,
    cells: WeightedCells,
    settings: AnalysisSettings,
) -> dict[str, object]:
    """Make a contrast's row of one measure, all but the correction of p."""
    wide = scores.scores[measure][:, cells.used]
    has_all = ~np.isnan(wide).any(axis=1) if cells.used.any() else np.zeros(len(wide), dtype=bool)
    level = wide[has_all] @ cells.level[cells.used]
    reference = wide[has_all] @ cells.reference[cells.used]
    test = mean_interval(level - reference, confidence=settings.confidence)
    if measure == "p_correct":
        test = of_proportions(test)
    logs = (test.mean, test.low, test.high) if measure == "mean_log_rt" else (nan, nan, nan)
    ratio = exponentiated(*logs)
    notes = [cells.note, test.note, ratio.note]
    notes.append(PROPORTION_NOTE if measure == "p_correct" else "")
    notes.append(_MODE_NOTE if _compares_modes(contrast) else "")
    row: dict[str, object] = {
        "measure": measure,
        "name": contrast.name,
        "mode": cells.mode,
        "of": contrast.of,
        "level": contrast.level,
        "reference": contrast.reference,
        "within": _as_json(contrast.within),
        "against": _as_json(contrast.against),
        "n_participants": test.n,
        "n_left_out": int((~has_all).sum()),
        "left_out": names_of(scores.participants[~has_all]),
        "estimate": test.mean,
        "estimate_low": test.low,
        "estimate_high": test.high,
        "ratio": ratio.mean,
        "ratio_low": ratio.low,
        "ratio_high": ratio.high,
        "sd": test.sd,
        "t": test.t,
        "df": test.df,
        "p": test.p,
        "correction": settings.correction,
    }
    row |= _effect_columns(contrast, level, reference, settings.confidence, notes)
    row |= _rank_columns(level - reference, notes)
    row |= _bayes_columns(test, settings.bayes_r_scale, notes)
    return row | {"note": "; ".join(dict.fromkeys(note for note in notes if note))}


def _as_json(levels: object) -> str | None:
    return json.dumps(levels, ensure_ascii=False) if levels else None


def _compares_modes(contrast: ContrastSettings) -> bool:
    """Say whether its sides are of different modes: by itself, or as an interaction."""
    if contrast.of == "mode":
        return True
    return bool(contrast.against) and contrast.within.get("mode") != contrast.against.get("mode")


def _effect_columns(
    contrast: ContrastSettings,
    level: FloatArray,
    reference: FloatArray,
    confidence: float,
    notes: list[str],
) -> dict[str, object]:
    """Return dz and dav; `notes` receives why one is missing."""
    dz = cohens_dz(level - reference, confidence=confidence)
    notes.append(dz.note)
    if contrast.against:
        dav = EffectSize(nan, nan, nan, nan, nan, nan, "")
        notes.append("an interaction is not of two conditions, so it has no dav")
    else:
        dav = cohens_dav(level, reference, confidence=confidence)
    columns: dict[str, object] = {}
    for stem, effect in (("z", dz), ("av", dav)):
        columns |= {
            f"d{stem}": effect.d,
            f"d{stem}_low": effect.low,
            f"d{stem}_high": effect.high,
            f"g{stem}": effect.g,
            f"g{stem}_low": effect.g_low,
            f"g{stem}_high": effect.g_high,
        }
    return columns


def _rank_columns(differences: FloatArray, notes: list[str]) -> dict[str, object]:
    ranks = signed_rank_test(differences)
    notes.append(ranks.note)
    return {
        "n_nonzero": ranks.n_nonzero,
        "wilcoxon_w_plus": ranks.w_plus,
        "wilcoxon_p": ranks.p,
        "wilcoxon_exact": None if np.isnan(ranks.p) else ranks.exact,
        "rank_biserial": ranks.rank_biserial,
    }


def _bayes_columns(test: MeanInterval, r_scale: float, notes: list[str]) -> dict[str, object]:
    log_bf10 = jzs_log_bf10(test.t, n=test.n, r_scale=r_scale)
    bf10, bf01 = bayes_factor(log_bf10), bayes_factor(-log_bf10)
    if not np.isnan(log_bf10) and (np.isnan(bf10) or np.isnan(bf01)):
        notes.append("the Bayes factor is beyond floating-point numbers; see log_bf10")
    return {
        "bayes_r_scale": r_scale,
        "log_bf10": log_bf10,
        "bf10": bf10,
        "bf01": bf01,
        "bayes_factor": bayes_factor_text(log_bf10) or None,
    }
