/**
 * One worker of a data-parallel training run: it joins the ring, takes rank 0's last checkpoint,
 * and runs synchronous SGD. It tells how far it is, lets a warm standby wait for its turn, and knows
 * nothing else of Lockstep. If it loses a neighbour it waits, as a stuck collective would, until the
 * group is restarted.
 *
 * Environment: `RANK` and `WORLD_SIZE`; `RING_ADDRESS` and `RING_PORT` to listen on;
 * `RING_HOST_FORMAT`, the host name of a rank with `%d` in its place; `CHECKPOINT_DIRECTORY`;
 * optionally `TRAINING_STEPS`, `CHECKPOINT_STEPS` and `STEPS_PER_SECOND`, a limit that keeps the machine
 * usable meanwhile. Lockstep sets `LOCKSTEP_PROGRESS_FILE` and
 * `LOCKSTEP_START_FILE`. On its embedded cluster, names come from the file `LOCKSTEP_HOSTS` and
 * mounted directories lie below `LOCKSTEP_ROOT`.
 */
import { lookup } from 'node:dns/promises';
import { existsSync } from 'node:fs';
import { appendFile, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { readCheckpoint, writeCheckpoint } from './checkpoint.ts';
import {
  accuracy,
  addGradient,
  generator,
  initialParameters,
  PARAMETER_COUNT,
} from './perceptron.ts';
import { NeighbourLost, Ring } from './ring.ts';
import { readSamples, type Samples } from './samples.ts';

const GLOBAL_BATCH = 256;
const LEARNING_RATE = 0.12;
const MOMENTUM = 0.9;
const SEED = 20_19;
const LOG_STEPS = 5;
/** Batches after which the compiler of Node has done its work. */
const PRACTICE_BATCHES = 20;
const START_POLL_MS = 5;
/** How long a worker waits for the restart of its group after it lost a neighbour. */
const STRANDED_LIMIT_MS = 120_000;
const EXIT_STRANDED = 1;

/** They lie beside the built program. */
const TRAINING_SAMPLES = fileURLToPath(new URL('mnist-train', import.meta.url));
const TEST_SAMPLES = fileURLToPath(new URL('mnist-test', import.meta.url));

const env = (name: string, fallback?: string): string => {
  const value = process.env[name] ?? fallback;
  if (value === undefined || value === '') throw new Error(`${name} is not set`);
  return value;
};
const whole = (name: string, minimum: number, fallback?: string): number => {
  const value = Number(env(name, fallback));
  if (!Number.isInteger(value) || value < minimum) {
    throw new Error(
      `${name} is ${JSON.stringify(env(name, fallback))}, expected an integer from ${minimum}`,
    );
  }
  return value;
};
const log = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** Tells Lockstep how far this worker is, where it runs under Lockstep. */
async function tellProgress(line: string): Promise<void> {
  const file = process.env['LOCKSTEP_PROGRESS_FILE'];
  if (file !== undefined) await appendFile(file, `${line}\n`);
}

/** Here a warm standby waits for its turn. Every other process finds the file at once. */
async function waitForStart(): Promise<void> {
  const file = process.env['LOCKSTEP_START_FILE'];
  if (file === undefined) return;
  await tellProgress('phase=standby');
  while (!existsSync(file)) await new Promise((wake) => setTimeout(wake, START_POLL_MS));
}

async function resolve(host: string): Promise<string | undefined> {
  const hosts = process.env['LOCKSTEP_HOSTS'];
  if (hosts === undefined) {
    return lookup(host).then(
      (found) => found.address,
      () => undefined,
    );
  }
  const lines = (await readFile(hosts, 'utf8').catch(() => '')).split('\n');
  const line = lines
    .map((text) => text.split(/\s+/))
    .find((words) => words.slice(1).includes(host));
  return line?.[0];
}

/** The order in which a worker visits its samples in one pass: the same after every restart. */
function shuffled(count: number, pass: number, rank: number): Uint32Array {
  const next = generator(SEED + 7919 * pass + 104729 * rank);
  const order = Uint32Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1));
    const held = order[i] as number;
    order[i] = order[j] as number;
    order[j] = held;
  }
  return order;
}

interface Model {
  readonly parameters: Float32Array;
  readonly momentum: Float32Array;
}

interface Prepared {
  readonly samples: Samples;
  readonly initial: Float32Array;
}

/** All that needs no other worker. */
async function prepare(rank: number, size: number): Promise<Prepared> {
  const samples = await readSamples(TRAINING_SAMPLES, rank, size);
  const initial = initialParameters(SEED);
  // Only a standby has time to practise, so that its first step is as fast as the others.
  const batches = process.env['LOCKSTEP_STANDBY'] === undefined ? 0 : PRACTICE_BATCHES;
  const order = Uint32Array.from({ length: batchOf(size) }, (_, index) => index);
  const gradient = new Float32Array(PARAMETER_COUNT + 1);
  const practised = { parameters: initial.slice(), momentum: new Float32Array(PARAMETER_COUNT) };
  for (let i = 0; i < batches; i++) {
    gradient.fill(0);
    addGradient(practised.parameters, samples, order, gradient);
    descend(practised, gradient, 1 / order.length);
  }
  return { samples, initial };
}

