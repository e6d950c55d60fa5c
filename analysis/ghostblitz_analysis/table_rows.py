"""Rows of a table as plain Python values, for text and for records."""

from __future__ import annotations

from typing import Any

import pandas as pd

__all__ = ["rows_of"]


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a table's rows with plain Python values; missing is None."""
    plain = table.astype(object).where(table.notna(), None)
    return [{str(k): v for k, v in row.items()} for row in plain.to_dict("records")]
