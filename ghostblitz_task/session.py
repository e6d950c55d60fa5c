"""The trial loop, the only one there is; it sees protocols, never a window or a keyboard."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from ghostblitz_task.apparatus import Apparatus
from ghostblitz_task.config import ApparatusSettings, BlockSettings, StudySettings
from ghostblitz_task.design import Plan, TrialPlan
from ghostblitz_task.errors import ApparatusError
from ghostblitz_task.event_meanings import EventReader
from ghostblitz_task.games import Game, GameState, Outcome, Stimulus
from ghostblitz_task.outline import BlockStep, ScreenStep, outline
from ghostblitz_task.scoring import Score, TrialEvent, TrialFacts, responses_in_time, score_trial
from ghostblitz_task.screens import FeedbackKind, Patch, Screen, Screens, Words
from ghostblitz_task.session_header import Resumed, SessionIdentity, session_header

__all__ = [
    "Recorder",
    "Resumed",
    "SessionIdentity",
    "SessionOutcome",
    "run_session",
]

Status = Literal["completed", "quit"]

# Times that differ by less are the same flip.
_SAME_TIME_S = 1e-6
# A key that is held longer at the end of a session keeps no one waiting.
_RELEASE_TIMEOUT_S = 1.0


@dataclass(frozen=True, slots=True)
class SessionOutcome:
    """How a run ended; `n_trials` counts the session's completed trials, earlier runs too."""

    status: Status
    n_trials: int


class Recorder(Protocol):
    """Keeps records; what `append` was given is on disk when it returns."""

    def append(self, record_type: str, record: Mapping[str, Any]) -> None:
        """Write one record; `LogError` if it cannot be kept."""
        ...


