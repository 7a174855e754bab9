import type { Stored } from '@lockstep/kube/meta.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import type { PodSpec } from '@lockstep/kube/objects/pod.ts';
import { expect, test } from 'vitest';
import { storedJob } from '../../../test/fixtures/jobset-objects.ts';
import { injectAgent } from '../injection/agent-injection.ts';
import type { ContainerMinimums, ContainerResources } from '../injection/agent-resources.ts';
import { resumeOf } from './job-resume.ts';
import { withShareOf } from './kept-share.ts';

const FOUR = { requests: { cpu: '4', memory: '4Gi' } };

function asked(resources: ContainerResources): PodSpec {
  return { containers: [{ name: 'worker', command: ['train'], resources }] };
}

/** A suspended Job with this template. */
function jobWith(resources: ContainerResources, minimums: ContainerMinimums = {}): Stored<Job> {
  const options = { mode: 'Sidecar', image: 'agent', minimums } as const;
  const { template } = injectAgent({ spec: asked(resources) }, options);
  const status = { conditions: [{ type: 'Suspended', status: 'True' }] } as const;
  const job = storedJob('train-w-0', 'w', { suspend: true, status });
  return { ...job, spec: { ...job.spec, template } };
}

/** Made before agents took their share from their workers, and so on top. */
const OLD = jobWith(FOUR, 'Unknown');

test.each([
  ['a Job of an earlier version', OLD, jobWith(FOUR)],
  ['one that shares, in a namespace that demands more by now', jobWith(FOUR), OLD],
])('a resume leaves the resources of %s alone', (_, job, desired) => {
  const resume = resumeOf(job, withShareOf(job, desired, asked(FOUR)), true);
  expect(resume).toMatchObject({ kind: 'Resume', changesResources: false });
});

test('what was changed in the JobSet meanwhile is shared as it is now', () => {
  const eight = { requests: { cpu: '8', memory: '4Gi' } };
  const resume = resumeOf(OLD, withShareOf(OLD, jobWith(eight), asked(eight)), true);
  const template = resume.kind === 'Resume' ? resume.patch.spec['template'] : undefined;
  const requests = { cpu: '7980m', memory: '4032Mi' };
  expect(template).toMatchObject({ spec: { containers: [{ resources: { requests } }] } });
});
