"""What turns say about memory: hits where the colour was known, by lag and by distance, and RTs.

A turn counts as known where a dropping of the cue's colour had been looked at in an earlier turn
and is still on deck; its hit is the pick of such a one. Chance is computed for each turn from what
was on deck at the pick. Turns that the end of a game cut short, and claims of the last dropping,
which no cue asks for, are in none of these measures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from ghostblitz_analysis.captain.settings import CaptainAnalysisSettings
from ghostblitz_analysis.intervals import MeanInterval, mean_interval

__all__ = ["BINS", "DISTANCES", "LAGS", "CaptainMeasures", "measure", "wilson"]

#: Turns since a dropping was seen, and length of its way in deck sides; up to the second bound.
LAGS: tuple[tuple[str, float, float], ...] = (
    ("1", 1, 1), ("2", 2, 2), ("3", 3, 3), ("4–5", 4, 5), ("6–8", 6, 8), ("9+", 9, np.inf),
)  # fmt: skip
DISTANCES: tuple[tuple[str, float, float], ...] = (
    ("0–0.1", 0, 0.1), ("0.1–0.3", 0.1, 0.3), ("0.3–0.6", 0.3, 0.6), ("0.6–1", 0.6, 1.0),
    ("1–2", 1.0, 2.0), ("2+", 2.0, np.inf),
)  # fmt: skip
BINS = {"lag": LAGS, "distance": DISTANCES}

_WHO = ["player_id", "mode"]


@dataclass(frozen=True, eq=False)
class CaptainMeasures:
    """Every table of measures, by the name of its CSV file.

    Attributes
    ----------
    participant_hits, hits : DataFrame
        Per player and mode; per mode, where the colour was known and where not.
    participant_bins, bins : DataFrame
        Hits given known, by lag and by distance (``by`` says which).
    participant_rts, rts, rt_contrasts : DataFrame
        Pick RTs by knowledge and by outcome, and naming RTs.
    cue_changes : DataFrame
        What was picked where the die changed before the pick.
    naming : DataFrame
        How often the colour was named rightly.
    game_outcomes : DataFrame
        How games ended, and what was collected.
    """

    participant_hits: pd.DataFrame
    hits: pd.DataFrame
    participant_bins: pd.DataFrame
    bins: pd.DataFrame
    participant_rts: pd.DataFrame
    rts: pd.DataFrame
    rt_contrasts: pd.DataFrame
    cue_changes: pd.DataFrame
    naming: pd.DataFrame
    game_outcomes: pd.DataFrame
    n_turns: int
    n_censored: int
    n_claims: int
    n_long_rts: int

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables under the names of their CSV files."""
        names = [
            "participant_hits", "hits", "participant_bins", "bins", "participant_rts", "rts",
            "rt_contrasts", "cue_changes", "naming", "game_outcomes",
        ]  # fmt: skip
        return {name: getattr(self, name) for name in names}


def wilson(n_hits: int, n: int, *, confidence: float) -> tuple[float, float]:
    """Return Wilson's score interval of a proportion (Wilson 1927, JASA 22, 209-212).

    It takes the turns as independent draws with one probability, which turns of one person are
    not quite. NaN without turns.

    Examples
    --------
    >>> low, high = wilson(8, 10, confidence=0.95)
    >>> round(low, 4), round(high, 4)
    (0.4902, 0.9433)
    """
    if n == 0:
        return float("nan"), float("nan")
    found = stats.binomtest(n_hits, n).proportion_ci(confidence_level=confidence, method="wilson")
    return float(found.low), float(found.high)


