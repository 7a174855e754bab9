/** Templates of containers' root file systems. */
import { mkdir, mkdtemp, readlink, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { HOST_ROOT, type RootPlan } from '../namespaces/root-plan.ts';

/**
 * A template is what containers' roots hold besides mounts: directories, hundreds of links, empty
 * files. It is made once for all containers with equal roots, in a directory that each of them
 * copies: one process that copies everything is cheaper than several that make parts of it. Nothing
 * is changed or removed while the node lives, because a container that was just started may be
 * copying.
 */
export class RootTemplates {
  readonly #directory: string;
  readonly #made = new Map<string, Promise<string>>();

  /** `directory`: absolute, and made on demand. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * The template for this plan; in `own`, which goes with its container, if there are many already.
   */
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

/**
 * Containers of a node differ by the places of their volumes; beyond this number each makes its
 * own.
 */
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
