"""One trial with a card, from the fixation mark to its record on disk."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ghostblitz_task.apparatus import Apparatus
from ghostblitz_task.company import Table
from ghostblitz_task.config import BlockSettings, StudySettings
from ghostblitz_task.design import TrialPlan
from ghostblitz_task.errors import ApparatusError
from ghostblitz_task.games import Game, Outcome, Stimulus
from ghostblitz_task.marking import card_mark
from ghostblitz_task.presenting import DROPPED, Presenter, QuitRequested, Recorder
from ghostblitz_task.round_screens import round_feedback
from ghostblitz_task.rounds import (
    Company,
    PlayedCard,
    lot_of,
    play_card,
    read_rival,
    rival_attempts,
)
from ghostblitz_task.scoring import Score, TrialFacts, responses_in_time, score_trial
from ghostblitz_task.screens import FeedbackKind, Screen, Screens

__all__ = ["RECYCLED_BLOCK", "CardTrials", "Judgement", "Look", "PlayedFor"]

#: The block of the cards that come again; it is none of the study's.
RECYCLED_BLOCK = "recycled"

# Times that differ by less are the same flip.
_SAME_TIME_S = 1e-6
# In frames: when the next flip comes, and by how much stamps and the measured rate may err.
_NEXT_FLIP = 1.05


@dataclass(frozen=True, slots=True)
class Look:
    """The screens of a trial that depend on what lies on the table, but not on the card."""

    fixation: Screen
    blank: Screen
    feedback: Mapping[FeedbackKind, Screen]
    hat_moved: Screen | None


@dataclass(slots=True)
class PlayedFor:
    """The cards that are played for: whose they are changes with each round."""

    company: Company
    table: Table
    seed: int


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a trial came to, for one participant or for a company."""

    outcome: Outcome
    feedback: FeedbackKind | None
    score: Score | None
    played: PlayedCard | None

    def to_json(self, *, counts: bool) -> dict[str, Any]:
        """Return what is derived from the facts, as it stands in the log."""
        if self.played is None:
            assert self.score is not None
            return self.score.to_json()
        scores = [score.to_json() for score in self.played.scores]
        derived = scores[0] if len(scores) == 1 else {"players": scores}
        return derived | {"round": self.played.round_json() if counts else None}


