"""Split-half reliability of participants' scores over many random splits of their trials.

Splits are random and stratified by cell, so by rule, mode and block kind (see `halves`); what their
correlations come to is in `correlations`.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_analysis.reliability.correlations import (
    LEAST_FOR_R,
    SplitHalf,
    correlate_halves,
    spearman_brown,
    summarise_splits,
)
from ghostblitz_analysis.reliability.halves import (
    Halves,
    draw_count_halves,
    draw_halves,
    sort_into_cells,
)
from ghostblitz_analysis.reliability.scores import (
    CellScore,
    CodedTrials,
    name_score,
    part_scores,
    typed,
)
from ghostblitz_analysis.settings import AnalysisSettings, ContrastMeasure

__all__ = ["SplitHalfTables", "split_half_reliability"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
#: A measure, and the place of a score among the scores.
_Key = tuple[ContrastMeasure, int]


@dataclass(frozen=True, slots=True, eq=False)
class SplitHalfTables:
    """What `split_half_reliability` gives.

    Attributes
    ----------
    reliability : DataFrame, one row per score and measure
    left_out : DataFrame, one row per participant, score and measure that lack one another
    """

    reliability: pd.DataFrame
    left_out: pd.DataFrame


@dataclass(frozen=True, slots=True, eq=False)
class _Used:
    """Which participants and cells a score is made of, and why others are left out."""

    people: IntArray
    cells: IntArray
    weights: FloatArray
    left_out: dict[str, str]


def split_half_reliability(
    coded: CodedTrials, *, scores: Sequence[CellScore], settings: AnalysisSettings
) -> SplitHalfTables:
    """Find the split-half reliability of scores, in each of the settings' measures.

    Assumes that a participant's trials in a cell are exchangeable; with practice within a session
    that holds of random halves better than of the first and second half. The method and its
    sources are those of `summarise_splits`.

    Parameters
    ----------
    coded : CodedTrials
        From `code_trials`. RT measures split the trials that no exclusion takes out of them, and
        ``p_correct`` all analysed trials.
    scores : sequence of CellScore
        Such as `reported_scores`.
    settings : AnalysisSettings
        Measures, number of splits, seed and level of the intervals.

    Returns
    -------
    SplitHalfTables
        ``reliability``: ``kind``, ``score``, the factors (missing where a score goes over
        levels), ``measure``, ``n_participants``, ``n_left_out`` and ``left_out`` (as JSON list:
        participants with fewer than two trials in some cell of the score, so with an empty
        half), the further fields of `SplitHalf`, and for reference the halves of odd and even
        trials of a block: ``n_odd_even``, ``r_odd_even``, ``spearman_brown_odd_even``.
        ``left_out``: ``participant_id``, ``kind``, ``score``, the factors, ``measure`` and
        ``reason``.
    """
    measures = list(dict.fromkeys(settings.measures))
    of_rt = [measure for measure in measures if measure != "p_correct"]
    of_accuracy = [measure for measure in measures if measure == "p_correct"]
    # A stream of its own for accuracy, so that the figures of RT do not depend on it.
    rt_rng, accuracy_rng = np.random.default_rng(settings.reliability.seed).spawn(2)
    rows: dict[_Key, dict[str, object]] = {}
    lost: dict[_Key, list[dict[str, object]]] = {}
    for family, rng in ((of_rt, rt_rng), (of_accuracy, accuracy_rng)):
        if not family:
            continue
        sizes, halves = _halves(coded, family, n_splits=settings.reliability.n_splits, rng=rng)
        of_what = "trials" if family == of_accuracy else "usable RTs"
        used = [_used(coded, score, sizes, of_what) for score in scores]
        found = _correlate(halves, family, used, settings.reliability.n_splits)
        odd_even = {measure: _odd_even(coded, measure, scores) for measure in family}
        for (measure, number), (r, without) in found.items():
            named = name_score(coded, scores[number], measure)
            result = summarise_splits(r, without, confidence=settings.confidence)
            left_out = used[number].left_out
            of_score = odd_even[measure][:, :, number]
            rows[measure, number] = named | _row(result, list(left_out), of_score)
            lost[measure, number] = [
                {"participant_id": person, **named, "reason": reason}
                for person, reason in left_out.items()
            ]
    keys: list[_Key] = [(m, number) for number in range(len(scores)) for m in measures]
    columns = ["kind", "score", *coded.factors, "measure"]
    reliability = pd.DataFrame([rows[key] for key in keys], columns=[*columns, *_row_columns()])
    left_out_rows = [row for key in keys for row in lost[key]]
    left_out_columns = ["participant_id", *columns, "reason"]
    return SplitHalfTables(
        typed(reliability), typed(pd.DataFrame(left_out_rows, columns=left_out_columns))
    )


def _used(coded: CodedTrials, score: CellScore, sizes: IntArray, of_what: str) -> _Used:
    """Find the participants with two trials in each of the score's cells."""
    cells, weights = coded.uses(score)
    enough = sizes[:, cells] >= 2
    complete = enough.all(axis=1)
    names = [", ".join(coded.cell_keys[cell]) for cell in cells]
    left_out = {}
    for person in np.flatnonzero(~complete):
        short = [
            f"{sizes[person, cell]} in {name}"
            for cell, name, is_enough in zip(cells, names, enough[person], strict=True)
            if not is_enough
        ]
        reason = f"{of_what}: {'; '.join(short)}; each half needs one"
        left_out[coded.participants[person]] = reason
    return _Used(np.flatnonzero(complete), cells, weights, left_out)


