/** What a node needs of this machine. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { hasApt, installPackages, pathOf } from '../debian-packages.ts';
import { CGROUPS, hierarchies, makeCgroup, removeCgroup } from './cgroups.ts';

const TRIAL_TIMEOUT_MS = 20_000;

/** Bits of the mask in `/proc/self/status`. */
const CAPABILITIES = { CAP_NET_ADMIN: 12, CAP_SYS_ADMIN: 21 };

/** A program, and the package of Debian that has it. */
const PROGRAMS: Readonly<Record<string, string>> = {
  nft: 'nftables',
  ip: 'iproute2',
  busybox: 'busybox-static',
};
/** To build runc with. */
const LIBRARIES: Readonly<Record<string, string>> = {
  '/usr/include/seccomp.h': 'libseccomp-dev',
  '/usr/bin/pkg-config': 'pkg-config',
};

/** Own processes, mounts and network interfaces: what a node does is gone when its first process is. */
export const NAMESPACES = [
  'unshare',
  '--mount',
  '--net',
  '--pid',
  '--ipc',
  '--fork',
  '--kill-child',
  '--mount-proc',
] as const;

/** What the kernel must be able to do, and a command that tries it. */
const TRIALS: readonly (readonly [string, string])[] = [
  ['namespaces of mounts, networks and processes', 'true'],
  ['bridges', 'ip link add trial type bridge'],
  ['pairs of virtual network interfaces (veth)', 'ip link add trial type veth peer name other'],
  [
    'overlay mounts',
    'mount -t tmpfs tmpfs /run && mkdir /run/low /run/up /run/work /run/all && ' +
      'mount -t overlay -o lowerdir=/run/low,upperdir=/run/up,workdir=/run/work trial /run/all',
  ],
  [
    'nftables with translation of addresses',
    "nft 'add table ip t; add chain ip t c { type nat hook prerouting priority -100; }; " +
      "add rule ip t c fib daddr type local dnat to 10.0.0.1'",
  ],
];

/**
 * Why no node can run here; undefined if one can. Installs packages that are missing, and throws
 * `InstallationError` if it fails to.
 */
export async function whyNoNode(isBuilt: boolean): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'this is not Linux';
  if (process.getuid?.() !== 0) return 'only root may run a node';
  const effective =
    /^CapEff:\s*(\w+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  for (const [name, bit] of Object.entries(CAPABILITIES)) {
    if (((BigInt(`0x${effective}`) >> BigInt(bit)) & 1n) === 0n) return `root lacks ${name} here`;
  }
  for (const program of isBuilt ? [] : ['go', 'gcc']) {
    if (pathOf(program) === undefined) return `${program} is not installed`;
  }
  const packages = [
    ...Object.entries(PROGRAMS).filter(([program]) => pathOf(program) === undefined),
    ...Object.entries(isBuilt ? {} : LIBRARIES).filter(([path]) => !existsSync(path)),
  ].map(([, name]) => name);
  if (packages.length > 0) {
    if (!hasApt()) return `there is no apt-get to install ${packages.join(', ')} with`;
    installPackages(packages);
  }
  const without = TRIALS.map(([what, command]) => failureOf(what, command)).find(Boolean);
  return without ?? (await whyNoCgroups());
}

function failureOf(what: string, command: string): string | undefined {
  const [program, ...args] = NAMESPACES;
  const { status, stderr, error } = spawnSync(program, [...args, 'sh', '-c', command], {
    encoding: 'utf8',
    timeout: TRIAL_TIMEOUT_MS,
  });
  if (status === 0) return undefined;
  return `this machine has no ${what}: ${(error?.message ?? stderr).trim().replaceAll('\n', ' ')}`;
}

async function whyNoCgroups(): Promise<string | undefined> {
  if (hierarchies().length === 0) return `there are no control groups for memory below ${CGROUPS}`;
  const trial = `lockstep-trial-${process.pid}`;
  try {
    makeCgroup(trial, []);
    return undefined;
  } catch (error) {
    return `control groups cannot be made: ${String(error)}`;
  } finally {
    await removeCgroup(trial);
  }
}
