/**
 * The operator's arguments together with the file that they name. The operator reads the file again
 * while it runs. If the file is wrong at the start, it uses the last settings that were right.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { connectClient } from '@lockstep/kube/runtime/adapters/http-client-connection.ts';
import { inClusterAccess } from '@lockstep/kube/runtime/adapters/in-cluster.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { sha1 } from '@lockstep/kube/runtime/adapters/sha1.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import { createEventRecorder } from '@lockstep/kube/runtime/controller/event-recorder.ts';
import { withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import type { Random } from '@lockstep/kube/runtime/ports/random.ts';
import { ENV_ROOT } from '../../jobset/names.ts';
import { type ParsedFlags, parseFlags } from '../configuration/flags.ts';
import type { OperatorFlags } from '../configuration/operator-flags.ts';
import { readSettingsRecord } from '../process/settings-record.ts';
import {
  type FileSettings,
  type RightSettings,
  type SettingsWatchOptions,
  watchSettings,
} from '../process/settings-watch.ts';

/** The arguments of this process. */
export interface Arguments {
  readonly values: readonly string[];
  readonly version: string;
}

/** A file that leaves all settings to the arguments. */
const EMPTY_FILE = 'apiVersion: config.jobset.x-k8s.io/v1alpha1\nkind: Configuration\n';
/** As many bytes as a ConfigMap may have. */
const MAX_FILE_BYTES = 1024 * 1024;
/** The kubelet starts the process again if this is too short. */
const RECORD_TIMEOUT_MS = 10_000;

/** The settings from the arguments and from the present text of the file. */
export function readArguments({
  values,
  version,
}: Arguments): ParsedFlags & { readonly fileText?: string } {
  let text: string | undefined;
  const parsed = parseFlags(values, version, (path) => {
    text = readBounded(path);
    return text;
  });
  return text === undefined ? parsed : { ...parsed, fileText: text };
}

/** The file that an operator has read, and how it ends when that has changed. */
export interface WatchedFile {
  readonly running: RightSettings;
  readonly stop: (why: string) => void;
}

type Watch = Omit<SettingsWatchOptions, 'events' | 'pod' | 'running' | 'look' | 'end'>;

/**
 * Follows the file until the signal aborts. Outside of a Pod nothing starts the process again, so
 * there the file counts only at the start.
 */
export async function followSettings(
  given: Arguments,
  flags: OperatorFlags,
  options: Watch & {
    readonly random: Random;
    readonly namespace: string;
    readonly watched: WatchedFile | undefined;
  },
): Promise<void> {
  const { namespace, watched } = options;
  const name = ownPodName(flags);
  if (watched === undefined || name === undefined) return;
  const events = createEventRecorder({ ...options, controller: 'lockstep-operator' });
  await watchSettings({
    ...options,
    events,
    pod: { namespace, name },
    running: watched.running,
    look: () => readSettings(given),
    end: watched.stop,
  });
  await events.stop();
}

function readSettings(given: Arguments): FileSettings {
  const read = readArguments(given);
  return read.kind === 'Flags'
    ? rightSettings(read.flags, read.fileText)
    : { problem: read.kind === 'Error' ? read.message : 'has no settings' };
}

export function rightSettings(flags: OperatorFlags, text = ''): RightSettings {
  return { text, digest: sha1(JSON.stringify(flags, inOrder)) };
}

/** The name of the Pod of this process; undefined outside of a cluster. */
function ownPodName({ kubeconfig, context }: OperatorFlags): string | undefined {
  const { env } = process;
  if (kubeconfig !== undefined || context !== undefined) return undefined;
  return env['KUBERNETES_SERVICE_HOST'] === undefined ? undefined : env['HOSTNAME'];
}

/**
 * The settings of the last file that was right, as a leader has kept it; undefined if the arguments
 * are wrong whatever a file says, or there is none that this version can read.
 */
export async function lastGoodSettings(
  given: Arguments,
): Promise<{ readonly flags: OperatorFlags; readonly text: string } | undefined> {
  const bare = parseFlags(given.values, given.version, () => EMPTY_FILE);
  if (bare.kind !== 'Flags' || ownPodName(bare.flags) === undefined) return undefined;
  try {
    const access = await inClusterAccess(process.env, process.env[ENV_ROOT] ?? '/');
    const userAgent = `lockstep-operator/${given.version}`;
    const runtime = { clock: nodeClock, random: systemRandom };
    const { client, close } = connectClient(access, { ...runtime, userAgent });
    const reading = withDeadline(nodeClock, RECORD_TIMEOUT_MS, undefined, (signal) =>
      readSettingsRecord(client, access.namespace, signal),
    );
    const { lastGood } = await reading.finally(close);
    if (lastGood === undefined) return undefined;
    const parsed = parseFlags(given.values, given.version, () => lastGood);
    return parsed.kind === 'Flags' ? { flags: parsed.flags, text: lastGood } : undefined;
  } catch {
    // The error in the file says more than this one.
    return undefined;
  }
}

function readBounded(path: string): string {
  const root = process.env[ENV_ROOT] ?? '/';
  const file = root === '/' ? path : join(root, path);
  const { size } = statSync(file);
  if (size > MAX_FILE_BYTES) throw new Error(`it has ${size} bytes, allowed are ${MAX_FILE_BYTES}`);
  return readFileSync(file, 'utf8');
}

/** Members by name, so that equal settings have equal texts. */
function inOrder(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
