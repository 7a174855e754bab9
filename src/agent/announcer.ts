/**
 * Writes the agent's epoch on its own Pod, in order. Each patch tests the value that it replaces,
 * so a late patch changes nothing, and the Pod's UID, so it never reaches a successor of the same
 * name. If a test fails, or the answer is lost, the announcer reads the Pod and repeats the patch.
 * Needs no right but `patch` on Pods.
 */

import type { Stored, StringMap } from '@lockstep/kube/meta.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { JsonPointer } from '@lockstep/kube/patch/json-pointer.ts';
import { Backoff } from '@lockstep/kube/runtime/backoff.ts';
import type { Client, JsonPatchOperation } from '@lockstep/kube/runtime/client/client.ts';
import { withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import { sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import type { ClientPorts } from '@lockstep/kube/runtime/ports/runtime-ports.ts';
import { ApiStatusError } from '@lockstep/kube/status.ts';
import { jobOf } from '../jobset/membership.ts';
import { NOTICE } from '../jobset/names.ts';
import type { Announcement } from '../jobset/worker-end/announcement.ts';
import { formatNotice } from '../jobset/worker-end/notice.ts';
import { withoutSigns } from '../jobset/worker-end/worker-end.ts';
import { announcementAnnotations, type Dialect, epochKey, epochText } from './pod-annotations.ts';

export interface AnnouncerOptions extends ClientPorts {
  readonly pod: {
    readonly namespace: string;
    readonly name: string;
    /** Undefined: learnt from the first answer. */
    readonly uid: string | undefined;
  };
  readonly dialect: Dialect;
  /** The epoch that this Pod announced last, according to its marker; 0: none. */
  readonly announced: number;
  /** How long to wait before an announcement, so that the members of a large group spread out. */
  readonly spreadMs: (epoch: number) => number;
  readonly confirmed: (epoch: number) => void;
  /** The Pod is being deleted, is gone, or belongs to no Job any more. */
  readonly podEnding: () => void;
  /** See `ChannelListener.podLives`. */
  readonly podLives: (askedMs: number) => void;
  readonly signal: AbortSignal;
}

/** What the agent knows about the current value of the epoch's annotation. */
type Old =
  | { readonly name: 'Value'; readonly text: string }
  /** Assumed absent without a read, because the Pod is new. */
  | { readonly name: 'New' }
  /** Absent in this version of the Pod. */
  | { readonly name: 'Absent'; readonly version: string; readonly hasAnnotations: boolean }
  | { readonly name: 'Unknown' };

const BACKOFF = { baseMs: 50, maxMs: 30_000, jitterFactor: 1 } as const;
const FORBIDDEN = 403;
const NOT_FOUND = 404;
/** Short, because an agent that is told to stop delays the end of its Pod. */
const NOTICE_TIMEOUT_MS = 300;
/** Short enough, because the agent asks again soon. */
const LOOK_TIMEOUT_MS = 15_000;

/**
 * Drops `managedFields`, which are two thirds of a Pod's metadata: the API server computes them
 * again at each write and sends them to the operator at each announcement. Only server-side apply
 * reads them, and Pods of Jobs are not applied. A list of one empty entry tells an API server to
 * keep none.
 */
const FORGET_MANAGED_FIELDS = {
  op: 'add',
  path: '/metadata/managedFields',
  value: [{}],
} as const;

export class Announcer {
  readonly #options: AnnouncerOptions;
  readonly #backoff: Backoff;
  #wanted: Announcement | undefined;
  /** The annotations that were sent last, perhaps in vain. */
  #sent: StringMap | undefined;
  #isWorking = false;
  #isLooking = false;
  #conflicts = 0;
  #uid: string | undefined;
  #old: Old;

  constructor(options: AnnouncerOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.random, BACKOFF);
    this.#uid = options.pod.uid;
    const { announced, dialect } = options;
    this.#old =
      announced > 0 ? { name: 'Value', text: epochText(dialect, announced) } : { name: 'New' };
  }

  /** Makes announcements one after the other, and skips superseded ones. */
  announce(announcement: Announcement): void {
    this.#wanted = announcement;
    this.#sent = undefined;
    if (!this.#isWorking) void this.#work();
  }

  /** The labels of the agent's own Pod. Retries until it has them; undefined if the Pod is gone. */
  async ownLabels(): Promise<StringMap | undefined> {
    const { signal } = this.#options;
    let isGone = false;
    while (!isGone) {
      try {
        const pod = await this.#patch({ type: 'merge', patch: {} }, signal);
        isGone = !this.#learn(pod);
        if (!isGone) return pod.metadata.labels ?? {};
      } catch (error) {
        isGone = error instanceof ApiStatusError && error.code === NOT_FOUND;
        await this.#afterFailure(error);
      }
    }
    return undefined;
  }

  /** See `Channel.giveNotice`. */
  async giveNotice(epoch: number): Promise<void> {
    const { clock, logger, dialect } = this.#options;
    if (dialect === 'Upstream') return;
    const notice = { [NOTICE]: formatNotice({ epoch }) };
    const operations = [...this.#uidTest(), ...additions(notice)];
    try {
      await withDeadline(clock, NOTICE_TIMEOUT_MS, undefined, (signal) =>
        this.#patch({ type: 'json', operations }, signal),
      );
    } catch (error) {
      logger.info('the notice could not be sent', { err: String(error) });
    }
  }

  /** See `Channel.askForPod`. */
  async lookAtPod(): Promise<void> {
    if (this.#isLooking) return;
    const { clock, logger, signal, podLives, podEnding } = this.#options;
    this.#isLooking = true;
    try {
      const askedMs = clock.monotonic();
      const pod = await withDeadline(clock, LOOK_TIMEOUT_MS, signal, (within) =>
        this.#patch({ type: 'merge', patch: {} }, within),
      );
      if (!this.#isOwn(pod)) return;
      if (this.#isEnding(pod)) podEnding();
      else podLives(askedMs);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiStatusError && error.code === NOT_FOUND) this.#podIsGone();
      logger.info('cannot tell whether the Pod is still there', { err: String(error) });
    } finally {
      this.#isLooking = false;
    }
  }

  async #work(): Promise<void> {
    const { clock, signal, spreadMs, confirmed } = this.#options;
    this.#isWorking = true;
    let spreadEpoch = 0;
    try {
      while (this.#wanted !== undefined && !signal.aborted) {
        const { epoch } = this.#wanted;
        const delayMs = epoch === spreadEpoch ? 0 : spreadMs(epoch);
        spreadEpoch = epoch;
        if (delayMs > 0) await sleep(clock, delayMs, signal);
        const announcement = this.#wanted;
        if (!(await this.#attempt(announcement))) continue;
        this.#backoff.reset();
        this.#conflicts = 0;
        if (this.#wanted === announcement) this.#wanted = undefined;
        confirmed(announcement.epoch);
      }
    } catch (error) {
      // Only the end of the channel gets here.
      if (!signal.aborted) throw error;
    } finally {
      this.#isWorking = false;
    }
  }

  /**
   * True when the announcement is confirmed. Otherwise it has waited, so the caller may try again.
   */
  async #attempt(announcement: Announcement): Promise<boolean> {
    const { clock, dialect, signal } = this.#options;
    const wanted = announcementAnnotations(dialect, announcement, clock.monotonic());
    try {
      if (this.#old.name === 'Unknown') {
        const read = await this.#patch({ type: 'merge', patch: {} }, signal);
        if (!this.#learn(read)) return false;
        if (holds(read, this.#sent ?? wanted)) return true;
      }
      const tests = oldTest(this.#old, pathOf(epochKey(dialect)));
      const forgotten = dialect === 'Canonical' ? [FORGET_MANAGED_FIELDS] : [];
      const operations = [...this.#uidTest(), ...tests, ...additions(wanted), ...forgotten];
      this.#sent = wanted;
      const written = await this.#patch({ type: 'json', operations }, signal);
      if (!this.#learn(written)) return false;
      if (!holds(written, wanted)) throw new Error('the server stored another value');
      return true;
    } catch (error) {
      await this.#afterFailure(error);
      if (this.#isRefusal(error) && this.#wanted === announcement) {
        const { end } = announcement;
        this.#wanted = { ...announcement, end: end && withoutSigns(end) };
      }
      return false;
    }
  }

  /** Admission policies of older versions refuse the signs of an end, and the epoch matters more. */
  #isRefusal(error: unknown): boolean {
    return error instanceof ApiStatusError && (error.code === FORBIDDEN || this.#conflicts > 1);
  }

  /** False if it is another Pod of the same name. */
  #learn(pod: Stored<Pod>): boolean {
    if (!this.#isOwn(pod)) return false;
    if (this.#isEnding(pod)) this.#options.podEnding();
    const { dialect } = this.#options;
    const { annotations, resourceVersion } = pod.metadata;
    const text = annotations?.[epochKey(dialect)];
    const hasAnnotations = annotations !== undefined;
    this.#old =
      text === undefined
        ? { name: 'Absent', version: resourceVersion, hasAnnotations }
        : { name: 'Value', text };
    return true;
  }

  /** False if it is another Pod of the same name. */
  #isOwn({ metadata: { uid } }: Stored<Pod>): boolean {
    if (this.#uid !== undefined && this.#uid !== uid) {
      this.#podIsGone();
      return false;
    }
    this.#uid = uid;
    return true;
  }

  #isEnding(pod: Stored<Pod>): boolean {
    if (pod.metadata.deletionTimestamp !== undefined) return true;
    if (jobOf(pod) !== undefined) return false;
    // The Job was deleted without this Pod, and another Pod takes its place in the group.
    this.#options.logger.warn(
      'the Pod no longer belongs to a Job: its worker does not start again',
    );
    return true;
  }

  #podIsGone(): void {
    this.#wanted = undefined;
    this.#options.podEnding();
  }

  /**
   * Interprets a failed patch. Servers answer a failed test with 422, and may answer 409 for a
   * conflict of their own: then the value differs from our guess. Other refusals changed nothing.
   * After any other error the patch may or may not have been applied.
   */
  async #afterFailure(error: unknown): Promise<void> {
    const { clock, logger, signal } = this.#options;
    if (signal.aborted) throw signal.reason;
    const code = error instanceof ApiStatusError ? error.code : undefined;
    if (code === NOT_FOUND) {
      logger.warn('the Pod is gone', { err: String(error) });
      this.#podIsGone();
      return;
    }
    const isConflict = code === 422 || code === 409;
    if (isConflict || code === undefined || code >= 500) this.#old = { name: 'Unknown' };
    // The first conflict is normal if the marker is incomplete. More have another cause, such as an
    // admission policy, which answers 422 as well.
    if (isConflict && ++this.#conflicts === 1) return;
    logger.warn('the epoch could not be announced yet', { err: String(error) });
    await sleep(clock, this.#backoff.next(), signal);
  }

  #uidTest(): readonly JsonPatchOperation[] {
    return this.#uid === undefined ? [] : [{ op: 'test', path: '/metadata/uid', value: this.#uid }];
  }

  #patch(patch: Parameters<Client['patch']>[2], signal: AbortSignal): Promise<Stored<Pod>> {
    const { client, pod } = this.#options;
    return client.patch(PODS, { namespace: pod.namespace, name: pod.name }, patch, { signal });
  }
}

function oldTest(old: Old, path: string): readonly JsonPatchOperation[] {
  switch (old.name) {
    case 'Value':
      return [{ op: 'test', path, value: old.text }];
    case 'New':
      // API servers take a missing member for null here; one that does not makes the agent read.
      return [{ op: 'test', path, value: null }];
    case 'Absent':
      return [
        { op: 'test', path: '/metadata/resourceVersion', value: old.version },
        ...(old.hasAnnotations
          ? []
          : [{ op: 'add', path: '/metadata/annotations', value: {} } as const]),
      ];
    case 'Unknown':
      return [];
  }
}

function additions(annotations: StringMap): readonly JsonPatchOperation[] {
  return Object.entries(annotations).map(([key, value]) => ({
    op: 'add',
    path: pathOf(key),
    value,
  }));
}

function holds({ metadata }: Stored<Pod>, wanted: StringMap): boolean {
  return Object.entries(wanted).every(([key, value]) => metadata.annotations?.[key] === value);
}

function pathOf(key: string): string {
  return `/metadata/annotations/${JsonPointer.escaped(key)}`;
}
