/**
 * The one schema of `jobset.x-k8s.io/v1alpha2 JobSet`. It describes the fields that this version
 * acts on, and no others, so that anything else is named to the user instead of being ignored.
 * Fields, defaults and rules: `jobset.ts` and the reference of the API.
 */
import {
  atomicList,
  boolean,
  defaulted,
  described,
  int32,
  int64,
  limited,
  listMap,
  nullable,
  object,
  oneOf,
  string,
  time,
} from '../kube/schema/builders.ts';
import { customResourceSchema } from '../kube/schema/custom-resource-schema.ts';
import { JOB_SPEC } from '../kube/schema/job-schema.ts';
import type { JsonSchema } from '../kube/schema/json-schema.ts';
import { CONDITION, OBJECT_META } from '../kube/schema/meta-schema.ts';

/** Evaluated by real API servers; here the operator's own checks hold it. */
function immutable(schema: JsonSchema): JsonSchema {
  return {
    ...schema,
    'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'Value is immutable' }],
  };
}

function atLeastZero(schema: JsonSchema): JsonSchema {
  return limited({ minimum: 0 }, schema);
}

const JOB_TEMPLATE = object(
  {
    metadata: described('Labels and annotations of the Jobs.', OBJECT_META),
    spec: described('What the Jobs do.', JOB_SPEC),
  },
  { required: ['spec'], description: 'The Job that is created once for each replica.' },
);

const REPLICATED_JOB = object(
  {
    name: string('Part of the names of the Jobs: JOBSET-NAME-INDEX.'),
    groupName: defaulted(
      'default',
      string('Jobs of one group are numbered through, across ReplicatedJobs.'),
    ),
    template: JOB_TEMPLATE,
    replicas: defaulted(1, atLeastZero(int32('How many Jobs are made from the template.'))),
  },
  { required: ['name', 'template'] },
);

const NETWORK = object({
  enableDNSHostnames: boolean(
    'Whether Pods are reached as JOBSET-NAME-JOB-POD.SUBDOMAIN. On by default.',
  ),
  subdomain: string('The headless Service that is created. The name of the JobSet by default.'),
  publishNotReadyAddresses: boolean('Whether names resolve before Pods are ready. On by default.'),
});

const SUCCESS_POLICY = object(
  {
    operator: oneOf(['All', 'Any'], 'Whether all Jobs have to complete, or any one.'),
    targetReplicatedJobs: atomicList(string(), 'The ReplicatedJobs that count; all by default.'),
  },
  { required: ['operator'] },
);

const FAILURE_POLICY = object({
  maxRestarts: defaulted(0, int32('Restarts, of all kinds together, before the JobSet fails.')),
  restartStrategy: defaulted(
    'Recreate',
    oneOf(
      ['Recreate', 'BlockingRecreate', 'InPlaceRestart'],
      'Recreate makes new Jobs, each as soon as the old one is gone. BlockingRecreate waits until ' +
        'all are gone. InPlaceRestart keeps Jobs and Pods and restarts the containers together.',
    ),
  ),
});

const COORDINATOR = object(
  {
    replicatedJob: string('The ReplicatedJob of the coordinating Pod.'),
    jobIndex: int64('Its Job. 0 by default.'),
    podIndex: int64('Its completion index. 0 by default.'),
  },
  { required: ['replicatedJob'] },
);

const SPEC = object({
  replicatedJobs: listMap(['name'], REPLICATED_JOB, 'The groups of Jobs that make up the JobSet.'),
  network: immutable(described('How Pods find each other by name.', NETWORK)),
  successPolicy: immutable(described('When the JobSet is complete.', SUCCESS_POLICY)),
  failurePolicy: immutable(
    described(
      'What a failure leads to. Without it the first one fails the JobSet.',
      FAILURE_POLICY,
    ),
  ),
  suspend: boolean('A suspended JobSet has no running Pods.'),
  coordinator: described('The Pod that all others are told the address of.', COORDINATOR),
  managedBy: string('The controller that acts on the JobSet, if it is not this one.'),
});

