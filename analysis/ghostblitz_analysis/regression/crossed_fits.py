"""Linear mixed models with participants and targets as crossed grouping factors, by mixedlm."""

from __future__ import annotations

import warnings
from importlib.metadata import version
from typing import Any

import mixedlm
import numpy as np
import numpy.typing as npt
import pandas as pd
from mixedlm.inference import satterthwaite_df

from ghostblitz_analysis.regression.lmm_estimates import LmmEstimates, NotFittedError
from ghostblitz_analysis.regression.random_parts import RandomComponent, RandomPart

__all__ = ["OPTIMISERS", "fit_crossed"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]

#: In the order in which they are tried.
OPTIMISERS = ("COBYQA", "Nelder-Mead", "L-BFGS-B")

_MAX_ITERATIONS = 2000


def fit_crossed(
    y: FloatArray,
    fixed: FloatArray,
    *,
    random: RandomPart,
    participant: IntArray,
    target: IntArray,
    optimisers: tuple[str, ...] = OPTIMISERS,
) -> LmmEstimates:
    """Fit by REML; some coefficients vary over participants, intercepts over targets.

    Assumes normal residuals of one variance, and normal random effects (Baayen, Davidson & Bates
    2008, Journal of Memory and Language 59:390).

    Parameters
    ----------
    y : (n_rows,) array
        The outcome.
    fixed : (n_rows, n_terms) array
        The design; its first column is the intercept.
    random : RandomPart
        What varies over participants.
    participant, target : (n_rows,) int arrays
        The groups of each row.
    optimisers : tuple of str
        mixedlm's names; the next one is tried where one did not converge.

    Returns
    -------
    LmmEstimates
        Of the first optimiser that converged, or else of the one that came furthest.

    Raises
    ------
    NotFittedError
        If no optimiser came to finite estimates; it says what each met.
    """
    names = [f"x{number}" for number in range(fixed.shape[1])]
    table = pd.DataFrame(fixed[:, 1:], columns=names[1:])
    # Names, not numbers, so that they are read as groups.
    people = pd.Series(participant).astype(str)
    table = table.assign(y=y, participant="p" + people, target=[f"t{n}" for n in target])
    for number, grouping in enumerate(random.groupings):
        table[f"within{number}"] = "p" + people + "_" + pd.Series(grouping.level).astype(str)
    varying = " + ".join(["1", *(names[number] for number in random.columns if number)])
    parts = [
        f"({varying} | participant)",
        *(f"(1 | within{number})" for number in range(len(random.groupings))),
        "(1 | target)",
    ]
    formula = f"y ~ {' + '.join(['1', *names[1:], *parts])}"
    best, trouble = None, []
    for optimiser in optimisers:
        try:
            estimates = _fit(formula, table, random, optimiser)
        except (np.linalg.LinAlgError, ValueError, RuntimeError, FloatingPointError) as error:
            trouble.append(f"{optimiser}: {error}")
            continue
        if estimates.converged:
            best = estimates
            break
        trouble.append(f"{optimiser} did not converge")
        if best is None or estimates.loglik > best.loglik:
            best = estimates
    if best is None:
        raise NotFittedError(f"no optimiser came to an estimate ({'; '.join(trouble)})")
    return best.with_notes(tuple(trouble))


def _fit(formula: str, table: pd.DataFrame, random: RandomPart, optimiser: str) -> LmmEstimates:
    control = mixedlm.LmerControl(
        optimizer=optimiser,
        maxiter=_MAX_ITERATIONS,
        # All this is judged and said here, not warned of.
        check_conv=False,
        check_singular=False,
        check_nlev_gtreq_5="ignore",
        check_nlev_gtr_1="ignore",
        check_rankX="ignore",
        check_scaleX="ignore",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = mixedlm.lmer(formula, table, REML=True, control=control)
        covariance = np.asarray(result.vcov(), dtype=np.float64)
        df = np.asarray(satterthwaite_df(result).df, dtype=np.float64)
    return _estimates(result, covariance, df, random, optimiser)


def _estimates(
    result: Any, covariance: FloatArray, df: FloatArray, random: RandomPart, optimiser: str
) -> LmmEstimates:
    blocks = {
        name: np.atleast_2d(np.asarray(block.cov, dtype=np.float64))
        for name, block in result.VarCorr().groups.items()
    }
    components = [RandomComponent("participant_id", random.columns, blocks["participant"])]
    components += [
        RandomComponent(grouping.name, (0,), blocks[f"within{number}"])
        for number, grouping in enumerate(random.groupings)
    ]
    components.append(RandomComponent("target", (0,), blocks["target"]))
    residual_variance = float(result.sigma) ** 2
    loglik = -float(result.deviance) / 2
    if not (np.isfinite(loglik) and np.isfinite(covariance).all() and residual_variance > 0):
        raise ValueError("the estimates are not finite")
    return LmmEstimates(
        coefficients=np.asarray(result.beta, dtype=np.float64),
        covariance=covariance,
        df=df,
        components=tuple(components),
        residual_variance=residual_variance,
        loglik=loglik,
        n_variance_parameters=len(result.theta) + 1,
        converged=bool(result.converged),
        engine=f"mixedlm {version('mixedlm')}",
        optimiser=optimiser,
        notes=(),
    )
