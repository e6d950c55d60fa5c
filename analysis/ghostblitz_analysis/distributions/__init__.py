"""Distributions of RTs: level, spread, quantiles, delta plots, accuracy by RT, ex-Gaussian."""

from __future__ import annotations

from ghostblitz_analysis.distributions.central_tendency import (
    central_tendency,
    group_central_tendency,
    wilson_interval,
)
from ghostblitz_analysis.distributions.conditional_accuracy import (
    accuracy_differences,
    conditional_accuracy,
    group_accuracy_differences,
    group_conditional_accuracy,
)
from ghostblitz_analysis.distributions.delta_plots import (
    delta_functions,
    delta_slopes,
    group_delta_functions,
    group_delta_slopes,
)
from ghostblitz_analysis.distributions.ex_gaussian import (
    ex_gaussian_cdf,
    ex_gaussian_log_density,
)
from ghostblitz_analysis.distributions.ex_gaussian_cells import (
    ex_gaussian_cells,
    group_ex_gaussian,
)
from ghostblitz_analysis.distributions.ex_gaussian_fit import ExGaussianFit, fit_ex_gaussian
from ghostblitz_analysis.distributions.quantiles import participant_quantiles, vincentiles
from ghostblitz_analysis.distributions.results import DistributionResults, distribution_results

__all__ = [
    "DistributionResults",
    "ExGaussianFit",
    "accuracy_differences",
    "central_tendency",
    "conditional_accuracy",
    "delta_functions",
    "delta_slopes",
    "distribution_results",
    "ex_gaussian_cdf",
    "ex_gaussian_cells",
    "ex_gaussian_log_density",
    "fit_ex_gaussian",
    "group_accuracy_differences",
    "group_central_tendency",
    "group_conditional_accuracy",
    "group_delta_functions",
    "group_delta_slopes",
    "group_ex_gaussian",
    "participant_quantiles",
    "vincentiles",
    "wilson_interval",
]
