/**
 * Every form in which the end of a worker is written, byte for byte: agents and operators of other
 * versions read them, and scripts read the last. Each text is the whole truth of its row. What is
 * below the tables may change with the types; the texts may not.
 */

import { defined } from '@lockstep/kube/json/defined.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { describe, expect, test } from 'vitest';
import { step } from '../../src/agent/barrier.ts';
import type { Barrier, BarrierEvent } from '../../src/agent/barrier-state.ts';
import type { GroupSnapshot } from '../../src/agent/channel.ts';
import { Conversation } from '../../src/agent/hub-conversation.ts';
import { NO_MARKER } from '../../src/agent/marker.ts';
import { announcementAnnotations } from '../../src/agent/pod-annotations.ts';
import { MemberProgress } from '../../src/agent/progress/member-progress.ts';
import { endOf } from '../../src/agent/worker/end-evidence.ts';
import { parseMemberReports } from '../../src/jobset/hub/member-report.ts';
import {
  type AgentMessage,
  encodeAgentMessage,
  parseAgentMessage,
} from '../../src/jobset/hub/message.ts';
import { NOTICE } from '../../src/jobset/names.ts';
import { saidIn } from '../../src/jobset/roster/said.ts';
import { lastCauseOf } from '../../src/jobset/view/last-cause.ts';
import type { Announcement } from '../../src/jobset/worker-end/announcement.ts';
import { formatNotice, parseNotice } from '../../src/jobset/worker-end/notice.ts';
import { shownEnd } from '../../src/jobset/worker-end/shown-end.ts';

interface Ending {
  readonly exitCode?: number;
  readonly signal?: string;
  readonly told?: 'Stopped' | 'Killed' | 'Hung';
  readonly hadOom?: true;
  readonly states?: string;
  readonly stoppedMs?: number;
  readonly cpuMs?: number;
  readonly runnableMs?: number;
  readonly launcher?: true;
  readonly where?: string;
  readonly failedMs?: number;
  readonly lastWords?: string;
  readonly saidMs?: number;
  readonly unfit?: string;
}

const NOW_MS = 0;
/** The worker of epoch 3 ended 12.4 ms ago. */
const END_MS = NOW_MS - 12.4;
const SEEN = { cpuMs: 7, runnableMs: 4990, launcher: true } as const;

