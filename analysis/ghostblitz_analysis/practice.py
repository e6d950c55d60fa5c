"""Practice within a session: how RTs and errors change from its first trial to its last.

The make-up of a session changes as it goes on: pure blocks come before mixed ones, and a rule may
be frequent early and rare late. So everything is measured within cells (rule, block kind, mode),
and what is said of several cells together compares trials of a cell with others of that cell only.
A trial's number is its place among all analysed trials of the session, whichever cell they are of.

Sources: log RT on log trial number is the power law of practice (Newell & Rosenbloom 1981, in
Anderson (Ed.), Cognitive skills and their acquisition, 1-55); log RT on trial number is an
exponential law that ends at 0 s (Heathcote, Brown & Mewhort 2000, Psychonomic Bulletin & Review 7,
185-207, who find such laws to fit individuals better). Neither has an asymptote here: with the few
hundred trials of a session one cannot be told from a slower fall.
"""

from __future__ import annotations

import json

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_analysis.exclusions import used_for_accuracy, used_for_rt
from ghostblitz_analysis.intervals import MeanInterval, exponentiated, mean_interval, of_proportions
from ghostblitz_analysis.measures import order_cells
from ghostblitz_analysis.wording import count_of
from ghostblitz_task.errors import DatasetError

__all__ = [
    "MIN_TRIALS_PER_QUARTER",
    "MIN_TRIALS_PER_SLOPE",
    "N_STRETCHES",
    "PRACTICE_MEASURES",
    "group_slopes",
    "group_stretches",
    "participant_slopes",
    "participant_stretches",
]

IntArray = npt.NDArray[np.int64]

#: Tenths of a session.
N_STRETCHES = 10
#: Fewer RTs than these give no slope and no ratio of quarters. Choices; no standard exists.
MIN_TRIALS_PER_SLOPE = 20
MIN_TRIALS_PER_QUARTER = 5
#: The slope of the exponential law is told per so many trials.
_TRIALS_PER_UNIT = 100

#: What `group_slopes` averages, in words, each with the column of participants that holds it.
PRACTICE_MEASURES = {
    "power_slope": "slope of log RT on log trial number",
    "slope_per_100_trials": "slope of log RT on trial number, per 100 trials",
    "speed_up_log": "log RT in the last quarter minus log RT in the first",
    "p_error_change": "error rate in the last quarter minus error rate in the first",
}
#: On the log scale: exp of the slope times this is a ratio of RTs.
_RATIO_STEPS = {"power_slope": np.log(2), "slope_per_100_trials": 1.0, "speed_up_log": 1.0}

_QUARTER_NUMBERS = (
    "n_first", "n_last", "geometric_mean_rt_first_s", "geometric_mean_rt_last_s", "speed_up_ratio",
    "speed_up_log", "n_trials_first", "n_trials_last", "p_error_first", "p_error_last",
    "p_error_change",
)  # fmt: skip


def _numbered(flagged: pd.DataFrame, factors: tuple[str, ...]) -> pd.DataFrame:
    """Return the analysed trials with their numbers in the session and in their cell of it."""
    analysed = flagged[used_for_accuracy(flagged)]
    if analysed.empty:
        raise DatasetError(
            f"none of the {len(flagged)} trials is analysed, so there is no practice to look at; "
            "look at phases in the analysis settings"
        )
    keys = ["participant_id", "session"]
    table = analysed[[*keys, *factors]].astype(dict.fromkeys(factors, "category"))
    table = table.assign(
        participant_id=table["participant_id"].astype("category"),
        trial_index=analysed["trial_index"],
        usable=used_for_rt(analysed),
        rt_s=analysed["rt_s"].to_numpy(dtype="float64", na_value=np.nan),
        correct=analysed["correct"].fillna(False).astype("int64"),
    )
    table = table.sort_values([*keys, "trial_index"], kind="stable", ignore_index=True)
    session = table.groupby(keys, observed=True, sort=False)
    cell = table.groupby([*keys, *factors], observed=True, sort=False)
    return table.assign(
        log_rt=np.log(table["rt_s"].where(table["usable"])),
        trial_number=session.cumcount() + 1,
        n_in_session=session["trial_index"].transform("size"),
        stratum=cell.ngroup(),
        number_in_cell=cell.cumcount(),
        n_in_cell=cell["trial_index"].transform("size"),
    )


