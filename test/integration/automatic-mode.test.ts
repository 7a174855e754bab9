import type { Stored } from '@lockstep/kube/meta.ts';
import { JOBS, type Job } from '@lockstep/kube/objects/job.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { JOBSETS } from '../../src/jobset/jobset.ts';
import { AGENT_CONTAINER_NAME, RESTART_MODE } from '../../src/jobset/names.ts';
import { GroupUnderTest } from './group-under-test.fixture.ts';
import { THREE_WORKERS, WORKERS } from './three-workers.fixture.ts';

let group: GroupUnderTest;
/** The mode in the status when each Job was made. */
let recorded: (string | undefined)[];

const TRAIN = { namespace: 'default', name: 'train' };
const FIRST_JOB = { namespace: 'default', name: 'train-w-0' };

beforeEach(async () => {
  group = new GroupUnderTest();
  recorded = [];
  group.asOperator = observed;
  await group.start();
});

afterEach(() => group.stop());

function observed(client: Client): Client {
  return new Proxy(client, {
    get: (target, key: keyof Client) => {
      if (key !== 'create') return target[key].bind(target);
      const create: Client['create'] = async (of, object, options) => {
        if (of.plural === JOBS.plural) {
          recorded.push((await group.cluster.client.get(JOBSETS, TRAIN)).status?.restartMode);
        }
        return target.create(of, object, options);
      };
      return create;
    },
  });
}

function modeOf({ spec }: Job): string {
  const { initContainers = [] } = spec.template.spec;
  return initContainers.some(({ name }) => name === AGENT_CONTAINER_NAME)
    ? 'Sidecar'
    : 'Supervisor';
}

async function remadeJob(): Promise<Stored<Job>> {
  const { client } = group.cluster;
  const { uid } = (await client.get(JOBS, FIRST_JOB)).metadata;
  await client.delete(JOBS, FIRST_JOB, { propagationPolicy: 'Background' });
  const current = async (): Promise<Stored<Job> | undefined> => {
    const { items } = await client.list(JOBS, { namespace: FIRST_JOB.namespace });
    return items.find(({ metadata }) => metadata.uid !== uid);
  };
  await group.cluster.until(async () => (await current()) !== undefined);
  return client.get(JOBS, FIRST_JOB);
}

test('without webhooks, the status records the mode before the first Job is made', async () => {
  await group.create(THREE_WORKERS);
  await group.allIn(1, WORKERS);
  expect(recorded).toEqual(['Supervisor']);
  expect((await group.jobSet()).metadata.annotations?.[RESTART_MODE]).toBeUndefined();
  expect(modeOf(await group.cluster.client.get(JOBS, FIRST_JOB))).toBe('Supervisor');
});

test('a group that an earlier version has started stays as it is when a Job is recreated', async () => {
  await group.create(THREE_WORKERS, { [RESTART_MODE]: 'Sidecar' });
  await group.allIn(1, WORKERS);
  await group.stopOperator();
  // The earlier version had another default, and stored it.
  const { client } = group.cluster;
  await group.patch({ metadata: { annotations: { [RESTART_MODE]: null } } });
  const status = { restartMode: null };
  const patch = { type: 'merge', patch: { status } } as const;
  await client.patch(JOBSETS, TRAIN, patch, { subresource: 'status' });
  await group.startOperator();
  expect(modeOf(await remadeJob())).toBe('Sidecar');
  await group.allIn(2, WORKERS);
  expect((await group.jobSet()).status?.restartMode).toBe('Sidecar');
});
