import { describe, expect, it } from 'vitest';
import { epochToAnnounce, mayHang, step } from './barrier.ts';
import type { Barrier, BarrierEvent, BarrierStage, Effect } from './barrier-state.ts';
import type { GroupSnapshot } from './channel.ts';
import { NO_MARKER } from './marker.ts';
import type { OwnEnd } from './worker-exit.ts';

/** By its rules, this exit does not restart the group, and the same one as `FAILED` does. */
const EXITED: OwnEnd = { epoch: 2, how: 'Exited', exit: { exitCode: 1 }, atMs: 7 };
const FAILED: OwnEnd = { ...EXITED, restartsGroup: true };

function barrier(stage: BarrierStage, rest: Partial<Barrier> = {}): Barrier {
  return {
    mode: 'Sidecar',
    jobSetUid: 'uid-1',
    marker: NO_MARKER,
    known: status(0, 0),
    isPodEnding: false,
    isCutOff: false,
    stage,
    ...rest,
  };
}

function status(
  deprecated: number,
  released: number,
  rest: Partial<GroupSnapshot> = {},
): GroupSnapshot {
  const version = String(1 + deprecated + released);
  const flags = { isBypassed: false, isFresh: false, timeouts: {}, members: 2 };
  return { uid: 'uid-1', version, deprecated, released, ...flags, ...rest };
}

function seen(snapshot: GroupSnapshot): BarrierEvent {
  return { type: 'snapshot', snapshot };
}

/** The stage that a series of events leads to, and the effects on the way. */
function play(
  start: Barrier,
  ...events: readonly BarrierEvent[]
): { readonly stage: BarrierStage; readonly effects: readonly Effect[]; readonly state: Barrier } {
  let state = start;
  const effects: Effect[] = [];
  for (const event of events) {
    const next = step(state, event);
    state = next.state;
    effects.push(...next.effects);
  }
  return { stage: state.stage, effects, state };
}

const UNSYNCED = barrier({ name: 'Unsynced' }, { known: undefined });
const WRITTEN: BarrierEvent = { type: 'markerWritten' };

describe('the epoch that an agent announces', () => {
  it.each<[string, [number, number], [number, number], number]>([
    ['of a fresh JobSet is 1', [0, 0], [0, 0], 1],
    ['without a marker never joins the released epoch', [0, 1], [0, 0], 2],
    ['is the released one if it was announced and never run in', [0, 1], [1, 0], 1],
    ['is the next one if the worker has run in the released one', [0, 1], [1, 1], 2],
    ['is the next one if another one was announced', [2, 3], [2, 2], 4],
    ['is beyond the deprecated one before any release', [3, 0], [0, 0], 4],
    ['is beyond what ran while the barrier was bypassed', [0, 1], [5, 5], 6],
    ['is the current one when its epoch has just ended', [4, 4], [4, 4], 5],
    ['never joins an epoch that is over', [4, 4], [4, 3], 5],
  ])('%s', (_, [deprecated, released], [announced, started], expected) => {
    const marker = { announced, started, starts: 1 };
    expect(epochToAnnounce({ deprecated, released }, marker)).toBe(expected);
  });
});

