"""Simulated participants with known effects come back through the public functions.

Each study is drawn from a model whose parameters are known, and analysed like any other data.
Over many studies, estimates must be unbiased, intervals must hold the truth as often as their
level says, and tests of effects that are not there must be significant at alpha, each within what
chance allows: the seeds are fixed, so a failure is a change of the code.

Run as a script, it prints the figures that stand in docs/statistics.md::

    .venv/bin/python tests/analysis/test_recovery.py
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from scipy import stats

from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_analysis.distributions import ex_gaussian_cells
from ghostblitz_analysis.exclusions import flag_exclusions, used_for_rt
from ghostblitz_analysis.inference import contrast_table
from ghostblitz_analysis.measures import cell_measures, complete_cells
from ghostblitz_analysis.models import rule_contrasts
from ghostblitz_analysis.regression import (
    error_rows,
    fit_mixed_logits,
    fit_rt_models,
    rt_rows,
)
from ghostblitz_analysis.sequences import group_effects, participant_effects
from ghostblitz_analysis.settings import AnalysisSettings
from ghostblitz_analysis.tables import trial_frame
from ghostblitz_task.studies import open_study, simulate_study

FloatArray = npt.NDArray[np.float64]

ROOT = Path(__file__).resolve().parents[2]
LEVEL, ALPHA = 0.95, 0.05
# What a right program misses once in a thousand seeds.
CHANCE = 0.999
SETTINGS = AnalysisSettings(measures=("mean_log_rt",), confidence=LEVEL, alpha=ALPHA)
RULES = np.array(["direct", "exclusion"])
ITEMS = np.array(["ghost", "chair", "bottle", "book", "mouse"])


@dataclass(frozen=True)
class Recovery:
    """Estimates of one parameter in many studies; NaN where an analysis gave none."""

    what: str
    truth: float
    estimate: FloatArray
    low: FloatArray
    high: FloatArray

    @property
    def n(self) -> int:
        """Studies with an estimate."""
        return int(np.isfinite(self.estimate).sum())

    @property
    def n_intervals(self) -> int:
        """Studies with an interval."""
        return int(np.isfinite(self.low).sum())

    @property
    def bias(self) -> float:
        """Mean error."""
        return float(np.nanmean(self.estimate) - self.truth)

    @property
    def bias_by_chance(self) -> float:
        """How far from 0 the mean error of an unbiased estimate lies, once in a thousand times."""
        se = np.nanstd(self.estimate, ddof=1) / np.sqrt(self.n)
        return float(stats.norm.ppf((1 + CHANCE) / 2) * se)

    @property
    def p_covered(self) -> float:
        """Share of the intervals that hold the truth."""
        held = (self.low <= self.truth) & (self.truth <= self.high)
        return float(held.sum() / self.n_intervals)


@dataclass(frozen=True)
class FalseAlarms:
    """Tests of an effect that is not there."""

    what: str
    p: FloatArray

    @property
    def rate(self) -> float:
        """Share of the tests below alpha."""
        return float((self.p < ALPHA).mean())


def share_by_chance(p: float, n: int) -> tuple[float, float]:
    """Return the least and the largest share of n that a probability gives, by `CHANCE`."""
    tails = np.array([1 - CHANCE, 1 + CHANCE]) / 2
    low, high = np.asarray(stats.binom.ppf(tails, n, p), dtype=np.float64) / n
    return float(low), float(high)


# --- what is drawn --------------------------------------------------------------------------


def draw_studies(
    rng: np.random.Generator,
    *,
    n_studies: int,
    n_participants: int,
    n_per_rule: int,
    effect_log: float = 0.0,
    effect_sd: float = 0.15,
    item_sd: float = 0.0,
    p_error: float = 0.06,
    error_effect: float = 0.0,
    error_sd: float = 0.5,
) -> pd.DataFrame:
    """Draw the trials of many studies; log RTs are normal.

    Participants differ in speed (SD 0.25), in the effect of exclusion (SD `effect_sd`) and in the
    log odds of an error (SD `error_sd`; `error_effect` is added for exclusion), and targets in
    speed; residuals have an SD of 0.3.
    """
    shape = (n_studies, n_participants, 2 * n_per_rule)
    exclusion = rng.permuted(np.broadcast_to(np.arange(shape[2]) % 2, shape), axis=2)
    item = rng.integers(len(ITEMS), size=shape)
    speed = rng.normal(0, 0.25, (*shape[:2], 1))
    effect = rng.normal(effect_log, effect_sd, (*shape[:2], 1))
    of_item = rng.normal(0, item_sd, (n_studies, len(ITEMS)))[np.arange(n_studies)[:, None, None],
                                                              item]  # fmt: skip
    log_rt = speed + effect * exclusion + of_item + rng.normal(0, 0.3, shape)
    log_odds = np.log(p_error / (1 - p_error)) + rng.normal(0, error_sd, (*shape[:2], 1))
    wrong = rng.random(shape) < 1 / (1 + np.exp(-log_odds - error_effect * exclusion))
    return as_trials(log_rt, rule=RULES[exclusion], target=ITEMS[item], wrong=wrong)


def as_trials(
    log_rt: FloatArray,
    *,
    rule: npt.NDArray[np.str_],
    target: npt.NDArray[np.str_],
    wrong: npt.NDArray[np.bool_],
    block: npt.NDArray[np.int_] | None = None,
    mixed: npt.NDArray[np.bool_] | None = None,
) -> pd.DataFrame:
    """Make a trial table of arrays (studies, participants, trials), and of what study each is."""
    study, person, trial = (index.ravel() for index in np.indices(log_rt.shape))
    n = log_rt.size
    block = np.zeros(log_rt.shape, dtype=int) if block is None else block
    columns = {
        "participant_id": np.char.add(np.char.add(study.astype(str), "-"), person.astype(str)),
        "trial_index": trial,
        "trial_in_block": trial,
        "block_index": block.ravel(),
        "rule": rule.ravel(),
        "target": target.ravel(),
        "answer": target.ravel(),
        "response": np.where(wrong, "nothing", target).ravel(),
        "correct": ~wrong.ravel(),
        "rt_s": np.exp(log_rt.ravel()),
        **dict.fromkeys(("session", "run"), np.ones(n, dtype=int)),
        "phase": np.full(n, "test"),
        **dict.fromkeys(("mode", "response_mode"), np.full(n, "grab")),
    }
    if mixed is not None:
        columns["block_kind"] = np.where(mixed, "mixed", "pure").ravel()
    return trial_frame({k: v.tolist() for k, v in columns.items()}, n)


def study_of(table: pd.DataFrame) -> pd.Series:
    """Say which study each row is of."""
    return table["participant_id"].str.partition("-")[0].astype("int64")


def by_study(table: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Take the rows of many studies apart."""
    for _, rows in table.groupby(study_of(table).to_numpy()):
        yield rows.reset_index(drop=True)


