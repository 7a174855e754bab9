/**
 * The machines below the nodes of a simulated group. It checks which members leave them, and that the
 * group waits for that, and for preflights (`docs/bad-nodes.md`).
 */
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { JobSet } from '../jobset/jobset.ts';
import type { JobSetStatus, RestartRecord } from '../jobset/jobset-status.ts';
import { REPLICATED_JOB_NAME } from '../jobset/names.ts';
import type { Member } from './member.ts';
import type { PropertyName, Violation } from './properties.ts';
import type { Scenario } from './scenario.ts';
import { NAMESPACE, REPLACE_WITHIN_MS } from './user.ts';

export interface MachinesOptions {
  readonly scenario: Scenario;
  readonly clock: Clock;
  /** In all namespaces. */
  readonly pods: () => Iterable<Stored<Pod>>;
  readonly found: (violation: Violation) => void;
}

/** A Pod that cannot be deleted starts again where it is after this time. */
const STAYS_AFTER_MS = 300_000;
/** A write may come this much later than its decision. */
const MAX_WRITE_MS = 300_000;
const MAX_LEAVING = 4;

export class Machines {
  readonly #options: MachinesOptions;
  /** Once for each fault. */
  readonly #broken: string[] = [];
  /** Pods whose preflight did not pass. */
  readonly #unfit = new Set<string>();
  /** When a status named a Pod because it has to leave. */
  readonly #namedMs = new Map<string, number>();
  readonly #hasClockFaults: boolean;
  #status: JobSetStatus = {};

  constructor(options: MachinesOptions) {
    this.#options = options;
    this.#hasClockFaults = options.scenario.acts.some(
      ({ act: { kind } }) => kind === 'OperatorClock' || kind === 'ClockJumps',
    );
  }

  /** No preflight passes there until the call of what it returns. */
  break(node: string): () => void {
    this.#broken.push(node);
    return () => this.#broken.splice(this.#broken.indexOf(node), 1);
  }

  /** What a preflight finds. */
  isSound({ spec, metadata }: Stored<Pod>): boolean {
    const isSound = !this.#broken.includes(spec.nodeName ?? '');
    if (!isSound) this.#unfit.add(metadata.name);
    return isSound;
  }

  started({ slot }: Member, epoch: number, members: readonly Member[]): void {
    for (const { slot: other, supervised } of members) {
      if ((supervised?.checksAfter ?? epoch) >= epoch) continue;
      const detail = `${slot} starts in epoch ${epoch} while ${other} checks its machine`;
      this.#violates('No worker starts beside a preflight', detail);
    }
  }

  wrote({ status = {} }: Stored<JobSet>): void {
    const { replaceAfter, hasPreflight } = this.#options.scenario;
    if (replaceAfter === undefined && hasPreflight === undefined) return;
    const old = this.#status;
    this.#status = status;
    this.#checkNamed(old, status);
    this.#checkReleased(old, status);
  }

  #checkNamed({ avoidedNodes: known = [] }: JobSetStatus, status: JobSetStatus): void {
    const nowMs = this.#options.clock.now();
    const withinMs = REPLACE_WITHIN_MS + MAX_WRITE_MS;
    for (const { pod, time, node } of status.avoidedNodes ?? []) {
      if (known.some((each) => each.pod === pod && each.time === time)) continue;
      if (nowMs - (this.#namedMs.get(pod) ?? -STAYS_AFTER_MS) < STAYS_AFTER_MS) {
        this.#violates('A member leaves its node for a reason', `${pod} is to leave ${node} twice`);
      }
      this.#namedMs.set(pod, nowMs);
      if (this.#unfit.has(pod) || this.#isStruck(pod, status, withinMs)) continue;
      this.#violates(
        'A member leaves its node for a reason',
        `nothing says why ${pod} leaves ${node}`,
      );
    }
  }

  #checkReleased(old: JobSetStatus, status: JobSetStatus): void {
    const { clock, pods } = this.#options;
    const { avoidedNodes = [], restartHistory: [newest] = [], replicatedJobsStatus = [] } = status;
    const epochs = new Map(old.replicatedJobsStatus?.map((each) => [each.name, each.syncedEpoch]));
    const released = replicatedJobsStatus
      .filter(({ name, syncedEpoch = 0 }) => syncedEpoch > (epochs.get(name) ?? 0))
      .map(({ name }) => name);
    // By other clocks the time of each is over earlier.
    if (released.length === 0 || newest === undefined || this.#hasClockFaults) return;
    const leaving = avoidedNodes.filter(({ time }) => Date.parse(time) >= Date.parse(newest.time));
    for (const each of pods()) {
      const pod = each.metadata.name;
      if (!isMember(each)) continue;
      const namedMs = this.#namedMs.get(pod);
      if (namedMs !== undefined) {
        if (clock.now() - namedMs >= STAYS_AFTER_MS) continue;
        this.#violates('A release waits for all members', `${pod} is still there`);
      }
      const isReleased = released.includes(each.metadata.labels?.[REPLICATED_JOB_NAME] ?? '');
      if (!isReleased || leaving.length >= MAX_LEAVING) continue;
      if (!this.#isStruck(pod, status, REPLACE_WITHIN_MS)) continue;
      this.#violates('Who fails too often leaves its node', `${pod} starts again`);
    }
  }

  /** It was the first to fail too often within that time. */
  #isStruck(pod: string, { restartHistory = [] }: JobSetStatus, withinMs: number): boolean {
    const { scenario, clock } = this.#options;
    const sinceMs = this.#hasClockFaults ? 0 : clock.now() - withinMs;
    const isStrike = ({ suspects: [first] = [], cause, time }: RestartRecord): boolean =>
      first?.pod === pod &&
      first.confidence === 'Certain' &&
      first.node !== undefined &&
      cause !== 'Resumed' &&
      cause !== 'Scaled' &&
      Date.parse(time) >= sinceMs;
    return restartHistory.filter(isStrike).length >= (scenario.replaceAfter ?? Infinity);
  }

  #violates(property: PropertyName, detail: string): void {
    this.#options.found({ property, detail });
  }
}

/** It lives, and is not in deletion. */
function isMember({ metadata, status }: Stored<Pod>): boolean {
  const { namespace, ownerReferences, deletionTimestamp } = metadata;
  const isOver = status?.phase === 'Failed' || status?.phase === 'Succeeded';
  return (
    namespace === NAMESPACE &&
    ownerReferences !== undefined &&
    !isOver &&
    deletionTimestamp === undefined
  );
}
