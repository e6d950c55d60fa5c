"""What went before each trial: the one and the two trials before it, and how they relate to it.

Two trials follow one another if one participant played them in the same session, run and block
and no trial lies between. Trials that other parts of the analysis leave out count here like all
others: they were played, and what was played before is what carries over.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_analysis.solving import read_item_colours
from ghostblitz_task.cards import Card, parse_card
from ghostblitz_task.schema import DType, column

__all__ = ["HISTORY_COLUMNS", "previous_positions", "trial_history"]

IntArray = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_COPIED = ("rule", "mode", "target", "answer", "response", "correct", "rt_s")

#: Every column that `trial_history` gives, with its meaning.
HISTORY_COLUMNS: dict[str, str] = {
    "has_previous": "Whether there is a trial just before it, in its block",
    "has_second_previous": "Whether there are two trials just before it, in its block",
    **{f"previous_{name}": f"{name} of the trial before" for name in _COPIED},
    **{f"second_previous_{name}": f"{name} of the trial two before" for name in _COPIED},
    "rule_repeated": "Whether the rule is that of the trial before",
    "mode_repeated": "Whether the mode is that of the trial before",
    "target_repeated": "Whether the target is that of the trial before",
    "answer_repeated": "Whether the answer is that of the trial before, in whatever mode",
    "response_repeated": "Whether what must be done is what was done in the trial before: the "
    "answer is the response given there, in the mode in which it was given",
    "rule_sequence": "The rules of the three trials up to this one, the present rule called A: "
    "AAA, BAA, BBA, ABA or CBA",
    "second_rule_repeated": "Whether the rule is that of the trial two before",
    "second_mode_repeated": "Whether the mode is that of the trial two before",
    "second_target_repeated": "Whether the target is that of the trial two before",
    "second_answer_repeated": "Whether the answer is that of the trial two before",
    "n_shared_items": "Items depicted on this card and on the one before, in whatever colour",
    "card_repeated": "Whether the card before shows the same pictures, in whatever order",
    "target_ignored": "Whether the target was depicted on the card before without being its "
    "target or answer",
}


def previous_positions(trials: pd.DataFrame) -> IntArray:
    """Find the trial just before each trial.

    Parameters
    ----------
    trials : DataFrame, one row per trial
        In any order.

    Returns
    -------
    (n_trials,) array of int
        Row number, from 0, of the trial before; -1 where there is none: at the start of a block,
        a run or a session, after an interruption, and where the trial before is not in the table.
    """
    n = len(trials)
    keys = {
        name: trials[name].to_numpy(dtype="int64", na_value=-1)
        for name in ("session", "run", "block_index", "trial_index")
    }
    person = pd.factorize(trials["participant_id"])[0]
    in_block = trials["trial_in_block"].to_numpy(dtype="float64", na_value=np.nan)
    resumed = trials["resumed"].to_numpy(dtype=bool, na_value=False)
    order = np.lexsort((keys["trial_index"], keys["run"], keys["session"], person))
    before, after = order[:-1], order[1:]
    # An import that dropped a row leaves a gap in trial_in_block but none in trial_index.
    gap = in_block[after] - in_block[before]
    adjacent = (
        (person[before] == person[after])
        & (keys["session"][before] == keys["session"][after])
        & (keys["run"][before] == keys["run"][after])
        & (keys["block_index"][before] == keys["block_index"][after])
        & (keys["trial_index"][after] - keys["trial_index"][before] == 1)
        & ((gap == 1) | np.isnan(gap))
        & ~resumed[after]
    )
    positions = np.full(n, -1, dtype=np.int64)
    positions[after[adjacent]] = before[adjacent]
    return positions


def trial_history(trials: pd.DataFrame, *, positions: IntArray | None = None) -> pd.DataFrame:
    """Describe what went before each trial.

    Parameters
    ----------
    trials : DataFrame, one row per trial
        With the schema's columns, in any order; flags make no difference. It is not changed.
    positions : (n_trials,) array of int, optional
        From `previous_positions`, where they are known already.

    Returns
    -------
    DataFrame, one row per trial, with the index of `trials`
        The columns of `HISTORY_COLUMNS`. They are missing where the trial that they speak of is
        missing, ``n_shared_items``, ``card_repeated`` and ``target_ignored`` also where a card is
        not known, and ``target_ignored`` where there is no target. A trial without a target
        repeats none, and a trial without a response none is repeated from: these are false.

    Raises
    ------
    CardError
        If a card is malformed.
    DatasetError
        If a text of ``item_colours`` is.

    Examples
    --------
    >>> from ghostblitz_analysis.tables import trial_frame
    >>> colours = "ghost:white chair:red bottle:green book:blue mouse:grey"
    >>> trials = trial_frame(
    ...     {
    ...         "participant_id": ["p1", "p1"], "session": [1, 1], "run": [1, 1],
    ...         "block_index": [0, 0], "trial_index": [0, 1], "trial_in_block": [0, 1],
    ...         "rule": ["direct", "exclusion"], "target": ["ghost", "mouse"],
    ...         "card": ["ghost:white mouse:red", "ghost:green chair:blue"],
    ...         "item_colours": [colours, colours],
    ...     },
    ...     2,
    ... )
    >>> history = trial_history(trials)
    >>> history["rule_repeated"].tolist(), history["target_ignored"].tolist()
    ([<NA>, False], [<NA>, True])
    """
    first = previous_positions(trials) if positions is None else positions
    second = _gathered(first, first)
    columns: dict[str, object] = {
        "has_previous": pd.array(first >= 0, dtype="boolean"),
        "has_second_previous": pd.array(second >= 0, dtype="boolean"),
    }
    for stem, positions in (("previous", first), ("second_previous", second)):
        for name in _COPIED:
            values = trials[name].astype(column(name).dtype).array
            columns[f"{stem}_{name}"] = values.take(positions, allow_fill=True)
    columns |= _relations(trials, first, second)
    columns |= _card_relations(trials, first)
    return pd.DataFrame({name: columns[name] for name in HISTORY_COLUMNS}, index=trials.index)


def _gathered(codes: IntArray, positions: IntArray) -> IntArray:
    """Return the code at each position; -1 where there is no position."""
    if not len(codes):
        return np.full(len(positions), -1, dtype=np.int64)
    return np.where(positions >= 0, codes[positions], -1)


def _codes(*columns: pd.Series) -> list[IntArray]:
    """Give equal values of several columns equal numbers; -1 for missing ones."""
    together = pd.concat([values.astype("string") for values in columns], ignore_index=True)
    codes = pd.factorize(together)[0].astype(np.int64)
    return np.split(codes, len(columns))


def _known(values: Any, known: Mask, dtype: DType) -> object:
    """Return an array that is missing where its values are not known."""
    array: Any = pd.array(values, dtype=dtype)
    array[~known] = pd.NA
    return array


def _relations(trials: pd.DataFrame, first: IntArray, second: IntArray) -> dict[str, object]:
    """Compare rule, mode, target, answer and response with those before."""
    (rule,) = _codes(trials["rule"])
    mode, given_mode = _codes(trials["mode"], trials["response_mode"])
    target, answer, response = _codes(trials["target"], trials["answer"], trials["response"])
    now = {"rule": rule, "mode": mode, "target": target, "answer": answer}

    def same(codes: IntArray, before: IntArray, positions: IntArray) -> Mask:
        return np.asarray((codes >= 0) & (codes == _gathered(before, positions)))

    columns: dict[str, object] = {}
    for name, codes in now.items():
        repeated = same(codes, codes, first)
        columns[f"{name}_repeated"] = _known(repeated, first >= 0, "boolean")
        repeated = same(codes, codes, second)
        columns[f"second_{name}_repeated"] = _known(repeated, second >= 0, "boolean")
    done = same(answer, response, first) & same(mode, given_mode, first)
    columns["response_repeated"] = _known(done, first >= 0, "boolean")
    columns["rule_sequence"] = _rule_sequence(rule, first, second)
    return columns


def _rule_sequence(rule: IntArray, first: IntArray, second: IntArray) -> object:
    before, before_that = _gathered(rule, first), _gathered(rule, second)
    names = np.select(
        [
            (before == rule) & (before_that == rule),
            before == rule,
            before == before_that,
            before_that == rule,
        ],
        ["AAA", "BAA", "BBA", "ABA"],
        "CBA",
    )
    return _known(names.astype(object), second >= 0, "string")


def _card_relations(trials: pd.DataFrame, first: IntArray) -> dict[str, object]:
    """Compare what the cards depict; each distinct card is read once."""
    card, cards = _distinct_cards(trials)
    numbers: dict[str, int] = {}
    depicted = [[numbers.setdefault(p.item, len(numbers)) for p in c.depicted] for c in cards]
    n_items = max(len(numbers), 1)
    shown = np.array(
        sorted(number * n_items + item for number, items in enumerate(depicted) for item in items),
        dtype=np.int64,
    )

    def shows(cards_of: IntArray, items: IntArray) -> Mask:
        """Say where a card depicts an item; not where either is unknown."""
        if not shown.size:
            return np.zeros(len(cards_of), dtype=bool)
        wanted = cards_of * n_items + items
        place = np.minimum(np.searchsorted(shown, wanted), shown.size - 1)
        return np.asarray((cards_of >= 0) & (items >= 0) & (shown[place] == wanted))

    before = _gathered(card, first)
    both = (card >= 0) & (before >= 0)
    n_slots = max(map(len, depicted), default=0)
    slots = np.full((len(cards), n_slots), -1, dtype=np.int64)
    for number, items in enumerate(depicted):
        slots[number, : len(items)] = items
    n_shared = np.zeros(len(trials), dtype=np.int64)
    for slot in range(n_slots):
        n_shared += shows(before, _gathered(slots[:, slot], card))

    texts: dict[str, int] = {}
    ids = np.array([texts.setdefault(c.card_id, len(texts)) for c in cards], dtype=np.int64)
    identical = _gathered(ids, card) == _gathered(ids, before)
    target_code, names = pd.factorize(trials["target"].astype("string"))
    item_of = np.array([numbers.get(str(name), -1) for name in names], dtype=np.int64)
    target = _gathered(item_of, target_code.astype(np.int64))
    own, answer = _codes(trials["target"], trials["answer"])
    was_asked = (own == _gathered(own, first)) | (own == _gathered(answer, first))
    known = (before >= 0) & (own >= 0)
    return {
        "n_shared_items": _known(n_shared, both, "Int64"),
        "card_repeated": _known(identical, both, "boolean"),
        "target_ignored": _known(shows(before, target) & ~was_asked, known, "boolean"),
    }


def _distinct_cards(trials: pd.DataFrame) -> tuple[IntArray, list[Card]]:
    """Read each distinct card in its items and colours; number -1 where unknown."""
    text, texts = pd.factorize(trials["card"].astype("string"))
    mapping, mappings = pd.factorize(trials["item_colours"].astype("string"))
    n_mappings = max(len(mappings), 1)
    known = (text >= 0) & (mapping >= 0)
    pairs, distinct = pd.factorize(text[known].astype(np.int64) * n_mappings + mapping[known])
    colours = [read_item_colours(str(each)) for each in mappings]
    cards = [
        parse_card(str(texts[pair // n_mappings]), colours[pair % n_mappings])
        for pair in distinct.tolist()
    ]
    numbers = np.full(len(trials), -1, dtype=np.int64)
    numbers[known] = pairs
    return numbers, cards