/** What an agent writes about a worker of epoch 3 that ended while no other had. */
const FAILURES: readonly (readonly [string, Ending, announce: string, notice: string])[] = [
  [
    'exits',
    { exitCode: 1 },
    '"epoch":4,"starts":1,"cause":{"epoch":3,"exitCode":1},"ended":{"how":"Exited","exitCode":1,"byItself":true,"agoMs":12}',
    '{"epoch":3,"exitCode":1,"ended":{"how":"Exited","exitCode":1,"byItself":true,"agoMs":12}}',
  ],
  [
    'is killed by a signal, out of memory',
    { signal: 'SIGKILL', hadOom: true },
    '"epoch":4,"starts":1,"cause":{"epoch":3,"signal":"SIGKILL"},"ended":{"how":"Signaled","signal":"SIGKILL","oom":true,"byItself":true,"agoMs":12}',
    '{"epoch":3,"signal":"SIGKILL","ended":{"how":"Signaled","signal":"SIGKILL","oom":true,"byItself":true,"agoMs":12}}',
  ],
  [
    'hangs, and a look into it finds where',
    {
      signal: 'SIGKILL',
      told: 'Hung',
      where: 'wait (sync.py:7)',
      ...SEEN,
      states: 'T',
      stoppedMs: 4000,
    },
    '"epoch":4,"starts":1,"cause":{"epoch":3,"signal":"SIGKILL"},"ended":{"how":"Hung","signal":"SIGKILL","cpuMs":7,"runnableMs":4990,"launcher":true,"states":"T","stoppedMs":4000,"where":"wait (sync.py:7)","agoMs":12}',
    '{"epoch":3,"signal":"SIGKILL","ended":{"how":"Hung","signal":"SIGKILL","cpuMs":7,"runnableMs":4990,"launcher":true,"states":"T","stoppedMs":4000,"where":"wait (sync.py:7)","agoMs":12}}',
  ],
  [
    'prints a traceback, and what was seen of it before counts for nothing',
    {
      exitCode: 1,
      states: 'T',
      stoppedMs: 4000,
      failedMs: 2900.4,
      lastWords: 'out of data\n',
      saidMs: 3000.6,
    },
    '"epoch":4,"starts":1,"cause":{"epoch":3,"exitCode":1},"ended":{"how":"Exited","exitCode":1,"byItself":true,"failedMs":2900,"saidMs":3001,"agoMs":12,"lastWords":"out of data\\n"}',
    '{"epoch":3,"exitCode":1,"ended":{"how":"Exited","exitCode":1,"byItself":true,"failedMs":2900,"saidMs":3001,"agoMs":12,"lastWords":"out of data\\n"}}',
  ],
  [
    'ends on a machine that a preflight finds unfit',
    { exitCode: 1, unfit: 'no GPU', lastWords: 'NCCL' },
    '"epoch":4,"starts":1,"cause":{"epoch":3,"exitCode":1},"ended":{"how":"Exited","exitCode":1,"byItself":true,"unfit":"no GPU","agoMs":12,"lastWords":"NCCL"}',
    '{"epoch":3,"exitCode":1,"ended":{"how":"Exited","exitCode":1,"byItself":true,"unfit":"no GPU","agoMs":12,"lastWords":"NCCL"}}',
  ],
  [
    'says more than there is room for',
    { exitCode: 1, lastWords: `${'a'.repeat(300)}\n${'b'.repeat(300)}\n` },
    `"epoch":4,"starts":1,"cause":{"epoch":3,"exitCode":1},"ended":{"how":"Exited","exitCode":1,"byItself":true,"agoMs":12,"lastWords":"${'b'.repeat(300)}\\n"}`,
    `{"epoch":3,"exitCode":1,"ended":{"how":"Exited","exitCode":1,"byItself":true,"agoMs":12,"lastWords":"${'b'.repeat(300)}\\n"}}`,
  ],
];

test.each(FAILURES)('a worker that %s', (_, ending, announce, notice) => {
  const announcement = announced(ending, { name: 'Running', deprecated: 2 });
  expect(hello(announcement)).toBe(`{"type":"hello","jobSet":"u","announcement":{${announce}}}\n`);
  expect(written(announcement)).toBe(notice);
});

/** A worker that the agent stopped because its epoch was over: it caused nothing. */
const STOPPED: readonly (readonly [string, Ending, string])[] = [
  [
    'obeys',
    { exitCode: 0, told: 'Stopped', ...SEEN, states: 'D' },
    '"epoch":4,"starts":1,"ended":{"how":"Stopped","exitCode":0,"cpuMs":7,"runnableMs":4990,"launcher":true,"states":"D","agoMs":12}',
  ],
  [
    'is killed after its grace',
    { signal: 'SIGKILL', told: 'Killed' },
    '"epoch":4,"starts":1,"ended":{"how":"Killed","signal":"SIGKILL","agoMs":12}',
  ],
  [
    'fails, which its rules would count',
    { exitCode: 1, told: 'Stopped' },
    '"epoch":4,"starts":1,"ended":{"how":"Stopped","exitCode":1,"agoMs":12}',
  ],
  [
    'has failed by itself just before',
    { exitCode: 1 },
    '"epoch":4,"starts":1,"ended":{"how":"Exited","exitCode":1,"byItself":true,"agoMs":12}',
  ],
];

test.each(STOPPED)('a worker that is stopped and %s', (_, ending, announce) => {
  const announcement = announced(ending, { name: 'Stopping', deprecated: 3 });
  expect(hello(announcement)).toBe(`{"type":"hello","jobSet":"u","announcement":{${announce}}}\n`);
  expect(written(announcement)).toBeUndefined();
});

