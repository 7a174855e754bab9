/** Defaults and validation of `apiextensions.k8s.io/v1 CustomResourceDefinition`. */

import { invalidValue, required } from '@lockstep/kube/field-error.ts';
import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import { dns1035LabelErrors, dns1123SubdomainErrors } from '@lockstep/kube/name-rules.ts';
import type {
  CustomResourceDefinition,
  CustomResourceNames,
  CustomResourceVersion,
  PrinterColumn,
} from '@lockstep/kube/objects/custom-resource-definition.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { withDefaults, withMember } from '../validation/members.ts';
import { objectMetaErrors, objectMetaUpdateErrors } from '../validation/object-meta.ts';
import { ruleErrors, ruleFormErrors } from './rule-structure.ts';
import { structuralErrors } from './structural.ts';

/** Fills in the names that follow from others, and the version that is stored first. */
export function defaultCustomResourceDefinition<T extends JsonObject>(definition: T): T {
  const filled = withMember(definition, 'spec', (spec) =>
    withMember(withDefaults(spec, { conversion: { strategy: 'None' } }), 'names', defaultNames),
  );
  const { spec, status } = filled;
  const versions: unknown = isJsonObject(spec) ? spec['versions'] : undefined;
  const stored: unknown = Array.isArray(versions)
    ? versions.find((version: unknown) => isJsonObject(version) && version['storage'] === true)
    : undefined;
  const known = isJsonObject(status) ? status : {};
  const { storedVersions } = known;
  const isKnown = Array.isArray(storedVersions) && storedVersions.length > 0;
  if (isKnown || !isJsonObject(stored)) return filled;
  return { ...filled, status: { ...known, storedVersions: [stored['name']] } };
}

function defaultNames(names: JsonObject): JsonObject {
  const { kind } = names;
  if (typeof kind !== 'string' || kind === '') return names;
  return withDefaults(names, { singular: kind.toLowerCase(), listKind: `${kind}List` });
}

export function customResourceDefinitionErrors(definition: CustomResourceDefinition): FieldError[] {
  return [
    ...objectMetaErrors(definition.metadata, metadataRules(definition)),
    ...specErrors(definition),
    ...storedVersionsErrors(definition),
  ];
}

export function customResourceDefinitionUpdateErrors(
  definition: CustomResourceDefinition,
  before: CustomResourceDefinition,
): FieldError[] {
  const { spec } = definition;
  const errors = [
    ...objectMetaUpdateErrors(definition.metadata, before.metadata, metadataRules(definition)),
    ...specErrors(definition),
    ...storedVersionsErrors(definition),
  ];
  const fixed = [
    ['spec.scope', spec.scope, before.spec.scope],
    ['spec.names.kind', spec.names.kind, before.spec.names.kind],
    ['spec.group', spec.group, before.spec.group],
    ['spec.names.plural', spec.names.plural, before.spec.names.plural],
  ] as const;
  for (const [field, value, old] of fixed) {
    if (value !== old) errors.push(invalidValue(field, value, 'field is immutable'));
  }
  return errors;
}

function metadataRules({ spec }: CustomResourceDefinition) {
  const wanted = `${spec.names.plural}.${spec.group}`;
  const nameRule = (name: string) => [
    ...dns1123SubdomainErrors(name),
    ...(name === wanted ? [] : ['must be spec.names.plural+"."+spec.group']),
  ];
  return { namespaced: false, nameRule };
}

function specErrors({ spec }: CustomResourceDefinition): FieldError[] {
  const { group, versions, names } = spec;
  const errors: FieldError[] = [];
  const complaints = dns1123SubdomainErrors(group);
  if (group === '') errors.push(required('spec.group'));
  else if (complaints.length > 0) {
    errors.push(invalidValue('spec.group', group, complaints.join(',')));
  } else if (!group.includes('.')) {
    errors.push(invalidValue('spec.group', group, 'should be a domain with at least one dot'));
  }
  const shared = sharedParts(versions);
  versions.forEach((version, index) => {
    errors.push(...versionErrors(version, `spec.versions[${index}]`, index, shared));
  });
  if (new Set(versions.map(({ name }) => name)).size < versions.length) {
    errors.push(invalidValue('spec.versions', versions, 'must contain unique version names'));
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    const detail = 'must have exactly one version marked as storage version';
    errors.push(invalidValue('spec.versions', versions, detail));
  }
  return [...errors, ...namesErrors(names, 'spec.names')];
}

/**
 * Parts that all versions share belong to the definition: the server reports their problems once,
 * under another path.
 */
interface SharedParts {
  readonly schema: boolean;
  readonly columns: boolean;
}

function sharedParts(versions: readonly CustomResourceVersion[]): SharedParts {
  const [first] = versions;
  return {
    schema: versions.every(({ schema }) => deepEqual(schema, first?.schema)),
    columns: versions.every((version) =>
      deepEqual(version.additionalPrinterColumns, first?.additionalPrinterColumns),
    ),
  };
}