# --- what is recovered ----------------------------------------------------------------------


def paired_contrasts(seed: int, *, effect_log: float, n_studies: int) -> pd.DataFrame:
    """Analyse studies of 16 people by the planned contrast of mean log RTs, a row for each."""
    rng = np.random.default_rng(seed)
    trials = draw_studies(
        rng, n_studies=n_studies, n_participants=16, n_per_rule=20, effect_log=effect_log
    )
    flagged = flag_exclusions(trials, SETTINGS)
    cells = complete_cells(cell_measures(flagged, factors=("rule",)), factors=("rule",))
    tables = [
        contrast_table(study, factors=("rule",), settings=SETTINGS) for study in by_study(cells)
    ]
    return pd.concat(tables, ignore_index=True)


def mixed_models(seed: int, *, effect_log: float, n_studies: int) -> pd.DataFrame:
    """Analyse studies of 16 people and 5 targets by the selected model of log RT."""
    rng = np.random.default_rng(seed)
    trials = draw_studies(
        rng,
        n_studies=n_studies,
        n_participants=16,
        n_per_rule=20,
        effect_log=effect_log,
        item_sd=0.1,
    )
    rows = []
    for study in by_study(flag_exclusions(trials, SETTINGS)):
        fits = fit_rt_models(rt_rows(study, outcome="log_rt", factors=("rule",)), confidence=LEVEL)
        chosen = next(fit for fit in fits if fit.selected)
        effect = chosen.effects[1]
        rows.append((chosen.model.structure, effect.estimate, effect.low, effect.high, effect.p))
    return pd.DataFrame(rows, columns=["structure", "estimate", "low", "high", "p"])