test('a cause may be of any earlier epoch, but what is known of the end goes with the next only', () => {
  const late = announced(
    { exitCode: 7, lastWords: 'x' },
    { name: 'Running', deprecated: 2, meanwhile: 5 },
  );
  const announce = '"epoch":6,"starts":1,"cause":{"epoch":3,"exitCode":7}';
  expect(hello(late)).toBe(`{"type":"hello","jobSet":"u","announcement":{${announce}}}\n`);
  expect(written(late)).toBe('{"epoch":3,"exitCode":7}');
});

test('an agent that left its container for a worker that hung', () => {
  const hung = { epoch: 3, silentMs: 61_000, step: 330, longestMs: 900, endedMs: 0 };
  const marker = { announced: 3, started: 3, starts: 1, hung };
  const found = afterEvents(
    {
      ...RUNNING,
      mode: 'Sidecar',
      marker,
      stage: { name: 'Unsynced' },
      known: undefined,
      end: hungEnd(hung),
    },
    [{ type: 'snapshot', snapshot: snapshot(3) }, { type: 'markerWritten' }],
  );
  const announce =
    '"epoch":4,"starts":1,"cause":{"epoch":3,"signal":"SIGKILL"},"ended":{"how":"Hung","signal":"SIGKILL","silentMs":61000,"step":330,"longestMs":900,"agoMs":12}';
  expect(hello(found)).toBe(`{"type":"hello","jobSet":"u","announcement":{${announce}}}\n`);
});

const ALL =
  '"oom":true,"byItself":true,"silentMs":3,"longestMs":900,"step":330,"inPhase":true,"states":"Tt","stoppedMs":1,"cpuMs":2,"runnableMs":4,"launcher":true,"unfit":"no GPU","where":"wait","failedMs":5,"saidMs":6,"lastWords":"x"';

/** What the hub reads of announcements, and what others read of that afterwards. */
const READ: readonly (readonly [announcement: string, cause: string, lastCause: string])[] = [
  ['"epoch":4,"starts":2', '', 'null'],
  // Agents of earlier versions knew no evidence.
  [
    '"epoch":4,"starts":1,"cause":{"epoch":3,"exitCode":1}',
    '{"epoch":3,"end":{"exitCode":1}}',
    '{"epoch":3,"exitCode":1}',
  ],
  [
    '"epoch":9,"starts":1,"cause":{"epoch":3,"signal":"SIGRTMIN+1"}',
    '{"epoch":3,"end":{"signal":"SIGRTMIN+1"}}',
    '{"epoch":3,"signal":"SIGRTMIN+1"}',
  ],
  ['"epoch":4,"starts":1,"ended":{"how":"Stopped","agoMs":0}', '', 'null'],
  ['"epoch":4,"starts":1,"ended":{"how":"Stopped","agoMs":0,"exitCode":0}', '', 'null'],
  [
    '"epoch":4,"starts":1,"ended":{"how":"Killed","agoMs":0,"signal":"SIGKILL","states":"D"}',
    '',
    'null',
  ],
  [
    `"epoch":4,"starts":1,"cause":{"epoch":3,"exitCode":1},"ended":{"how":"Exited","agoMs":12,"exitCode":1,${ALL}}`,
    '{"epoch":3,"end":{"exitCode":1}}',
    '{"epoch":3,"exitCode":1}',
  ],
  [
    '"epoch":4,"starts":1,"cause":{"epoch":3,"signal":"SIGKILL"},"ended":{"how":"Hung","agoMs":12,"signal":"SIGKILL","silentMs":61000,"step":330,"where":"wait"}',
    '{"epoch":3,"end":{"signal":"SIGKILL"},"hung":"made no progress for 61 s at step 330"}',
    '{"epoch":3,"hung":"made no progress for 61 s at step 330"}',
  ],
  [
    '"epoch":4,"starts":1,"cause":{"epoch":3,"signal":"SIGKILL"},"ended":{"how":"Hung","agoMs":12,"signal":"SIGKILL"}',
    '{"epoch":3,"end":{"signal":"SIGKILL"},"hung":"never reported progress"}',
    '{"epoch":3,"hung":"never reported progress"}',
  ],
];

