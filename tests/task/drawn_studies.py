"""A study of every game in every variant that looks different, for tests of what is shown."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from small_study import study_table

from ghostblitz_task.cards import is_clock_time
from ghostblitz_task.config import StudySettings
from ghostblitz_task.deck import legal_stimuli
from ghostblitz_task.games import Game, GameSettings, make_game
from ghostblitz_task.screens import Screen, Screens
from ghostblitz_task.settings_files import KEY_NAMES, validate_settings
from ghostblitz_task.texts import load_texts

_ADDED = ("mirror", "owl", "mirror-owl")
_MODEL = {"kind": "model", "median_rt_s": {"direct": 1.0, "exclusion": 1.7}}
MASKED = {"tabletop": "masked"}
#: What `drawn_screens` takes, by a name for the test's id.
VARIANTS: dict[str, dict[str, Any]] = {
    "classic": {"game": {"name": "classic"}},
    "classic-masked": {"game": {"name": "classic"}, "display": MASKED},
    "grab-or-shout": {"game": {"name": "grab-or-shout"}},
    "spooky-doo": {"game": {"name": "spooky-doo"}},
    "spooky-doo-masked": {"game": {"name": "spooky-doo"}, "display": MASKED},
    "spooky-doo-chosen": {"game": {"name": "spooky-doo", "hat_mover": "participant"}},
    "five-to-twelve-masked": {
        "game": {"name": "five-to-twelve", "rules": list(_ADDED)},
        "display": MASKED,
    },
} | {
    "+".join(["five-to-twelve", *rules]): {"game": {"name": "five-to-twelve", "rules": list(rules)}}
    for n in range(4)
    for rules in combinations(_ADDED, n)
}
#: Studies of one person who plays for the cards.
PLAYED_ALONE: dict[str, dict[str, Any]] = {
    "classic-alone": {"game": {"name": "classic"}, "company": {}},
    "classic-rival": {"game": {"name": "classic"}, "company": {"rival": _MODEL}},
    "classic-earlier-self": {"game": {"name": "classic"}, "company": {"rival": {"kind": "ghost"}}},
    "grab-or-shout-alone": {"game": {"name": "grab-or-shout"}, "company": {"max_recycled": 0}},
    "spooky-doo-alone": {"game": {"name": "spooky-doo"}, "company": {}},
    "spooky-doo-rival": {"game": {"name": "spooky-doo"}, "company": {"rival": _MODEL}},
    "five-to-twelve-rival": {"game": {"name": "five-to-twelve"}, "company": {"rival": _MODEL}},
}
#: Studies of several people, and how many they are.
_SEVERAL: dict[str, tuple[str, int]] = {
    "classic-2": ("classic", 2),
    "classic-3": ("classic", 3),
    "classic-4": ("classic", 4),
    "classic-masked-2": ("classic-masked", 2),
    "grab-or-shout-2": ("grab-or-shout", 2),
    "spooky-doo-2": ("spooky-doo", 2),
    "spooky-doo-3": ("spooky-doo", 3),
    "spooky-doo-chosen-2": ("spooky-doo-chosen", 2),
    "five-to-twelve-2": ("five-to-twelve", 2),
    "five-to-twelve+mirror+owl+mirror-owl-2": ("five-to-twelve+mirror+owl+mirror-owl", 2),
}
SEVERAL: dict[str, dict[str, Any]] = {
    name: VARIANTS[variant] | {"company": {}, "n_players": n}
    for name, (variant, n) in _SEVERAL.items()
}
PLAYED_FOR = PLAYED_ALONE | SEVERAL


def _keys(game: Game) -> dict[str, Any]:
    """A key of its own for every answer: two rows of letters, then a third, then digits."""
    keys: dict[str, Any] = {"grab_keys": dict(zip(game.answers("grab"), "asdfghjkl", strict=False))}
    shouted = game.answers("shout")
    if shouted:
        items = [a for a in shouted if a in game.item_colours]
        times = [a for a in shouted if is_clock_time(a)]
        colours = [a for a in shouted if a not in items and a not in times]
        keys["shout_keys"] = {
            **dict(zip(items, "qwertyuio", strict=False)),
            **dict(zip(colours, "zxcvb", strict=False)),
            **dict(zip(times, "123456789", strict=False)),
        }
    return keys


def _other_keys(game: Game, taken: set[str]) -> dict[str, Any]:
    """Keys for another player, none of which is taken; they are taken then."""
    free = iter(sorted(KEY_NAMES - taken - {"space", "escape", "f12"}))
    keys = {
        f"{mode}_keys": {answer: next(free) for answer in game.answers(mode)} for mode in game.modes
    }
    taken.update(key for of_mode in keys.values() for key in of_mode.values())
    return keys


def _signs(settings: StudySettings) -> dict[str, str]:
    """What is printed on the keys of the other players: one sign each, whatever their names."""
    signs = (chr(code) for code in range(ord("À"), 0x250) if chr(code).isupper())
    return {
        key: next(signs)
        for player in settings.responses.more_players
        for key in (*player.grab_keys.values(), *player.shout_keys.values())
    }


def drawn_settings(variant: str, *, language: str = "en", **changes: Any) -> StudySettings:
    """The small study in a variant, with some tables of it changed."""
    table = study_table() | (VARIANTS | PLAYED_FOR)[variant] | changes
    n_players = table.pop("n_players", 1)
    table["study"] = {**table["study"], "language": language}
    game = table["game"]
    made = make_game(
        GameSettings(
            game["name"],
            rules=frozenset(game.get("rules", ())),
            n_pictures=game.get("n_pictures"),
            item_colours=game.get("item_colours", {}),
        )
    )
    keys = _keys(made)
    if n_players > 1:
        taken = {key for of_mode in keys.values() for key in of_mode.values()}
        keys |= {"more_players": [_other_keys(made, taken) for _ in range(1, n_players)]}
        keys |= {"pause_key": "f12"}
    table["responses"] = keys | changes.get("responses", {})
    return validate_settings(table, StudySettings, where="study.toml")


def drawn_screens(variant: str, *, language: str = "en", **changes: Any) -> Screens:
    """The screens of such a study."""
    settings = drawn_settings(variant, language=language, **changes)
    return Screens(settings, settings.make_game(), load_texts(language), _signs(settings))


def trial_screens(screens: Screens) -> Iterator[Screen]:
    """Each kind of screen that is shown during a block, on each table there can be."""
    game = screens.game
    legal = legal_stimuli(game)
    cards = [s.card for s in legal[:: len(legal) // 10]]
    for table in screens.tables():
        yield screens.fixation(table)
        yield screens.blank(table)
        for kind in ("right", "wrong", "early", "late"):
            yield screens.feedback(kind, table)  # type: ignore[arg-type]
        for card in cards:
            yield screens.card(game.stimulus(card, table))
        if table.hat_over:
            yield screens.hat_moved(table)
            choices = tuple(i for i in game.hideable if i != table.hat_over)
            yield screens.hat_choice(table, choices)


def self_paced_screens(screens: Screens) -> Iterator[Screen]:
    """Each screen that waits for a key outside of a block."""
    yield from (ask for ask, _ in screens.key_check())
    yield from screens.instructions()
    for block in screens.settings.blocks:
        yield screens.block_intro(block, number=1, n_blocks=2)
    yield screens.block_break(done=1, n_blocks=2)
    yield screens.pause()
    yield screens.end()
