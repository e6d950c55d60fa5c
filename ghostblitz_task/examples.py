"""Which cards the instructions show: chosen so that they teach, the same at each call.

Every example is solved by the game; nothing here says what the answer is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ghostblitz_task.cards import MIRROR_ITEM, TIMED_ITEM, Picture, is_clock_time
from ghostblitz_task.config import StudySettings
from ghostblitz_task.deck import legal_stimuli
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.games import Game, Mode, Stimulus
from ghostblitz_task.games.five_to_twelve import GHOST, OWL

__all__ = ["ExampleCards", "base_rules", "hat_of", "seen_in_mirror", "study_features"]

_BASE_RULES = ("direct", "exclusion")
# Where cards that nobody wins are set aside; `company.rules`, which is further up, says the same.
_JACKPOT_GAMES = frozenset({"spooky-doo", "five-to-twelve"})
# Of equally good cards the one at this share of their list, so that neighbours in the enumeration,
# which look alike, are not all that is ever shown.
_SHARE = 3


def base_rules(settings: StudySettings) -> tuple[str, ...]:
    """Return which of direct match and exclusion the study's blocks ask for."""
    types = {block.type for block in settings.blocks}
    found = tuple(r for r in _BASE_RULES if r in types or "mixed" in types)
    # Where only other rules are asked for, cards that they do not apply to still need an example.
    return found or _BASE_RULES


def study_features(settings: StudySettings, game: Game) -> frozenset[str]:
    """Return what a study has that its participants must be told of; see `texts.Feature`."""
    types = {block.type for block in settings.blocks}

    def asked(rule: str) -> bool:
        return "mixed" in types or rule in types

    tells_time = any(is_clock_time(a) for a in game.answers("shout"))
    by_mirror = bool(game.rules & {"mirror", "mirror-owl"})
    found = {
        "direct": asked("direct"),
        "exclusion": asked("exclusion"),
        "shout_item": getattr(game, "shout_item", None) is not None,
        "shouting": "shout" in game.modes,
        "hat": bool(game.hideable),
        "hat_chosen": game.hat_mover == "participant",
        "hat_scheduled": game.hat_mover == "schedule",
        "time": tells_time and asked("time"),
        "mirror": "mirror" in game.rules and asked("mirror"),
        "mirrored": not by_mirror and MIRROR_ITEM in game.item_colours and _mirrors(settings, game),
        "owl": "owl" in game.rules,
        "mirror_owl": "mirror-owl" in game.rules and asked("mirror-owl"),
        "masked": settings.display.tabletop == "masked",
        "pointer": settings.responses.pointer,
        **_company_features(settings),
    }
    return frozenset(feature for feature, has in found.items() if has)


def _company_features(settings: StudySettings) -> dict[str, bool]:
    """Say what there is to explain of playing for the cards."""
    company, several = settings.company, len(settings.responses.players) > 1
    if company is None:
        return {}
    rival, jackpot = company.rival, settings.game.name in _JACKPOT_GAMES
    return {
        "alone": rival is None and not several,
        "contest": rival is not None or several,
        "several": several,
        "rival": rival is not None,
        "model_rival": rival is not None and rival.kind == "model",
        "ghost_rival": rival is not None and rival.kind == "ghost",
        "jackpot": jackpot,
        "under_pile": not jackpot,
        "recycled": not jackpot and company.max_recycled > 0,
        "practice": any(block.phase == "practice" for block in settings.blocks),
    }


def _mirrors(settings: StudySettings, game: Game) -> bool:
    """Say whether something can be seen in a mirror on the cards of the study's deck."""
    if settings.deck.kind == "custom":
        return any("(" in card for card in settings.deck.cards)
    return any(p.mirrored for card in game.cards(settings.deck.kind) for p in card.pictures)


def hat_of(game: Game) -> str | None:
    """Return the item that hides another, if the game has one."""
    if not game.hideable:
        return None
    return next(item for item in game.item_colours if item not in game.hideable)


def seen_in_mirror(stimulus: Stimulus) -> Picture | None:
    """Return what the card's mirror shows."""
    return next((p.mirrored for p in stimulus.card.pictures if p.mirrored), None)


@dataclass(frozen=True, slots=True)
class _Wish:
    """What an example is to be; null leaves it open."""

    rules: tuple[str, ...]
    mode: Mode | None = None
    fits: Callable[[Stimulus], bool] = lambda stimulus: True
    hidden: str | None = None


