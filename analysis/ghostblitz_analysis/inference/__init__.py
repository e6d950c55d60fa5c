"""Inference on participants' cell scores: planned contrasts, analysis of variance, effect sizes."""

from __future__ import annotations

from ghostblitz_analysis.inference.anova import AnovaEffect, repeated_measures_anova
from ghostblitz_analysis.inference.anova_tables import anova_table
from ghostblitz_analysis.inference.bayes_factors import (
    bayes_factor,
    bayes_factor_text,
    jzs_log_bf10,
)
from ghostblitz_analysis.inference.corrections import correct_p_values
from ghostblitz_analysis.inference.effect_sizes import (
    EffectSize,
    cohens_dav,
    cohens_dz,
    hedges_correction,
    noncentral_t_limits,
)
from ghostblitz_analysis.inference.planned_contrasts import contrast_table
from ghostblitz_analysis.inference.rank_tests import SignedRankTest, signed_rank_test
from ghostblitz_analysis.inference.results import InferenceResults, inference_results
from ghostblitz_analysis.inference.sphericity import Sphericity, assess_sphericity

__all__ = [
    "AnovaEffect",
    "EffectSize",
    "InferenceResults",
    "SignedRankTest",
    "Sphericity",
    "anova_table",
    "assess_sphericity",
    "bayes_factor",
    "bayes_factor_text",
    "cohens_dav",
    "cohens_dz",
    "contrast_table",
    "correct_p_values",
    "hedges_correction",
    "inference_results",
    "jzs_log_bf10",
    "noncentral_t_limits",
    "repeated_measures_anova",
    "signed_rank_test",
]
