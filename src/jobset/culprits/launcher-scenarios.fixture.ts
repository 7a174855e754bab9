/** Failures of one rank of four below the launcher of a Pod, and what the Pods report about them. */
import type { MemberEnd } from '../roster/group-evidence.ts';
import type { WorkerEnd } from '../worker-end/worker-end.ts';
import type { Scenario } from './scenarios.fixture.ts';

/** The time of the failure. */
const T = 2_000_000;
/** The Pod of the rank that failed first. */
const C = 2;

/** The launcher ends this long after the rank. */
const LATER_MS = 900;
const AT_WORK = { step: 330, longestMs: 900, launcher: true } as const;

type Ranks = Partial<Pick<WorkerEnd, 'firstRank' | 'local' | 'rank' | 'oom' | 'silentMs'>>;
const RANK = { local: 3, rank: 11 } as const;
const NONE: Ranks = { firstRank: 'None' };

/** A launcher that ends by itself, and when the first of its ranks failed. */
function launcher(failedAfterMs: number, ranks: Ranks, endedAfterMs = LATER_MS): MemberEnd {
  const failedMs = endedAfterMs - failedAfterMs;
  const at = { atMs: T + endedAfterMs, silentMs: endedAfterMs + 400, failedMs };
  return {
    kind: 'Ended',
    epoch: 1,
    how: 'Exited',
    exit: { exitCode: 1 },
    ...AT_WORK,
    ...at,
    ...ranks,
  };
}

/** A rank that the agent started prints a traceback, and decides later over the end of its member. */
function agentStarted(raisedAfterMs: number, endedAfterMs: number): MemberEnd {
  return launcher(raisedAfterMs, { local: 0, rank: 4 }, endedAfterMs);
}

function stopped(known: Partial<WorkerEnd>): MemberEnd {
  const at = { atMs: T + LATER_MS + 50, silentMs: LATER_MS + 450 };
  return { kind: 'Ended', epoch: 1, how: 'Stopped', ...AT_WORK, ...at, ...known };
}

/** A member without progress for a minute, which was ended for that at about `T`. */
function hung(pod: number, known: Partial<WorkerEnd>): MemberEnd {
  const at = { atMs: T + pod * 3, silentMs: 61_000, cpuMs: 20 };
  const end = { how: 'Hung', exit: { signal: 'SIGKILL' } } as const;
  return { kind: 'Ended', epoch: 1, ...end, ...AT_WORK, ...at, ...known };
}

function row(
  name: string,
  expected: string | Scenario['expected'],
  culprit: MemberEnd,
  other: (pod: number) => MemberEnd,
): Scenario {
  const end = (pod: number): MemberEnd => (pod === C ? culprit : other(pod));
  return {
    name,
    expected: typeof expected === 'string' ? { 4: expected, 64: expected } : expected,
    end,
  };
}

const CRASHED: MemberEnd = {
  kind: 'Ended',
  epoch: 1,
  how: 'Signaled',
  exit: { signal: 'SIGSEGV' },
  ...AT_WORK,
  atMs: T,
  silentMs: 400,
  local: 1,
  rank: 5,
};

