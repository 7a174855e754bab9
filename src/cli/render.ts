/** `lockstep render`: shows the objects that a JobSet becomes, without a cluster. */
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { objectMetaErrors } from '@lockstep/embedded-kubernetes/kinds';
import { formatFieldError } from '@lockstep/kube/field-error.ts';
import { isDeeperThan, MAX_JSON_DEPTH } from '@lockstep/kube/json/json-depth.ts';
import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import type { KubeObject } from '@lockstep/kube/meta.ts';
import { dns1123SubdomainErrors } from '@lockstep/kube/name-rules.ts';
import { sha1 } from '@lockstep/kube/runtime/adapters/sha1.ts';
import { prune } from '@lockstep/kube/schema/prune.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { type Document, parseAllDocuments, stringify } from 'yaml';
import { admitJobSet, WHOLE_JOBSET_SCHEMA } from '../jobset/admit.ts';
import { DEFAULT_FEATURE_GATES } from '../jobset/feature-gates.ts';
import { JOBSETS, type JobSet } from '../jobset/jobset.ts';
import { JOBSET_API_VERSION } from '../jobset/names.ts';
import { type Rendering, renderJobSet } from '../jobset/render.ts';
import { nameOrSample } from '../jobset/validation/jobset-name.ts';
import { jobSetWarnings } from '../jobset/validation/validation.ts';
import { jobRefusals } from './rendered-jobs.ts';
import { tell } from './tell.ts';

/** The image of agents in the output; an installed operator has its own setting. */
export const AGENT_IMAGE = 'lockstep/agent';

const EXIT_INVALID = 1;
/** An API server takes objects of up to 3 MiB; a file may hold several. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;

/**
 * Prints the objects for the JobSets of `file`. Every problem goes to standard error, with exit
 * code 1.
 */
export async function render(file: string, format: 'yaml' | 'json'): Promise<number> {
  const source = file === '-' ? 'standard input' : file;
  const { problems, warnings, output } = await textOf(file).then(
    (text) => renderManifests(text, source, format),
    (error: unknown) => refusedAll(`${source}: ${reasonOf(error)}`),
  );
  const lines = [...warnings.map((warning) => `warning: ${warning}`), ...problems];
  for (const line of lines) tell(line);
  if (problems.length > 0) return EXIT_INVALID;
  for (const part of output) if (!process.stdout.write(part)) await once(process.stdout, 'drain');
  return 0;
}

/** Rejects, in words for the user, if there is no text. */
async function textOf(file: string): Promise<string> {
  const stream = file === '-' ? process.stdin : createReadStream(file);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_FILE_BYTES) throw new Error(`more than ${MAX_FILE_BYTES} bytes`);
  }
  const bytes = Buffer.concat(chunks);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Error('not text in UTF-8', { cause });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  ENOTDIR: 'no such file',
  EISDIR: 'a directory, expected a file',
  EACCES: 'may not be read by you',
};

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return REASONS[(error as NodeJS.ErrnoException).code ?? ''] ?? error.message;
}

/** Problems and warnings name their document; if there is a problem, there is no output. */
export interface RenderedManifests {
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
  /** Made on demand, because a JobSet may have many Jobs. */
  readonly output: Iterable<string>;
}

export function renderManifests(
  text: string,
  source: string,
  format: 'yaml' | 'json',
): RenderedManifests {
  const problems: string[] = [];
  const warnings: string[] = [];
  const renderings: Rendering[] = [];
  let count = 0;
  for (const { at, value, errors } of manifestsIn(text, source)) {
    if (!isJobSet(value) && errors.length === 0 && isObjectOfApi(value)) {
      warnings.push(`${at}: ${value.kind} of ${value.apiVersion} is not a JobSet and is skipped`);
      continue;
    }
    count++;
    const rendered = errors.length > 0 ? refused(errors) : renderDocument(value);
    problems.push(...rendered.errors.map((what) => `${at}: ${what}`));
    warnings.push(...rendered.warnings.map((what) => `${at}: ${what}`));
    if (rendered.rendering !== undefined) renderings.push(rendered.rendering);
  }
  if (count === 0) problems.push(`${source} contains no JobSet`);
  if (problems.length > 0) return { problems, warnings, output: [] };
  const objects = objectsOf(renderings);
  return { problems, warnings, output: format === 'json' ? asList(objects) : asYaml(objects) };
}

/** One object of a file, or why there is none. */
interface Manifest {
  readonly at: string;
  readonly value: unknown;
  readonly errors: readonly string[];
}

/** Documents without content are left out; a List stands for its items. */
function* manifestsIn(text: string, source: string): Generator<Manifest> {
  for (const [index, document] of parseAllDocuments(text, { prettyErrors: false }).entries()) {
    const at = `${source}, document ${index + 1}`;
    const { value, errors } = contentOf(document, text);
    if (errors.length === 0 && value === null) continue;
    const items = isJsonObject(value) && value['kind'] === 'List' ? value['items'] : undefined;
    if (!Array.isArray(items)) yield { at, value, errors };
    else yield* items.map((item, i) => ({ at: `${at}, items[${i}]`, value: item, errors: [] }));
  }
}

