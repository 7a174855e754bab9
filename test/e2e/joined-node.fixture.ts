/**
 * This machine as a node of a real Kubernetes, on which the operator runs in Pods of its manifest:
 * images of Lockstep are programs of `dist/`.
 */
import { execFile } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { createNodeProcessRunner } from '@lockstep/kube/runtime/adapters/node-process-runner.ts';
import { createPinoLogger } from '@lockstep/kube/runtime/adapters/pino-logger.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { type ControlPlane, joinRunning } from '../../src/cli/local-cluster/control-plane.ts';
import { type StateDirectory, temporaryStateDirectory } from '../../src/cli/state-directory.ts';
import { Watchdog } from '../../src/cli/watchdog/watchdog.ts';
import type { JobSet } from '../../src/jobset/jobset.ts';
import { KUBERNETES } from '../kubernetes.ts';
import { LOCKSTEP } from './local-cluster.fixture.ts';

const DIST = fileURLToPath(new URL('../../dist/', import.meta.url));

const run = promisify(execFile);

export class JoinedNode {
  readonly #state: StateDirectory;
  readonly #log: number;
  readonly #watchdog: Watchdog;
  readonly #controlPlane: ControlPlane;

  private constructor(
    state: StateDirectory,
    log: number,
    watchdog: Watchdog,
    controlPlane: ControlPlane,
  ) {
    this.#state = state;
    this.#log = log;
    this.#watchdog = watchdog;
    this.#controlPlane = controlPlane;
  }

  static async join(name: string): Promise<JoinedNode> {
    const state = temporaryStateDirectory();
    const log = openSync(join(state.path, 'cluster.log'), 'a', 0o600);
    const watchdog = Watchdog.start(join(DIST, 'watchdog.js'), state.path, true);
    const options = {
      clock: nodeClock,
      random: systemRandom,
      logger: createPinoLogger({ destination: log, level: 'info' }),
      processes: watchdog.guard(createNodeProcessRunner()),
      stateDirectory: state.path,
      path: [join(DIST, 'bin'), dirname(process.execPath), process.env['PATH']].join(delimiter),
      nodes: [{ name, labels: {} }],
    };
    const controlPlane = await joinRunning(options, KUBERNETES ?? '');
    return new JoinedNode(state, log, watchdog, controlPlane);
  }

  get client(): Client {
    return this.#controlPlane.client;
  }

  /** For files of workers. */
  get directory(): string {
    return this.#state.path;
  }

  /** Runs the command against this cluster; its output. Rejects with its `code` and output. */
  async lockstep(...args: readonly string[]): Promise<string> {
    const connection = ['--kubeconfig', KUBERNETES ?? ''];
    const { stdout } = await run(process.execPath, [LOCKSTEP, ...args, ...connection]);
    return stdout;
  }

  async leave(): Promise<void> {
    await this.#controlPlane.stop();
    this.#watchdog.release();
    closeSync(this.#log);
    this.#state.release(true);
  }
}

/** The JobSet with Pods of this account, to which an operator may give rights. */
export function withAccount(jobSet: JobSet, account: string): JobSet {
  const replicatedJobs = (jobSet.spec?.replicatedJobs ?? []).map((job) => {
    const { spec } = job.template;
    const pod = { ...spec.template.spec, serviceAccountName: account };
    return { ...job, template: { spec: { ...spec, template: { ...spec.template, spec: pod } } } };
  });
  return { ...jobSet, spec: { ...jobSet.spec, replicatedJobs } };
}
