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


if __name__ == "__main__":
    unittest.main()
