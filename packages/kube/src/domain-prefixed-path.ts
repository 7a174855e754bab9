/** Validates values such as `managedBy`. */
import { invalidValue, required } from './field-error.ts';
import { dns1123SubdomainErrors } from './name-rules.ts';
import type { FieldError } from './status.ts';

/** Problems of a path below a domain, such as `example.com/controller`. */
export function domainPrefixedPathErrors(value: string, field: string): FieldError[] {
  if (value === '') return [required(field)];
  const slash = value.indexOf('/');
  const domain = value.slice(0, Math.max(slash, 0));
  const path = value.slice(slash + 1);
  if (domain === '' || path === '') {
    const detail = 'must be a domain-prefixed path (such as "acme.io/foo")';
    return [invalidValue(field, value, detail)];
  }
  const errors: FieldError[] = dns1123SubdomainErrors(domain).map((text) =>
    invalidValue(field, domain, text),
  );
  if (!PATH_PATTERN.test(path)) {
    const detail = `Invalid path (regex used for validation is '${PATH_FORMAT}')`;
    errors.push(invalidValue(field, path, detail));
  }
  return errors;
}

const PATH_FORMAT = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const PATH_PATTERN = new RegExp(`^${PATH_FORMAT}$`);
