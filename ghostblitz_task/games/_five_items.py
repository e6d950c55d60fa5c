"""The deck margins of games with five items in five colours and two pictures on a card.

Public counts of the physical 60-card deck: 20 direct and 40 exclusion cards, 12 per target,
10 drawings (one per pair of items) in 6 colourings, every item depicted and every colour shown
24 times. The balanced deck is ours: 30 and 30.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from ghostblitz_task.games import DeckMargins

_CARDS_PER_RULE = {
    "standard": {"direct": 20, "exclusion": 40},
    "balanced": {"direct": 30, "exclusion": 30},
}


def five_item_margins(item_colours: Mapping[str, str], kind: str) -> DeckMargins | None:
    """Return the margins of the ``standard`` or ``balanced`` deck of five items.

    Returns
    -------
    DeckMargins or None
        None for another kind, or when the mapping is not five items in five colours.
    """
    items, colours = list(item_colours), set(item_colours.values())
    per_rule = _CARDS_PER_RULE.get(kind)
    if per_rule is None or len(items) != 5 or len(colours) != 5:
        return None
    quotas: dict[str, dict[str, int]] = {
        "rule": dict(per_rule),
        "rule*target": {f"{rule}*{i}": n // 5 for rule, n in per_rule.items() for i in items},
        "pair": {f"{a}+{b}": 6 for a, b in combinations(sorted(items), 2)},
        "depicted": dict.fromkeys(items, 24),
        "shown_colour": dict.fromkeys(sorted(colours), 24),
    }
    # Each pair of items holds 2 direct and 4 exclusion cards, or 3 and 3.
    quotas["rule*pair"] = {
        f"{rule}*{pair}": n // 10 for rule, n in per_rule.items() for pair in quotas["pair"]
    }
    if kind == "standard":
        # One direct card for each of the two items of a pair.
        quotas["rule*pair*target"] = {
            f"direct*{pair}*{item}": 1 for pair in quotas["pair"] for item in pair.split("+")
        }
    return DeckMargins(60, quotas, strata="rule*pair")
