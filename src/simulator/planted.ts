/** Bugs that the simulator has to find. Each replaces one text of one source file. */
export interface PlantedBug {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** The first seed that finds it; absent: it was not looked for among enough of them. */
  readonly seed?: number;
  /** The only faults in that seed, where few seeds of all faults meet what the bug needs. */
  readonly faults?: string;
  /** Arguments of the simulator that find it, where no seed does. */
  readonly systematic?: readonly string[];
}

export const PLANTED: readonly PlantedBug[] = [
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
    seed: 2,
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
    seed: 126,
  },
  {
    name: 'agents hear of a status before it is written',
    file: 'src/operator/reconciling/status-writer.ts',
    find: '      const written = await client.update(JOBSETS, next,',
    replace:
      "      const early = { ...next.metadata, resourceVersion: String(Number(next.metadata.resourceVersion) + 1) };\n      feed.tell({ kind: 'JobSetSeen', jobSet: { ...next, metadata: early }, isOwn: true });\n      const written = await client.update(JOBSETS, next,",
    seed: 1,
  },
  {
    name: 'an agent that crashed joins the epoch in which its worker ran',
    file: 'src/agent/barrier.ts',
    find: ' && marker.started < released;',
    replace: ';',
    seed: 1,
  },
  {
    name: 'a new Pod joins an epoch that was released without it',
    file: 'src/agent/barrier.ts',
    find: 'marker.announced === released && marker.started < released',
    replace: 'marker.started < released',
    seed: 9,
  },
  {
    name: 'a worker runs on while its epoch is over',
    file: 'src/agent/barrier.ts',
    find: 'if (known.deprecated >= stage.epoch) {',
    replace: 'if (known.deprecated > stage.epoch) {',
    seed: 1,
  },
  {
    name: 'a hung worker is not ended',
    file: 'src/agent/agent.ts',
    find: '        body.killHung();',
    replace: '',
    seed: 78,
  },
  {
    name: 'a hello does not repeat the announcement',
    file: 'src/agent/hub-conversation.ts',
    find: 'const told = announcement && sentNow(announcement, this.#heardMs);',
    replace: 'const told = undefined;',
    seed: 1,
  },
  {
    name: 'a supervisor announces before its worker has ended',
    file: 'src/agent/barrier.ts',
    find: "          effects: [{ type: 'stopWorker' }],\n        };\n  }\n  // A worker",
    replace:
      "          effects: [{ type: 'stopWorker' }, { type: 'announce', announcement: { epoch: stage.epoch + 1, starts: 1 } }],\n        };\n  }\n  // A worker",
    seed: 2,
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
    seed: 15,
    faults: 'WorkerSucceeds,WorkerExits',
  },
  {
    name: 'a group waits for no Pod of another ReplicatedJob',
    file: 'src/jobset/epoch/in-place-restart.ts',
    find: "if (!isClear(group, members)) return { kind: 'Wait' };",
    replace: '',
    seed: 2,
  },
  {
    name: 'a suspend leaves announcements that release a group',
    file: 'src/jobset/plan/restart/group-restart.ts',
    find: 'if (decision.needsFreshPods || isChanged) {',
    replace: 'if (decision.needsFreshPods) {',
    faults: 'Suspended,RestartAsked,ApiFault,HubCut',
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
    name: 'an agent does not record that its worker starts',
    file: 'src/agent/barrier.ts',
    find: 'const marker: Marker = { announced: epoch, started: epoch, starts',
    replace: 'const marker: Marker = { announced: epoch, started: state.marker.started, starts',
    seed: 1,
  },
  {
    name: 'an agent takes a silent hub for the end of its Pod',
    file: 'src/agent/hub-channel.ts',
    find: "if (result.type === 'PodGone') {",
    replace: "if (result.type !== 'Answered') {",
    seed: 1,
  },
  {
    name: 'a group ignores its startup order',
    file: 'src/jobset/epoch/in-place-restart.ts',
    find: '(startable === undefined || startable.has(stage.name)),',
    replace: 'true,',
    seed: 2,
  },
  {
    name: 'the end of an epoch is recorded after older ones',
    file: 'src/jobset/epoch/restart-history.ts',
    find: 'return [record, ...(history ?? []).map(inBrief)]',
    replace: 'return [...(history ?? []).map(inBrief), record]',
    seed: 1,
  },
  {
    name: 'a status is written over a newer one',
    file: 'src/operator/reconciling/status-writer.ts',
    find: "await client.update(JOBSETS, next, { subresource: 'status', signal });",
    replace:
      "await client.patch<JobSet>(JOBSETS, { namespace: next.metadata.namespace ?? '', name: next.metadata.name }, { type: 'merge', patch: { status } }, { subresource: 'status', signal });",
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
    seed: 32,
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
    name: 'the probe of a sidecar succeeds before the barrier is lifted',
    file: 'src/agent/sidecar.ts',
    find: 'if (epoch === undefined) await liftedOrTimeUp(request.signal);\n      return epoch === undefined',
    replace: 'return false',
    seed: 4,
  },
  {
    name: 'a sidecar stays although its epoch is over',
    file: 'src/agent/barrier.ts',
    find: "? leave(state, { type: 'EpochOver' })",
    replace: '? stay(state)',
    seed: 4,
  },
  {
    name: 'members with several ranks share some of them',
    file: 'src/jobset/ranks/group-ranks.ts',
    find: 'ranked.firstRank + before * processes;',
    replace: 'ranked.firstRank + before;',
    seed: 20,
  },
  {
    name: 'the webhook lets each change pass',
    file: 'src/operator/webhooks/jobset-webhooks.ts',
    find: '...validateJobSetUpdate(old, jobSet, gates, limits),',
    replace: '',
    seed: 7,
  },
  {
    name: 'the webhook fills in no defaults',
    file: 'src/operator/webhooks/jobset-webhooks.ts',
    find: 'object: defaultJobSet(kept, gates), ...told',
    replace: 'object: kept, ...told',
    seed: 5,
  },
  {
    name: 'JobSets are stored while no webhook answers',
    file: 'src/operator/webhooks/webhook-configurations.ts',
    find: "failurePolicy: 'Fail',",
    replace: "failurePolicy: 'Ignore',",
    seed: 29,
  },
  {
    name: 'an operator ends when a watch of its webhooks fails',
    file: 'src/operator/webhooks/webhooks.ts',
    find: 'this.#lookups = startPodLookups(options);',
    replace:
      'this.#lookups = startPodLookups({ ...options, onFailure: options.cannotListen } as never);',
    seed: 5,
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
  {
    name: 'a worker starts cold beside its promoted standby',
    file: 'src/agent/worker/supervised-worker.ts',
    find: 'this.#processes = promoted ?? this.#processes;',
    replace: 'this.#processes = this.#processes;',
    seed: 10,
  },
  {
    name: 'a standby that died is not replaced',
    file: 'src/agent/worker/standby-plan.ts',
    find: 'return { deaths: before + 1, notBeforeMs: nowMs + backoffMs };',
    replace: "return { refusal: 'Reported', deaths: before + 1, notBeforeMs: nowMs + backoffMs };",
    seed: 1,
    faults: 'StandbyDies',
  },
  {
    name: 'a standby that dies while its promotion is decided is its worker',
    file: 'src/agent/worker/worker-processes.ts',
    find: 'if (this.all.some(({ hasExited }) => hasExited)) return false;',
    replace: '',
    seed: 3,
    faults: 'StandbyDies,WorkerKilled',
  },
  {
    name: 'a standby keeps the ranks of the size before',
    file: 'src/agent/worker/standby-keeper.ts',
    find: 'if (!isSameRanks(processes.ranks, ranks)) {',
    replace: 'if (processes.ranks === undefined && ranks !== undefined) {',
    seed: 20,
    faults: 'Resized,StandbySlow',
  },
];
