"""The page of one timing self-test: verdicts, what to do, plots, and a paragraph to quote."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ghostblitz_analysis.card_examples import inline_svg
from ghostblitz_analysis.figures import PNG_DPI, figure_svg
from ghostblitz_analysis.page_templates import page_templates
from ghostblitz_analysis.plot_axes import SMALL_PT
from ghostblitz_analysis.report_tables import ReportTable
from ghostblitz_analysis.timing_plots import (
    plot_disk_times,
    plot_draw_times,
    plot_flip_course,
    plot_flip_histogram,
    plot_rt_errors,
)
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.timing.record import read_record

__all__ = ["render_timing_page", "timing_figures", "write_timing_page"]

_WIDTH_IN = 6.4
_FEW_RTS = 2


def write_timing_page(record_path: Path) -> Path:
    """Draw a self-test's plots as SVG and PNG, and its page, beside its record.

    What an earlier call wrote is replaced, since it is made of the record alone.

    Returns
    -------
    Path
        The page: HTML that loads nothing from anywhere.

    Raises
    ------
    DatasetError
        If the record cannot be read or lacks something, or the files cannot be written.
    """
    record = read_record(record_path)
    try:
        figures = timing_figures(record)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise DatasetError(f"{record_path}: its figures cannot be drawn ({error!r})") from error
    svgs = {name: figure_svg(figure) for name, figure in figures.items()}
    page = record_path.with_suffix(".html")
    try:
        for name, figure in figures.items():
            stem = record_path.with_name(f"{record_path.stem}-{name}")
            with _replacing(stem.with_suffix(".svg")) as path:
                path.write_text(svgs[name], encoding="utf-8")
            with _replacing(stem.with_suffix(".png")) as path:
                figure.savefig(path, dpi=PNG_DPI, format="png")
        with _replacing(page) as path:
            path.write_text(render_timing_page(record, svgs), encoding="utf-8")
    except OSError as error:
        raise DatasetError(f"{page.parent} cannot be written: {error.strerror}") from error
    return page


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """Give a file that takes this one's place when it is whole."""
    partial = path.with_name(f".{secrets.token_hex(4)}.partial")
    try:
        yield partial
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def timing_figures(record: Mapping[str, Any]) -> dict[str, Figure]:
    """Draw every figure of a self-test.

    Returns
    -------
    dict of str to Figure
        ``flips``, ``drawing``, ``disk``; ``rt-error`` where keys were injected.
    """
    measured = record["measured"]
    flips, injection = measured["flips"], measured["injection"]
    figures = {
        "flips": _figure(
            4.6,
            lambda ax: plot_flip_course(flips, ax),
            lambda ax: plot_flip_histogram(flips, ax),
        ),
        "drawing": _figure(
            2.7,
            lambda ax: plot_draw_times(measured["draw"], ax, frame_s=1 / flips["expected_hz"]),
        ),
        "disk": _figure(2.3, lambda ax: plot_disk_times(measured["disk"], ax)),
    }
    if injection is not None and len(injection["rt_error_s"]) >= _FEW_RTS:
        figures["rt-error"] = _figure(2.6, lambda ax: plot_rt_errors(injection, ax))
    return figures


def _figure(height_in: float, *plots: Callable[[Axes], Axes]) -> Figure:
    figure = Figure(figsize=(_WIDTH_IN, height_in), layout="constrained")
    axes = figure.subplots(len(plots), 1, squeeze=False)[:, 0]
    for ax, plot in zip(axes, plots, strict=True):
        plot(ax)
        handles, labels = ax.get_legend_handles_labels()
        if labels:
            ax.legend(
                handles, labels, frameon=False, fontsize=SMALL_PT, ncols=len(labels),
                loc="lower left", bbox_to_anchor=(0, 1.0), borderaxespad=0.2,
                columnspacing=1.4, handlelength=1.6,
            )  # fmt: skip
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


def render_timing_page(record: Mapping[str, Any], figures_svg: Mapping[str, str]) -> str:
    """Return the page; every text of the record is escaped."""
    checks = record["checks"]
    return (
        page_templates()
        .get_template("timing.html.j2")
        .render(
            record=record,
            verdict=record["verdict"],
            checks=checks,
            advice=[check for check in checks if check["verdict"] in ("fail", "warn")],
            figures={name: inline_svg(name, svg) for name, svg in figures_svg.items()},
            facts=_facts(record),
        )
    )


def _facts(record: Mapping[str, Any]) -> ReportTable:
    """Return what the machine and its settings were, as a table."""
    apparatus, disk = record["apparatus"], record["measured"]["disk"]
    rows = {
        "Software": ", ".join(f"{name} {v}" for name, v in record["software"].items()),
        "System": apparatus.get("platform"),
        "Display server": apparatus.get("display_server"),
        "Drawn by": apparatus.get("gl_renderer"),
        "Window": _window(apparatus),
        "Process priority": apparatus.get("process_priority"),
        "Keyboard": apparatus.get("key_backend"),
        "Keyboard layout": apparatus.get("keyboard_layout"),
        "File system": disk.get("file_system"),
        "Processors": record.get("n_processors"),
    }
    found = tuple((name, str(value)) for name, value in rows.items() if value)
    return ReportTable(("What", "Which"), found, n_left=2)


def _window(apparatus: Mapping[str, Any]) -> str:
    size = apparatus.get("window_px")
    if not size:
        return ""
    whole = "whole screen" if apparatus.get("fullscreen") else "window"
    return f"{whole}, {size[0]} x {size[1]} pixels"
