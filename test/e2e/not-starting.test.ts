/** Why no member of a group starts, as the condition says it on this Kubernetes with its own scheduler. */
import { expect, it } from 'vitest';
import type { JobSet } from '../../src/jobset/jobset.ts';
import type { Condition } from '../../src/kube/meta.ts';
import { NODES } from '../../src/kube/objects/node.ts';
import { AGENT_MODES } from '../kubernetes.ts';
import { workerGroups } from './worker-groups.fixture.ts';

const LABEL = 'lockstep-test/has-room';

const groups = workerGroups();

/** On nodes with a label that none has yet. */
function forRoom(jobSet: JobSet): JobSet {
  const replicatedJobs = (jobSet.spec.replicatedJobs ?? []).map((job) => {
    const { spec } = job.template;
    const pod = { ...spec.template.spec, nodeSelector: { [LABEL]: 'yes' } };
    const template = { ...spec.template, spec: pod };
    return { ...job, template: { ...job.template, spec: { ...spec, template } } };
  });
  return { ...jobSet, spec: { ...jobSet.spec, replicatedJobs } };
}

async function label(value: string | null): Promise<void> {
  const { client } = groups.cluster;
  const { items } = await client.list(NODES);
  const patch = { metadata: { labels: { [LABEL]: value } } };
  for (const { metadata } of items) {
    await client.patch(NODES, { name: metadata.name }, { type: 'merge', patch });
  }
}

it('members for which no node has room are told, until one has', async () => {
  const [mode] = AGENT_MODES;
  const of = await groups.start({ name: 'roomless', size: 2, mode, edit: forRoom });
  const told = (): Condition | undefined =>
    of.status.conditions?.find(({ type }) => type === 'MemberNotStarting');
  await of.until('it is told', () => told()?.status === 'True');
  expect(told()).toMatchObject({
    reason: 'Unschedulable',
    message: expect.stringMatching(/^Pod roomless-\S+ does not start: Unschedulable: .+/),
  });
  await label('yes');
  try {
    await of.running(1);
    await of.until('it is over', () => told()?.status === 'False');
  } finally {
    await label(null);
  }
});
