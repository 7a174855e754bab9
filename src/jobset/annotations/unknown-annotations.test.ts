import { formatFieldError } from '@lockstep/kube/field-error.ts';
import { describe, expect, it } from 'vitest';
import { storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import { afterwards, planOf } from '../../../test/fixtures/planned.ts';
import { DEFAULT_FEATURE_GATES } from '../feature-gates.ts';
import type { JobSet } from '../jobset.ts';
import { worker } from '../validation/new-jobset.fixture.ts';
import {
  jobSetWarnings,
  validateJobSetCreate,
  validateJobSetUpdate,
} from '../validation/validation.ts';

const POD = 'spec.replicatedJobs[0].template.spec.template.metadata';
const UNKNOWN = 'Forbidden: no annotation of this version of Lockstep';

function refused(jobSet: JobSet, old?: JobSet): readonly string[] {
  const errors =
    old === undefined
      ? validateJobSetCreate(jobSet, DEFAULT_FEATURE_GATES)
      : validateJobSetUpdate(old, jobSet, DEFAULT_FEATURE_GATES);
  return errors.map(formatFieldError);
}

function annotated(...keys: readonly string[]): ReturnType<typeof storedJobSet> {
  const annotations = Object.fromEntries(keys.map((key) => [key, '1']));
  return storedJobSet(worker({}), { annotations });
}

function withTemplate(...keys: readonly string[]): ReturnType<typeof storedJobSet> {
  const annotations = Object.fromEntries(keys.map((key) => [key, '1']));
  const template = { metadata: { annotations }, spec: { containers: [{ name: 'c' }] } };
  return storedJobSet(worker({ template }));
}

describe('a new JobSet', () => {
  it.each([
    ['lockstep/progress-timout', '; did you mean lockstep/progress-timeout?'],
    ['lockstep/restart-modus', '; did you mean lockstep/restart-mode?'],
    [
      'lockstep/max-restart-without-progress',
      '; did you mean lockstep/max-restarts-without-progress?',
    ],
    ['lockstep/Standby', '; did you mean lockstep/standby?'],
    ['lockstep/colour', ''],
    ['lockstep/', ''],
  ])('is refused with %s', (key, question) => {
    expect(refused(annotated(key))).toEqual([
      `metadata.annotations[${key}]: ${UNKNOWN}${question}`,
    ]);
  });

  it('is refused with one in a Pod template or a Job template', () => {
    expect(refused(withTemplate('lockstep/agent-containr'))).toEqual([
      `${POD}.annotations[lockstep/agent-containr]: ${UNKNOWN}; did you mean lockstep/agent-container?`,
    ]);
    const [job] = worker({}).replicatedJobs ?? [];
    const template = { ...job?.template, metadata: { annotations: { 'lockstep/x': '' } } };
    const spec = { replicatedJobs: [{ ...job, template }] } as unknown as JobSet['spec'] & object;
    expect(refused(storedJobSet(spec))).toEqual([
      `spec.replicatedJobs[0].template.metadata.annotations[lockstep/x]: ${UNKNOWN}`,
    ]);
  });

  it('may have keys of others, and those that agents write on Pods', () => {
    expect(refused(annotated('example.com/restart-modus', 'lockstep.example.com/x'))).toEqual([]);
    expect(refused(withTemplate('lockstep/agent-starts', 'lockstep/notice'))).toEqual([]);
  });

  it('is refused with few words for many keys, and for one of a megabyte', () => {
    const many = Array.from({ length: 1_000 }, (_, index) => `lockstep/x${index}`);
    expect(refused(annotated(...many))).toHaveLength(5);
    const [error = ''] = refused(annotated(`lockstep/${'x'.repeat(1_000_000)}`));
    expect(error.length).toBeLessThan(200);
  });
});

describe('a change', () => {
  it('is refused if it adds one, however many there are', () => {
    const stored = Array.from({ length: 10 }, (_, index) => `lockstep/x${index}`);
    expect(refused(annotated(...stored, 'lockstep/z'), annotated(...stored))).toEqual([
      `metadata.annotations[lockstep/z]: ${UNKNOWN}`,
    ]);
    expect(refused(withTemplate('lockstep/z'), withTemplate())).toContain(
      `${POD}.annotations[lockstep/z]: ${UNKNOWN}`,
    );
  });

  it('may keep, change and remove what a newer version or no webhook has stored', () => {
    const old = annotated('lockstep/x', 'lockstep/y');
    const { metadata } = old;
    const changed = { ...old, metadata: { ...metadata, annotations: { 'lockstep/x': '2' } } };
    expect(refused(changed, old)).toEqual([]);
  });
});

describe('a stored JobSet', () => {
  const told = (jobSet: ReturnType<typeof storedJobSet>) =>
    planOf(jobSet).status?.conditions?.find(({ type }) => type === 'UnknownAnnotations');

  it('tells of keys that are unknown, and otherwise does what it would', () => {
    const jobSet = annotated('lockstep/progress-timout', 'lockstep/colour');
    const text = 'Forbidden: no annotation of this version of Lockstep';
    expect(told(jobSet)).toMatchObject({
      status: 'True',
      reason: 'UnknownKeys',
      message:
        `without effect: metadata.annotations[lockstep/progress-timout]: ${text}; did you mean ` +
        `lockstep/progress-timeout?; metadata.annotations[lockstep/colour]: ${text}`,
    });
    expect(planOf(jobSet).actions).toEqual(planOf(annotated()).actions);
    expect(told(annotated())).toBeUndefined();
    const { metadata, ...rest } = afterwards(jobSet, planOf(jobSet));
    const corrected = { ...rest, metadata: { ...metadata, annotations: {} } };
    expect(told(corrected)).toMatchObject({ status: 'False', reason: 'AllKnown' });
  });
});

describe('a known key in another place', () => {
  it('is warned of, because wrappers copy annotations', () => {
    const warning = `${POD}.annotations[lockstep/restart-mode] has no effect: it belongs in the metadata of the JobSet`;
    expect(refused(withTemplate('lockstep/restart-mode'))).toEqual([]);
    expect(jobSetWarnings(withTemplate('lockstep/restart-mode'))).toEqual([warning]);
  });
});
