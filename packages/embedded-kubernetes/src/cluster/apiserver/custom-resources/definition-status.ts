/** Decides the status of a CustomResourceDefinition. */
import type { Condition } from '@lockstep/kube/meta.ts';
import type {
  CustomResourceDefinition,
  CustomResourceNames,
} from '@lockstep/kube/objects/custom-resource-definition.ts';
import { quote } from '@lockstep/kube/quote.ts';

/**
 * Whether the definition's names are free, so that its resource is served. A definition that was
 * accepted once stays accepted, even if a conflicting one appears later.
 */
export function definitionStatus(
  definition: CustomResourceDefinition,
  others: readonly CustomResourceDefinition[],
  now: string,
): NonNullable<CustomResourceDefinition['status']> {
  const conflict = nameConflict(definition, others);
  const storage = definition.spec.versions.find((version) => version.storage)?.name ?? '';
  const storedVersions = definition.status?.storedVersions ?? [];
  const { names } = definition.spec;
  const accepted = definition.status?.acceptedNames ?? { plural: '', kind: '' };
  return {
    conditions: conditionsOf(definition, conflict).map((condition) =>
      sinceWhen(condition, definition.status?.conditions ?? [], now),
    ),
    acceptedNames: conflict === undefined ? names : accepted,
    storedVersions: storedVersions.includes(storage)
      ? storedVersions
      : [...storedVersions, storage],
  };
}

export function isEstablished({ status }: CustomResourceDefinition): boolean {
  return (
    status?.conditions?.some(
      ({ type, status: value }) => type === ESTABLISHED && value === 'True',
    ) === true
  );
}

const ESTABLISHED = 'Established';

function conditionsOf(
  definition: CustomResourceDefinition,
  conflict: NameConflict | undefined,
): readonly Omit<Condition, 'lastTransitionTime'>[] {
  const names: Omit<Condition, 'lastTransitionTime'> =
    conflict === undefined
      ? {
          type: 'NamesAccepted',
          status: 'True',
          reason: 'NoConflicts',
          message: 'no conflicts found',
        }
      : { type: 'NamesAccepted', status: 'False', ...conflict };
  const established: Omit<Condition, 'lastTransitionTime'> =
    conflict === undefined || isEstablished(definition)
      ? {
          type: ESTABLISHED,
          status: 'True',
          reason: 'InitialNamesAccepted',
          message: 'the initial names have been accepted',
        }
      : {
          type: ESTABLISHED,
          status: 'False',
          reason: 'NotAccepted',
          message: 'not all names are accepted',
        };
  if (definition.metadata.deletionTimestamp === undefined) return [names, established];
  return [
    names,
    established,
    {
      type: 'Terminating',
      status: 'True',
      reason: 'InstanceDeletionInProgress',
      message: 'CustomResource deletion is in progress',
    },
  ];
}

function sinceWhen(
  condition: Omit<Condition, 'lastTransitionTime'>,
  before: readonly Condition[],
  now: string,
): Condition {
  const old = before.find(({ type }) => type === condition.type);
  const lastTransitionTime = old?.status === condition.status ? old.lastTransitionTime : now;
  return {
    type: condition.type,
    status: condition.status,
    lastTransitionTime,
    reason: condition.reason,
    message: condition.message,
  };
}

/** A name that another definition of the group already has, and the reason for the condition. */
interface NameConflict {
  readonly reason: string;
  readonly message: string;
}

/** The first name of a definition that another accepted definition of its group uses. */
function nameConflict(
  definition: CustomResourceDefinition,
  others: readonly CustomResourceDefinition[],
): NameConflict | undefined {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const { metadata, spec, status } of others) {
    if (metadata.name === definition.metadata.name || spec.group !== definition.spec.group)
      continue;
    if (status?.acceptedNames === undefined) continue;
    for (const name of resourceNames(status.acceptedNames)) resources.add(name);
    for (const name of kindNames(status.acceptedNames)) kinds.add(name);
  }
  const { names } = definition.spec;
  const claims: readonly (readonly [string, ReadonlySet<string>, readonly string[]])[] = [
    ['PluralConflict', resources, [names.plural]],
    ['SingularConflict', resources, names.singular === undefined ? [] : [names.singular]],
    ['ShortNamesConflict', resources, names.shortNames ?? []],
    ['KindConflict', kinds, [names.kind]],
    ['ListKindConflict', kinds, names.listKind === undefined ? [] : [names.listKind]],
  ];
  for (const [reason, taken, wanted] of claims) {
    const used = wanted.find((name) => name !== '' && taken.has(name));
    if (used !== undefined) return { reason, message: `${quote(used)} is already in use` };
  }
  return undefined;
}

function resourceNames(names: CustomResourceNames): readonly string[] {
  return [names.plural, names.singular ?? '', ...(names.shortNames ?? [])];
}

function kindNames(names: CustomResourceNames): readonly string[] {
  return [names.kind, names.listKind ?? ''];
}
