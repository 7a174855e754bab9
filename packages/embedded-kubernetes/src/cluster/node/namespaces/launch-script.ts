/**
 * The shell script that makes a container's place and runs its command. It is a file beside the
 * container's, so users can read what a container sees. The shell stays as the first process of the
 * pid namespace. It reaps orphans, and lets a command without signal handlers end by signals, which
 * it would not as the first process. When it ends, all end.
 */
import { HOST_ROOT, type RootPlan } from './root-plan.ts';

/** Absolute paths of programs: PATH is the container's. */
export interface NamespaceTools {
  readonly sh: string;
  readonly env: string;
  readonly unshare: string;
  readonly nsenter: string;
  readonly mount: string;
  readonly pivot_root: string;
  readonly cp: string;
  readonly sleep: string;
  /** Not on every machine; without it, only root can give a container a name. */
  readonly hostname: string | undefined;
}

export interface ScriptOptions {
  readonly tools: NamespaceTools;
  readonly plan: RootPlan;
  /** The directory with everything of the plan but its mounts. */
  readonly template: string;
  /** The directory of the place. */
  readonly directory: string;
  readonly hasOwnProcesses: boolean;
  readonly hostname: string | undefined;
  /** The user and the group that the command sees, if the script's user is the namespace's root. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
}

/** Below the place's directory: the script, what it mounts, and the sign that all is mounted. */
export const SCRIPT_FILE = 'launch.sh';
export const MOUNTS_FILE = 'mounts';
export const READY_FILE = 'ready';

/** The exit code of a container that could not be set up, as a container runtime's. */
const SETUP_FAILED = 128;
/** Terminals are the container's own, so that no name refers to one of the machine's. */
const TERMINALS = '/dev/pts';
/** For files that a container writes outside its volumes. */
const ROOT_SIZE = '64m';

/**
 * Its arguments are the working directory and the command, whose program is a path. Each program
 * that it runs first costs one or two milliseconds of every start.
 */
export function launchScript({
  tools,
  template,
  directory,
  hostname,
  user,
}: ScriptOptions): string {
  const mountpoint = quoted(`${directory}/mountpoint`);
  const asUser =
    user === undefined
      ? ''
      : `${tools.unshare} --user --map-user=${user.uid} --map-group=${user.gid} -- `;
  return [
    'set -e',
    `trap 'echo "lockstep: the namespaces of this container could not be made" >&2; exit ${SETUP_FAILED}' EXIT`,
    ...(hostname === undefined ? [] : [naming(tools, hostname)]),
    `cd ${mountpoint}`,
    `${tools.mount} -n -t tmpfs -o mode=755,size=${ROOT_SIZE} lockstep .`,
    `cd ${mountpoint}`,
    `${tools.cp} -R -P ${quoted(`${template}/.`)} .`,
    `${tools.mount} -n -a -T ${quoted(`${directory}/${MOUNTS_FILE}`)}`,
    `${tools.pivot_root} . .${HOST_ROOT}`,
    'cd "$1"',
    'shift',
    `: >${quoted(`${directory}/${READY_FILE}`)}`,
    // The shell's own variable.
    'unset OLDPWD',
    'trap - EXIT',
    // It waits for the command, which gets the same signals and handles them or not.
    'trap : TERM INT HUP QUIT',
    'set +e',
    // The node reports how the command ended, not the shell.
    'exec 3>&2 2>/dev/null',
    `${asUser}"$@" 2>&3 3>&-`,
    'exit $?',
    '',
  ].join('\n');
}

/**
 * The shell can do it by itself if it is root; in a user namespace it needs a program. A container
 * with the machine's name is better than none.
 */
function naming({ hostname: tool }: NamespaceTools, hostname: string): string {
  const name = quoted(hostname);
  const otherwise = tool === undefined ? '' : `${tool} ${name} || `;
  return `{ { echo ${name} >/proc/sys/kernel/hostname; } || ${otherwise}:; } 2>/dev/null`;
}

/** The table of mounts (fstab). `lockedOptions` are the options of the mount that a path lies in. */
export function mountTable(
  {
    plan,
    directory,
    hasOwnProcesses,
  }: Pick<ScriptOptions, 'plan' | 'directory' | 'hasOwnProcesses'>,
  lockedOptions: (path: string) => readonly string[],
): string {
  const at = (path: string): string => escaped(`${directory}/mountpoint${path}`);
  const bind = (source: string, path: string, options: readonly string[]): string =>
    `${escaped(source)} ${at(path)} none ${['rbind', ...options].join(',')} 0 0`;
  const isNew = (path: string): boolean =>
    path === TERMINALS || (hasOwnProcesses && path === '/proc');
  const bound = plan.bound.filter((path) => !isNew(path));
  // The one that holds the new root first: otherwise it would be mounted again with all mounts so
  // far.
  const [holding, others] = [true, false].map((holds) =>
    bound.filter((path) => directory.startsWith(`${path}/`) === holds),
  );
  return [
    ...[...(holding ?? []), ...(others ?? [])].map((path) => bind(path, path, [])),
    ...(hasOwnProcesses ? [`proc ${at('/proc')} proc nosuid,nodev,noexec 0 0`] : []),
    `devpts ${at(TERMINALS)} devpts newinstance,ptmxmode=0666,mode=0620,nosuid,noexec 0 0`,
    ...plan.mounts.map(({ source, at: path, isReadOnly }) =>
      bind(source, path, isReadOnly ? ['ro', ...lockedOptions(source)] : []),
    ),
    '',
  ].join('\n');
}

function quoted(word: string): string {
  return /^[\w./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** White space and the backslash as octal numbers, as in a table of mounts. */
function escaped(path: string): string {
  return path.replaceAll(
    /[\s\\]/g,
    (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`,
  );
}
