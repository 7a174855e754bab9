/**
 * Random lives of a group: what is accounted for, write by write, against an oracle that sees the
 * whole life at once (`docs/design/goodput.md`).
 */

import type { Condition, Stored } from '@lockstep/kube/meta.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { literalGroupFacts } from '../../../test/fixtures/facts.ts';
import { replicatedJob, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import { ZERO } from '../../../test/fixtures/planned.ts';
import { withDefaults } from '../../jobset/defaults.ts';
import { sumsOf } from '../../jobset/goodput/classes.ts';
import { endOf } from '../../jobset/goodput/course.ts';
import { goodputAt } from '../../jobset/goodput/goodput-at.ts';
import { type TimelineSegment, timelineOf } from '../../jobset/goodput/timeline.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import {
  type JobSetStatus,
  RESTART_HISTORY_LIMIT,
  type RestartRecord,
} from '../../jobset/jobset-status.ts';
import { accountTime } from '../../jobset/plan/reports/account-time.ts';
import type { Progress } from '../../jobset/progress/progress.ts';
import { GroupWork } from '../../jobset/roster/group-work.ts';

const CREATED_MS = Date.parse('2026-01-01T00:00:00Z');
const MEMBERS = 3;

const KINDS = [
  'Release',
  'Release',
  'Release',
  'Step',
  'Step',
  'Checkpoint',
  'Checkpoint',
  'Phase',
  'Ping',
  'Ping',
  'Write',
  'Fail',
  'Hang',
  'Scale',
  'StartFailed',
  'Suspend',
  'Resume',
  'LeaderChange',
  'Lose',
] as const;

const COMMAND = fc.record({
  kind: fc.constantFrom(...KINDS),
  afterMs: fc.integer({ min: 1, max: 100_000 }),
  member: fc.nat(MEMBERS - 1),
  clockStepMs: fc.integer({ min: -5000, max: 5000 }),
  saves: fc.constantFrom('No', 'Told', 'Silently'),
});
type Command = typeof COMMAND extends fc.Arbitrary<infer T> ? T : never;

/**
 * Work that is saved as its epoch ends, of which nobody tells, and which the next epoch continues
 * from: single commands hardly ever come in this order. After the release of the next epoch, others
 * may.
 */
const SAVED_SILENTLY = fc
  .record({
    command: COMMAND,
    isScaled: fc.boolean(),
    others: fc.array(COMMAND, { maxLength: 4 }),
  })
  .map(({ command, isScaled, others }): readonly Command[] => {
    const then = (kind: Command['kind']): Command => ({ ...command, kind, saves: 'Silently' });
    const ends = isScaled ? (['Scale'] as const) : (['Suspend', 'Resume'] as const);
    const before = ['Release', 'Step', 'Checkpoint', 'Step', ...ends, 'Release'] as const;
    return [...before.map(then), ...others, ...(['Release', 'Phase', 'Step'] as const).map(then)];
  });
const COMMANDS = fc
  .array(
    fc.oneof(
      { weight: 20, arbitrary: COMMAND.map((command) => [command]) },
      { weight: 1, arbitrary: SAVED_SILENTLY },
    ),
    { maxLength: 60, size: 'max' },
  )
  .map((each) => each.flat());

const LIFE = fc.record({
  members: fc.constantFrom(1, MEMBERS),
  commands: COMMANDS,
  end: fc.constantFrom('Completed', 'Failed', 'Failed hung', undefined),
  afterMs: fc.integer({ min: 1, max: 100_000 }),
});

/** What a worker has reported, with the times of its reports. */
interface Worker {
  step?: number;
  steppedMs?: number;
  checkpoint?: number;
  savedMs?: number;
  lineMs?: number;
}

/** One line of a life, as the oracle reads it. */
type Fact =
  | { readonly atMs: number; readonly kind: 'Released' | 'Suspended' | 'Resumed' | 'Failed' }
  | { readonly atMs: number; readonly kind: 'Completed' }
  | {
      readonly atMs: number;
      readonly kind: 'Ended';
      readonly hungSinceMs?: number | undefined;
      /** No failure ended it, so the next epoch tells what was saved. */
      readonly maySave?: boolean;
    }
  | { readonly atMs: number; readonly kind: 'Step' | 'Line' }
  | {
      readonly atMs: number;
      readonly kind: 'Checkpoint';
      readonly number: number;
      /** The worker has made no step of its own yet. */
      readonly isRestored: boolean;
    };

