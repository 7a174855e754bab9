/**
 * An API server of two objects, for tests of the agent's channel. It exists for its faults: lost
 * answers, late requests, servers that cannot stream. The behaviour of a real server is tested
 * against the embedded one.
 */

import type { OwnerReference, Stored, StringMap } from '@lockstep/kube/meta.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { applyJsonPatch, parseJsonPatch } from '@lockstep/kube/patch/json-patch.ts';
import { createClient } from '@lockstep/kube/runtime/client/http-client.ts';
import { handlerTransport } from '@lockstep/kube/runtime/memory/memory-transport.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { Random } from '@lockstep/kube/runtime/ports/random.ts';
import type { HttpRequest, HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import { ApiStatusError, failure } from '@lockstep/kube/status.ts';
import type { JobSet } from '../jobset/jobset.ts';
import type { JobSetStatus } from '../jobset/jobset-status.ts';
import { createApiChannel } from './api-channel.ts';
import type { Channel } from './channel.ts';

const JOB: OwnerReference = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  name: 'train-w-0',
  uid: 'job-uid',
  controller: true,
};

/** One JobSet and one Pod behind HTTP, with room for faults. */
export class FakeApi {
  /** How the server treats `sendInitialEvents`. */
  streaming: 'yes' | 'refuses' | 'ignores' = 'yes';
  version = 10;
  jobSet: Stored<JobSet> | undefined;
  pod: Stored<Pod> | undefined;
  readonly requests: string[] = [];
  /** Answers, throws, or returns undefined to let the request through. */
  fault: (request: HttpRequest, count: number) => Promise<HttpResponse> | undefined = () =>
    undefined;
  /** Called after a patch was applied; a throw loses the answer. */
  applied: (count: number) => void = () => undefined;
  readonly #watches = new Set<(line: string | undefined) => void>();
  #patches = 0;

