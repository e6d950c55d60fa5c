"""The trial loop, the only one there is; it sees protocols, never a window or a keyboard."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from ghostblitz_task.apparatus import Apparatus
from ghostblitz_task.company import Table
from ghostblitz_task.config import ApparatusSettings, BlockSettings, StudySettings
from ghostblitz_task.design import Plan, TrialPlan
from ghostblitz_task.errors import ApparatusError
from ghostblitz_task.event_meanings import card_event_reader
from ghostblitz_task.games import Game, GameState, Outcome, Stimulus
from ghostblitz_task.outline import BlockStep, PileStep, ScreenStep, outline
from ghostblitz_task.presenting import Presenter, QuitRequested, Recorder
from ghostblitz_task.round_screens import final_standings, round_feedback
from ghostblitz_task.rounds import (
    Company,
    PlayedCard,
    first_table,
    lot_of,
    play_card,
    read_rival,
    recycled_trial,
    rival_attempts,
)
from ghostblitz_task.scoring import Score, TrialFacts, responses_in_time, score_trial
from ghostblitz_task.screens import FeedbackKind, Screen, Screens
from ghostblitz_task.session_header import Resumed, SessionIdentity, session_header

__all__ = [
    "Recorder",
    "Resumed",
    "SessionIdentity",
    "SessionOutcome",
    "run_session",
]

Status = Literal["completed", "quit"]

#: The block of the cards that come again; it is none of the study's.
RECYCLED_BLOCK = "recycled"

# Times that differ by less are the same flip.
_SAME_TIME_S = 1e-6


@dataclass(frozen=True, slots=True)
class SessionOutcome:
    """How a run ended; `n_trials` counts the session's completed trials, earlier runs too.

    `unit` is what its trials are called.
    """

    status: Status
    n_trials: int
    unit: str = "trials"


@dataclass(frozen=True, slots=True)
class TablesMet:
    """What a session finds as it begins or goes on: what lies round the card, and whose cards."""

    state: GameState
    cards: Table | None = None


def run_session(
    settings: StudySettings,
    *,
    plan: Plan,
    screens: Screens,
    apparatus: Apparatus,
    apparatus_settings: ApparatusSettings,
    log: Recorder,
    identity: SessionIdentity,
    met: TablesMet | None = None,
    company: Company | None = None,
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
    met : TablesMet, optional
        The tables that a resumed session meets; null before its first card.
    company : Company, optional
        Who plays for the cards; null where nobody does.
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
    if met is None:
        met = TablesMet(plan.table, first_table(company, plan) if company else None)
    played_for = _PlayedFor(company, met.cards, identity.seed) if company and met.cards else None
    loop = _Loop(settings, plan, screens, apparatus, log, played_for, stop_requested, on_trial)
    header = session_header(settings, plan, apparatus, apparatus_settings, identity, started)
    header["company"] = company.header() if company else None
    log.append("header", header)
    try:
        return loop.run(identity.resumes, met.state)
    except ApparatusError as error:
        loop.end("failed", str(error))
        raise


@dataclass(frozen=True, slots=True)
class _Look:
    """The screens of a trial that depend on what lies on the table, but not on the card."""

    fixation: Screen
    blank: Screen
    feedback: Mapping[FeedbackKind, Screen]
    hat_moved: Screen | None


@dataclass(slots=True)
class _PlayedFor:
    """The cards that are played for: whose they are changes with each round."""

    company: Company
    table: Table
    seed: int


@dataclass(frozen=True, slots=True)
class _Judgement:
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


class _Loop:
    """One run: screens and trials, and the records of each."""

    def __init__(
        self,
        settings: StudySettings,
        plan: Plan,
        screens: Screens,
        apparatus: Apparatus,
        log: Recorder,
        played_for: _PlayedFor | None,
        stop_requested: Callable[[], str | None],
        on_trial: Callable[[int, int], None],
    ) -> None:
        self.settings = settings
        self.played_for = played_for
        self.plan = plan
        self.screens = screens
        self.game: Game = screens.game
        self.apparatus = apparatus
        self.log = log
        self.on_trial = on_trial
        self.n_done = 0
        # One look for each table there can be, so that all are rendered before the first trial.
        self.looks = {state.hat_over: self._look(state) for state in screens.tables()}
        self.presenter = Presenter(
            apparatus,
            log,
            card_event_reader(settings, screens),
            quit_key=settings.responses.quit_key,
            key_name=screens.key_name,
            stop_requested=stop_requested,
            first=self.looks[plan.table.hat_over].blank,
        )

    def _look(self, state: GameState) -> _Look:
        kinds: tuple[FeedbackKind, ...] = ("right", "wrong", "early", "late")
        return _Look(
            fixation=self.screens.fixation(state),
            blank=self.screens.blank(state),
            feedback={kind: self.screens.feedback(kind, state) for kind in kinds},
            hat_moved=self.screens.hat_moved(state) if state.hat_over else None,
        )

    # --- the session -------------------------------------------------------------------------

    def run(self, resumes: Resumed | None, state: GameState) -> SessionOutcome:
        first = resumes.n_trials if resumes else 0
        self.n_done = first
        try:
            for step in outline(self.plan, self.screens, first_trial=first):
                if isinstance(step, BlockStep):
                    self._begin_block(step.block_index, state)
                elif isinstance(step, ScreenStep):
                    self.presenter.self_paced(step.screen, again=step.again)
                    if step.block_begins and state.hat_over:
                        self._show_hat(state, trial_index=None, mover=None)
                elif isinstance(step, PileStep):
                    self._play_recycled(state)
                else:
                    state = self._trial(step, self.plan.blocks[step.block_index], state)
        except QuitRequested as request:
            self.end("quit", request.reason)
            return SessionOutcome("quit", self.n_done)
        self.presenter.await_releases()
        self.end("completed", None)
        return SessionOutcome("completed", self.n_done)

    def end(self, status: str, reason: str | None) -> None:
        """Write the last record, with the events that nothing else has taken."""
        self.log.append(
            "end",
            {
                "status": status,
                "reason": reason,
                "n_trials": self.n_done,
                "t_s": self.presenter.flip_s,
                "events": self.presenter.take_events(),
            },
        )

    def _play_recycled(self, state: GameState) -> None:
        """Play the cards that went back under the pile, in a block of their own after all others.

        There is none where nobody plays for the cards.
        """
        played_for = self.played_for
        if played_for is None:
            return
        block = BlockSettings(label=RECYCLED_BLOCK, n_trials=max(len(played_for.table.pile), 1))
        n_recycled = self.n_done - len(self.plan.trials)
        begun = False
        while played_for.table.pile and n_recycled < played_for.company.max_recycled:
            trial = recycled_trial(
                self.settings,
                self.plan,
                played_for.table,
                self.game,
                seed=played_for.seed,
                n_recycled=n_recycled,
            )
            if not begun:
                self._log_block(len(self.plan.blocks), block)
                self._prepare_looks()
                begun = True
            self.apparatus.prepare([self.screens.card(self.game.stimulus(trial.card, state))])
            state = self._trial(trial, block, state)
            n_recycled += 1
        standings = final_standings(self.screens, played_for.table, played_for.company)
        self.presenter.self_paced(standings)

    def _begin_block(self, block_index: int, state: GameState) -> None:
        self._log_block(block_index, self.plan.blocks[block_index])
        self._prepare_block(block_index, state)

    def _log_block(self, block_index: int, block: BlockSettings) -> None:
        self.log.append(
            "block",
            {
                "block_index": block_index,
                "label": block.label,
                "phase": block.phase,
                "block_type": block.type,
                "n_trials": block.n_trials,
                "t_s": self.presenter.flip_s,
            },
        )

    def _prepare_block(self, block_index: int, state: GameState) -> None:
        """Render every table and every card of a block; nothing is rendered during a trial."""
        cards = [
            self.screens.card(self.game.stimulus(trial.card, state))
            for trial in self.plan.trials_of(block_index)
        ]
        self._prepare_looks()
        self.apparatus.prepare(cards)

    def _prepare_looks(self) -> None:
        for look in self.looks.values():
            moved = [look.hat_moved] if look.hat_moved else []
            self.apparatus.prepare([look.fixation, look.blank, *look.feedback.values(), *moved])

    # --- trials ------------------------------------------------------------------------------

    def _trial(self, trial: TrialPlan, block: BlockSettings, state: GameState) -> GameState:
        stimulus = self.game.stimulus(trial.card, state)
        card = self.screens.card(stimulus)
        look = self.looks[state.hat_over]
        record = _planned(trial, block, stimulus, self.settings)
        if self.played_for is not None:
            record |= self._drawn_for_round(trial, stimulus, block)
        fixation_s = self.presenter.present(look.fixation)
        record["fixation_onset_s"] = fixation_s
        try:
            self.presenter.hold(look.fixation, from_s=fixation_s, duration_s=trial.foreperiod_s)
            facts = self._await_response(card, fixation_s, record)
        except (QuitRequested, ApparatusError):
            self.log.append("interrupted", {**record, "events": self.presenter.take_events()})
            raise
        stopped = self._after_response(facts, stimulus, block, record, look)
        facts = dataclasses.replace(facts, events=tuple(self.presenter.events))
        judged = self._judge(facts, stimulus, block, record)
        self._write(record, facts, judged, counts=block.phase == "test")
        if judged.played is not None and self.played_for is not None and block.phase == "test":
            self.played_for.table = judged.played.table
        if stopped is not None:
            raise stopped
        outcome = judged.outcome
        if choices := self.game.hat_choices(stimulus, outcome):
            after = self._move_hat(stimulus, judged, choices, trial.trial_index)
        else:
            after = self.game.advance(state, stimulus, outcome)
        self._between_trials(facts, self.looks[after.hat_over].blank)
        return after

    def _move_hat(
        self, stimulus: Stimulus, judged: _Judgement, choices: tuple[str, ...], trial_index: int
    ) -> GameState:
        """Put the hat over another item, chosen by who was right or by the schedule."""
        outcome, mover, seat = judged.outcome, self.game.hat_mover, self._seat(judged)
        if mover == "participant" and seat is None:
            mover = "schedule"  # A rival has no keys.
        if mover == "participant" and seat is not None:
            _, key = self.presenter.await_key(
                self.screens.hat_choice(stimulus.state, choices, seat=seat)
            )
            keys = self.settings.responses.players[seat].grab_keys
            chosen = next(item for item in choices if keys[item] == key)
            outcome = dataclasses.replace(outcome, hat_to=chosen)
        after = self.game.advance(stimulus.state, stimulus, outcome)
        self._show_hat(after, trial_index=trial_index, mover=mover)
        return after

    def _seat(self, judged: _Judgement) -> int | None:
        """Return who was right; None for a rival."""
        if judged.played is None or self.played_for is None:
            return 0
        players, winner = self.played_for.company.players, judged.played.result.winner
        return players.index(winner) if winner in players else None

    def _show_hat(self, state: GameState, *, trial_index: int | None, mover: str | None) -> None:
        """Show the hat going over its item, once it is there, and log it.

        `trial_index` is the trial that made it move; null where it only is shown again.
        """
        screen = self.looks[state.hat_over].hat_moved
        assert screen is not None
        onset_s = self.presenter.present(screen)
        self.presenter.hold(screen, from_s=onset_s, duration_s=self.settings.timing.hat_move_s)
        self.log.append(
            "hat",
            {
                "trial_index": trial_index,
                "mover": mover,
                "hat_over": state.hat_over,
                "onset_s": onset_s,
                "end_s": self.presenter.flip_s,
                "events": self.presenter.take_events(),
            },
        )

    def _await_response(
        self, card: Screen, fixation_s: float, record: dict[str, Any]
    ) -> TrialFacts:
        """Show the card until it is answered (and a second response had its time) or too late."""
        timing = self.settings.timing
        last_fixation_flip_s = self.presenter.flip_s
        onset_s = self.presenter.present(card)
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
        # The first flip at or after its end takes the card away.
        while self.presenter.flip_s + self.presenter.frame_s < end_s - _SAME_TIME_S:
            previous_s = self.presenter.flip_s
            self.presenter.present(card)
            frames_s.append(self.presenter.flip_s - previous_s)
            if len(self.presenter.events) > len(facts.events):
                facts = dataclasses.replace(facts, events=tuple(self.presenter.events))
                end_s = self._trial_end_s(facts)
        record["n_dropped_frames"] = sum(f > 1.5 * self.presenter.frame_s for f in frames_s)
        record["longest_frame_s"] = max(frames_s)
        return facts

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
    ) -> _Judgement:
        """Score the trial from what is known of it so far."""
        if self.played_for is None:
            score = score_trial(facts, stimulus, self.game)
            return _Judgement(
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
        return _Judgement(played.outcome, _feedback_kind(alone) if alone else None, alone, played)

    def _after_response(
        self,
        facts: TrialFacts,
        stimulus: Stimulus,
        block: BlockSettings,
        record: dict[str, Any],
        look: _Look,
    ) -> QuitRequested | ApparatusError | None:
        """Take the card away and give feedback; what stops the session waits for the log."""
        record["feedback"] = record["feedback_onset_s"] = None
        record["offset_s"] = record["end_s"] = self.presenter.flip_s
        try:
            # One frame without a card, after which all that counts has been polled; a response in
            # the card's last frame still has its time for a second one.
            record["offset_s"] = record["end_s"] = self.presenter.present(look.blank)
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
        self, judged: _Judgement, stimulus: Stimulus, block: BlockSettings, look: _Look
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
        self, record: Mapping[str, Any], facts: TrialFacts, judged: _Judgement, *, counts: bool
    ) -> None:
        self.log.append(
            "trial",
            {
                **record,
                "held_at_onset": list(facts.held_at_onset),
                "events": self.presenter.take_events(),
                **judged.to_json(counts=counts),
            },
        )
        self.n_done += 1

    def _between_trials(self, facts: TrialFacts, blank: Screen) -> None:
        began_s = self.presenter.flip_s
        self.apparatus.between_trials()
        self.on_trial(self.n_done, len(self.plan.trials))
        wants_pause = self._paused(facts)
        interval_s = self.settings.timing.inter_trial_interval_s
        self.presenter.hold(blank, from_s=began_s, duration_s=interval_s)
        if wants_pause or self._paused(None):
            self.presenter.self_paced(self.screens.pause())

    def _paused(self, facts: TrialFacts | None) -> bool:
        key = self.settings.responses.pause_key
        events = facts.events if facts is not None else tuple(self.presenter.events)
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