def measure(
    turns: pd.DataFrame, games: pd.DataFrame, settings: CaptainAnalysisSettings
) -> CaptainMeasures:
    """Compute every measure of a data set.

    Parameters
    ----------
    turns, games : DataFrame
        As loaded.
    settings : CaptainAnalysisSettings
        Phases, level of intervals, bounds of RTs.
    """
    of_phase = turns[turns["phase"].isin(settings.phases)]
    whole = of_phase[~of_phase["censored"].astype(bool)]
    cued = whole[whole["claimed"].isna() & whole["dropping_id"].notna()]
    participant_hits = _participant_hits(cued, settings.confidence)
    participant_bins = _participant_bins(cued)
    rts, n_long = _rts(cued, settings)
    return CaptainMeasures(
        participant_hits=participant_hits,
        hits=_group_hits(participant_hits, settings.confidence),
        participant_bins=participant_bins,
        bins=_group_bins(participant_bins, settings.confidence),
        participant_rts=rts,
        rts=_group_rts(rts, settings.confidence),
        rt_contrasts=_rt_contrasts(rts, settings.confidence),
        cue_changes=_cue_changes(cued),
        naming=_naming(whole, settings.confidence),
        game_outcomes=_game_outcomes(games[games["phase"].isin(settings.phases)], of_phase),
        n_turns=len(cued),
        n_censored=len(of_phase) - len(whole),
        n_claims=int(whole["claimed"].notna().sum()),
        n_long_rts=n_long,
    )


# --- hits -----------------------------------------------------------------------------------------


def _participant_hits(cued: pd.DataFrame, confidence: float) -> pd.DataFrame:
    rows = []
    for (player, mode), own in cued.groupby(_WHO, sort=True):
        is_known = own["is_known"].astype(bool)
        for known, part in (("known", own[is_known]), ("unknown", own[~is_known])):
            column, chance = ("hit_given_known", "p_chance_known")
            if known == "unknown":
                column, chance = "hit", "p_chance"
            n, n_hits = len(part), int(part[column].astype(bool).sum())
            low, high = wilson(n_hits, n, confidence=confidence)
            unseen = part["p_chance_unseen"].dropna()
            rows.append(
                {
                    "player_id": player,
                    "mode": mode,
                    "colour": known,
                    "n_turns": n,
                    "n_hits": n_hits,
                    "p_hit": n_hits / n if n else np.nan,
                    "p_hit_low": low,
                    "p_hit_high": high,
                    "p_chance": float(part[chance].mean()) if n else np.nan,
                    "p_chance_unseen": float(unseen.mean())
                    if known == "unknown" and len(unseen)
                    else np.nan,
                }
            )
    columns = [
        "player_id", "mode", "colour", "n_turns", "n_hits", "p_hit", "p_hit_low", "p_hit_high",
        "p_chance", "p_chance_unseen",
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def _proportion(name: str, found: MeanInterval) -> dict[str, float]:
    """Return a mean proportion and its t interval, cut at 0 and 1.

    There is none where all participants have the same one, since it would have width 0.
    """
    low, high = max(found.low, 0.0), min(found.high, 1.0)
    if np.isnan(found.low) or found.sd == 0.0:
        low = high = float("nan")
    return {name: found.mean, f"{name}_low": low, f"{name}_high": high}


def _group_hits(people: pd.DataFrame, confidence: float) -> pd.DataFrame:
    rows = []
    for (mode, colour), part in people.groupby(["mode", "colour"], sort=True):
        found = part[part["n_turns"] > 0]
        hit = mean_interval(found["p_hit"].to_numpy(dtype=float), confidence=confidence)
        above = mean_interval(
            (found["p_hit"] - found["p_chance"]).to_numpy(dtype=float), confidence=confidence
        )
        unseen = found["p_chance_unseen"].dropna()
        rows.append(
            {
                "mode": mode,
                "colour": colour,
                "n_participants": hit.n,
                "n_turns": int(found["n_turns"].sum()),
                "n_hits": int(found["n_hits"].sum()),
                **_proportion("p_hit", hit),
                "p_chance": float(found["p_chance"].mean()) if hit.n else np.nan,
                "p_chance_unseen": float(unseen.mean()) if len(unseen) else np.nan,
                "above_chance": above.mean,
                "above_chance_low": above.low,
                "above_chance_high": above.high,
                "t": above.t,
                "df": above.df,
                "p": above.p,
                "dz": above.dz,
            }
        )
    return pd.DataFrame(rows)


def _bin_of(values: pd.Series, bins: Sequence[tuple[str, float, float]]) -> pd.Series:
    def name(value: float) -> str:
        return next(label for label, _, high in bins if value <= high)

    return values.astype(float).map(name)


def _participant_bins(cued: pd.DataFrame) -> pd.DataFrame:
    known = cued[cued["is_known"].astype(bool)]
    parts = []
    for by, column in (("lag", "lag_turns"), ("distance", "path_moved")):
        # Without the Eye nothing moves, so there is one distance only.
        of = known if by == "lag" else known[known["mode"] == "moving"]
        if of.empty:
            continue
        part = of.assign(by=by, bin=_bin_of(of[column], BINS[by]), is_hit=of["hit_given_known"])
        counted = part.groupby([*_WHO, "by", "bin"], sort=False).agg(
            n_turns=("is_hit", "size"),
            n_hits=("is_hit", lambda hits: int(hits.astype(bool).sum())),
            p_chance=("p_chance_known", "mean"),
        )
        parts.append(counted.reset_index())
    names = [*_WHO, "by", "bin", "n_turns", "n_hits", "p_chance"]
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=names)
    table["p_chance"] = table["p_chance"].astype(float)
    return table.assign(p_hit=table["n_hits"].astype(float) / table["n_turns"].astype(float))