describe('at the barrier, an agent', () => {
  it('marks, announces, waits, marks and lifts, in that order', () => {
    const { effects, stage } = play(
      UNSYNCED,
      seen(status(0, 0)),
      WRITTEN,
      { type: 'announced', epoch: 1 },
      seen(status(0, 1)),
      WRITTEN,
    );
    expect(effects).toEqual([
      { type: 'writeMarker', marker: { announced: 1, started: 0, starts: 1 } },
      { type: 'announce', announcement: { epoch: 1, starts: 1 } },
      { type: 'writeMarker', marker: { announced: 1, started: 1, starts: 1 } },
      { type: 'lift', epoch: 1 },
    ]);
    expect(stage).toEqual({ name: 'Running', epoch: 1, isAnnounced: true });
  });

  it('lifts at once when the release comes before its announcement is confirmed', () => {
    const announcing = play(UNSYNCED, seen(status(0, 0)), WRITTEN, seen(status(0, 1)));
    expect(announcing.stage.name).toBe('Announcing');
    expect(play(announcing.state, { type: 'announced', epoch: 1 }).stage.name).toBe('Starting');
  });

  it.each<BarrierStage['name']>(['Marking', 'Announcing', 'Waiting', 'Starting'])(
    'announces again, without a restart, when its epoch ends while it is %s',
    (name) => {
      const way: readonly [BarrierStage['name'], BarrierEvent][] = [
        ['Marking', seen(status(0, 0))],
        ['Announcing', WRITTEN],
        ['Waiting', { type: 'announced', epoch: 1 }],
        ['Starting', seen(status(0, 1))],
      ];
      const events = way.slice(0, way.findIndex(([at]) => at === name) + 1);
      const at = play(UNSYNCED, ...events.map(([, event]) => event));
      expect(at.stage.name).toBe(name);
      const { effects, stage } = play(at.state, seen(status(1, 1)), WRITTEN, WRITTEN);
      expect(effects.map((effect) => effect.type)).not.toContain('lift');
      expect(stage).toEqual({ name: 'Announcing', epoch: 2 });
    },
  );

  it('counts itself as one more start of an epoch that its predecessor announced', () => {
    const marker = { announced: 3, started: 2, starts: 2 };
    const { effects } = play(
      { ...UNSYNCED, marker },
      seen(status(2, 2)),
      WRITTEN,
      { type: 'announced', epoch: 3 },
      seen(status(3, 2)),
      WRITTEN,
    );
    expect(effects).toEqual([
      { type: 'writeMarker', marker: { announced: 3, started: 2, starts: 3 } },
      { type: 'announce', announcement: { epoch: 3, starts: 3 } },
      { type: 'writeMarker', marker: { announced: 4, started: 2, starts: 1 } },
      { type: 'announce', announcement: { epoch: 4, starts: 1 } },
    ]);
  });

  it('believes a consistent read of any version, unless it shows a lower epoch', () => {
    const at = barrier({ name: 'Waiting', epoch: 3 }, { known: status(2, 2, { version: '50' }) });
    const restored = { version: '4', isFresh: true };
    expect(play(at, seen(status(2, 3, restored))).stage.name).toBe('Starting');
    expect(play(at, seen(status(1, 3, restored))).stage).toEqual(at.stage);
  });

  it('takes no notice of a confirmation that comes late', () => {
    const at = barrier({ name: 'Announcing', epoch: 2 }, { known: status(1, 1) });
    expect(play(at, { type: 'announced', epoch: 1 }).stage).toEqual(at.stage);
  });

  it('ignores another JobSet of the same name', () => {
    const other = status(0, 9, { uid: 'uid-2', version: '99' });
    expect(play(UNSYNCED, seen(other)).stage.name).toBe('Unsynced');
  });

  it('sticks to the first JobSet that it sees if its settings name none', () => {
    const untold = barrier({ name: 'Unsynced' }, { known: undefined, jobSetUid: undefined });
    const { stage } = play(untold, seen(status(0, 0)), WRITTEN, { type: 'announced', epoch: 1 });
    expect(stage.name).toBe('Waiting');
    const other = seen(status(0, 1, { uid: 'uid-2', version: '99' }));
    expect(play({ ...untold, known: status(0, 0), stage }, other).stage).toEqual(stage);
  });

  it.each([
    ['an older version', status(0, 3, { version: '4' })],
    ['a lower deprecated epoch', status(1, 3, { version: '10' })],
    ['a lower released epoch', status(2, 1, { version: '10' })],
  ])('ignores %s', (_, snapshot) => {
    const at = barrier({ name: 'Waiting', epoch: 3 }, { known: status(2, 2, { version: '5' }) });
    expect(play(at, seen(snapshot)).stage).toEqual(at.stage);
  });
});