def error_models(seed: int, *, error_effect: float, n_studies: int) -> pd.DataFrame:
    """Analyse studies of 20 people by the selected mixed logit model of errors."""
    rng = np.random.default_rng(seed)
    trials = draw_studies(
        rng, n_studies=n_studies, n_participants=20, n_per_rule=40, error_effect=error_effect
    )
    rows = []
    for study in by_study(flag_exclusions(trials, SETTINGS)):
        fits = fit_mixed_logits(error_rows(study, factors=("rule",)), confidence=LEVEL)
        effect = next(fit for fit in fits if fit.selected).effects[1]
        rows.append((effect.estimate, effect.low, effect.high, effect.p))
    return pd.DataFrame(rows, columns=["estimate", "low", "high", "p"])


MIXING, SWITCH, REPETITION, AFTER_ERROR = 0.12, 0.08, -0.30, 0.15


def draw_sequences(rng: np.random.Generator, *, n_studies: int, mixing: float) -> pd.DataFrame:
    """Draw studies of 12 people, each 2 x 30 trials in pure and 120 in mixed blocks.

    In mixed blocks RTs are longer by `mixing`, and longer by `SWITCH` again where the rule
    switches. What these costs must not be taken for is in the data as well: a repeated target is
    much faster, and RTs after errors are longer; both are more or less frequent by block.
    """
    shape = (n_studies, 12, 180)
    block = np.broadcast_to(np.repeat([0, 1, 2], [30, 30, 120]), shape)
    exclusion = np.where(block < 2, block, rng.integers(2, size=shape))
    item = rng.integers(len(ITEMS), size=shape)
    again = rng.random(shape) < np.where(block < 2, 0.3, 0.05)
    for trial in range(1, shape[2]):
        item[..., trial] = np.where(again[..., trial], item[..., trial - 1], item[..., trial])
    wrong = rng.random(shape) < np.where(block < 2, 0.03, 0.10)
    log_rt = rng.normal(0, 0.25, (*shape[:2], 1)) + 0.5 * exclusion + rng.normal(0, 0.3, shape)
    log_rt += rng.normal(mixing, 0.05, (*shape[:2], 1)) * (block == 2)
    follows = np.zeros(shape, dtype=bool)
    follows[..., 1:] = block[..., 1:] == block[..., :-1]
    log_rt += SWITCH * (follows & (exclusion != np.roll(exclusion, 1, axis=-1)))
    log_rt += REPETITION * (follows & (item == np.roll(item, 1, axis=-1)))
    log_rt += AFTER_ERROR * (follows & np.roll(wrong, 1, axis=-1))
    return as_trials(
        log_rt,
        rule=RULES[exclusion],
        target=ITEMS[item],
        wrong=wrong,
        block=np.asarray(block),
        mixed=np.asarray(block == 2),
    )


def sequence_costs(seed: int, *, mixing: float, n_studies: int) -> pd.DataFrame:
    """Analyse studies for their mixing and switch costs over all rules."""
    trials = draw_sequences(np.random.default_rng(seed), n_studies=n_studies, mixing=mixing)
    measured = participant_effects(
        flag_exclusions(trials, SETTINGS), factors=("rule", "block_kind")
    )
    wanted = measured.effects["effect"].isin(["mixing", "rule_switch"])
    effects = measured.effects[wanted & measured.effects["rule"].isna()]
    tables = [
        group_effects(replace(measured, effects=rows), confidence=LEVEL)
        for rows in by_study(effects)
    ]
    return pd.concat(tables, ignore_index=True)


EX_GAUSSIAN = {"mu_s": 0.6, "sigma_s": 0.08, "tau_s": 0.3}