def participant_stretches(
    flagged: pd.DataFrame, *, factors: tuple[str, ...], n_stretches: int = N_STRETCHES
) -> pd.DataFrame:
    """Summarise each participant's trials in each stretch of the session and each cell.

    Parameters
    ----------
    flagged : DataFrame, one row per trial
        From `flag_exclusions`.
    factors : tuple of str
        From `cell_factors`.
    n_stretches : int
        Parts into which each session's analysed trials are cut; their lengths differ by one trial
        at most. Several sessions of a participant are taken together, stretch by stretch.

    Returns
    -------
    DataFrame, one row per participant, cell and stretch that holds trials
        ``participant_id``, the factors, ``stretch`` (from 1), ``n_trials``, ``n_correct``,
        ``p_correct``, ``n_rt``, ``mean_rt_s``, ``mean_log_rt`` (natural log of seconds) and
        ``geometric_mean_rt_s``; RT measures are missing where no RT is used.

    Raises
    ------
    DatasetError
        If no trial is analysed.
    """
    trials = _numbered(flagged, factors)
    stretch = (trials["trial_number"] - 1) * n_stretches // trials["n_in_session"] + 1
    keys = ["participant_id", *factors, "stretch"]
    counted = trials.assign(stretch=stretch, n_trials=1)
    counted["rt_s"] = counted["rt_s"].where(counted["usable"])
    groups = counted.groupby(keys, observed=True)
    sums = groups[["n_trials", "correct"]].sum()
    means = groups[["rt_s", "log_rt"]].mean()
    table = pd.DataFrame(
        {
            "n_trials": sums["n_trials"],
            "n_correct": sums["correct"],
            "p_correct": sums["correct"] / sums["n_trials"],
            "n_rt": groups["log_rt"].count(),
            "mean_rt_s": means["rt_s"],
            "mean_log_rt": means["log_rt"],
            "geometric_mean_rt_s": np.exp(means["log_rt"]),
        }
    ).reset_index()
    return _in_order(table, factors)


def group_stretches(
    stretches: pd.DataFrame, *, factors: tuple[str, ...], confidence: float
) -> pd.DataFrame:
    """Average the stretches over participants.

    Parameters
    ----------
    stretches : DataFrame
        From `participant_stretches`.
    factors : tuple of str
        What makes the cells.
    confidence : float
        Level of the t intervals, which are those of `mean_interval`.

    Returns
    -------
    DataFrame, one row per cell and stretch
        The factors, ``stretch``, ``n_participants`` (with an RT there), ``n_left_out`` and
        ``left_out`` (as JSON list: those of the data who have none there), ``n_trials`` and
        ``n_rt`` over all of them, ``geometric_mean_rt_s`` with ``geometric_mean_rt_low_s`` and
        ``_high_s``, ``mean_rt_s``, ``p_correct`` (mean over the participants with trials there)
        with ``p_correct_low`` and ``p_correct_high``, and ``note``.
    """
    people = stretches["participant_id"].drop_duplicates()
    rows = []
    for key, part in stretches.groupby([*factors, "stretch"], sort=False):
        with_rt = part[part["mean_log_rt"].notna()]
        logs = mean_interval(with_rt["mean_log_rt"].to_numpy("float64"), confidence=confidence)
        correct = of_proportions(
            mean_interval(part["p_correct"].to_numpy("float64"), confidence=confidence)
        )
        geometric = exponentiated(logs.mean, logs.low, logs.high)
        left_out = _absent(people, with_rt["participant_id"])
        values = (
            logs.n, len(left_out), json.dumps(left_out, ensure_ascii=False),
            int(part["n_trials"].sum()), int(part["n_rt"].sum()),
            geometric.mean, geometric.low, geometric.high,
            mean_interval(with_rt["mean_rt_s"].to_numpy("float64"), confidence=confidence).mean,
            correct.mean, float(np.clip(correct.low, 0, 1)), float(np.clip(correct.high, 0, 1)),
            geometric.note if logs.n > 1 else logs.note,
        )  # fmt: skip
        rows.append((*key, *values))
    names = (
        "n_participants", "n_left_out", "left_out", "n_trials", "n_rt", "geometric_mean_rt_s",
        "geometric_mean_rt_low_s", "geometric_mean_rt_high_s", "mean_rt_s", "p_correct",
        "p_correct_low", "p_correct_high", "note",
    )  # fmt: skip
    table = pd.DataFrame(rows, columns=[*factors, "stretch", *names])
    return _in_order(table, factors)


