"""All regression models of an analysis together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pandas as pd

from ghostblitz_analysis.regression.error_models import fit_gee, fit_mixed_logits
from ghostblitz_analysis.regression.fit_reports import (
    ModelFit,
    fixed_effect_table,
    model_table,
    random_effect_table,
)
from ghostblitz_analysis.regression.mixed_models import fit_rt_models
from ghostblitz_analysis.regression.trial_rows import error_rows, mode_levels, rt_rows
from ghostblitz_analysis.settings import AnalysisSettings, ErrorModelKind

__all__ = ["RegressionResults", "regression_results"]


@dataclass(frozen=True, eq=False)
class RegressionResults:
    """Models over single trials.

    Attributes
    ----------
    models : DataFrame
        From `model_table`, in the order in which the models were fitted.
    fixed_effects : DataFrame
        From `fixed_effect_table`.
    random_effects : DataFrame
        From `random_effect_table`.
    """

    models: pd.DataFrame
    fixed_effects: pd.DataFrame
    random_effects: pd.DataFrame

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """The tables under the names of their CSV files."""
        return {
            "model_fits": self.models,
            "model_fixed_effects": self.fixed_effects,
            "model_random_effects": self.random_effects,
        }


def regression_results(
    flagged: pd.DataFrame, *, factors: tuple[str, ...], settings: AnalysisSettings
) -> RegressionResults:
    """Fit the models of RT and of errors that the settings name, one per mode.

    Parameters
    ----------
    flagged : DataFrame, one row per trial
        From `flag_exclusions`.
    factors : tuple of str
        From `cell_factors`. Grab and shout trials get models of their own; the other factors
        are fixed effects with all their interactions.
    settings : AnalysisSettings
        Which models, with targets as a grouping factor or not, and the level of intervals.

    Returns
    -------
    RegressionResults
        Models that the data cannot carry have a row without estimates, whose note says why.
        Where GEE is asked for but cells are separated, the penalised mixed logit is fitted too.
    """
    fits: list[ModelFit] = []
    for outcome in settings.models.rt:
        for mode in mode_levels(flagged, factors=factors):
            rows = rt_rows(
                flagged, outcome=outcome, factors=factors, mode=mode, items=settings.models.items
            )
            fits += fit_rt_models(rows, confidence=settings.confidence)
    if settings.models.errors:
        for mode in mode_levels(flagged, factors=factors):
            fits += _error_fits(flagged, factors, mode, settings)
    return RegressionResults(
        models=model_table(fits),
        fixed_effects=fixed_effect_table(fits),
        random_effects=random_effect_table(fits),
    )


def _error_fits(
    flagged: pd.DataFrame, factors: tuple[str, ...], mode: str, settings: AnalysisSettings
) -> list[ModelFit]:
    """Fit the error models of one mode; of the first kind with estimates, one is to be read."""
    rows = error_rows(flagged, factors=factors, mode=mode)
    kinds: list[ErrorModelKind] = list(settings.models.errors)

    def of_kind(kind: ErrorModelKind) -> tuple[ModelFit, ...]:
        if kind == "mixed_logit":
            return fit_mixed_logits(rows, confidence=settings.confidence)
        gee = fit_gee(rows, confidence=settings.confidence)
        return (replace(gee, selected=gee.fitted),)

    fits = [fit for kind in kinds for fit in of_kind(kind)]
    if "mixed_logit" not in kinds and any(fit.separated for fit in fits):
        fits += of_kind("mixed_logit")
    chosen = next((number for number, fit in enumerate(fits) if fit.selected), None)
    return [replace(fit, selected=number == chosen) for number, fit in enumerate(fits)]