type Untimed<F> = F extends Fact ? Omit<F, 'atMs'> : never;

/** The world: workers, agents and the hub in real time, and an operator with a clock of its own. */
class World {
  readonly facts: Fact[] = [];
  readonly counted: Record<string, number> = {};
  status: JobSetStatus = {};
  /** Epochs that ended. */
  ends = 0;
  nowMs = CREATED_MS;
  readonly #isNoisy: boolean;
  #clockMs = 0;
  #work = new GroupWork();
  #workers: Worker[];
  #isSuspended = false;
  #isRunning = false;
  #releasedMs = 0;
  /** The epoch was running when the JobSet was suspended, so the resume ends it. */
  #isToEnd = false;
  #newest = 0;
  #hung: { readonly epoch: number; readonly silentMs: number | undefined } | undefined;

  constructor(isNoisy: boolean, members: number) {
    this.#isNoisy = isNoisy;
    this.#workers = Array.from({ length: members }, () => ({}));
    this.#see();
    this.write({ restarts: 0, deprecatedEpoch: 0 });
  }

  jobSet(): Stored<JobSet> {
    const failurePolicy = { restartStrategy: 'InPlaceRestart' } as const;
    const jobSet = storedJobSet({ failurePolicy, replicatedJobs: [replicatedJob('w', MEMBERS)] });
    return { ...jobSet, status: this.status };
  }

  get operatorMs(): number {
    return this.nowMs + this.#clockMs;
  }

