import json
import time
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

    def test_below_a_launcher_says_when_a_rank_failed_by_the_clock_of_the_machine(self) -> None:
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        program = f"import lockstep, os, sys\nprint(os.getpid())\n{TORCH}"
        ended = self.run_to_end(program, LOCKSTEP_RANK_FILES="1", LOCAL_RANK="3")
        written = json.loads((self.directory / "progress.3.error").read_text())
        self.assertEqual((written["type"], str(written["pid"])), ("ZeroDivisionError", ended.stdout.strip()))
        self.assertEqual(written["message"]["message"], "ZeroDivisionError: division by zero")
        self.assertLess(before, int(written["monotonicNs"]))
        self.assertLess(int(written["monotonicNs"]), time.clock_gettime_ns(time.CLOCK_MONOTONIC))
        self.assertEqual(self.errors.read_text(), "of PyTorch")

    def test_below_a_launcher_says_that_a_signal_for_the_program_ended_a_rank(self) -> None:
        own = "os.kill(os.getpid(), signal.SIGTERM)"
        other = f"if os.fork() == 0: {own}; time.sleep(9)"
        handler = "signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))"
        for program, code, is_said in (
            (f"import lockstep\n{own}", -15, True),
            (f"import lockstep\n{handler}\n{own}\ntime.sleep(9)", 3, False),
            (f"import lockstep\n{handler}\n{other}\nsys.exit(os.waitstatus_to_exitcode(os.wait()[1]))", 3, False),
            (f"import lockstep\n{other}\nos.wait()", 0, False),
            ("import lockstep", 0, False),
        ):
            program = f"import os, signal, sys, time\n{program}"
            ended = self.run_to_end(program, LOCKSTEP_RANK_FILES="1", LOCAL_RANK="3")
            said = (self.directory / "progress.3.terminated").stat().st_size > 0
            self.assertEqual((ended.returncode, said, ended.stderr), (code, is_said, ""), program)

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

    def test_the_exception_of_the_program_counts_not_that_of_a_child(self) -> None:
        child = "subprocess.run([sys.executable, '-c', 'import lockstep; [][1]'])"
        for fail in (f"{child}; 1 / 0", "1 / 0", child):
            self.errors.unlink(missing_ok=True)
            self.run_to_end(f"import lockstep, subprocess, sys\n{fail}")
            message = json.loads(self.errors.read_text())["message"]["message"]
            self.assertTrue(message.startswith("IndexError" if fail == child else "ZeroDivisionError"), message)

    def test_a_child_that_fails_after_the_program_does_not_replace_its_exception(self) -> None:
        late = "import lockstep, sys\nprint(flush=True)\nsys.stdin.read()\n[][1]"
        ended = self.run_to_end(
            "import lockstep, os, subprocess, sys\n"
            f"pipes = {{'stdin': subprocess.PIPE, 'stdout': subprocess.PIPE}}\n"
            f"child = subprocess.Popen([sys.executable, '-c', {late!r}], **pipes)\n"
            "child.stdout.readline()\n1 / 0"
        )
        self.assertIn("IndexError", ended.stderr)
        self.assertIn("ZeroDivisionError", self.errors.read_text())

    def test_a_forked_child_writes_nothing(self) -> None:
        self.run_to_end("import lockstep, os\nif os.fork() == 0: 1 / 0\nos.wait()")
        self.assertFalse(self.errors.exists())

    def test_an_exception_that_cannot_say_what_it_is_leaves_its_traceback(self) -> None:
        ended = self.run_to_end(
            "import lockstep\nclass Odd(Exception):\n  def __str__(self): return 1 / 0\ndef f(): raise Odd\nf()"
        )
        message = json.loads(self.errors.read_text())["message"]
        self.assertEqual(message["message"], "Odd: <exception str() failed>")
        self.assertIn("in f\n", message["extraInfo"]["py_callstack"])
        self.assertNotIn("could not be written", ended.stderr)

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
            "atexit.register(print, 'late')\nprint('early')\n_errors.ends_at_once = True\n1 / 0"
        )
        self.assertEqual((ended.returncode, ended.stdout), (1, "early\n"))
        self.assertIn("ZeroDivisionError", ended.stderr)


if __name__ == "__main__":
    unittest.main()
