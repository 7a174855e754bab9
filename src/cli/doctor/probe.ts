/**
 * `lockstep doctor --probe`: one Pod looks from inside the cluster. It is removed whatever happens,
 * also when the user ends the command meanwhile.
 */

import type { Stored } from '@lockstep/kube/meta.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import type { Client, ObjectKey } from '@lockstep/kube/runtime/client/client.ts';
import { withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import { sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import { type Random, randomName } from '@lockstep/kube/runtime/ports/random.ts';
import { ApiStatusError, isReason } from '@lockstep/kube/status.ts';
import { findProbeReport, type ProbeReport, type Reached } from '../../agent/probe-report.ts';
import { unreached } from '../../agent/reach/unreached.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import { type Asking, checkOf, type Finding, fact } from './finding.ts';
import type { OperatorHome } from './installation.ts';
import { likenessOf, policyFindings } from './likeness.ts';
import { findHub, type KnownHub, probePod } from './probe-pod.ts';

const TOPIC = 'Probe';

export interface ProbeOptions extends Asking {
  readonly client: Client;
  readonly random: Random;
  readonly place: OperatorHome;
  /** Where the Pod is made. */
  readonly namespace: string;
  /** The JobSet like whose Pods it is; absent: like none. */
  readonly jobSet?: Stored<JobSet>;
  /** The agent's. */
  readonly image: string;
  /** Tells at once that the Pod could not be removed, even if the command is ending. */
  readonly warn: (line: string) => void;
}

/** From its creation until it has ended; large images take this long to be pulled. */
const POD_LIMIT_MS = 60_000;
const POLL_MS = 500;
const REMOVAL_LIMIT_MS = 15_000;
const NAME_LENGTH = 8;
/** From here on the server does not say whether it did something. */
const SERVER_ERROR = 500;

export async function runProbe(options: ProbeOptions): Promise<readonly Finding[]> {
  const { client, clock, random, place, namespace, jobSet, image, signal } = options;
  const at = { namespace, name: `lockstep-doctor-${randomName(random, NAME_LENGTH)}` };
  const hub = await findHub(client, options, place, namespace, jobSet);
  const like = jobSet && likenessOf(jobSet);
  const findings: Finding[] = [];
  let mayExist = true;
  signal.throwIfAborted();
  try {
    const about = checkOf(TOPIC, 'probe-pod');
    // A user's signal does not cut this short: whether the Pod exists must be known.
    const asking = { clock, signal: new AbortController().signal };
    let isRefused = false;
    const made = await fact(asking, `create pods in namespace ${namespace}`, async (limited) => {
      try {
        await client.create(PODS, probePod(at, image, hub, like), { signal: limited });
      } catch (error) {
        isRefused = error instanceof ApiStatusError && error.code < SERVER_ERROR;
        throw error;
      }
    });
    if (isRefused && 'unknown' in made) {
      mayExist = false;
      return [about.unknown(made.unknown)];
    }
    signal.throwIfAborted();
    findings.push(...(await watched(options, at, hub)));
    if (jobSet !== undefined) findings.push(...(await policyFindings(client, options, jobSet)));
  } finally {
    const problem = mayExist ? await removed(options, at) : undefined;
    if (problem !== undefined) {
      const fix = `kubectl -n ${namespace} delete pod ${at.name}`;
      options.warn(`${problem}: run "${fix}"`);
      findings.push(checkOf(TOPIC, 'probe-removed').problem(problem, fix));
    }
  }
  signal.throwIfAborted();
  return findings;
}

/** Why the Pod may still be there; undefined: it is gone. It asks even after the user's signal. */
async function removed(
  { client, clock }: ProbeOptions,
  at: ObjectKey,
): Promise<string | undefined> {
  try {
    await withDeadline(clock, REMOVAL_LIMIT_MS, undefined, async (signal) => {
      await client.delete(PODS, at, { gracePeriodSeconds: 1, signal });
      for (;;) {
        await client.get(PODS, at, { signal });
        await sleep(clock, POLL_MS, signal);
      }
    });
    return undefined;
  } catch (error) {
    if (isReason(error, 'NotFound')) return undefined;
    const why = error instanceof Error ? error.message : String(error);
    return `Pod ${at.namespace ?? ''}/${at.name} is not removed yet (${why})`;
  }
}

async function watched(
  options: ProbeOptions,
  at: ObjectKey,
  hub: KnownHub | undefined,
): Promise<readonly Finding[]> {
  const about = checkOf(TOPIC, 'probe-pod');
  const { clock, client, image, signal } = options;
  const deadlineMs = clock.monotonic() + POD_LIMIT_MS;
  const describe = `kubectl -n ${options.namespace} get events; choose another image with --image`;
  let pod: Pod | undefined;
  while (clock.monotonic() < deadlineMs) {
    const read = await fact(options, 'get pods', (limited) =>
      client.get(PODS, at, { signal: limited }),
    );
    if ('unknown' in read) return [about.unknown(read.unknown)];
    pod = read.value;
    if (isOver(pod)) break;
    if (isHopeless(pod)) break;
    await sleep(clock, POLL_MS, signal);
  }
  if (pod === undefined || !isOver(pod)) {
    const text = `the Pod did not run with image ${image} in ${POD_LIMIT_MS / 1000} s: ${whyNot(pod)}`;
    return [about.problem(text, describe)];
  }
  const output = await fact(options, 'get logs of pods', (limited) => log(client, at, limited));
  if ('unknown' in output) return [about.unknown(output.unknown)];
  const report = findProbeReport(output.value);
  if (report === undefined) {
    const [first = ''] = output.value.split('\n');
    const text = `the agent in image ${image} tells nothing, so it may be of an older version: ${first.slice(0, MAX_LINE)}`;
    return [about.unknown(text, { fix: 'choose the image of this version with --image' })];
  }
  const node = pod.spec.nodeName ?? '';
  const what =
    options.jobSet === undefined ? 'a Pod' : `a Pod like those of ${options.jobSet.metadata.name}`;
  return [
    about.ok(`${what} ran on node ${node}, with agent ${report.version}`),
    ...reportFindings(report, hub),
  ];
}

const MAX_LINE = 200;
const MAX_LOG_BYTES = 64 * 1024;

async function log(client: Client, at: ObjectKey, signal: AbortSignal): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of client.logs(at, { container: 'probe', signal })) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size > MAX_LOG_BYTES) break;
  }
  return Buffer.concat(chunks).toString('utf8', 0, MAX_LOG_BYTES);
}

