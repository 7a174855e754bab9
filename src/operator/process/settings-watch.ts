/**
 * Follows the Configuration file of a running operator. With a changed file the replicas end one
 * after another, and their kubelets start them again. A wrong file changes nothing and is reported.
 */
import type { Stored } from '@lockstep/kube/meta.ts';
import { CONFIG_MAPS } from '@lockstep/kube/objects/core.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { typeMetaOf } from '@lockstep/kube/resource.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import type { EventRecorder } from '@lockstep/kube/runtime/controller/event-recorder.ts';
import { withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import type { Metrics } from '@lockstep/kube/runtime/metrics.ts';
import { type Clock, pause } from '@lockstep/kube/runtime/ports/clock.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import {
  formatLabelSelector,
  labelRequirementsOf,
} from '@lockstep/kube/selectors/label-selector.ts';
import { CONFIGURATION_NAME, OPERATOR_POD_LABELS } from '../configuration/object-names.ts';
import { type OtherReplica, whyNotToRestart } from './restart-turn.ts';
import { changeSettingsRecord } from './settings-record.ts';

/** The settings of a file that is right, or why it is wrong. */
export type FileSettings = RightSettings | { readonly problem: string };

export interface RightSettings {
  readonly text: string;
  /** Equal for files that mean the same. */
  readonly digest: string;
}

export interface SettingsWatchOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: EventRecorder;
  readonly metrics?: Metrics | undefined;
  /** The namespace and name of the operator's own Pod. */
  readonly pod: { readonly namespace: string; readonly name: string };
  /** The settings with which this process runs. */
  readonly running: RightSettings;
  /** Reads the file. */
  readonly look: () => FileSettings;
  readonly isReady: () => boolean;
  readonly isLeader: () => boolean;
  /** From now on this replica is not ready, so that others are asked. */
  readonly leave: () => void;
  /** Ends the process as a signal does. */
  readonly end: (why: string) => void;
  readonly signal: AbortSignal;
}

/** Kubelets bring a changed ConfigMap within a minute or two, so that this adds little. */
const LOOK_INTERVAL_MS = 5_000;
/** The wait after a failure, for example without the rights of this version. */
const RETRY_INTERVAL_MS = 60_000;
const REQUESTS_TIMEOUT_MS = 20_000;
/** A wrong file is reported again, because Events are kept for an hour. */
const REMINDER_MS = 30 * 60_000;
/** Probes see within ten seconds that a replica leaves. */
export const LEAVE_MS = 15_000;
const MAX_REPLICAS = 100;

/** Runs until the signal aborts; it never rejects. */
export async function watchSettings(options: SettingsWatchOptions): Promise<void> {
  const { clock, logger, signal } = options;
  const watch = new SettingsWatch(options);
  let told = '';
  while (!signal.aborted) {
    let delayMs = LOOK_INTERVAL_MS;
    try {
      await watch.look();
      told = '';
    } catch (error) {
      delayMs = RETRY_INTERVAL_MS;
      const why = String(error);
      if (!signal.aborted && why !== told) {
        logger.warn('a changed configuration could not be followed', { err: why });
      }
      told = why;
    }
    await pause(clock, delayMs, signal);
  }
}

class SettingsWatch {
  readonly #options: SettingsWatchOptions;
  readonly #wrong: { set(labels: object, value: number): void } | undefined;
  #isAnnounced = false;
  #isRecorded = false;
  /** A changed file, and since when (monotonic) it is known. */
  #change: { readonly digest: string; readonly sinceMs: number } | undefined;
  #problem: { readonly key: string; readonly toldMs: number } | undefined;
  #wait = '';

