/**
 * Reports the features of a JobSet that are off because the stored definition lacks the fields that
 * they write. With one of them, a member would be replaced again and again, because the status
 * never says that it was.
 */
import type { StringMap } from '../../kube/meta.ts';
import type { Decision } from '../decision.ts';
import type { Facts } from '../facts.ts';
import type { JobSetStatus } from '../jobset.ts';
import { MAX_RESTARTS_WITHOUT_PROGRESS, PREFLIGHT, REPLACE_AFTER } from '../names.ts';
import { cleared } from './conditions.ts';

/** By annotation, the field of the status without which it does nothing. */
const NEEDS: Readonly<Record<string, keyof JobSetStatus>> = {
  [REPLACE_AFTER]: 'avoidedNodes',
  [PREFLIGHT]: 'avoidedNodes',
  [MAX_RESTARTS_WITHOUT_PROGRESS]: 'progress',
};

/** What features need of the status, and earlier definitions lack. */
export const FIELDS_OF_FEATURES: ReadonlySet<string> = new Set([
  ...Object.values(NEEDS),
  'goodput' satisfies keyof JobSetStatus,
]);

export function reportDefinition(facts: Facts): readonly Decision[] {
  const type = 'DefinitionOutdated';
  const { jobSet, group, lacks, isDefinitionUnread } = facts;
  const off =
    group === undefined || lacks === undefined
      ? []
      : featuresOff(jobSet.metadata.annotations, lacks);
  if (off.length === 0) {
    const message = 'the stored definition has all fields that the JobSet needs';
    return [{ conditions: [cleared(type, 'FieldsKept', message)] }];
  }
  const fields = [...new Set(off.map((feature) => `status.${NEEDS[feature]}`))].join(' and ');
  const what = `${off.join(' and ')} ${off.length === 1 ? 'is' : 'are'} off`;
  const [reason, why] =
    isDefinitionUnread === true
      ? [
          'DefinitionUnreadable',
          `the operator may not read the CustomResourceDefinition of JobSets, and one without ${fields} ` +
            'would drop what it writes. Give its account the rights of deploy/lockstep.yaml',
        ]
      : [
          'FieldsMissing',
          `the stored CustomResourceDefinition of JobSets lacks ${fields}. Apply that of this version ` +
            'of Lockstep, with "lockstep install" or from deploy/lockstep.yaml',
        ];
  const message = `${what}: ${why}`;
  return [{ conditions: [{ type, status: 'True', reason, message, event: 'Warning' }] }];
}

/** The annotations that ask for something that cannot be kept. */
function featuresOff(
  annotations: StringMap | undefined,
  lacks: ReadonlySet<string>,
): readonly string[] {
  return Object.entries(NEEDS).flatMap(([annotation, field]) => {
    const { [annotation]: asked = 'Off' } = annotations ?? {};
    return asked !== 'Off' && lacks.has(field) ? [annotation] : [];
  });
}
