import { describe, expect, it } from 'vitest';
import { EMPTY_RUN, type RunState, withRunMessage } from '../../../dashboard/messages/run.ts';
import { memberState } from '../../../jobset/view/member-state.ts';
import { parseTrace } from './parse-trace.ts';
import { runAt } from './played-run.ts';
import { LINES, podLine, START_MS, textOf } from './trace.fixture.ts';

const TRACE = parseTrace(textOf(LINES));

function stateAt(event: number, trace = TRACE): RunState {
  return (runAt(trace, event) ?? []).reduce(withRunMessage, EMPTY_RUN);
}

/** What the grid shows of each member. */
function cells({ run, members }: RunState): readonly string[] {
  return [...members.values()].map((member) => {
    const state = run === null ? 'none' : memberState(member, run.jobSet);
    return `${member.label} ${state} ${member.epoch} ${member.channel}`;
  });
}

describe('a run at an event', () => {
  it('is nothing before its JobSet exists', () => {
    const { run, problems } = stateAt(0);
    expect(run).toBeNull();
    expect(problems).toEqual(['The JobSet does not exist yet.']);
  });

  it('has the members and epochs of that time, over either channel', () => {
    expect(cells(stateAt(1))).toEqual(['0 AtBarrier 1 Hub', '1 Behind null null']);
    expect(stateAt(1).run?.jobSet).toMatchObject({ state: 'AtBarrier', announced: 1, size: 2 });
    expect(cells(stateAt(2))).toEqual(['0 Running 1 Hub', '1 Running 1 API']);
    expect(stateAt(2).run?.jobSet).toMatchObject({ state: 'Released', syncedEpoch: 1 });
  });

  it('counts on from what a worker has reported', () => {
    const progress = stateAt(3).members.get('train-w-0-0')?.progress;
    expect(progress).toEqual({ step: 4, silentMs: 2010, firstStepMs: 2900 });
  });

  it('counts on for ranks that lag', () => {
    const lag = [{ local: 1, step: 2, silentMs: 500 }];
    const progress = { step: 4, silentMs: 10, ranks: 2, lag, rest: { step: 4, silentMs: 10 } };
    const later = [
      { kind: 'Told', atMs: 9600, uid: 'pod-0', progress },
      { kind: 'Peace', atMs: 9700, text: '>> peace' },
    ];
    const trace = parseTrace(textOf([...LINES, ...later]));
    expect(stateAt(6, trace).members.get('train-w-0-0')?.progress).toEqual({
      ...progress,
      silentMs: 110,
      lag: [{ local: 1, step: 2, silentMs: 600 }],
      rest: { step: 4, silentMs: 110 },
    });
  });

  it('has no Pod that is gone', () => {
    expect(cells(stateAt(4))).toEqual(['0 Behind 1 Hub']);
  });

  it('is the same after a look at a later one', () => {
    const before = stateAt(1);
    stateAt(5);
    expect(stateAt(1)).toEqual(before);
  });

  it('has the time of the event, and no actions', () => {
    const { run } = stateAt(4);
    expect(run).toMatchObject({ atMs: START_MS + 9000, createdMs: START_MS, actions: [] });
  });

  it('leaves out Pods of others', () => {
    const { pod, ...line } = podLine(9600, 2);
    const metadata = { ...pod.metadata, labels: {} };
    const after = { kind: 'Peace', atMs: 9700, text: '>> peace' };
    const forged = parseTrace(textOf([...LINES, { ...line, pod: { ...pod, metadata } }, after]));
    expect(cells(stateAt(6, forged))).toEqual(['0 Behind 1 Hub']);
  });

  it.each([-1, 6, 0.5, Number.NaN])('does not exist at %s', (event) => {
    expect(runAt(TRACE, event)).toBeUndefined();
  });
});
