import { readFileSync } from 'node:fs';
import { parseAllDocuments, stringify } from 'yaml';
import { admitJobSet, WHOLE_JOBSET_SCHEMA } from '../jobset/admission.ts';
import { DEFAULT_FEATURE_GATES } from '../jobset/feature-gates.ts';
import { JOBSETS, type JobSet } from '../jobset/jobset.ts';
import { JOBSET_API_VERSION } from '../jobset/names.ts';
import { renderJobSet } from '../jobset/render.ts';
import { nameOrSample } from '../jobset/validation/jobset-name.ts';
import { jobSetWarnings } from '../jobset/validation.ts';
import { formatFieldError } from '../kube/field-error.ts';
import { isJsonObject } from '../kube/json-value.ts';
import type { KubeObject } from '../kube/meta.ts';
import { dns1123SubdomainErrors } from '../kube/names.ts';
import { prune } from '../kube/schema/prune.ts';
import type { FieldError } from '../kube/status.ts';
import { objectMetaErrors } from '../kube/validation/object-meta.ts';

/** The image of agents in what is printed; an installed operator has its own setting. */
export const AGENT_IMAGE = 'lockstep/agent';

const EXIT_INVALID = 1;

/** Prints what the JobSets of `file` become; every problem goes to standard error, with exit code 1. */
export function render(file: string, format: 'yaml' | 'json'): number {
  const source = file === '-' ? 'standard input' : file;
  const text = readFileSync(file === '-' ? 0 : file, 'utf8');
  const { problems, warnings, output } = renderManifests(text, source, format);
  for (const warning of warnings) process.stderr.write(`lockstep: warning: ${warning}\n`);
  for (const problem of problems) process.stderr.write(`lockstep: ${problem}\n`);
  if (problems.length > 0) return EXIT_INVALID;
  process.stdout.write(output);
  return 0;
}

/** Problems and warnings name the document that they are about; with a problem there is no output. */
export interface RenderedManifests {
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
  readonly output: string;
}

export function renderManifests(
  text: string,
  source: string,
  format: 'yaml' | 'json',
): RenderedManifests {
  const problems: string[] = [];
  const warnings: string[] = [];
  const objects: KubeObject[] = [];
  for (const [index, document] of parseAllDocuments(text).entries()) {
    const at = (what: string): string => `${source}, document ${index + 1}: ${what}`;
    if (document.errors.length > 0) {
      problems.push(...document.errors.map(({ message }) => at(message)));
      continue;
    }
    const value: unknown = document.toJS();
    if (value === null) continue;
    const rendered = renderDocument(value);
    problems.push(...rendered.errors.map(at));
    warnings.push(...rendered.warnings.map(at));
    objects.push(...rendered.objects);
  }
  if (problems.length > 0) return { problems, warnings, output: '' };
  const output =
    format === 'json' ? listOf(objects) : objects.map((one) => stringify(one)).join('---\n');
  return { problems, warnings, output };
}

function listOf(items: readonly KubeObject[]): string {
  return `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, undefined, 2)}\n`;
}

interface Rendered {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  readonly objects: readonly KubeObject[];
}

function renderDocument(value: unknown): Rendered {
  const object = isJsonObject(value) ? value : {};
  const { apiVersion, kind } = object;
  if (apiVersion !== JOBSET_API_VERSION || kind !== JOBSETS.kind) {
    return refused([
      `apiVersion is "${String(apiVersion)}" and kind is "${String(kind)}", expected ${JOBSET_API_VERSION} and ${JOBSETS.kind}`,
    ]);
  }
  const { value: known, pruned } = prune(WHOLE_JOBSET_SCHEMA, { metadata: {}, ...object });
  const { jobSet, schemaErrors, ruleErrors } = admitJobSet(known as JobSet, DEFAULT_FEATURE_GATES);
  const problems = [
    ...pruned.map((path) => `unknown field "${path}"`),
    ...[...metadataErrors(jobSet, schemaErrors), ...schemaErrors, ...ruleErrors].map(
      formatFieldError,
    ),
  ];
  if (problems.length > 0) return refused(problems);
  const name = nameOrSample(jobSet.metadata);
  return {
    errors: [],
    warnings: jobSetWarnings(jobSet),
    objects: renderJobSet(
      { ...jobSet, metadata: { ...jobSet.metadata, name } },
      { image: AGENT_IMAGE, delivery: 'Copy' },
    ),
  };
}

function refused(errors: readonly string[]): Rendered {
  return { errors, warnings: [], objects: [] };
}

/** What a server checks of the metadata of any object, where the schema finds nothing wrong with it. */
function metadataErrors({ metadata }: JobSet, errors: readonly FieldError[]): FieldError[] {
  if (errors.some(({ field }) => /^metadata\b/.test(field))) return [];
  const complete = { namespace: 'default', ...metadata, name: nameOrSample(metadata) };
  return objectMetaErrors(complete, { namespaced: true, nameRule: dns1123SubdomainErrors });
}
