"""The tables that DMCfun 4.0.1 ships for the flanker data of Ulrich et al. (2015)."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from ghostblitz_analysis.distributions import (
    accuracy_differences,
    central_tendency,
    conditional_accuracy,
    delta_functions,
    fit_ex_gaussian,
    group_accuracy_differences,
    group_central_tendency,
    group_conditional_accuracy,
    group_delta_functions,
    participant_quantiles,
)

pytestmark = pytest.mark.slow

COLUMNS = {"participant": "Subject", "rt": "rt", "correct": "right"}
FACTORS = ("Comp",)
COMPARED = {"of": "Comp", "reference": "comp", "factors": FACTORS}
NINETEEN = [round(0.05 * k, 2) for k in range(1, 20)]
#: Nine significant digits, or, where a value is a difference near 0, of the larger numbers in it.
NINE = 5e-10


@pytest.fixture(scope="module")
def folder(shared):
    return shared / "reference" / "dmc_flanker"


@pytest.fixture(scope="module")
def trials(folder):
    table = pd.read_csv(folder / "trials.tsv", sep="\t")
    assert len(table) == 5373
    return table.assign(rt=table["RT"] / 1000, right=table["Error"] == 0)


@pytest.fixture(scope="module")
def within(trials):
    return ((trials["RT"] > 200) & (trials["RT"] < 1200)).to_numpy()


@pytest.fixture(scope="module")
def measured(trials, within):
    used = within & trials["right"].to_numpy()
    return central_tendency(trials, factors=FACTORS, used=used, **COLUMNS)


@pytest.fixture(scope="module")
def delta(trials, within):
    used = within & trials["right"].to_numpy()
    quantiles = participant_quantiles(
        trials, factors=FACTORS, probabilities=NINETEEN, used=used, **COLUMNS
    )
    return delta_functions(quantiles, **COMPARED)


@pytest.fixture(scope="module")
def caf(trials, within):
    return conditional_accuracy(trials, factors=FACTORS, used=within, **COLUMNS)


def same(found, expected, *, size=0.0):
    found = found.to_numpy(dtype="float64", na_value=np.nan)
    expected = expected.to_numpy(dtype="float64", na_value=np.nan)
    np.testing.assert_allclose(found, expected, rtol=NINE, atol=NINE * size)


def test_participants_mean_rts_and_errors(folder, measured):
    expected = pd.read_csv(folder / "expected_summarySubject.csv")
    assert measured["participant_id"].tolist() == expected["Subject"].tolist()
    assert measured["Comp"].tolist() == expected["Comp"].tolist()
    same(measured["mean_rt_s"] * 1000, expected["rtCor"])
    same((1 - measured["p_correct"]) * 100, expected["perErr"], size=1)


def test_participants_mean_rts_of_errors(folder, trials, within):
    expected = pd.read_csv(folder / "expected_summarySubject.csv")
    used = within & ~trials["right"].to_numpy()
    found = central_tendency(trials, factors=FACTORS, used=used, **COLUMNS)
    same(found["mean_rt_s"] * 1000, expected["rtErr"])


def test_means_over_participants(folder, measured):
    expected = pd.read_csv(folder / "expected_summary.csv")
    groups = group_central_tendency(measured, factors=FACTORS).set_index(["measure", "Comp"])
    rts = groups.loc["mean_rt_s"].loc[expected["Comp"].tolist()]
    same(rts["mean"] * 1000, expected["rtCor"])
    same(rts["sd"] * 1000, expected["sdRtCor"])
    same(rts["sd"] * 1000 / rts["n_participants"].astype(float) ** 0.5, expected["seRtCor"])
    errors = groups.loc["p_correct"].loc[expected["Comp"].tolist()]
    same((1 - errors["mean"]) * 100, expected["perErr"], size=1)
    same(errors["sd"] * 100, expected["sdPerErr"])


def test_participants_delta_functions(folder, delta):
    expected = pd.read_csv(folder / "expected_deltaSubject.csv")
    assert delta["participant_id"].tolist() == expected["Subject"].tolist()
    assert (delta["probability"] * 20).round().tolist() == expected["Bin"].tolist()
    same(delta["reference_s"] * 1000, expected["meanComp"])
    same(delta["level_s"] * 1000, expected["meanIncomp"])
    same(delta["mean_s"] * 1000, expected["meanBin"])
    same(delta["difference_s"] * 1000, expected["meanEffect"], size=100)


def test_the_delta_function_over_participants(folder, delta):
    expected = pd.read_csv(folder / "expected_delta.csv")
    found = group_delta_functions(delta, of="Comp", factors=FACTORS)
    same(found["reference_s"] * 1000, expected["meanComp"])
    same(found["level_s"] * 1000, expected["meanIncomp"])
    same(found["mean_s"] * 1000, expected["meanBin"])
    same(found["difference_s"] * 1000, expected["meanEffect"])
    same(found["sd_s"] * 1000, expected["sdEffect"])
    same(found["sd_s"] * 1000 / 4, expected["seEffect"])


def test_participants_conditional_accuracy(folder, caf):
    expected = pd.read_csv(folder / "expected_cafSubject.csv")
    wide = caf.pivot(index=["participant_id", "bin"], columns="Comp", values="p_correct")
    same(wide["comp"], expected["accPerComp"])
    same(wide["incomp"], expected["accPerIncomp"])
    differences = accuracy_differences(caf, **COMPARED)
    # DMCfun's "meanBin" of these tables is the mean RT of the compatible condition's bin alone.
    times = caf[caf["Comp"] == "comp"]["mean_rt_s"]
    same(times * 1000, expected["meanBin"])
    same(-100 * differences["p_difference"], expected["effect"], size=100)


def test_conditional_accuracy_over_participants(folder, caf):
    expected = pd.read_csv(folder / "expected_caf.csv")
    means = group_conditional_accuracy(caf, factors=FACTORS)
    wide = means.pivot(index="bin", columns="Comp", values="p_correct")
    same(wide["comp"], expected["accPerComp"])
    same(wide["incomp"], expected["accPerIncomp"])
    effects = group_accuracy_differences(
        accuracy_differences(caf, **COMPARED), of="Comp", factors=FACTORS
    )
    times = means[means["Comp"] == "comp"]["mean_rt_s"]
    same(times * 1000, expected["meanBin"])
    same(-100 * effects["p_difference"], expected["meanEffect"], size=100)
    same(100 * effects["sd_p_difference"], expected["sdEffect"])


def test_the_ex_gaussian_fit_is_that_of_the_reference(shared, trials, within):
    reference = json.loads((shared / "reference" / "values.json").read_text(encoding="utf-8"))
    expected = reference["exgaussian_mle_ms"]
    chosen = within & (trials["right"] & (trials["Subject"] == 1) & (trials["Comp"] == "comp"))
    fit = fit_ex_gaussian(trials.loc[chosen, "RT"])
    assert fit.n_rt == 165
    # As many digits as the reference has.
    assert fit.mu_s == pytest.approx(expected["mu"], abs=6e-6)
    assert fit.sigma_s == pytest.approx(expected["sigma"], abs=6e-6)
    assert fit.tau_s == pytest.approx(expected["tau"], abs=6e-6)
    assert fit.log_likelihood == pytest.approx(expected["loglik"], abs=6e-6)
    in_s = fit_ex_gaussian(trials.loc[chosen, "rt"])
    assert in_s.tau_s * 1000 == pytest.approx(fit.tau_s, rel=1e-6)
    assert in_s.log_likelihood == pytest.approx(fit.log_likelihood + 165 * np.log(1000), rel=1e-9)
