/** What Pods cost the machine, as control groups and the kernel count it. */
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { RUN } from '../../../test/node/node.ts';
import { CGROUPS } from '../cgroups.ts';

const KIB = 1024;

export interface PodCost {
  /** What `kubectl top` shows: without pages of files that were not used lately. */
  readonly memoryBytes: number;
  /** Since the Pod was made, of all containers that it has had. */
  readonly cpuMs: number;
}

/** What all containers of a Pod cost, the sandbox included. */
export function costOf(node: string, uid: string): PodCost {
  const at = (controller: string, file: string): string =>
    readFileSync(join(groupOf(controller, node, uid), file), 'utf8');
  const lines = at('memory', 'memory.stat').split('\n');
  const stat = new Map(lines.map((line) => line.split(' ') as [string, string]));
  if (isUnified()) {
    const usage = /^usage_usec (\d+)/m.exec(at('', 'cpu.stat'))?.[1];
    const memoryBytes = Number(at('', 'memory.current')) - Number(stat.get('inactive_file'));
    return { memoryBytes, cpuMs: Number(usage) / 1e3 };
  }
  const used = Number(at('memory', 'memory.usage_in_bytes'));
  const cpuMs = Number(at('cpuacct', 'cpuacct.usage')) / 1e6;
  return { memoryBytes: used - Number(stat.get('total_inactive_file')), cpuMs };
}

function isUnified(): boolean {
  return existsSync(join(CGROUPS, 'cgroup.controllers'));
}

/** The directory of a Pod's control group; `controller` counts in version 1. */
function groupOf(controller: string, node: string, uid: string): string {
  const hierarchy = isUnified() ? CGROUPS : join(CGROUPS, controller);
  const pods = join(hierarchy, basename(RUN), node, 'kubepods');
  const found = ['', 'burstable', 'besteffort']
    .map((quality) => join(pods, quality, `pod${uid}`))
    .find(existsSync);
  if (found === undefined) throw new Error(`Pod ${uid} has no control group below ${pods}`);
  return found;
}

/**
 * The memory of all processes of the run but this one: cluster, node, operators and Pods. Pages that
 * several share count once.
 */
export function memoryOfAll(): number {
  let bytes = 0;
  for (const pid of readdirSync('/proc').map(Number)) {
    if (!(pid > 0) || pid === process.pid) continue;
    try {
      const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
      bytes += Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) * KIB;
    } catch {
      // It has ended.
    }
  }
  return bytes;
}

/** The sizes of all files below a directory. */
export function bytesBelow(directory: string): number {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((path) => lstatSync(join(directory, path)))
    .reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);
}