def participant_slopes(flagged: pd.DataFrame, *, factors: tuple[str, ...]) -> pd.DataFrame:
    """Fit each participant's practice curve in each cell, and over all cells of a mode.

    Slopes are of least squares within the cells of a session: the row of a cell has one intercept
    for each session, the row over cells one for each cell of each session, so that the mix of
    cells makes no slope. Quarters are those of a cell's own trials in a session; over cells, their
    differences are averaged with the weights n1 n2 / (n1 + n2) of their numbers of RTs (or, for
    error rates, of trials).

    Parameters
    ----------
    flagged : DataFrame, one row per trial
        From `flag_exclusions`.
    factors : tuple of str
        From `cell_factors`.

    Returns
    -------
    DataFrame, one row per participant and cell, and one over the cells of each mode
        ``participant_id``, the factors (all but mode missing in rows over cells), ``n_rt``,
        ``power_slope`` (log RT on log trial number), ``slope_per_100_trials`` (log RT on trial
        number, times 100); then ``n_first`` and ``n_last`` RTs in the first and last quarter,
        their ``geometric_mean_rt_first_s`` and ``_last_s``, ``speed_up_ratio`` (last over first;
        below 1 is faster) and ``speed_up_log``; ``n_trials_first`` and ``n_trials_last`` with
        ``p_error_first``, ``p_error_last`` and ``p_error_change``; and ``note``. Slopes are
        missing with fewer than `MIN_TRIALS_PER_SLOPE` RTs, and the figures of quarters with fewer
        than `MIN_TRIALS_PER_QUARTER` in one of them.

    Raises
    ------
    DatasetError
        If no trial is analysed.

    Examples
    --------
    >>> import numpy as np
    >>> from ghostblitz_analysis.exclusions import flag_exclusions
    >>> from ghostblitz_analysis.settings import AnalysisSettings
    >>> from ghostblitz_analysis.tables import trial_frame
    >>> number = np.arange(40)
    >>> columns = {name: [1] * 40 for name in ("session", "run", "block_index")}
    >>> columns |= {"trial_index": number, "trial_in_block": number, "correct": [True] * 40}
    >>> columns |= {"participant_id": ["p1"] * 40, "rule": ["direct"] * 40, "phase": ["test"] * 40}
    >>> columns["rt_s"] = (number + 1.0) ** -0.3
    >>> flagged = flag_exclusions(trial_frame(columns, 40), AnalysisSettings())
    >>> slopes = participant_slopes(flagged, factors=("rule",))
    >>> [round(float(slope), 3) for slope in slopes["power_slope"]]
    [-0.3]
    """
    trials = _numbered(flagged, factors)
    over = [name for name in factors if name == "mode"]
    parts = []
    for by in dict.fromkeys((tuple(over), factors)):
        keys = ["participant_id", *by]
        slopes = _slopes(trials, keys)
        quarters = _quarters(trials, keys)
        parts.append(slopes.join(quarters, how="left").reset_index())
    # Where each mode has one cell, rows over cells would say the same again.
    if len(trials[list(factors)].drop_duplicates()) == max(1, trials[over].drop_duplicates().size):
        parts = parts[1:]
    texts = dict.fromkeys(("participant_id", *factors), "string")
    typed = [
        part.reindex(columns=[*texts, *(name for name in part.columns if name not in texts)])
        .astype(texts | {"note": "string"})
        .astype({name: _number_type(name) for name in part.columns if name not in (*texts, "note")})
        for part in parts
    ]
    table = pd.concat(typed, ignore_index=True)
    return _in_order(table, factors)