describe('when its epoch is over, an agent with a running worker', () => {
  const running = barrier(
    { name: 'Running', epoch: 1, isAnnounced: true },
    { known: status(0, 1), marker: { announced: 1, started: 1, starts: 1 } },
  );

  it('leaves the container as a sidecar', () => {
    const { effects } = play(running, seen(status(1, 1)));
    expect(effects).toEqual([{ type: 'leave', reason: { type: 'EpochOver' } }]);
  });

  it('stops the worker as a supervisor and announces only when that has ended', () => {
    const stopping = play({ ...running, mode: 'Supervisor' }, seen(status(1, 1)));
    expect(stopping.effects).toEqual([{ type: 'stopWorker' }]);
    const end = { epoch: 1, how: 'Exited', exit: { exitCode: 0 }, atMs: 0 } as const;
    const ended: BarrierEvent = { type: 'workerEnded', end };
    expect(play(stopping.state, ended, WRITTEN).effects).toEqual([
      { type: 'writeMarker', marker: { announced: 2, started: 1, starts: 1 } },
      { type: 'announce', announcement: { epoch: 2, starts: 1, end } },
    ]);
  });
});

it('a supervisor that is told to end while it stops its worker does not pass on its exit', () => {
  const stopping = barrier({ name: 'Stopping', epoch: 1 }, { mode: 'Supervisor' });
  const stop: BarrierEvent = { type: 'stop', signal: 'SIGTERM' };
  const { effects } = play(stopping, stop, stop, {
    type: 'workerEnded',
    end: { epoch: 1, how: 'Exited', exit: { exitCode: 0 }, atMs: 0 },
  });
  expect(effects).toEqual([{ type: 'leave', reason: { type: 'Signal', signal: 'SIGTERM' } }]);
});

describe('a supervisor whose worker ends by itself', () => {
  const running = barrier(
    { name: 'Running', epoch: 2, isAnnounced: true },
    { mode: 'Supervisor', known: status(1, 2), marker: { announced: 2, started: 2, starts: 1 } },
  );

  it('announces the next epoch with the cause if its rules say so', () => {
    const ended: BarrierEvent = { type: 'workerEnded', end: FAILED };
    expect(play(running, ended, WRITTEN).effects).toContainEqual({
      type: 'announce',
      announcement: { epoch: 3, starts: 1, end: FAILED },
    });
  });

  it.each<[string, Partial<Barrier>, OwnEnd]>([
    ['if its rules do not restart the group', {}, EXITED],
    ['if the barrier is bypassed', { known: status(1, 2, { isBypassed: true }) }, FAILED],
    ['if its Pod is being deleted', { isPodEnding: true }, FAILED],
  ])('leaves with its exit, unreported, %s', (_, rest, end) => {
    const ended: BarrierEvent = { type: 'workerEnded', end };
    expect(play({ ...running, ...rest }, ended).effects).toEqual([
      { type: 'leave', reason: { type: 'WorkerExit', end } },
    ]);
  });

  it('leaves with its exit, unreported, after the agent was told to end', () => {
    const { effects } = play(running, { type: 'stop', signal: 'SIGTERM' }, seen(status(2, 2)), {
      type: 'workerEnded',
      end: FAILED,
    });
    expect(effects).toEqual([{ type: 'leave', reason: { type: 'WorkerExit', end: FAILED } }]);
  });
});

describe('an agent that is told to end', () => {
  const stop: BarrierEvent = { type: 'stop', signal: 'SIGTERM' };
  const left: Effect = { type: 'leave', reason: { type: 'Signal', signal: 'SIGTERM' } };

  it.each<[string, Barrier]>([
    ['before it knows anything', UNSYNCED],
    ['at the barrier', barrier({ name: 'Waiting', epoch: 1 })],
    [
      'at the barrier, as a supervisor',
      barrier({ name: 'Waiting', epoch: 1 }, { mode: 'Supervisor' }),
    ],
  ])('leaves at once and never lifts %s', (_, at) => {
    const { effects } = play(at, stop, WRITTEN, seen(status(0, 1, { version: '9' })), WRITTEN);
    expect(effects).toEqual([left]);
  });

  it('gives notice first if its worker may be running (sidecar)', () => {
    const at = barrier({ name: 'Running', epoch: 4, isAnnounced: true }, { known: status(3, 4) });
    expect(play(at, stop).effects).toEqual([{ type: 'giveNotice', epoch: 4 }, left]);
  });

  it.each<BarrierStage>([
    { name: 'Announcing', epoch: 1 },
    { name: 'Waiting', epoch: 1 },
    { name: 'Starting', epoch: 1, isAnnounced: true },
  ])('by the deletion of its Pod does not lift any more ($name)', (stage) => {
    const { effects } = play(
      barrier(stage, { marker: { announced: 1, started: 0, starts: 1 } }),
      { type: 'podEnding' },
      { type: 'announced', epoch: 1 },
      seen(status(0, 1)),
      WRITTEN,
    );
    expect(effects).toEqual([]);
  });
});

