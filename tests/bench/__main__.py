"""`python -m tests.bench`: run the bench, and write table and plot into the docs."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Any

import numpy as np

from ghostblitz_task.virtual_display import VirtualDisplay, virtual_display
from tests.bench.machine import describe_machine
from tests.bench.page import write_page
from tests.bench.peers import PEERS, Peer
from tests.bench.rig import WINDOW_PX, BlockFailed, run_block

_ROOT = Path(__file__).resolve().parents[2]
_RESULTS = _ROOT / ".bench" / "results"
_LOADS = ("idle", "busy")
_N_TRIES = 2


def main() -> None:
    """Do what the command line asks for."""
    asked = _parse()
    # Ended by a signal, the bench ends what it began.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
    results = asked.page_from or _run(asked)
    if not asked.no_page:
        for path in write_page(results, _ROOT / "docs"):
            print(f"wrote {path.relative_to(_ROOT)}")


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench-timing", description=__doc__)
    parser.add_argument("--trials", type=int, default=204, help="per peer and load (%(default)s)")
    parser.add_argument("--rounds", type=int, help="parts of these (default: about 50 trials each)")
    parser.add_argument("--seed", type=int, default=1, help="of everything (%(default)s)")
    parser.add_argument(
        "--peers", help="only these, with commas: " + ",".join(p.name for p in PEERS)
    )
    parser.add_argument("--no-page", action="store_true", help="leave the docs as they are")
    parser.add_argument("--page-from", type=Path, metavar="RESULTS", help="only write the docs")
    asked = parser.parse_args()
    if asked.trials < 1 or (asked.rounds is not None and asked.rounds < 1):
        parser.error("--trials and --rounds are at least 1")
    known = {peer.name for peer in PEERS}
    if unknown := set((asked.peers or "").split(",")) - known - {""}:
        parser.error(f"no such peer: {', '.join(sorted(unknown))}")
    return asked


def _run(asked: argparse.Namespace) -> Path:
    wanted = asked.peers.split(",") if asked.peers else [peer.name for peer in PEERS]
    n_rounds = asked.rounds or max(1, round(asked.trials / 50))
    n_trials = -(-asked.trials // n_rounds)
    peers, not_run = [], {}
    for peer in PEERS:
        missing = peer.missing() if peer.name in wanted else "left out on the command line"
        if missing is None:
            peers.append(peer)
        else:
            not_run[peer.name] = missing
            print(f"{peer.label} is not run: {missing}", flush=True)
    now = datetime.now(timezone.utc)
    _RESULTS.mkdir(parents=True, exist_ok=True)
    path = _RESULTS / f"{now:%Y%m%d-%H%M%S}.jsonl"
    started_s = time.monotonic()
    with virtual_display(WINDOW_PX) as xvfb, open(path, "x", encoding="utf-8") as file:
        about = {"date": f"{now:%Y-%m-%d}", "seed": asked.seed, "n_rounds": n_rounds}
        about |= {"n_per_block": n_trials, "machine": describe_machine(), "not_run": not_run}
        _write(file, {"type": "run", **about})
        for round_index in range(n_rounds):
            _round(round_index, peers, n_trials, asked.seed, xvfb, file)
        _write(file, {"type": "end", "minutes": (time.monotonic() - started_s) / 60})
    print(f"{(time.monotonic() - started_s) / 60:.1f} minutes; {path.relative_to(_ROOT)}")
    return path


def _round(
    round_index: int,
    peers: list[Peer],
    n_trials: int,
    seed: int,
    xvfb: VirtualDisplay,
    file: IO[str],
) -> None:
    """Let every peer play the same trials once idle and once beside a busy core, in a new order."""
    rng = np.random.default_rng([seed, round_index])
    block_seed = int(rng.integers(2**31))
    for i in rng.permutation(len(peers)):
        for load in rng.permutation(_LOADS):
            record = {"type": "block", "round": round_index, "peer": peers[i].name}
            record |= {"load": str(load), "seed": block_seed}
            for _ in range(_N_TRIES):
                begun_s = time.monotonic()
                try:
                    done = run_block(
                        peers[i], load=str(load), n_trials=n_trials, seed=block_seed, xvfb=xvfb
                    )
                except BlockFailed as error:
                    _write(file, record | {"failed": str(error)})
                    print(f"{peers[i].label}, {load}: {error}", file=sys.stderr, flush=True)
                    continue
                took_s = time.monotonic() - begun_s
                _write(file, record | done | {"took_s": took_s})
                print(
                    f"round {round_index + 1}: {peers[i].label}, {load}: {took_s:.0f} s", flush=True
                )
                break


def _write(file: IO[str], record: dict[str, Any]) -> None:
    file.write(json.dumps(record) + "\n")
    file.flush()


if __name__ == "__main__":
    main()
