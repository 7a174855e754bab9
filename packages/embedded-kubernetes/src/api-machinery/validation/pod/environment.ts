/**
 * Validates environment variables of containers, and the fields and keys from which they take
 * values.
 */
import { invalidValue, notSupported, required } from '@lockstep/kube/field-error.ts';
import {
  configMapKeyErrors,
  dns1123SubdomainErrors,
  environmentNameErrors,
  qualifiedNameErrors,
} from '@lockstep/kube/name-rules.ts';
import type {
  Container,
  EnvFromSource,
  EnvVar,
  KeySelector,
  ResourceFieldSelector,
} from '@lockstep/kube/objects/pod.ts';
import type { FieldError } from '@lockstep/kube/status.ts';

export function environmentErrors(container: Container, path: string): FieldError[] {
  const { env = [], envFrom = [] } = container;
  return [
    ...env.flatMap((variable, index) => variableErrors(variable, `${path}.env[${index}]`)),
    ...envFrom.flatMap((source, index) =>
      sourceErrors(source, `${path}.envFrom`, `${path}.envFrom[${index}]`),
    ),
  ];
}

function variableErrors(variable: EnvVar, path: string): FieldError[] {
  const { name, valueFrom } = variable;
  const errors: FieldError[] =
    name === ''
      ? [required(`${path}.name`)]
      : environmentNameErrors(name).map((text) => invalidValue(`${path}.name`, name, text));
  if (valueFrom === undefined) return errors;
  return [...errors, ...valueSourceErrors(valueFrom, variable.value, `${path}.valueFrom`)];
}

type ValueSource = NonNullable<EnvVar['valueFrom']>;

function valueSourceErrors(
  source: ValueSource,
  value: string | undefined,
  path: string,
): FieldError[] {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = source;
  const errors: FieldError[] = [];
  if (fieldRef !== undefined) {
    const fieldPath = `${path}.fieldRef`;
    errors.push(...fieldReferenceErrors(fieldRef.fieldPath, fieldPath, ENVIRONMENT_FIELDS));
  }
  if (resourceFieldRef !== undefined) {
    errors.push(...resourceFieldErrors(resourceFieldRef, `${path}.resourceFieldRef`));
  }
  if (configMapKeyRef !== undefined) {
    errors.push(...keySelectorErrors(configMapKeyRef, `${path}.configMapKeyRef`));
  }
  if (secretKeyRef !== undefined) {
    errors.push(...keySelectorErrors(secretKeyRef, `${path}.secretKeyRef`));
  }
  const count = Object.keys(source).length;
  if (count === 0) {
    errors.push(
      invalidValue(
        path,
        '',
        'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
      ),
    );
  } else if (value !== undefined && value !== '') {
    errors.push(invalidValue(path, '', 'may not be specified when `value` is not empty'));
  } else if (count > 1) {
    errors.push(invalidValue(path, '', 'may not have more than one field specified at a time'));
  }
  return errors;
}

/** Fields of the Pod that a variable can refer to, besides labels and annotations. */
const ENVIRONMENT_FIELDS: readonly string[] = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

const SUBSCRIPTED_FIELD = /^(.*)\['(.*)'\]$/;

/** Problems of a `fieldRef` that may name one of `fields`, a label or an annotation. */
export function fieldReferenceErrors(
  fieldPath: string,
  path: string,
  fields: readonly string[],
): FieldError[] {
  if (fieldPath === '') return [required(`${path}.fieldPath`)];
  const field = `${path}.fieldPath`;
  const [, name = '', key = ''] = SUBSCRIPTED_FIELD.exec(fieldPath) ?? [];
  if (name === '') {
    if (fields.includes(fieldPath)) return [];
    if (REFERABLE_FIELDS.has(fieldPath)) return [notSupported(field, fieldPath, fields)];
    const detail = `error converting fieldPath: field label not supported: ${fieldPath}`;
    return [invalidValue(field, fieldPath, detail)];
  }
  switch (name) {
    case 'metadata.annotations':
      return qualifiedNameErrors(key.toLowerCase()).map((text) => invalidValue(path, key, text));
    case 'metadata.labels':
      return qualifiedNameErrors(key).map((text) => invalidValue(path, key, text));
    default: {
      const detail = `error converting fieldPath: field label does not support subscript: ${fieldPath}`;
      return [invalidValue(field, fieldPath, detail)];
    }
  }
}

