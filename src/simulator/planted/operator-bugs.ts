/** Bugs of the operator around the planner: what it writes, its webhooks, and the tokens of its hub. */
import type { PlantedBug } from './planted-bug.ts';

export const OPERATOR_BUGS: readonly PlantedBug[] = [
  {
    name: 'agents hear of a status before it is written',
    file: 'src/operator/reconciling/status-writer.ts',
    find: '      const written = await client.update(JOBSETS, next,',
    replace:
      "      const early = { ...next.metadata, resourceVersion: String(Number(next.metadata.resourceVersion) + 1) };\n      feed.tell({ kind: 'JobSetSeen', jobSet: { ...next, metadata: early }, isOwn: true });\n      const written = await client.update(JOBSETS, next,",
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
    name: 'an expired token opens a stream',
    file: 'src/operator/hub/pod-token.ts',
    find: "if (typeof exp !== 'number' || exp * 1000 <= expected.nowMs) return invalid('it has expired');",
    replace: '',
    seed: 6,
  },
  {
    name: 'a token for the API server opens a stream',
    file: 'src/operator/hub/pod-token.ts',
    find: "if (!audiences.includes(expected.audience)) return invalid('it is for another audience');",
    replace: '',
    seed: 6,
  },
];
