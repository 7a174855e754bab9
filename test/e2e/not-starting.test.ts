/** Why no member of a group starts, as the condition says it on this Kubernetes with its own scheduler. */
import { execFileSync } from 'node:child_process';
import type { Condition } from '@lockstep/kube/meta.ts';
import { NODES } from '@lockstep/kube/objects/node.ts';
import type { PodSpec } from '@lockstep/kube/objects/pod.ts';
import { expect, it } from 'vitest';
import type { JobSet } from '../../src/jobset/jobset.ts';
import { AGENT_MODES } from '../kubernetes.ts';
import { LOCKSTEP } from './local-cluster.fixture.ts';
import { workerGroups } from './worker-groups.fixture.ts';

const LABEL = 'lockstep-test/has-room';

const groups = workerGroups();

function withPods(more: Partial<PodSpec>): (jobSet: JobSet) => JobSet {
  return (jobSet) => {
    const replicatedJobs = (jobSet.spec.replicatedJobs ?? []).map((job) => {
      const { spec } = job.template;
      const template = { ...spec.template, spec: { ...spec.template.spec, ...more } };
      return { ...job, template: { ...job.template, spec: { ...spec, template } } };
    });
    return { ...jobSet, spec: { ...jobSet.spec, replicatedJobs } };
  };
}

async function label(value: string | null): Promise<void> {
  const { client } = groups.cluster;
  const { items } = await client.list(NODES);
  const patch = { metadata: { labels: { [LABEL]: value } } };
  for (const { metadata } of items) {
    await client.patch(NODES, { name: metadata.name }, { type: 'merge', patch });
  }
}

it('members for which no node has room are reported, until one has', async () => {
  const [mode] = AGENT_MODES;
  const of = await groups.start({
    name: 'roomless',
    size: 2,
    mode,
    edit: withPods({ nodeSelector: { [LABEL]: 'yes' } }),
  });
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

it('a Pod that may not be made is reported in the words of the API server', async () => {
  const [mode] = AGENT_MODES;
  const edit = withPods({ serviceAccountName: 'nobody' });
  const of = await groups.start({ name: 'refused', size: 2, mode, edit });
  await of.until('it is told', () =>
    (of.status.conditions ?? []).some(({ reason }) => reason === 'PodNotCreated'),
  );
  const { kubeconfig } = groups.cluster;
  const argv = [LOCKSTEP, 'status', 'refused', '--kubeconfig', kubeconfig];
  expect(execFileSync(process.execPath, argv, { encoding: 'utf8' })).toMatch(
    /^ {2}newest Event of Job refused-\S+: FailedCreate: .*serviceaccount "nobody" not found.* ago\)$/m,
  );
});
