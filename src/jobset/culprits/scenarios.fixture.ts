/** Failures of a group, the reports about each, and the suspects that the operator has to name. */
import type { GroupEvidence, MemberEnd, MemberEvidence } from '../roster/group-evidence.ts';
import type { WorkerEnd } from '../worker-end/worker-end.ts';

/** In words, of 4 and of 64 members. */
type Expected = Readonly<Record<4 | 64, string>>;

export interface Scenario {
  readonly name: string;
  /** Ranks with their confidence, the likeliest first, such as `2 Certain`; or `unknown`. */
  readonly expected: Expected;
  /** The known end of each rank; undefined: nothing is known. */
  readonly end: (rank: number, size: number) => MemberEnd | undefined;
}

/** The time of the failure that starts it all. */
const T = 1_000_000;
/** The culprit of most scenarios. */
const C = 2;

type PartialEnd = Partial<WorkerEnd>;

function ended(afterMs: number, known: PartialEnd): MemberEnd {
  return { kind: 'Ended', epoch: 1, how: 'Stopped', ...known, atMs: T + afterMs };
}

/** A worker that was told to stop soon after the first failure, while all went well. */
const STEPPING: PartialEnd = { step: 330, silentMs: 400, longestMs: 900, cpuMs: 4000 };
const stopped = (known: PartialEnd = {}): MemberEnd => ended(50, { ...STEPPING, ...known });
const diedBy = (signal: string, more: PartialEnd = {}): PartialEnd => {
  return { ...STEPPING, how: 'Signaled', exit: { signal }, ...more };
};
const exited = (exitCode: number, more: PartialEnd = {}): PartialEnd => {
  return { ...STEPPING, how: 'Exited', exit: { exitCode }, ...more };
};
/** A worker without progress for a minute, which was ended for that. */
const HANGING: PartialEnd = {
  how: 'Hung',
  exit: { signal: 'SIGKILL' },
  step: 330,
  silentMs: 61_000,
  longestMs: 900,
  cpuMs: 20,
};
/** Since just after its last step. */
const STOPPED = { states: 'T', stoppedMs: 60_500 } as const;
/** All hang: each rank's time-out comes a little later than the one of the rank before it. */
const hung = (rank: number, known: PartialEnd = {}): MemberEnd =>
  ended(rank * 3, { ...HANGING, ...known });
/** The end for a worker that reports no progress. */
function silently(end: MemberEnd): MemberEnd {
  if (end.kind !== 'Ended') return end;
  const { step: _, silentMs: _silent, longestMs: _longest, cpuMs: _cpu, ...rest } = end;
  return rest;
}
const overApi = (end: MemberEnd): MemberEnd =>
  end.kind === 'Ended' ? { ...end, isOverApi: true } : end;

/** The culprit's end, and the end of all others. */
const one =
  (
    culprit: MemberEnd | undefined,
    other: (rank: number) => MemberEnd | undefined = () => stopped(),
  ) =>
  (rank: number): MemberEnd | undefined =>
    rank === C ? culprit : other(rank);

function row(name: string, expected: string | Expected, end: Scenario['end']): Scenario {
  return {
    name,
    expected: typeof expected === 'string' ? { 4: expected, 64: expected } : expected,
    end,
  };
}

