import { ClusterAccessError } from './cluster-access.ts';

/** A PEM text, or the path of its file. */
export type PemSource = { readonly pem: string } | { readonly file: string };

interface FilePosition {
  readonly file: string;
  /** The path of the map in the file: `clusters[0].cluster`; empty for the whole. */
  readonly path: string;
  readonly resolvePath: (path: string) => string;
}

/** One map of a kubeconfig file: reads typed fields, and names its place in errors. */
export class KubeconfigMap {
  readonly #fields: ReadonlyMap<string, unknown>;
  readonly #place: FilePosition;

  constructor(value: unknown, place: FilePosition) {
    this.#place = place;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw this.error('', value, 'must be a map');
    }
    this.#fields = new Map(Object.entries(value));
  }

  /** An absent, null or empty field is undefined, as in kubectl. */
  string(field: string): string | undefined {
    const value = this.#fields.get(field) ?? '';
    // An unquoted number or date is a likely slip, and its text in the file may have been
    // different.
    if (typeof value !== 'string') throw this.error(field, value, 'must be a string');
    return value === '' ? undefined : value;
  }

  required(field: string): string {
    const value = this.string(field);
    if (value === undefined) throw this.error(field, undefined, 'required');
    return value;
  }

  /** One of these values, if the field is set. `hint` is appended to the error. */
  oneOf<T extends string>(field: string, allowed: readonly T[], hint?: string): T | undefined {
    const value = this.string(field);
    const found = allowed.find((known) => known === value);
    if (value === undefined || found !== undefined) return found;
    const more = hint === undefined ? '' : `; ${hint}`;
    throw this.error(field, value, `must be ${allowed.join(' or ')}${more}`);
  }

  boolean(field: string): boolean | undefined {
    const value = this.#fields.get(field) ?? undefined;
    if (value === undefined || typeof value === 'boolean') return value;
    throw this.error(field, value, 'must be true or false');
  }

  /** The path in a field, made absolute. */
  path(field: string): string | undefined {
    const value = this.string(field);
    return value === undefined ? undefined : this.#place.resolvePath(value);
  }

  /** `FIELD-data` in base64, or else the file that `FIELD` names. */
  pem(field: string): PemSource | undefined {
    const data = this.string(`${field}-data`);
    if (data !== undefined) {
      const pem = Buffer.from(data, 'base64').toString();
      if (pem.includes('-----BEGIN ')) return { pem };
      throw this.error(`${field}-data`, SECRET, 'must be a PEM text in base64');
    }
    const file = this.path(field);
    return file === undefined ? undefined : { file };
  }

  map(field: string): KubeconfigMap {
    return new KubeconfigMap(this.#fields.get(field) ?? {}, this.#within(field));
  }

  list(field: string): readonly KubeconfigMap[] {
    const value = this.#fields.get(field) ?? [];
    if (!Array.isArray(value)) throw this.error(field, value, 'must be a list');
    return value.map((item, i) => new KubeconfigMap(item, this.#within(`${field}[${i}]`)));
  }

  strings(field: string): readonly string[] {
    const value = this.#fields.get(field) ?? [];
    if (!Array.isArray(value)) throw this.error(field, value, 'must be a list');
    return value.map((item: unknown, i) => {
      if (typeof item !== 'string') throw this.error(`${field}[${i}]`, item, 'must be a string');
      return item;
    });
  }

  has(field: string): boolean {
    return (this.#fields.get(field) ?? '') !== '';
  }

  /** The field's value, uninterpreted. */
  json(field: string): unknown {
    const value = this.#fields.get(field);
    try {
      JSON.stringify(value);
      return value;
    } catch {
      throw this.error(field, SECRET, 'must be JSON, without anchors that contain themselves');
    }
  }

  /** File and map, for errors: `config: users[0].user`. */
  get place(): string {
    return `${this.#place.file}: ${this.#place.path}`;
  }

  /** The entry that a field names. */
  reference(
    field: string,
    entries: ReadonlyMap<string, KubeconfigMap>,
    list: string,
  ): KubeconfigMap {
    const name = this.required(field);
    const entry = entries.get(name);
    if (entry === undefined) throw this.error(field, name, `no entry of ${list} has this name`);
    return entry;
  }

  /** Throws if a field is set that we would have to ignore. */
  refuse(field: string, why: string): void {
    if (this.has(field)) throw this.error(field, undefined, why);
  }

  error(field: string, value: unknown, expected: string): ClusterAccessError {
    const { file, path } = this.#within(field);
    const isShown = value !== undefined && value !== SECRET && !mayHoldSecret(path);
    const shown = isShown ? `: ${quoted(value)}` : '';
    return new ClusterAccessError(
      `${file}: ${path === '' ? 'the file' : path}${shown}: ${expected}`,
    );
  }

  #within(field: string): FilePosition {
    const { path } = this.#place;
    return {
      ...this.#place,
      path: path === '' || field === '' ? path + field : `${path}.${field}`,
    };
  }
}

/** Stands for a value that must not show in an error. */
const SECRET = Symbol('secret');

/**
 * Values of users, and values in their place, are secret except for these fields. A file that is
 * not a map at all may hold a token.
 */
function mayHoldSecret(path: string): boolean {
  return path === '' || (path.startsWith('users') && !HARMLESS.test(path));
}

const HARMLESS =
  /\.(name|as|exec\.(apiVersion|command|installHint|provideClusterInfo|interactiveMode))$/;

const MAX_QUOTED_CHARACTERS = 100;

function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > MAX_QUOTED_CHARACTERS ? `${text.slice(0, MAX_QUOTED_CHARACTERS)}...` : text;
}