function isOver({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

const HOPELESS: ReadonlySet<string> = new Set([
  'ImagePullBackOff',
  'ErrImagePull',
  'ErrImageNeverPull',
  'InvalidImageName',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);

function isHopeless({ status }: Pod): boolean {
  return (status?.containerStatuses ?? []).some(({ state }) =>
    HOPELESS.has(state?.waiting?.reason ?? ''),
  );
}

function whyNot(pod: Pod | undefined): string {
  const { conditions = [], containerStatuses = [], phase = 'unknown' } = pod?.status ?? {};
  const unscheduled = conditions.find(
    (one) => one.type === 'PodScheduled' && one.status === 'False',
  );
  if (unscheduled !== undefined) return `not scheduled: ${unscheduled.message ?? ''}`;
  const waiting = containerStatuses.map(({ state }) => state?.waiting).find(Boolean);
  if (waiting === undefined) return `its phase is ${phase}`;
  return `${waiting.reason ?? ''}: ${waiting.message ?? ''}`;
}

export function reportFindings(
  { hub: reachedHub, apiServer }: ProbeReport,
  hub: KnownHub | undefined,
): readonly Finding[] {
  return [hubFinding(reachedHub, hub), ...apiServerFindings(apiServer)];
}

function hubFinding(reached: Reached | undefined, hub: KnownHub | undefined): Finding {
  const about = checkOf(TOPIC, 'hub-reachable');
  if (hub === undefined || reached === undefined) {
    const text = 'the address of the hub is not known before a group has run';
    return about.unknown(text, { isMoot: true });
  }
  if ('status' in reached) {
    const { saw, look } = unreached({ message: '', status: reached.status });
    if (reached.status < SERVER_ERROR) {
      return about.ok(`the Pod reaches the hub at ${hub.url}, and trusts it`);
    }
    const text = `the Pod reaches the hub at ${hub.url}, and trusts it, but ${saw}`;
    return about.note(text, look && `look at ${look}`);
  }
  const { sight, saw, look } = unreached({ ...reached, message: reached.error });
  if (hub.authorities === undefined && sight === 'Untrusted') {
    const text = `the Pod reaches the hub at ${hub.url}; whether it is the right one is not known, because its authorities are published when a group runs in the namespace`;
    return about.ok(text);
  }
  const text = `the Pod does not reach the hub at ${hub.url}: ${inFull(saw, reached)}`;
  const where = look === undefined ? '' : `look at ${look}; `;
  return about.problem(text, `${where}${PAGE}`);
}

const PAGE = 'docs/troubleshooting.md#agents-do-not-reach-the-hub';

/** The plain words, and the words of the system for people who know them. */
function inFull(saw: string, { error }: Extract<Reached, { readonly error: string }>): string {
  return saw === error || error === '' ? saw : `${saw} (${error})`;
}

const NOTED_SKEW_MS = 2_000;

function apiServerFindings(reached: Reached): readonly Finding[] {
  const about = checkOf(TOPIC, 'api-server-reachable');
  if ('error' in reached) {
    const { saw } = unreached({ ...reached, message: reached.error });
    const text = `the Pod does not reach the API server: ${inFull(saw, reached)}`;
    const fix = 'agents need it only if the hub is away; look at network policies';
    return [about.note(text, fix)];
  }
  const found: Finding = about.ok('the Pod reaches the API server');
  const { aheadMs, errorMs } = reached;
  if (aheadMs === undefined || errorMs === undefined) return [found];
  const clock = checkOf(TOPIC, 'pod-clock');
  const isOff = Math.abs(aheadMs) - errorMs > NOTED_SKEW_MS;
  const seconds = (Math.abs(aheadMs) / 1000).toFixed(1);
  const where = aheadMs > 0 ? 'behind' : 'ahead of';
  return [
    found,
    isOff
      ? clock.note(
          `the clock of the node is ${seconds} s ${where} that of the API server`,
          'synchronize the clocks of the nodes by NTP',
        )
      : clock.ok('the clocks of the node and of the API server agree'),
  ];
}