/** Only the first syntax error: the parser misreads what follows. */
function contentOf(document: Document, text: string): Omit<Manifest, 'at'> {
  const [error] = document.errors;
  if (error !== undefined) {
    const before = text.slice(0, error.pos[0]);
    const line = before.split('\n').length;
    return { value: undefined, errors: [`${wordsOf(error.message)} at line ${line}`] };
  }
  try {
    const value: unknown = document.toJS();
    return isDeeperThan(value, MAX_JSON_DEPTH)
      ? { value: undefined, errors: [TOO_DEEP] }
      : { value, errors: [] };
  } catch (cause) {
    // For aliases that expand without end.
    const why = cause instanceof Error ? cause.message : String(cause);
    return { value: undefined, errors: [wordsOf(why)] };
  }
}

const TOO_DEEP = `more than ${MAX_JSON_DEPTH} levels of lists and objects`;

function wordsOf(message: string): string {
  return message.startsWith('Maximum call stack') ? TOO_DEEP : message;
}

function isJobSet(value: unknown): boolean {
  const object = isJsonObject(value) ? value : {};
  return object['apiVersion'] === JOBSET_API_VERSION && object['kind'] === JOBSETS.kind;
}

/** An object of another kind; a JobSet of another version counts as one of ours. */
function isObjectOfApi(
  value: unknown,
): value is { readonly apiVersion: string; readonly kind: string } {
  const { apiVersion, kind } = isJsonObject(value) ? value : {};
  return typeof apiVersion === 'string' && typeof kind === 'string' && kind !== JOBSETS.kind;
}

function* objectsOf(renderings: readonly Rendering[]): Generator<KubeObject> {
  for (const { objects, jobs } of renderings) {
    yield* objects;
    yield* jobs();
  }
}

function* asYaml(objects: Iterable<KubeObject>): Generator<string> {
  let separator = '';
  for (const object of objects) {
    yield separator + stringify(object);
    separator = '---\n';
  }
}

/** A List as `JSON.stringify` would write it as a whole. */
function* asList(items: Iterable<KubeObject>): Generator<string> {
  yield '{\n  "apiVersion": "v1",\n  "kind": "List",\n  "items": [';
  let separator = '';
  for (const item of items) {
    const text = JSON.stringify(item, undefined, 2).replaceAll('\n', `\n${ITEM_INDENT}`);
    yield `${separator}\n${ITEM_INDENT}${text}`;
    separator = ',';
  }
  yield '\n  ]\n}\n';
}

const ITEM_INDENT = '    ';

interface RenderedDocument {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  readonly rendering?: Rendering;
}

function renderDocument(value: unknown): RenderedDocument {
  if (!isJsonObject(value)) {
    return refused([`no object, expected ${JOBSETS.kind} of ${JOBSET_API_VERSION}`]);
  }
  if (!isJobSet(value)) {
    const [apiVersion, kind] = [value['apiVersion'], value['kind']].map(shown);
    return refused([
      `apiVersion is ${apiVersion} and kind is ${kind}, expected ${JOBSETS.kind} of ${JOBSET_API_VERSION}`,
    ]);
  }
  const { value: known, pruned } = prune(WHOLE_JOBSET_SCHEMA, { metadata: {}, ...value });
  const { jobSet, schemaErrors, ruleErrors } = admitJobSet(known as JobSet, DEFAULT_FEATURE_GATES);
  const problems = [
    ...pruned.map((path) => `unknown field "${path}"`),
    ...[...metadataErrors(jobSet, schemaErrors), ...schemaErrors, ...ruleErrors].map(
      formatFieldError,
    ),
  ];
  if (problems.length > 0) return refused(problems);
  const name = nameOrSample(jobSet.metadata);
  const rendering = renderJobSet(
    { ...jobSet, metadata: { ...jobSet.metadata, name } },
    { image: AGENT_IMAGE, delivery: 'Copy' },
    sha1,
  );
  // Other Jobs of a ReplicatedJob have the same template.
  const errors = jobRefusals(rendering.jobs(1));
  return { errors, warnings: jobSetWarnings(jobSet), rendering };
}

/** A missing value is not shown as "undefined". */
function shown(value: unknown): string {
  return value === undefined ? 'missing' : JSON.stringify(value);
}

function refusedAll(problem: string): RenderedManifests {
  return { problems: [problem], warnings: [], output: [] };
}

function refused(errors: readonly string[]): RenderedDocument {
  return { errors, warnings: [] };
}

/** Problems of the metadata that every server checks, if the schema found none. */
function metadataErrors({ metadata }: JobSet, errors: readonly FieldError[]): FieldError[] {
  if (errors.some(({ field }) => /^metadata\b/.test(field))) return [];
  const complete = { namespace: 'default', ...metadata, name: nameOrSample(metadata) };
  return objectMetaErrors(complete, { namespaced: true, nameRule: dns1123SubdomainErrors });
}
