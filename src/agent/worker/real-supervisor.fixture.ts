/** A supervisor with all that it has in a Pod: real processes, files, pipes and looks into /proc. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { createNodeProcessRunner } from '@lockstep/kube/runtime/adapters/node-process-runner.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { expect } from 'vitest';
import { createProcLooks } from '../adapters/proc-looks.ts';
import { createProcRanks } from '../adapters/proc-ranks.ts';
import { createProcessPriorities } from '../adapters/process-priorities.ts';
import { createWorkerFiles, createWorkerMessages } from '../adapters/worker-files.ts';
import { createWorkerPipes } from '../adapters/worker-pipes.ts';
import { createSupervisor, type Supervisor, type SupervisorOptions } from '../supervisor.ts';

export interface RealSupervisorOptions extends Partial<SupervisorOptions> {
  readonly argv: SupervisorOptions['command']['argv'];
  /** For its files; the worker runs there. */
  readonly directory: string;
  /** Gets what the worker prints. */
  readonly said: string[];
  readonly logger: Logger;
}

export function realSupervisor(options: RealSupervisorOptions): Supervisor {
  const { argv, directory, said, logger, ...more } = options;
  const path = process.env['PATH'] ?? '';
  const sink = {
    write: (bytes: Uint8Array | string) => said.push(Buffer.from(bytes).toString()) > 0,
    drained: (then: () => void) => then(),
    waiting: 0,
  };
  return createSupervisor({
    command: { argv, env: { PATH: path, D: directory }, cwd: directory },
    rules: [],
    stopGraceMs: 10_000,
    progressPrefix: undefined,
    hangCommand: undefined,
    preflight: undefined,
    hasStandby: false,
    priorities: createProcessPriorities(),
    terminationMessagePath: join(directory, 'message'),
    files: createWorkerFiles(directory, logger),
    messages: createWorkerMessages(logger),
    output: createWorkerPipes({ sinks: { stdout: sink, stderr: sink }, path, directory, logger }),
    looks: createProcLooks({ clock: nodeClock, cgroup: undefined }),
    rankLooks: createProcRanks(),
    say: (line) => void said.push(line),
    processes: createNodeProcessRunner(),
    clock: nodeClock,
    random: systemRandom,
    logger,
    ...more,
  });
}

/**
 * Waits until a process that writes its number into a file, reports and stops itself is stopped. Its report
 * may be read before.
 */
export function untilStopped(path: string): Promise<void> {
  return until('the process is stopped', () => {
    const pid = Number(readFileSync(path, 'utf8'));
    expect(readFileSync(`/proc/${pid}/stat`, 'utf8')).toMatch(/^\d+ \(.*\) T /s);
  });
}
