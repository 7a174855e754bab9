/**
 * The volumes of one Pod as directories: made once before its first container, kept over restarts
 * in place, removed with the Pod. Tokens of service accounts are renewed before they expire, and
 * files follow their ConfigMaps and Secrets.
 */
import { namespaceOf } from '@lockstep/kube/meta.ts';
import { SERVICE_ACCOUNTS, type TokenRequest } from '@lockstep/kube/objects/core.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import type { Timer } from '@lockstep/kube/runtime/ports/clock.ts';
import { jitter } from '@lockstep/kube/runtime/ports/random.ts';
import type { PodFields } from '../field-reference.ts';
import type { NodeContext } from '../ports/node-context.ts';
import { claimDirectory } from './claim-volume.ts';
import { readConfiguration } from './configuration-reader.ts';
import { type ConfigurationSource, namesInVolumes } from './configuration-source.ts';
import {
  type HostPathDemand,
  type TokenFile,
  type VolumeContent,
  type VolumeFile,
  volumeContent,
} from './volume-content.ts';

/** A token is renewed when a fifth of its life is left, as in a kubelet. */
const TOKEN_RENEWAL_SHARE = 0.8;
/** And at least this often, and after a failure. */
const TOKEN_MAX_AGE_MS = 24 * 3_600_000;
const TOKEN_RETRY_MS = 10_000;
const API_TIMEOUT_MS = 10_000;
/**
 * How often ConfigMaps and Secrets are read again, stretched at random; kubelets take a minute or
 * more.
 */
const REFRESH_INTERVAL_MS = 20_000;
const REFRESH_JITTER = 0.5;
/** Octal 0644, for a file that a Pod asks to create on the host. */
const HOST_FILE_MODE = 0o644;

/** A volume of the Pod could not be made; the message goes into the Pod's Event. */
export class VolumeError extends Error {
  override readonly name = 'VolumeError';

  constructor(message: string, cause: unknown) {
    super(message, { cause });
  }
}

export interface MountedVolume {
  readonly directory: string;
  /** A path of the host, or a claim's volume: nothing is mounted inside what others use too. */
  readonly isShared: boolean;
}

export class PodVolumes {
  readonly #context: NodeContext;
  readonly #pod: Pod;
  readonly #directory: string;
  readonly #mounted = new Map<string, MountedVolume>();
  readonly #renewals = new Map<string, Timer>();
  /** The files that were written from ConfigMaps, Secrets and fields, by the name of the volume. */
  readonly #written = new Map<string, readonly VolumeFile[]>();
  #refresh: Timer | undefined;
  #isReading = false;
  /** Its files may have to be read again before the usual time. */
  #isOutdated = false;
  readonly #stop = new AbortController();

  constructor(context: NodeContext, pod: Pod, directory: string) {
    this.#context = context;
    this.#pod = pod;
    this.#directory = directory;
  }

  /** By the name of the volume; complete once `prepare` succeeded. */
  get mounted(): ReadonlyMap<string, MountedVolume> {
    return this.#mounted;
  }

