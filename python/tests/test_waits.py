import socket
import subprocess
import unittest

from worker import WorkerCase


class Start(WorkerCase):
    PROGRAM = (
        "import lockstep, os\n"
        "epoch = lockstep.wait_for_start()\n"
        "print(epoch, os.environ.get('LOCKSTEP_EPOCH'), os.environ.get('LOCKSTEP_STANDBY'), flush=True)\n"
        "lockstep.step(1)\n"
        "lockstep.wait_for_start()\n"
    )

    def test_a_standby_waits_until_its_start_file_appears(self) -> None:
        process = self.start(self.PROGRAM, LOCKSTEP_START_FILE=str(self.start_file), LOCKSTEP_STANDBY="1")
        self.until_line("phase=standby")
        self.assertIsNone(process.poll())
        next_file = self.directory / "next"
        next_file.write_text("epoch 7\n")
        next_file.rename(self.start_file)
        self.assertEqual(process.communicate(timeout=20), ("7 7 None\n", ""))
        self.assertEqual(self.lines(), ["phase=standby", "1"])

    def test_a_worker_finds_the_file_and_goes_on(self) -> None:
        self.start_file.write_text("epoch 2\n")
        ended = self.run_to_end(
            self.PROGRAM, LOCKSTEP_START_FILE=str(self.start_file), LOCKSTEP_EPOCH="2"
        )
        self.assertEqual((ended.stdout, ended.stderr), ("2 2 None\n", ""))
        self.assertEqual(self.lines(), ["phase=standby", "1"])

    def test_nobody_waits_without_a_start_file_and_below_a_launcher(self) -> None:
        ended = self.run_to_end(self.PROGRAM, LOCKSTEP_EPOCH="3")
        self.assertEqual(ended.stdout, "3 3 None\n")
        ended = self.run_to_end(
            self.PROGRAM, LOCKSTEP_START_FILE=str(self.start_file), LOCAL_RANK="0", LOCKSTEP_EPOCH="3"
        )
        self.assertEqual(ended.stdout, "3 3 None\n")
        self.assertEqual(self.lines(), ["1", "1"])

    def test_a_number_of_an_epoch_has_ASCII_digits(self) -> None:
        ended = self.run_to_end(self.PROGRAM, LOCKSTEP_EPOCH="²")
        self.assertEqual((ended.stdout, ended.stderr), ("None ² None\n", ""))

    def test_a_start_file_that_cannot_be_read_ends_it_in_one_line(self) -> None:
        directory, latin = self.directory / "folder", self.directory / "latin"
        directory.mkdir()
        latin.write_bytes(b"epoch \xe9\n")
        for path in (directory, latin):
            ended = self.run_to_end(self.PROGRAM, LOCKSTEP_START_FILE=str(path))
            self.assertEqual((ended.returncode, ended.stdout), (1, ""))
            self.assertRegex(ended.stderr, rf"^lockstep: the start file {path} cannot be read: .*\n$")


