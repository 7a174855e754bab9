import { mkdir, mkdtemp, readlink, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { HOST_ROOT, type RootPlan } from '../namespaces/root-plan.ts';

/**
 * What containers' roots hold beside mounts: directories, hundreds of links, empty files. It is made
 * once for all containers whose roots hold the same, in a directory that each of them copies, because
 * one process that copies all is cheaper than several that make some of it. Nothing is changed or
 * removed while the node lives: a container that was just started may be copying.
 */
export class RootTemplates {
  readonly #directory: string;
  readonly #made = new Map<string, Promise<string>>();

  /** `directory`: absolute, and made when it is needed. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** The template for this plan; in `own`, which goes with its container, if there are many already. */
  async pathOf(plan: RootPlan, own: string): Promise<string> {
    const { directories, copied, linked, files, links } = plan;
    const key = JSON.stringify([directories, copied, [...linked], files, links]);
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    if (this.#made.size >= MAX_SHARED) {
      await fill(own, plan);
      return own;
    }
    const made = this.#make(plan);
    this.#made.set(key, made);
    made.catch(() => this.#made.delete(key));
    return made;
  }

  async #make(plan: RootPlan): Promise<string> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const path = await mkdtemp(join(this.#directory, 'root-'));
    await fill(path, plan);
    return path;
  }
}

/** Containers of a node differ by where their volumes are; beyond that many each pays for itself. */
const MAX_SHARED = 100;

async function fill(path: string, plan: RootPlan): Promise<void> {
  const { directories, copied, linked, files, links } = plan;
  for (const at of [HOST_ROOT, ...directories]) await mkdir(path + at, { recursive: true });
  const toMachine = [...linked].flatMap(([at, names]) => {
    const directory = at === '/' ? '' : at;
    return names.map((name) =>
      symlink(`${HOST_ROOT}${directory}/${name}`, `${path}${directory}/${name}`),
    );
  });
  await Promise.all([
    ...toMachine,
    ...copied.map(async (link) => symlink(await readlink(link), join(path, basename(link)))),
    ...files.map((at) => writeFile(path + at, '')),
    ...links.map(({ target, at }) => symlink(target, path + at)),
  ]);
}
