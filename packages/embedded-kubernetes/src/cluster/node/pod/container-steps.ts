/**
 * What is done with one container of a Pod, and what follows from what its process does: its record
 * changes (`container-transitions.ts`), and effects say what the node has to do.
 */
import { formatDuration } from '@lockstep/kube/duration.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { timeText } from '@lockstep/kube/time.ts';
import { earliestStartMs } from '../backoff.ts';
import { takenOver, withoutProcess } from '../container/container-adoption.ts';
import {
  type ContainerRecord,
  freshRecord,
  type StopReason,
} from '../container/container-record.ts';
import type { NewsOf } from '../container/container-runs.ts';
import {
  backingOff,
  blocked,
  exited,
  notReadyYet,
  probed,
  redefined,
  restartingLater,
  running,
  shownAs,
  starting,
  stopping,
  waitingAgain,
} from '../container/container-transitions.ts';
import { effectivePolicy, shouldRestart } from '../container/restart-rules.ts';
import { containersOf, ephemeralContainersOf, type KnownContainer } from '../pod-containers.ts';
import type { BackOffAction } from './pod-actions.ts';
import {
  definitionOf,
  graceMsOf,
  inOrder,
  isOver,
  MIN_GRACE_MS,
  type Move,
  type PodEventEffect,
  type PodLife,
  perform,
  recordOf,
  type Step,
  stay,
  withRecord,
} from './pod-life.ts';
import { show } from './shown-status.ts';

/** How soon missing configuration of a container is looked for again. */
const BLOCKED_RETRY_MS = 2_000;
/** The exit code that container runtimes report for a command that cannot be executed. */
const START_ERROR_EXIT_CODE = 128;

export function start(name: string): Move {
  return (life) => {
    const record = recordOf(life, name);
    const known = definitionOf(life, name);
    if (record === undefined || known === undefined) return stay(life);
    const next = starting(record, life.at.nowMs, life.node.backoff);
    const { container, kind } = known;
    return {
      life: withRecord(life, next),
      effects: [{ type: 'start', container, kind, restart: next.restartCount }],
    };
  };
}

export function backOff({ name, exited: ended, delayMs, untilMs }: BackOffAction): Move {
  return (life) => {
    const record = recordOf(life, name);
    if (record === undefined) return stay(life);
    const { at, pod, node } = life;
    const delay = formatDuration(delayMs);
    const message = `back-off ${delay} restarting failed container=${name} pod=${fullName(pod)}`;
    const next = backingOff(record, ended, message, untilMs, at.nowMs, node.backoff);
    const note = `Back-off restarting failed container ${name} in pod ${fullName(pod)}`;
    return {
      life: withRecord(life, next),
      effects: [eventAbout(next, 'Warning', 'BackOff', note)],
    };
  };
}

/** A probe gave it up: it gets its grace period, and its policy decides what follows. */
export function giveUp(name: string): Move {
  return (life) => {
    const record = recordOf(life, name);
    const known = definitionOf(life, name);
    if (record?.life.state !== 'running' || known === undefined) return stay(life);
    const { container } = known;
    const isLiveness = record.life.unhealthy === 'Liveness';
    const probe = isLiveness ? container.livenessProbe : container.startupProbe;
    const seconds = probe?.terminationGracePeriodSeconds;
    const graceMs = seconds === undefined ? graceMsOf(life.pod) : seconds * 1000;
    const isRestarted = effectivePolicy(container, life.spec) !== 'Never';
    const kind = isLiveness ? 'liveness' : 'startup';
    const note = `Container ${name} failed ${kind} probe${isRestarted ? ', will be restarted' : ''}`;
    return stop(name, 'Unhealthy', Math.max(graceMs, MIN_GRACE_MS), note)(life);
  };
}

/** Asks its process to end, if it has one. */
export function stop(name: string, reason: StopReason, graceMs: number, note: string): Move {
  return (life) => {
    const record = recordOf(life, name);
    if (record?.life.state !== 'running') return stay(life);
    const runsPreStop = reason !== 'RestartAllContainers';
    return {
      life: withRecord(life, stopping(record, reason)),
      effects: [
        eventAbout(record, 'Normal', 'Killing', note),
        { type: 'stop', name, graceMs, runsPreStop },
      ],
    };
  };
}

/**
 * Takes over the Pod's spec, and adds new containers. A running one whose image has changed is
 * stopped and started again under any policy; the crash loop of the old image does not count.
 */
export function redefine(life: PodLife): Step {
  const { spec } = life.pod;
  const added = ephemeralContainersOf(spec)
    .filter(({ container }) => recordOf(life, container.name) === undefined)
    .map(({ container, kind }) => freshRecord(container.name, kind));
  const changed = containersOf(spec).filter(
    ({ container: { name, image } }) => definitionOf(life, name)?.container.image !== image,
  );
  return inOrder({ ...life, spec, records: [...life.records, ...added] }, ...changed.map(replace));
}

function replace({ container: { name }, kind }: KnownContainer): Move {
  return (life) => {
    const before = recordOf(life, name);
    if (before === undefined) return stay(life);
    const record = redefined(before, life.at.nowMs, life.node.backoff);
    const next = withRecord(life, record);
    const isStopping = record.life.state === 'running' && record.life.stopping !== undefined;
    if (isStopping || kind === 'init') return stay(next);
    const note = `Container ${name} definition changed, will be restarted`;
    return stop(name, 'Redefined', Math.max(graceMsOf(life.pod), MIN_GRACE_MS), note)(next);
  };
}