describe('when in-place restart is disabled on a live JobSet', () => {
  const bypass = (deprecated: number, released: number): BarrierEvent =>
    seen(status(deprecated, released, { isBypassed: true, version: '50' }));

  it.each<[string, Barrier, BarrierEvent, number]>([
    ['a fresh agent lifts in the current epoch', UNSYNCED, bypass(0, 0), 1],
    ['an agent at the barrier lifts', barrier({ name: 'Waiting', epoch: 1 }), bypass(0, 0), 1],
    ['an agent lifts in the highest epoch that it knows', UNSYNCED, bypass(3, 4), 4],
    [
      'an agent never goes back behind its own epoch',
      barrier({ name: 'Waiting', epoch: 6 }, { marker: { announced: 6, started: 5, starts: 1 } }),
      bypass(4, 5),
      6,
    ],
  ])('%s', (_, at, event, epoch) => {
    const { effects } = play(at, event, WRITTEN);
    expect(effects).toEqual([
      { type: 'writeMarker', marker: { announced: epoch, started: epoch, starts: 1 } },
      { type: 'lift', epoch },
    ]);
  });

  it('keeps a worker running after any epoch was deprecated', () => {
    const at = barrier({ name: 'Running', epoch: 1, isAnnounced: true }, { known: status(0, 1) });
    expect(play(at, bypass(1, 1)).effects).toEqual([]);
  });

  it('a worker that never announced does so when it is enabled again', () => {
    const { effects } = play(
      UNSYNCED,
      bypass(0, 1),
      WRITTEN,
      seen(status(0, 1, { version: '60' })),
    );
    expect(effects.at(-1)).toEqual({ type: 'announce', announcement: { epoch: 1, starts: 1 } });
  });

  it('a worker whose epoch ended meanwhile stops when it is enabled again', () => {
    const { effects } = play(
      UNSYNCED,
      bypass(0, 1),
      WRITTEN,
      seen(status(1, 1, { version: '60' })),
    );
    expect(effects.at(-1)).toEqual({ type: 'leave', reason: { type: 'EpochOver' } });
  });
});

