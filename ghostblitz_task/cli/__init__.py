"""The `ghostblitz` command; it imports what a command needs when it runs, and catches errors."""

from ghostblitz_task.cli import (  # noqa: F401 - each adds its commands
    cards,
    data,
    exports,
    sessions,
    timing,
)
from ghostblitz_task.cli.app import app, main

__all__ = ["app", "main"]
