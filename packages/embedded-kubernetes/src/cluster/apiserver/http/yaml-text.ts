/**
 * Reads a YAML text as a JSON value. The value makes a round trip through JSON, because aliases may
 * make it share parts.
 */

import { MAX_JSON_DEPTH } from '@lockstep/kube/json/json-depth.ts';
import { type Document, type LineCounter, parseDocument } from 'yaml';
import { type JsonText, readJson } from './json-reader.ts';

export interface YamlOptions {
  readonly uniqueKeys?: boolean;
  readonly lineCounter?: LineCounter;
}

/** Reads the first of several documents, as Kubernetes does. Throws an `Error` that says why not. */
export function readYamlText(
  text: string,
  options: YamlOptions = {},
): { readonly document: Document; readonly json: JsonText } {
  const document = parseDocument(text, options);
  const error = document.errors.find(({ code }) => code !== 'MULTIPLE_DOCS');
  if (error !== undefined) throw isOverflow(error) ? new Error(TOO_DEEP) : error;
  return { document, json: readJson(jsonOf(document)) };
}

function jsonOf(document: Document): string {
  const value: unknown = document.toJS({ maxAliasCount: MAX_YAML_ALIASES });
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (cause) {
    // Only an alias can make a value that contains itself.
    throw new Error(isOverflow(cause) ? TOO_DEEP : 'an alias contains itself', { cause });
  }
}

/** The parser recurses, and reports where the stack ended. */
function isOverflow(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Maximum call stack');
}

/** Aliases may refer to aliases; with so few a small text cannot expand to a large object. */
const MAX_YAML_ALIASES = 100;
const TOO_DEEP = `exceeded max depth of ${MAX_JSON_DEPTH}`;
