"""Tidy tables of fitted models: one row per model, per fixed effect, per random effect."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_analysis.regression.design_formulas import Term
from ghostblitz_analysis.regression.trial_rows import TrialRows

__all__ = [
    "FixedEffect",
    "ModelFit",
    "ModelId",
    "RandomEffect",
    "covariance_rows",
    "fixed_effect_table",
    "model_table",
    "random_effect_table",
]

FloatArray = npt.NDArray[np.float64]
_NAN = float("nan")


@dataclass(frozen=True, slots=True)
class ModelId:
    """What a model is called and made of.

    Attributes
    ----------
    outcome, mode : str
        As in `TrialRows`.
    structure : str
        ``intercepts``, ``slopes`` or ``slopes_uncorrelated`` for mixed models of RT,
        ``mixed_logit``, ``mixed_logit_slopes`` or ``gee`` for errors.
    formula : str
        In lme4's notation.
    coding : str
        Of the fixed effects, in words.
    family, link, estimator : str
        Distribution, link and criterion, in words.
    """

    outcome: str
    mode: str
    structure: str
    formula: str
    coding: str
    family: str
    link: str
    estimator: str

    @property
    def name(self) -> str:
        """The id of the model in all tables."""
        return "_".join(part for part in (self.outcome, self.structure, self.mode) if part)


@dataclass(frozen=True, slots=True)
class FixedEffect:
    """One coefficient with its interval and test; NaN where something does not exist.

    Attributes
    ----------
    term : Term
        What it compares.
    estimate, se, df, statistic, p, low, high : float
        On the scale of the link; `df` is missing for tests that have none.
    test : str
        ``t``, ``z``, or ``penalised likelihood ratio``, whose statistic is chi square.
    """

    term: Term
    estimate: float
    se: float
    df: float
    statistic: float
    p: float
    low: float
    high: float
    test: str


@dataclass(frozen=True, slots=True)
class RandomEffect:
    """One standard deviation of random effects, or one correlation between two.

    Attributes
    ----------
    group : str
        ``participant_id``, one within it such as ``participant_id:rule``, ``target`` or
        ``residual``.
    term, with_term : str
        The coefficient that varies; the second one of a correlation, else empty.
    sd, variance, correlation : float
        NaN where they do not apply.
    """

    group: str
    term: str
    with_term: str
    sd: float
    variance: float
    correlation: float


@dataclass(frozen=True, slots=True)
class ModelFit:
    """A model with its estimates, or with the reason why it has none.

    Attributes
    ----------
    model : ModelId
    rows : TrialRows
        What it was fitted to.
    n_items : int or None
        Targets, where they are a grouping factor.
    fitted : bool
        Whether there are estimates.
    selected : bool
        Whether it is the one to read among those of the same outcome and mode.
    converged, singular, separated : bool or None
        None where it does not apply.
    engine, optimiser : str
        What fitted it.
    loglik, aic, bic : float
        NaN without a likelihood.
    n_parameters : int or None
        Coefficients and variance parameters.
    r2_marginal, r2_conditional : float
        Variance explained by the fixed, and by fixed and random effects.
    notes : tuple of str
        In words.
    effects : tuple of FixedEffect
    random : tuple of RandomEffect
    """

    model: ModelId
    rows: TrialRows
    n_items: int | None = None
    fitted: bool = False
    selected: bool = False
    converged: bool | None = None
    singular: bool | None = None
    separated: bool | None = None
    engine: str = ""
    optimiser: str = ""
    loglik: float = _NAN
    aic: float = _NAN
    bic: float = _NAN
    n_parameters: int | None = None
    r2_marginal: float = _NAN
    r2_conditional: float = _NAN
    notes: tuple[str, ...] = ()
    effects: tuple[FixedEffect, ...] = ()
    random: tuple[RandomEffect, ...] = ()

    @property
    def note(self) -> str:
        """All notes, those on the rows last."""
        return "; ".join((*self.notes, *self.rows.design.notes, *self.rows.notes))


def covariance_rows(
    group: str, terms: Sequence[str], covariance: FloatArray, *, correlated: bool
) -> list[RandomEffect]:
    """Return a row per standard deviation and, where they are estimated, per correlation."""
    sd = np.sqrt(np.clip(np.diag(covariance), 0.0, None))
    rows = [
        RandomEffect(group, term, "", float(s), float(s) ** 2, _NAN)
        for term, s in zip(terms, sd, strict=True)
    ]
    for i in range(1, len(terms)):
        for j in range(i):
            product = sd[i] * sd[j]
            if correlated:
                r = float(np.clip(covariance[i, j] / product, -1, 1)) if product > 0 else _NAN
                rows.append(RandomEffect(group, terms[j], terms[i], _NAN, _NAN, r))
    return rows


_MODEL_TYPES = {
    "model": "string",
    "outcome": "string",
    "mode": "string",
    "structure": "string",
    "selected": "boolean",
    "formula": "string",
    "coding": "string",
    "family": "string",
    "link": "string",
    "estimator": "string",
    "engine": "string",
    "optimiser": "string",
    "n_rows": "Int64",
    "n_participants": "Int64",
    "n_items": "Int64",
    "n_rows_left_out": "Int64",
    "n_left_out": "Int64",
    "left_out": "string",
    "fitted": "boolean",
    "converged": "boolean",
    "singular": "boolean",
    "separated": "boolean",
    "loglik": "Float64",
    "n_parameters": "Int64",
    "aic": "Float64",
    "bic": "Float64",
    "r2_marginal": "Float64",
    "r2_conditional": "Float64",
    "note": "string",
}
_EFFECT_TYPES = {
    "model": "string",
    "outcome": "string",
    "mode": "string",
    "selected": "boolean",
    "term": "string",
    "words": "string",
    "estimate": "Float64",
    "se": "Float64",
    "test": "string",
    "statistic": "Float64",
    "df": "Float64",
    "p": "Float64",
    "low": "Float64",
    "high": "Float64",
    "ratio_kind": "string",
    "ratio": "Float64",
    "ratio_low": "Float64",
    "ratio_high": "Float64",
}
_RANDOM_TYPES = {
    "model": "string",
    "outcome": "string",
    "mode": "string",
    "selected": "boolean",
    "group": "string",
    "term": "string",
    "with_term": "string",
    "sd": "Float64",
    "variance": "Float64",
    "correlation": "Float64",
}


def model_table(fits: Sequence[ModelFit]) -> pd.DataFrame:
    """Return one row per model.

    Returns
    -------
    DataFrame, one row per model
        ``model`` (its id), ``outcome``, ``mode`` (missing where the data have one),
        ``structure``, ``selected`` (the one to read of those of the same outcome and mode),
        ``formula``, ``coding``, ``family``, ``link``, ``estimator``, ``engine``, ``optimiser``,
        ``n_rows``, ``n_participants``, ``n_items``, ``n_rows_left_out``, ``n_left_out`` and
        ``left_out`` (participants, as JSON list), ``fitted``, ``converged``, ``singular``,
        ``separated``, ``loglik`` (restricted where the estimator is REML, penalised where it is
        penalised), ``n_parameters``, ``aic``, ``bic``, ``r2_marginal`` and ``r2_conditional``
        (Nakagawa & Schielzeth 2013, Methods in Ecology and Evolution 4:133; with slopes Johnson
        2014, ibid. 5:944), ``note``.
    """
    rows = []
    for fit in fits:
        row: dict[str, object] = {
            name: getattr(fit, name) for name in _MODEL_TYPES if name in _FIT_FIELDS
        }
        row |= {name: getattr(fit.model, name) for name in _MODEL_TYPES if name in _ID_FIELDS}
        row |= {
            "model": fit.model.name,
            "mode": fit.model.mode or None,
            "n_rows": len(fit.rows.y),
            "n_participants": len(fit.rows.participants),
            "n_rows_left_out": fit.rows.n_rows_left_out,
            "n_left_out": len(fit.rows.left_out),
            "left_out": json.dumps(list(fit.rows.left_out), ensure_ascii=False),
            "note": fit.note,
        }
        rows.append(row)
    return _typed(rows, _MODEL_TYPES)


def fixed_effect_table(fits: Sequence[ModelFit]) -> pd.DataFrame:
    """Return one row per model and coefficient.

    Returns
    -------
    DataFrame, one row per coefficient
        ``model``, ``outcome``, ``mode``, ``selected``, ``term`` (as coded), ``words`` (what it
        compares), ``estimate``, ``se``, ``test``, ``statistic``, ``df``, ``p``, ``low``,
        ``high``, and the estimate back on a ratio scale: ``ratio_kind`` (``RT ratio``, ``odds
        ratio``; for intercepts the quantity itself), ``ratio``, ``ratio_low``, ``ratio_high``;
        missing for -1/RT, which has none.
    """
    rows: list[dict[str, object]] = []
    for fit in fits:
        for effect in fit.effects:
            row: dict[str, object] = {
                name: getattr(effect, name) for name in _EFFECT_TYPES if name in _EFFECT_FIELDS
            }
            kind = _ratio_kind(fit.model.outcome, effect.term)
            ends = (effect.estimate, effect.low, effect.high) if kind else (_NAN,) * 3
            with np.errstate(over="ignore"):
                ratios = np.exp(ends)
            ratios = np.where(np.isfinite(ratios), ratios, np.nan)
            row |= _of_model(fit) | {
                "term": effect.term.coded,
                "words": effect.term.words,
                "ratio_kind": kind,
            }
            row |= dict(zip(("ratio", "ratio_low", "ratio_high"), ratios, strict=True))
            rows.append(row)
    return _typed(rows, _EFFECT_TYPES)


def random_effect_table(fits: Sequence[ModelFit]) -> pd.DataFrame:
    """Return one row per standard deviation or correlation of random effects.

    Returns
    -------
    DataFrame
        ``model``, ``outcome``, ``mode``, ``selected``, ``group`` (``participant_id``, one within
        it such as ``participant_id:rule``, ``target``, ``residual``), ``term``, ``with_term``
        (the second one of a correlation), ``sd``, ``variance``, ``correlation``. Of a
        GEE the working correlation of two trials of a participant.
    """
    rows: list[dict[str, object]] = []
    for fit in fits:
        for effect in fit.random:
            row = {name: getattr(effect, name) for name in _RANDOM_TYPES if name in _RANDOM_FIELDS}
            row["with_term"] = effect.with_term or None
            rows.append(row | _of_model(fit))
    return _typed(rows, _RANDOM_TYPES)


_FIT_FIELDS = {field.name for field in fields(ModelFit)}
_ID_FIELDS = {field.name for field in fields(ModelId)}
_EFFECT_FIELDS = {field.name for field in fields(FixedEffect)}
_RANDOM_FIELDS = {field.name for field in fields(RandomEffect)}


def _of_model(fit: ModelFit) -> dict[str, object]:
    return {
        "model": fit.model.name,
        "outcome": fit.model.outcome,
        "mode": fit.model.mode or None,
        "selected": fit.selected,
    }


def _ratio_kind(outcome: str, term: Term) -> str | None:
    if outcome == "log_rt":
        return "RT ratio" if term.factors else "geometric mean RT (s)"
    if outcome == "error":
        return "odds ratio" if term.factors else "odds"
    return None


def _typed(rows: list[dict[str, object]], types: dict[str, str]) -> pd.DataFrame:
    """Set the order and the nullable types; NaN becomes missing, as does an empty engine."""
    columns = {}
    for name in types:
        values = pd.Series([row[name] for row in rows], dtype=object)
        missing = values.isna()
        if name in ("engine", "optimiser"):
            missing |= values == ""
        columns[name] = values.mask(missing, None)
    return pd.DataFrame(columns).astype(types)
