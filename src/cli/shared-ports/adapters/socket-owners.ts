/** Finds the Pods that own listening sockets of this machine. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { MARKER_VARIABLE } from '@lockstep/embedded-kubernetes';
import { parseListeners, sharedPorts } from '../listeners.ts';
import type { SharedPort, SharedPorts } from '../port-watch.ts';

/**
 * Linux lists sockets in `/proc`; elsewhere there are none to see. Finding an owner means reading
 * every open file of every process, so it is done for new sockets only: other servers of a machine
 * may share ports for as long as they run.
 */
export function machinePorts(): SharedPorts {
  let owners: ReadonlyMap<string, string | undefined> = new Map();
  return {
    find: () => {
      const listeners = ['tcp', 'tcp6'].flatMap((name) =>
        parseListeners(textOf(`/proc/net/${name}`) ?? ''),
      );
      const shared = sharedPorts(listeners);
      const inodes = [...shared.values()].flat();
      if (inodes.some((inode) => !owners.has(inode))) {
        const found = podsOf(new Set(inodes));
        owners = new Map(inodes.map((inode) => [inode, found.get(inode)]));
      }
      return [...shared].map(([port, held]): SharedPort => {
        const uids = held.flatMap((inode) => owners.get(inode) ?? []);
        return { port, podUids: [...new Set(uids)].toSorted() };
      });
    },
  };
}

/** Pods by the inodes of their sockets: all processes of a container inherit its marker. */
function podsOf(inodes: ReadonlySet<string>): ReadonlyMap<string, string> {
  const pods = new Map<string, string>();
  for (const pid of entriesOf('/proc')) {
    if (!/^[0-9]+$/.test(pid)) continue;
    const held = socketsOf(pid).filter((inode) => inodes.has(inode));
    const podUid = held.length === 0 ? undefined : podOf(pid);
    if (podUid !== undefined) for (const inode of held) pods.set(inode, podUid);
  }
  return pods;
}

function socketsOf(pid: string): readonly string[] {
  const directory = `/proc/${pid}/fd`;
  return entriesOf(directory).flatMap((file) => {
    const target = linkOf(`${directory}/${file}`);
    const [, inode] = /^socket:\[([0-9]+)\]$/.exec(target ?? '') ?? [];
    return inode === undefined ? [] : [inode];
  });
}

/** A marker begins with the UID of the Pod. */
function podOf(pid: string): string | undefined {
  const prefix = `${MARKER_VARIABLE}=`;
  const entry = textOf(`/proc/${pid}/environ`)
    ?.split('\0')
    .find((one) => one.startsWith(prefix));
  return entry?.slice(prefix.length).split('/', 1)[0];
}

/** Processes come and go meanwhile, and some cannot be read. */
function entriesOf(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