def _group_bins(people: pd.DataFrame, confidence: float) -> pd.DataFrame:
    rows = []
    for by, bins in BINS.items():
        for mode in sorted(people["mode"].unique()):
            for label, _, _ in bins:
                chosen = (people["by"] == by) & (people["mode"] == mode) & (people["bin"] == label)
                part = people[chosen]
                if part.empty:
                    continue
                hit = mean_interval(part["p_hit"].to_numpy(dtype=float), confidence=confidence)
                rows.append(
                    {
                        "mode": mode,
                        "by": by,
                        "bin": label,
                        "n_participants": hit.n,
                        "n_turns": int(part["n_turns"].sum()),
                        "n_hits": int(part["n_hits"].sum()),
                        **_proportion("p_hit", hit),
                        "p_chance": float(part["p_chance"].mean()),
                    }
                )
    columns = [
        "mode", "by", "bin", "n_participants", "n_turns", "n_hits", "p_hit", "p_hit_low",
        "p_hit_high", "p_chance",
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


# --- RTs ------------------------------------------------------------------------------------------

#: What is set side by side: name, and which turns.
_RT_PARTS: tuple[tuple[str, str, Callable[[pd.DataFrame], pd.Series]], ...] = (
    ("pick", "known", lambda t: t["is_known"].astype(bool)),
    ("pick", "unknown", lambda t: ~t["is_known"].astype(bool)),
    ("pick", "hit", lambda t: t["hit"].astype(bool)),
    ("pick", "miss", lambda t: ~t["hit"].astype(bool)),
    ("naming", "all", lambda t: t["naming_rt_s"].notna()),
)
_CONTRASTS = (("known", "unknown"), ("hit", "miss"))


def _rts(cued: pd.DataFrame, settings: CaptainAnalysisSettings) -> tuple[pd.DataFrame, int]:
    limits = {"pick": settings.max_pick_rt_s, "naming": settings.max_naming_rt_s}
    rows, n_long = [], 0
    for what, limit_s in limits.items():
        n_long += int((cued[f"{what}_rt_s"].fillna(0) > limit_s).sum())
    for (player, mode), own in cued.groupby(_WHO, sort=True):
        for what, part, chosen in _RT_PARTS:
            rt_s = own.loc[chosen(own), f"{what}_rt_s"].dropna().to_numpy(dtype=float)
            rt_s = rt_s[(rt_s > 0) & (rt_s <= limits[what])]
            mean = float(np.exp(np.log(rt_s).mean())) if len(rt_s) else np.nan
            rows.append(
                {
                    "player_id": player, "mode": mode, "rt": what, "turns": part,
                    "n_rt": len(rt_s), "geometric_mean_rt_s": mean,
                }
            )  # fmt: skip
    columns = ["player_id", "mode", "rt", "turns", "n_rt", "geometric_mean_rt_s"]
    return pd.DataFrame(rows, columns=columns), n_long


def _group_rts(people: pd.DataFrame, confidence: float) -> pd.DataFrame:
    rows = []
    for (mode, what, part), table in people.groupby(["mode", "rt", "turns"], sort=False):
        found = table[table["n_rt"] > 0]
        log_rt = np.log(found["geometric_mean_rt_s"].to_numpy(dtype=float))
        mean = mean_interval(log_rt, confidence=confidence)
        rows.append(
            {
                "mode": mode, "rt": what, "turns": part, "n_participants": mean.n,
                "n_rt": int(found["n_rt"].sum()),
                "geometric_mean_rt_s": float(np.exp(mean.mean)),
                "rt_low_s": float(np.exp(mean.low)),
                "rt_high_s": float(np.exp(mean.high)),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def _rt_contrasts(people: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Compare pick RTs within players: ratio of geometric means, paired t test on the logs."""
    picks = people[(people["rt"] == "pick") & (people["n_rt"] > 0)]
    rows = []
    for mode in sorted(picks["mode"].unique()):
        wide = picks[picks["mode"] == mode].pivot_table(
            index="player_id", columns="turns", values="geometric_mean_rt_s"
        )
        for one, other in _CONTRASTS:
            if one not in wide or other not in wide:
                continue
            both = wide[[one, other]].dropna()
            found = mean_interval(np.log(both[other] / both[one]), confidence=confidence)
            rows.append(
                {
                    "mode": mode, "contrast": f"{other} / {one}", "n_participants": found.n,
                    "rt_ratio": float(np.exp(found.mean)),
                    "rt_ratio_low": float(np.exp(found.low)),
                    "rt_ratio_high": float(np.exp(found.high)),
                    "t": found.t, "df": found.df, "p": found.p, "dz": found.dz,
                }
            )  # fmt: skip
    columns = [
        "mode", "contrast", "n_participants", "rt_ratio", "rt_ratio_low", "rt_ratio_high", "t",
        "df", "p", "dz",
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


# --- the rest -------------------------------------------------------------------------------------


def _cue_changes(cued: pd.DataFrame) -> pd.DataFrame:
    changed = cued[cued["followed"].notna()]
    rows = []
    for mode, part in changed.groupby("mode", sort=True):
        for followed in ("new", "old", "neither"):
            n = int((part["followed"] == followed).sum())
            rows.append(
                {"mode": mode, "followed": followed, "n_turns": n, "p_of_turns": n / len(part)}
            )
    return pd.DataFrame(rows, columns=["mode", "followed", "n_turns", "p_of_turns"])


def _naming(whole: pd.DataFrame, confidence: float) -> pd.DataFrame:
    rows = []
    for mode, part in whole[whole["claimed"].isna() & whole["colour"].notna()].groupby("mode"):
        named = part[part["misnamed"].notna()]
        right = (~named["misnamed"].astype(bool)).groupby(named["player_id"]).mean()
        mean = mean_interval(right.to_numpy(dtype=float), confidence=confidence)
        rows.append(
            {
                "mode": mode, "n_participants": mean.n, "n_looked": len(part),
                "n_named": len(named), "n_misnamed": int(named["misnamed"].astype(bool).sum()),
                **_proportion("p_right", mean),
            }
        )  # fmt: skip
    columns = [
        "mode", "n_participants", "n_looked", "n_named", "n_misnamed", "p_right", "p_right_low",
        "p_right_high",
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def _game_outcomes(games: pd.DataFrame, turns: pd.DataFrame) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    for mode, part in games.groupby("mode", sort=True):
        counts = part["outcome"].value_counts()
        of_mode = turns[turns["mode"] == mode]
        rows.append(
            {
                "mode": mode,
                "n_games": len(part),
                **{f"n_{name}": int(counts.get(name, 0)) for name in _OUTCOMES},
                "mean_kept": float(part["n_kept"].mean()),
                "mean_fallen": float(part["n_fallen"].mean()),
                "mean_turns": float(part["n_turns"].mean()),
                "n_turns": len(of_mode),
                "n_censored": int(of_mode["censored"].astype(bool).sum()),
            }
        )
    return pd.DataFrame(rows)


_OUTCOMES = ("won", "lost", "die_fell", "capped", "interrupted", "killed")
