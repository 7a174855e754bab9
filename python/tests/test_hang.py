import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from worker import TIMEOUT_SECONDS, WorkerCase

HANG = [sys.executable, "-m", "lockstep.hang"]
#: Two threads, of which the main one waits.
WAITING = (
    "import lockstep, threading, time\n"
    "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    "def all_reduce(): time.sleep(60)\n"
    "def train_step(): all_reduce()\n"
    "lockstep.step(1)\n"
    "train_step()\n"
)
#: A helper that imports the package, and tells its parent that it has done so.
HELPING = "import lockstep, time\ndef help(): time.sleep(60)\nprint(flush=True)\nhelp()"
#: Runs a file as Python does, so that children by `multiprocessing` import it again.
RUN = "runpy.run_path(sys.argv[0], run_name='__main__')"


class Hang(WorkerCase):
    def setUp(self) -> None:
        super().setUp()
        self.dumps = self.directory / "dumps"

    def look(self, pid: int, **variables: str) -> "subprocess.CompletedProcess[str]":
        return self.run_command(HANG, LOCKSTEP_WORKER_PID=str(pid), **variables)

    def waiting(self, program: str = WAITING) -> "subprocess.Popen[str]":
        process = self.start(program)
        self.until_line("1")
        return process

    def test_shows_the_stacks_and_says_where_the_main_thread_is(self) -> None:
        process = self.waiting()
        for _ in range(2):
            ended = self.look(process.pid)
            self.assertEqual((ended.returncode, ended.stderr), (0, ""))
            first, *lines = ended.stdout.splitlines()
            self.assertEqual(first, "where=all_reduce train_step <module>")
            self.assertIn('line 3 in all_reduce', ended.stdout)
            self.assertEqual(sum("most recent call first" in line for line in lines), 2)
        self.assertIsNone(process.poll())
        self.assertEqual(self.lines(), ["1"])

    def test_shows_a_process_that_holds_the_lock_of_the_interpreter(self) -> None:
        # A regular expression that backtracks for ever runs in C.
        process = self.waiting(
            "import lockstep, re\nlockstep.step(1)\n"
            "def parse(): re.match('(a|a)*b', 'a' * 60)\nparse()"
        )
        self.assertRegex(self.look(process.pid).stdout, r"^where=(match )?parse <module>\n")

    def test_looks_into_each_process_below_a_launcher(self) -> None:
        ranks = "".join(f"r{i} = {{**os.environ, 'LOCAL_RANK': '{i}'}}\n" for i in range(2))
        process = self.start(
            f"import os, subprocess, sys\n{ranks}program = {WAITING!r}\n"
            "children = [subprocess.Popen([sys.executable, '-c', program], env=e) for e in (r0, r1)]\n"
            "print(*[child.pid for child in children], flush=True)\n"
            "try: children[0].wait()\n"
            "finally:\n  for child in children: child.kill()\n"
        )
        assert process.stdout is not None
        pids = [int(word) for word in process.stdout.readline().split()]
        for pid in pids:
            self.addCleanup(os.kill, pid, signal.SIGKILL)
        self.until_files(2)
        output = self.look(process.pid).stdout
        self.assertEqual([f"process {pid}:" in output for pid in pids], [True, True], output)
        # The agent asks for one rank.
        output = self.look(pids[1]).stdout
        self.assertEqual([f"process {pid}:" in output for pid in pids], [False, True], output)
        self.assertTrue(output.startswith("where=all_reduce"), output)

    def test_helpers_by_multiprocessing_do_not_count(self) -> None:
        for method in ("spawn", "forkserver"):
            program = self.directory / "program.py"
            program.write_text(
                "import multiprocessing, time\nimport lockstep\n"
                "def load(queue):\n  queue.put(1)\n  time.sleep(60)\n"
                "def train_step(): time.sleep(60)\n"
                "if __name__ == '__main__':\n"
                f"  context = multiprocessing.get_context('{method}')\n"
                "  queue = context.Queue()\n"
                "  for _ in range(2): context.Process(target=load, args=(queue,), daemon=True).start()\n"
                "  queue.get(); queue.get()\n  lockstep.step(1)\n  train_step()\n"
            )
            self.progress.unlink(missing_ok=True)
            process = self.start(f"import runpy, sys; sys.argv = [{str(program)!r}]; {RUN}")
            self.until_line("1")
            output = self.look(process.pid).stdout
            self.assertTrue(output.startswith("where=train_step"), output)
            self.assertEqual(output.count("process "), 1, output)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=TIMEOUT_SECONDS)

    def test_the_worker_comes_first_if_it_is_no_launcher(self) -> None:
        for variables in ({}, {"LOCAL_RANK": "0"}):
            process = self.start(
                f"import subprocess, sys\nprogram = {HELPING!r}\n"
                "children = [subprocess.Popen([sys.executable, '-c', program], stdout=-1) for _ in range(8)]\n"
                "for child in children: child.stdout.readline()\n"
                f"try:\n  exec({WAITING!r}, {{}})\nfinally:\n  for child in children: child.kill()\n",
                **variables,
            )
            self.until_line("1")
            output = self.look(process.pid).stdout
            self.assertTrue(output.startswith("where=all_reduce"), output)
            self.assertIn(f"process {process.pid}:", output)
            self.progress.unlink()
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=TIMEOUT_SECONDS)

    def test_never_writes_stacks_into_a_file_of_the_program(self) -> None:
        precious = self.directory / "precious"
        process = self.waiting(
            "import lockstep, os, time\nos.closerange(3, 100)\n"
            f"files = [open({str(precious)!r}, 'ab') for _ in range(20)]\n"
            "lockstep.step(1)\ntime.sleep(60)"
        )
        output = self.look(process.pid).stdout
        self.assertIn(f"process {process.pid}: it has closed the file for its stacks", output)
        self.assertEqual(precious.read_bytes(), b"")

    def test_never_asks_a_process_with_a_handler_of_its_own(self) -> None:
        process = self.waiting(
            "import lockstep, os, signal, time\nfrom lockstep import _stacks\n"
            "signal.signal(_stacks.SIGNAL, lambda *_: print('asked'))\n"
            f"open({str(self.progress)!r} + f'.{{os.getpid()}}.stacks', 'w').close()\n"
            "os.closerange(3, 100)\nlockstep.step(1)\ntime.sleep(60)"
        )
        self.assertIn("it has closed the file for its stacks", self.look(process.pid).stdout)
        process.kill()
        self.assertEqual(process.communicate()[0], "")

    def test_says_no_place_if_the_main_thread_is_not_among_the_stacks(self) -> None:
        process = self.waiting(WAITING.replace("threading.Thread", "for _ in range(120): threading.Thread"))
        output = self.look(process.pid).stdout
        self.assertNotIn("where=", output)
        self.assertIn("most recent call first", output)

    def test_a_file_whose_number_has_other_digits_is_of_no_process(self) -> None:
        pathlib.Path(f"{self.progress}.².stacks").touch()
        process = self.waiting()
        ended = self.look(process.pid)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        self.assertTrue(ended.stdout.startswith("where=all_reduce"), ended.stdout)

    def test_keeps_the_stacks_if_nobody_reads_its_output(self) -> None:
        process = self.waiting()
        variables = {"LOCKSTEP_WORKER_PID": str(process.pid), "LOCKSTEP_DUMP_DIRECTORY": str(self.dumps)}
        reader, writer = os.pipe()
        os.close(reader)
        with open(writer, "wb") as closed, open("/dev/full", "wb") as full:
            for output in (closed, full):
                ended = subprocess.run(
                    HANG,
                    env=self.with_variables(variables),
                    stdout=output,
                    stderr=subprocess.PIPE,
                    timeout=TIMEOUT_SECONDS,
                )
                self.assertEqual((ended.returncode, ended.stderr), (0, b""))
                [kept] = self.dumps.iterdir()
                self.assertIn(b"all_reduce", kept.read_bytes())
                kept.unlink()

    def until_files(self, count: int) -> None:
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while len(list(self.directory.glob("*.stacks"))) < count:
            if time.monotonic() > deadline:
                self.fail(f"{os.listdir(self.directory)}")
            time.sleep(0.01)

    def test_never_sends_the_signal_to_a_process_that_does_not_catch_it(self) -> None:
        process = self.waiting(
            "import faulthandler, lockstep, time\nfrom lockstep import _stacks\n"
            "faulthandler.unregister(_stacks.SIGNAL)\nlockstep.step(1)\ntime.sleep(60)"
        )
        output = self.look(process.pid).stdout
        self.assertIn(f"process {process.pid}: it has no handler for the signal", output)
        self.assertIsNone(process.poll())

    def test_never_asks_a_process_of_another_worker_that_has_the_same_number_now(self) -> None:
        process = self.waiting()
        ended = self.look(1, LOCKSTEP_WORKER="another")
        why = "no process of worker 1 has imported lockstep, or their files cannot be read"
        self.assertIn(why, ended.stdout)
        self.assertIsNone(process.poll())

    def test_says_that_a_stopped_process_does_not_answer(self) -> None:
        process = self.waiting()
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        self.assertIn("it is stopped, and does not answer: T", self.look(process.pid).stdout)

    def test_says_that_nothing_has_imported_the_package(self) -> None:
        ended = self.look(os.getpid())
        self.assertEqual(ended.returncode, 0)
        self.assertIn(f"no process of worker {os.getpid()} has imported lockstep", ended.stdout)

    def test_refuses_to_run_outside_of_a_hang_command_in_one_line(self) -> None:
        for variables in ({}, {"LOCKSTEP_WORKER_PID": "x"}, {"LOCKSTEP_WORKER_PID": "²"}):
            ended = self.run_command(HANG, **variables)
            self.assertEqual((ended.returncode, ended.stdout), (2, ""))
            self.assertEqual(
                ended.stderr,
                "lockstep.hang: this is for lockstep/hang-command, which sets LOCKSTEP_WORKER_PID\n",
            )

    def test_its_own_exceptions_and_files_are_not_those_of_the_worker(self) -> None:
        ended = self.run_to_end("import lockstep; lockstep.step(9); 1 / 0", LOCKSTEP_WORKER_PID="1")
        self.assertEqual(ended.returncode, 1)
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_prints_at_most_64_KiB_and_keeps_all_in_the_directory_for_dumps(self) -> None:
        process = self.waiting(
            "import lockstep, sys, threading, time\n"
            "scope = {'time': time}\n"
            "exec('def f(n):\\n  time.sleep(60) if n == 0 else f(n - 1)\\n'.replace('f(', 'f' * 400 + '('), scope)\n"
            "for _ in range(20): threading.Thread(target=scope['f' * 400], args=(50,), daemon=True).start()\n"
            "time.sleep(0.2)\nlockstep.step(1)\ntime.sleep(60)"
        )
        output = self.look(process.pid, LOCKSTEP_DUMP_DIRECTORY=str(self.dumps), LOCKSTEP_EPOCH="4").stdout
        self.assertGreater(len(output.encode()), 32 * 1024)
        self.assertLess(len(output.encode()), 64 * 1024)
        [kept] = self.dumps.iterdir()
        self.assertRegex(kept.name, rf"-epoch-4-{process.pid}\.stacks$")
        self.assertGreater(kept.stat().st_size, 64 * 1024)
        self.assertTrue(output.startswith("where=<module>\n"), output[:200])
        self.assertTrue(output.endswith(f"kept {kept}\n"), output[-200:])

    def test_does_not_follow_a_link_in_the_place_of_the_file(self) -> None:
        process = self.waiting()
        precious = self.directory / "precious"
        precious.write_text("kept")
        [stacks] = self.directory.glob("*.stacks")
        stacks.unlink()
        stacks.symlink_to(precious)
        self.look(process.pid)
        self.assertEqual(precious.read_text(), "kept")

    def test_works_on_an_embedded_cluster_where_volumes_are_below_another_directory(self) -> None:
        process = self.waiting()
        self.look(process.pid, LOCKSTEP_ROOT=str(self.directory), LOCKSTEP_DUMP_DIRECTORY="/dumps")
        self.assertEqual(len(list(self.dumps.iterdir())), 1)


