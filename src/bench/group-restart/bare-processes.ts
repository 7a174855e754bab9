/**
 * The lower bound for a restart of many processes on one machine: a shell that starts them all. One
 * signal kills them, and the next shell starts them again, without agents or anything else between.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../until.ts';

const TIMEOUT_MS = 60_000;
const POLL_MS = 10;

/** How long each round took, in ms: from the kill to the start of the last new process. */
export async function restartBareProcesses(
  count: number,
  rounds: number,
): Promise<readonly number[]> {
  const directory = mkdtempSync(join(tmpdir(), 'bare-'));
  const marks = join(directory, 'marks');
  appendFileSync(marks, '');
  // What the workers of the group do, but for their signals.
  const worker = `sh -c 'echo start >> ${marks}; sleep 3600 & wait' &`;
  const loop = `i=0; while [ $i -lt ${count} ]; do ${worker} i=$((i + 1)); done; wait`;
  const start = (): ChildProcess => spawn('sh', ['-c', loop], { detached: true, stdio: 'ignore' });
  const running = async (starts: number): Promise<void> => {
    const isDone = (): boolean => readFileSync(marks, 'utf8').split('\n').length > starts;
    await until(`${starts} starts`, isDone, { timeoutMs: TIMEOUT_MS, pollMs: POLL_MS });
  };
  const kill = async (shell: ChildProcess): Promise<void> => {
    const ended = once(shell, 'exit');
    if (shell.pid !== undefined) process.kill(-shell.pid, 'SIGKILL');
    await ended;
  };
  const downMs: number[] = [];
  let shell = start();
  try {
    for (let round = 1; round <= rounds; round++) {
      await running(round * count);
      const killedAt = performance.now();
      await kill(shell);
      shell = start();
      await running((round + 1) * count);
      downMs.push(performance.now() - killedAt);
    }
  } finally {
    await kill(shell);
    rmSync(directory, { recursive: true, force: true });
  }
  return downMs;
}
