/**
 * What a container with namespaces sees, and the directories that it needs on the machine. Its root
 * (`LOCKSTEP_ROOT`) is a link to `/`, so programs find their volumes either way.
 */
import type { Container, Pod } from '@lockstep/kube/objects/pod.ts';
import { hostnameOf } from '../network/pod-hostname.ts';
import type { NodeContext } from '../ports/node-context.ts';
import type { ContainerPlace, PlaceMount } from '../ports/pod-namespaces.ts';
import { absolute, type MountLink, type RootLayout } from './container-root.ts';

export const DEFAULT_TERMINATION_MESSAGE_PATH = '/dev/termination-log';

/** A container starts with nothing of its former run but its volumes. */
export async function makePlace(
  context: NodeContext,
  pod: Pod,
  container: Container,
  directory: string,
  layout: RootLayout,
): Promise<ContainerPlace> {
  const { files } = context;
  await files.remove(directory);
  await Promise.all(
    ['work', 'tmp', 'mountpoint'].map((name) => files.makeDirectory(`${directory}/${name}`)),
  );
  await files.link('/', `${directory}/root`);
  const mounts: PlaceMount[] = [];
  for (const link of layout.links) mounts.push(await mountOf(context, link));
  const message = await makeTerminationMessage(context, container, directory, layout);
  return {
    directory,
    mounts: [...mounts, ...message],
    links: [{ target: context.hostsPath(pod), at: '/etc/hosts' }].filter(
      ({ at }) => !mounts.some((mount) => mount.at === at),
    ),
    cwd: await workingDirectory(context, container, layout, `${directory}/work`),
    hasOwnProcesses: pod.spec.hostPID !== true,
    hostname: pod.spec.hostNetwork === true ? undefined : hostnameOf(pod),
  };
}

/** In a place's directory; the node reads it when the container has ended. */
export function terminationMessageOf({ directory }: Pick<ContainerPlace, 'directory'>): string {
  return `${directory}/termination-log`;
}

export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

async function mountOf(
  { files }: NodeContext,
  { path, at, target, subPath, isInside, isReadOnly }: MountLink,
): Promise<PlaceMount> {
  const found = await files.kindOf(target);
  if (found === undefined && subPath !== '') await files.makeDirectory(target);
  const isFile = found !== undefined && found !== 'directory';
  if (isInside) await makeMountPoint(files, path, isFile);
  return { source: target, at, isFile, isReadOnly };
}

/** In a volume, where container runtimes make them too. */
async function makeMountPoint(
  files: NodeContext['files'],
  path: string,
  isFile: boolean,
): Promise<void> {
  if (!isFile) await files.makeDirectory(path);
  else if ((await files.kindOf(path)) === undefined) {
    await files.makeDirectory(parentOf(path));
    await files.write(path, new Uint8Array(), 0o644);
  }
}

/** The mount that shows it to the container, unless its path lies in a volume anyway. */
async function makeTerminationMessage(
  { files }: NodeContext,
  container: Container,
  directory: string,
  layout: RootLayout,
): Promise<readonly PlaceMount[]> {
  const at = absolute(container.terminationMessagePath ?? DEFAULT_TERMINATION_MESSAGE_PATH);
  const source = terminationMessageOf({ directory });
  const path = layout.inVolume(at) ?? source;
  await files.makeDirectory(parentOf(path));
  await files.write(path, new Uint8Array(), 0o644);
  if (path === source) return [{ source, at, isFile: true, isReadOnly: false }];
  await files.link(path, source);
  return [];
}

async function workingDirectory(
  { files }: NodeContext,
  { workingDir }: Container,
  layout: RootLayout,
  otherwise: string,
): Promise<string> {
  if (workingDir === undefined || workingDir === '') return otherwise;
  const cwd = absolute(workingDir);
  const path = layout.inVolume(cwd);
  if (path !== undefined) await files.makeDirectory(path);
  return cwd;
}