describe('an agent that is cut off', () => {
  const CUT: BarrierEvent = { type: 'cutOff' };
  const LIVES: BarrierEvent = { type: 'podLives' };
  const RAN = { announced: 1, started: 1, starts: 1 };
  const running = (mode: Barrier['mode']): Barrier =>
    barrier(
      { name: 'Running', epoch: 1, isAnnounced: true },
      { mode, marker: RAN, known: status(0, 1) },
    );

  it('leaves as a sidecar, so that its node ends the worker', () => {
    const { effects } = play(running('Sidecar'), CUT);
    expect(effects).toEqual([{ type: 'leave', reason: { type: 'CutOff' } }]);
  });

  it('stops its worker as a supervisor, and announces again only when its Pod is known to be there', () => {
    const ended: BarrierEvent = { type: 'workerEnded', end: FAILED };
    const stopped = play(running('Supervisor'), CUT, ended, seen(status(0, 1, { version: '70' })));
    expect(stopped.effects).toEqual([{ type: 'stopWorker' }]);
    const { effects } = play(stopped.state, LIVES, WRITTEN);
    expect(effects.at(-1)).toEqual({ type: 'announce', announcement: { epoch: 2, starts: 1 } });
  });

  it('announces at once if that is known before its worker has ended', () => {
    const ended: BarrierEvent = { type: 'workerEnded', end: FAILED };
    const { effects } = play(running('Supervisor'), CUT, LIVES, ended, WRITTEN);
    expect(effects.at(-1)).toMatchObject({ type: 'announce', announcement: { epoch: 2 } });
  });

  it('announces at its start, when nothing runs, and lifts when its Pod is known to be there', () => {
    const start = { ...UNSYNCED, isCutOff: true };
    const announced: BarrierEvent = { type: 'announced', epoch: 1 };
    const waiting = play(start, seen(status(0, 0)), WRITTEN, announced, seen(status(0, 1)));
    expect(waiting.effects.map(({ type }) => type)).toEqual(['writeMarker', 'announce']);
    expect(play(waiting.state, LIVES, WRITTEN).effects.at(-1)).toEqual({ type: 'lift', epoch: 1 });
  });

  it.each<[string, Barrier, readonly BarrierEvent[]]>([
    [
      'is released',
      barrier({ name: 'Waiting', epoch: 1 }, { isCutOff: true }),
      [seen(status(0, 1))],
    ],
    [
      'is about to start',
      barrier(
        { name: 'Starting', epoch: 1, isAnnounced: true },
        { known: status(0, 1), marker: RAN },
      ),
      [CUT, WRITTEN],
    ],
    ['is bypassed', { ...UNSYNCED, isCutOff: true }, [seen(status(0, 0, { isBypassed: true }))]],
  ])('does not lift when it %s, but as soon as its Pod is known to be there', (_, at, events) => {
    const held = play(at, ...events);
    expect(held.effects).toEqual([]);
    expect(play(held.state, LIVES, WRITTEN).effects.at(-1)).toEqual({ type: 'lift', epoch: 1 });
  });

  it('stops a worker that was told to end and does not', () => {
    const ending = barrier(
      { name: 'Ending', signal: 'SIGTERM', isStopped: false },
      { mode: 'Supervisor', known: status(0, 1) },
    );
    expect(play(ending, CUT).effects).toEqual([{ type: 'stopWorker' }]);
  });

  it('continues as it was where nothing runs', () => {
    const waiting = barrier({ name: 'Waiting', epoch: 1 });
    expect(play(waiting, CUT).effects).toEqual([]);
    expect(play(waiting, CUT, LIVES).effects).toEqual([]);
  });
});

