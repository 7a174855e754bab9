import type { Stored } from '@lockstep/kube/meta.ts';
import { COMPLETION_INDEX } from '@lockstep/kube/objects/job.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { describe, expect, it } from 'vitest';
import { replicatedJob, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import type { JobSetStatus, RestartRecord } from '../../jobset/jobset-status.ts';
import {
  ENV_LAST_WORDS,
  ENV_LOG_PREFIX,
  ENV_PROCESSES_PER_POD,
  ENV_PROGRESS_PREFIX,
  JOB_INDEX,
  PROCESSES_PER_POD,
  REPLICATED_JOB_NAME,
} from '../../jobset/names.ts';
import { agentLineOf, epochWindow, type JudgedLine, linesOfEpoch } from './epoch-lines.ts';
import { countedBy, printed, shownLines } from './line-printer.ts';
import { failedPods, memberOfProcess, rankInLog, rankProblem } from './log-members.ts';
import { MemberLog, type MemberLogOptions } from './member-log.ts';
import { HOLD_MS, LiveMerge, mergeByTime, type Timed } from './merge.ts';
import { parseLogs } from './options.ts';
import { LineCursor, stampAt, stampOf, type TimedLine, timedLines } from './timed-lines.ts';

async function* chunksOf(text: string | Buffer, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function allOf<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

function isOfWorker(text: Buffer): boolean {
  return agentLineOf(text) === undefined;
}

describe('lines with times', () => {
  it.each<[string, string | undefined]>([
    ['2026-01-01T00:00:00.5Z', '2026-01-01T00:00:00.500000000Z'],
    ['2026-01-01T02:00:00.123456789+02:00', '2026-01-01T00:00:00.123456789Z'],
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000000000Z'],
    ['2026-13-01T00:00:00Z', undefined],
    ['unable', undefined],
    ['', undefined],
  ])('read %j as %j', (text, stamp) => {
    expect(stampOf(text)).toBe(stamp);
  });

  it.each([1, 7, 100_000])('are the same in chunks of %d bytes', async (size) => {
    const log = `${stampAt(1)} a b\n${stampAt(2)} \nnode says\n${stampAt(1)} \u001b[1mc\0`;
    const lines = await allOf(timedLines(chunksOf(log, size)));
    expect(lines.map(({ stamp, time, text }) => [stamp, time, text.toString()])).toEqual([
      [stampAt(1), stampAt(1), 'a b'],
      [stampAt(2), stampAt(2), ''],
      [stampAt(2), stampAt(2), 'node says'],
      [stampAt(1), stampAt(2), '\u001b[1mc\0'],
    ]);
  });

  it('are cut where they are too long, and say so', async () => {
    const log = `${stampAt(1)} ${'x'.repeat(1024 * 1024)}\n${stampAt(2)} next\n`;
    const [long, next] = await allOf(timedLines(chunksOf(log, 1000)));
    if (long === undefined || next === undefined) throw new Error('two lines were expected');
    const text = printed({ ...long, label: '5' }, false).toString();
    expect(text).toMatch(/^\[5\] x+ \[cut: longer than 64 KiB\]\n$/);
    expect(text.length).toBeLessThan(66_000);
    expect(printed({ ...next, label: 'w/5' }, true).toString()).toBe(`[w/5] ${stampAt(2)} next\n`);
  });
});

describe('a log that is read again and again', () => {
  it.each(Array.from({ length: 50 }, (_, seed) => seed))(
    'loses no line and shows none twice (seed %d)',
    (seed) => {
      const random = new SeededRandom(seed);
      const under = (limit: number): number => Math.floor(random.next() * limit);
      // Many lines share a stamp, and two writers swap some.
      let atMs = 1_000_000;
      const log = Array.from({ length: 500 }, (_, i) => {
        atMs += under(4) === 0 ? under(700) : 0;
        return { stamp: stampAt(atMs - under(3)), text: `line ${i}` };
      });
      const cursor = new LineCursor();
      const shown: string[] = [];
      let written = 0;
      while (written < log.length) {
        written = Math.min(log.length, written + under(40));
        cursor.reopen();
        const since = stampOf(cursor.since ?? '') ?? '';
        const answer = log.slice(0, written).filter(({ stamp }) => stamp >= since);
        // The connection may break before all of it has come.
        const isWhole = written === log.length || under(2) === 0;
        const received = isWhole ? answer : answer.slice(0, under(answer.length + 1));
        for (const { stamp, text } of received) if (cursor.isNew(stamp)) shown.push(text);
      }
      expect(shown).toEqual(log.map(({ text }) => text));
    },
  );

  it('forgets old lines of a log that never ends', () => {
    const cursor = new LineCursor();
    let news = 0;
    for (let i = 0; i < 200_000; i++) news += cursor.isNew(stampAt(i)) ? 1 : 0;
    expect(news).toBe(200_000);
    cursor.reopen();
    expect([cursor.isNew(stampAt(0)), cursor.isNew(stampAt(199_999))]).toEqual([false, false]);
    expect(cursor.isNew(stampAt(200_000))).toBe(true);
  });
});

const RUNNING: Stored<Pod> = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'w-0',
    namespace: 'default',
    uid: 'pod',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
  spec: { containers: [] },
  status: { phase: 'Running' },
};

/** A node's log of a running container: `sinceTime` and `tailLines` choose lines of it. */
function logClient(
  log: readonly { readonly at: number; readonly text: string }[],
): Pick<Client, 'logs'> {
  return {
    async *logs(_at, { sinceTime, tailLines = log.length } = {}) {
      const from = sinceTime === undefined ? 0 : Date.parse(sinceTime);
      const lines = log.filter(({ at }) => at >= from).slice(-tailLines);
      yield Buffer.from(lines.map(({ at, text }) => `${stampAt(at)} ${text}\n`).join(''));
    },
  };
}

it('follows the newest lines of a log without those before them', async () => {
  const log = Array.from({ length: 100 }, (_, i) => ({ at: 10_000 + 20 * i, text: `line ${i}` }));
  const member = new MemberLog({
    client: logClient(log),
    clock: new VirtualClock(),
    pod: RUNNING,
    container: 'worker',
    first: { tailLines: 2 },
    counts: isOfWorker,
    onProblem: () => undefined,
    signal: new AbortController().signal,
  });
  const textsOf = async (lines: AsyncIterable<TimedLine>): Promise<readonly string[]> =>
    (await allOf(lines)).map(({ text }) => text.toString());
  expect(await textsOf(member.soFar())).toEqual(['line 98', 'line 99']);
  log.push({ at: 12_000, text: 'line 100' });
  member.update({ ...RUNNING, status: { phase: 'Succeeded' } });
  expect(await textsOf(member.following())).toEqual(['line 100']);
});

it('follows a process whose lines have the time of other lines, and shows each once', async () => {
  const texts = ['[0] a', '[1] a', '[0] b', '[1] b'];
  const log = texts.map((text, i) => ({ at: 10_000 + (i < 2 ? 0 : 20), text }));
  const shown = { withTimestamps: false, withAgent: false, window: undefined, process: 1 };
  const member = new MemberLog({
    client: logClient(log),
    clock: new VirtualClock(),
    pod: RUNNING,
    container: 'worker',
    first: { tailLines: 100 },
    counts: countedBy(shown),
    onProblem: () => undefined,
    signal: new AbortController().signal,
  });
  const textsOf = async (lines: AsyncIterable<TimedLine>): Promise<readonly string[]> =>
    (await allOf(shownLines(lines, '', shown))).map(({ text }) => text.toString());
  expect(await textsOf(member.soFar())).toEqual(['[1] a', '[1] b']);
  log.push({ at: 10_040, text: '[0] c' }, { at: 10_040, text: '[1] c' });
  member.update({ ...RUNNING, status: { phase: 'Succeeded' } });
  expect(await textsOf(member.following())).toEqual(['[1] c']);
});

describe('the last lines', () => {
  const AGENT = '{"level":"info","logger":"agent","msg":"says"}';

  /** What is shown of a log of a running container with these lines. */
  async function lastOf(
    texts: readonly string[],
    tailLines: number,
    { counts }: Pick<MemberLogOptions, 'counts'> = { counts: isOfWorker },
  ): Promise<readonly string[]> {
    const log = texts.map((text, i) => ({ at: 1000 * i, text }));
    const member = new MemberLog({
      client: logClient(log),
      clock: new VirtualClock(),
      pod: RUNNING,
      container: 'worker',
      first: { tailLines },
      counts,
      onProblem: () => undefined,
      signal: new AbortController().signal,
    });
    return (await allOf(member.soFar())).map(({ text }) => text.toString());
  }

  function agentLines(count: number): readonly string[] {
    return Array.from({ length: count }, () => AGENT);
  }

  it.each([0, 1, 63, 64, 65, 700, 5000])(
    'come from the worker, behind %d of its agent',
    async (count) => {
      const log = ['a', 'b', ...agentLines(3), 'c', 'd', ...agentLines(count)];
      expect(await lastOf(log, 3)).toEqual(count === 5000 ? [] : ['b', 'c', 'd']);
    },
  );

  it('are as many as there are', async () => {
    expect(await lastOf(['a', ...agentLines(9)], 3)).toEqual(['a']);
    expect(await lastOf(agentLines(100), 3)).toEqual([]);
  });

  it('come from both, if both are shown', async () => {
    const shown = { withTimestamps: false, withAgent: true, window: undefined };
    expect(await lastOf(['a', AGENT, 'b'], 2, { counts: countedBy(shown) })).toEqual([AGENT, 'b']);
  });

  it('come from one process, if only that is shown', async () => {
    const shown = { withTimestamps: false, withAgent: false, window: undefined, process: 1 };
    const log = ['[1] a', '[1] b', AGENT, ...Array(900).fill('[10] x'), '[1] c', '[0] y', '1 z'];
    expect(await lastOf(log, 2, { counts: countedBy(shown) })).toEqual(['[1] b', '[1] c']);
  });

  it('that are too many to hold are counted by the server', async () => {
    const long = 'x'.repeat(60_000);
    const log = [...Array.from({ length: 400 }, () => long), AGENT, 'end'];
    const shown = await lastOf(log, 400);
    expect([shown.length, shown.includes(AGENT), shown.at(-1)]).toEqual([399, false, 'end']);
  });
});

describe('a merge', () => {
  async function* from(lines: readonly Timed[]): AsyncGenerator<Timed> {
    yield* lines;
  }

  it.each([1, 2, 5, 48])('puts the lines of %d logs in the order of time', async (count) => {
    const random = new SeededRandom(count);
    const logs = Array.from({ length: count }, (_, of) => {
      const times = Array.from({ length: 100 }, () => stampAt(Math.floor(random.next() * 300)));
      return times.toSorted().map((time, i) => ({ time, of, i }));
    });
    const merged = (await allOf(mergeByTime(logs.map(from)))) as (typeof logs)[number];
    expect(merged.map(({ time }) => time)).toEqual(
      logs
        .flat()
        .map(({ time }) => time)
        .toSorted(),
    );
    for (const [of, log] of logs.entries()) {
      expect(merged.filter((line) => line.of === of)).toEqual(log);
    }
  });

  it('holds a new line until earlier ones of others had time to come', async () => {
    const clock = new VirtualClock();
    const written: string[] = [];
    const merge = new LiveMerge<Timed>({
      clock,
      write: async (lines) => void written.push(...lines.map(({ time }) => time)),
      sizeOf: () => 1,
    });
    await merge.add({ time: '2' });
    await clock.advance(HOLD_MS / 2);
    await merge.add({ time: '1' });
    await merge.add({ time: '3' });
    expect(written).toEqual([]);
    await clock.advance(HOLD_MS / 2);
    expect(written).toEqual(['1', '2']);
    await merge.flush();
    expect(written).toEqual(['1', '2', '3']);
  });

  it('waits for the output where lines come faster than they are written', async () => {
    const written: string[] = [];
    const merge = new LiveMerge<Timed>({
      clock: new VirtualClock(),
      write: async (lines) => void written.push(...lines.map(({ time }) => time)),
      sizeOf: () => 9 * 1024 * 1024,
    });
    await merge.add({ time: '2' });
    await merge.add({ time: '1' });
    expect(written).toEqual(['1', '2']);
  });
});

const RECORD: RestartRecord = {
  epoch: 2,
  time: '2026-01-01T00:10:00.000000Z',
  cause: 'WorkerFailed',
  counted: true,
  ranMs: 60_000,
};
const JOBSET = storedJobSet({
  replicatedJobs: [replicatedJob('w'), { ...replicatedJob('driver'), replicas: 1 }],
});

/** Four members of `w` with 8 processes each, and two of `v` with 2. */
const RANKED: JobSet = {
  ...JOBSET,
  metadata: { ...JOBSET.metadata, annotations: { [PROCESSES_PER_POD]: 'w=8,v=2' } },
  status: {
    ranks: {
      epoch: 3,
      world: 36,
      groups: 6,
      master: 'train-w-0-0.train',
      replicatedJobs: [
        { name: 'w', firstGroupRank: 0, firstRank: 0, processesPerPod: 8, podsPerJob: 4 },
        { name: 'v', firstGroupRank: 4, firstRank: 32, processesPerPod: 2, podsPerJob: 2 },
      ],
    },
  },
};

/** The first member of `v`, whose agent has these variables too. */
function rankedPod(told: Record<string, string>): Pod {
  const variables = { [ENV_PROCESSES_PER_POD]: '2', ...told };
  const env = Object.entries(variables).map(([name, value]) => ({ name, value }));
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      labels: { [REPLICATED_JOB_NAME]: 'v', [JOB_INDEX]: '0' },
      annotations: { [COMPLETION_INDEX]: '0' },
    },
    spec: { containers: [{ name: 'worker', image: 'x', env }] },
  };
}

