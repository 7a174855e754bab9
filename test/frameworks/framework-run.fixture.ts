/**
 * A training run of `examples/` with a real framework: its manifest and program as users apply
 * them, the processes of its ranks, and what these print.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Stored } from '@lockstep/kube/meta.ts';
import { CONFIG_MAPS } from '@lockstep/kube/objects/core.ts';
import { COMPLETION_INDEX } from '@lockstep/kube/objects/job.ts';
import type { Container, Pod } from '@lockstep/kube/objects/pod.ts';
import { freePort } from '@lockstep/kube/runtime/adapters/free-ports.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { waitFor } from '@lockstep/kube/runtime/informer/wait-for.ts';
import { parse } from 'yaml';
import { Standbys } from '../../src/cli/demo/standbys.ts';
import { createJobSetInformers, type JobSetInformers } from '../../src/cli/jobset-informers.ts';
import { agentLineOf } from '../../src/cli/jobset-logs/epoch-lines.ts';
import { readLines } from '../../src/cli/log-lines.ts';
import { processStat } from '../../src/cli/process-stat.ts';
import { JOBSETS, type JobSet } from '../../src/jobset/jobset.ts';
import type { RestartRecord } from '../../src/jobset/jobset-status.ts';
import { ENV_WORKER, PROCESSES_PER_POD, RESTART_BACKOFF, STANDBY } from '../../src/jobset/names.ts';
import { pythonWheel } from '../../tools/python-package.ts';

const EXAMPLES = fileURLToPath(new URL('../../examples/', import.meta.url));
/** On `PYTHONPATH` of the workers, so that a signal raises an exception in them. */
const FAULT_DIRECTORY = fileURLToPath(new URL('fault/', import.meta.url));
const NAMESPACE = 'default';
const WORKER = 'worker';
/** Ranks of every example, unless a test asks for more. */
export const WORLD_SIZE = 4;
export const CHECKPOINT_STEPS = 20;
const TIMEOUT_MS = 120_000;
/** How much of the output the message of a time-out shows. */
const SHOWN_LINES = 60;

const START = /rank (\d+) of \d+ starts at step (\d+)$/;
const STEP = /rank (\d+) did step (\d+) of \d+, loss (\S+)/;

export interface Framework {
  /** The name of its JobSet. */
  readonly name: string;
  /** Below `examples/`. */
  readonly manifest: string;
  readonly program: string;
  readonly configMap: string;
  readonly python: string;
  readonly ranksPerPod: number;
  /** Ranks of all Pods; absent: `WORLD_SIZE`. */
  readonly worldSize?: number;
  /** The variable with the port of rank 0. */
  readonly portVariable: string;
  /** Arguments of the launcher, in front of the program. */
  readonly launcherArguments?: readonly string[];
}

/** One life of the process of a rank. Times come from `performance.now()`. */
export interface Life {
  /** The step that it resumed from. */
  readonly from: number;
  readonly firstStep?: { readonly step: number; readonly atMs: number };
  readonly lastStep?: number;
  /** What the last step printed. */
  readonly loss?: number;
}

export interface RunOptions {
  /** The JobSet has it; its volume has the checkpoints. */
  readonly name?: string;
  readonly steps?: number;
  /** Without warm standbys, although the manifest asks for them. */
  readonly isCold?: boolean;
  /** Only `LOCAL_RANK` 0 reports, as in a program without the package. */
  readonly isWithoutRanks?: boolean;
}

export class FrameworkRun {
  readonly #framework: Framework;
  readonly #client: Client;
  readonly #informers: JobSetInformers;
  readonly #lives: readonly Life[][];
  readonly #output: string[] = [];
  readonly #followed = new Set<string>();
  readonly #follows: Promise<void>[] = [];
  readonly #stop = new AbortController();
  readonly #checks = new Set<() => void>();
  readonly #standbys = new Standbys();
  readonly #hasStandbys: boolean;
  #promotions = 0;

