"""What turns say about memory: hits where the colour was known, by lag and by distance, and RTs.

A turn counts as known where a dropping of the cue's colour had been looked at in an earlier turn
and is still on deck; its hit is the pick of such a one, here and in the RTs. Where none is known a
hit is the pick of any dropping of the colour. Chance is computed for each turn from what was on
deck at the pick: among all droppings, and among those that had been seen (known) or had not (not
known), which is what a player hits who only remembers which ones have been looked at; the tests
are against the latter. Turns that the end of a game cut short, and claims of the last dropping,
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
    cue_changes, cue_changes_left_out : DataFrame
        What was picked where the die changed by itself before the pick while both colours were on
        deck, with chance; and how many turns with a change that leaves out, and why.
    naming : DataFrame
        How often the colour was named rightly.
    game_outcomes : DataFrame
        How games ended, and what was collected.
    n_early_pick_rts, n_early_naming_rts : int
        RTs of zero or less: the act came before the flip that showed what it answers.
    early_turns : tuple of str
        The turns that have them.
    """

    participant_hits: pd.DataFrame
    hits: pd.DataFrame
    participant_bins: pd.DataFrame
    bins: pd.DataFrame
    participant_rts: pd.DataFrame
    rts: pd.DataFrame
    rt_contrasts: pd.DataFrame
    cue_changes: pd.DataFrame
    cue_changes_left_out: pd.DataFrame
    naming: pd.DataFrame
    game_outcomes: pd.DataFrame
    n_turns: int
    n_censored: int
    n_claims: int
    n_long_rts: int
    n_early_pick_rts: int
    n_early_naming_rts: int
    early_turns: tuple[str, ...]

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables under the names of their CSV files."""
        names = [
            "participant_hits", "hits", "participant_bins", "bins", "participant_rts", "rts",
            "rt_contrasts", "cue_changes", "cue_changes_left_out", "naming", "game_outcomes",
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
    turns: pd.DataFrame,
    games: pd.DataFrame,
    changes: pd.DataFrame,
    settings: CaptainAnalysisSettings,
) -> CaptainMeasures:
    """Compute every measure of a data set.

    Parameters
    ----------
    turns, games, changes : DataFrame
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
    changed = changes[changes["phase"].isin(settings.phases) & ~changes["censored"].astype(bool)]
    early = {what: cued[cued[f"{what}_rt_s"].fillna(1.0) <= 0] for what in ("pick", "naming")}
    return CaptainMeasures(
        participant_hits=participant_hits,
        hits=_group_hits(participant_hits, settings.confidence),
        participant_bins=participant_bins,
        bins=_group_bins(participant_bins, settings.confidence),
        participant_rts=rts,
        rts=_group_rts(rts, settings.confidence),
        rt_contrasts=_rt_contrasts(rts, settings.confidence),
        cue_changes=_cue_changes(changed, settings.confidence),
        cue_changes_left_out=_left_out(changed),
        naming=_naming(whole, settings.confidence),
        game_outcomes=_game_outcomes(games[games["phase"].isin(settings.phases)], of_phase),
        n_turns=len(cued),
        n_censored=len(of_phase) - len(whole),
        n_claims=int(whole["claimed"].notna().sum()),
        n_long_rts=n_long,
        n_early_pick_rts=len(early["pick"]),
        n_early_naming_rts=len(early["naming"]),
        early_turns=tuple(
            f"{row['player_id']}, session {row['session']}, {row['label']}, turn "
            f"{row['turn_index']} ({what})"
            for what, table in early.items()
            for row in table.to_dict("records")
        ),
    )


# --- hits -----------------------------------------------------------------------------------------


