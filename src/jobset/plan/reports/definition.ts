/**
 * Reports features that are off because the stored definition lacks their fields.
 * With `lockstep/replace-after`, a member would be replaced again and again, because the status
 * never says that it was.
 */
import { forbiddenField } from '@lockstep/kube/field-error.ts';
import { listed } from '@lockstep/kube/listed.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { asked } from '../../annotations/table.ts';
import { hasStartupOrder } from '../../epoch/startup-stages.ts';
import {
  MAX_RESTARTS_WITHOUT_PROGRESS,
  PREFLIGHT,
  PROCESSES_PER_POD,
  REPLACE_AFTER,
} from '../../names.ts';
import { toRecord } from '../../overrides/recorded-annotations.ts';
import { restartsInPlace } from '../../policies/restart-strategy.ts';
import { cleared } from '../../status/conditions.ts';
import type { Decision } from '../decision.ts';
import type { Facts } from '../facts.ts';
import { lacksEpochs } from './kept-status.ts';

/** A part of Lockstep, and the field of the status without which it is off. */
interface Feature {
  readonly what: string;
  readonly needs: string;
  /** Whether this JobSet uses it; by default, if it restarts in place. */
  readonly isAsked?: (facts: Facts) => boolean;
}

const OF_ANNOTATIONS: readonly Feature[] = [
  ofAnnotation(REPLACE_AFTER, 'avoidedNodes'),
  ofAnnotation(PREFLIGHT, 'avoidedNodes'),
  ofAnnotation(MAX_RESTARTS_WITHOUT_PROGRESS, 'progress'),
  ofAnnotation(PROCESSES_PER_POD, 'ranks'),
  {
    what: 'annotations for fields, and defaults of the Namespace, that no webhook wrote',
    needs: 'recordedAnnotations',
    // Later only its own are known.
    isAsked: ({ recording, jobSet }) =>
      Object.keys(recording?.annotations ?? toRecord(jobSet, jobSet)).length > 0,
  },
];
const FEATURES: readonly Feature[] = [
  ...OF_ANNOTATIONS,
  { what: 'restarts without a charge', needs: 'deprecatedEpoch' },
  { what: 'the record of the restart mode', needs: 'restartMode' },
  { what: 'the restart history', needs: 'restartHistory' },
  { what: 'the back-off of crash loops', needs: 'restartHistory' },
  { what: 'who failed first', needs: 'restartHistory[].suspects' },
  { what: 'which process of a Pod failed', needs: 'restartHistory[].suspects[].process' },
  { what: 'last words', needs: 'restartHistory[].lastWords' },
  { what: 'the account of lost time', needs: 'goodput' },
  { what: 'the credit for work that workers save as they are told to end', needs: 'goodput.held' },
  { what: 'the order of the time', needs: 'goodput.course' },
  { what: 'the order of the time before a restart', needs: 'restartHistory[].course' },
  {
    what: 'the memory of Jobs that have succeeded and are gone',
    needs: 'replicatedJobsStatus[].succeededIndexes',
    isAsked: always,
  },
  { what: 'the count of execution attempts', needs: 'executionAttempts', isAsked: always },
  { what: 'spec.activeDeadlineSeconds', needs: 'startTime', isAsked: always },
  {
    what: 'the observed generation with Ready and Stalled',
    needs: 'observedGeneration',
    isAsked: always,
  },
];

/** Fields of the status that features need, and that earlier definitions of ours lack. */
export const FIELDS_OF_FEATURES: ReadonlySet<string> = new Set([
  'avoidedNodes',
  'progress',
  'goodput',
  'observedGeneration',
  'recordedAnnotations',
  'ranks',
]);

export function reportDefinition(facts: Facts): readonly Decision[] {
  const type = 'DefinitionOutdated';
  const { lacks, isDefinitionUnread } = facts;
  // If the definition may not be read, report only features that an annotation asks for.
  const features = isDefinitionUnread === true ? OF_ANNOTATIONS : FEATURES;
  const off = features.filter(
    ({ needs, isAsked = isGroup }) => lacks?.has(needs) === true && isAsked(facts),
  );
  if (lacks === undefined || off.length === 0) {
    const message = 'the stored definition has all fields that the JobSet needs';
    return [{ conditions: [cleared(type, 'FieldsKept', message)] }];
  }
  const fields = listed([...new Set(off.map(({ needs }) => `status.${needs}`))]);
  const [reason, why] =
    isDefinitionUnread === true
      ? [
          'DefinitionUnreadable',
          `the operator may not read the CustomResourceDefinition of JobSets, and one without ${fields} ` +
            'would drop what it writes. Give its account the rights of deploy/lockstep.yaml',
        ]
      : [
          'FieldsMissing',
          `the stored CustomResourceDefinition of JobSets lacks ${fields}. ${adviceFor(lacks)}`,
        ];
  const what = `${listed(off.map((each) => each.what))} ${off.length === 1 ? 'is' : 'are'} off`;
  const message = `${what}: ${why}`;
  return [{ conditions: [{ type, status: 'True', reason, message, event: 'Warning' }] }];
}

/** Why the JobSet is refused: its order of stages cannot be kept under this definition. */
export function definitionErrors({ jobSet, spec, lacks }: Facts): readonly FieldError[] {
  const isInPlace = restartsInPlace(spec, jobSet.metadata.annotations);
  if (!isInPlace || lacks === undefined || !lacksEpochs(lacks)) return [];
  const keepsAttempts =
    !lacks.has('previousInPlaceRestartAttempt') && !lacks.has('currentInPlaceRestartAttempt');
  if (!keepsAttempts) {
    const why = `the stored CustomResourceDefinition of JobSets keeps no attempts of restarts in place. ${adviceFor(lacks)}`;
    return [forbiddenField('spec.failurePolicy.restartStrategy', why)];
  }
  // All ReplicatedJobs have the same attempt, so none could wait at its barrier for another.
  if (!lacks.has('replicatedJobsStatus[].syncedEpoch') || !hasStartupOrder(spec)) return [];
  const field =
    spec.startupPolicy.startupPolicyOrder === 'InOrder'
      ? 'spec.startupPolicy.startupPolicyOrder'
      : 'spec.replicatedJobs[].dependsOn';
  const why = `the stored CustomResourceDefinition of JobSets does not keep which ReplicatedJobs of a group were started. ${adviceFor(lacks)}`;
  return [forbiddenField(field, why)];
}

function adviceFor(lacks: ReadonlySet<string>): string {
  return lacksEpochs(lacks)
    ? 'It belongs to kubernetes-sigs/jobset: "lockstep install --replace-crd" replaces it by ours, which has all of its fields'
    : 'Apply that of this version of Lockstep, with "lockstep install" or from deploy/lockstep.yaml';
}

function ofAnnotation(annotation: string, needs: string): Feature {
  const isAsked = (facts: Facts): boolean =>
    isGroup(facts) && asked(facts.jobSet.metadata.annotations, annotation) !== undefined;
  return { what: annotation, needs, isAsked };
}

function isGroup({ group }: Facts): boolean {
  return group !== undefined;
}

function always(): boolean {
  return true;
}