describe('an agent whose worker hangs', () => {
  const HUNG: BarrierEvent = {
    type: 'hung',
    worker: { epoch: 2, silentMs: 61_000, step: 330, endedMs: 1_700_000_000_000 },
  };
  const RAN = { announced: 2, started: 2, starts: 1 };
  const exit = { signal: 'SIGKILL' };
  const KILLED: OwnEnd = { ...FAILED, how: 'Hung', exit, silentMs: 61_000, atMs: 5 };
  const ends = (end: OwnEnd): BarrierEvent => ({ type: 'workerEnded', end });
  const running = (mode: Barrier['mode'], rest: Partial<Barrier> = {}): Barrier =>
    barrier(
      { name: 'Running', epoch: 2, isAnnounced: true },
      { mode, marker: RAN, known: status(1, 2), ...rest },
    );

  it('kills it once as a supervisor, and then announces', () => {
    const { effects } = play(running('Supervisor'), HUNG, HUNG, ends(KILLED), WRITTEN);
    expect(effects).toEqual([
      { type: 'killHung' },
      { type: 'writeMarker', marker: { announced: 3, started: 2, starts: 1 } },
      { type: 'announce', announcement: { epoch: 3, starts: 1, end: KILLED } },
    ]);
  });

  it.each<[string, OwnEnd, Effect['type']]>([
    ['with success', { ...EXITED, exit: { exitCode: 0 } }, 'leave'],
    ['with a failure', FAILED, 'writeMarker'],
  ])('judges an end %s before the kill as ever', (_, end, last) => {
    const { effects } = play(running('Supervisor'), HUNG, ends(end));
    expect(effects.map(({ type }) => type)).toEqual(['killHung', last]);
  });

  it('stops it when its epoch ends first, and announces without being the cause', () => {
    const { effects } = play(
      running('Supervisor'),
      HUNG,
      seen(status(2, 2)),
      ends(KILLED),
      WRITTEN,
    );
    expect(effects.map(({ type }) => type)).toEqual([
      'killHung',
      'stopWorker',
      'writeMarker',
      'announce',
    ]);
    expect(effects.at(-1)).toEqual({
      type: 'announce',
      announcement: { epoch: 3, starts: 1, end: { ...KILLED, restartsGroup: undefined } },
    });
  });

  it('does not pass on its own kill when it was told to end meanwhile', () => {
    const stop: BarrierEvent = { type: 'stop', signal: 'SIGTERM' };
    expect(play(running('Supervisor'), HUNG, stop, ends(KILLED)).effects.at(-1)).toEqual({
      type: 'leave',
      reason: { type: 'Signal', signal: 'SIGTERM' },
    });
  });

  it.each<[string, Barrier]>([
    ['is bypassed', running('Supervisor', { known: status(1, 2, { isBypassed: true }) })],
    ['has a Pod that is being deleted', running('Supervisor', { isPodEnding: true })],
    ['waits', barrier({ name: 'Waiting', epoch: 3 }, { mode: 'Supervisor', marker: RAN })],
    ['is told to end', barrier({ name: 'Ending', signal: 'SIGTERM', isStopped: false })],
    [
      'runs in another epoch by now',
      running('Supervisor', { stage: { name: 'Running', epoch: 3, isAnnounced: true } }),
    ],
  ])('ends nothing when it %s', (_, at) => {
    expect(step(at, HUNG)).toEqual({ state: at, effects: [] });
  });

  it('tells its successor as a sidecar, which announces why, and forgets it with that', () => {
    const left = play(running('Sidecar'), HUNG, HUNG, WRITTEN);
    const marker = { ...RAN, hung: HUNG.worker };
    expect(left.effects).toEqual([
      { type: 'writeMarker', marker },
      { type: 'leave', reason: { type: 'Hung' } },
    ]);
    const next = { ...UNSYNCED, marker, end: KILLED };
    expect(play(next, seen(status(1, 2)), WRITTEN).effects).toEqual([
      { type: 'writeMarker', marker: { announced: 3, started: 2, starts: 1 } },
      { type: 'announce', announcement: { epoch: 3, starts: 1, end: KILLED } },
    ]);
  });

  it('tells nothing of it for another epoch', () => {
    const marker = { announced: 5, started: 5, starts: 1, hung: HUNG.worker };
    const next = { ...UNSYNCED, marker, end: KILLED };
    expect(play(next, seen(status(4, 5)), WRITTEN).effects.at(-1)).toEqual({
      type: 'announce',
      announcement: { epoch: 6, starts: 1 },
    });
  });

  it.each<[string, BarrierEvent, Effect]>([
    ['its epoch ends', seen(status(2, 2)), { type: 'leave', reason: { type: 'EpochOver' } }],
    ['it is cut off', { type: 'cutOff' }, { type: 'leave', reason: { type: 'CutOff' } }],
  ])('waits for no marker as a sidecar when %s', (_, event, left) => {
    expect(play(running('Sidecar'), HUNG, event).effects.at(-1)).toEqual(left);
  });

  it.each<[string, BarrierEvent]>([
    ['bypassed', seen(status(1, 2, { isBypassed: true, version: '50' }))],
    ['deleted', { type: 'podEnding' }],
  ])('takes it back as a sidecar that is %s before the marker is written', (_, event) => {
    const { effects, stage } = play(running('Sidecar'), HUNG, event, WRITTEN, WRITTEN);
    expect(effects.at(-1)).toEqual({ type: 'writeMarker', marker: RAN });
    expect(stage).toEqual({ name: 'Running', epoch: 2, isAnnounced: true });
  });
});

