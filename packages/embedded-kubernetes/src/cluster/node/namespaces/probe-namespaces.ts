/** Finds out, by trying it once, whether the containers of this machine can have namespaces. */
import { endsWithin } from '@lockstep/kube/runtime/deadline.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { ProcessRunner } from '@lockstep/kube/runtime/ports/process-runner.ts';
import type { NodeFiles } from '../ports/node-files.ts';
import type { PodNamespaces } from '../ports/pod-namespaces.ts';

export interface NamespaceProbeOptions {
  readonly clock: Clock;
  readonly files: NodeFiles;
  readonly processes: ProcessRunner;
  /** Absolute; it exists neither before nor afterwards. */
  readonly directory: string;
  /** Where the machine's programs are. */
  readonly path: string;
}

/** It takes some ten milliseconds, but a security module may ask a question that has no answer. */
const PROBE_TIMEOUT_MS = 5_000;
const SUCCESS = 42;
const MAX_REASON_LENGTH = 300;

/**
 * A mount point that the machine does not have, a read-only volume, processes of its own, and a
 * signal to the whole group that ends only the command.
 */
const TRIAL = [
  '[ -f /lockstep/probe/here ] || { echo "a volume is not at its path"; exit 1; }',
  '(: >/lockstep/probe/here) 2>/dev/null && { echo "a volume can be written"; exit 1; }',
  '[ -d /proc/self ] && [ $$ -lt 100 ] || { echo "there is no pid namespace"; exit 1; }',
  `trap 'exit ${SUCCESS}' TERM`,
  'kill -TERM 0',
  'exit 1',
].join('\n');

/** Why they are unavailable; undefined if they are available. Never rejects. */
export async function probeNamespaces(
  namespaces: PodNamespaces,
  { clock, files, processes, directory, path }: NamespaceProbeOptions,
): Promise<string | undefined> {
  let output = '';
  try {
    await files.makeDirectory(`${directory}/mountpoint`);
    await files.makeDirectory(`${directory}/volume`);
    await files.write(`${directory}/volume/here`, new Uint8Array(), 0o644);
    const command = { argv: ['sh', '-c', TRIAL] as const, env: { PATH: path } };
    const argv = await namespaces.enter(placeIn(directory), command);
    const trial = await processes.start({
      argv,
      env: command.env,
      cwd: directory,
      onOutput: (_stream, chunk) => {
        if (output.length < MAX_REASON_LENGTH) output += new TextDecoder().decode(chunk);
      },
    });
    if (!(await endsWithin(clock, PROBE_TIMEOUT_MS, trial.exited))) {
      trial.signalGroup('SIGKILL');
      return `the trial did not end within ${PROBE_TIMEOUT_MS} ms`;
    }
    const exit = await trial.exited;
    if (exit.exitCode === SUCCESS) return undefined;
    return firstLine(output) ?? `the trial ended with ${exit.signal ?? exit.exitCode}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await files.remove(directory).catch(() => undefined);
  }
}

function placeIn(directory: string) {
  const [source, at] = [`${directory}/volume`, '/lockstep/probe'];
  return {
    directory,
    mounts: [{ source, at, isFile: false, isReadOnly: true }],
    links: [],
    cwd: '/',
    hasOwnProcesses: true,
    hostname: 'lockstep-probe',
  };
}

function firstLine(output: string): string | undefined {
  const [line = ''] = output.trim().split('\n');
  return line === '' ? undefined : line.slice(0, MAX_REASON_LENGTH);
}
