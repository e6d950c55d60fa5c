"""Linear mixed models of log RT and -1/RT over single trials.

The random effects are chosen by a fixed rule. The model with random intercepts only is always
fitted, and named first. Then by-participant slopes of rule are added, the effect that the
hypotheses are about (Barr et al. 2013, Journal of Memory and Language 68:255), with all their
correlations; where that model does not converge, or participants' covariance is singular, the
correlations go (Bates et al. 2015, arXiv:1506.04967); where slopes cannot be estimated then
either, the model with intercepts is the one to read (Matuschek et al. 2017, Journal of Memory and
Language 94:305), whose tests of rule are too liberal if participants do differ. Each step is a row
of the table with its reason. Targets get intercepts only, as a game has too few of them for slopes,
and a model with slopes goes without these where their variance is estimated as 0: that says
nothing against the slopes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ghostblitz_analysis.regression.crossed_fits import fit_crossed
from ghostblitz_analysis.regression.fit_reports import (
    ModelFit,
    ModelId,
    RandomEffect,
    covariance_rows,
)
from ghostblitz_analysis.regression.lmm_estimates import LmmEstimates, NotFittedError
from ghostblitz_analysis.regression.single_factor_fits import fit_single_factor
from ghostblitz_analysis.regression.trial_rows import TrialRows
from ghostblitz_analysis.regression.wald_tests import wald_effects

__all__ = ["MAX_ROWS", "fit_rt_model", "fit_rt_models"]

FloatArray = npt.NDArray[np.float64]

#: Above this many trials the models are not fitted unless asked for: both libraries take minutes.
MAX_ROWS = 200_000

#: Left-over variance within participants below this share of all counts as none.
_NO_SPREAD = 1e-16
#: A variance below this share of the residual one counts as 0, as in lme4.
_NO_VARIANCE = 1e-8
#: Fewer groups than this estimate a variance badly (Bolker et al. 2009, Trends Ecol. Evol. 24:127).
_FEW_GROUPS = 5

_STRUCTURES = {
    "intercepts": "random intercepts only",
    "slopes": "by-participant slopes of rule with their correlations",
    "slopes_uncorrelated": "by-participant slopes of rule without correlations",
}
_WITHOUT_TARGETS = (
    "targets do not differ (their variance is estimated as 0), so their intercepts are left out"
)
_TOO_LIBERAL = (
    "where participants differ in the effect of rule all the same, this model's tests of it are "
    "too liberal"
)
_FIXED_FOR_ALL = (
    "participants differ in the effect of rule at most: where they differ in other effects and in "
    "interactions too, this model's tests of those are too liberal; read the planned contrasts"
)


def fit_rt_models(
    rows: TrialRows, *, confidence: float, max_rows: int = MAX_ROWS
) -> tuple[ModelFit, ...]:
    """Fit the model with intercepts, then those with slopes as far as the data carry them.

    Parameters
    ----------
    rows : TrialRows
        From `rt_rows`.
    confidence : float
        Level of the intervals.
    max_rows : int
        Above it nothing is fitted, and the note says so.

    Returns
    -------
    tuple of ModelFit
        The model with random intercepts first, then each step that was tried. One is
        `selected`: the first step whose slopes could be estimated, or else the first model, whose
        note then warns that its tests of rule may be too liberal. Where there are further
        factors, the note of the selected model warns of theirs, which have no slopes. Slopes are
        estimated where the model converged, no variance of slopes is 0, and, with correlations,
        participants' covariance is not singular. Where the variance of targets is 0, a step is
        fitted without their intercepts. Nothing is selected where the first model has no
        estimates.
    """
    first = fit_rt_model(rows, structure="intercepts", confidence=confidence, max_rows=max_rows)
    if not first.fitted:
        return (first,)
    if not rows.design.rule_columns:
        reason = "one rule, so no slopes of rule"
        return (replace(first, selected=True, notes=(*first.notes, reason)),)
    tried: list[ModelFit] = []
    for structure in ("slopes", "slopes_uncorrelated"):
        fit = _fit_slopes(rows, structure, confidence, max_rows)
        if fit.fitted and fit.converged and not _slopes_singular(fit):
            tried.append(_selected(fit))
            return (_told(first, [*tried]), *tried)
        tried.append(fit)
    return (_told(_selected(first), tried), *tried)


def _selected(fit: ModelFit) -> ModelFit:
    """Mark the model to read, and say which of its tests take participants to be alike."""
    has_more = len(fit.rows.design.terms) > 1 + len(fit.rows.design.rule_columns)
    return replace(fit, selected=True, notes=(*fit.notes, *([_FIXED_FOR_ALL] if has_more else [])))


def _fit_slopes(rows: TrialRows, structure: str, confidence: float, max_rows: int) -> ModelFit:
    """Fit a model with slopes, without intercepts of targets where their variance is 0."""
    fit = fit_rt_model(rows, structure=structure, confidence=confidence, max_rows=max_rows)
    if not any(each.group == "target" and _is_zero(each, fit) for each in fit.random):
        return fit
    fewer = replace(rows, target=rows.target[:0], targets=())
    refit = fit_rt_model(fewer, structure=structure, confidence=confidence, max_rows=max_rows)
    return replace(refit, notes=(_WITHOUT_TARGETS, *refit.notes))


def _slopes_singular(fit: ModelFit) -> bool:
    """Tell whether a variance of slopes is 0, or correlations make a model's covariance singular.

    Without correlations, a variance of 0 of the intercepts leaves the slopes as they are.
    """
    if fit.model.structure == "slopes":
        return bool(fit.singular)
    return any(
        each.group == "participant_id" and each.term != "(Intercept)" and _is_zero(each, fit)
        for each in fit.random
    )


def _is_zero(effect: RandomEffect, fit: ModelFit) -> bool:
    """Tell whether a variance is 0; that of residuals comes last among the random effects."""
    return effect.variance < _NO_VARIANCE * fit.random[-1].variance


def _told(first: ModelFit, tried: list[ModelFit]) -> ModelFit:
    """Add the steps to the note of the first model."""
    steps = []
    for fit in tried:
        outcome = "kept"
        if not fit.fitted:
            outcome = "not fitted"
        elif not fit.converged:
            outcome = "did not converge"
        elif not fit.selected:
            outcome = "singular"
        steps.append(f"{_STRUCTURES[fit.model.structure]}: {outcome}")
    told = [*first.notes, ", then ".join(steps)]
    if first.selected:
        told += ["this model is the one to read", _TOO_LIBERAL]
    else:
        told.append("read the model with slopes")
    return replace(first, notes=tuple(told))


def fit_rt_model(
    rows: TrialRows, *, structure: str, confidence: float, max_rows: int = MAX_ROWS
) -> ModelFit:
    """Fit one linear mixed model by REML, with Satterthwaite's degrees of freedom.

    Assumes normal residuals of one variance on the scale of the outcome, and normal random
    effects. Participants and targets cross (Baayen et al. 2008) and are fitted by mixedlm; where
    targets are no factor, or there is one, by statsmodels or SciPy. Intervals are Wald's, with t
    quantiles.

    Parameters
    ----------
    rows : TrialRows
        From `rt_rows`.
    structure : str
        ``intercepts``, ``slopes`` (of rule, over participants, with all correlations) or
        ``slopes_uncorrelated``.
    confidence : float
        Level of the intervals.
    max_rows : int
        Above it nothing is fitted.

    Returns
    -------
    ModelFit
        Without estimates where the data cannot carry the model; the note says why. A variance
        of 0 or a correlation of 1 is `singular`, not an error.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from ghostblitz_analysis.exclusions import flag_exclusions
    >>> from ghostblitz_analysis.regression import rt_rows
    >>> from ghostblitz_analysis.settings import AnalysisSettings
    >>> from ghostblitz_task.schema import COLUMNS
    >>> rng = np.random.default_rng(1)
    >>> n = 400
    >>> rule = np.tile(["direct", "exclusion"], n // 2)
    >>> columns = {"participant_id": np.repeat([f"p{i}" for i in range(10)], n // 10),
    ...            "rule": rule, "phase": "test", "correct": True, "trial_in_block": 0,
    ...            "rt_s": np.exp(0.5 * (rule == "exclusion") + rng.normal(0, 0.2, n))}
    >>> trials = pd.DataFrame({c.name: pd.array(pd.Series(columns.get(c.name, None),
    ...     index=range(n)), dtype=c.dtype) for c in COLUMNS})
    >>> flagged = flag_exclusions(trials, AnalysisSettings())
    >>> rows = rt_rows(flagged, outcome="log_rt", factors=("rule",), items=False)
    >>> fit = fit_rt_model(rows, structure="intercepts", confidence=0.95)
    >>> round(fit.effects[1].estimate, 1)
    0.5
    """
    crossed = len(rows.targets) > 1
    random = (0, *rows.design.rule_columns) if structure != "intercepts" else (0,)
    correlated = structure != "slopes_uncorrelated"
    model = _model_id(rows, structure, crossed=crossed)
    unfitted = ModelFit(model, rows, n_items=len(rows.targets) if crossed else None)
    reason = _why_not(rows, random, max_rows)
    if reason:
        return replace(unfitted, notes=(reason,))
    matrix = rows.design.matrix
    try:
        if crossed:
            estimates = fit_crossed(
                rows.y,
                matrix,
                random=random,
                participant=rows.participant,
                target=rows.target,
                correlated=correlated,
            )
        else:
            estimates = fit_single_factor(
                rows.y, matrix, random=random, group=rows.participant, correlated=correlated
            )
    except NotFittedError as error:
        return replace(unfitted, converged=False, notes=(str(error),))
    return _described(unfitted, estimates, random, correlated, confidence)


def _model_id(rows: TrialRows, structure: str, *, crossed: bool) -> ModelId:
    slopes = {"intercepts": "1", "slopes": "1 + rule", "slopes_uncorrelated": "1 + rule"}
    bar = "||" if structure == "slopes_uncorrelated" else "|"
    random = f"({slopes[structure]} {bar} participant_id)" + (" + (1 | target)" if crossed else "")
    return ModelId(
        outcome=rows.outcome,
        mode=rows.mode,
        structure=structure,
        formula=f"{rows.response} ~ {rows.design.formula} + {random}",
        coding=rows.design.coding,
        family="normal",
        link="identity",
        estimator="REML",
    )


def _why_not(rows: TrialRows, random: tuple[int, ...], max_rows: int) -> str:
    """Say why these rows cannot carry the model; empty if they can."""
    n_people, n_terms = len(rows.participants), len(rows.design.terms)
    if not len(rows.y):
        return "no usable trial, so no model"
    if n_people < 2:
        return "one participant, so no model over participants"
    if len(rows.y) > max_rows:
        return (
            f"{len(rows.y)} trials are more than {max_rows}, above which the mixed models of RT "
            "are not fitted; the planned contrasts use all trials"
        )
    if len(rows.y) <= n_terms + len(random) * n_people:
        return (
            f"{len(rows.y)} trials are too few for {n_terms} fixed effects and "
            f"{len(random) * n_people} random ones"
        )
    if _spread_within(rows) <= _NO_SPREAD:
        return "RTs do not vary within participants and cells, so there is no residual to model"
    return ""


def _spread_within(rows: TrialRows) -> float:
    """Return the residual share of the variance, given fixed effects of cells and participants."""
    n_people = len(rows.participants)
    size = np.bincount(rows.participant, minlength=n_people).astype(np.float64)

    def centred(values: FloatArray) -> FloatArray:
        sums = np.bincount(rows.participant, weights=values, minlength=n_people)
        return np.asarray(values - (sums / size)[rows.participant])

    matrix = rows.design.matrix
    y = centred(rows.y)
    columns = np.column_stack([centred(matrix[:, i]) for i in range(matrix.shape[1])])
    residual = y - columns @ np.linalg.lstsq(columns, y, rcond=None)[0]
    total = float(rows.y @ rows.y)
    return float(residual @ residual) / total if total > 0 else 0.0


def _described(
    unfitted: ModelFit,
    estimates: LmmEstimates,
    random: tuple[int, ...],
    correlated: bool,
    confidence: float,
) -> ModelFit:
    """Fill in what was found."""
    rows = unfitted.rows
    matrix = rows.design.matrix
    terms = [rows.design.terms[i].coded for i in random]
    n_parameters = len(estimates.coefficients) + estimates.n_variance_parameters
    marginal, conditional = _explained(matrix, random, estimates)
    effects = wald_effects(
        rows.design.terms, estimates.coefficients, estimates.covariance, estimates.df, confidence
    )
    return replace(
        unfitted,
        fitted=True,
        converged=estimates.converged,
        singular=estimates.singular,
        engine=estimates.engine,
        optimiser=estimates.optimiser,
        loglik=estimates.loglik,
        n_parameters=n_parameters,
        aic=-2 * estimates.loglik + 2 * n_parameters,
        bic=-2 * estimates.loglik + n_parameters * float(np.log(len(rows.y))),
        r2_marginal=marginal,
        r2_conditional=conditional,
        notes=_notes(unfitted, estimates, terms, correlated),
        effects=effects,
        random=_random_effects(estimates, terms, correlated),
    )


def _explained(
    matrix: FloatArray, random: tuple[int, ...], estimates: LmmEstimates
) -> tuple[float, float]:
    """Return marginal and conditional R2 (Johnson 2014, eqs. 10 and 11)."""
    varying = matrix[:, list(random)]
    fixed = float(np.var(matrix @ estimates.coefficients, ddof=1))
    between = float(
        np.einsum("ri,ij,rj->r", varying, estimates.participant_covariance, varying).mean()
    ) + (estimates.item_variance or 0.0)
    total = fixed + between + estimates.residual_variance
    return fixed / total, (fixed + between) / total


def _random_effects(
    estimates: LmmEstimates, terms: list[str], correlated: bool
) -> tuple[RandomEffect, ...]:
    rows = covariance_rows(
        "participant_id", terms, estimates.participant_covariance, correlated=correlated
    )
    if estimates.item_variance is not None:
        item = np.array([[estimates.item_variance]])
        rows += covariance_rows("target", ["(Intercept)"], item, correlated=False)
    residual = np.array([[estimates.residual_variance]])
    return (*rows, *covariance_rows("residual", ["residual"], residual, correlated=False))


def _notes(
    unfitted: ModelFit, estimates: LmmEstimates, terms: list[str], correlated: bool
) -> tuple[str, ...]:
    rows, notes = unfitted.rows, list(estimates.notes)
    if not estimates.converged:
        notes.append("did not converge: read the estimates with care")
    if estimates.singular:
        notes.append(f"singular: {_where_singular(estimates, terms, correlated)}")
    if len(rows.targets) == 1:
        notes.append("one target, so no random intercepts of targets")
    counts = {"participants": len(rows.participants), "targets": unfitted.n_items}
    for name, n in counts.items():
        if n is not None and n < _FEW_GROUPS:
            notes.append(f"{n} {name} are few to estimate a variance from")
    return tuple(notes)


def _where_singular(estimates: LmmEstimates, terms: list[str], correlated: bool) -> str:
    """Name the variances that are 0, or say that effects are fully correlated."""
    limit = _NO_VARIANCE * estimates.residual_variance
    zero = [
        f"{term} over participants"
        for term, variance in zip(terms, np.diag(estimates.participant_covariance), strict=True)
        if variance < limit
    ]
    if estimates.item_variance is not None and estimates.item_variance < limit:
        zero.append("(Intercept) over targets")
    if zero:
        return f"no variance of {', '.join(zero)}"
    return "the random effects of participants are fully correlated"