describe('an agent with a preflight', () => {
  const UNFIT = { ...FAILED, unfit: 'GPU 3 lost' };
  const failed: BarrierEvent = { type: 'workerEnded', end: FAILED };
  const checked = (unfit?: string): BarrierEvent => ({ type: 'preflightEnded', unfit });
  const STOP: BarrierEvent = { type: 'stop', signal: 'SIGTERM' };
  const running = (rest: Partial<Barrier> = {}): Barrier =>
    barrier(
      { name: 'Running', epoch: 2, isAnnounced: true },
      {
        mode: 'Supervisor',
        hasPreflight: true,
        marker: { announced: 2, started: 2, starts: 1 },
        known: status(1, 2),
        ...rest,
      },
    );

  it.each([
    ['passes', undefined, FAILED],
    ['does not pass', 'GPU 3 lost', UNFIT],
  ])('announces only after it, and how the worker ended, when it %s', (_, unfit, end) => {
    const checking = play(running(), failed);
    expect(checking.effects).toEqual([{ type: 'preflight' }]);
    expect(play(checking.state, checked(unfit), WRITTEN).effects).toEqual([
      { type: 'writeMarker', marker: { announced: 3, started: 2, starts: 1 } },
      { type: 'announce', announcement: { epoch: 3, starts: 1, end } },
    ]);
  });

  it('runs it after a worker that hung', () => {
    const end: OwnEnd = { ...FAILED, how: 'Hung', exit: { signal: 'SIGKILL' } };
    expect(play(running(), { type: 'workerEnded', end }).effects).toEqual([{ type: 'preflight' }]);
  });

  it('ends it for nothing that another member does', () => {
    const { effects } = play(running(), failed, seen(status(2, 2)), checked('GPU 3 lost'), WRITTEN);
    expect(effects.map(({ type }) => type)).toEqual(['preflight', 'writeMarker', 'announce']);
    expect(effects.at(-1)).toMatchObject({ announcement: { epoch: 3, end: UNFIT } });
  });

  it.each<[string, Barrier, BarrierEvent]>([
    ['the exit restarts no group', running(), { type: 'workerEnded', end: EXITED }],
    ['the group is bypassed', running({ known: status(1, 2, { isBypassed: true }) }), failed],
    ['the Pod is being deleted', running({ isPodEnding: true }), failed],
    ['others have stopped the worker', running({ stage: { name: 'Stopping', epoch: 2 } }), failed],
    [
      'the agent was told to end',
      running({ stage: { name: 'Ending', signal: 'SIGTERM', isStopped: false } }),
      failed,
    ],
  ])('runs none when %s', (_, at, event) => {
    expect(play(at, event).effects.map(({ type }) => type)).not.toContain('preflight');
  });

  it.each<[string, BarrierEvent, Effect['type'], BarrierStage['name']]>([
    ['the Pod is deleted', { type: 'podEnding' }, 'writeMarker', 'Marking'],
    ['the Pod may count as dead', { type: 'cutOff' }, 'writeMarker', 'Marking'],
    [
      'the group is bypassed',
      seen(status(1, 2, { isBypassed: true, version: '50' })),
      'writeMarker',
      'Starting',
    ],
    ['the agent is told to end', STOP, 'leave', 'Left'],
  ])('cuts it short when %s, and waits for its end', (_, event, next, stage) => {
    const cut = play(running(), failed, event);
    expect(cut.effects).toEqual([{ type: 'preflight' }, { type: 'cutPreflight' }]);
    const { effects, stage: reached } = play(cut.state, checked());
    expect(effects.map(({ type }) => type)).toEqual([next]);
    expect(reached.name).toBe(stage);
  });

  it('does not start the worker again while its Pod is not confirmed', () => {
    const cut = play(running(), failed, { type: 'cutOff' }, checked(), WRITTEN);
    const announced = play(cut.state, { type: 'announced', epoch: 3 }, seen(status(2, 3)), WRITTEN);
    expect(announced.effects).toEqual([]);
    expect(play(announced.state, { type: 'podLives' }, WRITTEN).effects.at(-1)).toEqual({
      type: 'lift',
      epoch: 3,
    });
  });

  it('calls no worker hung that has ended', () => {
    const { state } = play(running(), failed);
    expect(mayHang(state)).toBe(false);
  });
});

it('a supervisor tells how the worker ended that it stopped', () => {
  const end = { epoch: 1, how: 'Stopped', exit: { signal: 'SIGTERM' }, atMs: 7 } as const;
  const stopping = barrier(
    { name: 'Stopping', epoch: 1 },
    { mode: 'Supervisor', known: status(1, 1), marker: { announced: 1, started: 1, starts: 1 } },
  );
  const counted: OwnEnd = { ...end, restartsGroup: true };
  const { effects } = play(stopping, { type: 'workerEnded', end: counted }, WRITTEN);
  expect(effects.at(-1)).toEqual({
    type: 'announce',
    announcement: { epoch: 2, starts: 1, end },
  });
});
