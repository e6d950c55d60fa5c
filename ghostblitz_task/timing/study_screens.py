"""What a study shows in its trials, for timing how it is drawn."""

from __future__ import annotations

from ghostblitz_task.captain.study import CaptainStudy
from ghostblitz_task.card_studies import Study
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.runnable import RunnableStudy
from ghostblitz_task.screens import Screen

__all__ = ["pause_between_trials_s", "trial_screens"]

# Each card is a picture in the graphics' memory; a session holds those of a block.
_MOST_CARDS = 120


def trial_screens(study: RunnableStudy) -> dict[str, Screen]:
    """Return the screens to draw, by name: the cards of the deck, or a game's deck in full.

    Of decks with more than 120 cards, so many are taken, evenly from all of it.

    Raises
    ------
    ConfigError
        For a study of another kind.
    """
    if isinstance(study, Study):
        stimuli = study.deck(0).stimuli
        taken = stimuli[:: -(-len(stimuli) // _MOST_CARDS)]
        return {str(s.card): study.screens.card(s) for s in taken}
    if isinstance(study, CaptainStudy):
        return _captain_screens(study)
    raise ConfigError(f"{study.folder}: what this study shows cannot be timed")


def _captain_screens(study: CaptainStudy) -> dict[str, Screen]:
    """Return the deck of each game with everything that can lie on it, more than ever does."""
    found: dict[str, Screen] = {}
    for block in study.settings.blocks:
        settings = study.settings.game_of(block)
        still = study.screens.still(settings)
        screen = Screen("game", still, patch="card", sprites=study.screens.props.all_sprites())
        found[f"game of block {block.label}"] = screen
    return found


def pause_between_trials_s(study: RunnableStudy) -> float | None:
    """Return how long a trial may take to be written; None where the study has no such time."""
    if isinstance(study, Study):
        return study.settings.timing.inter_trial_interval_s
    if isinstance(study, CaptainStudy):
        return min(study.settings.game_of(b).passing_s for b in study.settings.blocks)
    return None
