/** The schema against upstream's API: fields, types, limits and markers. */

import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { describe, expect, test } from 'vitest';
import { JOBSET_SCHEMA } from './schema.ts';

const IMMUTABLE = 'immutable';

/** One line for each field that upstream documents: its path, then its schema. */
const UPSTREAM = `
spec.replicatedJobs                              array map=name
spec.replicatedJobs[].name                       string required
spec.replicatedJobs[].groupName                  string default="default"
spec.replicatedJobs[].template                   object required
spec.replicatedJobs[].replicas                   int32 default=1 minimum=0
spec.replicatedJobs[].dependsOn                  array map=name maxItems=5 immutable
spec.replicatedJobs[].dependsOn[].name           string required
spec.replicatedJobs[].dependsOn[].status         string required enum=Ready,Complete
spec.network                                     object immutable
spec.network.enableDNSHostnames                  boolean
spec.network.subdomain                           string
spec.network.publishNotReadyAddresses            boolean
spec.successPolicy                               object immutable
spec.successPolicy.operator                      string required enum=All,Any
spec.successPolicy.targetReplicatedJobs          array atomic
spec.failurePolicy                               object immutable
spec.failurePolicy.maxRestarts                   int32 default=0
spec.failurePolicy.restartStrategy               string default="Recreate" enum=Recreate,BlockingRecreate,InPlaceRestart
spec.failurePolicy.rules                         array atomic
spec.failurePolicy.rules[].name                  string required
spec.failurePolicy.rules[].action                string required enum=FailJobSet,RestartJobSet,RestartJobSetAndIgnoreMaxRestarts,RestartJob,RestartJobAndIgnoreMaxRestarts
spec.failurePolicy.rules[].onJobFailureReasons   array atomic
spec.failurePolicy.rules[].onJobFailureMessagePatterns array atomic
spec.failurePolicy.rules[].targetReplicatedJobs  array atomic
spec.startupPolicy                               object immutable
spec.startupPolicy.startupPolicyOrder            string required enum=AnyOrder,InOrder
spec.suspend                                     boolean
spec.coordinator                                 object
spec.coordinator.replicatedJob                   string required
spec.coordinator.jobIndex                        int64
spec.coordinator.podIndex                        int64
spec.managedBy                                   string
spec.ttlSecondsAfterFinished                     int32 minimum=0
spec.volumeClaimPolicies                         array atomic maxItems=50 immutable
spec.volumeClaimPolicies[].templates             array atomic maxItems=50
spec.volumeClaimPolicies[].retentionPolicy       object default={"whenDeleted":"Delete"}
spec.volumeClaimPolicies[].retentionPolicy.whenDeleted string default="Delete" enum=Delete,Retain
status.conditions                                array map=type
status.restarts                                  int32
status.restartsCountTowardsMax                   int32
status.terminalState                             string
status.replicatedJobsStatus                      array map=name
status.replicatedJobsStatus[].name               string required
status.replicatedJobsStatus[].ready              int32 required
status.replicatedJobsStatus[].succeeded          int32 required
status.replicatedJobsStatus[].failed             int32 required
status.replicatedJobsStatus[].active             int32 required
status.replicatedJobsStatus[].suspended          int32 required
status.replicatedJobsStatus[].jobRestarts        array atomic maxItems=1024
status.replicatedJobsStatus[].jobRestartsCountTowardsMax array atomic maxItems=1024
status.previousInPlaceRestartAttempt             int32 minimum=0
status.currentInPlaceRestartAttempt              int32 minimum=0
`;

/** Our own limits, if a rule needs one to be affordable (`schema-rules.ts`). */
const OUR_LIMITS = ['maxItems=256', 'maxItems=128', 'maxItems=32'];

test('every field of upstream has its type, default, limits and markers', () => {
  for (const line of UPSTREAM.trim().split('\n')) {
    const [path = '', ...expected] = line.split(/\s+/);
    const found = described(path).filter((word) => !OUR_LIMITS.includes(word));
    expect([path, ...found.sort()]).toEqual([path, ...expected.sort()]);
  }
});