def _halves(
    coded: CodedTrials,
    family: Sequence[ContrastMeasure],
    *,
    n_splits: int,
    rng: np.random.Generator,
) -> tuple[IntArray, Iterator[Halves]]:
    """Sort the trials of RT measures, or of accuracy, into cells and begin to split them.

    Returns
    -------
    sizes : (n_participants, n_cells) array
        Trials to be halved.
    halves : iterator of Halves
    """
    is_accuracy = "p_correct" in family
    used, values = coded.values("p_correct" if is_accuracy else "mean_rt_s")
    cells = sort_into_cells(
        values,
        participant=coded.participant[used],
        cell=coded.cell[used],
        n_participants=len(coded.participants),
        n_cells=len(coded.cells),
    )
    if not is_accuracy:
        return cells.sizes, draw_halves(cells, measures=family, n_splits=n_splits, rng=rng)
    slot = coded.participant * len(coded.cells) + coded.cell
    n_correct = np.bincount(slot, weights=values, minlength=cells.sizes.size)
    counts = n_correct.astype(np.intp).reshape(cells.sizes.shape)
    return cells.sizes, draw_count_halves(counts, cells.sizes, n_splits=n_splits, rng=rng)


def _correlate(
    halves: Iterator[Halves],
    family: Sequence[ContrastMeasure],
    used: Sequence[_Used],
    n_splits: int,
) -> dict[_Key, tuple[FloatArray, FloatArray]]:
    """Return the correlation of each split, and its mean over splits without each participant."""
    keys: list[_Key] = [(measure, number) for measure in family for number in range(len(used))]
    splits: dict[_Key, list[FloatArray]] = defaultdict(list)
    sums = {key: np.zeros(len(used[key[1]].people)) for key in keys}
    counts = {key: np.zeros(len(used[key[1]].people)) for key in keys}
    wanted = [key for key in keys if len(used[key[1]].people) >= LEAST_FOR_R]
    for chunk in halves if wanted else ():
        for key in wanted:
            measure, number = key
            use = used[number]
            chosen = (slice(None), use.people[:, None], use.cells)
            first, second = (half[chosen] @ use.weights for half in chunk[measure])
            r, without = correlate_halves(first, second)
            splits[key].append(r)
            present = ~np.isnan(without)
            sums[key] += np.where(present, without, 0.0).sum(axis=0)
            counts[key] += present.sum(axis=0)
    found = {}
    for key in keys:
        r = np.concatenate(splits[key]) if key in splits else np.full(n_splits, np.nan)
        mean = np.full(len(sums[key]), np.nan)
        np.divide(sums[key], counts[key], out=mean, where=counts[key] > 0)
        found[key] = (r, mean)
    return found


def _odd_even(
    coded: CodedTrials, measure: ContrastMeasure, scores: Sequence[CellScore]
) -> FloatArray:
    """Score the even and the odd trials of blocks, (n_participants, 2, n_scores)."""
    place = coded.trials["trial_in_block"]
    known = place.notna().to_numpy(dtype=bool)
    part: IntArray = np.full(len(place), -1, dtype=np.intp)
    part[known] = place[known].to_numpy(dtype=np.int64) % 2
    return part_scores(coded, measure, scores, part=part, n_parts=2)


def _row(result: SplitHalf, left_out: list[str], odd_even: FloatArray) -> dict[str, object]:
    """Return the columns of one score and measure after those that name it."""
    both = odd_even[~np.isnan(odd_even).any(axis=1)]
    r_odd_even = float("nan")
    if len(both) >= LEAST_FOR_R:
        r, _ = correlate_halves(both[None, :, 0], both[None, :, 1])
        r_odd_even = float(r[0])
    further = asdict(result)
    texts = {name: further.pop(name) for name in ("note", "warning")}
    return {
        "n_participants": further.pop("n_participants"),
        "n_left_out": len(left_out),
        "left_out": json.dumps(left_out, ensure_ascii=False),
        **further,
        "n_odd_even": len(both),
        "r_odd_even": r_odd_even,
        "spearman_brown_odd_even": spearman_brown(r_odd_even),
        **texts,
    }


def _row_columns() -> list[str]:
    return list(_row(summarise_splits([], [], confidence=0.95), [], np.empty((0, 2))))
