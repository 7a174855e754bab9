/**
 * What is measured: groups of tiny workers under each way to restart. All have the same worker, which
 * prepares, says in its log that it starts, and waits.
 */
import type { StringMap } from '@lockstep/kube/meta.ts';
import type { Container, PodSpec } from '@lockstep/kube/objects/pod.ts';
import { JOBSETS, type JobSet, type RestartStrategy } from '../../../src/jobset/jobset.ts';
import { JOBSET_NAME, RESTART_BACKOFF, RESTART_MODE, STANDBY } from '../../../src/jobset/names.ts';
import { NAMESPACE } from '../../../test/node/node.ts';
import { CONFINED } from '../../../test/node/node-group.fixture.ts';
import { UPSTREAM_VERSION } from '../../neighbours/programs.ts';
import { UPSTREAM_AGENT_IMAGE } from '../images.ts';

/** The line of a worker that has just started. */
export const START = 'START';
/** Names the Pod of a worker process. */
export const WORKER_OF = 'WORKER_OF';
/** The account of upstream's agents. */
export const UPSTREAM_ACCOUNT = 'jobset-in-place-restart';

const UNLIMITED = 2_147_483_647;
/** More than any run needs. */
const MAX_RESTARTS = 1000;

export interface Kind {
  readonly title: string;
  readonly controller: 'lockstep' | 'upstream';
  /** Whether Pods survive a restart. */
  readonly keepsPods: boolean;
  readonly hasStandby: boolean;
  readonly strategy: RestartStrategy;
  readonly annotations: StringMap;
  readonly pod: (worker: Container) => Partial<PodSpec>;
  /** Fields of the Job. */
  readonly job: object;
}

const IN_PLACE = {
  controller: 'lockstep',
  keepsPods: true,
  hasStandby: false,
  strategy: 'InPlaceRestart',
  pod: (worker) => ({ containers: [worker] }),
  job: {},
} as const satisfies Partial<Kind>;

const RECREATE = {
  ...IN_PLACE,
  keepsPods: false,
  strategy: 'Recreate',
  annotations: {},
  job: { backoffLimit: 0 },
} as const satisfies Partial<Kind>;

const annotated = (mode: string): StringMap => ({
  [RESTART_MODE]: mode,
  [RESTART_BACKOFF]: 'Disabled',
});

/** By the names of `--kinds`, in the order in which they are measured. */
export const KINDS: Readonly<Record<string, Kind>> = {
  supervisor: {
    ...IN_PLACE,
    title: 'Lockstep, Supervisor mode',
    annotations: annotated('Supervisor'),
  },
  standby: {
    ...IN_PLACE,
    title: 'Lockstep, Supervisor mode with warm standbys',
    hasStandby: true,
    annotations: { ...annotated('Supervisor'), [STANDBY]: 'Warm' },
  },
  sidecar: { ...IN_PLACE, title: 'Lockstep, Sidecar mode', annotations: annotated('Sidecar') },
  recreate: { ...RECREATE, title: 'Lockstep, `Recreate`' },
  'upstream-sidecar': {
    ...IN_PLACE,
    title: `upstream ${UPSTREAM_VERSION} in place, with its sidecar`,
    controller: 'upstream',
    annotations: {},
    pod: withUpstreamAgent,
    // Its webhook demands both.
    job: { backoffLimit: UNLIMITED, podReplacementPolicy: 'Failed' },
  },
  'upstream-recreate': {
    ...RECREATE,
    title: `upstream ${UPSTREAM_VERSION}, \`Recreate\``,
    controller: 'upstream',
  },
};

/** As the example of upstream has it. */
function withUpstreamAgent(worker: Container): Partial<PodSpec> {
  const exitCodes = { operator: 'NotIn', values: [0] } as const;
  const restartPolicyRules = [{ action: 'RestartAllContainers', exitCodes }] as const;
  const fieldOf = (fieldPath: string) => ({ valueFrom: { fieldRef: { fieldPath } } });
  return {
    serviceAccountName: UPSTREAM_ACCOUNT,
    initContainers: [
      {
        name: 'in-place-restart-agent',
        image: UPSTREAM_AGENT_IMAGE,
        env: [
          { name: 'JOBSET_NAME', ...fieldOf(`metadata.annotations['${JOBSET_NAME}']`) },
          { name: 'POD_NAME', ...fieldOf('metadata.name') },
        ],
        restartPolicy: 'Always',
        restartPolicyRules,
        startupProbe: {
          httpGet: { path: '/barrier-is-down', port: 8081 },
          periodSeconds: 1,
          failureThreshold: 600,
        },
        ...CONFINED,
      },
    ],
    containers: [{ ...worker, restartPolicy: 'Never', restartPolicyRules }],
  };
}

export interface Group {
  readonly name: string;
  readonly size: number;
  /** Seconds that each worker needs before it starts. */
  readonly prepare: number;
}

export function jobSetOf(kind: Kind, { name, size, prepare }: Group): JobSet {
  const { hasStandby, strategy, annotations, job } = kind;
  const worker: Container = {
    name: 'worker',
    image: 'lockstep-test/busybox:1',
    command: ['sh', '-c', script(prepare, hasStandby)],
    env: [{ name: WORKER_OF, valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
    ...CONFINED,
  };
  return {
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: JOBSETS.kind,
    metadata: { name, namespace: NAMESPACE, annotations },
    spec: {
      failurePolicy: { maxRestarts: MAX_RESTARTS, restartStrategy: strategy },
      replicatedJobs: [
        {
          name: 'w',
          replicas: 1,
          template: {
            spec: {
              ...job,
              parallelism: size,
              completions: size,
              completionMode: 'Indexed',
              template: { spec: { restartPolicy: 'Never', ...kind.pod(worker) } as PodSpec },
            },
          },
        },
      ],
    },
  };
}

/**
 * The first process of a container ignores signals that it does not handle, and then every restart of
 * a container would take two seconds more. A shell that waits for a start without a new process each
 * time leaves the machine to what is measured.
 */
function script(prepare: number, hasStandby: boolean): string {
  const commands = ["trap 'exit 143' TERM", ...(prepare > 0 ? [`sleep ${prepare} & wait $!`] : [])];
  if (hasStandby) {
    commands.push(
      '[ -p /tmp/never ] || mkfifo /tmp/never',
      'exec 9<>/tmp/never',
      'echo phase=standby >> "$LOCKSTEP_PROGRESS_FILE"',
      'until [ -e "$LOCKSTEP_START_FILE" ]; do read -t 0.02 -u 9 _; done',
      `echo ${START}`,
      'echo 1 >> "$LOCKSTEP_PROGRESS_FILE"',
    );
  } else {
    commands.push(`echo ${START}`);
  }
  return [...commands, 'sleep 100000 & wait $!'].join('; ');
}