def _participant_hits(cued: pd.DataFrame, confidence: float) -> pd.DataFrame:
    rows = []
    for (player, mode), own in cued.groupby(_WHO, sort=True):
        is_known = own["is_known"].astype(bool)
        for known, part in (("known", own[is_known]), ("unknown", own[~is_known])):
            column, chance, within = "hit_given_known", "p_chance_known", "p_chance_among_seen"
            if known == "unknown":
                column, chance, within = "hit", "p_chance", "p_chance_unseen"
            n, n_hits = len(part), int(part[column].astype(bool).sum())
            low, high = wilson(n_hits, n, confidence=confidence)
            # Where all on deck had been seen, there is no chance among the unseen.
            has = part[part[within].notna()]
            p_within = float(has[within].astype(float).mean()) if len(has) else np.nan
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
                    "n_turns_within": len(has),
                    "p_chance_within": p_within,
                    "above_within": float(has[column].astype(float).mean()) - p_within
                    if len(has)
                    else np.nan,
                }
            )
    columns = [
        "player_id", "mode", "colour", "n_turns", "n_hits", "p_hit", "p_hit_low", "p_hit_high",
        "p_chance", "n_turns_within", "p_chance_within", "above_within",
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def _proportion(name: str, found: MeanInterval) -> dict[str, float | bool]:
    """Return a mean proportion and its t interval, cut at 0 and 1.

    There is none where all participants have the same one, since it would have width 0; one that
    was cut says so.
    """
    low, high = max(found.low, 0.0), min(found.high, 1.0)
    if np.isnan(found.low) or found.sd == 0.0:
        low = high = float("nan")
    clipped = bool(found.low < 0.0 or found.high > 1.0) and not np.isnan(low)
    return {
        name: found.mean, f"{name}_low": low, f"{name}_high": high, f"{name}_clipped": clipped,
    }  # fmt: skip


def _group_hits(people: pd.DataFrame, confidence: float) -> pd.DataFrame:
    rows = []
    for (mode, colour), part in people.groupby(["mode", "colour"], sort=True):
        found = part[part["n_turns"] > 0]
        hit = mean_interval(found["p_hit"].to_numpy(dtype=float), confidence=confidence)
        above = mean_interval(
            (found["p_hit"] - found["p_chance"]).to_numpy(dtype=float), confidence=confidence
        )
        has = found[found["n_turns_within"] > 0]
        within = mean_interval(has["above_within"].to_numpy(dtype=float), confidence=confidence)
        rows.append(
            {
                "mode": mode,
                "colour": colour,
                "n_participants": hit.n,
                "n_turns": int(found["n_turns"].sum()),
                "n_hits": int(found["n_hits"].sum()),
                **_proportion("p_hit", hit),
                "p_chance": float(found["p_chance"].mean()) if hit.n else np.nan,
                "above_chance": above.mean,
                "above_chance_low": above.low,
                "above_chance_high": above.high,
                "n_turns_within": int(has["n_turns_within"].sum()),
                "p_chance_within": float(has["p_chance_within"].mean()) if within.n else np.nan,
                "above_within": within.mean,
                "above_within_low": within.low,
                "above_within_high": within.high,
                "t": within.t,
                "df": within.df,
                "p": within.p,
                "dz": within.dz,
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
        "p_hit_high", "p_hit_clipped", "p_chance",
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


# --- RTs ------------------------------------------------------------------------------------------


def _is_hit(turns: pd.DataFrame) -> pd.Series:
    return turns["hit_given_known"].fillna(False).astype(bool)


#: What is set side by side: name, and which turns; hits and misses are of known turns.
_RT_PARTS: tuple[tuple[str, str, Callable[[pd.DataFrame], pd.Series]], ...] = (
    ("pick", "known", lambda t: t["is_known"].astype(bool)),
    ("pick", "unknown", lambda t: ~t["is_known"].astype(bool)),
    ("pick", "hit", lambda t: t["is_known"].astype(bool) & _is_hit(t)),
    ("pick", "miss", lambda t: t["is_known"].astype(bool) & ~_is_hit(t)),
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


def _is_fair(changed: pd.DataFrame) -> pd.Series:
    """Say where the die changed by itself while both colours were on deck at the pick."""
    both = (changed["n_old"] > 0) & (changed["n_new"] > 0)
    return ~changed["is_nudged"].astype(bool) & both


def _cue_changes(changed: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Compare, within players, the share of picks of each colour with its chance."""
    fair = changed[_is_fair(changed)]
    n = fair["n_on_deck"]
    chance = {
        "new": fair["n_new"] / n,
        "old": fair["n_old"] / n,
        "neither": (n - fair["n_new"] - fair["n_old"]) / n,
    }
    rows = []
    for mode in sorted(fair["mode"].unique()):
        of_mode = fair["mode"] == mode
        player = fair.loc[of_mode, "player_id"]
        for followed, p_chance in chance.items():
            is_so = fair.loc[of_mode, "followed"] == followed
            share = is_so.astype(float).groupby(player).mean().to_numpy(dtype=float)
            own = p_chance[of_mode].astype(float).groupby(player).mean().to_numpy(dtype=float)
            above = mean_interval(share - own, confidence=confidence)
            rows.append(
                {
                    "mode": mode, "followed": followed, "n_participants": len(share),
                    "n_turns": len(is_so), "n_picks": int(is_so.sum()),
                    **_proportion("p_pick", mean_interval(share, confidence=confidence)),
                    "p_chance": float(own.mean()),
                    "above_chance": above.mean, "above_chance_low": above.low,
                    "above_chance_high": above.high,
                    "t": above.t, "df": above.df, "p": above.p, "dz": above.dz,
                }
            )  # fmt: skip
    columns = [
        "mode", "followed", "n_participants", "n_turns", "n_picks", "p_pick", "p_pick_low",
        "p_pick_high", "p_pick_clipped", "p_chance", "above_chance", "above_chance_low",
        "above_chance_high", "t", "df", "p", "dz",
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def _left_out(changed: pd.DataFrame) -> pd.DataFrame:
    """Count the turns with a change, those measured, and why others are not; the first counts."""
    rows = []
    for mode, part in changed.groupby("mode", sort=True):
        rest = part[~part["is_nudged"].astype(bool)]
        no_new = rest["n_new"] == 0
        rows.append(
            {
                "mode": mode, "n_changed": len(part), "n_measured": int(_is_fair(part).sum()),
                "n_nudged": len(part) - len(rest), "n_new_gone": int(no_new.sum()),
                "n_old_gone": int((~no_new & (rest["n_old"] == 0)).sum()),
            }
        )  # fmt: skip
    columns = ["mode", "n_changed", "n_measured", "n_nudged", "n_new_gone", "n_old_gone"]
    return pd.DataFrame(rows, columns=columns)


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
        "p_right_high", "p_right_clipped",
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
