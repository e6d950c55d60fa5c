"""The grid of a multiverse: for each decision of an analysis, the options that could be defended.

What the data set's own settings say is always among the options; the grid names the alternatives.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from ghostblitz_analysis.exclusion_settings import MadTrim, SdTrim, VanSelstJolicoeurTrim
from ghostblitz_task.games import suggestion
from ghostblitz_task.settings_files import Settings

__all__ = [
    "AS_SET",
    "AfterErrorsOption",
    "LeaveOut",
    "Model",
    "MultiverseGrid",
    "PermutationSettings",
    "Sign",
    "Transform",
    "Trim",
    "TrimmingRule",
    "grid_toml",
    "option_code",
    "read_trimming",
]

#: The option of every decision that is the data set's own.
AS_SET = "as_set"

Transform = Literal["log", "seconds", "inverse", "median"]
Model = Literal["paired_t", "lmm", "lmm_items"]
AfterErrorsOption = Literal["kept", "left_out"]
Sign = Literal["positive", "negative"]
Trim = SdTrim | MadTrim | VanSelstJolicoeurTrim

_NUMBER = r"(\d+(?:\.\d+)?)"
_BOUNDS = re.compile(rf"bounds_{_NUMBER}_{_NUMBER}")
_SPREAD = re.compile(rf"(sd|mad)_{_NUMBER}")
_VAN_SELST: Mapping[str, Trim] = MappingProxyType(
    {
        "van_selst_jolicoeur_nonrecursive": VanSelstJolicoeurTrim(
            step="van_selst_jolicoeur", method="nonrecursive"
        ),
        "van_selst_jolicoeur_modified_recursive": VanSelstJolicoeurTrim(step="van_selst_jolicoeur"),
    }
)
_EXAMPLES = (AS_SET, "none", "bounds", "bounds_0.15_3", "sd_2.5", "mad_2.5", *_VAN_SELST)


@dataclass(frozen=True, slots=True)
class TrimmingRule:
    """What an option of trimming says.

    Attributes
    ----------
    bounds : str or (float, float) or None
        ``as_set``, the bounds in seconds, or null for no bounds.
    steps : tuple of SdTrim, MadTrim or VanSelstJolicoeurTrim
        In the order in which they are made, each within participants and cells.
    """

    bounds: Literal["as_set"] | tuple[float, float] | None
    steps: tuple[Trim, ...]


def read_trimming(option: str) -> TrimmingRule:
    """Read an option of trimming, such as ``none``, ``sd_2.5`` or ``bounds_0.2_3+mad_3``.

    Raises
    ------
    ValueError
        If it, or a part of it, is not known.
    """
    if option == "none":
        return TrimmingRule(None, ())
    bounds: Literal["as_set"] | tuple[float, float] | None = None
    steps: list[Trim] = []
    for part in option.split("+"):
        if part == "bounds" or _BOUNDS.fullmatch(part):
            if bounds is not None:
                raise ValueError(f"{option!r} names bounds twice")
            bounds = _read_bounds(part)
        else:
            steps.append(_read_trim(part))
    return TrimmingRule(bounds, tuple(steps))


def _read_bounds(part: str) -> Literal["as_set"] | tuple[float, float]:
    found = _BOUNDS.fullmatch(part)
    if found is None:
        return "as_set"
    low, high = float(found[1]), float(found[2])
    if low >= high:
        raise ValueError(f"{part!r} has no lower bound below its upper one")
    return low, high


def _read_trim(part: str) -> Trim:
    if part in _VAN_SELST:
        return _VAN_SELST[part]
    found = _SPREAD.fullmatch(part)
    if found is None:
        near = suggestion(part, _EXAMPLES)
        known = f"there are {', '.join(_EXAMPLES)}, and several of them joined by +"
        raise ValueError(f"{part!r} is no rule for trimming{near or f'; {known}'}")
    limit = float(found[2])
    if limit == 0:
        raise ValueError(f"{part!r} would take every RT out")
    if found[1] == "sd":
        return SdTrim(step="sd", n_sd=limit)
    return MadTrim(step="mad", n_mad=limit)


def _known_trimming(option: str) -> str:
    if option != AS_SET:
        read_trimming(option)
    return option


_TrimmingOption = Annotated[str, AfterValidator(_known_trimming)]


class LeaveOut(Settings):
    """Combinations that nobody would defend, and why.

    Attributes
    ----------
    reason : str
        In words; it stands in the list of what was left out.
    trimming, first_trials, after_errors, min_p_correct, transform, model
        The options, as the grid or ``as_set`` names them, of which a combination must have all
        that are stated.
    """

    reason: str = Field(min_length=1)
    trimming: _TrimmingOption | None = None
    first_trials: str | None = None
    after_errors: Literal["as_set", "kept", "left_out"] | None = None
    min_p_correct: str | None = None
    transform: Transform | None = None
    model: Model | None = None

    @model_validator(mode="after")
    def _names_an_option(self) -> LeaveOut:
        if not self.options:
            names = [name for name in LeaveOut.model_fields if name != "reason"]
            raise ValueError(f"names no option; give one of {', '.join(names)}")
        return self

    @property
    def options(self) -> dict[str, str]:
        """The options that are stated, by decision."""
        return {k: v for k, v in self.model_dump(exclude={"reason"}).items() if v is not None}


class PermutationSettings(Settings):
    """The sign-flip test of the whole curve.

    Attributes
    ----------
    n : int
        Random sets of signs; all of them are gone through where there are no more than that.
        0 for no test.
    seed : int
        Of the signs; the same seed gives the same figures.
    """

    n: int = Field(default=5000, ge=0)
    seed: int = Field(default=20261130, ge=0)


class MultiverseGrid(Settings):
    """Alternatives to what the settings say, decision by decision.

    Attributes
    ----------
    trimming : tuple of str
        Which RTs are trimmed, in place of the bounds and all trimming of the settings: ``none``,
        ``bounds`` (as set), ``bounds_LOW_HIGH`` (s), ``sd_N``, ``mad_N``,
        ``van_selst_jolicoeur_nonrecursive``, ``van_selst_jolicoeur_modified_recursive``, or
        several joined by ``+``.
    first_trials : tuple of int
        Trials at the start of each block that are left out.
    after_errors : tuple of str
        Whether trials after errors are ``kept`` or ``left_out``.
    min_p_correct : tuple of float
        Accuracy below which a participant is left out, in place of all limits of the settings;
        0 for no limit.
    transforms : tuple of str
        ``log`` RT, RT in ``seconds``, ``inverse`` (-1/RT), ``median`` RT.
    models : tuple of str
        ``paired_t`` on participants' cells; ``lmm``, a linear mixed model over single trials;
        ``lmm_items``, one in which targets cross with participants.
    mixed_models_over : str
        Mixed models are fitted with every combination of exclusions (``all``), with every rule for
        trimming and the other exclusions as set (``trimming``), or only as set (``as_set``).
    leave_out : tuple of LeaveOut
        Combinations that are not made.
    expected_sign : dict of str to str
        By the contrast's name ``positive`` or ``negative``; others are compared with the sign of
        the analysis as set.
    permutation : PermutationSettings
        The test of the whole curve.
    """

    trimming: tuple[_TrimmingOption, ...] = (
        *("none", "bounds", "sd_2", "sd_2.5", "sd_3", "mad_2.5", "mad_3"),
        *_VAN_SELST,
    )
    first_trials: tuple[Annotated[int, Field(ge=0)], ...] = (0, 1)
    after_errors: tuple[AfterErrorsOption, ...] = ("kept", "left_out")
    min_p_correct: tuple[Annotated[float, Field(ge=0, le=1)], ...] = (0.0, 0.8)
    transforms: tuple[Transform, ...] = Field(
        default=("log", "seconds", "inverse", "median"), min_length=1
    )
    models: tuple[Model, ...] = Field(default=("paired_t", "lmm", "lmm_items"), min_length=1)
    mixed_models_over: Literal["as_set", "trimming", "all"] = "trimming"
    leave_out: tuple[LeaveOut, ...] = ()
    expected_sign: dict[str, Sign] = Field(default_factory=dict)
    permutation: PermutationSettings = PermutationSettings()

    @model_validator(mode="after")
    def _leaves_out_what_there_is(self) -> MultiverseGrid:
        for number, rule in enumerate(self.leave_out):
            for decision, option in rule.options.items():
                known = self.codes(decision)
                if option not in known:
                    near = suggestion(option, known) or f"; there are {', '.join(known)}"
                    raise ValueError(
                        f"leave_out.{number}.{decision}: {option!r} is no option of the grid{near}"
                    )
        return self

    def codes(self, decision: str) -> tuple[str, ...]:
        """Name the options of a decision as its column in the results does."""
        stated = {"transform": self.transforms, "model": self.models}.get(decision)
        if stated is not None:
            return stated
        return (AS_SET, *map(option_code, self.model_dump()[decision]))


def option_code(option: str | float) -> str:
    """Write an option of the grid as it stands in the results."""
    return f"{option:g}" if isinstance(option, float) else str(option)


_COMMENTS = {
    "trimming": "RTs that are trimmed; what the data set's settings say is always an option, too.\n"
    "# Also bounds_LOW_HIGH in seconds, and several joined by +: bounds_0.2_3+sd_2.5",
    "first_trials": "Trials at the start of each block that are left out.",
    "after_errors": "Trials after errors.",
    "min_p_correct": "Accuracy below which a participant is left out; 0 for no limit.",
    "transforms": "What stands for RT; medians are of cells, so they are for paired_t only.",
    "models": "Mixed models are of single trials: of log RT and of -1/RT.",
    "mixed_models_over": "Exclusions under which mixed models are fitted: all, trimming or as_set.",
}


def grid_toml(grid: MultiverseGrid) -> str:
    """Write a grid as TOML that reads back as the same grid."""
    values = grid.model_dump(mode="json")
    lines = ["# The grid of a multiverse: ghostblitz multiverse DATASET --out FOLDER --grid FILE"]
    for name, comment in _COMMENTS.items():
        lines += ["", f"# {comment}", f"{name} = {json.dumps(values[name], ensure_ascii=False)}"]
    lines += ["", "# The sign-flip test of the whole curve."]
    lines += _table("[permutation]", values["permutation"])
    if values["expected_sign"]:
        signs = values["expected_sign"].items()
        lines += _table("[expected_sign]", {json.dumps(k, ensure_ascii=False): v for k, v in signs})
    for left_out in values["leave_out"]:
        stated = {key: value for key, value in left_out.items() if value is not None}
        lines += ["", *_table("[[leave_out]]", stated)]
    return "\n".join(lines) + "\n"


def _table(header: str, values: Mapping[str, object]) -> list[str]:
    return [header, *(f"{k} = {json.dumps(v, ensure_ascii=False)}" for k, v in values.items())]
