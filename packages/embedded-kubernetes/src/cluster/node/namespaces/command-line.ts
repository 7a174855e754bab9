/** The command lines that create a container's namespaces and that enter them. */

import type { Argv, ContainerPlace, PlaceEntry } from '../ports/pod-namespaces.ts';
import {
  type NamespaceTools,
  READY_FILE,
  SCRIPT_FILE,
  type ScriptOptions,
} from './launch-script.ts';

/** Who makes the namespaces: the machine's root, or the root of a user namespace. */
export interface NamespaceStyle {
  readonly tools: NamespaceTools;
  readonly needsUserNamespace: boolean;
  readonly user: ScriptOptions['user'];
}

/**
 * `unshare` stays as the process that the node knows. It waits for the first process of the pid
 * namespace and ends as that one does. It ignores SIGTERM, which the group gets, and dies with
 * SIGKILL, and then the namespace dies too.
 */
export function enterCommand(
  { tools, needsUserNamespace }: NamespaceStyle,
  place: Pick<ContainerPlace, 'directory' | 'cwd' | 'hasOwnProcesses' | 'hostname' | 'holderPid'>,
  argv: Argv,
): Argv {
  const { holderPid } = place;
  const own = [
    tools.unshare,
    ...(needsUserNamespace ? ['--user', '--map-root-user'] : []),
    ...(place.hasOwnProcesses ? ['--pid'] : []),
  ];
  const shared = [
    tools.nsenter,
    ...enteredUser(needsUserNamespace, holderPid),
    `--pid=/proc/${holderPid}/ns/pid_for_children`,
    '--no-fork',
    tools.unshare,
  ];
  const [program = tools.unshare, ...options] = holderPid === undefined ? own : shared;
  return [
    program,
    ...options,
    '--mount',
    ...(place.hostname === undefined ? [] : ['--uts']),
    '--fork',
    '--kill-child',
    tools.sh,
    `${place.directory}/${SCRIPT_FILE}`,
    place.cwd,
    ...argv,
  ];
}

/** The place that a command line of `enterCommand` makes; undefined for any other command line. */
export function placeOfCommand(argv: readonly string[]): Omit<PlaceEntry, 'pid'> | undefined {
  const script = argv.findIndex((word) => word.endsWith(`/${SCRIPT_FILE}`));
  const cwd = argv[script + 1];
  const [path] = argv.slice(script);
  const options = argv.slice(1, Math.max(script, 1)).map((option) => option.split('=')[0]);
  if (path === undefined || cwd === undefined || !options.includes('--mount')) return undefined;
  const directory = path.slice(0, -SCRIPT_FILE.length - 1);
  return {
    directory,
    cwd,
    hasOwnProcesses: options.includes('--pid'),
    hasOwnHostname: options.includes('--uts'),
  };
}

/** The place may not be ready yet: up to five seconds. */
const READY_ATTEMPTS = 250;
const READY_PAUSE_SECONDS = 0.02;
const GO = 'cd "$0" || exit 126; unset OLDPWD; exec "$@"';

export function joinCommand(
  { tools, needsUserNamespace, user }: NamespaceStyle,
  { pid, directory, cwd, hasOwnProcesses, hasOwnHostname }: PlaceEntry,
  argv: readonly string[],
): Argv {
  const namespaces = `/proc/${pid}/ns`;
  const asUser =
    user === undefined
      ? []
      : [tools.unshare, '--user', `--map-user=${user.uid}`, `--map-group=${user.gid}`, '--'];
  return [
    tools.sh,
    '-c',
    `i=0; while [ ! -e "$0" ] && [ $i -lt ${READY_ATTEMPTS} ]; ` +
      `do i=$((i+1)); ${tools.sleep} ${READY_PAUSE_SECONDS}; done; exec "$@"`,
    `${directory}/${READY_FILE}`,
    tools.nsenter,
    ...enteredUser(needsUserNamespace, pid),
    `--mount=${namespaces}/mnt`,
    ...(hasOwnProcesses ? [`--pid=${namespaces}/pid_for_children`] : []),
    ...(hasOwnHostname ? [`--uts=${namespaces}/uts`] : []),
    ...asUser,
    tools.sh,
    '-c',
    GO,
    cwd,
    ...argv,
  ];
}

/**
 * Its first process writes a line when it is there, and ends with the process outside; the whole
 * namespace ends with it.
 */
export function holdCommand({ tools, needsUserNamespace }: NamespaceStyle): Argv {
  return [
    tools.unshare,
    ...(needsUserNamespace ? ['--user', '--map-root-user'] : []),
    '--pid',
    '--fork',
    '--kill-child',
    tools.sh,
    '-c',
    `echo; while :; do ${tools.sleep} 3600 & wait; done`,
  ];
}

function enteredUser(isNeeded: boolean, pid: number | undefined): readonly string[] {
  return isNeeded ? [`--user=/proc/${pid}/ns/user`, '--preserve-credentials'] : [];
}

/** A shell passes on only names that could be its own variables; Kubernetes allows more. */
export function withEveryVariable(
  env: Readonly<Record<string, string>>,
  program: string,
  argv: Argv,
): Argv {
  const others = Object.entries(env).filter(([name]) => !/^[A-Za-z_]\w*$/.test(name));
  if (others.length === 0) return argv;
  return [program, ...others.map(([name, value]) => `${name}=${value}`), ...argv];
}
