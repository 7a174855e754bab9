/**
 * `GET /containerLogs/{namespace}/{pod}/{container}`: the API server's request to a kubelet when a
 * client reads `pods/log`. Refusals are plain texts with a kubelet's words.
 */
import type { Container } from '@lockstep/kube/objects/pod.ts';
import type { Clock } from '@lockstep/kube/runtime/ports/clock.ts';
import type { HttpHandler, HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import type { ContainerRecord } from '../container/container-record.ts';
import { loggedRuns } from '../log/container-log.ts';
import { parseLogQuery } from '../log/log-query.ts';
import { type LogSource, readLog } from '../log/log-reader.ts';
import { allContainersOf } from '../pod-containers.ts';
import type { NodeFiles } from '../ports/node-files.ts';
import type { PodWorker } from './pod-worker.ts';

export interface LogsOptions {
  readonly files: NodeFiles;
  readonly clock: Clock;
  /** The present or last Pod of this name. */
  readonly find: (namespace: string, name: string) => PodWorker | undefined;
}

export function containerLogsHandler({ files, clock, find }: LogsOptions): HttpHandler {
  return async (request) => {
    const url = parsedPath(request.path);
    const [, root, namespace, pod, container, ...rest] = url?.pathname.split('/') ?? [];
    if (root !== 'containerLogs' || container === undefined || rest.length > 0) {
      return text(404, '404 page not found');
    }
    if (request.method !== 'GET') return text(405, 'method not allowed: logs are read with GET');
    const { query, problem } = parseLogQuery(
      url?.searchParams ?? new URLSearchParams(),
      clock.now(),
    );
    if (query === undefined) return text(400, problem);
    const worker = find(decoded(namespace), decoded(pod));
    if (worker === undefined) return text(404, `pod "${decoded(pod)}" not found`);
    const source = logSource(worker, decoded(container), query.previous, files);
    if (typeof source === 'string') return text(400, source);
    return {
      status: 200,
      headers: { 'content-type': 'text/plain' },
      body: readLog(source, query, request.signal),
    };
  };
}

/** The run whose log is meant, or why there is none. */
function logSource(
  worker: PodWorker,
  name: string,
  isPrevious: boolean,
  files: NodeFiles,
): LogSource | string {
  const { pod, sandbox, containers, records } = worker;
  const podName = pod.metadata.name ?? '';
  const container = allContainersOf(pod.spec).find((one) => one.container.name === name);
  const record = records.find((one) => one.name === name);
  if (container === undefined || record === undefined) {
    return `container ${name} is not valid for pod ${podName}`;
  }
  const directory = `${sandbox.logDirectory}/${name}`;
  const runs = loggedRuns(files, directory);
  const hasCurrent = record.life.state !== 'waiting' && record.life.state !== 'starting';
  const restart = isPrevious && hasCurrent ? runs.at(-2) : runs.at(-1);
  if (restart !== undefined) {
    const live = containers.running(name)?.main.log;
    return { files, directory, restart, live: live?.restart === restart ? live : undefined };
  }
  if (isPrevious) return `previous terminated container "${name}" in pod "${podName}" not found`;
  return waitingText(container.container, record, podName, (pod.spec.initContainers ?? []).length);
}

function waitingText(
  { name }: Container,
  { life }: ContainerRecord,
  podName: string,
  initContainers: number,
): string {
  if (life.state === 'exited') {
    return `container "${name}" in pod "${podName}" is terminated and left no log`;
  }
  const usual = initContainers > 0 ? 'PodInitializing' : 'ContainerCreating';
  const reason = life.state === 'waiting' ? (life.reason ?? usual) : usual;
  return `container "${name}" in pod "${podName}" is waiting to start: ${reason}`;
}

function parsedPath(path: string): URL | undefined {
  return URL.canParse(path, 'http://node') ? new URL(path, 'http://node') : undefined;
}

function decoded(part: string | undefined): string {
  try {
    return decodeURIComponent(part ?? '');
  } catch {
    // The escape is malformed, and no Pod has such a name.
    return part ?? '';
  }
}

function text(status: number, message: string): HttpResponse {
  return {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    body: Buffer.from(`${message}\n`),
  };
}
