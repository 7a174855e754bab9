/**
 * Our node agent against recordings of a real kubelet (1.36.3, containerd): the same Pod goes through
 * the same statuses in the same order. A kubelet coalesces, so ours may show more between them, and
 * may be quicker, never slower.
 */
import { afterEach, describe, expect, it } from 'vitest';
import type { TestNode } from '../../src/cluster/node/test-node.fixture.ts';
import {
  firstMissing,
  nodeThatPlays,
  type RecordedPod,
  type RecordedStatus,
  readRecording,
  recordings,
  shownEvents,
  shownStatuses,
} from './recorded-pod.ts';

/** What the recording's own clock may have been late by. */
const SLACK_MS = 1_000;

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