export function onStarted(life: PodLife, news: NewsOf<'started'>): Step {
  const before = recordOf(life, news.name);
  const known = definitionOf(life, news.name);
  if (before?.life.state !== 'starting' || known === undefined) return stay(life);
  const { startupProbe, readinessProbe, lifecycle } = known.container;
  const record = running(before, news.containerID, news.startedMs, {
    startup: startupProbe !== undefined || lifecycle?.postStart !== undefined,
    readiness: readinessProbe !== undefined,
  });
  const next = withRecord({ ...life, records: life.records.map(waitingAgain) }, record);
  if (isOver(life)) return stay(next);
  return inOrder(
    next,
    perform(
      eventAbout(record, 'Normal', 'Created', 'Container created'),
      eventAbout(record, 'Normal', 'Started', 'Container started'),
    ),
    // A container that ends at once was running nevertheless.
    record.kind === 'init' ? show('step') : stay,
  );
}

/** The command cannot be executed: for the API the container has started and failed. */
export function onNotStarted(life: PodLife, news: NewsOf<'notStarted'>): Step {
  const before = recordOf(life, news.name);
  if (before?.life.state !== 'starting') return stay(life);
  const { nowMs } = life.at;
  const message = `failed to start container "${news.name}": ${news.why}`;
  const terminated = {
    exitCode: START_ERROR_EXIT_CODE,
    reason: 'StartError',
    message,
    startedAt: timeText(nowMs),
    finishedAt: timeText(nowMs),
    containerID: news.containerID,
  };
  const record = exited(before, terminated, nowMs);
  return {
    life: withRecord(life, record),
    effects: [eventAbout(record, 'Warning', 'Failed', `Error: ${message}`)],
  };
}

export function onBlocked(life: PodLife, news: NewsOf<'blocked'>): Step {
  const before = recordOf(life, news.name);
  if (before?.life.state !== 'starting') return stay(life);
  const { reason, message, mayPass } = news;
  const retryMs = mayPass ? life.at.nowMs + BLOCKED_RETRY_MS : Number.POSITIVE_INFINITY;
  const record = blocked(before.life.before, { reason, message }, retryMs);
  return {
    life: withRecord(life, record),
    effects: [eventAbout(record, 'Warning', 'Failed', `Error: ${message}`)],
  };
}

/** Nothing is known of a process that an earlier life of the node has started, or was about to. */
export function onMissing(life: PodLife, { name }: NewsOf<'missing'>): Step {
  const record = recordOf(life, name);
  return stay(
    record === undefined ? life : withRecord(life, withoutProcess(record, life.at.nowMs)),
  );
}

export function onTakenOver(life: PodLife, { name, wasOver }: NewsOf<'takenOver'>): Step {
  const record = recordOf(life, name);
  return stay(record === undefined ? life : withRecord(life, takenOver(record, wasOver)));
}

export function onExited(life: PodLife, news: NewsOf<'exited'>): Step {
  const before = recordOf(life, news.name);
  if (before?.life.state !== 'running') return stay(life);
  const { exitCode, message } = news;
  const { nowMs } = life.at;
  const terminated = {
    exitCode,
    reason: exitCode === 0 ? 'Completed' : 'Error',
    ...(message === '' ? {} : { message }),
    startedAt: timeText(before.life.startedMs),
    finishedAt: timeText(nowMs),
    containerID: before.life.containerID,
  };
  const next = withRecord(life, exited(before, terminated, nowMs));
  return life.mode === 'running' && !isOver(life) ? restartAnyway(next, before) : stay(next);
}

/**
 * A container with a new image, or that a probe gave up, restarts although its exit code says that
 * it is done. Its end is not shown then, because API servers let no container return from such an
 * end.
 */
function restartAnyway(life: PodLife, before: ContainerRecord): Step {
  const { name, kind } = before;
  const record = recordOf(life, name);
  const known = definitionOf(life, name);
  if (record?.life.state !== 'exited' || known === undefined) return stay(life);
  const { wasStopped, terminated, finishedMs } = record.life;
  const isGivenUp =
    wasStopped === 'Unhealthy' &&
    effectivePolicy(known.container, life.spec) !== 'Never' &&
    !shouldRestart(known.container, kind, life.spec, terminated.exitCode);
  if (wasStopped !== 'Redefined' && !isGivenUp) return stay(life);
  const untilMs = earliestStartMs(record.backoff, finishedMs);
  if (untilMs > finishedMs) {
    return backOff({ name, exited: record.life, delayMs: untilMs - finishedMs, untilMs })(life);
  }
  if (life.stage.name !== 'Prepared') {
    const { nowMs } = life.at;
    return stay(withRecord(life, restartingLater(record, record.life, nowMs, life.node.backoff)));
  }
  const begun = start(name)(life);
  const started = recordOf(begun.life, name);
  return started === undefined
    ? begun
    : { ...begun, life: withRecord(begun.life, shownAs(started, before)) };
}

export function onProbed(life: PodLife, { name, probe, verdict }: NewsOf<'probed'>): Step {
  const record = recordOf(life, name);
  const container = definitionOf(life, name)?.container;
  if (record === undefined || container === undefined) return stay(life);
  const after = probed(record, probe, verdict, container.readinessProbe !== undefined);
  const isStarted =
    probe === 'Startup' && verdict === 'success' && container.startupProbe !== undefined;
  return inOrder(
    life,
    (now) => (isStarted ? show('step')(withRecord(now, notReadyYet(after))) : stay(now)),
    (now) => stay(withRecord(now, after)),
  );
}

function eventAbout(
  { name, kind }: ContainerRecord,
  severity: PodEventEffect['severity'],
  reason: string,
  note: string,
): PodEventEffect {
  return { type: 'event', about: { name, kind }, severity, reason, note };
}

function fullName({ metadata: { name = '', namespace = '', uid = '' } }: Pod): string {
  return `${name}_${namespace}(${uid})`;
}
