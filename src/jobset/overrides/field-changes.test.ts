import { describe, expect, it } from 'vitest';
import type { FailurePolicy, JobSet } from '../jobset.ts';
import type { JobSetStatus } from '../jobset-status.ts';
import { fieldChangeErrors, withKeptFields } from './field-changes.ts';

const KEY = 'lockstep/restart-strategy';
const IN_PLACE = { restartStrategy: 'InPlaceRestart', maxRestarts: 3 } as const;
const RECREATE = { restartStrategy: 'Recreate', maxRestarts: 3 } as const;

function jobSet(policy?: FailurePolicy, value?: string, status?: JobSetStatus): JobSet {
  return {
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    metadata: { name: 'train', ...(value && { annotations: { [KEY]: value } }) },
    spec: policy === undefined ? {} : { failurePolicy: policy },
    ...(status && { status }),
  };
}

describe('an update', () => {
  it.each<[string, JobSet, JobSet, unknown]>([
    [
      'sets the field again that a wrapper sends as it knows it',
      jobSet(IN_PLACE, 'InPlaceRestart'),
      jobSet(RECREATE, 'InPlaceRestart'),
      IN_PLACE,
    ],
    [
      'sets it again if the wrapper sends none',
      jobSet({ restartStrategy: 'InPlaceRestart' }, 'InPlaceRestart'),
      jobSet(undefined, 'InPlaceRestart'),
      { restartStrategy: 'InPlaceRestart' },
    ],
    [
      'leaves a field that the annotation never set',
      jobSet(RECREATE, 'InPlaceRestart'),
      jobSet(RECREATE, 'InPlaceRestart'),
      RECREATE,
    ],
    [
      'leaves it to a refusal if the annotation is new',
      jobSet(RECREATE),
      jobSet(RECREATE, 'InPlaceRestart'),
      RECREATE,
    ],
    ['changes nothing without annotations', jobSet(IN_PLACE), jobSet(RECREATE), RECREATE],
  ])('%s', (_, old, next, expected) => {
    expect(withKeptFields(old, next).spec.failurePolicy).toEqual(expected);
  });

  const recorded = { restarts: 0, recordedAnnotations: { [KEY]: 'InPlaceRestart' } };
  it.each<[string, JobSet, JobSet, boolean]>([
    [
      'that keeps the annotation passes',
      jobSet(IN_PLACE, 'InPlaceRestart'),
      jobSet(RECREATE, 'InPlaceRestart'),
      true,
    ],
    [
      'that changes it is refused',
      jobSet(IN_PLACE, 'InPlaceRestart'),
      jobSet(IN_PLACE, 'Recreate'),
      false,
    ],
    ['that takes it away is refused', jobSet(IN_PLACE, 'InPlaceRestart'), jobSet(IN_PLACE), false],
    ['that adds one is refused', jobSet(RECREATE), jobSet(RECREATE, 'InPlaceRestart'), false],
    [
      'that adds what is so anyway passes',
      jobSet(IN_PLACE),
      jobSet(IN_PLACE, 'InPlaceRestart'),
      true,
    ],
    [
      'that takes away what never counted passes',
      jobSet(RECREATE, 'inplace'),
      jobSet(RECREATE),
      true,
    ],
    [
      'that takes away what the status recorded is refused',
      jobSet(RECREATE, 'InPlaceRestart', recorded),
      jobSet(RECREATE),
      false,
    ],
    [
      'that adds what the status recorded passes',
      jobSet(RECREATE, undefined, recorded),
      jobSet(RECREATE, 'InPlaceRestart'),
      true,
    ],
  ])('%s', (_, old, next, passes) => {
    const errors = fieldChangeErrors(old, next);
    expect(errors).toHaveLength(passes ? 0 : 1);
    if (!passes) expect(errors[0]?.field).toBe(`metadata.annotations[${KEY}]`);
  });
});
