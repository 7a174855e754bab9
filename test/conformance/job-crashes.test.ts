/**
 * Checks that a Job controller that crashes at any of its writes, and again after it has come back,
 * leads every Job to the same end: the same counters, conditions and Pods after each step of the
 * scenarios.
 */

import { MemoryCluster } from '@lockstep/embedded-kubernetes/in-memory';
import { SERVICE_ACCOUNTS } from '@lockstep/kube/objects/core.ts';
import { TransportError } from '@lockstep/kube/runtime/ports/transport.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type JobScenario, type PlayedJob, playJob } from './job-play.ts';
import { JOB_SCENARIOS } from './job-scenarios.ts';
import { startNode } from './job-stages.ts';

interface Crash {
  /** The number of the write at which it crashes, from the controllers' start; 0 is the first. */
  readonly write: number;
  /** Whether the write was carried out, although the controller does not know. */
  readonly isCarriedOut: boolean;
}

/**
 * A Pod that a user deleted is gone, with its failure, so a new process replaces it without the
 * back-off. That is sooner, and does no harm.
 */
const FORGETS_BACKOFF = /\bdeleted Pod\b|\bPod that is being deleted\b/;
const SCENARIOS = JOB_SCENARIOS.filter(({ name }) => !FORGETS_BACKOFF.test(name));

const RUNS = 40;
const TIMEOUT_MS = 120_000;
const crash = fc.record({ write: fc.nat(11), isCarriedOut: fc.boolean() });

it('a Job has the same result, whenever its controller crashes', {
  timeout: TIMEOUT_MS,
}, async () => {
  const undisturbed = new Map<JobScenario, PlayedJob>();
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...SCENARIOS),
      fc.array(crash, { minLength: 1, maxLength: 4 }),
      async (scenario, crashes) => {
        const expected = undisturbed.get(scenario) ?? (await play(scenario, []));
        undisturbed.set(scenario, expected);
        const { steps } = await play(scenario, crashes);
        expect(steps).toEqual(expected.steps);
      },
    ),
    { numRuns: RUNS },
  );
});

async function play(scenario: JobScenario, crashes: readonly Crash[]): Promise<PlayedJob> {
  const cluster = new MemoryCluster();
  await cluster.start();
  const { client, clock } = cluster;
  await cluster.until(() => cluster.exists(SERVICE_ACCOUNTS, 'default'));
  const node = await startNode(client, clock);
  const fate = disturb(cluster, crashes);
  const played = await playJob(scenario, {
    client,
    namespace: 'default',
    now: () => clock.now(),
    pass: async (ms) => {
      await clock.advance(ms);
      await fate.recover();
    },
  });
  await node.stop();
  await cluster.stop();
  return played;
}

/**
 * Makes the controllers crash, one crash after the other; `recover` starts them again if they are
 * down.
 */
function disturb(cluster: MemoryCluster, crashes: readonly Crash[]): { recover(): Promise<void> } {
  const left = [...crashes];
  let writes = 0;
  let isDown = false;
  cluster.intercept = async (request, send) => {
    const isWrite = request.method !== 'GET' && OF_JOBS.test(request.path);
    if (isDown && request.method !== 'GET') throw gone();
    const [next] = left;
    if (!isWrite || next === undefined || writes++ < next.write) return send();
    left.shift();
    isDown = true;
    if (next.isCarriedOut) await send();
    throw gone();
  };
  return {
    recover: async () => {
      if (!isDown) return;
      await cluster.stopControllers();
      writes = 0;
      isDown = false;
      await cluster.startControllers();
    },
  };
}

/** Writes to Jobs and Pods, most of them the Job controller's. */
const OF_JOBS = /\/(jobs|pods)(\/|$)/;

function gone(): TransportError {
  return new TransportError('the process is gone');
}
