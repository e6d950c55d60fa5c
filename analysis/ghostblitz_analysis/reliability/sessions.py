"""Reliability over sessions: how far participants' scores of several sessions agree."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_analysis.reliability.agreement import intraclass_correlations, measurement_error
from ghostblitz_analysis.reliability.scores import (
    CellScore,
    CodedTrials,
    name_score,
    part_scores,
    typed,
)
from ghostblitz_analysis.settings import AnalysisSettings

__all__ = ["SessionAgreement", "session_agreement"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class SessionAgreement:
    """What `session_agreement` gives.

    Attributes
    ----------
    icc : DataFrame, one row per score, measure and kind of intraclass correlation
    measurement_error : DataFrame, one row per score and measure
    left_out : DataFrame, one row per participant, score and measure that lack one another
    """

    icc: pd.DataFrame
    measurement_error: pd.DataFrame
    left_out: pd.DataFrame


@dataclass(frozen=True, slots=True, eq=False)
class _Sessions:
    """The sessions that are compared, and who has which.

    Attributes
    ----------
    numbers : tuple of int
        Those that more than half of the participants with two sessions or more have.
    part : (n_trials,) array
        Place among them; -1 for trials of others.
    lacking : list of str
        Per participant: empty, or which sessions are not there.
    """

    numbers: tuple[int, ...]
    part: IntArray
    lacking: list[str]


def session_agreement(
    coded: CodedTrials, *, scores: Sequence[CellScore], settings: AnalysisSettings
) -> SessionAgreement | None:
    """Compare participants' scores of several sessions, in each of the settings' measures.

    The sessions are those that more than half of the participants with at least two sessions
    have; participants count who have the score in each of them. See `intraclass_correlations`
    and `measurement_error` for sources and assumptions.

    Parameters
    ----------
    coded : CodedTrials
        From `code_trials`.
    scores : sequence of CellScore
        Such as `reported_scores`.
    settings : AnalysisSettings
        Measures and level of the intervals.

    Returns
    -------
    SessionAgreement or None
        None where no participant has two sessions. Both tables of figures begin with ``kind``,
        ``score``, the factors, ``measure``, ``sessions`` (as JSON list), ``n_sessions``,
        ``n_participants``, ``n_left_out`` and ``left_out`` (as JSON list).
        ``icc`` goes on with the fields of `IntraclassCorrelation`, and ``measurement_error``
        with those of `MeasurementError`, in the unit of the measure: seconds, natural log of
        seconds, or a proportion. ``left_out``: ``participant_id``, ``kind``, ``score``, the
        factors, ``measure`` and ``reason``.
    """
    sessions = _compared(coded)
    if sessions is None:
        return None
    coefficients: list[dict[str, object]] = []
    errors: list[dict[str, object]] = []
    lost: list[dict[str, object]] = []
    measures = tuple(dict.fromkeys(settings.measures))
    n_parts = len(sessions.numbers)
    values = {
        measure: part_scores(coded, measure, scores, part=sessions.part, n_parts=n_parts)
        for measure in measures
    }
    for number, score in enumerate(scores):
        for measure in measures:
            of_score = values[measure][:, :, number]
            named = name_score(coded, score, measure)
            reasons = _reasons(coded, sessions, of_score)
            lost += [{"participant_id": p, **named, "reason": why} for p, why in reasons.items()]
            complete = of_score[~np.isnan(of_score).any(axis=1)] if n_parts > 1 else of_score[:0]
            opening = named | _opening(sessions, complete, list(reasons))
            note = "" if n_parts > 1 else "no two sessions that more than half have"
            for one in intraclass_correlations(complete, confidence=settings.confidence):
                coefficients.append(opening | asdict(one) | {"note": note or one.note})
            error = measurement_error(complete, confidence=settings.confidence)
            errors.append(opening | asdict(error) | {"note": note or error.note})
    named_columns = ["kind", "score", *coded.factors, "measure"]
    left_out = pd.DataFrame(lost, columns=["participant_id", *named_columns, "reason"])
    return SessionAgreement(
        typed(pd.DataFrame(coefficients)), typed(pd.DataFrame(errors)), typed(left_out)
    )


def _compared(coded: CodedTrials) -> _Sessions | None:
    """Choose the sessions; None where no participant has two."""
    number = coded.trials["session"].to_numpy(dtype=np.int64)
    met, place = np.unique(number, return_inverse=True)
    has = np.zeros((len(coded.participants), len(met)), dtype=bool)
    has[coded.participant, place] = True
    several = has.sum(axis=1) > 1
    if not several.any():
        return None
    chosen = np.flatnonzero(has[several].sum(axis=0) > several.sum() / 2)
    part_of = np.full(len(met), -1, dtype=np.intp)
    part_of[chosen] = np.arange(len(chosen))
    numbers = tuple(int(session) for session in met[chosen])
    lacking = []
    for of_person in has[:, chosen]:
        missing = [
            str(session) for session, there in zip(numbers, of_person, strict=True) if not there
        ]
        lacking.append(f"no session {', '.join(missing)}" if missing else "")
    return _Sessions(numbers, part_of[place], lacking)


def _reasons(coded: CodedTrials, sessions: _Sessions, values: FloatArray) -> dict[str, str]:
    """Return who is left out, and why."""
    reasons = {}
    for person, lacking, of_person in zip(
        coded.participants, sessions.lacking, values, strict=True
    ):
        without = [str(s) for s, x in zip(sessions.numbers, of_person, strict=True) if np.isnan(x)]
        if len(sessions.numbers) < 2:
            reasons[person] = "no two sessions that more than half have"
        elif lacking:
            reasons[person] = lacking
        elif without:
            reasons[person] = f"a cell without a value in session {', '.join(without)}"
    return reasons


def _opening(sessions: _Sessions, complete: FloatArray, left_out: list[str]) -> dict[str, object]:
    return {
        "sessions": json.dumps(sessions.numbers),
        "n_sessions": len(sessions.numbers),
        "n_participants": len(complete),
        "n_left_out": len(left_out),
        "left_out": json.dumps(left_out, ensure_ascii=False),
    }