/** All fields that some reference may name; which ones depends on the place of the reference. */
const REFERABLE_FIELDS: ReadonlySet<string> = new Set([
  ...ENVIRONMENT_FIELDS,
  'metadata.annotations',
  'metadata.labels',
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
]);

const RESOURCE_FIELDS: readonly string[] = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];

/** Problems of a `resourceFieldRef`. */
export function resourceFieldErrors(
  { resource, divisor = '0' }: ResourceFieldSelector,
  path: string,
): FieldError[] {
  if (resource === '') return [required(`${path}.resource`)];
  const isKnown =
    RESOURCE_FIELDS.includes(resource) || /^(limits|requests)\.hugepages-/.test(resource);
  return [
    ...(isKnown ? [] : [notSupported(`${path}.resource`, resource, RESOURCE_FIELDS)]),
    ...divisorErrors(resource, divisor, `${path}.divisor`),
  ];
}

const CPU_DIVISORS: readonly string[] = ['1m', '1'];
const BYTE_DIVISORS = '1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei'.split(', ');

/** The units in which an amount can be given; none means 1. */
function divisorErrors(resource: string, divisor: string, path: string): FieldError[] {
  const name = resource.replace(/^(limits|requests)\./, '');
  const divisors = name === 'cpu' ? CPU_DIVISORS : BYTE_DIVISORS;
  if (divisor === '0' || divisors.includes(divisor)) return [];
  const known = name === 'cpu' ? divisors.join(' and ') : divisors.join(', ');
  const shown = DIVIDED[name] ?? (name.startsWith('hugepages-') ? 'hugepages' : undefined);
  if (shown === undefined) return [];
  const detail = `only divisor's values ${known} are supported with the ${shown} resource`;
  return [invalidValue(path, resource, detail)];
}

const DIVIDED: Readonly<Record<string, string>> = {
  cpu: 'cpu',
  memory: 'memory',
  'ephemeral-storage': 'local ephemeral storage',
};

function keySelectorErrors(selector: Partial<KeySelector>, path: string): FieldError[] {
  const { name = '', key = '' } = selector;
  const misnamed = dns1123SubdomainErrors(name).map((text) =>
    invalidValue(`${path}.name`, name, text),
  );
  if (key === '') return [...misnamed, required(`${path}.key`)];
  return [
    ...misnamed,
    ...configMapKeyErrors(key).map((text) => invalidValue(`${path}.key`, key, text)),
  ];
}

function sourceErrors(source: EnvFromSource, listPath: string, path: string): FieldError[] {
  const { prefix = '', configMapRef, secretRef } = source;
  const errors: FieldError[] =
    prefix === ''
      ? []
      : environmentNameErrors(prefix).map((text) => invalidValue(`${path}.prefix`, prefix, text));
  const references = { configMapRef, secretRef };
  for (const member of ['configMapRef', 'secretRef'] as const) {
    const reference: { readonly name?: string } | undefined = references[member];
    if (reference === undefined) continue;
    const { name = '' } = reference;
    const field = `${path}.${member}.name`;
    if (name === '') errors.push(required(field));
    else
      errors.push(...dns1123SubdomainErrors(name).map((text) => invalidValue(field, name, text)));
  }
  if (configMapRef === undefined && secretRef === undefined) {
    const detail = 'must specify one of: `configMapRef` or `secretRef`';
    errors.push(invalidValue(listPath, '', detail));
  } else if (configMapRef !== undefined && secretRef !== undefined) {
    const detail = 'may not have more than one field specified at a time';
    errors.push(invalidValue(listPath, '', detail));
  }
  return errors;
}
