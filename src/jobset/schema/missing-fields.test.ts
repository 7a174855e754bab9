import { describe, expect, test } from 'vitest';
import { definitionWithout } from '../../../test/fixtures/older-definition.ts';
import { JOBSET_CRD } from './crd.ts';
import { missingStatusFields, statusOnly } from './missing-fields.ts';

describe('a stored definition', () => {
  test('of this version lacks nothing', () => {
    expect(missingStatusFields(JOBSET_CRD)).toEqual([]);
  });

  test('of an earlier version lacks what it does not have, also in lists', () => {
    const older = definitionWithout('goodput', 'progress.step', 'restartHistory.suspects');
    expect(missingStatusFields(older).toSorted()).toEqual([
      'goodput',
      'progress.step',
      'restartHistory[].suspects',
    ]);
  });

  test('with more than we know lacks nothing', () => {
    const { properties } = statusSchema(JOBSET_CRD) ?? {};
    const newer = withStatus({ properties: { ...properties, later: { type: 'string' } } });
    expect(missingStatusFields(newer)).toEqual([]);
    const lax = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const;
    expect(missingStatusFields(withStatus(lax))).toEqual([]);
  });

  test('without a schema or without our version lacks everything', () => {
    const all = Object.keys(statusSchema(JOBSET_CRD)?.properties ?? {});
    expect(missingStatusFields(withStatus({}))).toEqual(all);
    const other = JOBSET_CRD.spec.versions.map((one) => ({ ...one, name: 'v1' }));
    const spec = { ...JOBSET_CRD.spec, versions: other };
    expect(missingStatusFields({ ...JOBSET_CRD, spec })).toEqual(all);
  });

  test('is kept without what is not compared', () => {
    const older = definitionWithout('goodput');
    const kept = { ...older, spec: statusOnly(older) };
    expect(missingStatusFields(kept)).toEqual(['goodput']);
    expect(JSON.stringify(kept).length).toBeLessThan(JSON.stringify(older).length / 5);
  });
});

function statusSchema({ spec }: typeof JOBSET_CRD) {
  return spec.versions[0]?.schema?.openAPIV3Schema?.properties?.['status'];
}

function withStatus(status: object): typeof JOBSET_CRD {
  const versions = JOBSET_CRD.spec.versions.map((one) => ({
    ...one,
    schema: { openAPIV3Schema: { properties: { status } } },
  }));
  return { ...JOBSET_CRD, spec: { ...JOBSET_CRD.spec, versions } };
}
