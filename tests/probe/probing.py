"""Started as a process by tests that end it: `attnmatrix probe` on the made-up H200."""

from __future__ import annotations

import sys

from attnmatrix.cli import main
from attnmatrix.probe import command
from tests.probe.bench import H200

if __name__ == "__main__":
    command.CALLERS = "tests.probe.fake_callers"
    command.find_machine = lambda matrix: H200
    sys.exit(main(["probe", "--workers", "2", *sys.argv[1:]]))
