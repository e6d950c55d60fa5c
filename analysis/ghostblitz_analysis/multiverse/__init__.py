"""The planned contrasts under every defensible set of choices, as one specification curve.

Steegen, Tuerlinckx, Gelman & Vanpaemel (2016, Perspectives on Psychological Science 11, 702-712)
call all analyses that could be defended a multiverse; Simonsohn, Simmons & Nelson (2020, Nature
Human Behaviour 4, 1208-1214) draw them as a specification curve, and test it as a whole.
"""

from __future__ import annotations

from ghostblitz_analysis.multiverse.curve_plot import curve_figure, plot_choices, plot_effects
from ghostblitz_analysis.multiverse.curve_tests import CurveTest, curve_test
from ghostblitz_analysis.multiverse.grid import MultiverseGrid, grid_toml
from ghostblitz_analysis.multiverse.pages import (
    MultiverseResult,
    multiverse_of_dataset,
    multiverse_text,
)
from ghostblitz_analysis.multiverse.runs import Multiverse, run_multiverse
from ghostblitz_analysis.multiverse.summaries import option_table, summary_table

__all__ = [
    "CurveTest",
    "Multiverse",
    "MultiverseGrid",
    "MultiverseResult",
    "curve_figure",
    "curve_test",
    "grid_toml",
    "multiverse_of_dataset",
    "multiverse_text",
    "option_table",
    "plot_choices",
    "plot_effects",
    "run_multiverse",
    "summary_table",
]
