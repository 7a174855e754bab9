/**
 * The one schema of `jobset.x-k8s.io/v1alpha2 JobSet`. The definition of the resource, its OpenAPI
 * documents and `docs/reference/jobset.md` are made from it. It has upstream's types, limits,
 * defaults and markers; further rules in CEL are in `schema-rules.ts`.
 */

import {
  JOB_SPEC,
  OBJECT_META,
  PERSISTENT_VOLUME_CLAIM,
} from '@lockstep/kube/pod-schema/pod-definitions.ts';
import {
  atomicList,
  boolean,
  defaulted,
  described,
  int32,
  int64,
  limited,
  listMap,
  object,
  oneOf,
  string,
} from '@lockstep/kube/schema/builders.ts';
import { customResourceSchema } from '@lockstep/kube/schema/custom-resource-schema.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import * as rules from './schema-rules.ts';
import { immutable, ruled } from './schema-rules.ts';
import { STATUS } from './status-schema.ts';
import { withOpenValues } from './template-schema.ts';

const JOB_TEMPLATE = object(
  {
    metadata: described('Labels and annotations of the Jobs.', OBJECT_META),
    spec: described('What the Jobs do.', withOpenValues(JOB_SPEC)),
  },
  { required: ['spec'], description: 'The Job that is created once for each replica.' },
);

/** A name that rules compare. */
function name(description?: string): JsonSchema {
  return limited({ maxLength: rules.MAX_NAME_LENGTH }, string(description));
}

/** A list of names of ReplicatedJobs. */
function targets(description: string): JsonSchema {
  return limited({ maxItems: rules.MAX_REPLICATED_JOBS }, atomicList(name(), description));
}

const MAX_DEPENDENCIES = 5;

const DEPENDS_ON = object(
  {
    name: name('A ReplicatedJob before this one.'),
    status: oneOf(
      ['Ready', 'Complete'],
      'The state that all its Jobs must reach. A failed Job counts as Ready too.',
    ),
  },
  { required: ['name', 'status'] },
);

const REPLICATED_JOB = object(
  {
    name: ruled(
      rules.REPLICATED_JOB_NAME_RULES,
      name('Part of the names of the Jobs: JOBSET-NAME-INDEX.'),
    ),
    groupName: defaulted(
      'default',
      ruled(
        rules.GROUP_NAME_RULES,
        name('Jobs of one group are numbered consecutively, across ReplicatedJobs.'),
      ),
    ),
    template: JOB_TEMPLATE,
    replicas: defaulted(
      1,
      limited({ minimum: 0 }, int32('How many Jobs are created from the template.')),
    ),
    dependsOn: immutable(
      limited(
        { maxItems: MAX_DEPENDENCIES },
        listMap(
          ['name'],
          DEPENDS_ON,
          'What must be ready or complete before these Jobs are created. Not on the first ' +
            'ReplicatedJob, and not together with startupPolicyOrder InOrder.',
        ),
      ),
    ),
  },
  { required: ['name', 'template'] },
);

const NETWORK = object({
  enableDNSHostnames: boolean(
    'Whether Pods are reached as JOBSET-NAME-JOB-POD.SUBDOMAIN. On by default.',
  ),
  subdomain: ruled(
    rules.SUBDOMAIN_RULES,
    name('The headless Service that is created. The name of the JobSet by default.'),
  ),
  publishNotReadyAddresses: boolean('Whether names resolve before Pods are ready. On by default.'),
});

const SUCCESS_POLICY = object(
  {
    operator: oneOf(['All', 'Any'], 'Whether all Jobs have to complete, or any one.'),
    targetReplicatedJobs: targets('The ReplicatedJobs that count; all by default.'),
  },
  { required: ['operator'] },
);

const FAILURE_POLICY_RULE = object(
  {
    name: ruled(
      rules.RULE_NAME_RULES,
      name(
        'Shown as FailurePolicy_NAME in the reason of a restart. failurePolicyRuleINDEX by default.',
      ),
    ),
    action: oneOf(
      [
        'FailJobSet',
        'RestartJobSet',
        'RestartJobSetAndIgnoreMaxRestarts',
        'RestartJob',
        'RestartJobAndIgnoreMaxRestarts',
      ],
      'What a failure that matches leads to. RestartJob recreates the Job that failed and leaves ' +
        'the others. Restarts that ignore maxRestarts are not counted towards it.',
    ),
    onJobFailureReasons: limited(
      { maxItems: rules.MAX_JOB_FAILURE_REASONS },
      atomicList(
        ruled(rules.JOB_FAILURE_REASON_RULES, name()),
        'Reasons of failed Jobs that match: BackoffLimitExceeded, DeadlineExceeded, FailedIndexes, ' +
          'MaxFailedIndexesExceeded, PodFailurePolicy. All match by default.',
      ),
    ),
    onJobFailureMessagePatterns: atomicList(
      string(),
      'RE2 regular expressions. One of them must match in the message of the failure. ' +
        'All messages match by default.',
    ),
    targetReplicatedJobs: targets('The ReplicatedJobs whose Jobs match; all by default.'),
  },
  { required: ['name', 'action'] },
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
  rules: ruled(
    rules.FAILURE_POLICY_RULES_RULES,
    limited(
      { maxItems: rules.MAX_FAILURE_POLICY_RULES },
      atomicList(
        FAILURE_POLICY_RULE,
        'The first rule that matches a failure says what it leads to; without one, RestartJobSet.',
      ),
    ),
  ),
});

