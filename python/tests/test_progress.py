import os
import unittest

from worker import WorkerCase


class Steps(WorkerCase):
    def test_reports_a_step_when_the_next_one_is_asked_for(self) -> None:
        self.run_to_end("import lockstep\nfor step in lockstep.steps(3, 5): pass")
        self.assertEqual(self.lines(), ["3", "4", "5"])

    def test_does_not_report_a_step_whose_body_was_left(self) -> None:
        self.run_to_end(
            "import lockstep\nfor step in lockstep.steps(1, 9):\n  if step == 3: break\n  if step == 9: raise 1"
        )
        self.assertEqual(self.lines(), ["1", "2"])
        self.run_to_end("import lockstep\nfor step in lockstep.steps(7, 9):\n  if step == 8: 1 / 0")
        self.assertEqual(self.lines(), ["1", "2", "7"])

    def test_says_the_newest_checkpoint_with_each_step(self) -> None:
        self.run_to_end(
            "import lockstep\n"
            "lockstep.restored(2)\n"
            "for step in lockstep.steps(3, 5):\n"
            "  if step == 4: lockstep.checkpoint(step)\n"
        )
        self.assertEqual(
            self.lines(), ["3 checkpoint=2", "4 checkpoint=4", "4 checkpoint=4", "5 checkpoint=4"]
        )

    def test_says_nothing_before_the_first_step_so_that_no_time_out_begins(self) -> None:
        self.run_to_end("import lockstep\nlockstep.restored(20)\nlockstep.steps(21, 30)")
        self.assertEqual(self.lines(), [])

    def test_takes_the_numbers_of_frameworks(self) -> None:
        self.run_to_end(
            "import lockstep\n"
            "class Number:\n  def __index__(self): return 12\n"
            "lockstep.step(Number())\nlockstep.checkpoint(Number())"
        )
        self.assertEqual(self.lines(), ["12", "12 checkpoint=12"])

    def test_refuses_what_is_no_step(self) -> None:
        calls = ["step(-1)", "step(1.5)", "step(2**53)", "checkpoint(-1)", "steps(1, 2**53)", "restored('1')"]
        for progress in (str(self.progress), None):
            self.assertEqual(self.refused(calls, progress), calls)
        self.assertEqual(self.lines(), [])


class Phases(WorkerCase):
    def test_allows_silence_while_a_phase_lasts(self) -> None:
        self.run_to_end(
            "import lockstep\n"
            "lockstep.step(300)\n"
            "with lockstep.phase('save', timeout='10m'):\n"
            "  with lockstep.phase('upload', timeout=90): pass\n"
            "  lockstep.checkpoint(300)\n"
            "with lockstep.phase('wait', timeout='none'): pass"
        )
        self.assertEqual(
            self.lines(),
            [
                "300",
                "300 phase=save timeout=10m",
                "300 phase=upload timeout=90.000s",
                "300 phase=save timeout=10m",
                "300 checkpoint=300 phase=save timeout=10m",
                "300 checkpoint=300",
                "300 checkpoint=300 phase=wait timeout=none",
                "300 checkpoint=300",
            ],
        )

    def test_keeps_the_phase_in_which_the_program_failed(self) -> None:
        self.run_to_end("import lockstep\nlockstep.step(4)\nwith lockstep.phase('save'): 1 / 0")
        self.assertEqual(self.lines(), ["4", "4 phase=save"])

    def test_leaves_a_phase_whose_exception_was_caught_with_the_next_step(self) -> None:
        self.run_to_end(
            "import lockstep\ntry:\n  with lockstep.phase('save'): 1 / 0\n"
            "except ZeroDivisionError: lockstep.step(5)"
        )
        self.assertEqual(self.lines(), ["phase=save", "5"])

    def test_lets_the_allowance_of_loading_count_while_the_program_compiles(self) -> None:
        self.run_to_end(
            "import lockstep\nwith lockstep.phase('load', timeout='30m'): lockstep.restored(20)\n"
            "lockstep.step(21)"
        )
        self.assertEqual(self.lines(), ["phase=load timeout=30m", "21 checkpoint=20"])

    def test_refuses_names_and_times_that_the_agent_would_not_read(self) -> None:
        names = ("'two words'", "''", "'-a'", "'a' * 33", "3", "'ä'")
        times = ("'10'", "'10 m'", "0", "-1", "'0s'", "'1d'", "'m'")
        calls = [f"phase({name})" for name in names] + [f"phase('a', {time})" for time in times]
        for progress in (str(self.progress), None):
            self.assertEqual(self.refused(calls, progress), calls)


    def test_refuses_a_time_above_the_bound_of_the_agent_and_says_it(self) -> None:
        times = ("sys.maxsize", "1e10", "'99999999h'", "'2562048h'", "float('inf')", "10**400")
        others = ("[1]", "b'1s'", "b'1'", "timedelta(seconds=1)", "float('nan')")
        for time in (*times, *others):
            ended = self.run_to_end(
                f"import sys, lockstep\nfrom datetime import timedelta\nlockstep.phase('a', {time})"
            )
            self.assertRegex(ended.stderr, r"\nValueError: timeout .*at most 2\^63 ns \(2562047h\)", time)
        ended = self.run_to_end("import lockstep\nfor t in ('2562047h', 9e9, '.5s'): lockstep.phase('a', t)")
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))

    def test_two_threads_may_be_in_phases_of_their_own(self) -> None:
        self.run_to_end(
            "import lockstep\nupload, save = lockstep.phase('upload'), lockstep.phase('save', timeout='9m')\n"
            "upload.__enter__(); save.__enter__()\n"
            "lockstep.step(1)\n"
            "upload.__exit__()\nsave.__exit__()"
        )
        self.assertEqual(
            self.lines(),
            ["phase=upload", "phase=save timeout=9m", *["1 phase=save timeout=9m"] * 2, "1"],
        )

    def test_a_phase_that_was_not_entered_ends_silently(self) -> None:
        ended = self.run_to_end(
            "import lockstep\nlockstep.step(1)\nphase = lockstep.phase('a')\nphase.__exit__()\n"
            "with phase: pass\nphase.__exit__()"
        )
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        self.assertEqual(self.lines(), ["1", "1 phase=a", "1"])


