/**
 * Turns a container's spec into a command line, an environment and directories: everything that
 * must exist before its process can start. A container has no image here. Its command runs with the
 * host's programs, in a private working directory, with its volumes below its own root.
 */
import { namespaceOf } from '@lockstep/kube/meta.ts';
import type { Container } from '@lockstep/kube/objects/pod.ts';
import { withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import type { PodFields } from '../field-reference.ts';
import { hostnameOf } from '../network/pod-hostname.ts';
import type { NodeContext } from '../ports/node-context.ts';
import type { ContainerPlace } from '../ports/pod-namespaces.ts';
import { readConfiguration } from '../volume/configuration-reader.ts';
import { namesInEnvironment } from '../volume/configuration-source.ts';
import type { MountedVolume } from '../volume/pod-volumes.ts';
import {
  DEFAULT_TERMINATION_MESSAGE_PATH,
  makePlace,
  parentOf,
  terminationMessageOf,
} from './container-place.ts';
import { layOutRoot, type RootLayout } from './container-root.ts';
import { buildEnvironment } from './environment.ts';
import { expand } from './expansion.ts';
import { hasTerminals, onTerminal } from './terminal.ts';

/** What the Pod offers to its containers. */
export interface Sandbox {
  readonly directory: string;
  readonly logDirectory: string;
  readonly facts: PodFields;
  readonly volumes: ReadonlyMap<string, MountedVolume>;
  /** From a declared port to the actual one, if Pods share an address. */
  readonly ports: ReadonlyMap<number, number>;
  /** If containers share a pid namespace: the process that holds it. */
  readonly holder?: (() => Promise<number>) | undefined;
}

export interface Launch {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /**
   * If the container has namespaces: what it sees there. The command and `cwd` are relative to
   * that.
   */
  readonly place?: ContainerPlace | undefined;
  /** `LOCKSTEP_CONTAINER` of this run, by which its descendants are found. */
  readonly marker: string;
  readonly terminationMessagePath: string;
  /** The command runs on a terminal, whose name is written there. */
  readonly terminalFile?: string | undefined;
}

/** The launch cannot be prepared at the moment; has the API's waiting reason and its text. */
export class LaunchBlockedError extends Error {
  override readonly name = 'LaunchBlockedError';
  readonly reason: string;
  /** Whether waiting may help, because what is missing can still appear. */
  readonly mayPass: boolean;

  constructor(reason: string, message: string, mayPass: boolean, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
    this.mayPass = mayPass;
  }
}

/** The environment variable by which descendants of a container are found. */
export const MARKER_VARIABLE = 'LOCKSTEP_CONTAINER';
/** Names a file in a volume; a worker opens it as it is, so it is a path of the host. */
const PROGRESS_FILE_VARIABLE = 'LOCKSTEP_PROGRESS_FILE';
const API_TIMEOUT_MS = 10_000;

/**
 * Prepares the run number `restart`. Rejects with `LaunchBlockedError` or an error of the system.
 */
export async function prepareLaunch(
  context: NodeContext,
  sandbox: Sandbox,
  container: Container,
  restart: number,
): Promise<Launch> {
  const [program, ...rest] = [...(container.command ?? []), ...(container.args ?? [])];
  if (program === undefined || (container.command?.length ?? 0) === 0) throw noCommand(container);
  const directory = `${sandbox.directory}/containers/${container.name}`;
  const root = `${directory}/root`;
  const { uid = '' } = sandbox.facts.pod.metadata;
  const marker = markerOf(uid, container.name, restart);
  const environment = await environmentOf(context, sandbox, container, directory, marker);
  const { layout, problem } = layOutRoot(
    root,
    container.volumeMounts ?? [],
    sandbox.volumes,
    environment,
  );
  if (layout === undefined) throw new LaunchBlockedError(CONFIG_ERROR, problem, false);
  const terminalFile = await terminalFileOf(context, sandbox, container, directory);
  const env = Object.fromEntries([
    ...environment,
    ...(terminalFile === undefined ? [] : [['TERM', 'xterm'] as const]),
  ]);
  const args = rest.map((argument) => expand(argument, environment));
  const commandLine = (first: string): Launch['argv'] =>
    terminalFile === undefined ? [first, ...args] : onTerminal([first, ...args], terminalFile);
  if (context.namespaces?.type === 'available') {
    const { pod } = sandbox.facts;
    const made = await makePlace(context, pod, container, directory, layout);
    const place = { ...made, holderPid: await sandbox.holder?.() };
    const argv = commandLine(expand(program, environment));
    const terminationMessagePath = terminationMessageOf(place);
    return { argv, env, cwd: place.cwd, place, marker, terminationMessagePath, terminalFile };
  }
  await makeDirectories(context, directory, layout);
  const cwd = await workingDirectory(context, container, layout, `${directory}/work`);
  const terminationMessagePath = terminationMessagePathIn(root, container);
  await makeTerminationMessage(context, terminationMessagePath);
  const file = env[PROGRESS_FILE_VARIABLE];
  return {
    argv: commandLine(layout.resolve(expand(program, environment))),
    env: file === undefined ? env : { ...env, [PROGRESS_FILE_VARIABLE]: layout.resolve(file) },
    cwd,
    marker,
    terminationMessagePath,
    terminalFile,
  };
}

/** An ephemeral container gets a terminal if it asks for one and the machine supports it. */
async function terminalFileOf(
  { processes, path }: NodeContext,
  { facts, directory: cwd }: Sandbox,
  { name, tty, stdin }: Container,
  directory: string,
): Promise<string | undefined> {
  const { ephemeralContainers = [] } = facts.pod.spec;
  // A terminal hangs up when its input ends.
  if (tty !== true || stdin !== true) return undefined;
  if (!ephemeralContainers.some((one) => one.name === name)) return undefined;
  const hasTerminal = await hasTerminals(processes, { env: { PATH: path }, cwd });
  return hasTerminal ? `${directory}/tmp/.terminal` : undefined;
}

/** The marker of one run of a container. */
export function markerOf(podUid: string, container: string, restart: number): string {
  return `${podUid}/${container}/${restart}`;
}

/** Below the container's root, if there are no namespaces. */
export function terminationMessagePathIn(root: string, container: Container): string {
  return root + (container.terminationMessagePath ?? DEFAULT_TERMINATION_MESSAGE_PATH);
}

const CONFIG_ERROR = 'CreateContainerConfigError';

function noCommand(container: Container): LaunchBlockedError {
  const text =
    `this node pulls no images: it runs the command of a container with the programs of its ` +
    `machine, and container "${container.name}" (image "${container.image ?? ''}") has no command`;
  return new LaunchBlockedError('ErrImagePull', text, false);
}

async function environmentOf(
  context: NodeContext,
  sandbox: Sandbox,
  container: Container,
  directory: string,
  marker: string,
): Promise<ReadonlyMap<string, string>> {
  const { client, clock } = context;
  const names = namesInEnvironment(container);
  const namespace = namespaceOf(sandbox.facts.pod.metadata);
  const source = await withDeadline(clock, API_TIMEOUT_MS, undefined, (signal) =>
    readConfiguration(client, namespace, names, signal),
  ).catch((error: unknown) => {
    const text = error instanceof Error ? error.message : String(error);
    throw new LaunchBlockedError(CONFIG_ERROR, text, true, error);
  });
  const given = givenEnvironment(context, sandbox, directory);
  const { variables, problem } = buildEnvironment(container, sandbox.facts, source, given);
  if (variables === undefined) throw new LaunchBlockedError(CONFIG_ERROR, problem, true);
  // These two are the node's own: with other values it would lose the container's processes.
  return new Map([...variables, ['LOCKSTEP_ROOT', `${directory}/root`], [MARKER_VARIABLE, marker]]);
}

/**
 * The environment of every container; `docs/reference/embedded-cluster.md` explains each variable.
 */
function givenEnvironment(
  context: NodeContext,
  { facts, ports }: Sandbox,
  directory: string,
): ReadonlyMap<string, string> {
  const { host, port } = context.apiServer;
  return new Map([
    ['PATH', context.path],
    ['HOSTNAME', hostnameOf(facts.pod)],
    ['HOME', `${directory}/work`],
    ['TMPDIR', `${directory}/tmp`],
    ['KUBERNETES_SERVICE_HOST', host],
    ['KUBERNETES_SERVICE_PORT', String(port)],
    ['KUBERNETES_SERVICE_PORT_HTTPS', String(port)],
    ['LOCKSTEP_ROOT', `${directory}/root`],
    ['LOCKSTEP_POD_IP', facts.podIP],
    ['LOCKSTEP_HOSTS', context.hostsPath(facts.pod)],
    ...[...ports].map(([declared, real]) => [`LOCKSTEP_PORT_${declared}`, String(real)] as const),
  ]);
}

/** A container starts with nothing of its former run but its volumes. */
async function makeDirectories(
  { files }: NodeContext,
  directory: string,
  layout: RootLayout,
): Promise<void> {
  await files.remove(directory);
  await Promise.all(
    ['root', 'work', 'tmp'].map((name) => files.makeDirectory(`${directory}/${name}`)),
  );
  for (const { path, target, subPath } of layout.links) {
    if (subPath !== '' && (await files.kindOf(target)) === undefined) {
      await files.makeDirectory(target);
    }
    // In a kept volume, the former run has left the link of a mount inside it.
    await files.remove(path);
    await files.makeDirectory(parentOf(path));
    await files.link(target, path);
  }
}

async function workingDirectory(
  { files }: NodeContext,
  container: Container,
  layout: RootLayout,
  otherwise: string,
): Promise<string> {
  const { workingDir } = container;
  if (workingDir === undefined || workingDir === '') return otherwise;
  const directory = layout.resolve(workingDir);
  // Created below a volume, as a container runtime does; the host's directories are left alone.
  if (directory !== workingDir) await files.makeDirectory(directory);
  return directory;
}

async function makeTerminationMessage({ files }: NodeContext, path: string): Promise<void> {
  await files.makeDirectory(parentOf(path));
  await files.write(path, new Uint8Array(), 0o644);
}
