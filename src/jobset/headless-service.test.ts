import type { Service } from '@lockstep/kube/objects/core.ts';
import { describe, expect, test } from 'vitest';
import { withDefaults } from './defaults.ts';
import { headlessService, serviceProblem } from './headless-service.ts';
import type { JobSetSpec } from './jobset.ts';

const OWNER = { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', name: 'train', uid: 'u' };
const service = (network: NonNullable<JobSetSpec['network']>) =>
  headlessService({ name: 'train', namespace: 'ml' }, withDefaults({ network }), OWNER);

describe('network', () => {
  test('is a headless Service without ports, named as the subdomain', () => {
    expect(service({ publishNotReadyAddresses: false, subdomain: 'net' })).toEqual({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'net', namespace: 'ml', ownerReferences: [OWNER] },
      spec: {
        clusterIP: 'None',
        selector: { 'jobset.sigs.k8s.io/jobset-name': 'train' },
        publishNotReadyAddresses: false,
      },
    });
  });

  test('is none if the JobSet wants no host names', () => {
    expect(service({ enableDNSHostnames: false })).toBeUndefined();
  });

  const wanted = service({});
  if (wanted === undefined) throw new Error('no Service');
  const existing = (spec: Service['spec']): Service => ({ ...wanted, ...(spec && { spec }) });
  const ASKED = 'expected jobset.sigs.k8s.io/jobset-name=train: the Pods have no DNS names';
  test.each([
    ['made for this JobSet is used', wanted.spec, undefined],
    ['with another selector is reported', { selector: { app: 'x' } }, `selects app=x, ${ASKED}`],
    ['without a selector is reported', {}, `has no selector, ${ASKED}`],
    [
      'with an address of its own is reported',
      { ...wanted.spec, clusterIP: '10.0.0.7' },
      'is not headless: the Pods have no DNS names',
    ],
  ])('an existing Service %s', (_what, spec, problem) => {
    const text = problem === undefined ? undefined : `Service train ${problem}`;
    expect(serviceProblem(existing(spec), wanted)).toBe(text);
  });
});
