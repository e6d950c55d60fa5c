"""Linear mixed models of log RT and -1/RT over single trials.

The random effects are chosen by a fixed rule. The model with random intercepts only is always
fitted, and named first. Then the effects of all factors may vary over participants, since tests of
effects that do vary are too liberal without (Barr et al. 2013, Journal of Memory and Language
68:255): first with all their correlations; where that model does not converge, or participants'
covariance is singular, with one variance per effect (see `random_part`; Bates et al. 2015,
arXiv:1506.04967); where no effect is found to vary then either, the model with intercepts is the
one to read (Matuschek et al. 2017, Journal of Memory and Language 94:305). Each step is a row of
the table with its reason. Targets get intercepts only, as a game has too few of them for slopes.
What has a variance of 0 in a model with slopes is left out of it: that says nothing against the
rest.
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
from ghostblitz_analysis.regression.lmm_estimates import (
    SINGULAR,
    LmmEstimates,
    NotFittedError,
)
from ghostblitz_analysis.regression.random_parts import RandomPart, random_part
from ghostblitz_analysis.regression.single_factor_fits import fit_single_factor
from ghostblitz_analysis.regression.trial_rows import TrialRows
from ghostblitz_analysis.regression.wald_tests import wald_effects

__all__ = ["MAX_ROWS", "fit_rt_model", "fit_rt_models"]

FloatArray = npt.NDArray[np.float64]

#: Above this many trials the models are not fitted unless asked for: both libraries take minutes.
MAX_ROWS = 200_000

#: Left-over variance within participants below this share of all counts as none.
_NO_SPREAD = 1e-16
#: Fewer groups than this estimate a variance badly (Bolker et al. 2009, Trends Ecol. Evol. 24:127).
_FEW_GROUPS = 5

_STRUCTURES = {
    "slopes": "by-participant slopes with their correlations",
    "slopes_uncorrelated": "one variance per effect over participants",
}
_TARGET = "target"
_WITHOUT_TARGETS = (
    "targets do not differ (their variance is estimated as 0), so their intercepts are left out"
)
_TOO_LIBERAL = (
    "where participants differ in an effect all the same, this model's test of it is too liberal"
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
        note then warns that its tests may be too liberal. With correlations, slopes are estimated
        where the model converged and participants' covariance is not singular; with variances
        alone, where it converged and any is above 0. Groupings whose variance is 0, targets among
        them, are left out of a step; its note names them. Nothing is selected where the first
        model has no estimates.
    """
    first = fit_rt_model(rows, structure="intercepts", confidence=confidence, max_rows=max_rows)
    if not first.fitted:
        return (first,)
    if not rows.design.factors:
        reason = "one rule, so no slopes of rule"
        return (replace(first, selected=True, notes=(*first.notes, reason)),)
    tried: list[ModelFit] = []
    for structure in _STRUCTURES:
        fit = _fit_slopes(rows, structure, confidence, max_rows)
        if fit.fitted and fit.converged and _has_slopes(fit):
            tried.append(replace(fit, selected=True))
            return (_told(first, tried), *tried)
        tried.append(fit)
    return (_told(replace(first, selected=True), tried), *tried)


def _fit_slopes(rows: TrialRows, structure: str, confidence: float, max_rows: int) -> ModelFit:
    """Fit a model with slopes, without the groupings whose variance is 0."""
    part = random_part(rows.design, structure)
    fit = _fit(rows, part, structure, confidence, max_rows)
    zero = [each.group for each in fit.random if _is_zero(each, fit)]
    within = [each.name for each in part.groupings if each.name in zero]
    if not (within and len(within) < len(part.groupings)) and _TARGET not in zero:
        return fit
    notes = []
    if _TARGET in zero:
        rows = replace(rows, target=rows.target[:0], targets=())
        notes.append(_WITHOUT_TARGETS)
    if len(within) < len(part.groupings):
        part = part.without(within)
        notes += [f"no variance of {name}, so it is left out" for name in within]
    refit = _fit(rows, part, structure, confidence, max_rows)
    return replace(refit, notes=(*notes, *refit.notes))


def _has_slopes(fit: ModelFit) -> bool:
    """Tell whether participants are found to differ in any effect.

    With variances alone, one of 0 of the intercepts leaves the others as they are.
    """
    if fit.model.structure == "slopes":
        return not fit.singular
    return any(
        each.group.startswith("participant_id:") and not _is_zero(each, fit) for each in fit.random
    )


def _is_zero(effect: RandomEffect, fit: ModelFit) -> bool:
    """Tell whether a variance is 0; that of residuals comes last among the random effects."""
    return effect.variance < SINGULAR**2 * fit.random[-1].variance


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
        ``intercepts``, ``slopes`` (of all effects, over participants, with all correlations) or
        ``slopes_uncorrelated`` (one variance per effect, see `random_part`).
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
    part = random_part(rows.design, structure)
    return _fit(rows, part, structure, confidence, max_rows)