function versionErrors(
  version: CustomResourceVersion,
  path: string,
  index: number,
  shared: SharedParts,
): FieldError[] {
  const { name, schema, additionalPrinterColumns: columns = [] } = version;
  const root = schema?.openAPIV3Schema;
  const complaints = dns1035LabelErrors(name);
  const errors: FieldError[] = [];
  if (complaints.length > 0) errors.push(invalidValue(`${path}.name`, name, complaints.join(',')));
  if (root === undefined) errors.push(required(`${path}.schema.openAPIV3Schema`));
  else if (!shared.schema) errors.push(...schemaErrors(root, `${path}.schema.openAPIV3Schema`));
  else if (index === 0) errors.push(...schemaErrors(root, 'spec.validation.openAPIV3Schema'));
  if (shared.columns && index > 0) return errors;
  const columnsPath = `${shared.columns ? 'spec' : path}.additionalPrinterColumns`;
  return [
    ...errors,
    ...columns.flatMap((column, at) => columnErrors(column, `${columnsPath}[${at}]`)),
  ];
}

/** Compiles rules only in a sound schema. */
function schemaErrors(schema: JsonSchema, path: string): FieldError[] {
  const errors = [...structuralErrors(schema, path), ...ruleFormErrors(schema, path)];
  return errors.length > 0 ? errors : ruleErrors(schema, path);
}

const COLUMN_TYPES: readonly string[] = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS: readonly string[] = [
  'byte',
  'date',
  'date-time',
  'double',
  'float',
  'int32',
  'int64',
  'password',
];

function columnErrors(column: PrinterColumn, path: string): FieldError[] {
  const { name, type, format = '', jsonPath } = column;
  const errors: FieldError[] = [];
  if (name === '') errors.push(required(`${path}.name`));
  if (!COLUMN_TYPES.includes(type)) {
    const detail = `must be one of ${COLUMN_TYPES.join(',')}`;
    errors.push(invalidValue(`${path}.type`, type, detail));
  }
  if (format !== '' && !COLUMN_FORMATS.includes(format)) {
    const detail = `must be one of ${COLUMN_FORMATS.join(',')}`;
    errors.push(invalidValue(`${path}.format`, format, detail));
  }
  if (jsonPath === '') errors.push(required(`${path}.JSONPath`));
  else if (!jsonPath.startsWith('.')) {
    const detail = 'must be a simple json path starting with .';
    errors.push(invalidValue(`${path}.JSONPath`, jsonPath, detail));
  }
  return errors;
}

function namesErrors(names: CustomResourceNames, path: string): FieldError[] {
  const { plural, singular = '', kind, listKind = '', shortNames = [], categories = [] } = names;
  const errors: FieldError[] = [];
  const check = (value: string, field: string, mixedCase = false): void => {
    const complaints = dns1035LabelErrors(mixedCase ? value.toLowerCase() : value);
    if (complaints.length === 0) return;
    const prefix = mixedCase ? 'may have mixed case, but should otherwise match: ' : '';
    errors.push(invalidValue(field, value, prefix + complaints.join(',')));
  };
  for (const [field, value] of Object.entries({ plural, singular, kind, listKind })) {
    if (value === '') errors.push(required(`${path}.${field}`));
    else check(value, `${path}.${field}`, field === 'kind' || field === 'listKind');
  }
  shortNames.forEach((name, index) => {
    check(name, `${path}.shortNames[${index}]`);
  });
  categories.forEach((name, index) => {
    check(name, `${path}.categories[${index}]`);
  });
  if (kind !== '' && kind === listKind) {
    const detail = 'kind and listKind may not be the same';
    errors.push(invalidValue(`${path}.listKind`, listKind, detail));
  }
  return errors;
}

/** Objects may be stored in a version for as long as status says so. */
function storedVersionsErrors({ spec, status }: CustomResourceDefinition): FieldError[] {
  const stored = status?.storedVersions ?? [];
  const field = 'status.storedVersions';
  if (stored.length === 0) {
    return [invalidValue(field, stored, 'must have at least one stored version')];
  }
  const names = spec.versions.map(({ name }) => name);
  const missing = spec.versions.filter(({ name, storage }) => storage && !stored.includes(name));
  return [
    ...missing.map(({ name }) =>
      invalidValue(field, stored, `must have the storage version ${name}`),
    ),
    ...stored.flatMap((name, index) => {
      if (names.includes(name)) return [];
      const detail =
        `missing from spec.versions; ${name} was previously a storage version, and must remain ` +
        `in spec.versions until a storage migration ensures no data remains persisted in ${name} ` +
        `and removes ${name} from status.storedVersions`;
      return [invalidValue(`${field}[${index}]`, name, detail)];
    }),
  ];
}
