"""What the robot did against what a peer logged; pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

__all__ = ["Summary", "Trial", "Verdict", "join", "judge", "ratio_interval", "summarise"]

Verdict = Literal["right", "lost", "misattributed", "not_sent"]

# A press of this trial cannot be further off, whatever the display's lag.
SAME_PRESS_S = 0.5
# Scales the median absolute deviation to the SD of a normal distribution.
_MAD_TO_SD = 1.4826
_N_RESAMPLES = 2000
_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial, from both sides.

    Attributes
    ----------
    key : str
        What the robot pressed.
    true_rt_s : float or None
        From seeing the card to sending the press; None where the card never came, or the press
        came after the deadline.
    logged_key, logged_rt_s : str, float or None
        What the peer took for the answer.
    hold : str
        How long the key was held.
    """

    key: str
    true_rt_s: float | None
    logged_key: str | None
    logged_rt_s: float | None
    hold: str

    @property
    def error_s(self) -> float | None:
        """Logged minus true RT; None without either."""
        if self.true_rt_s is None or self.logged_rt_s is None:
            return None
        return self.logged_rt_s - self.true_rt_s


@dataclass(frozen=True, slots=True)
class Summary:
    """What a peer's trials come to; NaN where there are too few.

    Attributes
    ----------
    n_sent, n_lost, n_misattributed : int
        Presses sent in their trial's time; of these the trials with no answer, and with one
        that is another press's.
    errors_s : tuple of float
        RT errors of the rest, as they came.
    bias_s, sd_s, robust_sd_s, p95_s : float
        Mean, SD (n - 1) and 1.4826 MAD of the errors, and the 95th percentile of their
        distance from the median.
    sd_interval_s : tuple of float
        Bootstrap 95 % interval of the SD (percentiles; trials resampled).
    """

    n_sent: int
    n_lost: int
    n_misattributed: int
    errors_s: tuple[float, ...]
    bias_s: float
    sd_s: float
    robust_sd_s: float
    p95_s: float
    sd_interval_s: tuple[float, float]


def judge(trial: Trial) -> Verdict:
    """Say what became of the press of a trial."""
    if trial.true_rt_s is None:
        return "not_sent"
    if trial.logged_key is None or trial.error_s is None:
        return "lost"
    if trial.logged_key != trial.key or abs(trial.error_s) > SAME_PRESS_S:
        return "misattributed"
    return "right"


def join(
    planned: Sequence[Mapping[str, Any]],
    did: Iterable[Mapping[str, Any]],
    logged: Sequence[Mapping[str, Any]],
    *,
    deadline_s: float,
) -> list[Trial]:
    """Put the robot's log and a peer's results together, by trial.

    Parameters
    ----------
    planned
        `key` and `hold` of each trial.
    did
        The robot's log: `what`, `t_s` and `trial_index` of what it saw and sent.
    logged
        `key` and `rt_s` of each trial; trials that are missing at the end count as unanswered.
    deadline_s
        How long after its card a press answers.
    """
    seen_s: dict[int, float] = {}
    sent_s: dict[int, float] = {}
    for record in did:
        index = record.get("trial_index")
        if index is not None and record["what"] in {"card", "press"}:
            times = seen_s if record["what"] == "card" else sent_s
            times.setdefault(index, record["t_s"])
    trials = []
    for i, plan in enumerate(planned):
        true_rt_s = sent_s[i] - seen_s[i] if i in sent_s and i in seen_s else None
        if true_rt_s is not None and true_rt_s >= deadline_s:
            true_rt_s = None
        answer = logged[i] if i < len(logged) else {"key": None, "rt_s": None}
        trials.append(Trial(plan["key"], true_rt_s, answer["key"], answer["rt_s"], plan["hold"]))
    return trials


def summarise(trials: Iterable[Trial], *, rng: np.random.Generator) -> Summary:
    """Count, and describe the RT errors of the presses that answered their own trial."""
    judged = [(judge(trial), trial.error_s) for trial in trials]
    verdicts = [verdict for verdict, _ in judged]
    errors_s = np.array([e for v, e in judged if v == "right" and e is not None], dtype=float)
    enough = len(errors_s) > 1
    distance_s = np.abs(errors_s - np.median(errors_s)) if enough else np.array([math.nan])
    low_s, high_s = (
        np.quantile(resampled_sd(errors_s, rng), _tails()) if enough else (math.nan,) * 2
    )
    return Summary(
        n_sent=len(verdicts) - verdicts.count("not_sent"),
        n_lost=verdicts.count("lost"),
        n_misattributed=verdicts.count("misattributed"),
        errors_s=tuple(float(e) for e in errors_s),
        bias_s=float(errors_s.mean()) if len(errors_s) else math.nan,
        sd_s=float(errors_s.std(ddof=1)) if enough else math.nan,
        robust_sd_s=float(_MAD_TO_SD * np.median(distance_s)),
        p95_s=float(np.quantile(distance_s, 0.95)),
        sd_interval_s=(float(low_s), float(high_s)),
    )


def resampled_sd(
    values: npt.NDArray[np.float64], rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Return the SD of each bootstrap sample."""
    picked = rng.integers(len(values), size=(_N_RESAMPLES, len(values)))
    return np.asarray(values[picked].std(axis=1, ddof=1))


def ratio_interval(
    ours: Summary, other: Summary, *, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Return the ratio of two SDs with its bootstrap 95 % interval; NaN with too few errors."""
    if len(ours.errors_s) < 2 or not other.sd_s > 0:
        return (math.nan,) * 3
    above, below = (resampled_sd(np.array(s.errors_s), rng) for s in (ours, other))
    spread = below > 0  # A sample of few errors can hold one of them only.
    low, high = np.quantile(above[spread] / below[spread], _tails())
    return ours.sd_s / other.sd_s, float(low), float(high)


def _tails() -> tuple[float, float]:
    return (1 - _CONFIDENCE) / 2, (1 + _CONFIDENCE) / 2