/** Changes the model by the sum of the gradients of a step. */
function descend({ parameters, momentum }: Model, gradients: Float32Array, scale: number): void {
  for (let i = 0; i < PARAMETER_COUNT; i++) {
    const change =
      MOMENTUM * (momentum[i] as number) - LEARNING_RATE * scale * (gradients[i] as number);
    momentum[i] = change;
    parameters[i] = (parameters[i] as number) + change;
  }
}

/** The samples that one worker takes for a step. */
function batchOf(size: number): number {
  return Math.max(1, Math.floor(GLOBAL_BATCH / size));
}

async function rest(ms: number): Promise<void> {
  if (ms > 0) await new Promise((wake) => setTimeout(wake, ms));
}

async function train(
  ring: Ring,
  checkpoints: string,
  { samples, initial }: Prepared,
): Promise<void> {
  const steps = whole('TRAINING_STEPS', 1, '700');
  const checkpointSteps = whole('CHECKPOINT_STEPS', 1, '50');
  const stepsPerSecond = whole('STEPS_PER_SECOND', 0, '0');
  const leastStepMs = stepsPerSecond === 0 ? 0 : 1000 / stepsPerSecond;
  const batch = batchOf(ring.size);
  const stepsPerPass = Math.floor(samples.count / batch);

  // All use rank 0's checkpoint, so that they agree even if they see different directories.
  const saved = ring.rank === 0 ? await readCheckpoint(checkpoints) : undefined;
  const parameters = saved?.parameters ?? initial;
  const momentum = saved?.momentum ?? new Float32Array(PARAMETER_COUNT);
  const start = Float32Array.of(saved?.step ?? 0);
  await ring.broadcast(start);
  await ring.broadcast(parameters);
  await ring.broadcast(momentum);
  const firstStep = start[0] ?? 0;
  log(`rank ${ring.rank} of ${ring.size} starts at step ${firstStep}`);

  // The last element carries the loss, so one all-reduce serves both.
  const shared = new Float32Array(PARAMETER_COUNT + 1);
  let order: Uint32Array = new Uint32Array(0);
  let orderPass = -1;
  let markedAt = performance.now();
  let markedStep = firstStep;
  // Only the newest line counts, so the checkpoint is repeated.
  let lastCheckpoint = firstStep === 0 ? '' : ` checkpoint=${firstStep}`;
  for (let step = firstStep; step < steps; step++) {
    const startedAt = performance.now();
    const pass = Math.floor(step / stepsPerPass);
    if (pass !== orderPass) {
      order = shuffled(samples.count, pass, ring.rank);
      orderPass = pass;
    }
    const from = (step % stepsPerPass) * batch;
    shared.fill(0);
    shared[PARAMETER_COUNT] = addGradient(
      parameters,
      samples,
      order.subarray(from, from + batch),
      shared,
    );
    await ring.allReduce(shared);
    const scale = 1 / (batch * ring.size);
    descend({ parameters, momentum }, shared, scale);
    const done = step + 1;
    await rest(startedAt + leastStepMs - performance.now());
    await tellProgress(`${done}${lastCheckpoint}`);
    if (ring.rank !== 0) continue;
    if (done % LOG_STEPS === 0 || step === firstStep || done === steps) {
      const now = performance.now();
      const rate = ((done - markedStep) * batch * ring.size * 1000) / Math.max(1, now - markedAt);
      const loss = scale * (shared[PARAMETER_COUNT] ?? 0);
      log(
        `step ${done} of ${steps} pass ${pass + 1} loss ${loss.toFixed(4)} images/s ${Math.round(rate)}`,
      );
      markedAt = now;
      markedStep = done;
    }
    if (done % checkpointSteps === 0 || done === steps) {
      await writeCheckpoint(checkpoints, { step: done, parameters, momentum });
      lastCheckpoint = ` checkpoint=${done}`;
      await tellProgress(`${done}${lastCheckpoint}`);
      log(`checkpoint at step ${done}`);
    }
  }
  if (ring.rank === 0) {
    await tellProgress(`${steps}${lastCheckpoint} phase=evaluate`);
    const test = await readSamples(TEST_SAMPLES, 0, 1);
    log(`accuracy ${accuracy(parameters, test).toFixed(4)} on ${test.count} test images`);
  }
  await ring.allReduce(shared);
}

const rank = whole('RANK', 0);
const size = whole('WORLD_SIZE', 1);
const prepared = await prepare(rank, size);
await waitForStart();
// So that you can tell it from a standby, and kill it.
process.title = 'mnist-worker';
log(`rank ${rank} is process ${process.pid}`);
const root = process.env['LOCKSTEP_ROOT'] ?? '';
try {
  const ring = await Ring.join({
    rank,
    size,
    address: env('RING_ADDRESS'),
    port: whole('RING_PORT', 1),
    successor: () => resolve(env('RING_HOST_FORMAT').replace('%d', String((rank + 1) % size))),
  });
  await train(ring, root + env('CHECKPOINT_DIRECTORY'), prepared);
  ring.close();
} catch (error) {
  if (!(error instanceof NeighbourLost)) throw error;
  log(`rank ${rank} lost a neighbour (${error.message}) and waits to be restarted`);
  await new Promise((wake) => setTimeout(wake, STRANDED_LIMIT_MS));
  process.exitCode = EXIT_STRANDED;
}