const STARTUP_POLICY = object(
  {
    startupPolicyOrder: oneOf(
      ['AnyOrder', 'InOrder'],
      'InOrder starts the Jobs of a ReplicatedJob when the Jobs of all before it are ready.',
    ),
  },
  { required: ['startupPolicyOrder'] },
);

const COORDINATOR = object(
  {
    replicatedJob: name('The ReplicatedJob of the coordinating Pod.'),
    jobIndex: int64('Its Job. 0 by default.'),
    podIndex: int64('Its completion index. 0 by default.'),
  },
  { required: ['replicatedJob'] },
);

const MAX_CLAIM_POLICIES = 50;
const MAX_CLAIM_TEMPLATES = 50;

const VOLUME_CLAIM_POLICY = object({
  templates: limited(
    { maxItems: MAX_CLAIM_TEMPLATES },
    atomicList(
      withOpenValues(PERSISTENT_VOLUME_CLAIM),
      'Claims that are created as TEMPLATE-JOBSET, and become volumes of all Pods that mount ' +
        'the name of the template.',
    ),
  ),
  // The definition fills it in at each write. A default that the webhook fills in at creation would
  // be missing when the list is applied again, and the list is immutable.
  retentionPolicy: defaulted(
    { whenDeleted: 'Delete' },
    object(
      {
        whenDeleted: defaulted(
          'Delete',
          oneOf(['Delete', 'Retain'], 'Whether the claims go when the JobSet is deleted.'),
        ),
      },
      { description: 'What happens to the claims.' },
    ),
  ),
});

const SPEC = object({
  replicatedJobs: limited(
    { maxItems: rules.MAX_REPLICATED_JOBS },
    listMap(
      ['name'],
      ruled(rules.REPLICATED_JOB_RULES, REPLICATED_JOB),
      'The groups of Jobs that make up the JobSet.',
    ),
  ),
  network: immutable(described('How Pods find each other by name.', NETWORK)),
  successPolicy: immutable(described('When the JobSet is complete.', SUCCESS_POLICY)),
  failurePolicy: immutable(
    described(
      'What a failure leads to. Without it the first one fails the JobSet.',
      FAILURE_POLICY,
    ),
  ),
  startupPolicy: immutable(
    described('In which order ReplicatedJobs start; see dependsOn too.', STARTUP_POLICY),
  ),
  suspend: boolean('A suspended JobSet has no running Pods.'),
  coordinator: described('The Pod whose address all others get.', COORDINATOR),
  managedBy: limited(
    { maxLength: 63 },
    string('The controller that acts on the JobSet, if it is not this one.'),
  ),
  activeDeadlineSeconds: limited(
    { minimum: 1 },
    int64(
      'Seconds that the JobSet may be active without interruption, from status.startTime, before it fails.',
    ),
  ),
  ttlSecondsAfterFinished: limited(
    { minimum: 0 },
    int32('Seconds after its end at which the JobSet is deleted.'),
  ),
  volumeClaimPolicies: immutable(
    limited(
      { maxItems: MAX_CLAIM_POLICIES },
      atomicList(
        ruled(rules.VOLUME_CLAIM_POLICY_RULES, VOLUME_CLAIM_POLICY),
        'PersistentVolumeClaims that the Pods of all Jobs share.',
      ),
    ),
  ),
});

/** The schema of a whole JobSet, in the form that a CustomResourceDefinition takes. */
export const JOBSET_SCHEMA: JsonSchema = customResourceSchema(
  ruled(
    rules.JOBSET_RULES,
    object(
      {
        apiVersion: string('jobset.x-k8s.io/v1alpha2'),
        kind: string('JobSet'),
        metadata: { type: 'object', properties: { name: name() } },
        spec: described('What to run.', ruled(rules.SPEC_RULES, SPEC)),
        // Tools think that a JobSet without a status has reached its goal.
        status: defaulted(
          { observedGeneration: -1 },
          described('What the controller has seen and decided.', STATUS),
        ),
      },
      { description: 'Runs groups of Jobs as one workload, and restarts them together.' },
    ),
  ),
);