#: What PyTorch does in the place where its monitor looks for a byte.
RECORDER = (
    "import os, select, time\n"
    "import lockstep.torch\n"
    "pipe = os.environ['TORCH_NCCL_DEBUG_INFO_PIPE_FILE'] + '12.pipe'\n"
    "os.mkfifo(pipe)\n"
    "reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)\n"
    "lockstep.step(1)\n"
    "select.select([reader], [], [], 20)\n"
    "time.sleep(0.2)\n"
    "with open(os.environ['TORCH_FR_DUMP_TEMP_FILE'] + '12', 'wb') as file: file.write(b'a dump')\n"
    "time.sleep(60)\n"
)


class FlightRecorder(WorkerCase):
    def setUp(self) -> None:
        super().setUp()
        self.dumps = self.directory / "dumps"

    def look(self, pid: int) -> str:
        variables = {"LOCKSTEP_WORKER_PID": str(pid), "LOCKSTEP_DUMP_DIRECTORY": str(self.dumps)}
        return self.run_command(HANG, **variables).stdout

    def kept(self) -> "list[pathlib.Path]":
        return [path for path in self.dumps.iterdir() if "nccl" in path.name]

    def test_asks_by_the_pipe_and_copies_the_dump(self) -> None:
        process = self.start(RECORDER)
        self.until_line("1")
        output = self.look(process.pid)
        [kept] = self.kept()
        self.assertTrue(kept.name.endswith("-nccl-12"), kept)
        self.assertEqual(kept.read_bytes(), b"a dump")
        self.assertIn(f"kept {kept}", output)

    def test_says_which_dump_is_incomplete(self) -> None:
        whole = "file.write(b'a dump')"
        self.assertIn(whole, RECORDER)
        endless = "[(file.write(b'x'), file.flush(), time.sleep(0.01)) for _ in range(3000)]"
        for partial, size in ((endless, 1), ("file.write(bytes(33 << 20))", 32 << 20)):
            self.progress.unlink(missing_ok=True)
            for path in self.directory.glob("*.pipe"):
                path.unlink()
            process = self.start(RECORDER.replace(whole, partial))
            self.until_line("1")
            output = self.look(process.pid)
            [kept] = self.kept()
            self.assertIn(f"kept {kept}, which is incomplete\n", output)
            self.assertGreaterEqual(kept.stat().st_size, size)
            self.assertLessEqual(kept.stat().st_size, 32 << 20)
            process.kill()

    def test_does_not_wait_for_a_recorder_that_nobody_reads_for(self) -> None:
        process = self.start(RECORDER.replace("select.select", "os.close(reader); time.sleep(60) #"))
        self.until_line("1")
        started = time.monotonic()
        self.assertIn("the NCCL flight recorder of rank 12 cannot be asked", self.look(process.pid))
        self.assertLess(time.monotonic() - started, 8)
        self.assertEqual(self.kept(), [])

    def test_says_where_dumps_could_be_kept(self) -> None:
        process = self.start(RECORDER)
        self.until_line("1")
        ended = self.run_command(HANG, LOCKSTEP_WORKER_PID=str(process.pid))
        self.assertIn("NCCL flight recorder for LOCKSTEP_DUMP_DIRECTORY", ended.stdout)

    def test_leaves_what_the_user_has_set(self) -> None:
        names = (
            "TORCH_NCCL_DEBUG_INFO_PIPE_FILE",
            "TORCH_FR_DUMP_TEMP_FILE",
            "TORCH_NCCL_DEBUG_INFO_TEMP_FILE",
            "TORCH_NCCL_TRACE_BUFFER_SIZE",
            "TORCH_FR_BUFFER_SIZE",
        )
        program = f"import os, lockstep.torch\nprint(*[os.environ.get(name) for name in {names}])"
        ended = self.run_to_end(program)
        own = f"{self.progress}.nccl-"
        self.assertEqual(ended.stdout.split(), [own, f"{own}dump-", f"{own}dump-", "2000", "2000"])
        ended = self.run_to_end(
            program, TORCH_NCCL_DEBUG_INFO_TEMP_FILE="/mine-", TORCH_NCCL_TRACE_BUFFER_SIZE="0"
        )
        self.assertEqual(ended.stdout.split(), [own, "/mine-", "/mine-", "0", "0"])
        ended = self.run_to_end(program, LOCKSTEP_PROGRESS_FILE=None)
        self.assertEqual(ended.stdout.split(), ["None"] * 5)


if __name__ == "__main__":
    unittest.main()
