import { defined } from '@lockstep/kube/json/defined.ts';
import { LineSplitter } from '@lockstep/kube/runtime/client/watch-stream.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_LAGS, type Progress } from '../progress/progress.ts';
import { MAX_RANKS_OF_POD } from '../reported-number.ts';
import type { Announcement } from '../worker-end/announcement.ts';
import { type Exit, MAX_EPOCH, type WorkerEnd } from '../worker-end/worker-end.ts';
import {
  type AgentMessage,
  BYE_REASONS,
  encodeAgentMessage,
  encodeHubMessage,
  type HubMessage,
  MAX_MESSAGE_BYTES,
  parseAgentMessage,
  parseHubMessage,
} from './message.ts';

const epoch = fc.integer({ min: 1, max: MAX_EPOCH });
const count = fc.integer({ min: 0, max: MAX_EPOCH });
const text = fc.string({ minLength: 1, maxLength: 128, unit: 'binary' });
const end = fc.oneof(
  fc.integer({ min: 0, max: 255 }).map((exitCode) => ({ exitCode })),
  fc.constantFrom('SIGKILL', 'SIGTERM', 'SIGRTMIN+3').map((signal) => ({ signal })),
);
const announcement: fc.Arbitrary<Announcement> = fc
  .tuple(fc.integer({ min: 2, max: MAX_EPOCH }), epoch, fc.option(end, { nil: undefined }))
  .map(([of, starts, ended]) =>
    ended === undefined
      ? { epoch: of, starts }
      : { epoch: of, starts, end: exitOnly(of - 1, ended) },
  );
function exitOnly(of: number, exit: Exit): WorkerEnd {
  return { epoch: of, how: 'Unknown', exit, atMs: 0, restartsGroup: true };
}
const step = fc.maxSafeNat();
const progress = fc.record(
  {
    step,
    checkpoint: step,
    phase: fc.constantFrom('save', 'e.valuate-2', 'x'.repeat(32)),
    silentMs: step,
    ranks: fc.integer({ min: 1, max: MAX_RANKS_OF_POD }),
    standbyDeaths: fc.record(
      { count: fc.integer({ min: 1 }), last: fc.oneof(end, fc.constant('NotReady' as const)) },
      { requiredKeys: ['count'] },
    ),
  },
  { requiredKeys: ['silentMs'] },
);
const lag = fc.record(
  {
    local: fc.nat(MAX_RANKS_OF_POD - 1),
    rank: count,
    step,
    phase: fc.constant('save'),
    silentMs: step,
  },
  { requiredKeys: ['local', 'silentMs'] },
);
const lagging = fc
  .tuple(progress, fc.array(lag, { minLength: 1, maxLength: MAX_LAGS }))
  .map(([known, lags]): Progress => ({ ...known, lag: lags, rest: { step: 7, silentMs: 3 } }));
const withProgress = <T extends object>(message: T) =>
  fc
    .option(progress, { nil: undefined })
    .map((of) => ({ ...message, ...defined({ progress: of }) }));
const SUCCESS = { how: 'Exited', exitCode: 0, byItself: true, agoMs: 40 };
const success = fc
  .record({ epoch, agoMs: count, silentMs: count, step: count })
  .map(({ agoMs, ...known }): WorkerEnd => {
    return { ...known, how: 'Exited', exit: { exitCode: 0 }, atMs: 0 - agoMs };
  });
const agentMessage: fc.Arbitrary<AgentMessage> = fc.oneof(
  fc
    .record({
      type: fc.constant('hello' as const),
      jobSetUid: fc.option(text, { nil: undefined }),
      announcement: fc.option(announcement, { nil: undefined }),
    })
    .chain(withProgress),
  announcement.chain((of) => withProgress({ type: 'announce', announcement: of } as const)),
  epoch.map((of) => ({ type: 'notice', epoch: of }) as const),
  withProgress({ type: 'ping' } as const),
  lagging.map((of) => ({ type: 'ping' as const, progress: of })),
  fc.record({ type: fc.constant('ping' as const), success }),
);
const LONGEST_TIMEOUTS = { progressTimeout: 604_800_000, firstProgressTimeout: 604_800_000 };
const hubMessage: fc.Arbitrary<HubMessage> = fc.oneof(
  fc.record({
    type: fc.constant('state' as const),
    state: fc.record({
      uid: text,
      version: text,
      deprecated: count,
      released: count,
      isBypassed: fc.boolean(),
      timeouts: fc.constantFrom({}, { progressTimeout: 'Auto' as const }, LONGEST_TIMEOUTS),
    }),
    members: count,
    isFresh: fc.boolean(),
  }),
  fc.constantFrom(...BYE_REASONS).map((reason) => ({ type: 'bye', reason }) as const),
  fc.constantFrom({ type: 'ending' } as const, { type: 'pong' } as const),
);