describe('the lines of an epoch', () => {
  const status: JobSetStatus = {
    deprecatedEpoch: 3,
    syncedEpoch: 4,
    syncedTime: '2026-01-01T00:10:30.000000Z',
    restartHistory: [{ ...RECORD, epoch: 3, ranMs: 1000, time: '2026-01-01T00:10:20Z' }, RECORD],
  };
  const at = (time: string): number => Date.parse(`2026-01-01T${time}Z`);

  it.each<[number, object]>([
    [2, { epoch: 2, fromMs: at('00:09:00'), untilMs: at('00:10:19') }],
    [3, { epoch: 3, fromMs: at('00:10:19'), untilMs: at('00:10:30') }],
    [4, { epoch: 4, fromMs: at('00:10:30'), untilMs: undefined }],
  ])('%d are those from its release to the next one', (epoch, window) => {
    expect(epochWindow({ ...JOBSET, status }, epoch)).toEqual({ window });
  });

  it.each<[number, JobSetStatus, string]>([
    [1, status, 'epoch 1 is not recorded any more: the oldest is 2'],
    [5, status, 'epoch 5 has not begun: the current one is 4'],
    [4, { ...status, syncedEpoch: 3 }, 'epoch 4 was not released, so no worker ran in it'],
    [1, {}, 'epoch 1 was not released, so no worker ran in it'],
  ])('%d cannot be found in this state', (epoch, state, problem) => {
    expect(epochWindow({ ...JOBSET, status: state }, epoch)).toEqual({ problem });
  });

  /** A line of the agent in the log of its worker; `writtenMs`: by the agent's own account. */
  const begins = (ms: number, epoch: number, writtenMs?: number): JudgedLine => {
    const time = writtenMs === undefined ? {} : { time: new Date(writtenMs).toISOString() };
    const line = { level: 'info', ...time, logger: 'agent', epoch, msg: 'an epoch begins' };
    return { stamp: stampAt(ms), agentLine: agentLineOf(Buffer.from(JSON.stringify(line))) };
  };
  const says = (ms: number): JudgedLine => ({ stamp: stampAt(ms), agentLine: undefined });
  const window = { epoch: 2, fromMs: 1000, untilMs: 2000 };
  const stampsOf = async (lines: readonly JudgedLine[]): Promise<readonly string[]> => {
    async function* log(): AsyncGenerator<JudgedLine> {
      yield* lines;
    }
    return (await allOf(linesOfEpoch(log(), window))).map(({ stamp }) => stamp);
  };

  it.each<[string, readonly JudgedLine[], readonly number[]]>([
    ['the times of the status', [says(999), says(1000), says(1999), says(2000)], [1000, 1999]],
    [
      "the agent's own lines where there are any",
      [says(999), begins(3500, 2), says(5000), begins(5500, 3), says(5600), says(9000)],
      [3500, 5000],
    ],
    [
      'the time in such a line where the worker was read before it',
      [says(3400), says(3506), says(3507), begins(3510, 2, 3501), says(3520)],
      [3506, 3507, 3510, 3520],
    ],
    [
      'the same at the end of the epoch',
      [begins(500, 2, 500), says(700), says(3506), begins(3510, 3, 3501), says(3520)],
      [500, 700],
    ],
  ])('follow %s', async (_, lines, expected) => {
    expect(await stampsOf(lines)).toEqual(expected.map(stampAt));
  });

  it('wait for no line without end', async () => {
    const burst = Array.from({ length: 10_000 }, () => says(1500));
    expect(await stampsOf([...burst, begins(1500, 3, 1500)])).toHaveLength(10_000 - 4096);
  });

  it.each([
    '{"level":"info","logger":"trainer","msg":"an epoch begins","epoch":1}',
    '{"level":"info","logger":"agent"',
    'an epoch begins',
    '',
  ])('are not read from %j, which the worker wrote', (text) => {
    expect(agentLineOf(Buffer.from(text))).toBeUndefined();
  });
});