  /** Makes what is missing. Rejects with the problem; call it again then. */
  async prepare(facts: PodFields): Promise<void> {
    const source = await this.#readSource();
    for (const volume of this.#pod.spec.volumes ?? []) {
      if (this.#mounted.has(volume.name)) continue;
      const content = volumeContent(volume, facts, source);
      try {
        this.#mounted.set(volume.name, await this.#mount(volume.name, content));
      } catch (cause) {
        const why = cause instanceof Error ? cause.message : String(cause);
        throw new VolumeError(
          `MountVolume.SetUp failed for volume "${volume.name}" : ${why}`,
          cause,
        );
      }
    }
    const { configMaps, secrets } = namesInVolumes(this.#pod.spec);
    const hasSources = configMaps.length + secrets.length > 0;
    if (this.#refresh === undefined && hasSources) this.#refreshLater(facts);
  }

  /** Reads ConfigMaps and Secrets again, as soon as they are read no more. */
  refresh(facts: PodFields): void {
    if (this.#refresh === undefined) return;
    this.#isOutdated = true;
    if (!this.#isReading) this.#refreshLater(facts);
  }

  stop(): void {
    this.#stop.abort(new Error('the Pod has ended'));
    this.#refresh?.cancel();
    for (const timer of this.#renewals.values()) timer.cancel();
    this.#renewals.clear();
  }

  async #mount(name: string, content: VolumeContent): Promise<MountedVolume> {
    const { files } = this.#context;
    const directory = `${this.#directory}/${name}`;
    switch (content.type) {
      case 'problem':
        throw new Error(content.message);
      case 'host':
        await this.#demand(content.path, content.demand);
        return { directory: content.path, isShared: true };
      case 'claim': {
        const shared = claimDirectory(this.#context.volumesDirectory, content.claim);
        await files.makeDirectory(shared);
        return { directory: shared, isShared: true };
      }
      case 'directory':
        await files.makeDirectory(directory);
        return { directory, isShared: false };
      case 'files':
        await files.makeDirectory(directory);
        await this.#writeFiles(name, content.files);
        for (const token of content.tokens) await this.#issueToken(directory, token);
        return { directory, isShared: false };
    }
  }

  async #demand(path: string, demand: HostPathDemand): Promise<void> {
    if (demand === undefined) return;
    const { files } = this.#context;
    if (demand.isMade && (await files.kindOf(path)) === undefined) {
      if (demand.kind === 'directory') await files.makeDirectory(path);
      else await files.write(path, Buffer.alloc(0), HOST_FILE_MODE);
    }
    if ((await files.kindOf(path)) === demand.kind) return;
    throw new Error(`hostPath type check failed: ${path} is not ${demand.text}`);
  }

  #readSource(): Promise<ConfigurationSource> {
    const { client } = this.#context;
    const namespace = namespaceOf(this.#pod.metadata);
    const names = namesInVolumes(this.#pod.spec);
    return this.#withDeadline((signal) => readConfiguration(client, namespace, names, signal));
  }

  #refreshLater(facts: PodFields): void {
    if (this.#stop.signal.aborted) return;
    const { clock, random, logger } = this.#context;
    const usualMs = jitter(random, REFRESH_INTERVAL_MS, REFRESH_JITTER);
    this.#refresh?.cancel();
    this.#refresh = clock.setTimer(this.#isOutdated ? 0 : usualMs, () => {
      this.#isOutdated = false;
      this.#isReading = true;
      this.#refreshFiles(facts)
        .catch((error: unknown) => {
          if (this.#stop.signal.aborted) return;
          logger.warn('the files of a volume could not be refreshed', { err: error });
        })
        .finally(() => {
          this.#isReading = false;
          this.#refreshLater(facts);
        });
    });
  }

  /** Files whose source is gone stay as they were, as in a kubelet. */
  async #refreshFiles(facts: PodFields): Promise<void> {
    const source = await this.#readSource();
    for (const volume of this.#pod.spec.volumes ?? []) {
      if (!this.#written.has(volume.name)) continue;
      const content = volumeContent(volume, facts, source);
      if (content.type === 'files') await this.#writeFiles(volume.name, content.files);
    }
  }

  /** Writes changed files, and removes files that are no longer wanted. */
  async #writeFiles(volume: string, wanted: readonly VolumeFile[]): Promise<void> {
    const directory = `${this.#directory}/${volume}`;
    const old = new Map(this.#written.get(volume)?.map((file) => [file.path, file]));
    for (const file of wanted) {
      const before = old.get(file.path);
      old.delete(file.path);
      if (before !== undefined && isSameFile(before, file)) continue;
      if (this.#stop.signal.aborted) return;
      await this.#write(`${directory}/${file.path}`, file.bytes, file.mode);
    }
    for (const path of old.keys()) await this.#context.files.remove(`${directory}/${path}`);
    this.#written.set(volume, wanted);
  }

  async #write(path: string, bytes: Uint8Array, mode: number): Promise<void> {
    await this.#context.files.makeDirectory(path.slice(0, path.lastIndexOf('/')));
    await this.#context.files.write(path, bytes, mode);
  }

  async #issueToken(directory: string, file: TokenFile): Promise<void> {
    const { clock } = this.#context;
    const { token, expirationTimestamp } = await this.#requestToken(file);
    if (this.#stop.signal.aborted) return;
    const path = `${directory}/${file.path}`;
    await this.#write(path, Buffer.from(token), file.mode);
    const lifeMs = Date.parse(expirationTimestamp) - clock.now();
    const delayMs = Math.min(Math.max(lifeMs * TOKEN_RENEWAL_SHARE, 1000), TOKEN_MAX_AGE_MS);
    this.#renewAfter(delayMs, directory, file);
  }

  #renewAfter(delayMs: number, directory: string, file: TokenFile): void {
    if (this.#stop.signal.aborted) return;
    const timer = this.#context.clock.setTimer(delayMs, () => {
      this.#issueToken(directory, file).catch((error: unknown) => {
        this.#context.logger.warn('a token could not be renewed', { err: error });
        this.#renewAfter(TOKEN_RETRY_MS, directory, file);
      });
    });
    this.#renewals.set(`${directory}/${file.path}`, timer);
  }

  async #requestToken(file: TokenFile): Promise<NonNullable<TokenRequest['status']>> {
    const { namespace = '', name = '', uid = '' } = this.#pod.metadata;
    const account = this.#pod.spec.serviceAccountName ?? 'default';
    const body: TokenRequest = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: {},
      spec: {
        ...(file.audience === undefined ? {} : { audiences: [file.audience] }),
        expirationSeconds: file.expirationSeconds,
        boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name, uid },
      },
    };
    const at = { namespace, name: account };
    const answer = await this.#withDeadline((signal) =>
      this.#context.client.createSubresource(SERVICE_ACCOUNTS, at, 'token', body, { signal }),
    );
    if (answer.status === undefined) {
      throw new Error(`no token was issued for service account ${namespace}/${account}`);
    }
    return answer.status;
  }

  #withDeadline<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return withDeadline(this.#context.clock, API_TIMEOUT_MS, this.#stop.signal, work);
  }
}

function isSameFile(a: VolumeFile, b: VolumeFile): boolean {
  return a.mode === b.mode && Buffer.compare(a.bytes, b.bytes) === 0;
}
