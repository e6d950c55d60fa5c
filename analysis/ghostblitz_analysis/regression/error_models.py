"""Models of errors over single trials: mixed logit, and generalised estimating equations (GEE).

The mixed logit asks how the odds of an error of one participant differ between cells; GEE asks the
same of all participants' errors together, and its odds ratios are nearer to 1 the more
participants differ. Where cells are separated, neither has a finite maximum likelihood estimate
for them: the mixed logit is then fitted with a penalty, and GEE is not.

The mixed logit is fitted with random intercepts of participants, and then with participants who
differ in every effect as well, with one variance per effect: tests of an effect in which
participants differ are too liberal without. There are no correlations, for which errors are too
few; each variance that the data do not show is estimated as 0 by itself.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from importlib.metadata import version

import numpy as np
import numpy.typing as npt
from scipy import stats
from statsmodels.genmod.cov_struct import Exchangeable
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_estimating_equations import GEE

from ghostblitz_analysis.regression.error_components import (
    VarianceComponents,
    effect_components,
    intercept_component,
)
from ghostblitz_analysis.regression.fit_reports import (
    FixedEffect,
    ModelFit,
    ModelId,
    RandomEffect,
    covariance_rows,
)
from ghostblitz_analysis.regression.laplace_fits import LaplaceFit, fit_laplace, profile_interval
from ghostblitz_analysis.regression.separation import CellCounts, cell_counts, separation_note
from ghostblitz_analysis.regression.trial_rows import TrialRows
from ghostblitz_analysis.regression.wald_tests import wald_effects

__all__ = ["MAX_GEE_ROWS", "SMALL_SAMPLE", "fit_gee", "fit_mixed_logit", "fit_mixed_logits"]

FloatArray = npt.NDArray[np.float64]

#: Above this many trials no GEE is fitted: the library keeps each trial apart, and takes minutes.
MAX_GEE_ROWS = 200_000

#: Below this many participants the sandwich variance of GEE is too small without a correction
#: (Mancl & DeRouen 2001, Biometrics 57:126).
SMALL_SAMPLE = 50

#: Variance of the standard logistic distribution: that of single trials on the scale of log odds.
_LOGISTIC_VARIANCE = np.pi**2 / 3

_TOO_LIBERAL = (
    "participants differ in their intercepts only: where they differ in an effect too, its test is "
    "too liberal"
)


def fit_mixed_logits(rows: TrialRows, *, confidence: float) -> tuple[ModelFit, ...]:
    """Fit the model with random intercepts, then that with participants' effects as well.

    Parameters
    ----------
    rows : TrialRows
        From `error_rows`.
    confidence : float
        Level of the intervals.

    Returns
    -------
    tuple of ModelFit
        The model of `fit_mixed_logit` first. Where there is a factor whose effect may differ
        between participants, a second one with ``(1 | participant_id:rule)`` and the like for
        every factor and interaction (see `effect_components`), which is `selected` if it
        converged and one of their variances is above 0. Else the first one is, and its note says
        why. Nothing is selected where the first model has no estimates.
    """
    first = fit_mixed_logit(rows, confidence=confidence)
    if not first.fitted:
        return (first,)
    if not rows.design.factors:
        return (replace(first, selected=True),)
    components = effect_components(rows.design, cell_counts(rows))
    if len(components.groups) == 1:
        reason = f"no by-participant effects: {_not_told_apart(components)}"
        return (replace(first, selected=True, notes=(*first.notes, reason)),)
    second = _fit_logit(rows, "mixed_logit_slopes", components, confidence)
    varied = any(each.variance > 0 for each in second.random[1:])
    kept = bool(second.converged) and varied
    outcome = "kept; read the model with them"
    if not kept:
        why = "their variances are estimated as 0" if second.converged else "did not converge"
        outcome = f"{why}; this model is the one to read"
    told = f"by-participant effects of {' and '.join(rows.design.factors)}: {outcome}"
    first = replace(first, selected=not kept, notes=(*first.notes, told))
    return (first, replace(second, selected=kept))


def fit_mixed_logit(rows: TrialRows, *, confidence: float) -> ModelFit:
    """Fit a logit model of errors with random intercepts of participants.

    The likelihood is Laplace's approximation, as in lme4; see `fit_laplace`. It assumes that
    trials are independent given the participant, and normal random intercepts. Where cells are
    separated, Jeffreys' penalty is added, and intervals and tests are by its profile; elsewhere
    they are Wald's.

    Parameters
    ----------
    rows : TrialRows
        From `error_rows`.
    confidence : float
        Level of the intervals.

    Returns
    -------
    ModelFit
        ``loglik`` is that of single trials, without the penalty. AIC and BIC are missing where
        the penalty moved the estimates off the maximum of the likelihood.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from ghostblitz_analysis.exclusions import flag_exclusions
    >>> from ghostblitz_analysis.regression import error_rows
    >>> from ghostblitz_analysis.settings import AnalysisSettings
    >>> from ghostblitz_task.schema import COLUMNS
    >>> n = 400
    >>> columns = {"participant_id": np.repeat([f"p{i}" for i in range(10)], n // 10),
    ...            "rule": np.tile(["direct", "exclusion"], n // 2), "phase": "test",
    ...            "correct": np.arange(n) % 20 > 1, "trial_in_block": 0, "rt_s": 1.0}
    >>> trials = pd.DataFrame({c.name: pd.array(pd.Series(columns.get(c.name, None),
    ...     index=range(n)), dtype=c.dtype) for c in COLUMNS})
    >>> rows = error_rows(flag_exclusions(trials, AnalysisSettings()), factors=("rule",))
    >>> fit = fit_mixed_logit(rows, confidence=0.95)
    >>> round(fit.effects[0].estimate, 3)  # the log odds of 1 error in 10
    -2.197
    """
    components = intercept_component(len(rows.design.cells))
    return _fit_logit(rows, "mixed_logit", components, confidence)


def _fit_logit(
    rows: TrialRows, structure: str, components: VarianceComponents, confidence: float
) -> ModelFit:
    formula = f"error ~ {rows.design.formula} + {components.formula}"
    model = _model_id(rows, structure, formula, "Laplace")
    reason = _why_not(rows)
    if reason:
        return ModelFit(model, rows, notes=(reason,))
    counts = cell_counts(rows)
    separated = separation_note(rows, counts)
    fit = fit_laplace(
        counts, rows.design.cell_matrix, components.kernels, penalised=bool(separated)
    )
    if separated:
        model = replace(model, estimator="Laplace with Jeffreys' penalty")
        effects = _profiled_effects(rows, counts, components, fit, confidence)
    else:
        effects = wald_effects(
            rows.design.terms, fit.coefficients, fit.covariance, None, confidence
        )
    n_parameters = len(fit.coefficients) + len(fit.sd)
    marginal, conditional = _explained(rows, fit)
    nan = float("nan")
    return ModelFit(
        model,
        rows,
        fitted=True,
        converged=fit.converged,
        singular=fit.singular,
        separated=bool(separated),
        engine="ghostblitz_analysis",
        optimiser="BFGS, then Newton",
        loglik=fit.loglik,
        n_parameters=n_parameters,
        aic=nan if separated else -2 * fit.loglik + 2 * n_parameters,
        bic=nan if separated else -2 * fit.loglik + n_parameters * float(np.log(len(rows.y))),
        r2_marginal=marginal,
        r2_conditional=conditional,
        notes=_logit_notes(rows, components, fit, separated),
        effects=effects,
        random=tuple(
            row
            for group, sd in zip(components.groups, fit.sd, strict=True)
            for row in covariance_rows(
                group, ["(Intercept)"], np.array([[sd**2]]), correlated=False
            )
        ),
    )


def fit_gee(rows: TrialRows, *, confidence: float, max_rows: int = MAX_GEE_ROWS) -> ModelFit:
    """Fit a marginal logit model of errors by generalised estimating equations.

    Trials of a participant are taken as equally correlated (Liang & Zeger 1986, Biometrika
    73:13); the sandwich variance holds where they are not. Below `SMALL_SAMPLE` participants it
    is corrected for bias (Mancl & DeRouen 2001). Tests are t tests with participants minus
    coefficients degrees of freedom.

    Parameters
    ----------
    rows : TrialRows
        From `error_rows`.
    confidence : float
        Level of the intervals.
    max_rows : int
        Above it nothing is fitted.

    Returns
    -------
    ModelFit
        Without estimates where cells are separated, or participants are no more than
        coefficients. There is no likelihood.
    """
    model = _model_id(rows, "gee", f"error ~ {rows.design.formula}", "GEE")
    unfitted = ModelFit(model, rows)
    n_people, n_terms = len(rows.participants), len(rows.design.terms)
    reason = _why_not(rows)
    separated = "" if reason else separation_note(rows, cell_counts(rows))
    if separated:
        reason = f"{separated}, so GEE has no finite estimates; read the penalised mixed logit"
    elif not reason and n_people <= n_terms:
        reason = f"{n_people} participants are too few for {n_terms} coefficients of a GEE"
    elif not reason and len(rows.y) > max_rows:
        reason = f"{len(rows.y)} trials are more than {max_rows}, above which no GEE is fitted"
    if reason:
        return replace(unfitted, separated=bool(separated) or None, notes=(reason,))
    small = n_people < SMALL_SAMPLE
    covariance_kind = "bias_reduced" if small else "robust"
    # What goes wrong is judged from the result, not from warnings.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        structure = Exchangeable()
        equations = GEE(
            rows.y,
            rows.design.matrix,
            groups=rows.participant,
            family=Binomial(),
            cov_struct=structure,
        )
        try:
            result = equations.fit(cov_type=covariance_kind, maxiter=200)
            estimates = np.asarray(result.params, dtype=np.float64)
            covariance = np.asarray(result.cov_params(), dtype=np.float64)
        except (np.linalg.LinAlgError, ValueError, FloatingPointError) as error:
            return replace(unfitted, converged=False, notes=(f"GEE failed: {error}",))
    if not (np.isfinite(estimates).all() and (np.diag(covariance) > 0).all()):
        return replace(unfitted, converged=False, notes=("GEE came to no finite estimates",))
    converged = bool(result.converged)
    correction = "sandwich variance" + (" corrected after Mancl & DeRouen" if small else "")
    trouble = () if converged else ("did not converge: read the estimates with care",)
    df = np.full(n_terms, float(n_people - n_terms))
    return replace(
        unfitted,
        fitted=True,
        converged=converged,
        separated=False,
        engine=f"statsmodels {version('statsmodels')}",
        optimiser="scoring",
        n_parameters=n_terms + 1,
        notes=(*trouble, f"exchangeable trials, {correction}, {df[0]:.0f} degrees of freedom"),
        effects=wald_effects(rows.design.terms, estimates, covariance, df, confidence),
        random=(_working_correlation(float(structure.dep_params)),),
    )


def _model_id(rows: TrialRows, structure: str, formula: str, estimator: str) -> ModelId:
    return ModelId(
        outcome="error",
        mode=rows.mode,
        structure=structure,
        formula=formula,
        coding=rows.design.coding,
        family="binomial",
        link="logit",
        estimator=estimator,
    )


def _why_not(rows: TrialRows) -> str:
    if not len(rows.y):
        return "no usable trial, so no model"
    if len(rows.participants) < 2:
        return "one participant, so no model over participants"
    n_errors = int(rows.y.sum())
    if n_errors == 0:
        return f"no error in {len(rows.y)} trials, so nothing to model"
    if n_errors == len(rows.y):
        return f"nothing but errors in {len(rows.y)} trials, so nothing to model"
    return ""


def _profiled_effects(
    rows: TrialRows,
    counts: CellCounts,
    components: VarianceComponents,
    fit: LaplaceFit,
    confidence: float,
) -> tuple[FixedEffect, ...]:
    drop = float(stats.chi2.ppf(confidence, 1)) / 2
    se = np.sqrt(np.diag(fit.covariance))
    effects = []
    for place, term in enumerate(rows.design.terms):
        low, high, chi_square = profile_interval(
            fit, place, counts, rows.design.cell_matrix, components.kernels, drop=drop
        )
        effects.append(
            FixedEffect(
                term=term,
                estimate=float(fit.coefficients[place]),
                se=float(se[place]),
                df=1.0,
                statistic=chi_square,
                p=float(stats.chi2.sf(chi_square, 1)),
                low=low,
                high=high,
                test="penalised likelihood ratio",
            )
        )
    return tuple(effects)


def _explained(rows: TrialRows, fit: LaplaceFit) -> tuple[float, float]:
    """Return marginal and conditional R2 on the scale of log odds (Nakagawa et al. 2017)."""
    fixed = float(np.var(rows.design.matrix @ fit.coefficients, ddof=1))
    between = float((fit.sd**2).sum())
    total = fixed + between + _LOGISTIC_VARIANCE
    return fixed / total, (fixed + between) / total


def _logit_notes(
    rows: TrialRows, components: VarianceComponents, fit: LaplaceFit, separated: str
) -> tuple[str, ...]:
    notes = []
    if separated:
        notes.append(
            f"{separated}; maximum likelihood would be infinite there, so Jeffreys' penalty "
            "(Firth 1993) is added, with profile intervals and tests; no AIC or BIC"
        )
    if not fit.converged:
        notes.append("did not converge: read the estimates with care")
    if fit.singular:
        zero = [
            group.removeprefix("participant_id").removeprefix(":") or "(Intercept)"
            for group, sd in zip(components.groups, fit.sd, strict=True)
            if sd == 0
        ]
        notes.append(f"singular: no variance of {', '.join(zero)} over participants")
    if components.not_told_apart:
        notes.append(_not_told_apart(components))
    if len(rows.participants) < 5:
        notes.append(f"{len(rows.participants)} participants are few to estimate a variance from")
    if len(components.groups) == 1 and len(rows.design.terms) > 1:
        notes.append(_TOO_LIBERAL)
    return tuple(notes)


def _not_told_apart(components: VarianceComponents) -> str:
    names = ", ".join(components.not_told_apart)
    return f"the trials of participants cannot show a variance of {names}, which is left out"


def _working_correlation(value: float) -> RandomEffect:
    nan = float("nan")
    return RandomEffect("participant_id", "trial", "trial", nan, nan, value)
