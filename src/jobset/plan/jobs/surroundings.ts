/** What the Pods of a JobSet need beside their Jobs: the headless Service, and the claims they share. */
import type { Service } from '@lockstep/kube/objects/core.ts';
import { headlessService } from '../../headless-service.ts';
import { identityOf, ownerReferenceTo } from '../../membership.ts';
import { volumeClaims } from '../../volume-claims.ts';
import type { Decision } from '../decision.ts';
import type { Facts } from '../facts.ts';

export function createService(facts: Facts): readonly Decision[] {
  const service = wantedService(facts);
  const isMade = service === undefined || facts.surroundings.service !== undefined;
  return isMade ? [] : [{ actions: [{ kind: 'CreateService', service }] }];
}

export function wantedService({ jobSet, spec }: Facts): Service | undefined {
  const identity = identityOf(jobSet);
  return headlessService(identity, spec, ownerReferenceTo(identity));
}

export function createClaims({ jobSet, spec, surroundings }: Facts): readonly Decision[] {
  if (spec.volumeClaimPolicies.length === 0) return [];
  const identity = identityOf(jobSet);
  const missing = volumeClaims(
    identity,
    spec.volumeClaimPolicies,
    ownerReferenceTo(identity),
  ).filter(({ metadata }) => !surroundings.hasClaim(metadata.name ?? ''));
  return [{ actions: missing.map((claim) => ({ kind: 'CreateClaim', claim })) }];
}
