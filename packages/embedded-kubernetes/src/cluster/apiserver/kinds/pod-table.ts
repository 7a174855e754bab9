import type { ContainerStatus, Pod } from '@lockstep/kube/objects/pod.ts';
import { textAt, typed } from '../resources/api-object.ts';
import { ageOf, ageText, type TableLayout } from '../resources/table-layout.ts';

const NONE = '<none>';

/** What `kubectl get pods` shows; the word under STATUS is more than the phase. */
export const POD_TABLE: TableLayout = {
  columns: [
    { name: 'Name', type: 'string', format: 'name' },
    { name: 'Ready', type: 'string', description: 'Containers that are ready, of all.' },
    { name: 'Status', type: 'string', description: 'What the Pod does, in one word.' },
    { name: 'Restarts', type: 'string', description: 'Restarts of containers, and the last one.' },
    { name: 'Age', type: 'string' },
    { name: 'IP', type: 'string', priority: 1 },
    { name: 'Node', type: 'string', priority: 1 },
    { name: 'Nominated Node', type: 'string', priority: 1 },
    { name: 'Readiness Gates', type: 'string', priority: 1 },
  ],
  cells: (object, nowMs) => {
    const pod = typed<Pod>(object);
    const summary = summarize(pod);
    return [
      object.metadata.name,
      `${summary.ready}/${summary.total}`,
      summary.status,
      restartsText(summary, nowMs),
      ageOf(object, nowMs),
      pod.status?.podIP ?? NONE,
      pod.spec.nodeName ?? NONE,
      textAt(object, 'status', 'nominatedNodeName') || NONE,
      NONE,
    ];
  },
};

interface PodSummary {
  readonly ready: number;
  readonly total: number;
  readonly status: string;
  readonly restarts: number;
  /** When the container that restarted last had ended. */
  readonly lastRestart: string | undefined;
}

function summarize(pod: Pod): PodSummary {
  const { spec, status = {}, metadata } = pod;
  const sidecars = new Set(
    (spec.initContainers ?? []).filter((c) => c.restartPolicy === 'Always').map((c) => c.name),
  );
  const init = initialization(pod, sidecars);
  const isInitialized = hasCondition(pod, 'Initialized');
  const runs = init.status === undefined || isInitialized;
  const containers = status.containerStatuses ?? [];
  const statuses = status.initContainerStatuses ?? [];
  const counted = runs
    ? [...statuses.filter(({ name }) => sidecars.has(name)), ...containers]
    : statuses.slice(0, init.visited);
  const main = containers.filter((container) => container.ready && container.state?.running);
  const word = runs ? mainStatus(pod, containers, main.length > 0) : init.status;
  return {
    ready: init.ready + (runs ? main.length : 0),
    total: spec.containers.length + sidecars.size,
    status: terminating(pod, metadata.deletionTimestamp) ?? word ?? overallReason(pod),
    restarts: counted.reduce((sum, container) => sum + container.restartCount, 0),
    lastRestart: newest(counted.map((container) => container.lastState?.terminated?.finishedAt)),
  };
}

/** How far the init containers are; no status if nothing of them is worth telling. */
function initialization(
  { spec, status = {} }: Pod,
  sidecars: ReadonlySet<string>,
): { readonly ready: number; readonly visited: number; readonly status: string | undefined } {
  let ready = 0;
  const statuses = status.initContainerStatuses ?? [];
  for (const [index, container] of statuses.entries()) {
    const { waiting, terminated } = container.state ?? {};
    if (terminated?.exitCode === 0) continue;
    if (sidecars.has(container.name) && container.started === true) {
      if (container.ready) ready++;
      continue;
    }
    const visited = index + 1;
    if (terminated !== undefined) {
      return { ready, visited, status: `Init:${terminationText(terminated)}` };
    }
    const reason = waiting?.reason ?? '';
    if (reason !== '' && reason !== 'PodInitializing') {
      return { ready, visited, status: `Init:${reason}` };
    }
    return { ready, visited, status: `Init:${index}/${spec.initContainers?.length ?? 0}` };
  }
  return { ready, visited: statuses.length, status: undefined };
}

/** The first container that has something to tell decides. */
function mainStatus(
  pod: Pod,
  containers: readonly ContainerStatus[],
  hasRunning: boolean,
): string | undefined {
  let word: string | undefined;
  for (const { state } of containers.toReversed()) {
    const waiting = state?.waiting?.reason ?? '';
    if (waiting !== '') word = waiting;
    else if (state?.terminated !== undefined) word = terminationText(state.terminated);
  }
  if (word !== 'Completed' || !hasRunning) return word;
  return hasCondition(pod, 'Ready') ? 'Running' : 'NotReady';
}

function overallReason({ status = {} }: Pod): string {
  const isGated = status.conditions?.some(
    ({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated',
  );
  if (isGated === true) return 'SchedulingGated';
  return status.reason ?? status.phase ?? 'Unknown';
}

function terminating({ status = {} }: Pod, deletionTimestamp: string | undefined) {
  if (deletionTimestamp === undefined) return undefined;
  if (status.reason === 'NodeLost') return 'Unknown';
  return status.phase === 'Succeeded' || status.phase === 'Failed' ? undefined : 'Terminating';
}

function terminationText(terminated: {
  readonly exitCode: number;
  readonly signal?: number;
  readonly reason?: string;
}): string {
  const { exitCode, signal = 0, reason = '' } = terminated;
  if (reason !== '') return reason;
  return signal === 0 ? `ExitCode:${exitCode}` : `Signal:${signal}`;
}

function restartsText({ restarts, lastRestart }: PodSummary, nowMs: number): string {
  if (restarts === 0 || lastRestart === undefined) return String(restarts);
  return `${restarts} (${ageText(lastRestart, nowMs)} ago)`;
}

function newest(times: readonly (string | undefined)[]): string | undefined {
  return times.reduce((latest, time) => ((time ?? '') > (latest ?? '') ? time : latest), undefined);
}

function hasCondition({ status }: Pod, type: string): boolean {
  return status?.conditions?.some((each) => each.type === type && each.status === 'True') === true;
}