  constructor(options: SettingsWatchOptions) {
    this.#options = options;
    this.#wrong = options.metrics?.gauge({
      name: 'lockstep_configuration_wrong',
      help: '1 while the Configuration file is wrong and the operator runs with earlier settings',
    });
  }

  async look(): Promise<void> {
    const { look, running, clock, isReady, isLeader } = this.#options;
    const seen = look();
    this.#wrong?.set({}, 'problem' in seen ? 1 : 0);
    if ('problem' in seen) await this.#report(seen.problem);
    else this.#acquit();
    if (isReady() && (!this.#isAnnounced || (isLeader() && !this.#isRecorded))) {
      await this.#announce(isLeader());
    }
    if ('problem' in seen || seen.digest === running.digest) {
      this.#change = undefined;
      return;
    }
    if (this.#change?.digest !== seen.digest) {
      this.#change = { digest: seen.digest, sinceMs: clock.monotonic() };
      this.#options.logger.info('the configuration has changed: restarts when it is its turn');
    }
    await this.#restartInTurn(this.#change);
  }

  async #report(problem: string): Promise<void> {
    const { clock, logger, isLeader } = this.#options;
    const key = `${isLeader()} ${problem}`;
    const isNew = this.#problem?.key !== key;
    const nowMs = clock.monotonic();
    if (!isNew && nowMs - (this.#problem?.toldMs ?? 0) < REMINDER_MS) return;
    this.#problem = { key, toldMs: nowMs };
    // Somebody may have deleted the record, and now a Pod that starts needs it.
    this.#isRecorded = false;
    logger.error('the configuration is wrong: runs with the last one that was right', { problem });
    if (isLeader()) await this.#tell(problem);
  }

  /** Reports to users, with an Event of the ConfigMap that they have edited. */
  async #tell(problem: string): Promise<void> {
    const { client, events, pod } = this.#options;
    const at = { namespace: pod.namespace, name: CONFIGURATION_NAME };
    const uid = await this.#within((signal) => client.get(CONFIG_MAPS, at, { signal })).then(
      ({ metadata }) => metadata.uid,
      () => undefined,
    );
    events.record({
      regarding: {
        ...typeMetaOf(CONFIG_MAPS),
        ...at,
        ...(uid === undefined ? {} : { uid }),
      },
      type: 'Warning',
      reason: 'ConfigurationWrong',
      action: 'ReadingConfiguration',
      note: `The operator runs with the last settings that were right: ${problem}`,
    });
  }

  #acquit(): void {
    if (this.#problem !== undefined) this.#options.logger.info('the configuration is right again');
    this.#problem = undefined;
  }

  /** Gives the turn back, and keeps the file with which this replica became ready. */
  async #announce(isLeader: boolean): Promise<void> {
    const { running, pod } = this.#options;
    const others = await this.#others();
    await this.#changeRecord(({ lastGood, turn, runs }) => {
      const living = Object.entries(runs).filter(([of]) => others.some(({ name }) => name === of));
      return {
        lastGood: isLeader ? running.text : lastGood,
        turn: turn === pod.name ? undefined : turn,
        runs: { ...Object.fromEntries(living), [pod.name]: running.digest },
      };
    });
    this.#isAnnounced = true;
    this.#isRecorded ||= isLeader;
  }

  async #restartInTurn({ digest, sinceMs }: { digest: string; sinceMs: number }): Promise<void> {
    const { clock, logger, pod, isLeader, isReady, leave, end, signal } = this.#options;
    const others = await this.#others();
    let why: string | undefined;
    const isOurTurn = await this.#changeRecord((record) => {
      why = whyNotToRestart({
        self: pod.name,
        isReady: isReady(),
        isLeader: isLeader(),
        wanted: digest,
        waitedMs: clock.monotonic() - sinceMs,
        others,
        record,
      });
      return why === undefined ? { ...record, turn: pod.name } : undefined;
    });
    if (!isOurTurn) {
      if (why !== undefined && why !== this.#wait) logger.info('waits to restart', { why });
      this.#wait = why ?? '';
      return;
    }
    leave();
    if (others.length > 0) await pause(clock, LEAVE_MS, signal);
    end('the configuration has changed');
  }

  /** The other Pods of the operator that live. */
  async #others(): Promise<readonly OtherReplica[]> {
    const { client, pod } = this.#options;
    const { namespace } = pod;
    const { items } = await this.#within((signal) =>
      client.list(PODS, { namespace, labelSelector: SELECTOR, limit: MAX_REPLICAS, signal }),
    );
    return items
      .filter((one) => one.metadata.name !== pod.name && isAlive(one))
      .map((one) => ({ name: one.metadata.name, isReady: isReady(one) }));
  }

  #changeRecord(change: Parameters<typeof changeSettingsRecord>[3]): Promise<boolean> {
    const { client, pod } = this.#options;
    return this.#within((signal) => changeSettingsRecord(client, pod.namespace, signal, change));
  }

  #within<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, signal } = this.#options;
    return withDeadline(clock, REQUESTS_TIMEOUT_MS, signal, work);
  }
}

const SELECTOR = formatLabelSelector(labelRequirementsOf({ matchLabels: OPERATOR_POD_LABELS }));

function isAlive({ metadata, status }: Stored<Pod>): boolean {
  const hasEnded = status?.phase === 'Failed' || status?.phase === 'Succeeded';
  return metadata.deletionTimestamp === undefined && !hasEnded;
}

function isReady({ status }: Pod): boolean {
  return (
    status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true
  );
}
