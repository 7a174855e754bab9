/** Files in memory, for tests under a virtual clock. */
import type { FileKind, LogFile, NodeFiles } from '../ports/node-files.ts';

type Entry =
  | { readonly kind: 'directory' }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'file'; readonly content: Content };

/** Bytes that grow; they are joined only when they are read. */
class Content {
  #pieces: Uint8Array[];

  constructor(bytes: Uint8Array) {
    this.#pieces = [bytes];
  }

  get bytes(): Buffer {
    const [only, ...more] = this.#pieces;
    if (more.length === 0 && only instanceof Buffer) return only;
    const whole = Buffer.concat(this.#pieces);
    this.#pieces = [whole];
    return whole;
  }

  append(bytes: Uint8Array): void {
    this.#pieces.push(bytes);
  }
}

/** What a full disk has room for, each time. */
const PART_BYTES = 10;

/** Symbolic links are followed as by a system. */
export class MemoryFiles implements NodeFiles {
  /** While true nothing can be created, and only a part of each append succeeds: a full disk. */
  isFull = false;
  readonly #entries = new Map<string, Entry>([['/', { kind: 'directory' }]]);

  /** All existing paths, for tests that look for leftovers. */
  get paths(): readonly string[] {
    return [...this.#entries.keys()].sort();
  }

  async makeDirectory(path: string): Promise<void> {
    if (!this.#entries.has(this.#resolved(path))) this.#demandSpace('mkdir', path);
    this.#makeDirectory(this.#resolved(path));
  }

  async remove(path: string): Promise<void> {
    const at = this.#place(path);
    for (const known of this.#entries.keys()) {
      if (known === at || known.startsWith(`${at}/`)) this.#entries.delete(known);
    }
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    this.#demandSpace('write', path);
    const at = this.#place(path);
    this.#demandDirectory(at);
    this.#entries.set(at, { kind: 'file', content: new Content(Buffer.from(bytes)) });
  }

  async link(target: string, path: string): Promise<void> {
    this.#demandSpace('symlink', path);
    const at = this.#place(path);
    this.#demandDirectory(at);
    if (this.#entries.has(at)) throw new Error(`EEXIST: ${path} exists`);
    this.#entries.set(at, { kind: 'link', target });
  }

  async kindOf(path: string): Promise<FileKind | undefined> {
    const entry = this.#entries.get(this.#resolved(path));
    return entry?.kind === 'link' ? undefined : entry?.kind;
  }

  async readEnd(path: string, limit: number): Promise<Uint8Array> {
    return this.#bytes(path).subarray(-limit);
  }

  openLog(path: string): LogFile {
    this.#demandSpace('open', path);
    const at = this.#resolved(path);
    this.#makeDirectory(at.slice(0, at.lastIndexOf('/')));
    const content = new Content(this.#bytes(path));
    this.#entries.set(at, { kind: 'file', content });
    const append = (bytes: Uint8Array): void => {
      content.append(this.isFull ? bytes.subarray(0, PART_BYTES) : bytes);
      this.#demandSpace('write', path);
    };
    return { append, close: () => undefined };
  }

  readLog(path: string, offset: number, length: number): Uint8Array {
    return this.#bytes(path).subarray(offset, offset + length);
  }

  logSize(path: string): number {
    return this.#bytes(path).length;
  }

  logNames(path: string): readonly string[] {
    const prefix = `${this.#resolved(path)}/`;
    return this.paths
      .filter((known) => known.startsWith(prefix))
      .map((known) => known.slice(prefix.length))
      .filter((name) => !name.includes('/'));
  }

  renameLog(from: string, to: string): void {
    const entry = this.#entries.get(this.#resolved(from));
    if (entry === undefined) throw new Error(`ENOENT: ${from}`);
    this.#entries.delete(this.#resolved(from));
    this.#entries.set(this.#resolved(to), entry);
  }

  removeLog(path: string): void {
    this.#entries.delete(this.#resolved(path));
  }

  #demandSpace(call: string, path: string): void {
    if (this.isFull) throw new Error(`ENOSPC: no space left on device, ${call} '${path}'`);
  }

  #bytes(path: string): Buffer {
    const entry = this.#entries.get(this.#resolved(path));
    return entry?.kind === 'file' ? entry.content.bytes : Buffer.alloc(0);
  }

  #makeDirectory(at: string): void {
    const parts = at.split('/').slice(1);
    for (let i = 1; i <= parts.length; i++) {
      const path = `/${parts.slice(0, i).join('/')}`;
      const entry = this.#entries.get(path);
      if (entry === undefined) this.#entries.set(path, { kind: 'directory' });
      else if (entry.kind === 'file') throw new Error(`EEXIST: ${path} is a file`);
    }
  }

  #demandDirectory(at: string): void {
    const parent = at.slice(0, at.lastIndexOf('/')) || '/';
    if (this.#entries.get(parent)?.kind !== 'directory') throw new Error(`ENOENT: ${parent}`);
  }

  /** The path with the links of its directories followed, but not one at its end. */
  #place(path: string): string {
    const cut = path.lastIndexOf('/');
    return cut <= 0 ? path : `${this.#resolved(path.slice(0, cut))}${path.slice(cut)}`;
  }

  #resolved(path: string): string {
    let at = '';
    for (const part of path.split('/').slice(1)) {
      if (part === '') continue;
      at += `/${part}`;
      const entry = this.#entries.get(at);
      if (entry?.kind === 'link') at = this.#resolved(entry.target);
    }
    return at === '' ? '/' : at;
  }
}