test('fields of the spec are exactly upstream’s: a JobSet can go back there', () => {
  const known = new Set(
    UPSTREAM.trim()
      .split('\n')
      .map((line) => line.split(' ')[0]),
  );
  const spec = JOBSET_SCHEMA.properties?.['spec'] ?? {};
  const missing = fieldsBelow('spec', spec).filter((path) => !known.has(path));
  expect(missing, 'one that upstream has accepted, and not released yet').toEqual([
    'spec.activeDeadlineSeconds',
  ]);
});

function described(path: string): string[] {
  const steps = path.replaceAll('[]', '.[]').split('.');
  let [schema, isRequired]: [JsonSchema, boolean] = [JOBSET_SCHEMA, false];
  for (const step of steps) {
    isRequired = schema.required?.includes(step) ?? false;
    const next = step === '[]' ? schema.items : schema.properties?.[step];
    if (next === undefined) throw new Error(`${path} has no schema`);
    schema = next;
  }
  return words(schema, isRequired);
}

function words(schema: JsonSchema, isRequired: boolean): string[] {
  const { type = '', format, default: value, enum: values, minimum, maxItems } = schema;
  const listType = schema['x-kubernetes-list-type'];
  const rules = schema['x-kubernetes-validations'] ?? [];
  const immutable = { rule: 'self == oldSelf', message: 'Value is immutable' };
  return [
    format ?? type,
    ...(isRequired ? ['required'] : []),
    ...(value === undefined ? [] : [`default=${JSON.stringify(value)}`]),
    ...(values === undefined ? [] : [`enum=${values.join(',')}`]),
    ...(minimum === undefined ? [] : [`minimum=${minimum}`]),
    ...(maxItems === undefined ? [] : [`maxItems=${maxItems}`]),
    ...(listType === 'map' ? [`map=${schema['x-kubernetes-list-map-keys']?.join(',')}`] : []),
    ...(listType === 'atomic' ? ['atomic'] : []),
    ...(rules.some(({ rule }) => rule === immutable.rule) ? [IMMUTABLE] : []),
  ];
}

/** Fields down to types that Kubernetes documents itself. */
function fieldsBelow(path: string, schema: JsonSchema): readonly string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const at = `${path}.${name}`;
    const isForeign = at.endsWith('.template') || at.endsWith('.templates');
    const inner = field.items ?? field;
    const below = isForeign ? [] : fieldsBelow(`${at}${field.items ? '[]' : ''}`, inner);
    return [at, ...below];
  });
}

describe('templates', () => {
  const { replicatedJobs, volumeClaimPolicies } =
    JOBSET_SCHEMA.properties?.['spec']?.properties ?? {};
  const jobTemplate = replicatedJobs?.items?.properties?.['template']?.properties;
  const claim = volumeClaimPolicies?.items?.properties?.['templates']?.items?.properties;

  test.each([
    ['Jobs', jobTemplate?.['metadata']],
    ['Pods', jobTemplate?.['spec']?.properties?.['template']?.properties?.['metadata']],
    ['claims', claim?.['metadata']],
  ])('of %s keep what a template can say of metadata', (_what, metadata) => {
    expect(Object.keys(metadata?.properties ?? {}).sort()).toEqual([
      'annotations',
      'finalizers',
      'labels',
      'name',
      'namespace',
    ]);
  });

  test('of Jobs need a Pod template, and nothing at the top needs anything', () => {
    expect(jobTemplate?.['spec']?.required).toEqual(['template']);
    expect(JOBSET_SCHEMA.required).toBeUndefined();
    expect(JOBSET_SCHEMA.properties?.['spec']?.required).toBeUndefined();
    expect(JOBSET_SCHEMA.properties?.['status']?.required).toBeUndefined();
  });
});
