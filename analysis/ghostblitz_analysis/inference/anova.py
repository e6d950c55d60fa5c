"""Repeated-measures analysis of variance of participants' cell scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from math import nan, prod

import numpy as np
import numpy.typing as npt
from scipy import special

from ghostblitz_analysis.inference.sphericity import Sphericity, assess_sphericity

__all__ = ["AnovaEffect", "repeated_measures_anova"]

FloatArray = npt.NDArray[np.float64]

#: Variation below this share of the scores' size is rounding error of equal numbers.
_EQUAL_WITHIN = 1e-12
_NO_SPHERICITY = Sphericity(nan, nan, nan, nan)


@dataclass(frozen=True, slots=True)
class AnovaEffect:
    """One main effect or interaction.

    Attributes
    ----------
    factors : tuple of str
        One for a main effect, more for an interaction.
    df1, df2 : int
        Degrees of freedom of the effect and of its error: effect by participants.
    ss_effect, ss_error : float
        Sums of squares; NaN without two participants.
    f, p : float
        NaN where there is no error to test against.
    sphericity : Sphericity
        Mauchly's test and the epsilons.
    p_gg, p_hf : float
        p with degrees of freedom multiplied by an epsilon.
    partial_eta2, generalized_eta2 : float
        Shares of variation: of effect and its error, and of all but the other effects.
    note : str
        Why something is missing; empty if nothing is.
    """

    factors: tuple[str, ...]
    df1: int
    df2: int
    ss_effect: float
    ss_error: float
    f: float
    p: float
    sphericity: Sphericity
    p_gg: float
    p_hf: float
    partial_eta2: float
    generalized_eta2: float
    note: str


def repeated_measures_anova(
    scores: npt.ArrayLike, *, factors: tuple[str, ...]
) -> tuple[AnovaEffect, ...]:
    """Analyse a complete factorial design within participants.

    Every effect is tested against its own interaction with participants, by the univariate F test.
    Without sphericity that test is too liberal for effects with more than one degree of freedom;
    see `assess_sphericity` for the corrections. Partial eta squared is SS / (SS + SS_error);
    generalised eta squared, which can be compared between designs, SS / (SS + the sum of all
    errors, that of participants among them) (Olejnik & Algina 2003, Psychological Methods 8,
    434-447; Bakeman 2005, Behavior Research Methods 37, 379-384), where every factor is
    manipulated. Assumes that participants' scores come independently from one multivariate normal
    distribution.

    Parameters
    ----------
    scores : (n_participants, n_levels_1, n_levels_2, ...) array
        One axis per factor; no missing scores.
    factors : tuple of str
        Their names, in the order of the axes.

    Returns
    -------
    tuple of AnovaEffect
        Main effects first, then interactions, in the order of `factors`. With one participant, or
        none, or where nothing varies between participants, tests are missing and `note` says so.

    Raises
    ------
    ValueError
        If scores are missing, or the axes are not one per factor of two levels or more.

    Examples
    --------
    >>> effect, = repeated_measures_anova([[1, 2, 4], [2, 2, 5], [1, 3, 3]], factors=("rule",))
    >>> round(effect.f, 3), effect.df1, effect.df2, round(effect.generalized_eta2, 3)
    (8.909, 2, 4, 0.766)
    """
    x = np.asarray(scores, dtype=np.float64)
    levels = x.shape[1:]
    if len(levels) != len(factors) or min(levels, default=0) < 2 or np.isnan(x).any():
        raise ValueError(
            f"scores of shape {x.shape} are no complete design of {', '.join(factors)}"
        )
    flat = x.reshape(len(x), prod(levels))
    size = float(np.abs(flat).max()) if flat.size else 0.0
    equal_below = (_EQUAL_WITHIN * max(size, 1.0)) ** 2
    effects = [
        chosen
        for n_factors in range(len(factors) + 1)
        for chosen in combinations(range(len(factors)), n_factors)
    ]
    parts = [flat @ _contrasts(levels, chosen) for chosen in effects]
    ss_errors = [_ss_error(part, equal_below) for part in parts]
    return tuple(
        _effect(tuple(factors[i] for i in chosen), part, ss_error, sum(ss_errors))
        for chosen, part, ss_error in zip(effects[1:], parts[1:], ss_errors[1:], strict=True)
    )


def _contrasts(levels: tuple[int, ...], chosen: tuple[int, ...]) -> FloatArray:
    """Return orthonormal contrasts, one per column, that span an effect; the mean for none."""
    parts = [_helmert(n) if i in chosen else np.full((n, 1), n**-0.5) for i, n in enumerate(levels)]
    return reduce(np.kron, parts)


def _helmert(n: int) -> FloatArray:
    """Return n - 1 orthonormal contrasts of n levels: each against the mean of those before."""
    contrasts = np.triu(np.ones((n, n - 1))) - np.vstack(
        [np.zeros(n - 1), np.diag(np.arange(1.0, n))]
    )
    return np.asarray(contrasts / np.sqrt((contrasts**2).sum(axis=0)), dtype=np.float64)


def _ss_error(part: FloatArray, equal_below: float) -> float:
    """Return the variation between participants; 0 where it is rounding error, NaN below two."""
    if len(part) < 2:
        return nan
    ss = float(((part - part.mean(axis=0)) ** 2).sum())
    return ss if ss > equal_below * part.size else 0.0


def _effect(
    factors: tuple[str, ...], part: FloatArray, ss_error: float, ss_all_errors: float
) -> AnovaEffect:
    n, df1 = part.shape
    df2 = df1 * max(n - 1, 0)
    ss_effect = float(n * (part.mean(axis=0) ** 2).sum()) if n > 1 else nan
    if n < 2 or ss_error == 0:
        note = (
            f"{'one' if n else 'no'} participant, so no test"
            if n < 2
            else "all participants have the same effect, so there is no test"
        )
        return AnovaEffect(
            factors, df1, df2, ss_effect, ss_error, nan, nan, _NO_SPHERICITY, nan, nan, nan, nan,
            note,
        )  # fmt: skip
    f = (ss_effect / df1) / (ss_error / df2)
    sphericity = assess_sphericity(part)
    p, p_gg, p_hf = (
        float(special.fdtrc(epsilon * df1, epsilon * df2, f))
        for epsilon in (1.0, sphericity.epsilon_gg, sphericity.epsilon_hf)
    )
    notes = []
    if df1 > 1 and np.isnan(sphericity.mauchly_w):
        notes.append("no Mauchly test: the covariances are singular, as with few participants")
    if np.isnan(sphericity.epsilon_hf):
        notes.append("too few participants for Huynh and Feldt's correction")
    return AnovaEffect(
        factors, df1, df2, ss_effect, ss_error, f, p, sphericity, p_gg, p_hf,
        ss_effect / (ss_effect + ss_error), ss_effect / (ss_effect + ss_all_errors),
        "; ".join(notes),
    )  # fmt: skip