def _slopes(trials: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Regress log RT on trial number and its log, within strata; one row per combination."""
    used = trials[trials["usable"]]
    x = used["trial_number"].astype("float64")
    variables = pd.DataFrame({"power": np.log(x), "linear": x, "log_rt": used["log_rt"]})
    centred = variables - variables.groupby(used["stratum"]).transform("mean")
    products = used[keys].assign(
        n_rt=1,
        power_xx=centred["power"] ** 2,
        power_xy=centred["power"] * centred["log_rt"],
        linear_xx=centred["linear"] ** 2,
        linear_xy=centred["linear"] * centred["log_rt"],
    )
    sums = products.groupby(keys, observed=True).sum()
    every = trials[keys].drop_duplicates().set_index(keys).index
    sums = sums.reindex(every).fillna({"n_rt": 0})
    enough = sums["n_rt"] >= MIN_TRIALS_PER_SLOPE
    slope = {
        name: (sums[f"{name}_xy"] / sums[f"{name}_xx"].where(sums[f"{name}_xx"] > 0)).where(enough)
        for name in ("power", "linear")
    }
    few = f"fewer than {MIN_TRIALS_PER_SLOPE} RTs, so no slope"
    return pd.DataFrame(
        {
            "n_rt": sums["n_rt"].astype("int64"),
            "power_slope": slope["power"],
            "slope_per_100_trials": slope["linear"] * _TRIALS_PER_UNIT,
            "note": np.where(enough, "", few),
        },
        index=sums.index,
    )


def _quarters(trials: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Compare the first and the last quarter of each stratum; one row per combination."""
    quarter = trials["number_in_cell"] * 4 // trials["n_in_cell"]
    sums = trials[[*keys, "stratum"]].assign(
        **{
            f"{name}_{part}": values.where(quarter == number, 0.0)
            for number, part in ((0, "first"), (3, "last"))
            for name, values in (
                ("n", trials["usable"].astype("float64")),
                ("log_rt", trials["log_rt"].fillna(0.0)),
                ("n_trials", pd.Series(1.0, trials.index)),
                ("p_error", 1.0 - trials["correct"]),
            )
        }
    )
    strata = sums.groupby([*keys, "stratum"], observed=True).sum()
    weighted = {}
    for measure, count in (("log_rt", "n"), ("p_error", "n_trials")):
        n, n_last = strata[f"{count}_first"], strata[f"{count}_last"]
        weight = (n * n_last / (n + n_last)).fillna(0.0)
        weighted[f"weight_{count}"] = weight
        for part in ("first", "last"):
            own = strata[f"{count}_{part}"]
            weighted[f"{count}_{part}"] = own.where(weight > 0, 0.0)
            share = strata[f"{measure}_{part}"] / own * weight
            weighted[f"{measure}_{part}"] = share.where(weight > 0, 0.0)
    table = pd.DataFrame(weighted).groupby(level=keys, observed=True).sum()
    enough = {
        count: np.minimum(table[f"{count}_first"], table[f"{count}_last"]) >= MIN_TRIALS_PER_QUARTER
        for count in ("n", "n_trials")
    }
    means = {
        f"{measure}_{part}": (table[f"{measure}_{part}"] / table[f"weight_{count}"]).where(
            enough[count]
        )
        for measure, count in (("log_rt", "n"), ("p_error", "n_trials"))
        for part in ("first", "last")
    }
    speed_up = means["log_rt_last"] - means["log_rt_first"]
    values = (
        table["n_first"].astype("int64"), table["n_last"].astype("int64"),
        np.exp(means["log_rt_first"]), np.exp(means["log_rt_last"]), np.exp(speed_up), speed_up,
        table["n_trials_first"].astype("int64"), table["n_trials_last"].astype("int64"),
        means["p_error_first"], means["p_error_last"],
        means["p_error_last"] - means["p_error_first"],
    )  # fmt: skip
    return pd.DataFrame(dict(zip(_QUARTER_NUMBERS, values, strict=True)))


def group_slopes(
    slopes: pd.DataFrame, *, factors: tuple[str, ...], confidence: float
) -> pd.DataFrame:
    """Average practice slopes and changes over participants, each with a t test against 0.

    Parameters
    ----------
    slopes : DataFrame
        From `participant_slopes`.
    factors : tuple of str
        What makes the cells.
    confidence : float
        Level of the t intervals, which are those of `mean_interval`.

    Returns
    -------
    DataFrame, one row per cell (or over cells) and measure of `PRACTICE_MEASURES`
        The factors, ``measure``, ``n_participants``, ``n_left_out`` and ``left_out`` (as JSON
        list: those without a value), ``mean``, ``low``, ``high``, ``sd``, ``dz``, ``t``, ``df``,
        ``p``, ``rt_ratio`` with ``rt_ratio_low`` and ``rt_ratio_high`` (per doubling of the trial
        number, per 100 trials, and last quarter over first; missing for error rates), ``note``.
    """
    people = slopes["participant_id"].drop_duplicates()
    group = slopes[list(factors)].fillna("").groupby(list(factors), sort=False).ngroup()
    rows = []
    for _, part in slopes.groupby(group.to_numpy(), sort=True):
        cell = {name: part[name].iloc[0] for name in factors}
        for measure in PRACTICE_MEASURES:
            known = part[measure].notna()
            result = mean_interval(
                part.loc[known, measure].to_numpy("float64"), confidence=confidence
            )
            if measure not in _RATIO_STEPS:
                result = of_proportions(result)
            left_out = _absent(people, part.loc[known, "participant_id"])
            rows.append(cell | {"measure": measure} | _slope_row(measure, result, left_out))
    table = pd.DataFrame(rows)
    return _in_order(table, factors)


def _slope_row(measure: str, result: MeanInterval, left_out: list[str]) -> dict[str, object]:
    step = _RATIO_STEPS.get(measure, np.nan)
    ratio = exponentiated(*(step * log for log in (result.mean, result.low, result.high)))
    notes = [result.note, ratio.note]
    if left_out:
        limit = (
            f"fewer than {MIN_TRIALS_PER_SLOPE} RTs"
            if measure in ("power_slope", "slope_per_100_trials")
            else f"fewer than {MIN_TRIALS_PER_QUARTER} trials in a quarter"
        )
        notes.append(f"{count_of(len(left_out), 'participant')} left out, with {limit}")
    return {
        "n_participants": result.n,
        "n_left_out": len(left_out),
        "left_out": json.dumps(left_out, ensure_ascii=False),
        "mean": result.mean,
        "low": result.low,
        "high": result.high,
        "sd": result.sd,
        "dz": result.dz,
        "t": result.t,
        "df": result.df,
        "p": result.p,
        "rt_ratio": ratio.mean,
        "rt_ratio_low": ratio.low,
        "rt_ratio_high": ratio.high,
        "note": "; ".join(note for note in notes if note),
    }


def _number_type(name: str) -> str:
    return "Int64" if name.startswith("n_") or name in ("df", "stretch") else "Float64"


def _in_order(table: pd.DataFrame, factors: tuple[str, ...]) -> pd.DataFrame:
    """Set nullable types and sort as `order_cells`; rows over cells follow those of cells."""
    texts = ("participant_id", *factors, "left_out", "measure", "note")
    types = {n: "string" if n in texts else _number_type(n) for n in table.columns}
    typed = table.astype(types)
    if "stretch" in typed.columns:
        typed = typed.sort_values("stretch", kind="stable")
    return order_cells(typed, factors=factors)


def _absent(people: pd.Series, present: pd.Series) -> list[str]:
    return [str(person) for person in people[~people.isin(present)]]
