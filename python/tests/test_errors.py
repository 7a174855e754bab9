import json
import unittest

from worker import WorkerCase

TORCH = (
    "import json, os, sys\n"
    "import lockstep\n"
    "try: 1 / 0\n"
    "except ZeroDivisionError:\n"
    "  with open(os.environ['TORCHELASTIC_ERROR_FILE'], 'w') as file: file.write('of PyTorch')\n"
    "  raise\n"
)


class Errors(WorkerCase):
    def test_writes_type_message_and_traceback_and_prints_the_exception_as_ever(self) -> None:
        ended = self.run_to_end("import lockstep\ndef train(): raise RuntimeError('no data')\ntrain()")
        message = json.loads(self.errors.read_text())["message"]
        self.assertEqual(message["message"], "RuntimeError: no data")
        self.assertIn("in train\n", message["extraInfo"]["py_callstack"])
        self.assertTrue(message["extraInfo"]["py_callstack"].endswith("RuntimeError: no data\n"))
        self.assertEqual(ended.returncode, 1)
        self.assertIn("RuntimeError: no data", ended.stderr)

    def test_calls_the_hook_that_was_there_before(self) -> None:
        ended = self.run_to_end(
            "import sys\nsys.excepthook = lambda *_: print('mine')\nimport lockstep\nraise RuntimeError"
        )
        self.assertEqual(ended.stdout, "mine\n")
        self.assertTrue(self.errors.exists())

    def test_leaves_what_the_record_decorator_of_PyTorch_has_written(self) -> None:
        self.run_to_end(TORCH)
        self.assertEqual(self.errors.read_text(), "of PyTorch")

    def test_replaces_what_an_earlier_process_has_left_there(self) -> None:
        self.errors.write_text("old")
        self.run_to_end("import lockstep; 1 / 0")
        self.assertIn("ZeroDivisionError", self.errors.read_text())

    def test_stays_within_what_the_agent_reads(self) -> None:
        self.run_to_end("import lockstep\ndef f(n): raise RuntimeError('ü' * 10**6)\nf(1)")
        self.assertLess(self.errors.stat().st_size, 64 * 1024)
        json.loads(self.errors.read_text())

    def test_an_ordinary_exit_or_Ctrl_C_is_no_error(self) -> None:
        for end in ("raise SystemExit(3)", "raise KeyboardInterrupt", "pass"):
            self.run_to_end(f"import lockstep\n{end}")
            self.assertFalse(self.errors.exists(), end)

    def test_a_file_that_cannot_be_written_hides_nothing(self) -> None:
        ended = self.run_to_end(
            "import lockstep; 1 / 0", TORCHELASTIC_ERROR_FILE=str(self.directory / "missing" / "file")
        )
        self.assertIn("ZeroDivisionError: division by zero", ended.stderr)
        self.assertIn("the exception could not be written", ended.stderr)

    def test_ends_at_once_if_asked_to_without_handlers_of_the_exit(self) -> None:
        ended = self.run_to_end(
            "import atexit, lockstep\nfrom lockstep import _errors\n"
            "atexit.register(print, 'late')\nprint('early')\n_errors.end_at_once()\n1 / 0"
        )
        self.assertEqual((ended.returncode, ended.stdout), (1, "early\n"))
        self.assertIn("ZeroDivisionError", ended.stderr)


if __name__ == "__main__":
    unittest.main()
