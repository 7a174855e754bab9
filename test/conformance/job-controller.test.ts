/**
 * Compares our Job controller with the real one. `recorded/job-controller.json` holds the results
 * of the Jobs of `job-scenarios.ts` under kube-controller-manager 1.36.3 (`record-jobs.ts` records
 * it). With `LOCKSTEP_TEST_KUBECONFIG`, that controller is compared with the recording too.
 */
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { MemoryCluster } from '@lockstep/embedded-kubernetes/in-memory';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { describe, expect, it } from 'vitest';
import { startApi } from '../integration/api-server.fixture.ts';
import { KUBERNETES, unlikeRecorded } from '../kubernetes.ts';
import type { JobNote } from './job-notes.ts';
import type { PlayedJob } from './job-play.ts';
import { JOB_SCENARIOS } from './job-scenarios.ts';
import { playJobs } from './job-stages.ts';

const file = new URL('recorded/job-controller.json', import.meta.url);
const recorded = JSON.parse(readFileSync(file, 'utf8')) as readonly PlayedJob[];
/** Statuses in between that differ, and why. */
const TWO_LOOKS = 'Two Pods that end within a second are seen at one look there.';
const OTHER_STATUSES: Readonly<Record<string, string>> = {
  'two Pods fail at once, which are two failures': TWO_LOOKS,
};
/** All scenarios end within this virtual time. */
const LIMIT_MS = 3_600_000;

describe('our Job controller does as the real one:', async () => {
  const cluster = new MemoryCluster();
  await cluster.start();
  let played: readonly PlayedJob[] | undefined;
  const playing = playJobs(cluster.client, cluster.clock).then((result) => {
    played = result;
  });
  await cluster.clock.runUntil(() => played !== undefined, LIMIT_MS);
  await playing;
  await cluster.stop();
  const byName = new Map(played?.map((one) => [one.name, one]));

  describe.each(recorded)('$name', ({ name, steps, statuses, events }) => {
    const ours = byName.get(name);

    it('after each step', () => {
      expect(ours?.steps).toEqual(steps);
    });

    it('with every status of the Job in between, and in this order', () => {
      const missing = missingFrom(ours?.statuses ?? [], statuses);
      expect(missing.length > 0).toBe(name in OTHER_STATUSES);
    });

    it('with the same Events', () => {
      expect(ours?.events).toEqual(events);
    });
  });

  it('nothing but what was recorded', () => {
    expect(played?.map(({ name }) => name)).toEqual(recorded.map(({ name }) => name));
  });
});

const REAL_TIMEOUT_MS = 600_000;
/** How many scenarios may be late. */
const MAX_LATE = 8;

it.skipIf(KUBERNETES === undefined)(
  'a real Job controller does as recorded',
  async ({ skip }) => {
    const { client, stop } = await startApi();
    try {
      const why = await unlikeRecorded(client);
      skip(why !== undefined, why);
      const played = await playJobs(client, nodeClock);
      const isAsRecorded = ({ name }: { readonly name: string }): boolean =>
        isDeepStrictEqual(settled(played, name), settled(recorded, name));
      // A controller that was held up by the machine may have missed a moment; it gets another
      // chance.
      const late = JOB_SCENARIOS.filter((scenario) => !isAsRecorded(scenario));
      expect(late.length).toBeLessThanOrEqual(MAX_LATE);
      for (const again of await playJobs(client, nodeClock, late)) {
        expect(settled([again], again.name)).toEqual(settled(recorded, again.name));
      }
    } finally {
      await stop();
    }
  },
  REAL_TIMEOUT_MS,
);

/** What is the same in each run of the Job; as JSON, which has no undefined. */
function settled(jobs: readonly PlayedJob[], wanted: string): unknown {
  const job = jobs.find(({ name }) => name === wanted);
  return JSON.parse(JSON.stringify([job?.steps, job?.events]));
}

/** The statuses of `expected` that `actual` lacks; it may have more in between. */
function missingFrom(actual: readonly JobNote[], expected: readonly JobNote[]): readonly JobNote[] {
  const rest = actual.map((note) => JSON.stringify(note));
  return expected.filter((note) => {
    const at = rest.indexOf(JSON.stringify(note));
    rest.splice(0, at + 1);
    return at < 0;
  });
}