  constructor() {
    const creationTimestamp = '2026-01-01T00:00:00Z';
    const metadata = { namespace: 'ns', creationTimestamp, resourceVersion: '10' };
    this.jobSet = {
      apiVersion: 'jobset.x-k8s.io/v1alpha2',
      kind: 'JobSet',
      metadata: { ...metadata, name: 'train', uid: 'jobset-uid' },
      spec: {
        replicatedJobs: [
          {
            name: 'w',
            replicas: 1,
            template: { spec: { template: { spec: { containers: [] } } } },
          },
        ],
        failurePolicy: { restartStrategy: 'InPlaceRestart' },
      },
    };
    this.pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        ...metadata,
        name: 'pod',
        uid: 'pod-uid',
        annotations: { other: 'x' },
        ownerReferences: [JOB],
      },
      spec: { containers: [] },
    };
  }

  get annotations(): Readonly<Record<string, string>> {
    return this.pod?.metadata.annotations ?? {};
  }

  /** Writes the JobSet's status and tells the watches. */
  setStatus(deprecated: number, released: number): void {
    this.setJobSetStatus({
      deprecatedEpoch: deprecated,
      replicatedJobsStatus: [
        {
          name: 'w',
          ready: 0,
          succeeded: 0,
          failed: 0,
          active: 0,
          suspended: 0,
          syncedEpoch: released,
        },
      ],
    });
  }

  setJobSetStatus(status: JobSetStatus): void {
    this.#setJobSet({}, { status });
  }

  /** The user gives the JobSet these annotations. */
  annotate(annotations: StringMap): void {
    this.#setJobSet({ annotations }, {});
  }

  #setJobSet(metadata: Partial<Stored<JobSet>['metadata']>, rest: Partial<JobSet>): void {
    if (this.jobSet === undefined) throw new Error('there is no JobSet');
    const resourceVersion = String(++this.version);
    const old = this.jobSet;
    this.jobSet = { ...old, ...rest, metadata: { ...old.metadata, ...metadata, resourceVersion } };
    this.emit({ type: 'MODIFIED', object: this.jobSet });
  }

  setPod(change: Partial<Stored<Pod>['metadata']>): void {
    if (this.pod === undefined) throw new Error('there is no Pod');
    const resourceVersion = String(++this.version);
    this.pod = { ...this.pod, metadata: { ...this.pod.metadata, ...change, resourceVersion } };
  }

  emit(event: object): void {
    for (const watch of this.#watches) watch(`${JSON.stringify(event)}\n`);
  }

  /** The server ends all watches. */
  closeWatches(): void {
    for (const watch of this.#watches) watch(undefined);
  }

  get openWatches(): number {
    return this.#watches.size;
  }

  handler = async (request: HttpRequest): Promise<HttpResponse> => {
    this.requests.push(`${request.method} ${request.path}`);
    const fault = this.fault(request, this.requests.length);
    if (fault !== undefined) return fault;
    const url = new URL(request.path, 'http://x');
    try {
      if (url.pathname.includes('/pods/')) return json(200, this.#patch(request));
      if (url.searchParams.get('watch') !== 'true') return json(200, this.#list());
      return this.#watch(url.searchParams, request.signal);
    } catch (error) {
      if (error instanceof ApiStatusError) return json(error.code, error.status);
      throw error;
    }
  };

  get #jobSetVersion(): number {
    return Number(this.jobSet?.metadata.resourceVersion ?? 0);
  }

  #list(): object {
    const items = this.jobSet === undefined ? [] : [this.jobSet];
    return { kind: 'JobSetList', metadata: { resourceVersion: String(this.version) }, items };
  }

  #watch(query: URLSearchParams, signal: AbortSignal): HttpResponse {
    const isStreaming = query.get('sendInitialEvents') === 'true';
    if (isStreaming && this.streaming === 'refuses') {
      throw failure('Invalid', 'sendInitialEvents is forbidden for watch');
    }
    const lines: string[] = [];
    if (isStreaming) {
      if (this.jobSet !== undefined) lines.push(line({ type: 'ADDED', object: this.jobSet }));
      if (this.streaming === 'yes') lines.push(line(bookmark(this.version, true)));
    } else if (Number(query.get('resourceVersion')) < this.#jobSetVersion) {
      lines.push(line({ type: 'MODIFIED', object: this.jobSet }));
    }
    return { status: 200, headers: {}, body: this.#body(lines, signal) };
  }

  async *#body(first: readonly string[], signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
    const queue: (string | undefined)[] = [...first];
    let wake: () => void = () => undefined;
    const push = (text: string | undefined): void => {
      queue.push(text);
      wake();
    };
    this.#watches.add(push);
    signal.addEventListener('abort', () => push(undefined), { once: true });
    try {
      for (;;) {
        while (queue.length === 0) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        const next = queue.shift();
        if (next === undefined) return;
        yield Buffer.from(next);
      }
    } finally {
      this.#watches.delete(push);
    }
  }

  #patch(request: HttpRequest): object {
    if (this.pod === undefined) throw failure('NotFound', 'pods "pod" not found');
    const body: unknown = JSON.parse(Buffer.from(request.body ?? []).toString());
    if (request.headers['content-type'] !== 'application/json-patch+json') {
      if (JSON.stringify(body) !== '{}') throw failure('BadRequest', 'only reads expected');
      return this.pod;
    }
    const patched = applyJsonPatch(this.pod, parseJsonPatch(body)) as Stored<Pod>;
    this.setPod(patched.metadata);
    this.applied(++this.#patches);
    return this.pod;
  }
}

export function line(event: object): string {
  return `${JSON.stringify(event)}\n`;
}

export function bookmark(version: number, isEnd: boolean): object {
  const annotations = isEnd ? { 'k8s.io/initial-events-end': 'true' } : {};
  const metadata = { resourceVersion: String(version), annotations };
  return { type: 'BOOKMARK', object: { apiVersion: 'x/v1', kind: 'JobSet', metadata } };
}

export function json(status: number, body: object): HttpResponse {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(body)),
  };
}

/** The channel of the agent in the server's Pod. */
export function apiChannelOf(api: FakeApi, clock: Clock, random: Random): Channel {
  const transport = handlerTransport(api.handler);
  return createApiChannel({
    client: createClient({ transport, clock, random, userAgent: 'test' }),
    clock,
    random,
    logger: SILENT,
    namespace: 'ns',
    dialect: 'Canonical',
    jobSetName: 'train',
    jobSetUid: 'jobset-uid',
    replicatedJobName: 'w',
    podName: 'pod',
    podUid: 'pod-uid',
    announced: 0,
  });
}
