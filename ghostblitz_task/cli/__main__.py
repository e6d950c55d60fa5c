"""What `python -m ghostblitz_task.cli` runs."""

from ghostblitz_task.cli import main

main()