def _fit(
    rows: TrialRows, part: RandomPart, structure: str, confidence: float, max_rows: int
) -> ModelFit:
    crossed = len(rows.targets) > 1
    model = _model_id(rows, part, structure, crossed=crossed)
    unfitted = ModelFit(model, rows, n_items=len(rows.targets) if crossed else None)
    reason = _why_not(rows, part, max_rows)
    if reason:
        return replace(unfitted, notes=(reason,))
    matrix = rows.design.matrix
    try:
        estimates = (
            fit_crossed(
                rows.y, matrix, random=part, participant=rows.participant, target=rows.target
            )
            if crossed
            else fit_single_factor(rows.y, matrix, random=part, group=rows.participant)
        )
    except NotFittedError as error:
        return replace(unfitted, converged=False, notes=(str(error),))
    return _described(unfitted, estimates, confidence)


def _model_id(rows: TrialRows, part: RandomPart, structure: str, *, crossed: bool) -> ModelId:
    groupings = [grouping.name for grouping in part.groupings] + [_TARGET] * crossed
    varying = f"1 + {rows.design.formula}" if len(part.columns) > 1 else "1"
    random = [f"({varying} | participant_id)", *(f"(1 | {name})" for name in groupings)]
    return ModelId(
        outcome=rows.outcome,
        mode=rows.mode,
        structure=structure,
        formula=f"{rows.response} ~ {' + '.join([rows.design.formula, *random])}",
        coding=rows.design.coding,
        family="normal",
        link="identity",
        estimator="REML",
    )


def _why_not(rows: TrialRows, part: RandomPart, max_rows: int) -> str:
    """Say why these rows cannot carry the model; empty if they can."""
    n_people, n_terms = len(rows.participants), len(rows.design.terms)
    # Each participant has a deviation per column, and the groupings have them per cell.
    n_random = n_people * (len(rows.design.cells) if part.groupings else len(part.columns))
    if not len(rows.y):
        return "no usable trial, so no model"
    if n_people < 2:
        return "one participant, so no model over participants"
    if len(rows.y) > max_rows:
        return (
            f"{len(rows.y)} trials are more than {max_rows}, above which the mixed models of RT "
            "are not fitted; the planned contrasts use all trials"
        )
    if len(rows.y) <= n_terms + n_random:
        return (
            f"{len(rows.y)} trials are too few for {n_terms} fixed effects and {n_random} random "
            "ones"
        )
    if len(part.columns) > 1 and part.n_parameters > n_people:
        return (
            f"{part.n_parameters} variances and correlations are too many for {n_people} "
            "participants"
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


def _described(unfitted: ModelFit, estimates: LmmEstimates, confidence: float) -> ModelFit:
    """Fill in what was found."""
    rows = unfitted.rows
    n_parameters = len(estimates.coefficients) + estimates.n_variance_parameters
    marginal, conditional = _explained(rows.design.matrix, estimates)
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
        notes=_notes(unfitted, estimates),
        effects=effects,
        random=_random_effects(rows, estimates),
    )


def _explained(matrix: FloatArray, estimates: LmmEstimates) -> tuple[float, float]:
    """Return marginal and conditional R2 (Johnson 2014, Methods in Ecology and Evolution 5:944)."""
    fixed = float(np.var(matrix @ estimates.coefficients, ddof=1))
    between = 0.0
    for component in estimates.components:
        varying = matrix[:, list(component.columns)]
        between += float(np.einsum("ri,ij,rj->r", varying, component.covariance, varying).mean())
    total = fixed + between + estimates.residual_variance
    return fixed / total, (fixed + between) / total


def _random_effects(rows: TrialRows, estimates: LmmEstimates) -> tuple[RandomEffect, ...]:
    effects: list[RandomEffect] = []
    for component in estimates.components:
        terms = [rows.design.terms[column].coded for column in component.columns]
        effects += covariance_rows(component.group, terms, component.covariance, correlated=True)
    residual = np.array([[estimates.residual_variance]])
    return (*effects, *covariance_rows("residual", ["residual"], residual, correlated=False))


def _notes(unfitted: ModelFit, estimates: LmmEstimates) -> tuple[str, ...]:
    rows, notes = unfitted.rows, list(estimates.notes)
    if not estimates.converged:
        notes.append("did not converge: read the estimates with care")
    if estimates.singular:
        notes.append(f"singular: {_where_singular(rows, estimates)}")
    if len(rows.targets) == 1:
        notes.append("one target, so no random intercepts of targets")
    counts = {"participants": len(rows.participants), "targets": unfitted.n_items}
    for name, n in counts.items():
        if n is not None and n < _FEW_GROUPS:
            notes.append(f"{n} {name} are few to estimate a variance from")
    return tuple(notes)


def _where_singular(rows: TrialRows, estimates: LmmEstimates) -> str:
    """Name the variances that are 0, or say that effects are fully correlated."""
    limit = SINGULAR**2 * estimates.residual_variance
    over = {"participant_id": "participants", _TARGET: "targets"}
    zero = []
    for component in estimates.components:
        variances = np.diag(component.covariance)
        for column, variance in zip(component.columns, variances, strict=True):
            if variance < limit:
                term = rows.design.terms[column].coded
                zero.append(f"{term} over {over.get(component.group, component.group)}")
    if zero:
        return f"no variance of {', '.join(zero)}"
    return "the random effects of participants are fully correlated"
