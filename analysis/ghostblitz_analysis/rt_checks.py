"""What the reaction times of a data set say: those that no bound keeps, copies, odd values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_analysis.settings import AnalysisSettings

__all__ = ["check_rts", "names_of", "usable_rts"]

Codes: TypeAlias = npt.NDArray[np.int64]
#: Severity, code, where, message.
Found = tuple[Literal["info", "warning", "error"], str, str, str]

#: Shorter sequences of RTs may be the same by chance, or say nothing about a share.
MIN_RTS = 10
MAX_SHARE_OUT_OF_BOUNDS = 0.1
#: A lower bound of so many seconds keeps no reaction time: it was meant in milliseconds.
BOUND_IN_MS_FROM = 20.0
#: A value that stands in for an RT, as a time limit does, is repeated and far from the others.
_MIN_REPEATED = 3
_EXTREME_FACTOR = 5
# Less than any clock resolves.
_ZERO_S = 1e-9
_MAX_NAMED = 8
_BLOCK = ["participant_id", "session", "block_index"]


def names_of(names: Iterable[object]) -> str:
    """Return names in order, the first few of many."""
    texts = sorted(str(name) for name in names)
    more = len(texts) - _MAX_NAMED
    return ", ".join(texts[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def usable_rts(used: pd.DataFrame, settings: AnalysisSettings) -> pd.Series:
    """Return which trials of the analysed phases count for the RT measures.

    They are correct, beyond the first trials of their block that are skipped, and have an RT
    above 0 within the bounds; a trial without an RT does not count.
    """
    return _correct(used, settings) & _within_bounds(used, settings)


def _correct(used: pd.DataFrame, settings: AnalysisSettings) -> pd.Series:
    late_enough = used["trial_in_block"] >= settings.skip_first_trials
    return (used["correct"] & used["rt_s"].notna() & late_enough).fillna(False).astype(bool)


def _within_bounds(used: pd.DataFrame, settings: AnalysisSettings) -> pd.Series:
    rts, bounds = used["rt_s"], settings.bounds
    kept = (rts > 0) & (rts >= bounds.min_rt_s) & (rts <= bounds.max_rt_s)
    return kept.fillna(False).astype(bool)


def check_rts(used: pd.DataFrame, settings: AnalysisSettings, name: str) -> Iterator[Found]:
    """Look over the RTs of the analysed phases.

    Parameters
    ----------
    used : DataFrame, one row per trial
        Of the phases that are analysed.
    settings : AnalysisSettings
        Bounds and first trials to skip.
    name : str
        Of the data set.

    Yields
    ------
    tuple
        Severity, code, where and message of each finding.
    """
    rts = used.dropna(subset=["rt_s"])
    if rts.empty:
        return
    yield from _about_losses(used, settings, name)
    yield from _about_values(rts)
    yield from _about_copies(rts)


def _about_losses(used: pd.DataFrame, settings: AnalysisSettings, name: str) -> Iterator[Found]:
    low, high = settings.bounds.min_rt_s, settings.bounds.max_rt_s
    bounds = f"the bounds of {low:g} to {high:g} s"
    if low >= BOUND_IN_MS_FROM:
        yield (
            "error",
            "bounds_in_ms",
            name,
            f"bounds.min_rt_s is {low:g} s, which looks like milliseconds; bounds are in seconds",
        )
    if (used["trial_in_block"] < settings.skip_first_trials).all():
        yield (
            "error",
            "all_trials_skipped",
            name,
            f"skip_first_trials = {settings.skip_first_trials} leaves no trial of any block",
        )
        return
    correct = used[_correct(used, settings)]
    if correct.empty:
        return
    lost = ~_within_bounds(correct, settings)
    if lost.all():
        message = f"not one of {len(correct)} correct RTs lies within {bounds}"
        yield "error", "all_rts_out_of_bounds", name, message
        return
    share = lost.groupby(correct["participant_id"]).mean()
    gone = share[share == 1]
    if not gone.empty:
        yield (
            "error",
            "no_rt_within_bounds",
            names_of(gone.index),
            f"not one correct RT lies within {bounds}",
        )
    many = share[(share > MAX_SHARE_OUT_OF_BOUNDS) & (share < 1)]
    if not many.empty:
        yield (
            "warning",
            "many_rts_out_of_bounds",
            names_of(many.index),
            f"more than {MAX_SHARE_OUT_OF_BOUNDS:.0%} of correct RTs lie beyond {bounds} "
            f"({_shares(many)})",
        )
    # Blocks of a participant who is named as a whole need no name of their own.
    rest = correct[~correct["participant_id"].isin(gone.index)]
    yield from _about_lost_blocks(rest, lost[rest.index], set(many.index), bounds)


def _about_lost_blocks(
    correct: pd.DataFrame, lost: pd.Series, named: set[str], bounds: str
) -> Iterator[Found]:
    each = lost.groupby([correct[name] for name in _BLOCK]).agg(["mean", "sum", "size"])
    each = each[each["sum"] > 1]  # One slow trial is no fault of the block.
    gone = each[each["mean"] == 1]
    if not gone.empty:
        yield (
            "error",
            "no_rt_of_block_within_bounds",
            names_of(_block_name(*key) for key in gone.index),
            f"not one correct RT of the block lies within {bounds}",
        )
    many = each[(each["mean"] > MAX_SHARE_OUT_OF_BOUNDS) & (each["mean"] < 1)]
    many = many[~many.index.get_level_values(0).isin(named)]
    if not many.empty:
        yield (
            "warning",
            "many_rts_of_block_out_of_bounds",
            names_of(_block_name(*key) for key in many.index),
            f"more than {MAX_SHARE_OUT_OF_BOUNDS:.0%} of the block's correct RTs lie beyond "
            f"{bounds} ({_shares(many['mean'])})",
        )


def _block_name(participant: str, session: int, block_index: int) -> str:
    return f"{participant} session {session} block {block_index + 1}"


def _about_values(rts: pd.DataFrame) -> Iterator[Found]:
    zero = rts["rt_s"].abs() < _ZERO_S
    if zero.any():
        yield (
            "info",
            "zero_rts",
            names_of(rts.loc[zero, "participant_id"].unique()),
            f"{zero.sum()} RTs are 0 s; does 0 stand for no response?",
        )
    largest = float(rts["rt_s"].max())
    same = rts["rt_s"] == largest
    if (
        _MIN_REPEATED <= same.sum() <= len(rts) / 2
        and largest > _EXTREME_FACTOR * rts["rt_s"].median()
    ):
        yield (
            "info",
            "repeated_extreme_rt",
            names_of(rts.loc[same, "participant_id"].unique()),
            f"{same.sum()} RTs are exactly {largest:g} s, far above the others; does that stand "
            "for no response?",
        )
    people = _units(rts, ["participant_id"])
    constant = people.is_constant(_rounded(rts)) & (people.n_rows >= MIN_RTS)
    if constant.any():
        yield (
            "warning",
            "identical_rts",
            names_of(key[0] for key in people.keys_of(np.flatnonzero(constant))),
            "most RTs are exactly the same; was this a person?",
        )
    hundredths = rts["rt_s"] * 100
    if len(rts) >= MIN_RTS and ((hundredths - hundredths.round()).abs() < 1e-9).all():
        yield (
            "warning",
            "rounded_rts",
            "all participants",
            "RTs are whole hundredths of a second; they were rounded, or the clock was coarse",
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Units:
    """Participants, sessions or blocks, in order, and which of them each row belongs to.

    `order` sorts the rows by unit; `starts` says where each unit begins then.
    """

    keys: pd.DataFrame
    of_row: Codes
    n_rows: Codes
    order: Codes
    starts: Codes

    def keys_of(self, units: Iterable[int]) -> list[tuple[Any, ...]]:
        """Return what the units are called."""
        chosen = self.keys.iloc[list(units)]
        return list(chosen.itertuples(index=False, name=None))

    def is_constant(self, values: Codes) -> npt.NDArray[np.bool_]:
        """Say of each unit whether most of its rows have the same value."""
        pairs = self.of_row * (values.max() + 1) + values
        _, firsts, counts = np.unique(pairs, return_index=True, return_counts=True)
        most = np.zeros(len(self.n_rows), dtype=np.int64)
        np.maximum.at(most, self.of_row[firsts], counts)
        return np.asarray(most > self.n_rows / 2)

    def alike(self, values: Codes, judged: npt.NDArray[np.bool_]) -> list[list[int]]:
        """Return which of the judged units have the same values in the same order."""
        place = np.empty(len(values), dtype=np.int64)
        place[self.order] = np.arange(len(values)) - np.repeat(self.starts, self.n_rows)
        # Sequences that are the same have the same sum; those that have it are compared.
        mixed = pd.util.hash_array(values) * (2 * place + 1).astype(np.uint64)
        sums = np.add.reduceat(mixed[self.order], self.starts)
        suspect = pd.DataFrame({"sum": sums, "n": self.n_rows})[judged]
        suspect = suspect[suspect.duplicated(keep=False)]
        found: dict[bytes, list[int]] = {}
        for unit in suspect.index:
            rows = self.order[self.starts[unit] : self.starts[unit] + self.n_rows[unit]]
            found.setdefault(values[rows].tobytes(), []).append(int(unit))
        return [units for units in found.values() if len(units) > 1]


def _units(rts: pd.DataFrame, names: Sequence[str]) -> _Units:
    of_row = np.asarray(rts.groupby(list(names)).ngroup(), dtype=np.int64)
    order = np.argsort(of_row, kind="stable").astype(np.int64)
    n_rows = np.bincount(of_row).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(n_rows)[:-1]]).astype(np.int64)
    return _Units(rts[list(names)].iloc[order[starts]], of_row, n_rows, order, starts)


def _rounded(rts: pd.DataFrame) -> Codes:
    """Return codes of RTs to the microsecond.

    The same times on another clock differ in their last bits.
    """
    return pd.factorize(rts["rt_s"].to_numpy(dtype="float64").round(6))[0].astype(np.int64)


def _about_copies(rts: pd.DataFrame) -> Iterator[Found]:
    """Find participants, sessions and blocks that are copies; each copy is named once."""
    people = _alike(rts, ["participant_id"], ["card", "response"])
    for same in people:
        yield (
            "error",
            "same_data_twice",
            names_of(key[0] for key in same),
            "these participants have the same cards, responses and RTs throughout; one is a copy",
        )
    rts = _without_copies(rts, ["participant_id"], people)
    sessions = _alike(rts, ["participant_id", "session"], [])
    for same in sessions:
        yield (
            "error",
            "same_session_twice",
            "; ".join(f"{person} session {session}" for person, session in same),
            "these sessions have the same RTs throughout; one is a copy",
        )
    rts = _without_copies(rts, ["participant_id", "session"], sessions)
    for same in _alike(rts, _BLOCK, []):
        yield (
            "error",
            "same_block_twice",
            "; ".join(_block_name(*key) for key in same),
            "these blocks have the same RTs throughout; one is a copy",
        )


def _without_copies(
    rts: pd.DataFrame, unit: Sequence[str], alike: Sequence[Sequence[tuple[Any, ...]]]
) -> pd.DataFrame:
    copies = [key for same in alike for key in same[1:]]
    if not copies:
        return rts
    if len(unit) == 1:
        return rts[~rts[unit[0]].isin([key[0] for key in copies])]
    return rts[~pd.MultiIndex.from_frame(rts[list(unit)]).isin(copies)]


def _alike(
    rts: pd.DataFrame, unit: Sequence[str], also: Sequence[str]
) -> list[list[tuple[Any, ...]]]:
    """Return the units of trials that have the same RTs (and the same of what else is named)."""
    units, values = _units(rts, unit), _rounded(rts)
    judged = units.n_rows >= MIN_RTS
    if len(unit) > 1:
        judged &= ~units.is_constant(values)
    for name in also:
        codes = pd.factorize(rts[name])[0].astype(np.int64)
        values = pd.factorize(values * (codes.max() + 2) + codes)[0].astype(np.int64)
    return [units.keys_of(same) for same in units.alike(values, judged)]


def _shares(shares: pd.Series[Any]) -> str:
    """Write the least and the largest share, or the one there is."""
    least, most = f"{shares.min():.0%}", f"{shares.max():.0%}"
    return least if least == most else f"{least} to {most}"
