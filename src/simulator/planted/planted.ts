/**
 * Bugs that the simulator has to find, in the planner: epochs and releases, failures and restarts, Jobs and sums.
 * The files beside this one have the bugs of other parts.
 */
import { AGENT_BUGS } from './agent-bugs.ts';
import { LEAVING_BUGS } from './leaving-bugs.ts';
import { OPERATOR_BUGS } from './operator-bugs.ts';
import type { PlantedBug } from './planted-bug.ts';

export const PLANTED: readonly PlantedBug[] = [
  ...OPERATOR_BUGS,
  ...AGENT_BUGS,
  ...LEAVING_BUGS,
  {
    name: 'a group is released before all members have announced',
    file: 'src/jobset/epoch/in-place-restart.ts',
    find: 'pods.liveAt(epoch) === stage.parallelism &&',
    replace: 'pods.liveAt(epoch) > 0 &&',
    seed: 3,
  },
  {
    name: 'a missing Pod does not delay a release',
    file: 'src/jobset/epoch/in-place-restart.ts',
    find: 'pods.live === stage.parallelism &&\n      pods.liveAt(epoch) === stage.parallelism &&',
    replace: 'pods.liveAt(epoch) === pods.live &&',
    seed: 5,
  },
  {
    name: 'a Pod of an older epoch does not delay a release',
    file: 'src/jobset/epoch/in-place-restart.ts',
    find: 'if (older > 0 || pods.doubledSlots > 0) return false;',
    replace: 'if (pods.doubledSlots > 0) return false;',
    seed: 1,
  },
  {
    name: 'each failure is charged twice',
    file: 'src/jobset/plan/ending/epoch-end.ts',
    find: '(isInPlace && end.counted ? 1 : 0)',
    replace: '(isInPlace && end.counted ? 2 : 0)',
    seed: 1,
  },
  {
    name: 'a restart that a user asked for is charged',
    file: 'src/jobset/plan/ending/epoch-end.ts',
    find: '(isInPlace && end.counted ? 1 : 0)',
    replace: '(isInPlace ? 1 : Number(end.isRequested === true))',
    seed: 3,
  },
  {
    name: 'the budget of restarts is ignored',
    file: 'src/jobset/plan/records/why-no-restart.ts',
    find: 'if (countedRestarts(facts.status) >= allowedRestarts(facts.jobSet)) {',
    replace: 'if (countedRestarts(facts.status) > allowedRestarts(facts.jobSet)) {',
    seed: 14,
  },
  {
    name: 'namespaces of owners are not compared',
    file: 'src/jobset/membership.ts',
    find: ' && a.name === b.name && a.namespace === b.namespace',
    replace: ' && a.name === b.name',
    seed: 21,
  },
  {
    name: 'the time of restarts is in no sum',
    file: 'src/jobset/goodput/account.ts',
    find: "  Restarting: 'restartingMs',",
    replace: "  Restarting: 'ignoredMs' as 'restartingMs',",
    seed: 1,
  },
  {
    name: 'likely culprits are called certain',
    file: 'src/jobset/culprits/end-rules.ts',
    find: "return missed.map(({ member }) => ({ member, why, confidence: 'Likely' }));",
    replace: "return missed.map(({ member }) => ({ member, why, confidence: 'Certain' }));",
    seed: 1,
    faults: 'WorkerSucceeds,WorkerExits',
  },
  {
    name: 'a group waits for no Pod of another ReplicatedJob',
    file: 'src/jobset/epoch/in-place-restart.ts',
    find: "if (!isClear(group, members)) return { kind: 'Wait' };",
    replace: '',
    seed: 1,
  },
  {
    name: 'a fresh list of Pods forgets what agents said over the hub',
    file: 'src/jobset/roster/roster.ts',
    find: 'counts.observe(newestFacts(facts, this.#pods.get(facts.uid)?.said), wallMs);',
    replace: 'counts.observe(facts, wallMs);',
    seed: 2,
  },
  {
    name: 'a suspend leaves announcements that release a group',
    file: 'src/jobset/plan/restart/group-restart.ts',
    find: 'if (decision.needsFreshPods || isChanged) {',
    replace: 'if (decision.needsFreshPods) {',
    scenario: {
      seed: 3,
      jobs: [{ name: 'a', replicas: 1, pods: 2 }],
      nodes: 1,
      operators: 2,
      maxRestarts: 1000,
      isInOrder: false,
      acts: [
        {
          atMs: 157_738,
          act: { kind: 'ApiFault', to: 'Operators', fault: 'LateWatches', forMs: 30_463 },
        },
        { atMs: 159_305, act: { kind: 'ControllersDown', forMs: 19_300 } },
        { atMs: 160_000, act: { kind: 'RestartAsked' } },
        { atMs: 161_074, act: { kind: 'Suspended', forMs: 10_450 } },
        { atMs: 217_781, act: { kind: 'StreamsReset' } },
      ],
    },
  },
  {
    name: 'one restart too few is allowed',
    file: 'src/jobset/plan/records/why-no-restart.ts',
    find: 'if (countedRestarts(facts.status) >= allowedRestarts(facts.jobSet)) {',
    replace: 'if (countedRestarts(facts.status) + 1 >= allowedRestarts(facts.jobSet)) {',
    seed: 13,
  },
  {
    name: 'a restart that a user asked for is repeated',
    file: 'src/jobset/epoch/restart-request.ts',
    find: 'requested === String(group.epoch) &&',
    replace: 'Number(requested) <= group.epoch &&',
    seed: 3,
  },
  {
    name: 'a group ignores its startup order',
    file: 'src/jobset/epoch/in-place-restart.ts',
    find: '(startable === undefined || startable.has(stage.name)),',
    replace: 'true,',
    seed: 1,
  },
  {
    name: 'the end of an epoch is recorded after older ones',
    file: 'src/jobset/epoch/restart-history.ts',
    find: 'return [record, ...(history ?? []).map(inBrief)]',
    replace: 'return [...(history ?? []).map(inBrief), record]',
    seed: 1,
  },
  {
    name: 'the end of an epoch has no witness',
    file: 'src/jobset/plan/ending/epoch-end.ts',
    find: '...(witness === undefined ? {} : { witness: witness.record }),',
    replace: '',
    seed: 1,
  },
  {
    name: 'a new size is a failure',
    file: 'src/jobset/plan/restart/group-restart.ts',
    find: 'if (!hasFailed && (isScaling(facts) || hasOtherRanks(facts))) return endForSize(facts);',
    replace: '',
    seed: 2,
  },
  {
    name: 'a resume is a failure',
    file: 'src/jobset/plan/restart/group-restart.ts',
    find: '  endForResume,\n',
    replace: '',
    seed: 1,
    faults: 'Suspended',
  },
  {
    name: 'a group completes with its first Job',
    file: 'src/jobset/plan/ending/success-policy.ts',
    find: 'return reached >= expected;',
    replace: 'return reached >= Math.min(1, expected);',
    seed: 2,
    faults: 'WorkerSucceeds',
  },
  {
    name: 'members with several ranks share some of them',
    file: 'src/jobset/ranks/group-ranks.ts',
    find: 'ranked.firstRank + before * processes;',
    replace: 'ranked.firstRank + before;',
    seed: 20,
  },
  {
    name: 'an operator that dies while it suspends Jobs leaves the others running',
    file: 'src/jobset/plan/jobs/suspend.ts',
    find: 'export function suspendJobs({ spec, children }: Facts): readonly Decision[] {\n  if (!spec.suspend) return [];',
    replace:
      "export function suspendJobs({ spec, children, status }: Facts): readonly Decision[] {\n  if (!spec.suspend || isTrue(status.conditions, 'Suspended')) return [];",
    systematic: [
      '--decisions',
      '--only',
      'changes and runs: DiesBefore PATCH /apis/batch/v1/namespaces/default/jobs/train-a-0 #1',
    ],
  },
  {
    name: 'a resumed Job keeps what its template has lost',
    file: 'src/jobset/child-jobs/job-resume.ts',
    find: 'const removed = Object.keys(present).filter((key) => wanted[key] === undefined);',
    replace: 'const removed: readonly string[] = [];',
    systematic: [
      '--mutations',
      '--only',
      'Suspended: remove /spec/replicatedJobs/0/template/spec/template/metadata/annotations/note',
    ],
  },
];
