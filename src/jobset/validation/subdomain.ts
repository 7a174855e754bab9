import { invalidValue } from '@lockstep/kube/field-error.ts';
import { dns1123SubdomainErrors } from '@lockstep/kube/name-rules.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import type { DefaultedSpec } from '../defaults.ts';
import { labelErrors } from './dns-label.ts';

/** The subdomain names a Service, so it is a DNS label as well as a subdomain. */
export function subdomainErrors({ network }: Pick<DefaultedSpec, 'network'>): FieldError[] {
  const { subdomain } = network;
  if (subdomain === undefined || subdomain === '') return [];
  const tooLong = '.spec.network.subdomain is too long, must be less than 63 characters';
  return [...dns1123SubdomainErrors(subdomain), ...labelErrors(subdomain, tooLong)].map((detail) =>
    invalidValue('spec.network.subdomain', subdomain, detail),
  );
}