class _QuitRequested(Exception):  # noqa: N818 - control flow, never seen by a caller
    """The participant pressed the quit key, or the program was told to stop."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def run_session(
    settings: StudySettings,
    *,
    plan: Plan,
    screens: Screens,
    apparatus: Apparatus,
    apparatus_settings: ApparatusSettings,
    log: Recorder,
    identity: SessionIdentity,
    started: datetime | None = None,
    stop_requested: Callable[[], str | None] = lambda: None,
    on_trial: Callable[[int, int], None] = lambda _done, _planned: None,
) -> SessionOutcome:
    """Run one session and log everything that happens in it.

    Parameters
    ----------
    settings, plan, screens
        The study, its trial sequence, and what it shows.
    apparatus, apparatus_settings
        Where it runs.
    log : Recorder
        A new, empty log.
    identity : SessionIdentity
        Goes into the header. With `resumes`, the trials that run completed are left out.
    started : datetime, optional
        Wall-clock time for the header; null leaves it out, so that simulated logs repeat.
    stop_requested : callable
        Asked at each frame; a reason ends the session as the quit key does.
    on_trial : callable
        Called between trials with the number of trials done and planned.

    Raises
    ------
    LogError
        If a record cannot be written; all earlier ones are kept.
    ApparatusError
        If screen or keyboard fails; the log says so.
    """
    loop = _Loop(settings, plan, screens, apparatus, log, stop_requested, on_trial)
    header = session_header(settings, plan, apparatus, apparatus_settings, identity, started)
    log.append("header", header)
    try:
        return loop.run(identity.resumes)
    except ApparatusError as error:
        loop.end("failed", str(error))
        raise


class _Loop:
    """One run: screens, trials, and the events that belong to each."""

    def __init__(
        self,
        settings: StudySettings,
        plan: Plan,
        screens: Screens,
        apparatus: Apparatus,
        log: Recorder,
        stop_requested: Callable[[], str | None],
        on_trial: Callable[[int, int], None],
    ) -> None:
        self.settings = settings
        self.plan = plan
        self.screens = screens
        self.game: Game = screens.game
        self.apparatus = apparatus
        self.log = log
        self.stop_requested = stop_requested
        self.on_trial = on_trial
        self.frame_s = 1.0 / apparatus.refresh_hz
        self.events: list[TrialEvent] = []
        self.reader = EventReader(settings, screens)
        self.flip_s = 0.0
        self.n_done = 0
        self.patch: Patch = "waiting-next"
        self.blank = self.shown = screens.blank()
        self.fixation = screens.fixation()
        kinds: tuple[FeedbackKind, ...] = ("right", "wrong", "early", "late")
        self.feedback = {kind: screens.feedback(kind) for kind in kinds}

    # --- the session -------------------------------------------------------------------------

    def run(self, resumes: Resumed | None) -> SessionOutcome:
        first = resumes.n_trials if resumes else 0
        self.n_done = first
        state = self.game.initial_state()
        try:
            for step in outline(self.plan, self.screens, first_trial=first):
                if isinstance(step, BlockStep):
                    self._begin_block(step.block_index)
                elif isinstance(step, ScreenStep):
                    self._self_paced(step.screen, again=step.again)
                else:
                    state = self._trial(step, self.plan.blocks[step.block_index], state)
        except _QuitRequested as request:
            self.end("quit", request.reason)
            return SessionOutcome("quit", self.n_done)
        self._await_releases()
        self.end("completed", None)
        return SessionOutcome("completed", self.n_done)

    def _await_releases(self) -> None:
        """Keep the last screen until the key that ended it is up, so that its event is kept."""
        until_s = self.flip_s + _RELEASE_TIMEOUT_S
        # All is done, so a wish to end it now changes nothing.
        with contextlib.suppress(_QuitRequested):
            while self.reader.down and self.flip_s < until_s:
                self._present(self.shown)

    def end(self, status: str, reason: str | None) -> None:
        """Write the last record, with the events that nothing else has taken."""
        self.log.append(
            "end",
            {
                "status": status,
                "reason": reason,
                "n_trials": self.n_done,
                "t_s": self.flip_s,
                "events": self._take_events(),
            },
        )

    def _begin_block(self, block_index: int) -> None:
        block = self.plan.blocks[block_index]
        self.log.append(
            "block",
            {
                "block_index": block_index,
                "label": block.label,
                "phase": block.phase,
                "block_type": block.type,
                "n_trials": block.n_trials,
                "t_s": self.flip_s,
            },
        )
        self._prepare_block(block_index)

    def _prepare_block(self, block_index: int) -> None:
        """Render every card of a block; nothing is rendered during a trial."""
        table = self.game.initial_state()
        cards = [
            self.screens.card(self.game.stimulus(trial.card, table))
            for trial in self.plan.trials_of(block_index)
        ]
        self.apparatus.prepare([self.fixation, self.blank, *self.feedback.values(), *cards])

    # --- frames and events -------------------------------------------------------------------

    def _present(self, screen: Screen) -> float:
        """Show one frame, collect the events until then, and return the time of the flip."""
        self.shown = screen
        self.flip_s = self.apparatus.present(screen)
        self._collect()
        return self.flip_s

    def _collect(self) -> None:
        new = self.apparatus.events()
        reason = self.stop_requested()
        if not new and reason is None:
            return
        self.events.extend(self.reader.read(event) for event in new)
        quit_key = self.settings.responses.quit_key
        if reason is None and any(e.kind == "press" and e.key == quit_key for e in new):
            reason = "quit key"
        if reason is not None:
            raise _QuitRequested(reason)

    def _take_events(self) -> list[dict[str, Any]]:
        taken, self.events = self.events, []
        return [event.to_json() for event in taken]

    def _hold(self, screen: Screen, *, from_s: float, duration_s: float) -> None:
        """Keep a screen until the next flip is the one nearest to the end of its duration."""
        until_s = from_s + duration_s
        while self.flip_s + 1.5 * self.frame_s <= until_s:
            self._present(screen)

    # --- self-paced screens ------------------------------------------------------------------

    def _self_paced(self, screen: Screen, *, again: Screen | None = None) -> None:
        """Show a screen until its key goes down; `again` is what a wrong key brings."""
        # The greys of the corner patch take turns, so that a watcher sees each new screen.
        patch: Patch = "waiting-next" if self.patch == "waiting" else "waiting"
        self.patch = patch
        screen = dataclasses.replace(screen, patch=patch)
        self.apparatus.prepare([screen])
        onset_s = self._present(screen)
        # What was seen may have been seen before its flip returned; a press that ended the screen
        # before is older.
        since_s = onset_s - self.frame_s
        n_wrong = 0
        while not self._pressed(screen.awaits_key, since_s=since_s):
            wrong = self._wrong_keys(screen.awaits_key, since_s=since_s)
            if again is not None and len(wrong) > n_wrong:
                n_wrong = len(wrong)
                screen = _with_pressed(again, self.screens.key_name(wrong[-1]), patch)
                self.apparatus.prepare([screen])
            self._present(screen)
        self.log.append(
            "screen",
            {
                "name": screen.name,
                "onset_s": onset_s,
                "end_s": self.flip_s,
                "events": self._take_events(),
            },
        )

    def _pressed(self, key: str | None, *, since_s: float) -> bool:
        return any(
            e.kind == "press" and e.key == key and not e.repeated and e.t_s >= since_s
            for e in self.events
        )

    def _wrong_keys(self, key: str | None, *, since_s: float) -> list[str]:
        return [
            e.key
            for e in self.events
            if e.kind == "press" and e.device != "pointer" and e.key != key and e.t_s >= since_s
        ]

    # --- trials ------------------------------------------------------------------------------

    def _trial(self, trial: TrialPlan, block: BlockSettings, state: GameState) -> GameState:
        stimulus = self.game.stimulus(trial.card, state)
        card = self.screens.card(stimulus)
        record = _planned(trial, block, stimulus, self.settings)
        fixation_s = self._present(self.fixation)
        record["fixation_onset_s"] = fixation_s
        try:
            self._hold(self.fixation, from_s=fixation_s, duration_s=trial.foreperiod_s)
            facts = self._await_response(card, fixation_s, record)
        except (_QuitRequested, ApparatusError):
            self.log.append("interrupted", {**record, "events": self._take_events()})
            raise
        stopped = self._after_response(facts, stimulus, block, record)
        facts = dataclasses.replace(facts, events=tuple(self.events))
        score = score_trial(facts, stimulus, self.game)
        self._write(record, facts, score)
        if stopped is not None:
            raise stopped
        self._between_trials(facts)
        outcome = Outcome(score.given, score.correct)
        return self.game.advance(state, stimulus, outcome)

    def _await_response(
        self, card: Screen, fixation_s: float, record: dict[str, Any]
    ) -> TrialFacts:
        """Show the card until it is answered (and a second response had its time) or too late."""
        timing = self.settings.timing
        last_fixation_flip_s = self.flip_s
        onset_s = self._present(card)
        facts = TrialFacts(
            fixation_onset_s=fixation_s,
            onset_s=onset_s,
            deadline_s=timing.deadline_s,
            second_response_window_s=timing.second_response_window_s,
            events=tuple(self.events),
            held_at_onset=self.reader.held_at(onset_s, self.events),
        )
        record["onset_s"] = onset_s
        frames_s = [onset_s - last_fixation_flip_s]
        end_s = self._trial_end_s(facts)
        # The first flip at or after its end takes the card away.
        while self.flip_s + self.frame_s < end_s - _SAME_TIME_S:
            previous_s = self.flip_s
            self._present(card)
            frames_s.append(self.flip_s - previous_s)
            if len(self.events) > len(facts.events):
                facts = dataclasses.replace(facts, events=tuple(self.events))
                end_s = self._trial_end_s(facts)
        record["n_dropped_frames"] = sum(f > 1.5 * self.frame_s for f in frames_s)
        record["longest_frame_s"] = max(frames_s)
        return facts

    def _trial_end_s(self, facts: TrialFacts) -> float:
        presses = responses_in_time(facts)
        if not presses:
            return facts.onset_s + facts.deadline_s
        first_s = presses[0].t_s
        if len(self.game.modes) == 1 and first_s >= facts.onset_s:
            return first_s  # There is no other mode to wait for.
        return max(first_s, facts.onset_s) + facts.second_response_window_s

    def _after_response(
        self, facts: TrialFacts, stimulus: Stimulus, block: BlockSettings, record: dict[str, Any]
    ) -> _QuitRequested | ApparatusError | None:
        """Take the card away and give feedback; what stops the session waits for the log."""
        show = self.settings.feedback.show
        record["feedback"] = record["feedback_onset_s"] = None
        record["offset_s"] = record["end_s"] = self.flip_s
        try:
            # One frame without a card, after which all that counts has been polled; a response in
            # the card's last frame still has its time for a second one.
            record["offset_s"] = record["end_s"] = self._present(self.blank)
            polled = dataclasses.replace(facts, events=tuple(self.events))
            while self.flip_s < self._trial_end_s(polled) - _SAME_TIME_S:
                record["end_s"] = self._present(self.blank)
                polled = dataclasses.replace(facts, events=tuple(self.events))
            if show == "always" or (show == "practice" and block.phase == "practice"):
                kind = _feedback_kind(score_trial(polled, stimulus, self.game))
                record["feedback"] = kind
                record["feedback_onset_s"] = self._present(self.feedback[kind])
                duration_s = self.settings.timing.feedback_s
                self._hold(self.feedback[kind], from_s=self.flip_s, duration_s=duration_s)
                record["end_s"] = self._present(self.blank)
        except (_QuitRequested, ApparatusError) as stopped:
            record["end_s"] = self.flip_s
            return stopped
        return None

    def _write(self, record: Mapping[str, Any], facts: TrialFacts, score: Score) -> None:
        self.log.append(
            "trial",
            {
                **record,
                "held_at_onset": list(facts.held_at_onset),
                "events": self._take_events(),
                **score.to_json(),
            },
        )
        self.n_done += 1

    def _between_trials(self, facts: TrialFacts) -> None:
        began_s = self.flip_s
        self.apparatus.between_trials()
        self.on_trial(self.n_done, len(self.plan.trials))
        wants_pause = self._paused(facts)
        interval_s = self.settings.timing.inter_trial_interval_s
        self._hold(self.blank, from_s=began_s, duration_s=interval_s)
        if wants_pause or self._paused(None):
            self._self_paced(self.screens.pause())

    def _paused(self, facts: TrialFacts | None) -> bool:
        key = self.settings.responses.pause_key
        events = facts.events if facts is not None else tuple(self.events)
        return any(e.kind == "press" and e.key == key for e in events)


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


def _with_pressed(screen: Screen, pressed: str, patch: Patch) -> Screen:
    """Fill the name of the key that was pressed into a screen."""
    elements = tuple(
        dataclasses.replace(e, text=e.text.replace("{pressed}", pressed))
        if isinstance(e, Words)
        else e
        for e in screen.elements
    )
    return dataclasses.replace(screen, elements=elements, patch=patch)
