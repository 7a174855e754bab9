/**
 * Validates shared volume claims. Every template has a name of its own, which becomes the name of a
 * claim and of a volume. A container must mount it, and it must fit an existing claim of that name.
 */

import { forbiddenField, invalidValue } from '@lockstep/kube/field-error.ts';
import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import { namespaceOf } from '@lockstep/kube/meta.ts';
import { dns1123SubdomainErrors } from '@lockstep/kube/name-rules.ts';
import type { PersistentVolumeClaim } from '@lockstep/kube/objects/core.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import type { DefaultedSpec, DefaultedVolumeClaimPolicy } from '../defaults.ts';
import { sharedClaimName } from '../derived-names.ts';
import { LABEL_LIMIT } from './dns-label.ts';

/** The claims that the JobSet's namespace has already, by name. */
export type ExistingClaims = ReadonlyMap<string, PersistentVolumeClaim>;

/** Names of the claims that the JobSet shares: those to look up for validation. */
export function sharedClaimNames(
  jobSet: string,
  { volumeClaimPolicies }: Pick<DefaultedSpec, 'volumeClaimPolicies'>,
): readonly string[] {
  return volumeClaimPolicies.flatMap(({ templates }) =>
    templates.map(({ metadata }) => sharedClaimName(metadata?.name ?? '', jobSet)),
  );
}

export function volumeClaimErrors(
  jobSet: string,
  spec: Pick<DefaultedSpec, 'volumeClaimPolicies' | 'replicatedJobs'>,
  existing: ExistingClaims,
): FieldError[] {
  if (spec.volumeClaimPolicies.length === 0) return [];
  const uses = volumeUses(spec);
  const seen = new Set<string>();
  return spec.volumeClaimPolicies.flatMap((policy, index) => {
    // The singular is upstream's.
    const path = `spec.volumeClaimPolicies[${index}]`;
    return policy.templates.flatMap((template, at) => {
      const name = template.metadata?.name ?? '';
      const claim = sharedClaimName(name, jobSet);
      const errors = [
        ...namespaceErrors(template, `${path}.templates[${at}]`),
        ...nameErrors(name, claim, seen, `${path}.template[${at}].name`),
        // Once for each name: claims of one name times volumes of that name would be too many.
        ...(seen.has(name) ? [] : useErrors(name, uses)),
        ...reuseErrors(template, policy, existing.get(claim), { path, at, claim }),
      ];
      seen.add(name);
      return errors;
    });
  });
}

function namespaceErrors({ metadata }: PersistentVolumeClaim, path: string): FieldError[] {
  const namespace = metadata?.namespace ?? '';
  if (namespace === '') return [];
  const detail = 'namespace cannot be set for VolumeClaimPolicies templates';
  return [forbiddenField(`${path}.metadata.namespace`, detail)];
}

function nameErrors(
  name: string,
  claim: string,
  seen: ReadonlySet<string>,
  field: string,
): FieldError[] {
  const problems = [
    ...(seen.has(name) ? ['names must be unique for VolumeClaimPolicies template'] : []),
    ...dns1123SubdomainErrors(name),
    ...(claim.length > LABEL_LIMIT ? ['VolumeClaimPolicies template name is too long'] : []),
  ];
  return problems.map((detail) => invalidValue(field, name, detail));
}

/** How Pod templates use names of volumes, collected once for all claims. */
interface VolumeUses {
  readonly mounted: ReadonlySet<string>;
  /** Paths of the templates' own volumes, by name. */
  readonly declared: ReadonlyMap<string, readonly string[]>;
}

function volumeUses({ replicatedJobs }: Pick<DefaultedSpec, 'replicatedJobs'>): VolumeUses {
  const mounted = new Set<string>();
  const declared = new Map<string, string[]>();
  for (const [index, { template }] of replicatedJobs.entries()) {
    const { containers, initContainers = [], volumes = [] } = template.spec.template.spec;
    for (const { volumeMounts = [] } of [...initContainers, ...containers]) {
      for (const { name } of volumeMounts) mounted.add(name);
    }
    for (const [at, { name }] of volumes.entries()) {
      const path = `spec.replicatedJobs[${index}].template.spec.template.spec.volumes[${at}].name`;
      const known = declared.get(name);
      if (known === undefined) declared.set(name, [path]);
      else known.push(path);
    }
  }
  return { mounted, declared };
}

function useErrors(name: string, { mounted, declared }: VolumeUses): FieldError[] {
  const conflict = `volume name conflicts with VolumeClaimPolicy template name: ${name}`;
  const errors = (declared.get(name) ?? []).map((path) => invalidValue(path, name, conflict));
  if (!mounted.has(name)) {
    const detail = `replicatedJob containers don't have a matching volumeMount: ${name} from VolumeClaimPolicies`;
    // Upstream repeats all ReplicatedJobs as the wrong value; the name says as much.
    errors.push(invalidValue('spec.replicatedJobs', undefined, detail));
  }
  return errors;
}

function reuseErrors(
  template: PersistentVolumeClaim,
  { retentionPolicy }: DefaultedVolumeClaimPolicy,
  existing: PersistentVolumeClaim | undefined,
  { path, at, claim }: { readonly path: string; readonly at: number; readonly claim: string },
): FieldError[] {
  if (existing === undefined) return [];
  const errors: FieldError[] = [];
  if (!isSameSpec(template.spec ?? {}, existing.spec ?? {})) {
    const detail = `spec does not match existing PVC ${claim} in namespace ${namespaceOf(existing.metadata)}`;
    errors.push(invalidValue(`${path}.template[${at}].spec`, template.spec, detail));
  }
  if (retentionPolicy.whenDeleted !== 'Retain') {
    const detail = 'retentionPolicy must be retain when PVC exists';
    const field = `${path}.retentionPolicy.whenDeleted`;
    errors.push(invalidValue(field, retentionPolicy.whenDeleted, detail));
  }
  return errors;
}

/** Fields that a cluster fills into every claim; such a claim still fits its template. */
const FILLED_BY_CLUSTER: ReadonlySet<string> = new Set([
  'volumeMode',
  'storageClassName',
  'volumeName',
]);

type ClaimSpec = NonNullable<PersistentVolumeClaim['spec']>;

/**
 * Upstream compares with what the cluster has filled in, so a template fits its own claim only if
 * it spells that out. Here such members count only if the template has them.
 */
function isSameSpec(asked: ClaimSpec, existing: ClaimSpec): boolean {
  const comparable = Object.entries(existing).filter(
    ([name]) => !FILLED_BY_CLUSTER.has(name) || asked[name] !== undefined,
  );
  return deepEqual(asked, Object.fromEntries(comparable));
}
