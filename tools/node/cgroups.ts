/** The control groups of one run, below a group of its own, so that runs do not share `kubepods`. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

export const CGROUPS = '/sys/fs/cgroup';
/** A group stays busy until the kernel has ended the last process in it. */
const REMOVAL_TRIES = 50;
const REMOVAL_PAUSE_MS = 100;
/** Eight times the usual share, or the kernel would treat all Pods as one of many sessions. */
const CPU_SHARES = '8192';

/** Directories of the mounted hierarchies: one of version 2, or one for each controller of version 1. */
export function hierarchies(): readonly string[] {
  if (existsSync(join(CGROUPS, 'cgroup.controllers'))) return [CGROUPS];
  if (!existsSync(join(CGROUPS, 'memory'))) return [];
  return readdirSync(CGROUPS, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(CGROUPS, name));
}

/** Makes a group and a group below it for each of `children`. */
export function makeCgroup(name: string, children: readonly string[]): void {
  for (const hierarchy of hierarchies()) {
    const path = join(hierarchy, name);
    for (const child of ['', ...children]) mkdirSync(join(path, child), { recursive: true });
    for (const parent of hierarchy === CGROUPS ? [CGROUPS, path] : []) passControllers(parent);
    const shares = join(path, 'cpu.shares');
    if (existsSync(shares)) writeFileSync(shares, CPU_SHARES);
  }
}

/** In version 2, a group has the controllers that the one above it passes on. */
function passControllers(path: string): void {
  const controllers = readFileSync(join(path, 'cgroup.controllers'), 'utf8').trim().split(' ');
  const all = controllers.map((controller) => `+${controller}`).join(' ');
  writeFileSync(join(path, 'cgroup.subtree_control'), all);
}

/** Removes a group with all below it. Their processes must have been killed. */
export async function removeCgroup(name: string): Promise<void> {
  for (const hierarchy of hierarchies()) {
    const path = join(hierarchy, name);
    for (let tries = REMOVAL_TRIES; existsSync(path); tries--) {
      try {
        removeTree(path);
      } catch (error) {
        if (tries === 0) throw error;
        await setTimeout(REMOVAL_PAUSE_MS);
      }
    }
  }
}

/** The files of a control group go with its directory. */
function removeTree(path: string): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) removeTree(join(path, entry.name));
  }
  rmdirSync(path);
}
