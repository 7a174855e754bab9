/**
 * The one table of our annotations that users may set: where each may stand, and its values.
 * Validation, warnings, the reference and completions read it. So a new key is one entry here, its
 * name in `names.ts`, and its row in `docs/reference/names.md`, which a test compares.
 */
import type { StringMap } from '@lockstep/kube/meta.ts';
import * as names from '../names.ts';

export interface OwnAnnotation {
  readonly key: string;
  readonly on: readonly AnnotationPlace[];
  /** Older words for `Off`; absent: the key cannot be off. */
  readonly off?: readonly string[];
  /** The feature is on without the annotation. */
  readonly isOnByDefault?: true;
  /** A change affects only Jobs that are made after it. */
  readonly isForLaterJobs?: true;
  /** Its values, as the reference names them. */
  readonly values: string;
  /** What it does, in the words of the reference. */
  readonly help: string;
}

/** Switches a feature off, by any key whose feature can be off. */
export const OFF = 'Off';

/** An annotation of a Namespace is the default of all JobSets in it. */
export type AnnotationPlace = 'JobSet' | 'PodTemplate' | 'Namespace';

/** Most stand on a JobSet, or on its Namespace for all of them. */
type Entry = Omit<OwnAnnotation, 'on'> & Partial<Pick<OwnAnnotation, 'on'>>;