  do({ kind, afterMs, member, clockStepMs, saves }: Command): void {
    this.nowMs += afterMs;
    const worker = this.#workers[member % this.#workers.length] ?? {};
    switch (kind) {
      case 'Release':
        this.#release();
        break;
      case 'Step':
      case 'Checkpoint':
      case 'Phase':
        this.#line(worker, kind);
        break;
      case 'Ping':
        this.#ping(worker);
        break;
      case 'Write':
        this.write({});
        break;
      case 'Fail':
        if (this.#isRunning) this.#endEpoch('WorkerFailed');
        break;
      case 'Scale':
        if (this.#isRunning) this.#endEpoch('Scaled');
        if (saves === 'Silently') this.#saveSilently(worker);
        break;
      case 'Hang':
        if (this.#isRunning) this.#endEpoch('WorkerFailed', worker);
        break;
      case 'StartFailed':
        if (!this.#isRunning && !this.#isSuspended) this.#end('StartFailed');
        break;
      case 'Suspend':
        this.#suspend(worker, saves);
        break;
      case 'Resume':
        this.#resume();
        break;
      case 'LeaderChange':
        this.#changeLeader(clockStepMs);
        break;
      case 'Lose':
        // Its Pod is gone, with all that it has not reported.
        if (this.#isNoisy) this.#workers[member % this.#workers.length] = {};
        break;
    }
  }

  finish(end: 'Completed' | 'Failed' | 'Failed hung' | undefined, afterMs: number): void {
    this.nowMs += afterMs;
    if (end === undefined) return;
    this.#tell();
    const type = end === 'Completed' ? end : 'Failed';
    const [worker] = this.#workers;
    const isHung = end === 'Failed hung' && this.#isRunning && worker !== undefined;
    const over: Condition = {
      type,
      status: 'True',
      reason: 'R',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const epoch = (this.status.deprecatedEpoch ?? 0) + 1;
    if (isHung) {
      this.#hung = { epoch, silentMs: this.#silenceOf(worker) };
      this.ends++;
    }
    const restartHistory = isHung ? this.#history('WorkerFailed') : this.status.restartHistory;
    this.write({ conditions: [over], ...(restartHistory && { restartHistory }) });
    const hungSinceMs = isHung ? (worker.lineMs ?? CREATED_MS) : undefined;
    if (this.#isRunning && type === 'Failed') this.#note({ kind: 'Ended', hungSinceMs });
    this.#note({ kind: type });
  }

  write(change: Partial<JobSetStatus>): void {
    // What several members report is known to a few seconds, unless all have just reported.
    if (!this.#isNoisy && this.#workers.length > 1) this.#tell();
    const next = { ...this.status, ...change };
    const { spec } = this.jobSet();
    const silentMs = this.#hung?.silentMs;
    const facts = literalGroupFacts({
      jobSet: this.jobSet(),
      status: this.status,
      spec: withDefaults({ ...spec, suspend: this.#isSuspended }),
      nowMs: this.operatorMs,
      reported: () => this.#work.at(this.nowMs),
      hubReach: { streams: MEMBERS, missing: 0, silent: [], mayLook: false },
      endsIn: () => [
        {
          member: { replicatedJob: 'w', jobIndex: 0, completions: 3, pod: 'hung', podUid: 'hung' },
          end: {
            kind: 'Ended',
            epoch: 1,
            how: 'Hung',
            atMs: 0,
            ...(silentMs !== undefined && { silentMs }),
          },
        },
      ],
    });
    const before = this.jobSet();
    const decision = accountTime(facts, {
      status: next,
      isChanged: true,
      events: [],
      keepsCounters: false,
    });
    this.status = { ...next, ...(decision.status as JobSetStatus | undefined) };
    for (const outcome of decision.outcomes ?? []) {
      if (outcome.kind !== 'TimeAccounted') continue;
      for (const [name, ms] of Object.entries(outcome.ms)) {
        this.counted[name] = (this.counted[name] ?? 0) + ms;
      }
    }
    this.#check(before);
    this.#see();
  }

  /** What always holds, however bad the weather. */
  #check(jobSet: Stored<JobSet>): void {
    const { goodput } = this.status;
    const before = jobSet.status?.goodput;
    if (goodput === undefined) throw new Error('a write accounts for nothing');
    const sums = sumsOf(goodput);
    const total = Object.values(sums).reduce(
      (sum, ms) => sum + ms,
      (goodput.pendingMs ?? 0) + (goodput.held?.ms ?? 0),
    );
    expect(total, 'up to the stamp').toBe(Date.parse(goodput.time) - CREATED_MS);
    if (before === undefined) return;
    expect(Date.parse(goodput.time)).toBeGreaterThanOrEqual(Date.parse(before.time));
    const old = sumsOf(before);
    for (const [name, ms] of Object.entries(sums)) {
      expect(ms, name).toBeGreaterThanOrEqual(old[name as keyof typeof old]);
    }
    // To decide about held work is all that touches what is past.
    if (before.held === undefined) return;
    const judgedMs = Date.parse(before.time) - (before.pendingMs ?? 0);
    const past = timelineOf(jobSet, this.operatorMs).filter(isExact);
    const now = timelineOf(this.jobSet(), this.operatorMs).filter(isExact);
    const judged = past.filter((each) => each.class !== 'Pending');
    const changed = judged.flatMap(({ fromMs, toMs, class: name, epoch }) =>
      now.filter(
        (each) =>
          Math.max(fromMs, each.fromMs) < Math.min(toMs, judgedMs, each.toMs) &&
          (each.class !== name || each.epoch !== epoch),
      ),
    );
    expect(changed, 'what is past').toEqual([]);
  }

  #release(): void {
    if (this.#isRunning || this.#isSuspended) return;
    this.#tell();
    const syncedEpoch = (this.status.deprecatedEpoch ?? 0) + 1;
    const conditions = this.status.conditions?.filter(({ type }) => type !== 'Suspended');
    this.write({
      replicatedJobsStatus: [{ name: 'w', ...ZERO, syncedEpoch }],
      ...(conditions && { conditions }),
    });
    this.#note({ kind: 'Released' });
    this.#isRunning = true;
    this.#releasedMs = this.operatorMs;
    this.#hung = undefined;
    // Agents that have not seen the release yet.
    this.#tell();
    this.#workers = this.#workers.map(() => ({}));
  }

  #line(worker: Worker, kind: 'Step' | 'Checkpoint' | 'Phase'): void {
    if (!this.#isRunning) return;
    worker.lineMs = this.nowMs;
    this.#note({ kind: 'Line' });
    if (kind === 'Step') {
      worker.step = (worker.step ?? this.#newest) + 1;
      worker.steppedMs ??= this.nowMs;
      this.#note({ kind: 'Step' });
    }
    if (kind === 'Phase' && this.#newest > 0) this.#save(worker, this.#newest);
    // A new checkpoint holds new steps.
    if (kind === 'Checkpoint' && worker.step !== undefined) this.#save(worker, this.#newest + 1);
    // Agents tell every few seconds.
    if (!this.#isNoisy) this.#tell();
  }

  #save(worker: Worker, number: number): void {
    if (worker.checkpoint === number) return;
    this.#newest = number;
    worker.checkpoint = number;
    worker.savedMs = this.nowMs;
    this.#note({ kind: 'Checkpoint', number, isRestored: worker.step === undefined });
  }

  /** Its worker saves when it is told to end, and nobody hears of it. */
  #saveSilently({ step }: Worker): void {
    if (step !== undefined) this.#newest++;
  }

  #endEpoch(cause: RestartRecord['cause'], hung?: Worker): void {
    const epoch = (this.status.deprecatedEpoch ?? 0) + 1;
    this.#hung = hung && { epoch, silentMs: this.#silenceOf(hung) };
    this.#end(cause);
    this.#isRunning = false;
    const hungSinceMs = hung && (hung.lineMs ?? CREATED_MS);
    this.#note({ kind: 'Ended', hungSinceMs, maySave: cause === 'Scaled' });
  }

  #end(cause: RestartRecord['cause']): void {
    // An epoch that ends before its release decides about the one before, so all have reported by then.
    if (!this.#isRunning) this.#tell();
    const restartHistory = this.#history(cause);
    this.write({ deprecatedEpoch: (this.status.deprecatedEpoch ?? 0) + 1, restartHistory });
    this.ends++;
  }

  #suspend(worker: Worker, saves: Command['saves']): void {
    if (this.#isSuspended) return;
    this.#isSuspended = true;
    this.#tell();
    const suspended: Condition = {
      type: 'Suspended',
      status: 'True',
      reason: 'R',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    this.write({ conditions: [suspended] });
    // Its agent tells once more when the worker has ended.
    if (this.#isRunning && saves === 'Told' && worker.step !== undefined) {
      this.#save(worker, this.#newest + 1);
      this.#ping(worker);
    }
    if (this.#isRunning && saves === 'Silently') this.#saveSilently(worker);
    if (this.#isRunning) this.#note({ kind: 'Ended', maySave: true });
    this.#note({ kind: 'Suspended' });
    this.#isToEnd = this.#isRunning;
    this.#isRunning = false;
  }

  #resume(): void {
    if (!this.#isSuspended) return;
    this.#isSuspended = false;
    this.write({});
    this.#workers = this.#workers.map(() => ({}));
    this.#note({ kind: 'Resumed' });
    if (this.#isToEnd) this.#end('Resumed');
    this.#isToEnd = false;
  }

  #changeLeader(clockStepMs: number): void {
    if (this.#isNoisy) this.#clockMs = clockStepMs;
    // What the epoch continues from is forgotten, once there is a newer checkpoint.
    else if (this.status.goodput?.held !== undefined) this.write({});
    this.#work = new GroupWork();
    this.#see();
    this.#tell();
  }

  #tell(): void {
    for (const worker of this.#workers) this.#ping(worker);
  }

  #ping({ step, steppedMs, checkpoint, savedMs, lineMs }: Worker): void {
    if (lineMs === undefined) return;
    const progress: Progress = {
      silentMs: this.nowMs - lineMs,
      ...(step !== undefined && { step }),
      ...(steppedMs !== undefined && { firstStepMs: this.nowMs - steppedMs }),
      ...(checkpoint !== undefined && { checkpoint }),
      ...(savedMs !== undefined && { checkpointMs: this.nowMs - savedMs }),
    };
    this.#work.take(progress, this.nowMs);
  }

  #silenceOf({ lineMs }: Worker): number | undefined {
    return lineMs === undefined ? undefined : this.nowMs - lineMs;
  }

  #history(cause: RestartRecord['cause']): readonly RestartRecord[] {
    const epoch = (this.status.deprecatedEpoch ?? 0) + 1;
    const reason = this.#hung?.epoch === epoch ? 'WorkerHung' : 'Error';
    const record: RestartRecord = {
      epoch,
      time: new Date(this.operatorMs).toISOString(),
      cause,
      counted: true,
      ...(this.#isRunning && { ranMs: Math.max(0, this.operatorMs - this.#releasedMs) }),
      ...(cause === 'WorkerFailed' && { witness: { pod: 'hung', exitCode: null, reason } }),
    };
    return [record, ...(this.status.restartHistory ?? [])].slice(0, RESTART_HISTORY_LIMIT);
  }

  #see(): void {
    this.#work.see(this.status, this.nowMs);
  }

  #note(fact: Untimed<Fact>): void {
    this.facts.push({ ...fact, atMs: this.nowMs });
  }
}

function isExact({ isSummary }: TimelineSegment): boolean {
  return isSummary !== true;
}

type Span = Pick<TimelineSegment, 'fromMs' | 'toMs'> & { readonly class: string };

/** Adds a span that begins where the last one ends, or lets that continue. */
function append(spans: Span[], { class: name, fromMs, toMs }: Span): void {
  if (toMs <= fromMs) return;
  const last = spans.at(-1);
  const goesOn = last?.class === name;
  if (goesOn) spans.pop();
  spans.push({ class: name, fromMs: goesOn ? last.fromMs : fromMs, toMs });
}

/** Whether the next epoch with a step begins with a checkpoint above that one. */
function goesOnAfter(checkpoint: number, facts: readonly Fact[]): boolean {
  const begins = facts.flatMap(({ kind }, i) => (kind === 'Released' ? [i] : []));
  for (const [n, begin] of begins.entries()) {
    const inEpoch = facts.slice(begin, begins[n + 1]);
    const step = inEpoch.find(({ kind }) => kind === 'Step');
    if (step === undefined) continue;
    return inEpoch.some(
      (each) =>
        each.kind === 'Checkpoint' &&
        each.isRestored &&
        each.number > checkpoint &&
        each.atMs <= step.atMs + 1000,
    );
  }
  return false;
}

interface Truth {
  readonly spans: readonly Span[];
  /** How often work was saved as its epoch ended, and only the next epoch tells. */
  readonly savedSilently: number;
}

/** What the time was, read off the whole life. */
function oracle(facts: readonly Fact[], endMs: number): Truth {
  const spans: Span[] = [];
  let savedSilently = 0;
  const put = (name: string, fromMs: number, toMs: number): void => {
    append(spans, { class: name, fromMs, toMs });
  };
  let idle = 'Waiting';
  let sinceMs = CREATED_MS;
  let highest = -1;
  let isOver = false;
  for (const [i, fact] of facts.entries()) {
    if (fact.kind === 'Released') {
      put(idle, sinceMs, fact.atMs);
      const rest = facts.slice(i + 1);
      const end = rest.find(({ kind }) => kind === 'Ended' || kind === 'Completed');
      const inEpoch = end === undefined ? rest : rest.slice(0, rest.indexOf(end));
      const isKnown = highest >= 0 || spans.some((span) => span.class === 'Starting');
      const hasReported = isKnown || inEpoch.some(({ kind }) => kind === 'Line');
      const toMs = end?.atMs ?? endMs;
      const stepMs = inEpoch.find(({ kind }) => kind === 'Step')?.atMs;
      let savedMs: number | undefined;
      for (const each of inEpoch) {
        if (each.kind !== 'Checkpoint' || each.number <= highest) continue;
        if (each.isRestored && stepMs === undefined) continue;
        highest = each.number;
        savedMs = each.atMs;
      }
      put('Starting', fact.atMs, stepMs ?? fact.atMs);
      if (end?.kind === 'Completed') {
        put(hasReported ? 'Productive' : 'Running', stepMs ?? fact.atMs, toMs);
      } else {
        const lastMs = Math.max(savedMs ?? 0, stepMs ?? fact.atMs);
        put('Productive', stepMs ?? fact.atMs, savedMs ?? 0);
        const hungSinceMs = end?.kind === 'Ended' ? end.hungSinceMs : undefined;
        const hungMs = Math.max(lastMs, hungSinceMs ?? toMs);
        const isSaved = end?.kind === 'Ended' && end.maySave && goesOnAfter(highest, rest);
        const judged = highest < 0 ? 'Running' : isSaved === true ? 'Productive' : 'Lost';
        if (stepMs !== undefined && judged === 'Productive') savedSilently++;
        put(stepMs === undefined ? (hasReported ? 'Starting' : 'Running') : judged, lastMs, hungMs);
        put('Hung', hungMs, toMs);
      }
      sinceMs = toMs;
      idle = 'Restarting';
    } else if (fact.kind === 'Suspended' || fact.kind === 'Resumed') {
      put(idle, sinceMs, fact.atMs);
      sinceMs = fact.atMs;
      idle = fact.kind === 'Suspended' ? 'Suspended' : 'Waiting';
    } else if (fact.kind === 'Completed' || fact.kind === 'Failed') {
      isOver = true;
      put(idle, sinceMs, fact.atMs);
    }
  }
  if (!isOver) put(idle, sinceMs, endMs);
  return { spans, savedSilently };
}

function lived(
  life: typeof LIFE extends fc.Arbitrary<infer T> ? T : never,
  isNoisy: boolean,
): World {
  const world = new World(isNoisy, life.members);
  for (const command of life.commands) world.do(command);
  world.finish(life.end, life.afterMs);
  return world;
}

function positive(classes: Readonly<Record<string, number>>): object {
  return Object.fromEntries(Object.entries(classes).filter(([, ms]) => ms > 0));
}

function sumsOfSpans(spans: readonly Span[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { class: name, fromMs, toMs } of spans) sums[name] = (sums[name] ?? 0) + toMs - fromMs;
  return sums;
}

/** `spans` is the whole truth, which is known if the clock is good. */
function checkTimeline(world: World, spans?: readonly Span[]): void {
  const { status, ends } = world;
  const timeline = timelineOf(world.jobSet(), world.operatorMs);
  const classes = goodputAt(world.jobSet(), world.operatorMs)?.classes ?? {};
  expect(sumsOfSpans(timeline)).toEqual(positive(classes));
  let atMs = CREATED_MS;
  for (const { fromMs, toMs } of timeline) {
    expect(fromMs).toBe(atMs);
    expect(toMs).toBeGreaterThan(fromMs);
    atMs = toMs;
  }
  const exact = timeline.filter(isExact);
  const isSummed = exact.length < timeline.length;
  if (isSummed) expect(ends, 'records that are gone').toBeGreaterThan(RESTART_HISTORY_LIMIT);
  const epochs = exact.map(({ epoch }) => epoch ?? 0);
  expect(epochs).toEqual(epochs.toSorted((a, b) => a - b));
  if (spans === undefined) return;
  const shown: Span[] = [];
  for (const segment of exact) append(shown, segment);
  const fromMs = exact[0]?.fromMs ?? CREATED_MS;
  const known = spans.filter(({ toMs }) => toMs > fromMs);
  expect(shown).toEqual(
    known.map((span, i) => (i === 0 ? { ...span, fromMs: Math.max(span.fromMs, fromMs) } : span)),
  );
  const starts = new Set(timeline.map((segment) => segment.fromMs));
  for (const { time, ranMs, course } of status.restartHistory ?? []) {
    if (course === undefined) continue;
    expect(CREATED_MS + endOf(course, status.goodput?.held)).toBe(Date.parse(time));
    if (ranMs !== undefined) expect(starts).toContain(Date.parse(time) - ranMs);
  }
}

test('whatever happens, the classes add up to the elapsed time, and metrics count each once', () => {
  fc.assert(
    fc.property(LIFE, (life) => {
      const world = lived(life, true);
      const { goodput = { time: '', phase: 'Waiting' } } = world.status;
      expect(world.counted).toEqual(positive(sumsOf(goodput)));
      const read = goodputAt(world.jobSet(), world.operatorMs);
      const total = Object.values(read?.classes ?? {}).reduce((sum, ms) => sum + ms, 0);
      expect(total).toBe(read?.elapsedMs);
      const elapsedMs = world.operatorMs - CREATED_MS;
      // The clocks of leaders differ, and a stamp never moves back.
      expect(total).toBeGreaterThanOrEqual(elapsedMs);
      expect(total).toBeLessThanOrEqual(elapsedMs + 10_000);
      checkTimeline(world);
    }),
    { numRuns: 400 },
  );
});

test('with a good clock and known progress, the classes are the same as over the whole life', () => {
  const seen = new Set<string>();
  let savedSilently = 0;
  fc.assert(
    fc.property(LIFE, (life) => {
      const end = life.end ?? 'Failed';
      const world = lived({ ...life, end }, false);
      const { spans, ...truth } = oracle(world.facts, world.nowMs);
      const classes = sumsOfSpans(spans);
      expect(positive(goodputAt(world.jobSet(), world.nowMs)?.classes ?? {})).toEqual(classes);
      checkTimeline(world, spans);
      for (const name of Object.keys(classes)) seen.add(name);
      savedSilently += truth.savedSilently;
    }),
    { numRuns: 400 },
  );
  expect(seen.size, 'every class comes about').toBe(8);
  expect(savedSilently, 'work that only the next epoch tells of').toBeGreaterThan(100);
});
