"""Pairs of cells: each participant's values in one level of a factor beside those in another."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

__all__ = ["pair_levels"]


def pair_levels(
    table: pd.DataFrame, *, of: str, reference: str, factors: Sequence[str], along: str
) -> pd.DataFrame:
    """Put every other level of a factor beside the reference, row by row.

    Parameters
    ----------
    table : DataFrame, one row per participant, cell and place `along`
        Every participant must have rows for every cell that anyone has; where nothing was
        measured its values are missing.
    of, reference : str
        The factor, and the level that the others are compared with.
    factors : sequence of str
        What makes the cells.
    along : str
        What the values run along, such as ``probability`` or ``bin``.

    Returns
    -------
    DataFrame, one row per participant, other level, and place `along`
        ``participant_id``, the other factors, ``contrast`` ("level - reference"), `along`, and
        each further column twice, with ``_level`` and ``_reference`` at its end. No row where the
        reference was never met, or alone.
    """
    others = [factor for factor in factors if factor != of]
    keys = ["participant_id", *others, along]
    is_reference = (table[of] == reference).fillna(False).astype(bool)
    contrast = (table[of].astype("string") + f" - {reference}").rename("contrast")
    levels = table.assign(contrast=contrast)[~is_reference].drop(columns=of)
    referred = table[is_reference].drop(columns=of)
    pairs = levels.merge(referred, on=keys, how="inner", suffixes=("_level", "_reference"))
    first = ["participant_id", *others, "contrast", along]
    return pairs[[*first, *(name for name in pairs.columns if name not in first)]]