  private constructor(framework: Framework, client: Client, { metadata }: JobSet) {
    this.#hasStandbys = metadata.annotations?.[STANDBY] !== undefined;
    this.#framework = framework;
    const { worldSize = WORLD_SIZE } = framework;
    this.#lives = Array.from({ length: worldSize }, () => []);
    this.#client = client;
    this.#informers = createJobSetInformers(
      { namespace: NAMESPACE, name: framework.name },
      { client, clock: nodeClock, random: systemRandom },
    );
    const changed = (): void => this.#changed();
    const sawPod = (pod: Stored<Pod>): void => {
      this.#sawPod(pod);
      changed();
    };
    this.#informers.pods.subscribe({ added: sawPod, updated: sawPod, deleted: changed });
    this.#informers.jobSets.subscribe({ added: changed, updated: changed, deleted: changed });
  }

  static async start(
    example: Framework,
    client: Client,
    options: RunOptions = {},
  ): Promise<FrameworkRun> {
    const framework = { ...example, name: options.name ?? example.name };
    const jobSet = manifestOf(framework, await freePort(systemRandom), options);
    const run = new FrameworkRun(framework, client, jobSet);
    const program = readFileSync(join(EXAMPLES, framework.program), 'utf8');
    await client.create(CONFIG_MAPS, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: NAMESPACE, name: framework.configMap },
      data: { [basename(framework.program)]: program },
      binaryData: { 'lockstep.whl': pythonWheel().toString('base64') },
    });
    await client.create(JOBSETS, jobSet);
    return run;
  }

  get status(): NonNullable<JobSet['status']> {
    const [jobSet] = this.#informers.jobSets.store.values();
    return jobSet?.status ?? {};
  }

  /** Whether a line of a worker or of its hang command has this text. */
  hasPrinted(text: string): boolean {
    return this.#output.some((line) => line.includes(text));
  }

  /** Name, UID and address of each Pod. */
  identities(): readonly string[] {
    return [...this.#informers.pods.store.values()]
      .map(({ metadata, status }) => `${metadata.name} ${metadata.uid} ${status?.podIP}`)
      .sort();
  }

  /** The lives of all ranks' processes in one epoch that were seen so far. */
  lives(epoch: number): readonly Life[] {
    return this.#lives.flatMap((lives) => lives[epoch - 1] ?? []);
  }

  /** All ranks have done a step in this epoch. */
  stepping(epoch: number): boolean {
    const lives = this.lives(epoch);
    return (
      lives.length === this.#lives.length && lives.every(({ firstStep }) => firstStep !== undefined)
    );
  }

  record(epoch: number): RestartRecord | undefined {
    return this.status.restartHistory?.find((record) => record.epoch === epoch);
  }

  /** How many standbys have become workers. */
  get promotions(): number {
    return this.#promotions;
  }

  /** Every Pod that is to have a standby has one that waits for its turn. */
  get standbysAreReady(): boolean {
    return !this.#hasStandbys || this.#standbys.ready === this.#informers.pods.store.size;
  }

  /** The Pod's completion index. */
  podOf(rank: number): number {
    return Math.floor(rank / this.#framework.ranksPerPod);
  }

  /** The machine's number of the process of a rank, by what its environment says. */
  process(rank: number): number {
    const uids = new Map(
      [...this.#informers.pods.store.values()].map(({ metadata }) => [
        metadata.uid,
        Number(metadata.annotations?.[COMPLETION_INDEX]),
      ]),
    );
    const found = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((name) => {
        const environment = environmentOf(name);
        const [uid = ''] = environment.get('LOCKSTEP_CONTAINER')?.split('/') ?? [];
        return (
          environment.get('RANK') === String(rank) &&
          environment.has(ENV_WORKER) &&
          uids.get(uid) === this.podOf(rank)
        );
      });
    // A standby is younger than the worker beside which it waits.
    const ages = found.flatMap((name) => processStat(Number(name)) ?? []);
    const [worker, ...others] = ages.sort((a, b) => Number(a.startTime) - Number(b.startTime));
    if (worker === undefined || others.length > (this.#hasStandbys ? 1 : 0)) {
      throw new Error(`rank ${rank} has the processes [${found.join(', ')}], expected one`);
    }
    return worker.pid;
  }

  /** Resolves in the first state for which `condition` holds, at every change and line. */
  until(what: string, condition: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void): void => {
        this.#checks.delete(check);
        clearTimeout(timer);
        settle();
      };
      const check = (): void => {
        if (condition()) finish(resolve);
      };
      const timer = setTimeout(() => {
        const output = this.#output.slice(-SHOWN_LINES).join('\n');
        const text = `not within ${TIMEOUT_MS} ms: ${what}\n${JSON.stringify(this.status)}\n${output}`;
        finish(() => reject(new Error(text)));
      }, TIMEOUT_MS);
      this.#checks.add(check);
      check();
    });
  }

  async remove(): Promise<void> {
    this.#stop.abort(new Error('the run is over'));
    const key = { namespace: NAMESPACE, name: this.#framework.name };
    await this.#client.delete(JOBSETS, key, { propagationPolicy: 'Foreground' });
    const wait = { clock: nodeClock, random: systemRandom, timeoutMs: TIMEOUT_MS };
    await waitFor(this.#client, JOBSETS, key, (one) => one === undefined, wait);
    await this.#client.delete(CONFIG_MAPS, { ...key, name: this.#framework.configMap });
    const { pods, jobSets } = this.#informers;
    await Promise.all([pods.stop(), jobSets.stop(), ...this.#follows]);
  }

  #changed(): void {
    for (const check of this.#checks) check();
  }

  #sawPod({ metadata, status }: Stored<Pod>): void {
    const worker = status?.containerStatuses?.find(({ name }) => name === WORKER);
    if (worker?.state?.running === undefined || this.#followed.has(metadata.uid)) return;
    this.#followed.add(metadata.uid);
    this.#follows.push(this.#follow(metadata.name));
  }

  /** A supervisor keeps its container, so one log has all epochs. */
  async #follow(pod: string): Promise<void> {
    const options = { container: WORKER, follow: true, signal: this.#stop.signal };
    try {
      const key = { namespace: NAMESPACE, name: pod };
      for await (const { bytes } of readLines(this.#client.logs(key, options))) {
        const agentLine = agentLineOf(bytes);
        if (agentLine === undefined) this.#sawLine(bytes.toString());
        else this.#sawAgentLine(pod, agentLine.message);
      }
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#output.push(`the log of ${pod} ended: ${error}`);
    }
  }

  #sawAgentLine(pod: string, message: string): void {
    if (this.#standbys.took(pod, message)) this.#promotions++;
    this.#changed();
  }

  #sawLine(line: string): void {
    const [rank, number, loss] = (START.exec(line) ?? STEP.exec(line))?.slice(1).map(Number) ?? [];
    const lives = this.#lives[rank ?? -1];
    if (lives === undefined || number === undefined) {
      this.#output.push(line);
      return;
    }
    if (START.test(line)) lives.push({ from: number });
    else {
      const life = lives.pop() ?? { from: Number.NaN };
      const { firstStep = { step: number, atMs: performance.now() } } = life;
      lives.push({ ...life, firstStep, lastStep: number, loss: loss ?? Number.NaN });
    }
    this.#changed();
  }
}

/**
 * The manifest of the example with the Python that has the framework, as its guide says, and with
 * so many steps and restarts that all tests have their turn.
 */
function manifestOf(
  { name, manifest, python, portVariable, launcherArguments = [], ranksPerPod }: Framework,
  port: number,
  { steps = 1_000_000, isCold = false, isWithoutRanks = false }: RunOptions,
): JobSet {
  const { metadata, ...jobSet } = parse(readFileSync(join(EXAMPLES, manifest), 'utf8')) as JobSet;
  const [workers] = jobSet.spec.replicatedJobs ?? [];
  const template = workers?.template.spec.template;
  const [container] = template?.spec.containers ?? [];
  const command = container?.command ?? [];
  if (workers === undefined || template === undefined || container === undefined) {
    throw new Error(`${manifest} has no workers`);
  }
  const environment: Readonly<Record<string, string>> = {
    // Rank 0 of PyTorch listens on all addresses, so a fixed port may belong to another run.
    [portVariable]: String(port),
    STEPS: String(steps),
    STEP_SECONDS: '0.05',
    CHECKPOINT_STEPS: String(CHECKPOINT_STEPS),
    PYTHONPATH: `${FAULT_DIRECTORY}:lockstep.whl`,
    // A launcher that passes on what its processes print would keep it for seconds.
    PYTHONUNBUFFERED: '1',
    ...(isWithoutRanks ? { TEST_WITHOUT_RANKS: '1' } : {}),
  };
  const { [STANDBY]: _, ...withoutStandby } = metadata.annotations ?? {};
  const annotations = isCold ? withoutStandby : metadata.annotations;
  const changed: Container = {
    ...container,
    command: [
      python,
      ...command
        .slice(1, -1)
        .map((word) => word.replace(/^--nproc_per_node=.*/, `--nproc_per_node=${ranksPerPod}`)),
      ...launcherArguments,
      ...command.slice(-1),
    ],
    env: [
      ...(container.env ?? []).filter((variable) => !(variable.name in environment)),
      ...Object.entries(environment).map(([key, value]) => ({ name: key, value })),
    ],
  };
  const pod = { ...template, spec: { ...template.spec, containers: [changed] } };
  const job = { ...workers.template, spec: { ...workers.template.spec, template: pod } };
  return {
    ...jobSet,
    metadata: {
      ...metadata,
      namespace: NAMESPACE,
      name,
      annotations: {
        ...annotations,
        [RESTART_BACKOFF]: 'Disabled',
        ...(annotations?.[PROCESSES_PER_POD] === undefined
          ? {}
          : { [PROCESSES_PER_POD]: String(ranksPerPod) }),
      },
    },
    spec: {
      ...jobSet.spec,
      failurePolicy: { ...jobSet.spec.failurePolicy, maxRestarts: 1000 },
      replicatedJobs: [{ ...workers, template: job }],
    },
  };
}

/** Empty for a process that has ended, or belongs to the kernel or another user. */
function environmentOf(pid: string): ReadonlyMap<string, string> {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return new Map();
  }
  return new Map(
    text.split('\0').map((entry) => {
      const at = entry.indexOf('=');
      return [entry.slice(0, at), entry.slice(at + 1)];
    }),
  );
}
