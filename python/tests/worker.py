"""Starts programs as an agent starts a worker: with files of their own, and variables that name them."""

import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
from typing import Dict, List, Optional

SOURCE = str(pathlib.Path(__file__).parent.parent / "src")
TIMEOUT_SECONDS = 20.0


class WorkerCase(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.progress = self.directory / "progress"
        self.errors = self.directory / "error.json"
        self.start_file = self.directory / "start"
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("LOCKSTEP_", "TORCH", "MASTER_", "PYTHON"))
            and name not in ("RANK", "LOCAL_RANK", "WORLD_SIZE")
        }
        self.environment: Dict[str, str] = {
            **inherited,
            "PYTHONPATH": SOURCE,
            "PYTHONDONTWRITEBYTECODE": "1",
            "LOCKSTEP_WORKER": f"test-{self.directory.name}",
            "LOCKSTEP_PROGRESS_FILE": str(self.progress),
            "TORCHELASTIC_ERROR_FILE": str(self.errors),
        }

    def start(self, program: str, **variables: Optional[str]) -> "subprocess.Popen[str]":
        """`None` for a variable leaves it out."""
        process = subprocess.Popen(
            [sys.executable, "-c", program],
            env=self.with_variables(variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(self.end, process)
        return process

    def with_variables(self, variables: Dict[str, Optional[str]]) -> Dict[str, str]:
        merged: Dict[str, Optional[str]] = {**self.environment, **variables}
        return {name: value for name, value in merged.items() if value is not None}

    def run_to_end(self, program: str, **variables: Optional[str]) -> "subprocess.CompletedProcess[str]":
        return self.run_command([sys.executable, "-c", program], **variables)

    def run_command(
        self, command: List[str], **variables: Optional[str]
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            command,
            env=self.with_variables(variables),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
        )

    def refused(self, calls: List[str], progress: Optional[str]) -> List[str]:
        """Those of the calls that raise an error which says what is wrong."""
        program = (
            f"import lockstep\nfor call in {calls!r}:\n"
            "  try: eval('lockstep.' + call)\n"
            "  except (TypeError, ValueError) as error:\n    if str(error): print(call)\n"
        )
        return self.run_to_end(program, LOCKSTEP_PROGRESS_FILE=progress).stdout.splitlines()

    @staticmethod
    def end(process: "subprocess.Popen[str]") -> None:
        process.kill()
        process.communicate()

    def lines(self, path: Optional[pathlib.Path] = None) -> List[str]:
        path = path or self.progress
        return path.read_text().splitlines() if path.exists() else []

    def until_line(self, line: str) -> None:
        """Until the worker has reported this."""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while line not in self.lines():
            if time.monotonic() > deadline:
                self.fail(f"no line {line!r} in {self.lines()}")
            time.sleep(0.01)

    def files(self) -> List[str]:
        others = (".stacks", ".terminated")
        return sorted(path.name for path in self.directory.iterdir() if path.suffix not in others)
