/**
 * The schema of a JobSet's status: upstream's fields, with their types and limits, and our epochs,
 * counters and history of restarts in place (`docs/design/protocol.md`).
 */

import { CONDITION } from '@lockstep/kube/pod-schema/pod-definitions.ts';
import {
  atomicList,
  boolean,
  described,
  int32,
  int64,
  limited,
  listMap,
  map,
  nullable,
  object,
  oneOf,
  string,
  time,
} from '@lockstep/kube/schema/builders.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { MAX_COURSE_PARTS } from '../goodput/course.ts';
import {
  ACCOUNTED,
  GOODPUT_PHASES,
  MAX_AVOIDED_NODES,
  MAX_SUSPECTS,
  RESTART_MODES,
} from '../jobset-status.ts';
import {
  MAX_RECORDED_ANNOTATIONS,
  MAX_RECORDED_CHARACTERS,
} from '../overrides/recorded-annotations.ts';
import { MAX_REPLICATED_JOBS_WITH_RANKS } from '../ranks/processes-per-pod.ts';

/** As `meta/v1 Condition` is written in the schemas of all custom resources. */
const JOBSET_CONDITION: JsonSchema = {
  ...CONDITION,
  properties: {
    ...CONDITION.properties,
    type: limited({ maxLength: 316 }, string('What the condition is about.')),
    status: oneOf(['True', 'False', 'Unknown'], 'Whether it holds.'),
    observedGeneration: atLeastZero(int64('The generation of the spec that it is about.')),
    lastTransitionTime: time('When its status changed last.'),
    reason: limited(
      { minLength: 1, maxLength: 1024, pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$' },
      string('Why it holds or not, as one word.'),
    ),
    message: limited({ maxLength: 32_768 }, string('The same for people.')),
  },
};

/** One counter per Job; only with the RestartJob feature, which admits at most this many Jobs. */
export const MAX_RESTARTABLE_JOBS = 1024;

function counterPerJob(description: string): JsonSchema {
  return limited({ maxItems: MAX_RESTARTABLE_JOBS }, atomicList(int32(), description));
}

const REPLICATED_JOB_STATUS = object(
  {
    name: string('The ReplicatedJob.'),
    ready: int32('Jobs whose Pods are all ready or succeeded.'),
    succeeded: int32('Jobs that are complete.'),
    failed: int32('Jobs that failed.'),
    active: int32('Jobs with Pods at work.'),
    suspended: int32('Jobs that are suspended.'),
    jobRestarts: counterPerJob('By job index: how often that Job alone was recreated.'),
    jobRestartsCountTowardsMax: counterPerJob(
      'The part of jobRestarts that counts towards maxRestarts.',
    ),
    succeededIndexes: string('Jobs that have succeeded in this attempt, such as 0,2-5.'),
    syncedEpoch: atLeastZero(int32('The newest epoch in which its workers were released.')),
    failedPods: described(
      'By job index: how many of its Pods had failed when the current epoch began.',
      atomicList(atLeastZero(int32())),
    ),
  },
  { required: ['name', 'ready', 'succeeded', 'failed', 'active', 'suspended'] },
);

const RESTART_WITNESS = object(
  {
    pod: string('The first Pod seen to fail.'),
    worker: string('Its rank in words.'),
    process: atLeastZero(int32('The process of its Pod, by local rank; absent: the whole worker.')),
    rank: atLeastZero(int32('The rank of that process in the group, as it says itself.')),
    node: string('Where it ran.'),
    container: string('The container that ended.'),
    exitCode: nullable(int32('Its exit code; null if it is unknown.')),
    signal: string('The signal that ended it.'),
    reason: string('Why it ended.'),
    message: string('How a worker hung.'),
  },
  { required: ['pod', 'exitCode', 'reason'], description: 'Whose failure ended the epoch.' },
);

const SUSPECT = object(
  {
    worker: string('Its rank in words.'),
    replicatedJob: string('Its ReplicatedJob.'),
    jobIndex: atLeastZero(int32('The index of its Job.')),
    completionIndex: atLeastZero(int32('Its completion index; absent in a NonIndexed Job.')),
    process: atLeastZero(int32('The process of its Pod, by local rank; absent: the whole worker.')),
    rank: atLeastZero(int32('The rank of that process in the group, as it says itself.')),
    pod: string('Its Pod.'),
    node: string('Where it ran.'),
    why: string('Why it is suspected.'),
    confidence: oneOf(['Certain', 'Likely'], 'How sure that is.'),
  },
  { required: ['worker', 'replicatedJob', 'jobIndex', 'pod', 'why', 'confidence'] },
);

const LAST_WORDS = object(
  {
    pod: string('Whose words.'),
    text: string('The last of them, at most 512 bytes.'),
    beforeEndMs: atLeastZero(
      int64('How long before its end it said that, in milliseconds; absent: it is not known.'),
    ),
  },
  { required: ['pod', 'text'], description: 'What the failed worker said last.' },
);

const RESTART_PHASES = object(
  {
    detectMs: int64('From the end of the container to the end of the epoch.'),
    announceMs: int64('From there to the last announcement of the next epoch.'),
    releaseMs: int64('From there to the release of the next epoch.'),
    backoffMs: atLeastZero(int64('The part of `releaseMs` for which a crash loop held it back.')),
  },
  { description: 'How long each phase of the restart took, in milliseconds.' },
);

const COURSE = object(
  {
    fromMs: atLeastZero(int64('Where it begins, in milliseconds since the creation.')),
    parts: described(
      'The parts, in the order in which they passed.',
      limited(
        { maxItems: MAX_COURSE_PARTS },
        atomicList(
          object(
            {
              class: oneOf(ACCOUNTED, 'What the time was.'),
              ms: atLeastZero(int64('How long, in milliseconds.')),
            },
            { required: ['class', 'ms'] },
          ),
        ),
      ),
    ),
  },
  { required: ['fromMs', 'parts'], description: 'What became of a stretch of time, in order.' },
);

const RESTART_RECORD = object(
  {
    epoch: int32('The epoch that ended.'),
    time: time('When it ended.'),
    cause: oneOf(
      ['WorkerFailed', 'StartFailed', 'JobsRecreated', 'Resumed', 'Scaled'],
      'What ended it.',
    ),
    counted: boolean('Whether it counts towards maxRestarts.'),
    generation: atLeastZero(int64('The generation of the spec when it was released.')),
    ranMs: int64('How long the epoch had run, in milliseconds; absent if never released.'),
    witness: RESTART_WITNESS,
    suspects: described(
      'Who failed first, the likeliest first; absent or empty if that is unknown.',
      limited({ maxItems: MAX_SUSPECTS }, atomicList(SUSPECT)),
    ),
    lastWords: LAST_WORDS,
    phases: RESTART_PHASES,
    course: COURSE,
  },
  { required: ['epoch', 'time', 'cause', 'counted'] },
);

const AVOIDED_NODE = object(
  {
    node: string('The node.'),
    time: time('When that was decided.'),
    reason: string('Why.'),
    pod: string('The Pod that is deleted for it.'),
    worker: string('Its rank in words.'),
  },
  { required: ['node', 'time', 'reason', 'pod', 'worker'] },
);

const ENDED_PROGRESS = object(
  {
    checkpoint: atLeastZero(int64('The highest checkpoint that was reported.')),
    step: atLeastZero(int64('The highest step that was reported.')),
    restartsWithoutProgress: atLeastZero(
      int32('Charged restarts in a row without a higher checkpoint, or else step.'),
    ),
  },
  {
    required: ['restartsWithoutProgress'],
    description: 'How far the group had come when its epochs ended.',
  },
);

const GOODPUT = object(
  {
    time: time('Up to here, each millisecond since the creation is in one of the sums.'),
    phase: oneOf(GOODPUT_PHASES, 'What the JobSet has been doing since then.'),
    checkpoint: atLeastZero(int64('The highest checkpoint that has been accounted for.')),
    stepped: boolean('The time up to the first step of the epoch is accounted for.'),
    waitingMs: atLeastZero(int64('Before the first release, and from a resume to the next.')),
    suspendedMs: atLeastZero(int64('Suspended.')),
    startingMs: atLeastZero(int64('From a release to the first step.')),
    productiveMs: atLeastZero(int64('Work that is in a checkpoint, or in a success.')),
    lostMs: atLeastZero(int64('Work since the newest checkpoint, when an epoch ended.')),
    hungMs: atLeastZero(int64('Silence that ended a hung worker.')),
    restartingMs: atLeastZero(int64('From the end of an epoch to the next release.')),
    runningMs: atLeastZero(int64('Workers ran, and reported no checkpoint by which to judge.')),
    pendingMs: atLeastZero(int64('The end of an epoch, until all its members have reported.')),
    held: object(
      {
        fromMs: atLeastZero(int64('Where it begins, as in a course.')),
        ms: atLeastZero(int64('Its length.')),
      },
      {
        required: ['fromMs', 'ms'],
        description:
          'Work at the end of an epoch that no failure ended, until the next epoch shows from which checkpoint it continues.',
      },
    ),
    course: COURSE,
  },
  { required: ['time', 'phase'], description: 'What became of the time, in milliseconds.' },
);

const RANKS = object(
  {
    epoch: atLeastZero(
      int32('The epoch for which they were counted; agents start no other with them.'),
    ),
    mixed: boolean(
      'The size changed while restarts in place were bypassed, so Pods of this epoch may have other numbers.',
    ),
    world: atLeastZero(int32('All ranks of the group.')),
    groups: atLeastZero(int32('Members that have ranks.')),
    master: string('The host name of the member with rank 0.'),
    replicatedJobs: described(
      'The ReplicatedJobs whose members have ranks, in the order of the spec.',
      limited(
        { maxItems: MAX_REPLICATED_JOBS_WITH_RANKS },
        atomicList(
          object(
            {
              name: string('The ReplicatedJob.'),
              firstGroupRank: atLeastZero(int32('The number of its first member.')),
              firstRank: atLeastZero(int32('The rank of the first process of that member.')),
              processesPerPod: atLeastZero(int32('Processes of each of its Pods.')),
              podsPerJob: atLeastZero(int32('Pods of each of its Jobs.')),
            },
            {
              required: ['name', 'firstGroupRank', 'firstRank', 'processesPerPod', 'podsPerJob'],
            },
          ),
        ),
      ),
    ),
  },
  {
    required: ['epoch', 'world', 'groups', 'master', 'replicatedJobs'],
    description: 'The numbers of the ranks in one epoch, with lockstep/processes-per-pod.',
  },
);

export const STATUS: JsonSchema = object({
  observedGeneration: int64('The generation of the spec that the rest follows from.'),
  conditions: listMap(
    ['type'],
    JOBSET_CONDITION,
    'Completed, Failed, Suspended, StartupPolicyInProgress, StartupPolicyCompleted, ' +
      'RestartingJobSet, RestartingInPlace and others that say what the JobSet waits for.',
  ),
  terminalState: string('Completed or Failed, once the JobSet has ended.'),
  restarts: int32('How often all Jobs were recreated.'),
  restartsCountTowardsMax: int32('The part of restarts that counts towards maxRestarts.'),
  replicatedJobsStatus: listMap(
    ['name'],
    REPLICATED_JOB_STATUS,
    'Jobs of each ReplicatedJob by state. Updated at once when active or suspended leaves or reaches 0, otherwise after 0.5 s of calm, after 5 s at the latest.',
  ),
  deprecatedEpoch: atLeastZero(
    int32('Workers of this epoch and of all before it must stop and restart in place.'),
  ),
  syncedEpoch: atLeastZero(int32('Workers of this epoch may run.')),
  syncedTime: time('When the current epoch was released.'),
  releasedGeneration: atLeastZero(
    int64('The generation of the spec when the newest epoch was released.'),
  ),
  inPlaceRestarts: int32('How often the group restarted in place.'),
  inPlaceRestartsCountTowardsMax: int32(
    'The part of inPlaceRestarts that counts towards maxRestarts.',
  ),
  previousInPlaceRestartAttempt: atLeastZero(
    int32('deprecatedEpoch for agents that count attempts from 0: one less, absent if negative.'),
  ),
  currentInPlaceRestartAttempt: atLeastZero(
    int32('syncedEpoch for agents that count attempts from 0: one less, absent if negative.'),
  ),
  executionAttempts: atLeastZero(
    int32('How often the JobSet ran again: absent before its first run, 0 during it.'),
  ),
  recordedAnnotations: limited(
    { maxProperties: MAX_RECORDED_ANNOTATIONS },
    map(
      limited({ maxLength: MAX_RECORDED_CHARACTERS }, string()),
      'Annotations that it obeys as they were when it began: lockstep/restart-strategy and lockstep/max-restarts, unless they are in the spec, and defaults of its Namespace.',
    ),
  ),
  restartMode: oneOf(
    RESTART_MODES,
    'How the agents of the group restart workers; annotation lockstep/restart-mode overrides it.',
  ),
  startTime: time(
    'When the JobSet became active: it started, was resumed, or all its Jobs were recreated. Absent while it is suspended.',
  ),
  restartHistory: described(
    'The last restarts of the group, newest first.',
    atomicList(RESTART_RECORD),
  ),
  avoidedNodes: described(
    'Nodes that replaced members have left, newest first.',
    limited({ maxItems: MAX_AVOIDED_NODES }, atomicList(AVOIDED_NODE)),
  ),
  progress: ENDED_PROGRESS,
  goodput: GOODPUT,
  ranks: RANKS,
});

function atLeastZero(schema: JsonSchema): JsonSchema {
  return limited({ minimum: 0 }, schema);
}