class WhoReports(WorkerCase):
    PROGRAM = "import lockstep; lockstep.step(5); lockstep.checkpoint(5)"

    def test_below_a_launcher_local_rank_0_reports_for_its_Pod(self) -> None:
        for local in ("0", "1", "7"):
            self.run_to_end(self.PROGRAM, LOCAL_RANK=local, RANK="8")
        self.assertEqual(self.lines(), ["5", "5 checkpoint=5"])
        self.assertEqual(self.files(), ["progress"])

    def test_below_a_launcher_each_rank_has_a_file_if_the_agent_reads_it(self) -> None:
        program = "import os; print(os.getpid(), flush=True)\n" + self.PROGRAM
        for local in ("0", "7"):
            ended = self.run_to_end(program, LOCKSTEP_RANK_FILES="1", LOCAL_RANK=local, RANK=f"1{local}")
            words = f"pid={ended.stdout.strip()} rank=1{local}"
            written = self.directory / f"progress.{local}"
            self.assertEqual(self.lines(written), [f"5 {words}", f"5 checkpoint=5 {words}"])
        self.run_to_end(self.PROGRAM, LOCKSTEP_RANK_FILES="1")
        self.assertEqual(self.lines(), ["5", "5 checkpoint=5"])
        self.assertEqual(self.files(), ["progress", "progress.0", "progress.7"])

    def test_a_rank_that_the_agent_has_started_is_a_worker_of_its_own(self) -> None:
        variables = {"LOCKSTEP_RANK_FILES": "1", "LOCKSTEP_PROCESSES": "8", "LOCAL_RANK": "3", "RANK": "11"}
        self.run_to_end(self.PROGRAM, **variables)
        self.assertEqual(self.lines(), ["5", "5 checkpoint=5"])
        self.assertEqual(self.files(), ["progress"])

    def test_outside_of_Lockstep_nothing_is_written(self) -> None:
        ended = self.run_to_end(
            "import sys, lockstep\n"
            "lockstep.wait_for_start(); lockstep.wait_for_master()\n"
            "for step in lockstep.steps(1, 3):\n"
            "  with lockstep.phase('save'): lockstep.checkpoint(step)\n"
            "lockstep.step(4); lockstep.restored(4)\n"
            "print(sys.excepthook is sys.__excepthook__)",
            LOCKSTEP_PROGRESS_FILE=None,
            MASTER_ADDR="nowhere.invalid",
            MASTER_PORT="1",
            RANK="1",
        )
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "True\n", ""))
        self.assertEqual(list(self.directory.iterdir()), [])


class Problems(WorkerCase):
    #: A signal comes while a line is being written, and its handler reports too.
    SIGNALLED = (
        "import lockstep, os, signal\n"
        "signal.signal(signal.SIGTERM, lambda *_: lockstep.checkpoint(5))\n"
        "write, signals = os.write, [signal.SIGTERM]\n"
        "def interrupted(*arguments):\n"
        "  if signals: os.kill(os.getpid(), signals.pop())\n"
        "  return write(*arguments)\n"
        "os.write = interrupted\n"
        "lockstep.step(5)\nprint('done')"
    )

    def test_a_signal_handler_may_report_and_the_newest_line_says_all(self) -> None:
        self.assertEqual(self.run_to_end(self.SIGNALLED).stdout, "done\n")
        self.assertEqual(self.lines(), ["5 checkpoint=5", "5", "5 checkpoint=5"])

    def test_training_goes_on_without_a_place_for_reports_and_says_so_once(self) -> None:
        ended = self.run_to_end(
            "import lockstep\nfor step in lockstep.steps(1, 5): pass\nprint('done')",
            LOCKSTEP_PROGRESS_FILE=str(self.directory / "missing" / "progress"),
        )
        self.assertEqual((ended.returncode, ended.stdout), (0, "done\n"))
        self.assertEqual(ended.stderr.count("progress cannot be reported"), 1)

    def test_a_FIFO_that_nobody_reads_does_not_stop_it(self) -> None:
        os.mkfifo(self.progress)
        ended = self.run_to_end("import lockstep; lockstep.step(1); print('done')")
        self.assertEqual(ended.stdout, "done\n")

    def test_a_process_forked_while_another_thread_reports_can_report(self) -> None:
        ended = self.run_to_end(
            "import lockstep, os, threading\n"
            "from lockstep._progress import PROGRESS\n"
            "with PROGRESS._lock:\n"
            "  child = os.fork()\n"
            "  if child == 0:\n"
            "    lockstep.step(8)\n"
            "    os._exit(0)\n"
            "print(os.waitpid(child, 0)[1])"
        )
        self.assertEqual(ended.stdout, "0\n")
        self.assertEqual(self.lines(), ["8"])


if __name__ == "__main__":
    unittest.main()
