"""The names of players in what a log says of a round, and in its words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ghostblitz_analysis.export.sharing.texts import REMOVED

__all__ = ["shared_round"]

Names = Mapping[str, str]
_WORD = re.compile(r"\w+")
#: All that the words of a round are made of, beside names and the phrases around them.
_OWN_TEXT = """
and takes the card and the jackpot of but grabbed and shouted nobody takes the card
nobody answered nobody was right cannot be told apart in time the lot decides
the earlier stamp decides gives up a card to give up a card each to s ve
has none to give up have none to give up the jackpot holds
all cards of the round go under the pile
"""
_OWN_WORDS = frozenset([*_OWN_TEXT.split(), *map(str, range(1000))])


def shared_round(played: Mapping[str, Any], names: Names) -> dict[str, Any]:
    """Return a round with other names of its players.

    Parameters
    ----------
    played : mapping
        A trial's ``round``.
    names : mapping of str to str
        What each at the table is called now; who is not in it is left out.

    Returns
    -------
    dict
        With the same keys. Words that are not those of this program are left out.
    """

    def name(old: Any) -> Any:
        return None if old is None else names.get(old, REMOVED)

    shared = dict(played)
    for key in ("winner", "voided_by"):
        shared[key] = name(played[key])
    shared["tied"] = [name(player) for player in played["tied"]]
    shared["penalties"] = [
        {**penalty, "player": name(penalty["player"])} for penalty in played["penalties"]
    ]
    shared["n_won"] = {name(player): n for player, n in played["n_won"].items()}
    shared["reason"] = _shared_words(played, shared)
    return shared


def _shared_words(played: Mapping[str, Any], shared: Mapping[str, Any]) -> str:
    """Rename the players phrase by phrase: an id may be a word that stands elsewhere, too."""
    rest, words, own = str(played["reason"]), "", ""
    for old, new in zip(_phrases(played), _phrases(shared), strict=True):
        before, found, rest = rest.partition(old)
        if not found:
            return REMOVED
        words += before + new
        own += before + " "
    # What stands between the names is this program's, or somebody wrote it there.
    return words + rest if _OWN_WORDS.issuperset(_WORD.findall(own + rest)) else REMOVED


def _phrases(played: Mapping[str, Any]) -> Iterator[str]:
    """Give the phrases of a round's words that name players, in their order."""
    first = played["winner"] or played["voided_by"]
    if first:
        yield f"{first} was right first"
    if played["tied"]:
        yield f"; {_listed(played['tied'])} cannot be told apart in time"
    givers = [p["player"] for p in played["penalties"] if p["gave"]]
    empty = [p["player"] for p in played["penalties"] if not p["gave"]]
    if givers:
        yield f"; {_listed(givers)} give"
        if played["outcome"] == "won":
            yield f" to {first}"
    if empty:
        yield f"; {_listed(empty)} ha"


def _listed(players: Sequence[str]) -> str:
    if len(players) == 1:
        return players[0]
    return f"{', '.join(players[:-1])} and {players[-1]}"