class Master(WorkerCase):
    PROGRAM = "import lockstep; print(lockstep.wait_for_master(timeout=0.3))"

    def setUp(self) -> None:
        super().setUp()
        self.server = socket.socket()
        self.addCleanup(self.server.close)
        self.server.bind(("127.0.0.1", 0))
        port = str(self.server.getsockname()[1])
        self.environment.update(MASTER_ADDR="localhost", MASTER_PORT=port, RANK="3")

    def test_waits_until_rank_0_listens(self) -> None:
        process = self.start("import lockstep; print(lockstep.wait_for_master(), flush=True)")
        with self.assertRaises(subprocess.TimeoutExpired):
            process.communicate(timeout=0.5)
        self.server.listen()
        output, errors = process.communicate(timeout=20)
        self.assertEqual((output.strip(), errors), ("127.0.0.1", ""))

    def test_says_what_it_waited_for_in_vain(self) -> None:
        ended = self.run_to_end(self.PROGRAM)
        self.assertRegex(
            ended.stderr, r"TimeoutError: rank 0 does not accept connections at localhost:\d+ after 0.3 s: "
        )

    def test_rank_0_does_not_wait_for_itself(self) -> None:
        ended = self.run_to_end(self.PROGRAM, RANK="0")
        self.assertIn(ended.stdout, ("127.0.0.1\n", "::1\n"))

    def test_does_not_wait_where_a_launcher_serves_the_store(self) -> None:
        ended = self.run_to_end(self.PROGRAM, TORCHELASTIC_USE_AGENT_STORE="True")
        self.assertEqual((ended.stdout, ended.stderr), ("None\n", ""))

    def test_does_not_wait_without_an_address_a_port_or_a_rank(self) -> None:
        for name in ("MASTER_ADDR", "MASTER_PORT", "RANK"):
            ended = self.run_to_end(self.PROGRAM, **{name: None})
            self.assertEqual((ended.stdout, ended.stderr), ("None\n", ""), name)

    def test_finds_names_that_only_the_hosts_file_of_the_embedded_cluster_has(self) -> None:
        self.server.listen()
        hosts = self.directory / "hosts"
        hosts.write_text("# Pods\n127.0.0.1 jax-workers-0-0.jax jax-workers-0-0\n")
        ended = self.run_to_end(self.PROGRAM, MASTER_ADDR="jax-workers-0-0.jax", LOCKSTEP_HOSTS=str(hosts))
        self.assertEqual(ended.stdout, "127.0.0.1\n")

    def test_refuses_wrong_arguments_everywhere(self) -> None:
        wrong = {
            "address": ("5", "b'localhost'", "'a' * 64", "'a..b'", "'a\\0'"),
            "port": ("'29500'", "-1", "0", "99999", "1.5"),
            "rank": ("'x'", "-1", "1.5"),
            "timeout": ("'1m'", "-1", "float('nan')", "10**400", "None"),
        }
        calls = [f"wait_for_master({name}={value})" for name, values in wrong.items() for value in values]
        for progress in (str(self.progress), None):
            self.assertEqual(self.refused(calls, progress), calls)
        for name, values in wrong.items():
            ended = self.run_to_end(f"import lockstep; lockstep.wait_for_master({name}={values[0]})")
            self.assertRegex(ended.stderr, rf"\nValueError: {name} .*: expected ")

    def test_says_what_is_wrong_with_the_variables(self) -> None:
        for name, value in {"MASTER_ADDR": "a" * 64, "MASTER_PORT": "99999"}.items():
            ended = self.run_to_end(self.PROGRAM, **{name: value})
            self.assertRegex(ended.stderr, rf"\nValueError: {name} .*{value}.*: expected ")

    def test_takes_a_port_with_spaces_around_and_no_digits_of_other_alphabets(self) -> None:
        self.server.listen()
        port = f" {self.environment['MASTER_PORT']} "
        self.assertEqual(self.run_to_end(self.PROGRAM, MASTER_PORT=port).stdout, "127.0.0.1\n")
        for name in ("MASTER_PORT", "RANK"):
            ended = self.run_to_end(self.PROGRAM, **{name: "²"})
            self.assertEqual((ended.stdout, ended.stderr), ("None\n", ""), name)

    #: Stands for JAX, and says what it was given.
    JAX = (
        "import sys, types\n"
        "jax = sys.modules['jax'] = types.ModuleType('jax')\n"
        "jax.distributed = types.SimpleNamespace(initialize=lambda **given: print(sorted(given.items())))\n"
        "import lockstep.jax\n"
    )

    def test_JAX_gets_what_the_variables_say(self) -> None:
        self.server.listen()
        port = self.environment["MASTER_PORT"]
        program = f"{self.JAX}lockstep.jax.initialize()"
        ended = self.run_to_end(program, MASTER_PORT=f"{port} ", WORLD_SIZE="²")
        self.assertEqual(ended.stderr, "")
        self.assertEqual(ended.stdout, f"[('coordinator_address', '127.0.0.1:{port}'), ('process_id', 3)]\n")

    def test_JAX_does_not_wait_for_another_address_than_the_one_it_is_given(self) -> None:
        process = self.start(f"{self.JAX}lockstep.jax.initialize(coordinator_address='other:1')")
        output, errors = process.communicate(timeout=20)
        self.assertEqual((output, errors), ("[('coordinator_address', 'other:1'), ('process_id', 3)]\n", ""))


if __name__ == "__main__":
    unittest.main()
