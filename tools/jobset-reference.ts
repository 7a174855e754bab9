/**
 * Writes `docs/reference/jobset.md`, the reference of the JobSet API, from its schema: `npx tsx
 * tools/jobset-reference.ts`. A test fails if the file is out of date.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { DEFAULT_FEATURE_GATES } from '../src/jobset/feature-gates.ts';
import { JOBSET_CRD } from '../src/jobset/schema/crd.ts';
import { JOBSET_SCHEMA } from '../src/jobset/schema/schema.ts';

export const REFERENCE_FILE = join(import.meta.dirname, '../docs/reference/jobset.md');

export function jobSetReference(): string {
  const { group, names, versions, scope } = JOBSET_CRD.spec;
  const { spec = {}, status = {} } = JOBSET_SCHEMA.properties ?? {};
  const version = versions.map(({ name }) => name).join(', ');
  const columns = versions.flatMap(({ additionalPrinterColumns = [] }) => additionalPrinterColumns);
  return [
    '# The JobSet API',
    '`npx tsx tools/jobset-reference.ts` writes this page from the schema. `kubectl explain jobset --recursive` shows the same.',
    `Group \`${group}\`, version \`${version}\`, kind \`${names.kind}\`, resource \`${names.plural}\` (\`${names.singular}\`), ${scope}, subresource \`status\`.`,
    `\`kubectl get jobsets\` shows: ${columns.map(({ name }) => `\`${name}\``).join(', ')}.`,
    `Feature gates, all on by default: ${Object.keys(DEFAULT_FEATURE_GATES)
      .map((gate) => `\`${gate}\``)
      .join(', ')}.`,
    rulesSection('Rules about a whole JobSet', JOBSET_SCHEMA),
    ...objectSections('spec', spec),
    ...objectSections('status', status),
  ]
    .filter((part) => part !== '')
    .map(wrapped)
    .join('\n\n')
    .concat('\n');
}

/** Fields whose types Kubernetes documents itself. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'spec.replicatedJobs[].template.metadata': 'Metadata, as far as a template can say it.',
  'spec.replicatedJobs[].template.spec': 'All of it is in the reference of `batch/v1 Job`.',
  'spec.volumeClaimPolicies[].templates[]':
    'All of it is in the reference of `v1 PersistentVolumeClaim`.',
};

/** A section for `schema` and one for each object below it, in the order of their fields. */
function objectSections(path: string, schema: JsonSchema): readonly string[] {
  const fields = Object.entries(schema.properties ?? {});
  const rows = fields.map(([name, field]) => row(name, field, schema.required ?? []));
  const below = fields.flatMap(([name, field]) => {
    const { items } = field;
    const inner = items ?? field;
    const innerPath = `${path}.${name}${items === undefined ? '' : '[]'}`;
    const isDescribedHere = inner.properties !== undefined && !(innerPath in ELSEWHERE);
    return isDescribedHere ? objectSections(innerPath, inner) : [];
  });
  const elsewhere = fields.flatMap(([name, { items }]) => {
    const at = `${path}.${name}${items === undefined ? '' : '[]'}`;
    const where = ELSEWHERE[at];
    return where === undefined ? [] : [`\`${name}\`: ${where}`];
  });
  return [
    `## ${path}`,
    schema.description ?? '',
    ['| field | type | default | limits | meaning |', '|---|---|---|---|---|', ...rows].join('\n'),
    ...elsewhere,
    rulesSection('Rules', schema),
    ...below,
  ];
}

const MAX_COLUMNS = 120;

/** Lines of prose and of lists at most `MAX_COLUMNS` long; rows of a table stay whole. */
function wrapped(part: string): string {
  return part
    .split('\n')
    .map((line) => (line.startsWith('|') ? line : wrappedLine(line)))
    .join('\n');
}

function wrappedLine(line: string): string {
  const indent = line.startsWith('- ') ? '  ' : '';
  const [first = '', ...words] = line.split(' ');
  const lines = [first];
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`;
    if (longer.length <= MAX_COLUMNS) lines[lines.length - 1] = longer;
    else lines.push(indent + word);
  }
  return lines.join('\n');
}

function row(name: string, field: JsonSchema, required: readonly string[]): string {
  const cells = [
    `\`${name}\`${required.includes(name) ? ' (required)' : ''}`,
    typeOf(field),
    field.default === undefined ? '' : `\`${text(field.default)}\``,
    limits(field),
    field.description ?? '',
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function typeOf({ type, format, items, enum: values, nullable }: JsonSchema): string {
  if (items !== undefined) return `list of ${typeOf(items)}`;
  if (values !== undefined) return values.map((value) => `\`${text(value)}\``).join(', ');
  const name = format ?? type ?? 'any';
  return nullable === true ? `${name} or null` : name;
}

function limits(field: JsonSchema): string {
  const { items, minimum, maxItems, maxLength, minLength } = field;
  const keys = field['x-kubernetes-list-map-keys'];
  const rules = [
    ...(field['x-kubernetes-validations'] ?? []),
    ...(items?.['x-kubernetes-validations'] ?? []),
  ];
  return [
    minimum === undefined ? undefined : `at least ${minimum}`,
    maxItems === undefined ? undefined : `at most ${maxItems} items`,
    minLength === undefined ? undefined : `at least ${minLength} characters`,
    maxLength === undefined ? undefined : `at most ${maxLength} characters`,
    keys === undefined ? undefined : `unique by \`${keys.join(', ')}\``,
    rules.some(({ rule }) => rule === 'self == oldSelf') ? 'immutable' : undefined,
  ]
    .filter((limit) => limit !== undefined)
    .join('; ');
}

/** The messages of the definition's rules; the message of an immutable field is in its row. */
function rulesSection(title: string, schema: JsonSchema): string {
  const rules = (schema['x-kubernetes-validations'] ?? []).filter(
    ({ rule }) => rule !== 'self == oldSelf',
  );
  const told = rules.map(({ message, messageExpression, fieldPath }) => {
    const where = fieldPath === undefined ? '' : `\`${fieldPath.slice(1)}\`: `;
    return `- ${where}${plain(message ?? readable(messageExpression ?? ''))}`;
  });
  return told.length === 0 ? '' : [`${title}:`, '', ...told].join('\n');
}

/** A regular expression is not a link. */
function plain(text: string): string {
  return text.replaceAll(/[[\]*]/g, '\\$&');
}

/** An expression that makes a text, with `…` for the parts that it fills in. */
function readable(expression: string): string {
  const texts = expression.match(/'(?:[^'\\]|\\.)*'/g) ?? [];
  return texts
    .map((quoted) => quoted.slice(1, -1).replaceAll("\\'", "'"))
    .join('…')
    .concat(expression.endsWith("'") ? '' : '…');
}

if (process.argv[1] === import.meta.filename) writeFileSync(REFERENCE_FILE, jobSetReference());
