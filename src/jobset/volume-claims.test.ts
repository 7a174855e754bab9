import type { PersistentVolumeClaim } from '@lockstep/kube/objects/core.ts';
import { describe, expect, test } from 'vitest';
import type { DefaultedVolumeClaimPolicy } from './defaults.ts';
import { volumeClaims, withClaimVolumes } from './volume-claims.ts';

const OWNER = { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', name: 'train', uid: 'u' };
const JOBSET = { name: 'train', namespace: 'ml' };

function policy(
  whenDeleted: 'Delete' | 'Retain',
  ...templates: readonly PersistentVolumeClaim['metadata'][]
): DefaultedVolumeClaimPolicy {
  return {
    retentionPolicy: { whenDeleted },
    templates: templates.map((metadata) => ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata,
      spec: { accessModes: ['ReadWriteMany'] },
    })),
  };
}

describe('volume claims', () => {
  test('have the template, the label of the JobSet, and with Delete its ownership', () => {
    const labels = { team: 'a' };
    const claims = volumeClaims(
      JOBSET,
      [
        policy('Delete', { name: 'data', labels, annotations: { b: 'c' } }),
        policy('Retain', { name: 'out' }),
      ],
      OWNER,
    );
    expect(claims.map(({ metadata }) => metadata)).toEqual([
      {
        name: 'data-train',
        namespace: 'ml',
        labels: { ...labels, 'jobset.sigs.k8s.io/jobset-name': 'train' },
        annotations: { b: 'c' },
        ownerReferences: [OWNER],
      },
      {
        name: 'out-train',
        namespace: 'ml',
        labels: { 'jobset.sigs.k8s.io/jobset-name': 'train' },
      },
    ]);
    expect(claims[0]?.spec).toEqual({ accessModes: ['ReadWriteMany'] });
  });

  test('are volumes of the Pods that mount them, in the order of policies and templates', () => {
    const policies = [
      policy('Delete', { name: 'b' }, { name: 'unused' }),
      policy('Retain', { name: 'a' }),
    ];
    const mount = (name: string) => ({ name, mountPath: `/${name}` });
    const spec = {
      volumes: [{ name: 'own', emptyDir: {} }],
      initContainers: [{ name: 'i', volumeMounts: [mount('a')] }],
      containers: [{ name: 'c', volumeMounts: [mount('own'), mount('b')] }],
    };
    expect(withClaimVolumes(spec, policies, 'train').volumes).toEqual([
      { name: 'own', emptyDir: {} },
      { name: 'b', persistentVolumeClaim: { claimName: 'b-train' } },
      { name: 'a', persistentVolumeClaim: { claimName: 'a-train' } },
    ]);
    expect(withClaimVolumes({ containers: [] }, policies, 'train')).toEqual({ containers: [] });
  });
});
