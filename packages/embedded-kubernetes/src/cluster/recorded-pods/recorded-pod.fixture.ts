/**
 * What a real kubelet (1.36.3) did with one Pod, and the same Pod on our node agent, in memory
 * under a virtual clock. Each run of a container lasts as long, and ends in the same way, as in the
 * recording. `recorded/` holds the recordings, one file per scenario.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { EVENTS } from '@lockstep/kube/objects/event.ts';
import type { Pod, PodSpec } from '@lockstep/kube/objects/pod.ts';
import type {
  FakeProcess,
  FakeProgram,
} from '@lockstep/kube/runtime/memory/memory-process-runner.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { TestNode, type TestNodeOptions } from '../node/test-node.fixture.ts';
import { PodStatusReader, type StatusText, withoutPodName } from './pod-status-text.fixture.ts';

/** For each container its runs in order: how long each lasted in milliseconds, and its exit code. */
export type Runs = Readonly<Record<string, readonly (readonly [lifeMs: number, exit: number])[]>>;

export interface RecordedPod {
  readonly spec: PodSpec;
  readonly runs: Runs;
  readonly statuses: readonly RecordedStatus[];
  /** Without Events of the scheduler and of image pulls. */
  readonly events: readonly string[];
}

/** With the time since the Pod was created. */
export type RecordedStatus = StatusText & { readonly atMs: number };

/** About what the recorded container runtime took to prepare a Pod, and to start a container. */
const START_MS = 100;
/** Exit codes that answer signals: a run with one of them lasts until it is told to stop. */
const SIGTERM_CODE = 143;
const SIGKILL_CODE = 137;

const DIRECTORY = new URL('recorded/', import.meta.url);

export function recordings(): readonly string[] {
  return readdirSync(DIRECTORY).map((file) => basename(file, '.json'));
}

export function readRecording<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`${name}.json`, DIRECTORY), 'utf8'));
}

/** A node whose containers end as in the recording. */
export function nodeThatPlays(runs: Runs, options: TestNodeOptions = {}): TestNode {
  const started = new Map<string, number>();
  let lastStartMs = 0;
  const programs: Readonly<Record<string, FakeProgram>> = {
    sh: (self) => {
      const name = containerOf(self);
      const run = started.get(name) ?? 0;
      started.set(name, run + 1);
      lastStartMs = node.clock.monotonic();
      play(self, runs[name]?.[run], node.clock);
    },
    // The probes of the recorded Pods look for a file that the container's second run makes.
    test: (self) => self.exit((started.get(containerOf(self)) ?? 0) > 1 ? 0 : 1),
  };
  const node = new TestNode(programs, { startMs: START_MS, ...options });
  node.answer = () => {
    if (node.clock.monotonic() - lastStartMs < START_MS) throw new Error('connection refused');
    return { status: 200, redirectedTo: undefined };
  };
  return node;
}

function play(
  self: FakeProcess,
  run: readonly [lifeMs: number, exit: number] | undefined,
  clock: Clock,
): void {
  const [lifeMs = 0, exit = SIGTERM_CODE] = run ?? [];
  if (exit === SIGKILL_CODE) {
    self.onSignal(() => undefined);
    return;
  }
  const end = exit === SIGTERM_CODE ? undefined : clock.setTimer(lifeMs, () => self.exit(exit));
  self.onSignal(() => {
    end?.cancel();
    self.exit(SIGTERM_CODE);
  });
}

function containerOf({ command }: FakeProcess): string {
  return command.env['LOCKSTEP_CONTAINER']?.split('/')[1] ?? '';
}

/** The statuses that the API showed, without repeats; statuses of a Pod in deletion count as one. */
export function shownStatuses(history: readonly Pod[]): readonly StatusText[] {
  const reader = new PodStatusReader();
  const shown: StatusText[] = [];
  for (const { status, metadata } of history) {
    const text = metadata.deletionTimestamp === undefined ? reader.read(status) : undefined;
    if (text !== undefined && !isSame(text, shown.at(-1))) shown.push(text);
  }
  return shown;
}

/** The node's Events about the Pod, each kind once. */
export async function shownEvents(node: TestNode): Promise<readonly string[]> {
  const { items } = await node.api.client.list(EVENTS);
  const texts = items
    .filter(({ regarding }) => regarding?.kind === 'Pod')
    .map(({ regarding, type, reason, note }) => {
      const where = regarding?.fieldPath?.replace('spec.', '') ?? 'pod';
      return `${where} ${type} ${reason}: ${withoutPodName(note)}`;
    });
  return [...new Set(texts)];
}

/**
 * The first recorded status that does not appear in order; undefined if all do. Other statuses may
 * appear in between.
 */
export function firstMissing(
  recorded: readonly StatusText[],
  shown: readonly StatusText[],
): { readonly missing: StatusText; readonly instead: readonly StatusText[] } | undefined {
  let next = 0;
  for (const { pod, conditions, containers } of recorded) {
    const missing = { pod, conditions, containers };
    const found = shown.findIndex((one, index) => index >= next && isSame(one, missing));
    if (found < 0) return { missing, instead: shown.slice(next) };
    next = found + 1;
  }
  return undefined;
}

function isSame(a: StatusText, b: StatusText | undefined): boolean {
  return (
    b !== undefined &&
    a.pod === b.pod &&
    a.conditions.join() === b.conditions.join() &&
    a.containers.join() === b.containers.join()
  );
}
