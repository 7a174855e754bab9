import { formatFieldError } from '@lockstep/kube/field-error.ts';
import type { Stored } from '@lockstep/kube/meta.ts';
import { microTimeText } from '@lockstep/kube/time.ts';
import { describe, expect, test } from 'vitest';
import { afterwards, ZERO } from '../../../../test/fixtures/planned.ts';
import { membersAt, NOW_MS } from '../../../../test/fixtures/snapshots.ts';
import {
  BEGUN,
  jobSetOfTwo,
  planForTwo,
  TWO_WORKERS,
} from '../../../../test/fixtures/two-workers.ts';
import type { JobSet } from '../../jobset.ts';
import type { AvoidedNode, JobSetStatus, RestartRecord } from '../../jobset-status.ts';
import type { Plan } from '../../plan.ts';
import { forgetNodesErrors, forgetRequest } from '../../policies/forget-nodes.ts';

const KEY = 'lockstep/forget-nodes';

function left(node: string, agoMs: number): AvoidedNode {
  const time = microTimeText(NOW_MS - agoMs);
  return { node, time, reason: 'r', pod: `p-${node}`, worker: 'worker 1 of w (w-0, index 1)' };
}

const FIRST = left('n1', 600_000);
const SECOND = left('n2', 300_000);
const RECORD: RestartRecord = {
  epoch: 6,
  time: microTimeText(NOW_MS - 400_000),
  cause: 'WorkerFailed',
  counted: true,
};

/** Epoch 7 runs, or gathers at its barrier. */
function jobSetThatAvoids(
  avoidedNodes: readonly AvoidedNode[],
  request: string,
  { released = 7 }: { readonly released?: number } = {},
): Stored<JobSet> {
  const status: JobSetStatus = {
    ...BEGUN,
    deprecatedEpoch: 6,
    syncedEpoch: released,
    syncedTime: microTimeText(NOW_MS - 100_000),
    restartHistory: [RECORD],
    replicatedJobsStatus: [{ name: 'w', ...ZERO, syncedEpoch: released }],
    avoidedNodes,
  };
  const failurePolicy = { restartStrategy: 'InPlaceRestart', maxRestarts: 9 } as const;
  return jobSetOfTwo({ failurePolicy }, status, { annotations: { [KEY]: request } });
}

function planOfRunning(jobSet: Stored<JobSet>): Plan {
  return planForTwo(jobSet, { members: membersAt(7, TWO_WORKERS) });
}

describe('a request to forget nodes', () => {
  test('takes the entries that it names from the status, with an Event', () => {
    const made = planOfRunning(jobSetThatAvoids([SECOND, FIRST], forgetRequest([FIRST])));
    expect(made.status?.avoidedNodes).toEqual([SECOND]);
    expect(made.events).toEqual([
      {
        type: 'Normal',
        reason: 'NodesForgotten',
        note: 'not avoided any more, as lockstep/forget-nodes asks: n1',
      },
    ]);
    const all = forgetRequest([FIRST, SECOND]);
    expect(planOfRunning(jobSetThatAvoids([SECOND, FIRST], all)).status).not.toHaveProperty(
      'avoidedNodes',
    );
  });

  test('is obeyed once: a later strike of the same node stays', () => {
    const jobSet = jobSetThatAvoids([FIRST], forgetRequest([FIRST]));
    const after = afterwards(jobSet, planOfRunning(jobSet));
    expect(planOfRunning(after).status).toBeUndefined();
    const again = { ...FIRST, time: SECOND.time };
    const struck = { ...after, status: { ...after.status, avoidedNodes: [again] } };
    expect(planOfRunning(struck)).toMatchObject({ status: undefined, events: [] });
  });

  test('says the same after a write that was lost', () => {
    const jobSet = jobSetThatAvoids([SECOND, FIRST], forgetRequest([SECOND]));
    expect(planOfRunning(jobSet)).toEqual(planOfRunning(jobSet));
  });

  test('waits for the release where a member leaves the node in this restart', () => {
    const request = forgetRequest([FIRST, SECOND]);
    const gathering = jobSetThatAvoids([SECOND, FIRST], request, { released: 6 });
    const made = planForTwo(gathering, { members: membersAt(6, TWO_WORKERS) });
    // The first was left at the restart before.
    expect(made.status?.avoidedNodes).toEqual([SECOND]);
    const released = afterwards(jobSetThatAvoids([SECOND], request), {
      ...made,
      status: undefined,
    });
    expect(planOfRunning(released).status).not.toHaveProperty('avoidedNodes');
  });

  test.each([
    ['n1', 'names no time'],
    ['n1@2026-01-01', 'has no time of day'],
    ['n1@2026-13-01T00:00:00Z', 'has a month too many'],
    ['N_1@2026-01-01T00:00:00Z', 'names no node'],
    ['', 'is empty'],
    [Array.from({ length: 17 }, () => forgetRequest([FIRST])).join(','), 'is too long'],
    [`${forgetRequest([FIRST])},n2`, 'is wrong in part'],
  ])('"%s" is refused, because it %s, and does nothing', (text) => {
    const [error, ...others] = forgetNodesErrors({ [KEY]: text });
    expect(others).toEqual([]);
    expect(error && formatFieldError(error)).toMatch(
      /^metadata\.annotations\[lockstep\/forget-nodes\]: Invalid value: ".*": expected 1 to 16 entries of status\.avoidedNodes/s,
    );
    expect(planOfRunning(jobSetThatAvoids([FIRST], text)).status?.avoidedNodes ?? [FIRST]).toEqual([
      FIRST,
    ]);
  });

  test('is accepted as the command writes it, and with a time of fewer digits', () => {
    for (const text of [
      forgetRequest([FIRST, SECOND]),
      ' n1@2026-01-01T00:00:00Z , n2@2026-01-01T00:00:00.5Z',
    ]) {
      expect(forgetNodesErrors({ [KEY]: text })).toEqual([]);
    }
    expect(forgetNodesErrors({})).toEqual([]);
    const short = `n1@${new Date(NOW_MS - 600_000).toISOString()}`;
    expect(planOfRunning(jobSetThatAvoids([FIRST], short)).events).toHaveLength(1);
  });
});