/** The lines of a stream that comes in pieces which end at these places. */
function lines(bytes: Uint8Array, cuts: readonly number[]): readonly string[] {
  const splitter = new LineSplitter(MAX_MESSAGE_BYTES);
  const places = [...cuts.map((cut) => cut % (bytes.byteLength + 1)), bytes.byteLength];
  places.sort((a, b) => a - b);
  let from = 0;
  return places.flatMap((to) => {
    const piece = bytes.subarray(from, to);
    from = to;
    return [...splitter.push(piece)];
  });
}

describe('messages of agents', () => {
  it('arrive as they were sent, however the stream is cut', () => {
    fc.assert(
      fc.property(fc.array(agentMessage, { maxLength: 5 }), fc.array(fc.nat()), (sent, cuts) => {
        const bytes = Buffer.from(sent.map(encodeAgentMessage).join(''));
        expect(lines(bytes, cuts).map(parseAgentMessage)).toEqual(sent);
      }),
    );
  });

  it('have no room for ranks that lag beside an announcement', () => {
    const progress = {
      step: 1,
      silentMs: 0,
      lag: [{ local: 1, silentMs: 9 }],
      rest: { silentMs: 0 },
    };
    const sent = encodeAgentMessage({
      type: 'hello',
      jobSetUid: 'u',
      announcement: undefined,
      progress,
    });
    const { lag: _lag, rest: _rest, ...kept } = progress;
    expect(parseAgentMessage(sent.trimEnd())).toEqual({
      type: 'hello',
      jobSetUid: 'u',
      progress: kept,
    });
  });

  it.each<[string, unknown]>([
    ['too many', Array<object>(MAX_LAGS + 1).fill({ local: 0, silentMs: 0 })],
    ['none', []],
    ['a local rank out of bounds', [{ local: MAX_RANKS_OF_POD, silentMs: 0 }]],
    ['a rank that is no number', [{ local: 0, rank: '3', silentMs: 0 }]],
    ['no list', { local: 0, silentMs: 0 }],
  ])('say nothing of ranks that lag with %s', (_name, told) => {
    const text = JSON.stringify({ type: 'ping', silentMs: 4, lag: told, rest: { silentMs: 0 } });
    expect(parseAgentMessage(text)).toEqual({ type: 'ping', progress: { silentMs: 4 } });
  });

  it('take anything else as malformed, and nothing throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (line) => {
        const { type } = parseAgentMessage(line);
        expect(['malformed', 'ping']).toContain(type);
      }),
    );
  });

  it.each([
    ['an epoch of 0', '{"type":"announce","epoch":0,"starts":1}'],
    ['a negative epoch', '{"type":"announce","epoch":-1,"starts":1}'],
    ['a huge epoch', '{"type":"announce","epoch":2147483648,"starts":1}'],
    ['an epoch beyond numbers', '{"type":"announce","epoch":1e999,"starts":1}'],
    ['half an epoch', '{"type":"announce","epoch":1.5,"starts":1}'],
    ['an epoch as text', '{"type":"announce","epoch":"1","starts":1}'],
    ['no starts', '{"type":"announce","epoch":1}'],
    [
      'a cause that comes later',
      '{"type":"announce","epoch":2,"starts":1,"cause":{"epoch":2,"exitCode":1}}',
    ],
    [
      'a cause of two ends',
      '{"type":"announce","epoch":2,"starts":1,"cause":{"epoch":1,"exitCode":1,"signal":"SIGKILL"}}',
    ],
    [
      'an exit code that is none',
      '{"type":"announce","epoch":2,"starts":1,"cause":{"epoch":1,"exitCode":256}}',
    ],
    ['half a message', '{"type":"announce","epo'],
    ['an announcement that is none', '{"type":"hello","announcement":[]}'],
    ['an empty UID', '{"type":"hello","jobSet":""}'],
    ['a long UID', `{"type":"hello","jobSet":"${'x'.repeat(129)}"}`],
    ['a message of a hub', '{"type":"pong"}'],
    ['no object', 'null'],
    ['an inherited type', '{"__proto__":{"type":"ping"}}'],
  ])('refuse %s', (_what, line) => {
    expect(parseAgentMessage(line)).toMatchObject({
      type: 'malformed',
      problem: expect.stringContaining('expected'),
    });
  });

  it('ignore members that they do not know', () => {
    expect(parseAgentMessage('{"type":"notice","epoch":3,"colour":"red"}')).toEqual({
      type: 'notice',
      epoch: 3,
    });
  });
});

