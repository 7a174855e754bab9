/**
 * Compares our node agent with recordings of a real kubelet (1.36.3, containerd): the same Pod goes
 * through the same statuses in the same order. A kubelet merges statuses, so ours may show more in
 * between. It may be quicker, but never slower.
 */

import { JOBS, type JobSpec } from '@lockstep/kube/objects/job.ts';
import type { PodSpec } from '@lockstep/kube/objects/pod.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { type Controllers, startControllers } from '../controllers.ts';
import type { TestNode } from '../node/test-node.fixture.ts';
import { jobStatusText } from './job-status-text.fixture.ts';
import {
  firstMissing,
  nodeThatPlays,
  type RecordedPod,
  type RecordedStatus,
  readRecording,
  recordings,
  shownEvents,
  shownStatuses,
} from './recorded-pod.fixture.ts';

/** How late the recording's own clock may have been. */
const SLACK_MS = 1_000;

/** How long the group ran before the recorded round began. */
const GROUP_RUN_MS = 10_000;

/** The time in which a Job finishes after its Pod. */
const JOB_END_MS = 10_000;

let node: TestNode;

afterEach(async () => {
  await node.stop();
});

function durationMs(statuses: readonly RecordedStatus[]): number {
  return (statuses.at(-1)?.atMs ?? 0) + SLACK_MS;
}

const ofPods = recordings().filter((name) => !/^(job|kubelet|timings)/.test(name));

describe('a Pod goes through what a kubelet showed of', () => {
  it.each(ofPods)('%s', async (name) => {
    const { spec, runs, statuses, events } = readRecording<RecordedPod>(name);
    node = nodeThatPlays(runs);
    await node.start();
    await node.run(spec);
    await node.clock.advance(durationMs(statuses));
    expect(firstMissing(statuses, shownStatuses(node.api.history))).toBeUndefined();
    expect(new Set(await shownEvents(node))).toEqual(new Set(events));
  });
});

interface RecordedJob extends RecordedPod {
  readonly job: JobSpec;
  readonly jobStatuses: readonly string[];
}

/** Its Pod is deleted when its restarts exceed the limit. */
const ENDED_BY_JOB = 'job-onfailure-all-3-then-0';

const ofJobs = recordings().filter((name) => name.startsWith('job-'));

describe('a Job and its Pod go through what a cluster showed of', () => {
  let controllers: Controllers;
  let watching: AbortController;

  afterEach(async () => {
    watching.abort();
    await node.settled(controllers.stop());
  });

  it.each(ofJobs)('%s', async (name) => {
    const { job, runs, statuses, jobStatuses } = readRecording<RecordedJob>(name);
    node = nodeThatPlays(runs);
    await node.start();
    const { client } = node.api;
    const { clock } = node;
    const random = new SeededRandom(3);
    const removeVolume = async (): Promise<void> => undefined;
    const options = { client, clock, random, logger: SILENT, rootCertificate: 'PEM', removeVolume };
    controllers = await node.settled(startControllers(options));
    watching = new AbortController();
    const shown = watchJobs(node, watching.signal);
    await client.create(JOBS, {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'train', namespace: 'default' },
      spec: job,
    });
    await clock.advance(durationMs(statuses) + JOB_END_MS);
    expect([...node.api.histories.keys()]).toHaveLength(1);
    const [history = []] = node.api.histories.values();
    // In the recording the Pod ran for a second more, until the Job controller looked again.
    const seen = name === ENDED_BY_JOB ? statuses.slice(0, -1) : statuses;
    expect(firstMissing(seen, shownStatuses(history))).toBeUndefined();
    expect(withoutReady(shown)).toEqual(withoutReady(jobStatuses));
  });
});

/** The statuses of all Jobs as they arrive, in the returned list. */
function watchJobs(from: TestNode, signal: AbortSignal): readonly string[] {
  const shown: string[] = [];
  const follow = async (): Promise<void> => {
    for await (const event of from.api.client.watch(JOBS, { signal })) {
      if (event.type !== 'BOOKMARK') shown.push(jobStatusText(event.object.status));
    }
  };
  follow().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  return shown;
}

/** Whether a Job controller notices that a Pod was briefly not ready is chance. */
function withoutReady(statuses: readonly string[]): readonly string[] {
  const texts = statuses.map((text) => text.replace(/ready \d+, /, ''));
  return texts.filter((text, index) => text !== texts[index - 1]);
}

interface RecordedGroup {
  readonly spec: PodSpec;
  readonly pods: readonly Pick<RecordedPod, 'runs' | 'statuses'>[];
}

it('the Pods of a group that upstream restarts go through what a kubelet showed', async () => {
  const { spec, pods } = readRecording<RecordedGroup>('jobset-upstream-one-round-n4');
  for (const { runs, statuses } of pods) {
    node = nodeThatPlays(runs);
    await node.start();
    await node.run(spec);
    await node.clock.advance(GROUP_RUN_MS + durationMs(statuses));
    expect(firstMissing(statuses, shownStatuses(node.api.history))).toBeUndefined();
    if (runs !== pods.at(-1)?.runs) await node.stop();
  }
});

/** When the kubelet was killed, and started again, in milliseconds after the Pod was created. */
const OUTAGES: Readonly<Record<string, readonly [killedMs: number, revivedMs: number]>> = {
  'kubelet-down-before-exit': [7_000, 12_000],
  'kubelet-killed-during-teardown': [3_500, 8_500],
};

describe('shows the statuses of a kubelet for a Pod whose node agent is killed', () => {
  it.each(Object.entries(OUTAGES))('%s', async (name, [killedMs, revivedMs]) => {
    const { spec, runs, statuses, events } = readRecording<RecordedPod>(name);
    node = nodeThatPlays(runs, { canBeKilled: true });
    await node.start();
    await node.run(spec);
    await node.clock.advance(killedMs);
    node.kill();
    await node.clock.advance(revivedMs - killedMs);
    await node.revive();
    await node.clock.advance(durationMs(statuses) - revivedMs);
    expect(firstMissing(statuses, shownStatuses(node.api.history))).toBeUndefined();
    expect(new Set(await shownEvents(node))).toEqual(new Set(events));
  });
});
