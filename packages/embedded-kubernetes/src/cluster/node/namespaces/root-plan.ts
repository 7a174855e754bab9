/**
 * The root file system of a container without an image: the machine's, with additional mount
 * points. A directory that needs one more entry is opened: recreated in memory, with all of the
 * machine's entries mounted or linked into it. So nothing is created on the machine, and everything
 * else is in its place.
 */
import type { ContainerPlace } from '../ports/pod-namespaces.ts';

/** The directories of the machine. */
export interface HostTree {
  /** The path without symbolic links; undefined if there is no such directory. */
  realDirectory(path: string): Promise<string | undefined>;
  /** In any order. */
  entries(directory: string): Promise<readonly HostEntry[]>;
}

export interface HostEntry {
  readonly name: string;
  readonly kind: 'directory' | 'link' | 'other';
}

/** All paths are absolute, in the new root. */
export interface RootPlan {
  /** To be made, parents first. */
  readonly directories: readonly string[];
  /** Directories of the machine, to be mounted at the same path. */
  readonly bound: readonly string[];
  /** Links in the machine's root, to be copied. */
  readonly copied: readonly string[];
  /** By directory: the names of entries that link to the machine's. */
  readonly linked: ReadonlyMap<string, readonly string[]>;
  /** Empty files to be made, as mount points. */
  readonly files: readonly string[];
  readonly links: ContainerPlace['links'];
  readonly mounts: ContainerPlace['mounts'];
}

/** The place of the machine's root in the new one. */
export const HOST_ROOT = '/.host';

/**
 * How many directories in an opened one are mounted, which programs cannot tell from the machine's.
 * Further ones are linked, because each mount is kernel memory of each container.
 */
const MAX_BOUND = 32;
/**
 * It makes a terminal in the directory beside it, so a link to the machine's would make one there.
 */
const NEW_TERMINAL = '/dev/ptmx';

export async function planRoot(tree: HostTree, place: ContainerPlace): Promise<RootPlan> {
  const opening = new Opening(tree);
  const mounts = [];
  for (const mount of place.mounts) {
    const at = mount.isFile ? await opening.file(mount.at) : await opening.directory(mount.at);
    mounts.push({ ...mount, at });
  }
  const links = [];
  for (const link of place.links) links.push({ ...link, at: await opening.file(link.at) });
  await opening.directory(place.cwd);
  const contents = await opening.contents();
  const files = mounts.filter(({ isFile }) => isFile).map(({ at }) => at);
  return { ...contents, files, links: [...contents.links, ...links], mounts };
}

class Opening {
  readonly #tree: HostTree;
  readonly #opened = new Set(['/']);
  /** Entries of opened directories that are not the machine's. */
  readonly #own = new Set<string>();
  readonly #directories = new Set<string>();

  constructor(tree: HostTree) {
    this.#tree = tree;
  }

  /** Makes this directory, and returns its path in the new root. */
  async directory(path: string): Promise<string> {
    const { parent, missing } = await this.#lookUp(path);
    if (missing.length === 0) return parent;
    this.#open(parent, missing[0] ?? '');
    const real = below(parent, missing.join('/'));
    this.#directories.add(real);
    return real;
  }

  /** Makes a path for a file, whose parent is made. */
  async file(path: string): Promise<string> {
    const slash = path.lastIndexOf('/');
    const name = path.slice(slash + 1);
    const { parent, missing } = await this.#lookUp(path.slice(0, slash));
    this.#open(parent, missing[0] ?? name);
    const directory = below(parent, missing.join('/'));
    if (missing.length > 0) this.#directories.add(directory);
    return below(directory, name);
  }

  async contents(): Promise<Omit<RootPlan, 'mounts' | 'files'>> {
    const opened = [...this.#opened].sort();
    const bound: string[] = [];
    const copied: string[] = [];
    const links: RootPlan['links'][number][] = [];
    const linked = new Map<string, readonly string[]>();
    for (const directory of opened) {
      const names: string[] = [];
      const directories: string[] = [];
      for (const { name, kind } of await this.#tree.entries(directory)) {
        const path = below(directory, name);
        if (this.#opened.has(path) || this.#own.has(path) || path === HOST_ROOT) continue;
        if (path === NEW_TERMINAL) links.push({ target: 'pts/ptmx', at: path });
        else if (kind === 'directory') directories.push(name);
        else if (kind === 'link' && directory === '/') copied.push(path);
        else names.push(name);
      }
      const isFew = directory === '/' || directories.length <= MAX_BOUND;
      if (isFew) bound.push(...directories.map((name) => below(directory, name)));
      linked.set(directory, isFew ? names : [...names, ...directories]);
    }
    const made = [...opened.slice(1), ...this.#directories, ...bound].sort();
    return { directories: made, bound: bound.sort(), copied, linked, links };
  }

  #open(directory: string, name: string): void {
    this.#own.add(below(directory, name));
    for (let at = directory; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) this.#opened.add(at);
  }

  /** The deepest existing directory, and the rest of the path. */
  async #lookUp(path: string): Promise<{ readonly parent: string; readonly missing: string[] }> {
    const names = path.split('/').filter((name) => name !== '');
    let parent = '/';
    for (const [i, name] of names.entries()) {
      const real = await this.#tree.realDirectory(below(parent, name));
      if (real === undefined) return { parent, missing: names.slice(i) };
      parent = real;
    }
    return { parent, missing: [] };
  }
}

function below(directory: string, name: string): string {
  if (name === '') return directory;
  return directory === '/' ? `/${name}` : `${directory}/${name}`;
}
