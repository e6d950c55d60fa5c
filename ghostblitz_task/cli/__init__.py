"""The `ghostblitz` command; it imports what a command needs when it runs, and catches errors."""

from ghostblitz_task.cli import cards, data, sessions, timing  # noqa: F401 - each adds its commands
from ghostblitz_task.cli.app import app, main

__all__ = ["app", "main"]
