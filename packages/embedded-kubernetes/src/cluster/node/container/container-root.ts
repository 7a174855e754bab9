/**
 * How a container without a file system of its own finds its volumes. Below its root directory
 * (`LOCKSTEP_ROOT`) each mountPath is a symbolic link to the volume, and paths of the spec below a
 * mountPath are resolved through it. Everything else is the host's.
 */
import type { VolumeMount } from '@lockstep/kube/objects/pod.ts';
import type { MountedVolume } from '../volume/pod-volumes.ts';
import { leadsOut } from '../volume/volume-content.ts';
import { expand } from './expansion.ts';

export interface RootLayout {
  readonly links: readonly MountLink[];
  /** A path of the container's spec as a path of the host. */
  resolve(path: string): string;
  /** The path inside the volume itself, past the link; undefined for a path outside of volumes. */
  inVolume(path: string): string | undefined;
}

export interface MountLink {
  readonly path: string;
  /** The mountPath. */
  readonly at: string;
  /** It lies in a volume that is mounted above it. */
  readonly isInside: boolean;
  readonly isReadOnly: boolean;
  /** The volume, or a path in it. */
  readonly target: string;
  /** Below the volume; created as a directory if it is missing. Empty for the volume itself. */
  readonly subPath: string;
}

export type RootResult =
  | { readonly layout: RootLayout; readonly problem: undefined }
  | { readonly layout: undefined; readonly problem: string };

export function layOutRoot(
  root: string,
  mounts: readonly (VolumeMount & { readonly subPathExpr?: string })[],
  volumes: ReadonlyMap<string, MountedVolume>,
  environment: ReadonlyMap<string, string>,
): RootResult {
  const sorted = mounts
    .map((mount) => ({ ...mount, at: absolute(mount.mountPath) }))
    .sort((a, b) => depth(a.at) - depth(b.at));
  const links: (MountLink & { readonly isShared: boolean })[] = [];
  for (const mount of sorted) {
    const volume = volumes.get(mount.name);
    if (volume === undefined) return problem(`volume "${mount.name}" of a mount does not exist`);
    if (mount.at === '/')
      return problem(`mountPath ${JSON.stringify(mount.mountPath)}: not usable`);
    const subPath = mount.subPath ?? expand(mount.subPathExpr ?? '', environment);
    if (leadsOut(subPath)) return problem(`subPath ${JSON.stringify(subPath)}: leads out`);
    const parent = links.findLast((link) => isBelow(mount.at, link.at));
    if (parent?.isShared === true) {
      return problem(
        `mountPath ${mount.at}: this node mounts nothing inside a hostPath or a claim's volume`,
      );
    }
    const path =
      parent === undefined ? root + mount.at : parent.target + mount.at.slice(parent.at.length);
    const target = subPath === '' ? volume.directory : `${volume.directory}/${subPath}`;
    const isInside = parent !== undefined;
    const isReadOnly = mount.readOnly === true;
    const { isShared } = volume;
    links.push({ path, at: mount.at, isInside, isReadOnly, target, subPath, isShared });
  }
  const resolve = (path: string): string => {
    const isMounted = links.some((link) => path === link.at || isBelow(path, link.at));
    return isMounted ? root + path : path;
  };
  const inVolume = (path: string): string | undefined => {
    const link = links.findLast(({ at }) => path === at || isBelow(path, at));
    return link && link.target + path.slice(link.at.length);
  };
  return { layout: { links, resolve, inVolume }, problem: undefined };
}

function isBelow(path: string, parent: string): boolean {
  return path.startsWith(`${parent}/`);
}

/** With one slash at the front and none at the end, no `.` and no `..`. */
export function absolute(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

function depth(path: string): number {
  return path.split('/').length;
}

function problem(text: string): RootResult {
  return { layout: undefined, problem: text };
}