@dataclass
class ExampleCards:
    """Chooses the example cards of one study, page by page, and varies them."""

    settings: StudySettings
    game: Game
    _stimuli: Sequence[Stimulus] = field(init=False)
    _shown: Counter[str] = field(init=False, default_factory=Counter)

    def __post_init__(self) -> None:
        kind = self.settings.deck.kind
        self._stimuli = legal_stimuli(self.game, kind="standard" if kind == "custom" else kind)

    def for_page(self, shows: str) -> tuple[Stimulus, ...]:
        """Return the cards that a page shows; none where it shows something else.

        Raises
        ------
        ConfigError
            If the game, as the study sets it, has no card for the page's first example.
        """
        chosen: list[Stimulus] = []
        for wish in self._wishes().get(shows, ()):
            stimulus = self._choose(wish, chosen)
            if stimulus is not None:
                chosen.append(stimulus)
                self._shown[str(stimulus.solution.answer)] += 1
            elif not chosen:
                raise ConfigError(
                    f"game {self.game.name}: there is no {' or '.join(wish.rules)} card "
                    f"{f'to {wish.mode} ' if wish.mode else ''}for an example"
                )
        return tuple(chosen)

    def _wishes(self) -> Mapping[str, tuple[_Wish, ...]]:
        """Return what each page wants to show, first to last."""
        rules, hideable, hat = base_rules(self.settings), self.game.hideable, hat_of(self.game)
        any_rule = (*_BASE_RULES, "mirror")

        def shows(item: str, *, mirrored: bool) -> Callable[[Stimulus], bool]:
            return lambda s: _depicts(s, item) and (seen_in_mirror(s) is not None) == mirrored

        def owl_aside(stimulus: Stimulus) -> bool:
            return shows(OWL, mirrored=False)(stimulus) and stimulus.solution.target != OWL

        def lone_clock(stimulus: Stimulus) -> bool:
            return shows(TIMED_ITEM, mirrored=False)(stimulus) and not _depicts(stimulus, GHOST)

        # A game that also shouts is first explained with cards to grab.
        direct, exclusion = (_Wish((rule,), "grab", self._is_plain) for rule in _BASE_RULES)
        by_owl = _Wish(rules, "shout", lambda s: s.solution.target == OWL)
        if "mirror" in self.game.rules and "mirror-owl" not in self.game.rules:
            by_owl = _Wish(("mirror",), "shout")
        mirror_owl = _Wish(("mirror-owl",), "shout", self._in_other_colour)
        wishes = {
            "direct": (direct, direct),
            "exclusion": (exclusion, exclusion),
            "grab_and_shout": (_Wish(rules[:1], "grab"), _Wish(rules[-1:], "shout")),
            "time": (_Wish(("time",), "shout"), _Wish(rules, "grab", lone_clock)),
            "mirror": (
                _Wish(("mirror",), "grab", self._in_other_colour),
                _Wish(rules, "grab", shows(MIRROR_ITEM, mirrored=False)),
            ),
            "mirrored": (_Wish(rules, "grab", shows(MIRROR_ITEM, mirrored=True)),),
            "owl": (_Wish(any_rule, "shout", owl_aside), by_owl),
            "mirror_owl": (mirror_owl, mirror_owl),
        }
        if hat is not None:
            wishes["hat_grab"] = (
                _Wish(rules, "grab", lambda s: s.solution.answer == hat, hidden=hideable[-1]),
            )
            wishes["hat_call"] = (
                _Wish(rules, "shout", lambda s: s.solution.target == hat, hidden=hideable[0]),
            )
        return wishes

    def _is_plain(self, stimulus: Stimulus) -> bool:
        """Say whether nothing but the base logic matters on a card, wherever the hat is."""
        unclear = (stimulus.state.hat_over, hat_of(self.game))
        return seen_in_mirror(stimulus) is None and stimulus.solution.target not in unclear

    def _in_other_colour(self, stimulus: Stimulus) -> bool:
        """Say whether what the mirror shows is in another colour than its own."""
        seen = seen_in_mirror(stimulus)
        return seen is not None and seen.colour != self.game.item_colours[seen.item]

    def _choose(self, wish: _Wish, chosen: Sequence[Stimulus]) -> Stimulus | None:
        found = [
            s
            for s in self._solved(wish.hidden)
            if s.solution.rule in wish.rules and wish.mode in (None, s.solution.mode)
            if wish.fits(s) and s.card not in [c.card for c in chosen]
        ]
        if not found:
            return None
        ranks = [self._rank(s, chosen) for s in found]
        best = [s for s, rank in zip(found, ranks, strict=True) if rank == min(ranks)]
        return best[len(best) // _SHARE]

    def _solved(self, hidden: str | None) -> Sequence[Stimulus]:
        if hidden is None:
            return self._stimuli
        return [
            self.game.stimulus(s.card, replace(s.state, hat_over=hidden)) for s in self._stimuli
        ]

    def _rank(self, stimulus: Stimulus, chosen: Sequence[Stimulus]) -> tuple[int, ...]:
        """Rank a card, the best lowest: little that draws attention, and nothing shown before."""
        items = {p.item for p in stimulus.card.depicted}
        solution = stimulus.solution
        usual = solution.answer_kind != "time" or solution.answer == self._first_time
        before = {p.item for other in chosen for p in other.card.depicted}
        return (
            len(items & self._attention),
            int(not usual),
            self._shown[solution.answer],
            len(items & before),
        )

    @cached_property
    def _first_time(self) -> str | None:
        """Return the first of the times, the one that the game is named after."""
        return next((a for a in self.game.answers("shout") if is_clock_time(a)), None)

    @cached_property
    def _attention(self) -> set[str]:
        """Return the items that some rule, or some trap, makes more than pictures."""
        hat, shout_item = hat_of(self.game), getattr(self.game, "shout_item", None)
        return {TIMED_ITEM, MIRROR_ITEM, OWL} | {i for i in (hat, shout_item) if i is not None}


def _depicts(stimulus: Stimulus, item: str) -> bool:
    return any(p.item == item for p in stimulus.card.depicted)
