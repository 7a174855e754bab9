/** Computes the duration of each restart from what was observed. */
import type { JobSetStatus, RestartRecord } from '../../jobset/jobset-status.ts';
import type { DemoMode, DemoStandby, DemoStrategy } from './options.ts';
import type { MeasuredRestart } from './report.ts';
import type { TrainingLine } from './training-log.ts';

/** Observations of a run, in order; `atMs` is wall time. */
export type RunEvent =
  | { readonly kind: 'killed'; readonly atMs: number; readonly pod: string }
  | { readonly kind: 'line'; readonly atMs: number; readonly line: TrainingLine }
  /** A warm standby became the worker. */
  | { readonly kind: 'promoted'; readonly atMs: number; readonly pod: string }
  | {
      readonly kind: 'pod';
      readonly atMs: number;
      readonly name: string;
      readonly uid: string;
      /** True once every container of it runs. */
      readonly isRunning: boolean;
      readonly isGone: boolean;
      readonly failure: MeasuredRestart['witness'] | undefined;
    };

export interface MeasuredRun {
  readonly strategy: DemoStrategy;
  readonly mode: DemoMode;
  readonly workers: number;
  readonly events: readonly RunEvent[];
  readonly status: JobSetStatus | undefined;
}

const MS_PER_S = 1000;

/** One measurement for each kill whose recovery was observed up to its first step. */
export function measureRestarts(run: MeasuredRun): readonly MeasuredRestart[] {
  const kills = run.events.flatMap((event, index) => (event.kind === 'killed' ? [index] : []));
  return kills.flatMap((from, k) => {
    const before = run.events.slice(0, from);
    const after = run.events.slice(from + 1, kills[k + 1] ?? run.events.length);
    const killed = run.events[from];
    if (killed?.kind !== 'killed') return [];
    const measured = measureOne(run, killed, before, after);
    return measured === undefined ? [] : [measured];
  });
}

function measureOne(
  run: MeasuredRun,
  killed: RunEvent & { kind: 'killed' },
  before: readonly RunEvent[],
  after: readonly RunEvent[],
): MeasuredRestart | undefined {
  const restartedAt = after.findIndex(
    (event) => event.kind === 'line' && event.line.kind === 'start',
  );
  const firstStep = after
    .slice(restartedAt)
    .find((event) => event.kind === 'line' && event.line.kind === 'step');
  if (restartedAt < 0 || firstStep === undefined) return undefined;

  const totalMs = firstStep.atMs - killed.atMs;
  const known = new Set(before.flatMap((event) => (event.kind === 'pod' ? [event.uid] : [])));
  const recreated = new Set(
    after.flatMap((event) => (event.kind === 'pod' && !known.has(event.uid) ? [event.uid] : [])),
  );
  const lastStep = stepsIn(before, 'step').at(-1) ?? 0;
  const [startStep = 0] = stepsIn(after, 'start');
  const common = {
    strategy: run.strategy,
    podsRecreated: recreated.size,
    stepsLost: Math.max(0, lastStep - startStep),
    totalMs,
  };
  const promoted = new Set(
    after.flatMap((event) => (event.kind === 'promoted' ? [event.pod] : [])),
  );
  const standby: DemoStandby = promoted.size === run.workers ? 'Warm' : null;
  if (run.strategy === 'InPlaceRestart') {
    const record = recordAfter(run.status, killed.atMs);
    if (record === undefined) return undefined;
    return {
      ...common,
      mode: run.mode,
      standby,
      epoch: record.epoch,
      witness: {
        pod: record.witness?.pod ?? killed.pod,
        container: record.witness?.container ?? null,
        exitCode: record.witness?.exitCode ?? null,
        signal: record.witness?.signal ?? null,
        reason: record.witness?.reason ?? 'Unknown',
      },
      phasesMs: inPlacePhases(record, killed.atMs, totalMs),
    };
  }
  return {
    ...common,
    mode: null,
    standby: null,
    epoch: null,
    witness: witnessOf(killed, [...before, ...after]),
    phasesMs: recreatePhases(killed.atMs, known, after, run.workers, totalMs),
  };
}

function stepsIn(events: readonly RunEvent[], kind: 'start' | 'step'): readonly number[] {
  return events.flatMap((event) =>
    event.kind === 'line' && event.line.kind === kind ? [event.line.step] : [],
  );
}

/** The oldest record of an epoch that ended after the kill. */
function recordAfter(
  status: JobSetStatus | undefined,
  killedAtMs: number,
): RestartRecord | undefined {
  const later = (status?.restartHistory ?? []).filter(
    (record) => Date.parse(record.time) >= killedAtMs,
  );
  return later.sort((a, b) => a.epoch - b.epoch)[0];
}

/** Turns the times at which phases ended into durations that add up to the total. */
function phases(ends: Readonly<Record<string, number>>, fromMs: number): Record<string, number> {
  let at = fromMs;
  return Object.fromEntries(
    Object.entries(ends).map(([phase, end]) => {
      const until = Math.max(at, end);
      const took = until - at;
      at = until;
      return [phase, Math.round(took * MS_PER_S) / MS_PER_S];
    }),
  );
}

function inPlacePhases(
  record: RestartRecord,
  killedAtMs: number,
  totalMs: number,
): Record<string, number> {
  const announced = Date.parse(record.time);
  const atBarrier = announced + (record.phases?.announceMs ?? 0);
  const released = atBarrier + (record.phases?.releaseMs ?? 0);
  return phases({ announced, atBarrier, released, firstStep: killedAtMs + totalMs }, killedAtMs);
}

function recreatePhases(
  killedAtMs: number,
  old: ReadonlySet<string>,
  after: readonly RunEvent[],
  workers: number,
  totalMs: number,
): Record<string, number> {
  const gone = new Set<string>();
  const running = new Set<string>();
  let podsGone = killedAtMs;
  let podsRunning = killedAtMs;
  for (const event of after) {
    if (event.kind !== 'pod') continue;
    if (old.has(event.uid)) {
      if (event.isGone && !gone.has(event.uid)) {
        gone.add(event.uid);
        podsGone = event.atMs;
      }
    } else if (event.isRunning && running.size < workers && !running.has(event.uid)) {
      running.add(event.uid);
      podsRunning = event.atMs;
    }
  }
  return phases({ podsGone, podsRunning, firstStep: killedAtMs + totalMs }, killedAtMs);
}

function witnessOf(
  killed: RunEvent & { kind: 'killed' },
  events: readonly RunEvent[],
): MeasuredRestart['witness'] {
  const failed = events.find(
    (event) => event.kind === 'pod' && event.name === killed.pod && event.failure !== undefined,
  );
  const unseen = {
    pod: killed.pod,
    container: null,
    exitCode: null,
    signal: null,
    reason: 'Unknown',
  };
  return failed?.kind === 'pod' ? (failed.failure ?? unseen) : unseen;
}