describe('whose lines are shown', () => {
  it.each<[string, number, JobSet, object]>([
    ['the first', 0, RANKED, { member: { replicatedJob: 'w', rank: 0 } }],
    ['the last of a member', 31, RANKED, { member: { replicatedJob: 'w', rank: 3 } }],
    ['one of the second ReplicatedJob', 34, RANKED, { member: { replicatedJob: 'v', rank: 1 } }],
    ['one too many', 36, RANKED, { problem: '--process: there is no rank 36: they are 0 to 35' }],
    [
      'one before any release',
      0,
      { ...RANKED, status: {} },
      { problem: '--process: no epoch was released yet' },
    ],
    [
      'one without the annotation',
      0,
      JOBSET,
      {
        problem:
          '--process: the JobSet has no lockstep/processes-per-pod; choose a member with --rank',
      },
    ],
  ])('may be of a process: %s', (_, process, jobSet, expected) => {
    expect(memberOfProcess(jobSet, process)).toEqual(expected);
  });

  it.each<[string, number, Record<string, string>, object]>([
    ['the first', 0, {}, { rank: 32 }],
    ['the last of its Pod', 1, {}, { rank: 33 }],
    ['one too many', 2, {}, { problem: 'status.ranks has no process 2 of this Pod' }],
    [
      'one below a launcher',
      0,
      { [ENV_PROCESSES_PER_POD]: '' },
      { problem: 'a launcher starts its processes, so no line says which of them wrote it' },
    ],
    [
      'one without prefixes',
      0,
      { [ENV_LOG_PREFIX]: 'Off' },
      { problem: 'lockstep/log-prefix is Off, so no line says which process wrote it' },
    ],
    [
      'one whose streams the agent leaves alone',
      0,
      { [ENV_LAST_WORDS]: 'Files' },
      { problem: 'lockstep/last-words is Files, so no line says which process wrote it' },
    ],
    [
      'one whose lines the agent reads for progress',
      0,
      { [ENV_LAST_WORDS]: 'Files', [ENV_PROGRESS_PREFIX]: 'p' },
      { rank: 32 },
    ],
  ])(
    'may be of a process of a Pod, by the variables of its agent: %s',
    (_, process, told, expected) => {
      expect(rankInLog(RANKED, rankedPod(told), process)).toEqual(expected);
    },
  );

  it('may be of a process of a Pod, but not before ranks have numbers', () => {
    expect(rankInLog({ ...RANKED, status: {} }, rankedPod({}), 0)).toEqual({
      problem: 'no epoch was released yet, so ranks have no numbers',
    });
  });

  it('may be of a process in the epoch of the stored numbers, and in no other', () => {
    expect(memberOfProcess(RANKED, 0, 3)).toEqual({ member: { replicatedJob: 'w', rank: 0 } });
    expect(memberOfProcess(RANKED, 0, 2)).toEqual({
      problem:
        '--process: the numbers of epoch 2 are not known, only those of epoch 3; choose a member with --rank',
    });
  });

  it('come from the suspects, or else from the first that was seen to fail', () => {
    const witness = { pod: 'w-0-9', exitCode: 1, reason: 'WorkerExited' };
    const suspect = {
      worker: 'worker 5 of w (w-0, index 5)',
      replicatedJob: 'w',
      jobIndex: 0,
      pod: 'w-0-5',
      why: 'killed by SIGSEGV',
      confidence: 'Certain',
    } as const;
    const history = [
      { ...RECORD, epoch: 3, witness, suspects: [suspect] },
      { ...RECORD, witness },
    ];
    expect(failedPods(history, undefined)).toEqual({ epoch: 3, pods: ['w-0-5'] });
    expect(failedPods(history, 2)).toEqual({ epoch: 2, pods: ['w-0-9'] });
    expect(failedPods(history, 1)).toBeUndefined();
    const scaled = [{ ...RECORD, cause: 'Scaled' as const }, ...history];
    expect(failedPods(scaled, undefined)).toEqual({ epoch: 3, pods: ['w-0-5'] });
  });

  it.each<[string | undefined, number, string | undefined]>([
    [undefined, 0, undefined],
    ['driver', 0, undefined],
    ['driver', 1, '--rank: there is no rank 1: those of driver are 0 to 0'],
    ['workers', 1, '--rank: there is no ReplicatedJob workers; there are w, driver'],
  ])('may be of rank %s/%d', (name, rank, problem) => {
    expect(rankProblem(JOBSET, { replicatedJob: name, rank })).toBe(problem);
  });
});

it.each<[object, string]>([
  [{ rank: '-1' }, '--rank is "-1", allowed is a number such as 5, or workers/5'],
  [{ rank: 'a/b' }, '--rank is "a/b", allowed is a number such as 5, or workers/5'],
  [{ process: '-1' }, '--process is "-1", allowed are whole numbers from 0'],
  [{ process: '1', rank: '1' }, '--process and --rank cannot be used together'],
  [{ epoch: '0' }, '--epoch is "0", allowed are whole numbers from 1'],
  [{ tail: 'x' }, '--tail is "x", allowed are whole numbers from 0'],
  [{ since: '5' }, '--since is "5", allowed is a duration such as 30s, 5m or 1h'],
  [{ since: '-5m' }, '--since is "-5m", allowed is a duration such as 30s, 5m or 1h'],
  [{ epoch: '1', follow: true }, '--epoch and --follow cannot be used together'],
  [{ namespace: 'A' }, '--namespace is "A"'],
])('refuses the arguments %j', (flags, error) => {
  expect(parseLogs('train', flags)).toEqual({ errors: [expect.stringContaining(error)] });
});
