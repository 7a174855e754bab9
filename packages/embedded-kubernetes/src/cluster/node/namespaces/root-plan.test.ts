import { describe, expect, it } from 'vitest';
import type { ContainerPlace } from '../ports/pod-namespaces.ts';
import { type HostEntry, type HostTree, planRoot, type RootPlan } from './root-plan.ts';

/** Paths with a slash at the end are directories, `a -> b` are links. */
function machine(...paths: readonly string[]): HostTree {
  const links = new Map(paths.flatMap((path) => [path.split(' -> ')]).filter(isPair));
  const directories = new Set(
    paths.filter((path) => path.endsWith('/')).map((path) => path.replace(/(?<=.)\/$/, '')),
  );
  const real = (path: string): string => links.get(path) ?? path;
  return {
    realDirectory: (path) => Promise.resolve(directories.has(real(path)) ? real(path) : undefined),
    entries: (directory) =>
      Promise.resolve(
        paths.flatMap((path): readonly HostEntry[] => {
          const [at = ''] = path.split(' -> ');
          const bare = at.replace(/\/$/, '');
          const slash = bare.lastIndexOf('/');
          if (bare === '' || (bare.slice(0, slash) || '/') !== directory) return [];
          const name = bare.slice(slash + 1);
          if (links.has(at)) return [{ name, kind: 'link' }];
          return [{ name, kind: path.endsWith('/') ? 'directory' : 'other' }];
        }),
      ),
  };
}

function isPair(parts: readonly string[]): parts is [string, string] {
  return parts.length === 2;
}

const MACHINE = machine(
  '/',
  '/bin -> /usr/bin',
  '/usr/',
  '/usr/bin/',
  '/etc/',
  '/etc/ssl/',
  '/etc/hosts',
  '/etc/passwd',
  '/proc/',
  '/run/',
  '/run/lock/',
  '/mnt/',
  '/swapfile',
  '/var/',
  '/var/run -> /run',
);

function plan(place: Partial<ContainerPlace>): Promise<RootPlan> {
  return planRoot(MACHINE, {
    directory: '/state',
    mounts: [],
    links: [],
    cwd: '/',
    hostname: undefined,
    hasOwnProcesses: true,
    ...place,
  });
}

function mount(at: string, isFile = false): ContainerPlace['mounts'][number] {
  return { source: '/volume', at, isFile, isReadOnly: false };
}

describe('the root of a container with namespaces', () => {
  it('is the machine: its directories mounted, its links copied, its files linked', async () => {
    const { bound, copied, linked, directories } = await plan({});
    expect(bound).toEqual(['/etc', '/mnt', '/proc', '/run', '/usr', '/var']);
    expect(directories).toEqual(bound);
    expect(copied).toEqual(['/bin']);
    expect([...linked]).toEqual([['/', ['swapfile']]]);
  });

  it('takes a mount where the machine has a directory as it is', async () => {
    const { mounts, bound } = await plan({ mounts: [mount('/mnt')] });
    expect(mounts.map(({ at }) => at)).toEqual(['/mnt']);
    expect(bound).toContain('/mnt');
  });

  it('has a mount point that the machine does not have, in nothing of the machine', async () => {
    const { directories, bound } = await plan({ mounts: [mount('/data/deep')] });
    expect(directories).toContain('/data/deep');
    expect(bound).not.toContain('/data/deep');
  });

  it('opens the directory that has to hold it, and nothing else', async () => {
    const { directories, bound, linked } = await plan({ mounts: [mount('/etc/info')] });
    expect(bound).toEqual(['/etc/ssl', '/mnt', '/proc', '/run', '/usr', '/var']);
    expect(directories).toContain('/etc');
    expect(linked.get('/etc')).toEqual(['hosts', 'passwd']);
  });

  it('finds mount points past the links of the machine', async () => {
    const { mounts, bound } = await plan({ mounts: [mount('/var/run/secrets/token')] });
    expect(mounts.map(({ at }) => at)).toEqual(['/run/secrets/token']);
    expect(bound).toContain('/var');
    expect(bound).not.toContain('/run');
    expect(bound).toContain('/run/lock');
  });

  it('has files and links of its own in place of the ones of the machine', async () => {
    const { files, links, linked } = await plan({
      mounts: [mount('/etc/passwd', true)],
      links: [{ target: '/state/hosts', at: '/etc/hosts' }],
    });
    expect(files).toEqual(['/etc/passwd']);
    expect(links).toEqual([{ target: '/state/hosts', at: '/etc/hosts' }]);
    expect(linked.get('/etc')).toEqual([]);
  });

  it('has the working directory, wherever it is', async () => {
    expect((await plan({ cwd: '/srv/app' })).directories).toContain('/srv/app');
  });

  it('links the directories of an opened one where they are many', async () => {
    const many = Array.from({ length: 40 }, (_, i) => `/home/${i}/`);
    const tree = machine('/', '/home/', ...many);
    const place = { directory: '/s', mounts: [mount('/home/x')], links: [], cwd: '/' };
    const { bound, linked } = await planRoot(tree, {
      ...place,
      hasOwnProcesses: true,
      hostname: undefined,
    });
    expect(bound).toEqual([]);
    expect(linked.get('/home')?.length).toBe(40);
  });
});