def ex_gaussian_fits(seed: int, *, n_rt: int, n_fits: int) -> tuple[Recovery, ...]:
    """Fit samples of a known ex-Gaussian distribution, each as a participant's only cell."""
    rng = np.random.default_rng(seed)
    mu, sigma, tau = EX_GAUSSIAN.values()
    rt_s = rng.normal(mu, sigma, (1, n_fits, n_rt)) + rng.exponential(tau, (1, n_fits, n_rt))
    trials = as_trials(
        np.log(rt_s),
        rule=np.full(rt_s.shape, "direct"),
        target=np.full(rt_s.shape, "ghost"),
        wrong=np.zeros(rt_s.shape, dtype=bool),
    )
    flagged = flag_exclusions(trials, SETTINGS)
    fits = ex_gaussian_cells(
        flagged, factors=("rule",), confidence=LEVEL, used=used_for_rt(flagged)
    )
    found = []
    for name, truth in EX_GAUSSIAN.items():
        stem = name.removesuffix("_s")
        columns = (name, f"{stem}_low_s", f"{stem}_high_s")
        found.append(as_recovery(f"ex-Gaussian {stem} (s) of {n_rt} RTs", truth, fits, columns))
    return tuple(found)


def as_recovery(
    what: str,
    truth: float,
    table: pd.DataFrame,
    columns: tuple[str, str, str] = ("estimate", "low", "high"),
) -> Recovery:
    """Take estimates and their intervals from a table."""
    values = (table[name].to_numpy(dtype="float64", na_value=np.nan) for name in columns)
    return Recovery(what, truth, *values)


# --- the figures, made once -----------------------------------------------------------------


@cache
def rule_effect() -> tuple[Recovery, ...]:
    """The rule effect on log RT, by paired contrast and by mixed model."""
    paired = paired_contrasts(1, effect_log=0.5, n_studies=120).rename(
        columns={"estimate_low": "low", "estimate_high": "high"}
    )
    mixed = mixed_models(2, effect_log=0.5, n_studies=60)
    return (
        as_recovery("rule effect on log RT, planned contrast", 0.5, paired),
        as_recovery("rule effect on log RT, linear mixed model", 0.5, mixed),
    )


@cache
def error_effect() -> Recovery:
    """The rule effect on the log odds of an error."""
    found = error_models(3, error_effect=0.5, n_studies=250)
    return as_recovery("rule effect on log odds of an error, mixed logit", 0.5, found)


@cache
def costs() -> tuple[Recovery, ...]:
    """Mixing and switch costs on log RT."""
    found = sequence_costs(4, mixing=MIXING, n_studies=150)
    logs = found.assign(low=np.log(found["rt_ratio_low"]), high=np.log(found["rt_ratio_high"]))
    columns = ("mean_difference_log", "low", "high")
    return tuple(
        as_recovery(f"{words} on log RT", truth, logs[logs["effect"] == effect], columns)
        for effect, words, truth in (
            ("mixing", "mixing cost", MIXING),
            ("rule_switch", "rule switch cost", SWITCH),
        )
    )


@cache
def ex_gaussians(n_rt: int) -> tuple[Recovery, ...]:
    """The three parameters of an ex-Gaussian distribution."""
    return ex_gaussian_fits(n_rt, n_rt=n_rt, n_fits=400)


@cache
def false_alarms() -> tuple[FalseAlarms, ...]:
    """The p values of tests where nothing is to be found."""
    paired = paired_contrasts(5, effect_log=0.0, n_studies=120)
    mixed = mixed_models(6, effect_log=0.0, n_studies=60)
    errors = error_models(7, error_effect=0.0, n_studies=300)
    mixing = sequence_costs(8, mixing=0.0, n_studies=150)
    mixing = mixing[mixing["effect"] == "mixing"]
    found = {
        "rule effect, paired t test": paired["p"],
        "rule effect, linear mixed model": mixed["p"],
        "rule effect on errors, mixed logit": errors["p"],
        "mixing cost, paired t test": mixing["p"],
    }
    return tuple(FalseAlarms(what, p.to_numpy(dtype=np.float64)) for what, p in found.items())


def covers_as_often_as_it_says(found: Recovery) -> bool:
    """Say whether the coverage is what chance gives at the level of the intervals."""
    low, high = share_by_chance(LEVEL, found.n_intervals)
    return low <= found.p_covered <= high


# --- claims ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_rule_effect_comes_back_without_bias_and_its_intervals_hold_it() -> None:
    for found in rule_effect():
        assert found.n == found.n_intervals == len(found.estimate), found.what
        assert abs(found.bias) <= found.bias_by_chance, found.what
        assert covers_as_often_as_it_says(found), (found.what, found.p_covered)


