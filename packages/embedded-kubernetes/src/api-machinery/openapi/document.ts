/**
 * OpenAPI v3 as an API server publishes it: one document for each group and version, and an index
 * of them under `/openapi/v3`.
 */
import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import { componentsOf } from './components.ts';
import { pathsOf } from './operations.ts';
import type { PublishedResource } from './published-resource.ts';

/** The key of a document in the index: `api/v1`, `apis/batch/v1`. */
export function documentKey({
  group,
  version,
}: Pick<PublishedResource, 'group' | 'version'>): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`;
}

/** The document of one group and version, to which all `resources` belong. */
export function openApiDocument(
  resources: readonly PublishedResource[],
  serverVersion: string,
): JsonObject {
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: serverVersion },
    paths: pathsOf(resources),
    components: { schemas: componentsOf(resources) },
  };
}

/**
 * The index of documents, given by key as they are sent. Their URL changes with their content, so
 * that clients may keep a document for as long as its URL is listed.
 */
export function openApiIndex(documents: ReadonlyMap<string, string>): JsonObject {
  const entries = [...documents].map(([key, text]) => {
    const serverRelativeURL = `/openapi/v3/${key}?hash=${contentHash(text)}`;
    return [key, { serverRelativeURL }] as const;
  });
  return { paths: Object.fromEntries(entries) };
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
/** Another start and another odd factor, for a second half that goes its own way. */
const SECOND_OFFSET = 0x9e3779b9;
const SECOND_FACTOR = 0x85ebca6b;

/** 64 bits in the manner of FNV-1a, enough to tell versions of a document apart. */
export function contentHash(text: string): string {
  let first = FNV_OFFSET;
  let second = SECOND_OFFSET;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    first = Math.imul(first ^ code, FNV_PRIME);
    second = Math.imul(second ^ code, SECOND_FACTOR);
  }
  return [first, second].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
}