export const SCENARIOS: readonly Scenario[] = [
  row('one SIGKILL', '2 Certain', one(ended(0, diedBy('SIGKILL')))),
  row(
    'one SIGKILL, and the others lose their connections',
    '2 Certain',
    one(ended(0, diedBy('SIGKILL')), (rank) => ended(100 + rank, exited(1))),
  ),
  row('a segfault in one', '2 Certain', one(ended(0, diedBy('SIGSEGV')))),
  row('a segfault in one, as its shell tells it', '2 Certain', one(ended(0, exited(139)))),
  row('a segfault in one, a second after another had failed', '2 Likely', (rank) => {
    if (rank === 1) return ended(0, exited(1));
    return rank === C ? ended(1000, diedBy('SIGSEGV')) : stopped();
  }),
  row('a segfault in one, long after another had failed', '1 Certain', (rank) => {
    if (rank === 1) return ended(0, exited(1));
    return rank === C ? ended(2500, diedBy('SIGSEGV')) : stopped();
  }),
  row('a segfault in all', '0 Likely, 1 Likely, 2 Likely, 3 Likely', (rank) =>
    ended(rank * 4, diedBy('SIGSEGV')),
  ),
  row(
    'the worker runs out of memory',
    '2 Certain',
    one(ended(0, diedBy('SIGKILL', { oom: true }))),
  ),
  row(
    'the worker runs out of memory when its group has been silent for a minute',
    '2 Certain',
    one(ended(0, diedBy('SIGKILL', { oom: true, silentMs: 60_000 })), () =>
      stopped({ silentMs: 60_000 }),
    ),
  ),
  row(
    'SIGKILL of one when its group has been silent for a minute',
    '2 Likely',
    one(ended(0, diedBy('SIGKILL', { silentMs: 60_000 })), () => stopped({ silentMs: 60_000 })),
  ),
  row('SIGKILL of one when its group waits for another that was stopped', '2 Certain', (rank) => {
    if (rank === 1) return ended(0, diedBy('SIGKILL', { silentMs: 60_000 }));
    return rank === C ? ended(900, { ...HANGING, how: 'Killed', ...STOPPED }) : hung(rank);
  }),
  row('SIGKILL of one just after another was stopped', '1 Likely, 2 Likely', (rank) => {
    if (rank === 1) return ended(0, diedBy('SIGKILL'));
    return rank === C ? stopped({ how: 'Killed', states: 'T', stoppedMs: 300 }) : stopped();
  }),
  row('an exception in one, after half of the group was stopped', '1 Likely', (rank, size) => {
    if (rank === 1) return ended(0, exited(1));
    return stopped(2 * rank >= size ? { how: 'Killed', states: 'T', stoppedMs: 300 } : {});
  }),
  row('SIGKILL of one, after half of the group was stopped', '1 Likely', (rank, size) => {
    if (rank === 1) return ended(0, diedBy('SIGKILL'));
    return stopped(2 * rank >= size ? { how: 'Killed', states: 'T', stoppedMs: 300 } : {});
  }),
  row(
    'an exception in one, within a step, after another was stopped',
    '2 Likely, 1 Likely',
    (rank) => {
      const long = { silentMs: 20_000, longestMs: 30_000 };
      if (rank === 1) return ended(0, exited(1, long));
      return stopped(
        rank === C ? { ...long, how: 'Killed', states: 'T', stoppedMs: 19_000 } : long,
      );
    },
  ),
  row(
    'a process of the worker runs out of memory, and the worker exits',
    '2 Certain',
    one(ended(0, exited(1, { oom: true }))),
  ),
  row(
    'agent and worker run out of memory together, as the Pod tells',
    '2 Certain',
    one(ended(0, { how: 'Signaled', exit: { signal: 'SIGKILL' }, oom: true })),
  ),
  row(
    'agent and worker die together, and the Pod tells nothing',
    'unknown',
    one({ kind: 'Returned', atMs: T }),
  ),
  row(
    'exit 0 too early',
    '2 Likely',
    one({ kind: 'Succeeded', atMs: T - 300 }, (rank) => ended(rank * 5, exited(1))),
  ),
  row(
    'exit 0 too early, of which the agent tells when it was',
    '2 Likely',
    one(ended(-300, exited(0)), (rank) => ended(rank * 5, exited(1))),
  ),
  row('a hang after most have finished, of which their agents tell', 'unknown', (rank, size) =>
    rank < size / 2 ? ended(-70_000, exited(0, { step: 300 })) : hung(rank),
  ),
  row(
    'a traceback, and a teardown of 8 s, in which the others wait',
    '2 Likely',
    one(ended(0, exited(1, { silentMs: 8400, failedMs: 8000 })), () => stopped({ silentMs: 8400 })),
  ),
  row(
    'a traceback, and a teardown in which a peer loses its connection and ends first',
    '2 Likely, 0 Likely',
    one(
      ended(300, { ...STEPPING, exit: { exitCode: 1 }, silentMs: 3700, failedMs: 3300 }),
      (rank) => (rank === 0 ? ended(0, exited(1, { silentMs: 400 })) : stopped()),
    ),
  ),
  row(
    'a traceback, and a teardown in which peers print theirs and end first',
    '2 Likely',
    one(
      ended(300, { ...STEPPING, exit: { exitCode: 1 }, silentMs: 9700, failedMs: 9300 }),
      (rank) => ended(rank * 4, exited(1, { silentMs: 9400, failedMs: 50 })),
    ),
  ),
  row(
    'a traceback, and a teardown that hangs until all count as hung',
    '2 Likely',
    one(hung(C, { failedMs: 60_900 }), (rank) => hung(rank)),
  ),
  row(
    'a traceback that all print within a second',
    '2 Likely',
    one(ended(0, exited(1, { silentMs: 5400, failedMs: 5000 })), (rank) =>
      ended(100 + rank, exited(1, { silentMs: 5400, failedMs: 4500 })),
    ),
  ),
  row('a traceback in a silent group, long after it fell silent', '2 Likely', (rank) =>
    hung(rank, rank === C ? { failedMs: 5000, step: 320 } : {}),
  ),
  row('a traceback in a hanging group in which another was stopped', '1 Certain', (rank) =>
    hung(rank, rank === C ? { failedMs: 5000 } : rank === 1 ? STOPPED : {}),
  ),
  row('a traceback just before another was stopped, and all hang', '1 Likely, 2 Likely', (rank) =>
    hung(rank, rank === C ? { failedMs: 60_900 } : rank === 1 ? STOPPED : {}),
  ),
  row('a logged traceback of one, and SIGKILL of another', '1 Certain', (rank) => {
    if (rank === 1) return ended(0, diedBy('SIGKILL'));
    return stopped(rank === C ? { failedMs: 300 } : {});
  }),
  row('a logged traceback of one, and an exception in another', '2 Likely, 1 Likely', (rank) => {
    if (rank === 1) return ended(0, exited(1, { failedMs: 200 }));
    return stopped(rank === C ? { failedMs: 300 } : {});
  }),
  row(
    'a logged traceback of one that ends well, and an exception in another',
    '1 Certain',
    (rank) => {
      if (rank === 1) return ended(0, exited(1, { failedMs: 200 }));
      return stopped(rank === C ? { failedMs: 300, exit: { exitCode: 0 } } : {});
    },
  ),
  row(
    'a traceback of one, after which the others step on, and another fails',
    '1 Certain',
    (rank) => {
      if (rank === 1) return ended(0, exited(1, { failedMs: 200 }));
      return stopped(rank === C ? { failedMs: 9000, silentMs: 9100 } : {});
    },
  ),
  row('a traceback of one, and an earlier end of another without one', '1 Certain', (rank) => {
    if (rank === 1) return ended(0, exited(1));
    return ended(5000, rank === C ? exited(1, { silentMs: 5400, failedMs: 4000 }) : STEPPING);
  }),
  row('mixed channels: a traceback, and a member that tells nothing', '2 Likely', (rank) => {
    if (rank === 1) return undefined;
    return rank === C ? ended(0, exited(1, { silentMs: 8400, failedMs: 8000 })) : stopped();
  }),
  row('exit 0 of one, and long after that a segfault in another', '1 Certain', (rank) => {
    if (rank === C) return { kind: 'Succeeded', atMs: T - 60_000 };
    return rank === 1 ? ended(0, diedBy('SIGSEGV')) : stopped();
  }),
  row(
    'exit 0 of one, and the others exit after they have waited for it',
    '2 Likely',
    one({ kind: 'Succeeded', atMs: T - 60_000 }, (rank) =>
      ended(rank * 5, exited(1, { silentMs: 60_000 })),
    ),
  ),
  row(
    'one fails when the others have finished',
    '2 Likely',
    one(ended(0, exited(1)), () => ({ kind: 'Succeeded', atMs: T - 300 })),
  ),
  row(
    'a Python exception in one, and the others are stopped',
    '2 Certain',
    one(ended(0, exited(1))),
  ),
  row(
    'a launcher fails, and the others are stopped while they fail too',
    '2 Likely',
    one(ended(0, exited(1)), () => stopped({ exit: { exitCode: 1 } })),
  ),
  row(
    'a launcher ends, and the others are stopped',
    '2 Likely',
    one(ended(0, exited(1, { launcher: true })), () => stopped({ launcher: true })),
  ),
  row(
    'a launcher is killed, and the others are stopped',
    '2 Certain',
    one(ended(0, diedBy('SIGKILL', { launcher: true })), () => stopped({ launcher: true })),
  ),
  row(
    'a Python exception in one, and the others exit in their own way when they are stopped',
    '2 Certain',
    one(ended(0, exited(1)), () => stopped({ exit: { exitCode: 143 } })),
  ),
  ...[100, 2000].map((laterMs) => {
    const name = `a Python exception in one, and the others follow ${laterMs} ms later`;
    return row(
      name,
      '2 Likely',
      one(ended(0, exited(1)), () => ended(laterMs, exited(1))),
    );
  }),
  row(
    'a Python exception in one, and the others follow a minute later',
    '2 Certain',
    one(ended(0, exited(1)), () => ended(60_000, exited(1, { silentMs: 60_400 }))),
  ),
  row('a collective times out and ends all within a second after a silence', 'unknown', (rank) =>
    ended(rank * 10, exited(1, { silentMs: 60_000, cpuMs: 20 })),
  ),
  row('SIGSTOP of one, found by its silence', '2 Certain', (rank) =>
    hung(rank, rank === C ? { ...STOPPED, cpuMs: 0 } : {}),
  ),
  row(
    'SIGSTOP of one, found by the collective of the others',
    '2 Certain',
    one(ended(900, { ...HANGING, how: 'Killed', ...STOPPED, cpuMs: 0 }), (rank) =>
      ended(rank * 10, exited(1, { silentMs: 60_000, cpuMs: 20 })),
    ),
  ),
  row('SIGSTOP of one, told by an agent that does not say since when', '2 Likely', (rank) =>
    hung(rank, rank === C ? { states: 'T', cpuMs: 0 } : {}),
  ),
  row('SIGSTOP of all', 'unknown', (rank) => hung(rank, { ...STOPPED, cpuMs: 0 })),
  row('SIGSTOP of one that reports nothing, while rank 0 reports', '2 Certain', (rank) => {
    if (rank === 0) return hung(0);
    const seen = rank === C ? { states: 'T', stoppedMs: 61_500 } : {};
    return silently(hung(rank, seen));
  }),
  row('a helper that was stopped long before rank 0 reported last', 'unknown', (rank) => {
    if (rank === 0) return hung(0);
    const seen = rank === C ? { states: 'T', stoppedMs: 90_000 } : {};
    return silently(hung(rank, seen));
  }),
  row('one spins while its peers sleep', '2 Likely', (rank) =>
    hung(rank, rank === C ? { cpuMs: 4990 } : {}),
  ),
  row('one sleeps while its peers spin', '2 Likely', (rank) =>
    hung(rank, { cpuMs: rank === C ? 10 : 4990 }),
  ),
  row('a quarter of the group spins', { 4: '0 Likely', 64: 'unknown' }, (rank, size) =>
    hung(rank, { cpuMs: rank < size / 4 ? 4990 : 20 }),
  ),
  row('one spins, and gets little of a CPU', '2 Likely', (rank) =>
    hung(rank, rank === C ? { cpuMs: 400, runnableMs: 4980 } : { runnableMs: 300 }),
  ),
  row('all spin, and one gets more of a CPU', 'unknown', (rank) =>
    hung(rank, { cpuMs: rank === C ? 2600 : 400, runnableMs: 4980 }),
  ),
  row('one sleeps while its peers spin, and get little of a CPU', '2 Likely', (rank) =>
    hung(rank, rank === C ? { runnableMs: 100 } : { cpuMs: 400, runnableMs: 4980 }),
  ),
  row('one waits often while its peers sleep', 'unknown', (rank) =>
    hung(rank, { runnableMs: rank === C ? 3000 : 300 }),
  ),
  row('one is in another place of its program', '2 Likely', (rank) =>
    hung(rank, { where: rank === C ? 'load (data.py:9)' : 'all_reduce (dist.py:7)' }),
  ),
  row('one is in another place of its program, and another was stopped', '1 Certain', (rank) =>
    hung(rank, {
      where: rank === C ? 'load (data.py:9)' : 'all_reduce (dist.py:7)',
      ...(rank === 1 ? STOPPED : {}),
    }),
  ),
  row('one hangs elsewhere in its first step', '2 Likely', (rank) => {
    const end = silently(hung(rank));
    const where = rank === C ? 'load (data.py:9)' : 'all_reduce (dist.py:7)';
    return end.kind === 'Ended' ? { ...end, where } : end;
  }),
  row('all are in the same place', 'unknown', (rank) => hung(rank, { where: 'wait (sync.py:7)' })),
  row('each is in a place of its own', 'unknown', (rank) => hung(rank, { where: `line ${rank}` })),
  row('half of the group is in another place', 'unknown', (rank) =>
    hung(rank, { where: `line ${rank % 2}` }),
  ),
  row('one is in another place than one other, and the rest tell no place', 'unknown', (rank) =>
    hung(rank, rank < 2 ? { where: `line ${rank}` } : {}),
  ),
  row('one is in a phase of its own, which is another place', 'unknown', (rank) =>
    hung(rank, rank === C ? { inPhase: true, where: 'save (ckpt.py:3)' } : { where: 'wait' }),
  ),
  row('one is two steps behind', '2 Likely', (rank) =>
    hung(rank, { step: rank === C ? 328 : 330 }),
  ),
  row('one is behind the others, which are a step apart', '2 Likely', (rank) =>
    hung(rank, { step: rank === C ? 300 : 330 + (rank % 2) }),
  ),
  row('half of the group is a step behind', 'unknown', (rank) =>
    hung(rank, { step: 330 + (rank % 2) }),
  ),
  row('rank 0 alone reports, and all hang', 'unknown', (rank) =>
    rank === 0 ? hung(0) : silently(stopped()),
  ),
  row(
    'one stands still while the others go on',
    '2 Likely',
    one(hung(0), () => stopped({ step: 390 })),
  ),
  row('all wait for shared storage', 'unknown', (rank) => hung(rank, { states: 'D' })),
  row('one waits for its disk', '2 Likely', (rank) =>
    hung(rank, rank === C ? { states: 'D' } : {}),
  ),
  row(
    'a node is lost, and the others find out by a time-out',
    '2 Certain',
    one({ kind: 'Lost', seenMs: T - 40_000, deletedMs: T + 300_000 }, (rank) =>
      ended(rank * 10, exited(1, { silentMs: 40_000 })),
    ),
  ),
  row('a node with three members is lost', '1 Certain, 2 Certain, 3 Certain', (rank) =>
    rank >= 1 && rank <= 3
      ? { kind: 'Lost', seenMs: T - 40_000, deletedMs: T + 300_000 }
      : ended(rank * 10, exited(1, { silentMs: 40_000 })),
  ),
  row(
    'a Pod is deleted',
    '2 Certain',
    one({ kind: 'Lost', seenMs: T - 20, deletedMs: T - 200 }, () => ended(0, exited(1))),
  ),
  row('a Pod is deleted just after another worker has failed', '2 Likely', (rank) => {
    if (rank === C) return { kind: 'Lost', seenMs: T - 20, deletedMs: T + 200 };
    return rank === 1 ? ended(0, exited(1)) : stopped();
  }),
  row('a Pod is deleted while the others wait at the barrier', '1 Likely', (rank) => {
    if (rank === C) return { kind: 'Lost', seenMs: T + 9000, deletedMs: T + 9000 };
    return rank === 1 ? ended(0, exited(1)) : stopped();
  }),
  row(
    'one node is cut off, and comes back when the others have given up',
    'unknown',
    one(ended(400, exited(1, { silentMs: 60_000, cpuMs: 20 })), (rank) =>
      ended(rank * 10, exited(1, { silentMs: 60_000, cpuMs: 20 })),
    ),
  ),
  row(
    'rank 0 writes a checkpoint for minutes while the last rank dies',
    { 4: '3 Certain', 64: '63 Certain' },
    (rank, size) => {
      const long = { silentMs: 240_000 };
      if (rank === 0) return stopped({ ...long, inPhase: true });
      return rank === size - 1 ? ended(0, exited(1, long)) : stopped(long);
    },
  ),
  row(
    'rank 0 writes a checkpoint for minutes, and another counts as hung meanwhile',
    'unknown',
    (rank) => (rank === 0 ? stopped({ inPhase: true, cpuMs: 4990 }) : hung(rank)),
  ),
  row(
    'an exception before the first step',
    'unknown',
    one(silently(ended(0, exited(1))), () => silently(stopped())),
  ),
  row('an exception after a single step', 'unknown', (rank) => {
    const { longestMs: _, ...first } = rank === C ? exited(1) : STEPPING;
    return ended(rank === C ? 0 : 50, first);
  }),
  row(
    'SIGKILL before the first step',
    '2 Certain',
    one(silently(ended(0, diedBy('SIGKILL'))), () => silently(stopped())),
  ),
  row(
    'SIGSTOP without any reports of progress',
    '2 Likely',
    one(silently(ended(900, { how: 'Killed', ...STOPPED })), () => silently(ended(0, exited(1)))),
  ),
  row('a collective times out without any reports of progress', 'unknown', (rank) =>
    silently(ended(rank * 10, exited(1))),
  ),
  row(
    'mixed channels: one SIGKILL over the hub, another member tells nothing',
    '2 Likely',
    (rank) => (rank === 1 ? undefined : one(ended(0, diedBy('SIGKILL')))(rank)),
  ),
  row(
    'mixed channels: one SIGKILL over the API server',
    '2 Likely',
    one(overApi(ended(0, diedBy('SIGKILL')))),
  ),
  row(
    'mixed channels: an exception in a member that tells nothing, and all follow',
    'unknown',
    one(undefined, (rank) => ended(rank * 10, exited(1))),
  ),
  row('mixed channels: SIGSTOP of one over the hub, half tell nothing', '2 Likely', (rank) => {
    if (rank === C) return ended(900, { ...HANGING, how: 'Killed', ...STOPPED, cpuMs: 0 });
    return rank % 2 === 1 ? undefined : ended(rank * 10, exited(1, { silentMs: 60_000 }));
  }),
  row(
    'mixed channels: SIGSTOP of a member that tells nothing',
    'unknown',
    one(undefined, (rank) => hung(rank)),
  ),
  row('mixed channels: a node is lost, and another member tells nothing', '2 Likely', (rank) => {
    if (rank === 1) return undefined;
    if (rank === C) return { kind: 'Lost', seenMs: T - 40_000, deletedMs: T + 300_000 };
    return ended(rank * 10, exited(1, { silentMs: 40_000 }));
  }),
  row(
    'a Pod is deleted, long after another member told that it had finished',
    '2 Certain',
    (rank) => {
      if (rank === 1) return ended(-600_000, exited(0, { step: 10 }));
      if (rank === C) return { kind: 'Lost', seenMs: T - 20, deletedMs: T };
      return stopped();
    },
  ),
  row('no member tells anything', 'unknown', () => undefined),
  row(
    'the last failure: only the first to die has told, by SIGKILL',
    '2 Likely',
    one(ended(0, diedBy('SIGKILL')), () => undefined),
  ),
  row(
    'the last failure: only the first to die has told, by an exception',
    '2 Likely',
    one(ended(0, exited(1)), () => undefined),
  ),
];

/** The operator's evidence in a scenario for a group of a size. */
export function evidenceIn({ end }: Scenario, size: number): GroupEvidence {
  const members = Array.from({ length: size }, (_, rank): MemberEvidence | undefined => {
    const known = end(rank, size);
    return known === undefined ? undefined : { member: memberOf(rank, size), end: known };
  });
  return { size, members: members.filter((each) => each !== undefined) };
}

export function memberOf(rank: number, size: number): MemberEvidence['member'] {
  const name = `train-workers-0-${rank}`;
  const place = { replicatedJob: 'workers', jobIndex: 0, completions: size };
  return { ...place, completionIndex: rank, pod: name, podUid: `uid-${rank}` };
}