describe('the hub reads', () => {
  test.each(READ)('%s', (announcement, cause, lastCause) => {
    const read = parsed(`{"type":"announce",${announcement}}`);
    expect(sent(read)).toEqual(JSON.parse(`{"type":"announce",${announcement}}`));
    const text = cause === '' ? undefined : cause;
    expect(reported(read)).toBe(text);
    expect(shown(text)).toBe(lastCause);
  });
});

const NOTICES: readonly (readonly [notice: string, lastCause: string])[] = [
  ['3', 'null'],
  ['{"epoch":3,"exitCode":1}', '{"epoch":3,"exitCode":1}'],
  ['{"epoch":3,"signal":"SIGSEGV"}', '{"epoch":3,"signal":"SIGSEGV"}'],
  [
    `{"epoch":3,"exitCode":1,"ended":{"how":"Exited","agoMs":12,"exitCode":1,${ALL}}}`,
    '{"epoch":3,"exitCode":1}',
  ],
  [
    '{"epoch":3,"signal":"SIGKILL","ended":{"how":"Hung","agoMs":12,"signal":"SIGKILL","silentMs":61000}}',
    '{"epoch":3,"hung":"made no progress for 61 s"}',
  ],
];

test.each(NOTICES)('the notice %s', (notice, lastCause) => {
  expect(rewritten(notice)).toEqual(JSON.parse(notice));
  expect(shown(undefined, notice)).toBe(lastCause);
});

const FORMER: readonly string[] = [
  '"cause":{"epoch":4,"exitCode":1}',
  '"cause":{"epoch":3}',
  '"cause":{"epoch":3,"exitCode":256}',
  '"cause":{"epoch":3,"exitCode":1,"signal":"SIGKILL"}',
];

test.each(FORMER)('an announcement of epoch 4 with %s is malformed', (cause) => {
  const text = `{"type":"announce","epoch":4,"starts":1,${cause}}`;
  expect(parseAgentMessage(text).type).toBe('malformed');
});

test('evidence that is out of its bounds counts as none, and the cause stays', () => {
  const bare = '"epoch":4,"starts":1,"cause":{"epoch":3,"exitCode":1}';
  const read = parsed(`{"type":"announce",${bare},"ended":{"how":"Exited","agoMs":-1}}`);
  expect(sent(read)).toEqual(JSON.parse(`{"type":"announce",${bare}}`));
});

test('a worker that succeeded goes without its last words', () => {
  const success =
    '{"type":"ping","epoch":3,"ended":{"how":"Exited","agoMs":12,"exitCode":0,"byItself":true}}';
  const message = parseAgentMessage(success.replace('true}}', 'true,"lastWords":"x"}}'));
  if (message.type !== 'ping') throw new Error(message.type);
  expect(sent(message)).toEqual(JSON.parse(success));
});

// From here on: how the tables reach the code.

const RUNNING: Barrier = {
  mode: 'Supervisor',
  jobSetUid: 'u',
  marker: { ...NO_MARKER, announced: 3, started: 3, starts: 1 },
  known: snapshot(2),
  isPodEnding: false,
  isCutOff: false,
  stage: { name: 'Running', epoch: 3, isAnnounced: true },
};

function snapshot(deprecated: number): GroupSnapshot {
  const flags = { isBypassed: false, isFresh: true, timeouts: {}, members: 2 };
  return { uid: 'u', version: String(deprecated), deprecated, released: 3, ...flags };
}