export const LAUNCHER_SCENARIOS: readonly Scenario[] = [
  row(
    'a rank ends without a word, and ranks of other Pods raise',
    '2 Likely',
    launcher(-50, { firstRank: 'Silent', ...RANK }),
    (pod) => launcher(5 + pod, { firstRank: 'Raised' }, 700 + pod),
  ),
  row(
    'a rank exits with 0, its peers raise, and other Pods lose ranks by exceptions',
    '2 Likely',
    launcher(0, { firstRank: 'Left', ...RANK }, 30),
    (pod) => launcher(5 + pod, {}, 5 + pod),
  ),
  row(
    'a rank exits with 0, which is seen late, and a rank of another Pod raises and ends slowly',
    '2 Likely',
    launcher(1500, { firstRank: 'Left', ...RANK }, 3000),
    (pod) => (pod === 1 ? agentStarted(5, 4000) : stopped({})),
  ),
  row(
    'a rank of each Pod exits with 0, as the work is done, and one fails at its end',
    '2 Likely',
    launcher(-400, { firstRank: 'Left', ...RANK }, 0),
    (pod) => stopped({ firstRank: 'Left', failedMs: LATER_MS + 800 + pod }),
  ),
  row(
    'a rank exits with 0, and a rank of another Pod dies of SIGSEGV later',
    '1 Certain',
    stopped({ firstRank: 'Left', failedMs: LATER_MS + 3000, ...RANK }),
    (pod) => (pod === 1 ? CRASHED : stopped({})),
  ),
  row(
    'a rank ends without a word, and its report is late',
    '2 Likely',
    launcher(150, { firstRank: 'Silent', ...RANK }),
    (pod) => launcher(5 + pod, { firstRank: 'Open' }, 700 + pod),
  ),
  row(
    'a rank raises, and ranks of other Pods do when its process ends',
    '2 Likely',
    launcher(0, { firstRank: 'Raised', ...RANK }),
    (pod) => launcher(120 + pod, { firstRank: 'Open' }, 700 + pod),
  ),
  row(
    'a rank raises, and a rank of another Pod crashes when its process ends',
    '2 Likely',
    launcher(0, { firstRank: 'Raised', ...RANK }, 1800),
    (pod) => (pod === 1 ? launcher(1500, { firstRank: 'Killed' }, 1700) : stopped(NONE)),
  ),
  row(
    'a rank raises, and the other Pods are stopped',
    '2 Certain',
    launcher(0, { firstRank: 'Raised', ...RANK }),
    () => stopped({ ...NONE, exit: { exitCode: 1 } }),
  ),
  row(
    'a rank is killed, and the other Pods are stopped',
    '2 Certain',
    launcher(0, { firstRank: 'Killed', ...RANK }),
    () => stopped(NONE),
  ),
  row(
    'a rank raises, and the ranks of another Pod are not seen',
    '2 Likely',
    launcher(0, { firstRank: 'Raised', ...RANK }),
    (pod) => stopped(pod === 1 ? {} : NONE),
  ),
  row(
    'a rank raises, and one of another Pod had failed before it was stopped',
    '2 Likely',
    launcher(0, { firstRank: 'Raised', ...RANK }),
    (pod) => stopped(pod === 1 ? { firstRank: 'Raised', failedMs: 600 } : NONE),
  ),
  row(
    'a rank of a Pod that is stopped had failed long before',
    '2 Likely',
    stopped({ firstRank: 'Silent', failedMs: 8000, ...RANK, silentMs: 8300 }),
    (pod) =>
      pod === 1
        ? launcher(0, { firstRank: 'Raised', silentMs: 8200 })
        : stopped({ ...NONE, silentMs: 8200 }),
  ),
  row(
    'a rank ended without a word, after which the others stepped for 7 s',
    '1 Likely',
    stopped({ firstRank: 'Silent', failedMs: 8000, ...RANK, silentMs: 8300 }),
    (pod) => (pod === 1 ? launcher(0, { firstRank: 'Raised' }) : stopped(NONE)),
  ),
  row(
    'a rank ends without a word, and the other Pods are stopped',
    '2 Likely',
    launcher(0, { firstRank: 'Silent', ...RANK }),
    () => stopped(NONE),
  ),
  row(
    'some rank of a Pod fails, and the other Pods are stopped',
    '2 Likely',
    launcher(0, { firstRank: 'Open' }),
    () => stopped(NONE),
  ),
  row('a launcher ends whose ranks all run', '2 Likely', launcher(LATER_MS, NONE), () =>
    stopped(NONE),
  ),
  row(
    'memory runs out below a launcher',
    '2 Certain',
    launcher(0, { firstRank: 'Open', oom: true }),
    () => stopped(NONE),
  ),
  row(
    'a rank is gone, and its launcher and all peers wait until they count as hung',
    '2 Likely',
    hung(C, { firstRank: 'Silent', failedMs: 60_800, ...RANK }),
    (pod) => hung(pod, NONE),
  ),
  row(
    'a rank does what no other of its Pod does, and all count as hung',
    '2 Likely',
    hung(C, { ...NONE, ...RANK }),
    (pod) => hung(pod, NONE),
  ),
  row(
    'ranks of two Pods do so',
    { 4: 'unknown', 64: '1 Likely, 2 Likely' },
    hung(C, { ...NONE, ...RANK }),
    (pod) => hung(pod, { ...NONE, ...(pod === 1 ? RANK : {}) }),
  ),
  row(
    'a rank is stopped, and all count as hung',
    '2 Certain',
    hung(C, { ...NONE, ...RANK, states: 'T', stoppedMs: 60_500 }),
    (pod) => hung(pod, NONE),
  ),
];
