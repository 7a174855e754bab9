/** How tools that know nothing of JobSets read them: kstatus, and Argo CD by the script of its guide. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Stored } from '@lockstep/kube/meta.ts';
import { applyDefaults } from '@lockstep/kube/schema/defaults.ts';
import { describe, expect, it } from 'vitest';
import { LuaFactory } from 'wasmoon';
import { parse } from 'yaml';
import {
  replicatedJob,
  storedJob,
  storedJobSet,
} from '../../../../test/fixtures/jobset-objects.ts';
import { afterwards, COMPLETE, FAILED, planOf } from '../../../../test/fixtures/planned.ts';
import { WHOLE_JOBSET_SCHEMA } from '../../admit.ts';
import type { JobSet, JobSetSpec } from '../../jobset.ts';
import type { JobSetStatus } from '../../jobset-status.ts';
import type { Snapshot } from '../snapshot.ts';

const SPEC: JobSetSpec = { replicatedJobs: [replicatedJob('w', 2)] };
const IN_PLACE: JobSetSpec = {
  ...SPEC,
  failurePolicy: { maxRestarts: 3, restartStrategy: 'InPlaceRestart' },
};
const RELEASED = { restarts: 0, deprecatedEpoch: 0, syncedEpoch: 1 };
const KNOWS_ALL = { lacks: new Set(['goodput']) };

/** As an API server gives it to readers, after an operator has looked at it. */
function seen(spec: JobSetSpec, status: JobSetStatus, more: Partial<Snapshot> = {}) {
  const jobSet = { ...storedJobSet(spec, { generation: 2 }), status };
  return afterwards(jobSet, planOf(jobSet, { ...KNOWS_ALL, ...more }));
}

function jobOf(status: NonNullable<Stored<JobSet>['status']> | object) {
  return storedJob('js-w-0', 'w', { pods: 2, status });
}

const created = applyDefaults(
  WHOLE_JOBSET_SCHEMA,
  storedJobSet(SPEC, { generation: 1 }),
) as Stored<JobSet>;
const running = seen(SPEC, RELEASED, { jobs: [jobOf({ active: 2, ready: 2 })] });
const wrong = { ...storedJobSet(IN_PLACE, { annotations: { 'lockstep/standby': 'x' } }) };

const JOBSETS: readonly (readonly [string, Stored<JobSet>, string, string])[] = [
  ['has just been created', created, 'InProgress', 'Progressing'],
  ['starts', seen(SPEC, { restarts: 0 }), 'InProgress', 'Progressing'],
  ['is a group that starts', seen(IN_PLACE, { restarts: 0 }), 'InProgress', 'Progressing'],
  ['runs', running, 'Current', 'Healthy'],
  ['is a group that runs', seen(IN_PLACE, RELEASED), 'Current', 'Healthy'],
  [
    'restarts in place',
    seen(IN_PLACE, { ...RELEASED, deprecatedEpoch: 1 }),
    'InProgress',
    'Progressing',
  ],
  [
    'has a new spec',
    { ...running, metadata: { ...running.metadata, generation: 3 } },
    'InProgress',
    'Progressing',
  ],
  ['is suspended', seen({ ...SPEC, suspend: true }, { restarts: 0 }), 'InProgress', 'Suspended'],
  ['is complete', seen(SPEC, RELEASED, { jobs: [jobOf(COMPLETE)] }), 'Current', 'Healthy'],
  ['has failed', seen(SPEC, RELEASED, { jobs: [jobOf(FAILED)] }), 'Failed', 'Degraded'],
  ['is rejected', afterwards(wrong, planOf(wrong, KNOWS_ALL)), 'Failed', 'Degraded'],
];

/** The rules of kstatus for kinds that it does not know, in their order. */
function kstatus({ metadata, status = {} }: Stored<JobSet>): string {
  const { observedGeneration, conditions = [] } = status;
  const { generation = 0 } = metadata;
  const said = (type: string) => conditions.find((each) => each.type === type)?.status;
  if (observedGeneration !== undefined && observedGeneration < generation) return 'InProgress';
  if (said('Reconciling') === 'True') return 'InProgress';
  if (said('Stalled') === 'True') return 'Failed';
  const ready = said('Ready');
  return ready === undefined || ready === 'True' ? 'Current' : 'InProgress';
}

describe('kstatus', () => {
  it.each(JOBSETS)('of a JobSet that %s', (_, jobSet, expected) => {
    expect(kstatus(jobSet)).toBe(expected);
  });
});

describe('the health script of docs/argo-cd.md', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/argo-cd.md'), 'utf8');
  const [, yaml = ''] = /```yaml\n(data:[\s\S]*?)```/.exec(page) ?? [];
  const { data } = parse(yaml) as { readonly data: Readonly<Record<string, string>> };
  const script = data['resource.customizations.health.jobset.x-k8s.io_JobSet'] ?? '';

  async function healthOf(jobSet: object): Promise<{ status: string; message: string }> {
    // Argo CD gives plain tables, not proxies of objects.
    const lua = await new LuaFactory().createEngine({ enableProxy: false });
    try {
      lua.global.set('obj', jobSet);
      return (await lua.doString(script)) as { status: string; message: string };
    } finally {
      lua.global.close();
    }
  }

  it.each(JOBSETS)('of a JobSet that %s', async (_, jobSet, _kstatus, expected) => {
    const { status, message } = await healthOf(jobSet);
    expect(status).toBe(expected);
    expect(message).not.toBe('');
  });

  it('gives the reason of a failure, and waits for an operator that has said nothing', async () => {
    const failed = seen(SPEC, RELEASED, { jobs: [jobOf(FAILED)] });
    expect((await healthOf(failed)).message).toContain('js-w-0');
    expect(await healthOf(storedJobSet(SPEC))).toMatchObject({ status: 'Progressing' });
  });
});