/** The announcement after that end; `meanwhile` is deprecated while the marker is written. */
function announced(
  { exitCode, signal, told, hadOom, where, failedMs, lastWords, saidMs, unfit, ...seen }: Ending,
  at: {
    readonly name: 'Running' | 'Stopping';
    readonly deprecated: number;
    readonly meanwhile?: number;
  },
): Announcement {
  const exit = signal === undefined ? { exitCode: exitCode ?? 0 } : { signal };
  const signs = defined({ oom: hadOom, where, failedMs, lastWords, saidMs });
  const known = { epoch: 3, atMs: END_MS, ...seen, ...signs };
  const end = endOf(exit, told, known, new MemberProgress());
  const ended: BarrierEvent = { type: 'workerEnded', end: { ...end, restartsGroup: true } };
  const { deprecated, meanwhile } = at;
  return afterEvents(
    {
      ...RUNNING,
      hasPreflight: unfit !== undefined,
      known: snapshot(deprecated),
      stage: at.name === 'Running' ? RUNNING.stage : { name: 'Stopping', epoch: 3 },
    },
    [
      ended,
      ...(unfit === undefined ? [] : [{ type: 'preflightEnded', unfit } as const]),
      ...(meanwhile === undefined
        ? []
        : [{ type: 'snapshot', snapshot: snapshot(meanwhile) } as const]),
      { type: 'markerWritten' },
      { type: 'markerWritten' },
    ],
  );
}

function afterEvents(barrier: Barrier, events: readonly BarrierEvent[]): Announcement {
  let state = barrier;
  for (const event of events) {
    const next = step(state, event);
    state = next.state;
    for (const effect of next.effects) if (effect.type === 'announce') return effect.announcement;
  }
  throw new Error(`no announcement: ${JSON.stringify(state.stage)}`);
}

function hungEnd({
  silentMs,
  step: last,
  longestMs,
}: {
  readonly silentMs: number;
  readonly step: number;
  readonly longestMs: number;
}): Barrier['end'] {
  const signs = { silentMs, step: last, longestMs };
  const exit = { signal: 'SIGKILL' };
  return { epoch: 3, how: 'Hung', exit, ...signs, atMs: END_MS, restartsGroup: true };
}

function hello(announcement: Announcement): string {
  const clock = new VirtualClock();
  const none = (): undefined => undefined;
  const conversation = new Conversation(
    { clock, random: new SeededRandom(1), jobSetUid: 'u' },
    {
      contact: none,
      message: none,
      confirmed: none,
      podLives: none,
      answered: none,
      progress: none,
    },
  );
  let text = '';
  const write = (bytes: Uint8Array): void => {
    text += new TextDecoder().decode(bytes);
  };
  conversation.begin({ write, unreadBytes: 0, end: none, destroy: none }, announcement);
  conversation.end();
  return text;
}

function written(announcement: Announcement): string | undefined {
  return announcementAnnotations('Canonical', announcement, NOW_MS)[NOTICE];
}

function parsed(text: string): Read {
  const message = parseAgentMessage(text);
  if (message.type !== 'announce') throw new Error(JSON.stringify(message));
  return message;
}

type Read = Extract<ReturnType<typeof parseAgentMessage>, { readonly type: 'announce' }>;

/** What was read, as it would be written again, in whatever order. */
function sent(message: AgentMessage): unknown {
  return JSON.parse(encodeAgentMessage(message));
}

function reported({ announcement }: Read): string | undefined {
  const cause = shownEnd(saidIn(announcement).notice?.end);
  return cause && JSON.stringify(cause);
}

function shown(cause: string | undefined, notice?: string): string {
  const told = cause === undefined ? '' : `,"cause":${cause}`;
  const [report] = parseMemberReports(`[{"pod":"p","epoch":4,"channel":"Hub"${told}}]`) ?? [];
  return JSON.stringify(
    lastCauseOf('p', report, notice === undefined ? undefined : parseNotice(notice), []),
  );
}

function rewritten(text: string): unknown {
  const notice = parseNotice(text);
  return notice && JSON.parse(formatNotice(notice));
}
