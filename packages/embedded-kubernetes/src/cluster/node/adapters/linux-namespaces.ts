/**
 * Linux namespaces by this machine's own programs: `unshare`, `nsenter`, `mount` and a few others.
 */
import { accessSync, constants, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { executionError } from '@lockstep/kube/runtime/adapters/node-process-runner.ts';
import type { ProcessCommand } from '@lockstep/kube/runtime/ports/process-runner.ts';
import {
  enterCommand,
  holdCommand,
  joinCommand,
  type NamespaceStyle,
  withEveryVariable,
} from '../namespaces/command-line.ts';
import {
  launchScript,
  MOUNTS_FILE,
  mountTable,
  type NamespaceTools,
  SCRIPT_FILE,
} from '../namespaces/launch-script.ts';
import { mountOptions } from '../namespaces/mount-options.ts';
import { planRoot } from '../namespaces/root-plan.ts';
import type { ContainerPlace, PodNamespaces } from '../ports/pod-namespaces.ts';
import { createHostTree } from './host-tree.ts';
import { RootTemplates } from './root-templates.ts';

/** The programs that namespaces need, or the name of a missing one. */
export function findNamespaceTools(path: string): NamespaceTools | string {
  const directories = [...path.split(delimiter), ...SYSTEM_DIRECTORIES];
  const found = new Map<string, string>();
  for (const name of TOOLS) {
    const directory = directories.find((each) => problemOf(join(each, name)) === undefined);
    if (directory === undefined) return name;
    found.set(name, resolve(directory, name));
  }
  const at = (name: (typeof TOOLS)[number]): string => found.get(name) ?? name;
  return {
    sh: at('sh'),
    env: at('env'),
    unshare: at('unshare'),
    nsenter: at('nsenter'),
    mount: at('mount'),
    pivot_root: at('pivot_root'),
    cp: at('cp'),
    sleep: at('sleep'),
    hostname: directories
      .map((directory) => resolve(directory, 'hostname'))
      .find((candidate) => problemOf(candidate) === undefined),
  };
}

/**
 * Namespaces in the given style, available or not. `templatesDirectory` keeps what the roots of
 * containers share.
 */
export function createLinuxNamespaces(
  style: NamespaceStyle,
  templatesDirectory: string,
): PodNamespaces {
  const { tools, user } = style;
  const tree = createHostTree();
  const templates = new RootTemplates(templatesDirectory);
  return {
    async enter(place, command) {
      const [program, ...rest] = command.argv;
      const path = findExecutable(program, command.env, (candidate) =>
        problemIn(place, resolve(place.cwd, candidate)),
      );
      const argv = [path, ...rest] as const;
      const { directory, hasOwnProcesses, hostname } = place;
      const plan = await planRoot(tree, place);
      const template = await templates.pathOf(plan, join(directory, 'template'));
      const options = { tools, plan, template, directory, hasOwnProcesses, hostname, user };
      let locked: ReturnType<typeof mountOptions> | undefined;
      const table = mountTable(options, (path) => {
        locked ??= mountOptions(readFileSync('/proc/self/mountinfo', 'utf8'));
        return locked(realpathSync(path));
      });
      await Promise.all([
        writeFile(join(directory, MOUNTS_FILE), table),
        writeFile(join(directory, SCRIPT_FILE), launchScript(options)),
      ]);
      return enterCommand(style, place, withEveryVariable(command.env, tools.env, argv));
    },
    hold: () => holdCommand(style),
    join(entry, { argv, env }) {
      const [program] = argv;
      const root = `/proc/${entry.pid}/root`;
      findExecutable(program, env, (path) => problemOf(root + resolve(entry.cwd, path)));
      return joinCommand(style, entry, withEveryVariable(env, tools.env, argv));
    },
  };
}

/** The user of this process; `root` needs no user namespace if it has all its rights. */
export function thisUser(): { readonly uid: number; readonly gid: number } | undefined {
  const uid = process.getuid?.();
  const gid = process.getgid?.();
  return uid === undefined || gid === undefined ? undefined : { uid, gid };
}

const TOOLS = ['sh', 'env', 'unshare', 'nsenter', 'mount', 'pivot_root', 'cp', 'sleep'] as const;
/** These are not in the PATH of every user. */
const SYSTEM_DIRECTORIES = ['/usr/sbin', '/sbin', '/usr/bin', '/bin'];

/** A path to the program, because the shell would take a word for one of its own commands. */
function findExecutable(
  program: string,
  env: ProcessCommand['env'],
  problemAt: (path: string) => string | undefined,
): string {
  const candidates = program.includes('/')
    ? [program]
    : (env['PATH'] ?? '').split(delimiter).map((directory) => join(directory, program));
  let code = 'ENOENT';
  for (const candidate of candidates) {
    const problem = problemAt(candidate);
    if (problem === undefined) return candidate;
    if (problem !== 'ENOENT') code = problem;
  }
  throw executionError(program, code);
}

/**
 * Why a container that has not started yet cannot execute `path`, as far as can be seen from
 * outside.
 */
function problemIn({ mounts }: ContainerPlace, path: string): string | undefined {
  const mount = mounts.findLast(({ at }) => path === at || path.startsWith(`${at}/`));
  if (mount === undefined) return problemOf(path);
  const found = mount.source + path.slice(mount.at.length);
  // A link in a volume may lead to a file that only the container has.
  const link = lstatSync(found, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return link ? undefined : problemOf(found);
}

function problemOf(path: string): string | undefined {
  try {
    if (!statSync(path).isFile()) return 'EACCES';
    accessSync(path, constants.X_OK);
    return undefined;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'ENOENT';
  }
}
