import type { PersistentVolumeClaim } from '@lockstep/kube/objects/core.ts';
import { describe, expect, test } from 'vitest';
import type { JobSetSpec, VolumeClaimPolicy } from '../jobset.ts';
import { claim, JOBS, problems, SUBDOMAIN, worker } from './new-jobset.fixture.ts';

/** A JobSet whose only container mounts `mounts`, with volumes of its own. */
function sharing(
  policies: readonly VolumeClaimPolicy[],
  mounts: readonly string[],
  volumes: readonly string[] = [],
): JobSetSpec {
  const volumeMounts = mounts.map((name) => ({ name, mountPath: `/${name}` }));
  const template = {
    spec: {
      containers: [{ name: 'c', volumeMounts }],
      volumes: volumes.map((name) => ({ name, emptyDir: {} })),
    },
  };
  return { ...worker({ template }), volumeClaimPolicies: policies };
}

describe('shared volume claims', () => {
  const TEMPLATE = 'spec.volumeClaimPolicies[0].template';

  test.each<[string, JobSetSpec, readonly string[]]>([
    ['are accepted where somebody mounts them', sharing([{ templates: [claim('a')] }], ['a']), []],
    [
      'need names of their own, over all policies',
      sharing([{ templates: [claim('a')] }, { templates: [claim('a')] }], ['a']),
      [
        'spec.volumeClaimPolicies[1].template[0].name: Invalid value: "a": names must be unique for VolumeClaimPolicies template',
      ],
    ],
    [
      'need names that are subdomains',
      sharing([{ templates: [claim('A')] }], ['A']),
      [`${TEMPLATE}[0].name: Invalid value: "A": ${SUBDOMAIN}`],
    ],
    [
      'need names that leave room for the name of the JobSet',
      sharing([{ templates: [claim('a'.repeat(58))] }], ['a'.repeat(58)]),
      [
        `${TEMPLATE}[0].name: Invalid value: "${'a'.repeat(58)}": VolumeClaimPolicies template name is too long`,
      ],
    ],
    [
      'must not have the name of a volume',
      sharing([{ templates: [claim('a')] }], ['a'], ['b', 'a']),
      [
        `${JOBS}.template.spec.template.spec.volumes[1].name: Invalid value: "a": volume name conflicts with VolumeClaimPolicy template name: a`,
      ],
    ],
    [
      'must be mounted',
      sharing([{ templates: [claim('a')] }], ['b']),
      [
        "spec.replicatedJobs: Invalid value: replicatedJob containers don't have a matching volumeMount: a from VolumeClaimPolicies",
      ],
    ],
    [
      'live in the namespace of the JobSet',
      sharing([{ templates: [{ ...claim('a'), metadata: { name: 'a', namespace: 'b' } }] }], ['a']),
      [
        'spec.volumeClaimPolicies[0].templates[0].metadata.namespace: Forbidden: namespace cannot be set for VolumeClaimPolicies templates',
      ],
    ],
  ])('%s', (_what, spec, expected) => {
    expect(problems(spec)).toEqual(expected);
  });

  const retained = (asked: PersistentVolumeClaim): JobSetSpec =>
    sharing([{ templates: [asked], retentionPolicy: { whenDeleted: 'Retain' } }], ['a']);
  const there = (spec: object): ReadonlyMap<string, PersistentVolumeClaim> => {
    const existing = claim('a-train', spec);
    const metadata = { ...existing.metadata, namespace: 'default' };
    return new Map([['a-train', { ...existing, metadata }]]);
  };

  test('may be there already if they are the same and are retained', () => {
    const asked = { accessModes: ['ReadWriteMany'] };
    const filled = { ...asked, volumeMode: 'Filesystem', storageClassName: 'nfs', volumeName: 'v' };
    expect(problems(retained(claim('a')), {}, {}, there(asked))).toEqual([]);
    expect(problems(retained(claim('a')), {}, {}, there(filled))).toEqual([]);
    expect(
      problems(retained(claim('a', { ...asked, volumeName: 'x' })), {}, {}, there(filled)),
    ).toEqual([
      `${TEMPLATE}[0].spec: Invalid value: {"accessModes":["ReadWriteMany"],"volumeName":"x"}: spec does not match existing PVC a-train in namespace default`,
    ]);
    expect(problems(sharing([{ templates: [claim('a')] }], ['a']), {}, {}, there(asked))).toEqual([
      'spec.volumeClaimPolicies[0].retentionPolicy.whenDeleted: Invalid value: "Delete": retentionPolicy must be retain when PVC exists',
    ]);
  });

  test('of one name that volumes have too are reported once per volume, not per claim', () => {
    const spec = sharing([{ templates: Array.from({ length: 30 }, () => claim('a')) }], ['a']);
    const volumes = Array.from({ length: 30 }, () => ({ name: 'a', emptyDir: {} }));
    const replicatedJobs = spec.replicatedJobs?.map((job) => {
      const { template } = job.template.spec;
      const pod = { ...template, spec: { ...template.spec, volumes } };
      return { ...job, template: { spec: { ...job.template.spec, template: pod } } };
    });
    expect(problems({ ...spec, ...(replicatedJobs && { replicatedJobs }) })).toHaveLength(59);
  });
});
