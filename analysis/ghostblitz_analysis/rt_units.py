"""Whether RTs are in the unit they are said to be in: by participant, and by block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_task.errors import DatasetError

__all__ = ["MAX_RT_S", "check_milliseconds", "check_seconds", "check_units_of_blocks"]

#: No reaction time is longer (11 days); larger numbers are no times, and overflow in sums.
MAX_RT_S = 1e6
#: A median RT above this many seconds is no reaction time but milliseconds.
MILLISECONDS_ABOVE = 30.0
#: A median below this many seconds is no reaction time but seconds taken for milliseconds.
_SECONDS_BELOW_S = 0.03
#: Blocks of one person whose median RTs differ by more than this are in different units.
_UNITS_FACTOR = 100
# A participant with few trials may be slow in most of them; so may a block.
_MIN_TRIALS_TO_JUDGE_UNIT = 10
_MIN_TRIALS_OF_BLOCK = 5

RTs: TypeAlias = "Sequence[float | None] | pd.Series[Any]"
Ids: TypeAlias = "Sequence[str] | pd.Series[Any]"


def check_seconds(rt_s: RTs, participants: Ids, where: str) -> None:
    """Refuse RTs that look like milliseconds.

    Raises
    ------
    DatasetError
        If the median RT of all trials, or of one participant with ten or more, is above 30 s.
    """
    frame = pd.DataFrame({"rt_s": _as_floats(rt_s), "p": participants}).dropna()
    if frame.empty:
        return
    advice = "looks like milliseconds; times are in seconds"
    median = float(frame["rt_s"].median())
    if median > MILLISECONDS_ABOVE:
        raise DatasetError(f"{where}: the median RT is {median:g} s, which {advice}")
    each = frame.groupby("p")["rt_s"].agg(["median", "size"])
    suspect = each[
        (each["median"] > MILLISECONDS_ABOVE) & (each["size"] >= _MIN_TRIALS_TO_JUDGE_UNIT)
    ]
    for participant, row in suspect.iterrows():
        raise DatasetError(
            f"{where}: the median RT of participant {participant!r} is {row['median']:g} s, "
            f"which {advice}"
        )


def check_milliseconds(rt_s: RTs, participants: Ids, where: str) -> None:
    """Refuse RTs stated in milliseconds that look like seconds; those of 0 say nothing.

    Raises
    ------
    DatasetError
        If the median RT of all trials, or of one participant with ten or more, is below 30 ms.
    """
    frame = pd.DataFrame({"rt_s": _as_floats(rt_s), "p": participants})
    frame = frame[frame["rt_s"] > 0]
    if frame.empty:
        return
    advice = 'which looks like seconds; set columns.rt_unit = "s"'
    median = float(frame["rt_s"].median())
    if median < _SECONDS_BELOW_S:
        raise DatasetError(f"{where}: the median RT is {median * 1000:g} ms, {advice}")
    each = frame.groupby("p")["rt_s"].agg(["median", "size"])
    suspect = each[
        (each["median"] < _SECONDS_BELOW_S) & (each["size"] >= _MIN_TRIALS_TO_JUDGE_UNIT)
    ]
    for participant, row in suspect.iterrows():
        raise DatasetError(
            f"{where}: the median RT of participant {participant!r} is "
            f"{row['median'] * 1000:g} ms, which looks like seconds, while others' are "
            "milliseconds; bring all into one unit"
        )


def check_units_of_blocks(columns: Mapping[str, Sequence[Any]] | pd.DataFrame, where: str) -> None:
    """Refuse RTs of which a block of a participant is in another unit than the others.

    RTs of 0 and missing ones say nothing about the unit.

    Raises
    ------
    DatasetError
        If the median RT of a block of five trials or more differs from that of the participant's
        other blocks by a factor above 100.
    """
    frame = pd.DataFrame(
        {
            "participant_id": columns["participant_id"],
            "session": np.asarray(columns["session"], dtype="int64"),
            "block_index": np.asarray(columns["block_index"], dtype="int64"),
            "rt_s": _as_floats(columns["rt_s"]),
        }
    )
    frame = frame[frame["rt_s"] > 0]
    each = frame.groupby(list(frame.columns[:3]))["rt_s"].agg(["median", "size"])
    judged = each.loc[each["size"] >= _MIN_TRIALS_OF_BLOCK, "median"]
    extremes = judged.groupby(level="participant_id").agg(["min", "max"])
    # Only then can the median of a block be that far from that of the others.
    for participant in extremes.index[extremes["max"] > _UNITS_FACTOR * extremes["min"]]:
        rows = frame[frame["participant_id"] == participant]
        _refuse_block(participant, rows, judged.xs(participant, level="participant_id"), where)


def _refuse_block(
    participant: str, rows: pd.DataFrame, medians: pd.Series[Any], where: str
) -> None:
    apart = {key: _median_of_others(rows, key) for key in medians.index}
    ratios = medians / pd.Series(apart)
    if ratios.between(1 / _UNITS_FACTOR, _UNITS_FACTOR).all():
        return
    logs = np.log(medians)
    odd = (logs - logs.median()).abs().idxmax()
    session, block = cast(tuple[int, int], odd)
    raise DatasetError(
        f"{where}: the median RT of participant {participant!r} is {medians[odd]:g} s in "
        f"block {block + 1} of session {session}, but {apart[odd]:g} s in the others; one of "
        "them is in another unit"
    )


def _median_of_others(rows: pd.DataFrame, key: tuple[int, int]) -> float:
    inside = (rows["session"] == key[0]) & (rows["block_index"] == key[1])
    return float(rows.loc[~inside, "rt_s"].median())


def _as_floats(rt_s: RTs) -> npt.NDArray[np.float64]:
    """Return RTs as floats, NaN where missing."""
    values: Any = rt_s
    floats = pd.array(values, dtype="Float64").to_numpy(dtype="float64", na_value=np.nan)
    return np.asarray(floats, dtype=np.float64)