const TABLE: readonly Entry[] = [
  {
    key: names.RESTART_STRATEGY,
    values: '`InPlaceRestart`, `Recreate`, `BlockingRecreate`',
    help: 'sets `spec.failurePolicy.restartStrategy`, [for wrappers](#annotations-for-wrappers)',
  },
  {
    key: names.MAX_RESTARTS,
    values: '0 to 2,147,483,647',
    help: 'sets `spec.failurePolicy.maxRestarts`, [for wrappers](#annotations-for-wrappers)',
  },
  {
    key: names.RESTART_MODE,
    isForLaterJobs: true,
    values: '`Auto` (default), `Sidecar`, `Supervisor`',
    help: 'who restarts the worker: the node, or the agent as its parent ([modes](in-place-restart.md#modes))',
  },
  {
    key: names.AGENT_INJECTION,
    off: ['Disabled'],
    isOnByDefault: true,
    isForLaterJobs: true,
    values: '`Enabled` (default), `Off` or `Disabled`',
    help: 'whether templates get an agent; without, they stay as they are, and need one of their own',
  },
  {
    key: names.AGENT_CHANNEL,
    isForLaterJobs: true,
    values: '`Hub`, `Auto`, `API`',
    help: '[how its agents reach the operator](agents.md#how-agents-reach-the-operator)',
  },
  {
    key: names.AGENT_CONTAINER,
    on: ['PodTemplate'],
    values: 'name of a container',
    help: "this container is the template's own agent",
  },
  {
    key: names.LOST_NODE_DEADLINE,
    // A template with an agent of its own has it too.
    on: ['JobSet', 'PodTemplate', 'Namespace'],
    off: [],
    isForLaterJobs: true,
    values: '`Off` (default), or a duration such as `5m`',
    help: 'how long after its grace period a Pod is deleted by force ([lost nodes](../lost-nodes.md))',
  },
  {
    key: names.RESTART_BACKOFF,
    off: ['Disabled'],
    isOnByDefault: true,
    values: '`Enabled` (default), `Off` or `Disabled`',
    help: 'whether a group that fails over and over restarts with a growing delay',
  },
  {
    key: names.PROGRESS_TIMEOUT,
    off: [],
    values: '`Off` (default), `Auto`, or 10s to 168h',
    help: 'a worker that is silent for longer counts as hung',
  },
  {
    key: names.FIRST_PROGRESS_TIMEOUT,
    off: [],
    values: '`Off` (default), or 10s to 168h',
    help: 'the same, from the release of the epoch to the first report',
  },
  {
    key: names.PROGRESS_PREFIX,
    off: [],
    isForLaterJobs: true,
    values: '`Off` (default), or 1 to 64 printable characters',
    help: 'the text before the step in a line that the worker prints; Supervisor mode',
  },
  {
    key: names.STANDBY,
    off: [],
    isForLaterJobs: true,
    values: '`Off` (default), `Warm`',
    help: "a second process of the worker's command [waits for the next epoch](supervisor.md#warm-standby); Supervisor mode",
  },
  {
    key: names.PROCESSES_PER_POD,
    on: ['JobSet'],
    values: '`8` for all, or such as `workers=8,driver=1`; 1 to 64',
    help: 'how many [ranks](../ranks.md) the agent starts in each Pod; it cannot change; Supervisor mode',
  },
  {
    key: names.LOG_PREFIX,
    off: [],
    isOnByDefault: true,
    isForLaterJobs: true,
    values: '`On` (default), `Off`',
    help: 'whether lines of [ranks](../ranks.md#logs) begin with the number of the rank',
  },
  {
    key: names.HANG_COMMAND,
    off: [],
    isForLaterJobs: true,
    values: '`Off` (default), or 1 to 4,096 bytes of shell, no NUL',
    help: 'looks into a hung worker before it is ended; Supervisor mode',
  },
  {
    key: names.PREFLIGHT,
    off: [],
    isForLaterJobs: true,
    values: '`Off` (default), or 1 to 4,096 bytes of shell, no NUL',
    help: '[checks the machine](supervisor.md#preflight) after a worker that failed; Supervisor mode',
  },
  {
    key: names.LAST_WORDS,
    off: [],
    isOnByDefault: true,
    isForLaterJobs: true,
    values: '`All` (default), `Files`, `Off`',
    help: "`Files` leaves the worker's standard error alone, `Off` tells none; Supervisor mode",
  },
  {
    key: names.STOP_GRACE,
    isForLaterJobs: true,
    values: '0s to 10m in whole seconds, default 5s',
    help: 'from `SIGTERM` to `SIGKILL` at a restart; Supervisor mode',
  },
  {
    key: names.KEEP_FAILED,
    off: [],
    values: '`Off` or 0s (default), to 720h',
    help: 'how long the Pods of a failed JobSet [stay](#annotations-that-may-change)',
  },
  {
    key: names.REPLACE_AFTER,
    off: [],
    values: '`Off` (default), or such as `3/1h`: 1 to 10, and 1m to 168h',
    help: 'a member that is the first to fail that many times in that time [leaves its node](../bad-nodes.md)',
  },
  {
    key: names.MAX_RESTARTS_WITHOUT_PROGRESS,
    off: [],
    values: '`Off` (default), or 1 to 1,000',
    help: 'so many charged restarts in a row may lead to [no higher checkpoint](../bad-nodes.md#stop-when-restarts-do-not-help)',
  },
  {
    key: names.EXTRA_RESTARTS,
    on: ['JobSet'],
    off: [],
    values: '`Off` or 0 (default), to 1,000,000',
    help: 'restarts that are allowed [beside `maxRestarts`](../bad-nodes.md#allow-more-restarts)',
  },
  {
    key: names.RESTART_EPOCH,
    on: ['JobSet'],
    values: 'number of an epoch, from 1',
    help: 'ends that epoch, [uncharged](#annotations-that-may-change), if it is the current one and was released',
  },
  {
    key: names.FORGET_NODES,
    on: ['JobSet'],
    values: '1 to 16 entries `NODE@TIME`, separated by commas',
    help: 'takes these entries [from `status.avoidedNodes`](#annotations-that-may-change), each once',
  },
];

export const OWN_ANNOTATIONS: readonly OwnAnnotation[] = TABLE.map((entry) => ({
  on: ['JobSet', 'Namespace'],
  ...entry,
}));

/** The keys that have an effect at a place. */
export function annotationsOn(place: AnnotationPlace): ReadonlySet<string> {
  return new Set(OWN_ANNOTATIONS.filter(({ on }) => on.includes(place)).map(({ key }) => key));
}

const BY_KEY: ReadonlyMap<string, OwnAnnotation> = new Map(
  OWN_ANNOTATIONS.map((annotation) => [annotation.key, annotation]),
);

/** Whether this value of a key switches it off. */
export function isOff(key: string, value: string | undefined): boolean {
  const { off } = BY_KEY.get(key) ?? {};
  return value !== undefined && off !== undefined && (value === OFF || off.includes(value));
}

/** The value of a key that is neither absent nor off. */
export function asked(annotations: StringMap | undefined, key: string): string | undefined {
  const value = annotations?.[key];
  return isOff(key, value) ? undefined : value;
}
