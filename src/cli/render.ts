import { readFileSync } from 'node:fs';
import { parseAllDocuments, stringify } from 'yaml';
import { withDefaults } from '../jobset/defaults.ts';
import { JOBSETS, type JobSet } from '../jobset/jobset.ts';
import { JOBSET_API_VERSION } from '../jobset/names.ts';
import { renderJobSet } from '../jobset/render.ts';
import { JOBSET_SCHEMA } from '../jobset/schema.ts';
import { jobSetWarnings, validateJobSet } from '../jobset/validation.ts';
import { formatFieldError } from '../kube/field-error.ts';
import type { KubeObject } from '../kube/meta.ts';
import { applyDefaults } from '../kube/schema/defaults.ts';
import { prune } from '../kube/schema/prune.ts';
import { validate } from '../kube/schema/validate.ts';

/** The image of agents in what is printed; an installed operator has its own setting. */
export const AGENT_IMAGE = 'lockstep/agent';

const EXIT_INVALID = 1;

/** Prints what the JobSets of `file` become; every problem goes to standard error, with exit code 1. */
export function render(file: string, format: 'yaml' | 'json'): number {
  const source = file === '-' ? 'standard input' : file;
  const problems: string[] = [];
  const rendered: KubeObject[] = [];
  for (const [index, document] of parseAllDocuments(
    readFileSync(file === '-' ? 0 : file, 'utf8'),
  ).entries()) {
    const at = `${source}, document ${index + 1}`;
    if (document.errors.length > 0) {
      problems.push(...document.errors.map((error) => `${at}: ${error.message}`));
      continue;
    }
    const value: unknown = document.toJS();
    if (value === null) continue;
    const { errors, warnings, objects } = renderDocument(value);
    problems.push(...errors.map((error) => `${at}: ${error}`));
    for (const warning of warnings) process.stderr.write(`lockstep: warning: ${at}: ${warning}\n`);
    rendered.push(...objects);
  }
  if (problems.length > 0) {
    for (const problem of problems) process.stderr.write(`lockstep: ${problem}\n`);
    return EXIT_INVALID;
  }
  process.stdout.write(
    format === 'json' ? listOf(rendered) : rendered.map((one) => stringify(one)).join('---\n'),
  );
  return 0;
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
  const refused = (...errors: readonly string[]): Rendered => ({
    errors,
    warnings: [],
    objects: [],
  });
  const { apiVersion, kind } = (typeof value === 'object' ? value : {}) as Partial<KubeObject>;
  if (apiVersion !== JOBSET_API_VERSION || kind !== JOBSETS.kind) {
    return refused(
      `apiVersion is "${apiVersion}" and kind is "${kind}", expected ${JOBSET_API_VERSION} and ${JOBSETS.kind}`,
    );
  }
  // A server checks metadata by its own rules: the schema of a custom resource says nothing of it.
  const { metadata, ...body } = value as KubeObject;
  const pruned = prune(JOBSET_SCHEMA, body);
  const complete = applyDefaults(JOBSET_SCHEMA, pruned.value);
  const schemaErrors = [
    ...pruned.pruned.map((path) => `unknown field "${path}"`),
    ...validate(JOBSET_SCHEMA, complete).map(formatFieldError),
  ];
  if (schemaErrors.length > 0) return refused(...schemaErrors);
  const jobSet = { ...(complete as JobSet), metadata: metadata ?? {} };
  const spec = withDefaults(jobSet.spec);
  const errors = validateJobSet(jobSet, spec).map(formatFieldError);
  if (errors.length > 0) return refused(...errors);
  return {
    errors: [],
    warnings: jobSetWarnings(jobSet, spec),
    objects: renderJobSet(jobSet, { image: AGENT_IMAGE }),
  };
}
