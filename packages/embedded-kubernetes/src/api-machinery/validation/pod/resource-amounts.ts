/**
 * Amounts of resources, `core/v1 ResourceList` and `ResourceRequirements`: their canonical form and
 * their validation.
 */
import { duplicate, invalidValue, required, valueNotFound } from '@lockstep/kube/field-error.ts';
import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import type { StringMap } from '@lockstep/kube/meta.ts';
import { qualifiedNameErrors } from '@lockstep/kube/name-rules.ts';
import {
  compareQuantities,
  formatQuantity,
  parseQuantity,
  QUANTITY_ERROR,
} from '@lockstep/kube/quantity.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { withMember } from '../members.ts';

/** Limits and requests as the server stores them: `0.5` becomes `500m`, `1024Mi` becomes `1Gi`. */
export function canonicalResources(resources: JsonObject): JsonObject {
  return withMember(
    withMember(resources, 'limits', canonicalAmounts),
    'requests',
    canonicalAmounts,
  );
}

/** Amounts by name, each in its canonical text. Invalid quantities are left for validation. */
export function canonicalAmounts(amounts: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(amounts).map(([name, amount]) => [name, canonicalAmount(amount)]),
  );
}

function canonicalAmount(amount: unknown): unknown {
  if (typeof amount !== 'string' && typeof amount !== 'number') return amount;
  const quantity = parseQuantity(String(amount));
  return quantity === undefined ? amount : formatQuantity(quantity);
}

/** Problems of the `resources` of a container at `path`, whose Pod has claims of these names. */
export function resourcesErrors(
  resources: {
    readonly limits?: StringMap;
    readonly requests?: StringMap;
    readonly claims?: readonly { readonly name: string; readonly request?: string }[];
  },
  path: string,
  podClaims: readonly string[],
): FieldError[] {
  const { limits = {}, requests = {}, claims = [] } = resources;
  const errors = [
    ...amountsErrors(limits, `${path}.limits`),
    ...amountsErrors(requests, `${path}.requests`),
  ];
  for (const [name, request] of Object.entries(requests)) {
    const limit = Object.hasOwn(limits, name) ? limits[name] : undefined;
    errors.push(...requestErrors(name, request, limit, path));
  }
  const names = claims.map((claim) => `${claim.name}/${claim.request ?? ''}`);
  claims.forEach((claim, index) => {
    if (names.indexOf(names[index] ?? '') < index) {
      errors.push(duplicate(`${path}.claims[${index}]`, claim.name));
    }
    if (claim.name !== '' && !podClaims.includes(claim.name)) {
      const known = podClaims.length === 0 ? ' which is empty' : `: ${podClaims.join(', ')}`;
      const detail = `must be one of the names in pod.spec.resourceClaims${known}`;
      errors.push({ ...valueNotFound(`${path}.claims[${index}]`, claim.name), detail });
    }
  });
  return errors;
}

/** Problems of amounts by name: invalid names, invalid or negative quantities. */
export function amountsErrors(amounts: StringMap, path: string): FieldError[] {
  return Object.entries(amounts).flatMap(([name, amount]) => {
    const field = `${path}[${name}]`;
    const errors: FieldError[] = qualifiedNameErrors(name).map((text) =>
      invalidValue(field, name, text),
    );
    if (!name.includes('/') && !isStandardResource(name)) {
      errors.push(
        invalidValue(field, name, 'must be a standard resource type or fully qualified'),
        invalidValue(field, name, 'must be a standard resource for containers'),
      );
    }
    const quantity = parseQuantity(amount);
    if (quantity === undefined) errors.push(invalidValue(field, amount, QUANTITY_ERROR));
    else {
      if (quantity.nano < 0n) {
        errors.push(invalidValue(field, amount, 'must be greater than or equal to 0'));
      }
      const pageNano = pageSizeNano(name);
      if (pageNano !== undefined && quantity.nano % pageNano !== 0n) {
        const detail = `${amount} is not positive integer multiple of ${name}`;
        errors.push(invalidValue(field, amount, detail));
      }
      if (name.includes('/') && quantity.nano % NANO !== 0n) {
        errors.push(invalidValue(field, amount, 'must be an integer'));
      }
    }
    return errors;
  });
}

function requestErrors(
  name: string,
  request: string,
  limit: string | undefined,
  path: string,
): FieldError[] {
  const mayOvercommit = !name.includes('/') && !name.startsWith(HUGE_PAGES);
  if (limit === undefined) {
    const detail = 'Limit must be set for non overcommitable resources';
    return mayOvercommit ? [] : [required(`${path}.limits`, detail)];
  }
  const asked = parseQuantity(request);
  const most = parseQuantity(limit);
  if (asked === undefined || most === undefined) return [];
  const order = compareQuantities(asked, most);
  if (order === 0 || (order < 0 && mayOvercommit)) return [];
  const relation = mayOvercommit ? 'less than or equal to' : 'equal to';
  return [
    invalidValue(`${path}.requests`, request, `must be ${relation} ${name} limit of ${limit}`),
  ];
}

const HUGE_PAGES = 'hugepages-';
const NANO = 1_000_000_000n;

/** The page size in a name such as `hugepages-2Mi`. */
function pageSizeNano(name: string): bigint | undefined {
  if (!name.startsWith(HUGE_PAGES)) return undefined;
  const nano = parseQuantity(name.slice(HUGE_PAGES.length))?.nano;
  return nano === undefined || nano <= 0n ? undefined : nano;
}

function isStandardResource(name: string): boolean {
  return ['cpu', 'memory', 'ephemeral-storage'].includes(name) || name.startsWith(HUGE_PAGES);
}

/**
 * Puts the capacity and allocatable amounts of a node status in canonical form; allocatable
 * defaults to capacity.
 */
export function defaultNodeStatus(status: JsonObject): JsonObject {
  const canonical = withMember(
    withMember(status, 'capacity', canonicalAmounts),
    'allocatable',
    canonicalAmounts,
  );
  const { capacity, allocatable } = canonical;
  return isJsonObject(capacity) && allocatable === undefined
    ? { ...canonical, allocatable: capacity }
    : canonical;
}