/** As `meta/v1 Condition` is written in the schemas of all custom resources. */
const JOBSET_CONDITION: JsonSchema = {
  ...CONDITION,
  properties: {
    ...CONDITION.properties,
    type: limited({ maxLength: 316 }, string()),
    status: oneOf(['True', 'False', 'Unknown']),
    observedGeneration: atLeastZero(int64()),
    reason: limited(
      { minLength: 1, maxLength: 1024, pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$' },
      string(),
    ),
    message: limited({ maxLength: 32_768 }, string()),
  },
};

const REPLICATED_JOB_STATUS = object(
  {
    name: string('The ReplicatedJob.'),
    ready: int32('Jobs whose Pods are all ready or succeeded.'),
    succeeded: int32('Jobs that are complete.'),
    failed: int32('Jobs that failed.'),
    active: int32('Jobs with Pods at work.'),
    suspended: int32('Jobs that are suspended.'),
    syncedEpoch: atLeastZero(int32('The newest epoch in which its workers were released.')),
  },
  { required: ['name', 'ready', 'succeeded', 'failed', 'active', 'suspended'] },
);

const RESTART_WITNESS = object(
  {
    pod: string('The first Pod seen to fail.'),
    node: string('Where it ran.'),
    container: string('The container that ended.'),
    exitCode: nullable(int32('Its exit code; null where that cannot be known.')),
    signal: string('The signal that ended it.'),
    reason: string('Why it ended.'),
  },
  { required: ['pod', 'exitCode', 'reason'] },
);

const RESTART_PHASES = object(
  {
    detectMs: int64('From the end of the container to the end of the epoch.'),
    announceMs: int64('From there to the last announcement of the next epoch.'),
    releaseMs: int64('From there to the release of the next epoch.'),
  },
  { description: 'How long each phase of the restart took, in milliseconds.' },
);

const RESTART_RECORD = object(
  {
    epoch: int32('The epoch that ended.'),
    time: time('When it ended.'),
    cause: oneOf(['WorkerFailed', 'JobsRecreated', 'Resumed'], 'What ended it.'),
    counted: boolean('Whether it counts towards maxRestarts.'),
    ranMs: int64('How long the epoch had run, in milliseconds; absent if never released.'),
    witness: RESTART_WITNESS,
    phases: RESTART_PHASES,
  },
  { required: ['epoch', 'time', 'cause', 'counted'] },
);

const STATUS = object({
  conditions: listMap(['type'], JOBSET_CONDITION),
  terminalState: string('Completed or Failed, once the JobSet has ended.'),
  restarts: int32('How often all Jobs were recreated.'),
  restartsCountTowardsMax: int32('Those of restarts that count towards maxRestarts.'),
  replicatedJobsStatus: listMap(['name'], REPLICATED_JOB_STATUS),
  deprecatedEpoch: atLeastZero(
    int32('Workers of this epoch and of all before it are to stop and to restart in place.'),
  ),
  syncedEpoch: atLeastZero(int32('Workers of this epoch may run.')),
  syncedTime: time('When the current epoch was released.'),
  inPlaceRestarts: int32('How often the group restarted in place.'),
  inPlaceRestartsCountTowardsMax: int32('Those of inPlaceRestarts that count towards maxRestarts.'),
  restartHistory: atomicList(RESTART_RECORD, 'The last restarts of the group, newest first.'),
});

/** The schema of a whole JobSet, in the form that a CustomResourceDefinition takes. */
export const JOBSET_SCHEMA: JsonSchema = customResourceSchema(
  object(
    {
      apiVersion: string('jobset.x-k8s.io/v1alpha2'),
      kind: string('JobSet'),
      metadata: { type: 'object' },
      spec: described('What is to run.', SPEC),
      status: described('What the controller has seen and decided.', STATUS),
    },
    { description: 'Runs groups of Jobs as one workload, and restarts them together.' },
  ),
);