@pytest.mark.slow
def test_the_rule_effect_on_errors_comes_back_and_its_intervals_hold_it() -> None:
    found = error_effect()
    assert found.n == found.n_intervals == len(found.estimate)
    assert abs(found.bias) <= found.bias_by_chance
    assert covers_as_often_as_it_says(found), found.p_covered


@pytest.mark.slow
def test_mixing_and_switch_costs_come_back_free_of_repetitions_and_errors() -> None:
    for found in costs():
        assert found.n == found.n_intervals == len(found.estimate), found.what
        assert abs(found.bias) <= found.bias_by_chance, found.what
        assert covers_as_often_as_it_says(found), (found.what, found.p_covered)


@pytest.mark.slow
@pytest.mark.parametrize(("n_rt", "bias_s"), [(100, 0.003), (300, 0.0)])
def test_ex_gaussian_parameters_come_back_and_their_intervals_hold_them(
    n_rt: int, bias_s: float
) -> None:
    for found in ex_gaussians(n_rt):
        assert found.n == len(found.estimate), found.what
        # Of 100 RTs, maximum likelihood puts sigma a little too low.
        assert abs(found.bias) <= found.bias_by_chance + bias_s, found.what
        assert covers_as_often_as_it_says(found), (found.what, found.p_covered)


@pytest.mark.slow
def test_tests_of_nothing_are_significant_as_often_as_alpha_says() -> None:
    for alarms in false_alarms():
        low, high = share_by_chance(ALPHA, len(alarms.p))
        assert np.isfinite(alarms.p).all(), alarms.what
        assert low <= alarms.rate <= high, (alarms.what, alarms.rate)


@pytest.mark.slow
def test_simulated_participants_come_back_from_their_logs(tmp_path: Path) -> None:
    study = open_study(ROOT / "data" / "example_study")
    simulate_study(study, tmp_path, n_participants=16, seed=9, model="perfect")
    flagged = flag_exclusions(load_dataset(tmp_path).trials, SETTINGS)
    factors = ("rule",)
    cells = complete_cells(cell_measures(flagged, factors=factors), factors=factors)
    assert (cells["p_correct"] == 1).all()
    # All are alike: ex-Gaussian RTs of ghostblitz_task/participants.py, means mu + tau.
    contrast = rule_contrasts(cells, factors=factors, confidence=CHANCE).iloc[0]
    assert contrast["difference_low_s"] < (0.95 + 0.65) - (0.62 + 0.30)
    assert contrast["difference_high_s"] > (0.95 + 0.65) - (0.62 + 0.30)
    fits = ex_gaussian_cells(flagged, factors=factors, used=used_for_rt(flagged))
    truths = {"direct": (0.62, 0.08, 0.30), "exclusion": (0.95, 0.14, 0.65)}
    for rule, truth in truths.items():
        rows = fits[fits["rule"] == rule]
        for name, true_s in zip(EX_GAUSSIAN, truth, strict=True):
            found = as_recovery(name, true_s, rows, (name, name, name))
            # 80 RTs each: as much bias as 80 RTs of this spread leave.
            assert abs(found.bias) <= found.bias_by_chance + 0.03 * sum(truth), (rule, name)


def print_figures() -> None:
    """Print what stands in docs/statistics.md."""
    print("| what | truth | studies | bias | by chance | coverage | by chance |")
    print("|---|---|---|---|---|---|---|")
    every = (*rule_effect(), error_effect(), *costs(), *ex_gaussians(100), *ex_gaussians(300))
    for found in every:
        low, high = share_by_chance(LEVEL, found.n_intervals)
        print(
            f"| {found.what} | {found.truth:g} | {found.n} | {found.bias:+.4f} | "
            f"±{found.bias_by_chance:.4f} | {found.p_covered:.3f} | {low:.3f} to {high:.3f} |"
        )
    print("\n| what | tests | significant | by chance |\n|---|---|---|---|")
    for alarms in false_alarms():
        low, high = share_by_chance(ALPHA, len(alarms.p))
        print(f"| {alarms.what} | {len(alarms.p)} | {alarms.rate:.3f} | {low:.3f} to {high:.3f} |")


if __name__ == "__main__":
    print_figures()
