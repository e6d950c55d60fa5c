"""Regression models over single trials: of RT with crossed random effects, and of errors."""

from ghostblitz_analysis.regression.design_formulas import Design, Term, build_design
from ghostblitz_analysis.regression.error_models import (
    fit_gee,
    fit_mixed_logit,
    fit_mixed_logits,
)
from ghostblitz_analysis.regression.fit_reports import (
    FixedEffect,
    ModelFit,
    ModelId,
    RandomEffect,
)
from ghostblitz_analysis.regression.mixed_models import MAX_ROWS, fit_rt_model, fit_rt_models
from ghostblitz_analysis.regression.results import RegressionResults, regression_results
from ghostblitz_analysis.regression.trial_rows import TrialRows, error_rows, mode_levels, rt_rows

__all__ = [
    "MAX_ROWS",
    "Design",
    "FixedEffect",
    "ModelFit",
    "ModelId",
    "RandomEffect",
    "RegressionResults",
    "Term",
    "TrialRows",
    "build_design",
    "error_rows",
    "fit_gee",
    "fit_mixed_logit",
    "fit_mixed_logits",
    "fit_rt_model",
    "fit_rt_models",
    "mode_levels",
    "regression_results",
    "rt_rows",
]