describe('messages of the hub', () => {
  it('arrive as they were sent, however the stream is cut', () => {
    fc.assert(
      fc.property(fc.array(hubMessage, { maxLength: 5 }), fc.array(fc.nat()), (sent, cuts) => {
        const bytes = Buffer.from(sent.map(encodeHubMessage).join(''));
        expect(lines(bytes, cuts).map(parseHubMessage)).toEqual(sent);
      }),
    );
  });

  it.each([
    [
      'a state without a version',
      '{"type":"state","jobSet":"u","deprecated":0,"released":0,"members":1}',
    ],
    [
      'a state that goes below 0',
      '{"type":"state","jobSet":"u","version":"1","deprecated":-1,"released":0,"members":1}',
    ],
    ['an unknown last word', '{"type":"bye","reason":"Tired"}'],
    ['a message of an agent', '{"type":"ping"}'],
    ['nothing', ''],
  ])('refuse %s', (_what, line) => {
    expect(parseHubMessage(line).type).toBe('malformed');
  });
});

it('is at most a quarter of the limit, so that there is room for new members', () => {
  const longest = {
    epoch: MAX_EPOCH,
    starts: MAX_EPOCH,
    end: exitOnly(MAX_EPOCH - 1, { signal: `SIG${'A'.repeat(16)}` }),
  };
  const uid = 'x'.repeat(36);
  const hello = encodeAgentMessage({ type: 'hello', jobSetUid: uid, announcement: longest });
  const state = encodeHubMessage({
    type: 'state',
    state: {
      uid,
      version: String(2 ** 60),
      deprecated: MAX_EPOCH,
      released: MAX_EPOCH,
      isBypassed: true,
      timeouts: LONGEST_TIMEOUTS,
    },
    members: MAX_EPOCH,
    isFresh: true,
  });
  expect(Buffer.byteLength(hello)).toBeLessThan(MAX_MESSAGE_BYTES / 4);
  expect(Buffer.byteLength(state)).toBeLessThan(MAX_MESSAGE_BYTES / 4);
});

/** Names of Pods are labels of DNS, so a ReplicatedJob's name has at most 57 characters. */
const LONGEST_RANKS = {
  world: 33_554_416 * 64,
  groups: 33_554_416,
  master: `${'m'.repeat(63)}.${'s'.repeat(63)}`,
  replicatedJobs: Array.from({ length: 12 }, (_, at) => {
    const firstGroupRank = at === 0 ? 0 : 33_554_404 + at;
    return {
      name: `${'w'.repeat(55)}${10 + at}`,
      firstGroupRank,
      firstRank: firstGroupRank * 64,
      processesPerPod: 64,
      podsPerJob: at === 0 ? 33_554_405 : 1,
    };
  }),
};
const STATE = {
  uid: 'x'.repeat(36),
  version: String(2 ** 60),
  deprecated: MAX_EPOCH,
  released: MAX_EPOCH,
  isBypassed: true,
  timeouts: LONGEST_TIMEOUTS,
};

describe('numbers of ranks in a state', () => {
  const message = { type: 'state', members: MAX_EPOCH, isFresh: true } as const;

  it('arrive with as many ReplicatedJobs, and as long names, as a JobSet may have', () => {
    const sent = { ...message, state: { ...STATE, ranks: LONGEST_RANKS } };
    const line = encodeHubMessage(sent);
    expect(Buffer.byteLength(line)).toBeLessThan(MAX_MESSAGE_BYTES);
    expect(parseHubMessage(line)).toEqual(sent);
  });

  it('are left out if they do not fit each other, and the state stays', () => {
    const ranks = { ...LONGEST_RANKS, groups: 7 };
    const line = encodeHubMessage({ ...message, state: { ...STATE, ranks } });
    expect(parseHubMessage(line)).toEqual({ ...message, state: STATE });
  });
});

it.each<[string, object]>([
  ['without an epoch', { ended: SUCCESS }],
  ['of no epoch', { epoch: 0, ended: SUCCESS }],
  ['of a failure', { epoch: 3, ended: { ...SUCCESS, exitCode: 1 } }],
  ['of a worker that was told to stop', { epoch: 3, ended: { ...SUCCESS, how: 'Stopped' } }],
  ['without a time', { epoch: 3, ended: { how: 'Exited', exitCode: 0, byItself: true } }],
])('a success %s counts as none, and the ping stays', (_, fields) => {
  expect(parseAgentMessage(JSON.stringify({ type: 'ping', ask: 7, ...fields }))).toEqual({
    type: 'ping',
    ask: 7,
  });
});
