"""What the universes of each contrast have in common, in tables and in words."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
import pandas as pd

from ghostblitz_analysis.inference.cell_scores import typed_table
from ghostblitz_analysis.multiverse.exclusion_sets import DECISIONS
from ghostblitz_analysis.multiverse.runs import CHOICES, Multiverse
from ghostblitz_analysis.plot_axes import floats
from ghostblitz_analysis.table_rows import rows_of
from ghostblitz_analysis.wording import count_of, number, p_value, percent

__all__ = [
    "CHOICE_NAMES",
    "NOT_INDEPENDENT",
    "contrast_sentences",
    "dropped_table",
    "option_table",
    "summary_table",
]

CHOICE_NAMES = {**DECISIONS, "transform": "measure of RT", "model": "model"}

NOT_INDEPENDENT = (
    "The universes are analyses of the same trials, so they are no independent tests: their shares "
    "describe how far the result hangs on the analysis, and no p follows from them. How many of "
    "them agree also depends on which options the grid holds."
)

_COUNTS = ("n_universes", "n_without_result", "n_participants_min", "n_participants_max")
_SUMMARY = {
    **dict.fromkeys(("contrast", "mode"), "string"),
    **dict.fromkeys(_COUNTS, "Int64"),
    **dict.fromkeys(("expected_sign", "expected_from"), "string"),
    **dict.fromkeys(("p_expected_sign", "p_significant_expected"), "Float64"),
    "p_significant_opposite": "Float64",
    **dict.fromkeys(("effect_median", "effect_min", "effect_max"), "Float64"),
    **dict.fromkeys(("ratio_median", "ratio_min", "ratio_max"), "Float64"),
    "primary_universe": "Int64",
    **dict.fromkeys(("primary_effect", "primary_p"), "Float64"),
    **dict.fromkeys(("n_tested_together", "n_permutations"), "Int64"),
    "all_permutations": "boolean",
    **dict.fromkeys(("median_p", "share_p", "mean_z", "mean_z_p"), "Float64"),
    "note": "string",
}
_OPTIONS = {
    **dict.fromkeys(("contrast", "mode", "decision", "option", "in_words"), "string"),
    **dict.fromkeys(("n_universes", "n_without_result"), "Int64"),
    **dict.fromkeys(("effect_median", "effect_min", "effect_max", "p_significant"), "Float64"),
}
_SIGNS = {"positive": 1.0, "negative": -1.0}


def summary_table(multiverse: Multiverse) -> pd.DataFrame:
    """Sum the universes up.

    Returns
    -------
    DataFrame, one row per contrast
        ``contrast``, ``mode``, ``n_universes`` (with an effect), ``n_without_result``,
        ``expected_sign`` and ``expected_from`` (the grid, or the analysis as set); the shares
        ``p_expected_sign``, ``p_significant_expected`` and ``p_significant_opposite`` (p below
        alpha, uncorrected) of universes; median and range of ``effect``, and of ``ratio`` over
        those of log RT; the ``primary`` universe; ``n_participants_min`` and ``_max``; and the
        test of the curve: ``n_tested_together`` universes, ``n_permutations``,
        ``all_permutations``, ``median_p``, ``share_p``, ``mean_z`` and ``mean_z_p`` (see
        `curve_test`); ``note``.
    """
    return typed_table([_summary(multiverse, n) for n in range(len(multiverse.keys))], _SUMMARY)


def _summary(multiverse: Multiverse, number_: int) -> dict[str, object]:
    every = multiverse.of_contrast(number_)
    table = every[every["effect"].notna()]
    effects, p = floats(table["effect"]), floats(table["p"])
    ratios = floats(table["ratio"])
    ratios = ratios[~np.isnan(ratios)]
    primary = next(iter(rows_of(every[every["primary"].fillna(False)])), None)
    sign, source, note = _expected(multiverse, number_, primary)
    significant = p < multiverse.settings.alpha
    as_expected = effects * _SIGNS[sign] if sign else np.full(len(effects), nan)
    test = multiverse.curve_tests[number_]
    contrast, mode = multiverse.keys[number_]
    n_people = floats(table["n_participants"])
    return {
        "contrast": contrast,
        "mode": mode,
        "n_universes": len(table),
        "n_without_result": len(every) - len(table),
        "n_participants_min": int(n_people.min()) if len(n_people) else None,
        "n_participants_max": int(n_people.max()) if len(n_people) else None,
        "expected_sign": sign,
        "expected_from": source,
        "p_expected_sign": _share(as_expected > 0, sign),
        "p_significant_expected": _share(significant & (as_expected > 0), sign),
        "p_significant_opposite": _share(significant & (as_expected < 0), sign),
        **_spread("effect", effects),
        **_spread("ratio", ratios),
        "primary_universe": primary["universe"] if primary else None,
        "primary_effect": primary["effect"] if primary else None,
        "primary_p": primary["p"] if primary else None,
        "n_tested_together": test.n_universes,
        "n_permutations": test.n_permutations,
        "all_permutations": test.exact,
        "median_p": test.median_p,
        "share_p": test.p_significant_p,
        "mean_z": test.mean_z,
        "mean_z_p": test.mean_z_p,
        "note": "; ".join(part for part in (note, test.note) if part),
    }


def _expected(
    multiverse: Multiverse, number_: int, primary: dict[str, Any] | None
) -> tuple[str | None, str | None, str]:
    """Return the expected sign, where it comes from, and why it is missing."""
    stated = multiverse.grid.expected_sign.get(multiverse.keys[number_][0])
    if stated is not None:
        return stated, "the grid", ""
    if primary is None:
        return None, None, "the grid has no universe as set and states no sign, so none is expected"
    if not primary["effect"]:
        return None, None, "the analysis as set has no sign, so none is expected"
    return ("positive" if primary["effect"] > 0 else "negative"), "the analysis as set", ""


def _share(where: np.ndarray[Any, np.dtype[np.bool_]], sign: str | None) -> float:
    return float(where.mean()) if sign and len(where) else nan


def _spread(name: str, values: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, object]:
    found = (np.median(values), values.min(), values.max()) if len(values) else (nan, nan, nan)
    return {
        f"{name}_{which}": float(value)
        for which, value in zip(("median", "min", "max"), found, strict=True)
    }


def option_table(multiverse: Multiverse) -> pd.DataFrame:
    """Sum the universes up by each option of each decision, to see which decisions matter.

    Returns
    -------
    DataFrame, one row per contrast, decision and option
        ``contrast``, ``mode``, ``decision``, ``option``, ``in_words``, ``n_universes`` (with an
        effect), ``n_without_result``, median and range of ``effect``, and ``p_significant``, the
        share of universes with p below alpha in either direction. Decisions of one option have
        none to compare, and no rows.
    """
    rows = []
    for number_, (contrast, mode) in enumerate(multiverse.keys):
        table = multiverse.of_contrast(number_)
        for decision in CHOICES:
            if table[decision].nunique() < 2:
                continue
            for option, every in table.groupby(decision, sort=False):
                with_effect = every[every["effect"].notna()]
                significant = floats(with_effect["p"]) < multiverse.settings.alpha
                rows.append(
                    {
                        "contrast": contrast,
                        "mode": mode,
                        "decision": decision,
                        "option": option,
                        "in_words": every[f"{decision}_words"].iloc[0],
                        "n_universes": len(with_effect),
                        "n_without_result": len(every) - len(with_effect),
                        **_spread("effect", floats(with_effect["effect"])),
                        "p_significant": float(significant.mean()) if len(significant) else nan,
                    }
                )
    return typed_table(rows, _OPTIONS)


def dropped_table(multiverse: Multiverse) -> pd.DataFrame:
    """Return the combinations that were not made: ``what``, ``n_universes`` and ``reason``."""
    rows = [
        {"what": each.what, "n_universes": each.n_universes, "reason": each.reason}
        for each in multiverse.dropped
    ]
    return typed_table(rows, {"what": "string", "n_universes": "Int64", "reason": "string"})


def contrast_sentences(multiverse: Multiverse, number_: int) -> list[str]:
    """Say what the universes of a contrast come to."""
    row = rows_of(summary_table(multiverse))[number_]
    if not row["n_universes"]:
        return ["No universe has a result."]
    alpha = f"{multiverse.settings.alpha:g}".removeprefix("0")
    sentences = [
        f"{count_of(row['n_universes'], 'universe')}: standardised effect {_range(row, 'effect')}."
    ]
    if row["ratio_median"] is not None:
        what = "ratio of RT ratios" if multiverse.interactions[number_] else "RT ratio"
        sentences.append(f"{what}, where RTs are logarithms: {_range(row, 'ratio')}.")
    if row["expected_sign"]:
        sentences.append(
            f"{percent(row['p_expected_sign'])} % have the expected, {row['expected_sign']}, sign "
            f"(that of {row['expected_from']}); {percent(row['p_significant_expected'])} % have it "
            f"and p < {alpha}, {percent(row['p_significant_opposite'])} % the other sign and "
            f"p < {alpha}."
        )
    if row["primary_universe"] is not None and row["primary_effect"] is not None:
        sentences.append(
            f"The analysis as set (universe {row['primary_universe']}): "
            f"{_two(row['primary_effect'])}, p {_equals(row['primary_p'])}."
        )
    if row["n_permutations"]:
        sentences.append(_test_sentence(row))
    if row["n_without_result"]:
        sentences.append(f"{count_of(row['n_without_result'], 'universe')} without a result.")
    if row["note"]:
        sentences.append(row["note"][0].upper() + row["note"][1:] + ".")
    return [sentence[0].upper() + sentence[1:] for sentence in sentences]


def _range(row: dict[str, Any], name: str) -> str:
    low, middle, high = (_two(row[f"{name}_{which}"]) for which in ("min", "median", "max"))
    return f"median {middle}, from {low} to {high}"


def _two(value: float) -> str:
    """Write two decimals, without a sign of nothing."""
    text = number(value, 2)
    return "0.00" if text == "-0.00" else text


def _equals(p: object) -> str:
    text = p_value(p)
    return text if text.startswith("<") else f"= {text}"


def _test_sentence(row: dict[str, Any]) -> str:
    every = "all " if row["all_permutations"] else ""
    return (
        f"Test of the curve of the {count_of(row['n_tested_together'], 'paired universe')} by "
        f"{every}{row['n_permutations']:,} sets of flipped signs: median effect, "
        f"p {_equals(row['median_p'])}; share of significant universes, "
        f"p {_equals(row['share_p'])}; mean z = {_two(row['mean_z'])}, "
        f"p {_equals(row['mean_z_p'])}."
    )