class CardTrials:
    """Runs trials one by one, and writes the record of each.

    Parameters
    ----------
    settings, screens
        The study and what it shows.
    apparatus : Apparatus
        Renders what was not known before a trial.
    presenter : Presenter
        Shows the frames and collects the events.
    log : Recorder
        Takes the records.
    looks : mapping of (str or None) to Look
        What is shown before and after a card, by where the hat is.
    played_for : PlayedFor or None
        The cards that are played for; None where nobody does.

    Attributes
    ----------
    n_done : int
        The session's completed trials.
    """

    def __init__(
        self,
        settings: StudySettings,
        screens: Screens,
        *,
        apparatus: Apparatus,
        presenter: Presenter,
        log: Recorder,
        looks: Mapping[str | None, Look],
        played_for: PlayedFor | None,
    ) -> None:
        self.settings = settings
        self.screens = screens
        self.game: Game = screens.game
        self.apparatus = apparatus
        self.presenter = presenter
        self.log = log
        self.looks = looks
        self.played_for = played_for
        self.n_done = 0

    def run(
        self, trial: TrialPlan, block: BlockSettings, stimulus: Stimulus
    ) -> tuple[TrialFacts, Judgement]:
        """Show a card, await the response, say how it was, and put it on disk.

        Raises
        ------
        QuitRequested, ApparatusError
            What was known of the trial is on disk; if it was answered, as a completed one.
        """
        card = self.screens.card(stimulus)
        look = self.looks[stimulus.state.hat_over]
        marking = self.presenter.marking
        record = _planned(trial, block, stimulus, self.settings)
        if self.played_for is not None:
            record |= self._drawn_for_round(trial, stimulus, block)
        fixation_s = self.presenter.present(look.fixation)
        record["fixation_onset_s"] = fixation_s
        marking.begin_trial(trial.trial_index, fixation_s, self.presenter.events)
        try:
            self.presenter.hold(look.fixation, from_s=fixation_s, duration_s=trial.foreperiod_s)
            facts, frames_s = self._await_response(card, fixation_s, record)
        except (QuitRequested, ApparatusError):
            events = self.presenter.take_events()
            self.log.append("interrupted", {**record, "events": events, **marking.take()})
            raise
        stopped = self._after_response(facts, frames_s, stimulus, block, record, look)
        marking.end_trial()
        facts = dataclasses.replace(facts, events=tuple(self.presenter.events))
        judged = self._judge(facts, stimulus, block, record)
        self._write(record, facts, judged, counts=block.phase == "test")
        if judged.played is not None and self.played_for is not None and block.phase == "test":
            self.played_for.table = judged.played.table
        if stopped is not None:
            raise stopped
        return facts, judged

    def _await_response(
        self, card: Screen, fixation_s: float, record: dict[str, Any]
    ) -> tuple[TrialFacts, list[float]]:
        """Show the card until it is answered (and a second response had its time) or too late."""
        timing = self.settings.timing
        last_fixation_flip_s = self.presenter.flip_s
        onset_s = self.presenter.present(card, marks=[card_mark(record)])
        facts = TrialFacts(
            fixation_onset_s=fixation_s,
            onset_s=onset_s,
            deadline_s=timing.deadline_s,
            second_response_window_s=timing.second_response_window_s,
            events=tuple(self.presenter.events),
            held_at_onset=self.presenter.reader.held_at(onset_s, self.presenter.events),
        )
        record["onset_s"] = onset_s
        frames_s = [onset_s - last_fixation_flip_s]
        end_s = self._trial_end_s(facts)
        # The first flip at or after its end takes the card away, as stamps of flips tell it.
        frame_s = _NEXT_FLIP * self.presenter.frame_s
        while self.presenter.flip_s + frame_s < end_s:
            previous_s = self.presenter.flip_s
            self.presenter.present(card)
            frames_s.append(self.presenter.flip_s - previous_s)
            if len(self.presenter.events) > len(facts.events):
                facts = dataclasses.replace(facts, events=tuple(self.presenter.events))
                end_s = self._trial_end_s(facts)
        self._note_frames(record, frames_s)
        return facts, frames_s

    def _note_frames(self, record: dict[str, Any], frames_s: list[float]) -> None:
        """Say how steadily frames came, from the last without the card to the next without it."""
        record["n_dropped_frames"] = sum(f > DROPPED * self.presenter.frame_s for f in frames_s)
        record["longest_frame_s"] = max(frames_s)

    def _trial_end_s(self, facts: TrialFacts) -> float:
        """Return when all players have answered and had their time for a second response."""
        seats = self.played_for.company.seats if self.played_for else (None,)
        return max(self._answered_s(facts, seat) for seat in seats)

    def _answered_s(self, facts: TrialFacts, seat: int | None) -> float:
        presses = responses_in_time(facts, seat)
        if not presses:
            return facts.onset_s + facts.deadline_s
        first_s = presses[0].t_s
        if len(self.game.modes) == 1 and first_s >= facts.onset_s:
            return first_s  # There is no other mode to wait for.
        return max(first_s, facts.onset_s) + facts.second_response_window_s

    def _drawn_for_round(
        self, trial: TrialPlan, stimulus: Stimulus, block: BlockSettings
    ) -> dict[str, Any]:
        """Draw what the rival will do and who wins equal times, before the card is shown."""
        assert self.played_for is not None
        company, seed = self.played_for.company, self.played_for.seed
        rival = rival_attempts(
            company, stimulus, self.game, seed=seed, trial_index=trial.trial_index
        )
        return {
            "recycled": block.label == RECYCLED_BLOCK,
            "rival": [
                {"t_s": a.t_s, "mode": a.response.mode, "answer": a.response.answer} for a in rival
            ],
            "lot": list(lot_of(company, seed=seed, trial_index=trial.trial_index)),
        }

    def _judge(
        self,
        facts: TrialFacts,
        stimulus: Stimulus,
        block: BlockSettings,
        record: Mapping[str, Any],
    ) -> Judgement:
        """Score the trial from what is known of it so far."""
        if self.played_for is None:
            score = score_trial(facts, stimulus, self.game)
            return Judgement(
                Outcome(score.given, score.correct), _feedback_kind(score), score, None
            )
        played = play_card(
            facts,
            stimulus,
            self.game,
            self.played_for.company,
            table=self.played_for.table if block.phase == "test" else None,
            rival=read_rival(record),
            lot=tuple(record["lot"]),
        )
        alone = played.scores[0] if len(played.scores) == 1 else None
        return Judgement(played.outcome, _feedback_kind(alone) if alone else None, alone, played)

    def _after_response(
        self,
        facts: TrialFacts,
        frames_s: list[float],
        stimulus: Stimulus,
        block: BlockSettings,
        record: dict[str, Any],
        look: Look,
    ) -> QuitRequested | ApparatusError | None:
        """Take the card away and give feedback; what stops the session waits for the log."""
        record["feedback"] = record["feedback_onset_s"] = None
        record["offset_s"] = record["end_s"] = last_s = self.presenter.flip_s
        try:
            # One frame without a card, after which all that counts has been polled; a response in
            # the card's last frame still has its time for a second one.
            record["offset_s"] = record["end_s"] = self.presenter.present(look.blank)
            self._note_frames(record, [*frames_s, record["offset_s"] - last_s])
            polled = dataclasses.replace(facts, events=tuple(self.presenter.events))
            while self.presenter.flip_s < self._trial_end_s(polled) - _SAME_TIME_S:
                record["end_s"] = self.presenter.present(look.blank)
                polled = dataclasses.replace(facts, events=tuple(self.presenter.events))
            screen = self._feedback(
                self._judge(polled, stimulus, block, record), stimulus, block, look
            )
            if screen is not None:
                record["feedback"] = screen.name.removeprefix("feedback-")
                record["feedback_onset_s"] = self.presenter.present(screen)
                self.presenter.hold(
                    screen,
                    from_s=self.presenter.flip_s,
                    duration_s=self.settings.timing.feedback_s,
                )
                record["end_s"] = self.presenter.present(look.blank)
        except (QuitRequested, ApparatusError) as stopped:
            record["end_s"] = self.presenter.flip_s
            return stopped
        return None

    def _feedback(
        self, judged: Judgement, stimulus: Stimulus, block: BlockSettings, look: Look
    ) -> Screen | None:
        """Return what is said after the trial, if anything is."""
        show = self.settings.feedback.show
        if judged.played is not None and block.phase == "test":
            # It is rendered now, since whose card it is was not known before; the trial is over.
            assert self.played_for is not None
            screen = round_feedback(
                self.screens, judged.played, self.played_for.company, stimulus.state
            )
            self.apparatus.prepare([screen])
            return screen
        wanted = show == "always" or (show == "practice" and block.phase == "practice")
        return look.feedback[judged.feedback] if wanted and judged.feedback else None

    def _write(
        self, record: Mapping[str, Any], facts: TrialFacts, judged: Judgement, *, counts: bool
    ) -> None:
        self.log.append(
            "trial",
            {
                **record,
                "held_at_onset": list(facts.held_at_onset),
                "events": self.presenter.take_events(),
                **self.presenter.marking.take(),
                **judged.to_json(counts=counts),
            },
        )
        self.n_done += 1


def _planned(
    trial: TrialPlan, block: BlockSettings, stimulus: Stimulus, settings: StudySettings
) -> dict[str, Any]:
    return {
        "trial_index": trial.trial_index,
        "block_index": trial.block_index,
        "block_type": block.type,
        "phase": block.phase,
        "trial_in_block": trial.trial_in_block,
        "card": str(trial.card),
        "hat_over": stimulus.state.hat_over,
        "trials_since_hat_move": stimulus.state.trials_since_hat_move,
        **dataclasses.asdict(stimulus.solution),
        "foreperiod_requested_s": trial.foreperiod_s,
        "deadline_s": settings.timing.deadline_s,
        "second_response_window_s": settings.timing.second_response_window_s,
    }


def _feedback_kind(score: Score) -> FeedbackKind:
    if score.error_kind == "early":
        return "early"
    if score.error_kind == "late":
        return "late"
    return "right" if score.correct else "wrong"
