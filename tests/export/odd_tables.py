"""Tables that are hard to keep: ids that other programs change, extreme numbers, empty texts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from ghostblitz_analysis.export.formats.parquet_parts import participant_folder
from ghostblitz_analysis.export.publication import Publication
from ghostblitz_analysis.export.source import ExportSource, ExportTable
from ghostblitz_analysis.tables import trial_frame
from ghostblitz_task.schema import COLUMNS, Column
from tests.bench_analysis.simulated import simulated_columns

__all__ = ["ODD_IDS", "odd_source", "part_of", "source_of", "with_frame"]

ODD_IDS = (
    "01", "1", "1.0", "NA", "n/a", "nan", "null", "None", "true", "TRUE", "=1+1", "-5", "+5", "@a",
    "1e5", "Zoë", "Zoe\u0308", "李", "👻", "a b", "x" * 64, "X" * 64, "李" * 64, "a/b",
    "..", ".", "a.", "a~b", "a%2Fb", "p1", "P1", 'q"uote', "a,b", "a;b", "a'b", "CON",
    "2020-01-01", "1/2", "0",
)  # fmt: skip
_ODD_NUMBERS = (
    0.1 + 0.2, 1 / 3, 5e-324, 1.7976931348623157e308, 1e22, 1e16, 123456789.12345679, -0.25, 0.5,
    2.0, 0.0, 1e-7,
)  # fmt: skip
_N_TRIALS = 8


def odd_source(folder: Path = Path("odd")) -> ExportSource:
    """Simulated trials of participants with odd ids, and a factor that knows empty texts."""
    rng = np.random.default_rng(6)
    columns = simulated_columns(rng, n_participants=len(ODD_IDS), n_trials=_N_TRIALS)
    n_rows = len(ODD_IDS) * _N_TRIALS
    columns["participant_id"] = [name for name in ODD_IDS for _ in range(_N_TRIALS)]
    columns |= {
        "study_id": ["odd"] * n_rows,
        "source": ["simulated"] * n_rows,
        "participant_model": ["lognormal"] * n_rows,
        "rules": [""] * n_rows,
        "onset_s": [_ODD_NUMBERS[row % len(_ODD_NUMBERS)] for row in range(n_rows)],
        "n_events": [[None, 0, 2**53 + 1, 2**63 - 1][row % 4] for row in range(n_rows)],
        "display_synchronised": [[None, True, False][row % 3] for row in range(n_rows)],
        "response": [[None, "ghost"][row % 2] for row in range(n_rows)],
        "factor_note": [[None, "", "NA", " a ", "=1+1"][row % 5] for row in range(n_rows)],
    }
    # As in trials that nobody answered.
    columns["rt_s"][3] = None
    columns["rt_s"][4] = -0.125
    added = Column("factor_note", "string", "A note", "design", null_when="the study does not say")
    return source_of(trial_frame(columns, n_rows), (*COLUMNS, added), folder)


def source_of(
    frame: pd.DataFrame, columns: tuple[Column, ...] = COLUMNS, folder: Path = Path("made")
) -> ExportSource:
    """A data set of a table only."""
    return ExportSource(
        path=folder,
        name=folder.name,
        study_id=str(frame["study_id"].iloc[0]),
        main=ExportTable("trials", frame, columns),
        others=(),
        runs=(),
        sources=tuple(sorted(frame["source"].unique())),
        dataset=None,
        publication=Publication(),
        files={},
    )


def with_frame(source: ExportSource, frame: pd.DataFrame) -> ExportSource:
    """The same data set with another table."""
    main = ExportTable(source.main.name, frame.reset_index(drop=True), source.main.columns)
    return replace(source, main=main)


def part_of(name: str, store: Path) -> Path:
    """The only part of a participant in a store."""
    (found,) = store.glob(f"trials/*/{participant_folder(name)}/*.parquet")
    return found
