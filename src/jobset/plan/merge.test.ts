import { deepFrozen } from '@lockstep/kube/runtime/memory/deep-frozen.ts';
import { describe, expect, test } from 'vitest';
import { NOW_MS } from '../../../test/fixtures/snapshots.ts';
import type { JobSetStatus } from '../jobset-status.ts';
import { cleared } from '../status/conditions.ts';
import { type Decision, inOrder, LAST } from './decision.ts';
import { merge, unchanged } from './merge.ts';

const SAID = { reason: 'R', message: 'm', lastTransitionTime: '2026-01-01T00:00:00Z' };
const REJECTED = {
  type: 'Rejected',
  status: 'True',
  reason: 'InvalidSpec',
  message: 'no',
} as const;

function merged(status: JobSetStatus, ...decisions: readonly Decision[]) {
  const frozen = deepFrozen(decisions);
  return frozen.reduce((next, each) => merge(next, each, NOW_MS), unchanged(deepFrozen(status)));
}

describe('decisions, one after the other', () => {
  test('change nothing if they say nothing', () => {
    const status = { restarts: 1 };
    const next = merged(status, {}, { conditions: [cleared('Rejected', 'ValidSpec', 'valid')] });
    expect(next).toEqual({ status, isChanged: false, events: [], keepsCounters: false });
  });

  test('replace fields of earlier ones, and remove what is undefined', () => {
    const status = { restarts: 1, startTime: '2026-01-01T00:00:00Z' };
    const next = merged(status, { status: { restarts: 2 } }, { status: { startTime: undefined } });
    expect(next).toMatchObject({ isChanged: true });
    expect(next.status).toStrictEqual({ restarts: 2 });
  });

  test('tell Events of their own first, and of a condition only if it changes', () => {
    const own = { type: 'Normal', reason: 'Own', note: 'first' } as const;
    const conditions = [{ ...REJECTED, event: 'Warning' } as const];
    const next = merged({}, { conditions, events: [own] }, { conditions });
    const told = { type: 'Warning', reason: 'InvalidSpec', note: 'no' };
    expect(next.events).toEqual([own, told]);
  });

  test('that change the same condition: the later meets what the earlier has left', () => {
    const back = { conditions: [cleared('Rejected', 'ValidSpec', 'valid')] };
    const next = merged({}, { conditions: [REJECTED] }, back, back);
    expect(next.status.conditions).toMatchObject([{ type: 'Rejected', status: 'False' }]);
    expect(next.events.map(({ reason }) => reason)).toEqual(['ValidSpec']);
  });

  test('clear only what is True', () => {
    const off = { conditions: [{ ...SAID, type: 'Rejected', status: 'False' } as const] };
    const next = merged(off, { conditions: [cleared('Rejected', 'ValidSpec', 'valid')] });
    expect(next.status).toBe(off);
  });

  test('keep counters if one of them says so', () => {
    expect(merged({}, { keepsCounters: true }, {}).keepsCounters).toBe(true);
  });
});

test.each<[string, Decision]>([
  ['asks', { question: { kind: 'FreshJobs' } }],
  ['is the last', LAST],
])('the steps that follow one that %s have no say', (_, decision) => {
  const never = () => expect.fail('it is not to be taken');
  const first = { requeueAfterMs: 1 };
  expect(inOrder([() => [first], () => [], () => [decision], never], {})).toEqual([
    first,
    decision,
  ]);
});
