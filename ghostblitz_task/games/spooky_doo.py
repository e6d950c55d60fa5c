"""Ghost Blitz: Spooky Doo: a hat hides one of the other four items, and is itself an item.

Rules and targets are those of the base logic. Where the target is the hat, the name of the
hidden item is called; where it is the hidden item, the hat is grabbed. After each of these, done
right, the hat goes over another item.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from ghostblitz_task.cards import Card
from ghostblitz_task.errors import CardError, ConfigError
from ghostblitz_task.games import (
    CardGame,
    DeckMargins,
    Game,
    GameSettings,
    GameState,
    HatMover,
    Mode,
    Outcome,
    Response,
    Solution,
    Stimulus,
    base_rule,
)
from ghostblitz_task.games._five_items import five_item_margins

HAT = "hat"
ITEM_COLOURS: Mapping[str, str] = MappingProxyType(
    {"ghost": "white", HAT: "red", "bottle": "green", "barrel": "blue", "mouse": "grey"}
)


class SpookyDoo(CardGame):
    """The base logic over a hidden item; see the module."""

    modes: tuple[Mode, ...] = ("grab", "shout")
    hat_mover: HatMover | None = "schedule"

    def __init__(self, settings: GameSettings) -> None:
        super().__init__(settings, item_colours=ITEM_COLOURS)
        if HAT not in self.item_colours or len(self.item_colours) < 3:
            raise ConfigError(
                f"game {self.name}: item_colours needs a {HAT} and two other items that it can hide"
            )
        if settings.hat_mover is not None:
            self.hat_mover = settings.hat_mover
        self.hideable = tuple(i for i in self.item_colours if i != HAT)

    def deck_margins(self, kind: str) -> DeckMargins | None:
        """Return the margins of the classic deck, with the hat and the barrel in it."""
        return five_item_margins(self.item_colours, kind)

    def initial_state(
        self, rng: np.random.Generator | None = None, *, n_trials: int = 0
    ) -> GameState:
        """Return the table with the hat over an item, and where it goes from there.

        The schedule is a row of shuffles of all items, so that each is hidden equally often; none
        is hidden twice in a row. Without `rng` the hat is over the first item and goes round.
        """
        schedule: list[str] = []
        while len(schedule) < n_trials + 1:
            shuffle = list(self.hideable)
            if rng is not None:
                shuffle = [shuffle[int(i)] for i in rng.permutation(len(shuffle))]
                if schedule and shuffle[0] == schedule[-1]:
                    shuffle.append(shuffle.pop(0))
            schedule += shuffle
        first, *rest = schedule[: n_trials + 1]
        return GameState(first, 0, tuple(rest))

    def stimulus(self, card: Card, state: GameState) -> Stimulus:
        """Solve a card with the hat where it is."""
        if state.hat_over not in self.hideable:
            raise CardError(
                "malformed",
                f"the hat is over {state.hat_over!r}, but it hides one of "
                f"{', '.join(self.hideable)}",
            )
        hidden = str(state.hat_over)
        rule, target = base_rule(card, self.item_colours)
        if target == HAT:
            solution = Solution(rule, "shout", hidden, "item", target)
        else:
            answer = HAT if target == hidden else target
            solution = Solution(rule, "grab", answer, "item", target)
        return Stimulus(card, state, solution)

    def error_kind(self, response: Response, stimulus: Stimulus) -> str | None:
        """Name errors with the hat by what was done, the others by the role of the item.

        Calling where grabbing was due is one kind, whatever was called; so is grabbing where
        calling was due, except for the hat, which is a hat grabbed wrongly.
        """
        if response in self.correct_responses(stimulus):
            return None
        solution, hidden = stimulus.solution, stimulus.state.hat_over
        if response.mode == "shout":
            if solution.mode == "grab":
                return "called_for_hat_grab" if solution.answer == HAT else "called_for_grab"
            if response.answer == HAT:
                return "hat_called"
            # The item hidden is to be called; any other name is no matter of the card's pictures.
            return "wrong_item_called"
        if response.answer == HAT:
            return "hat_grabbed"
        if response.answer == hidden and solution.mode == "grab":
            return "under_hat" if solution.answer == HAT else super().error_kind(response, stimulus)
        if solution.mode == "shout":
            return "grabbed_for_call"
        return super().error_kind(response, stimulus)

    def hat_choices(self, stimulus: Stimulus, outcome: Outcome) -> tuple[str, ...]:
        """Return the items not hidden now, after the hat was grabbed or its item called rightly."""
        hidden = stimulus.state.hat_over
        if not outcome.correct or stimulus.solution.target not in (HAT, hidden):
            return ()
        return tuple(i for i in self.hideable if i != hidden)

    def advance(self, state: GameState, stimulus: Stimulus, outcome: Outcome) -> GameState:
        """Return the table with the hat moved, if it is to move."""
        choices = self.hat_choices(stimulus, outcome)
        if not choices:
            since = state.trials_since_hat_move
            return replace(state, trials_since_hat_move=None if since is None else since + 1)
        if outcome.hat_to is not None:
            if outcome.hat_to not in choices:
                raise CardError(
                    "malformed",
                    f"the hat goes over one of {', '.join(choices)}, not over {outcome.hat_to!r}",
                )
            return GameState(outcome.hat_to, 0, state.hat_schedule)
        # Where a participant chose for a while, the next of the schedule may be hidden already.
        coming = [i for i in state.hat_schedule if i != state.hat_over] or list(choices)
        place = state.hat_schedule.index(coming[0]) if state.hat_schedule else -1
        return GameState(coming[0], 0, state.hat_schedule[place + 1 :])


def build(settings: GameSettings) -> Game:
    """Build the game as a study sets it."""
    return SpookyDoo(settings)
