/** What the API server is, whether its gates let Pods restart in place, and what time it has. */

import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { wholeBody } from '@lockstep/kube/runtime/client/response-body.ts';
import { type ClockOffset, timedAnswer } from '@lockstep/kube/runtime/client/server-clock.ts';
import type { CredentialSource } from '@lockstep/kube/runtime/credentials/credential-source.ts';
import type { Transport } from '@lockstep/kube/runtime/ports/transport.ts';
import { failure, failureWithoutReason } from '@lockstep/kube/status.ts';
import { restartRulesProblem } from '../../operator/tracking/node-features.ts';
import { judgeVersion } from '../kubernetes-versions.ts';
import { type Asking, checkOf, type Fact, type Finding, fact, ifKnown } from './finding.ts';

const TOPIC = 'Kubernetes';

/** A connection, for what is not an object of the API. */
export interface RawConnection {
  readonly transport: Transport;
  readonly credentials: CredentialSource | undefined;
}

export interface ApiServerFacts {
  readonly version: string;
  /** Why it does not take rules that restart all containers of a Pod; undefined: it does. */
  readonly restartRules: Fact<string | undefined>;
  /** Feature gates by name, and whether they are on. */
  readonly gates: Fact<ReadonlyMap<string, boolean>>;
  readonly clock: Fact<ClockOffset>;
}

export async function readApiServer(
  client: Client,
  connection: RawConnection,
  asking: Asking & { readonly serverVersion: string },
  namespace: string,
): Promise<ApiServerFacts> {
  const [restartRules, gates, clock] = await Promise.all([
    fact(
      asking,
      `create jobs in namespace ${namespace}, not even in a dry run`,
      async (signal) => (await restartRulesProblem(client, namespace, signal))?.why,
    ),
    fact(asking, 'get /metrics of the API server, which tells its feature gates', (signal) =>
      readGates(connection, signal),
    ),
    fact(asking, 'get /version', (signal) => readClock(connection, asking, signal)),
  ]);
  return { version: asking.serverVersion, restartRules, gates, clock };
}

export function apiServerFindings(facts: ApiServerFacts): readonly Finding[] {
  return [
    versionFinding(facts.version),
    ...ifKnown(facts.restartRules, checkOf(TOPIC, 'restart-rules'), restartRulesFinding),
    ...ifKnown(facts.gates, checkOf(TOPIC, 'feature-gates'), gateFinding),
    ...ifKnown(facts.clock, checkOf(TOPIC, 'clock'), clockFinding),
  ];
}

function versionFinding(version: string): Finding {
  const about = checkOf(TOPIC, 'version');
  const runs = `the API server runs Kubernetes ${version}`;
  const { problem, notes } = judgeVersion(version);
  if (problem !== undefined) return about.problem(`${runs}; ${problem}`, 'upgrade the cluster');
  if (notes.length === 0) return about.ok(runs);
  return about.note([runs, ...notes].join('; '), 'docs/reference/stability.md#kubernetes-versions');
}

function restartRulesFinding(problem: string | undefined): Finding {
  const about = checkOf(TOPIC, 'restart-rules');
  if (problem === undefined) {
    return about.ok('the API server takes restart rules that restart all containers of a Pod');
  }
  const text = `${problem}, so agents supervise their workers, whose containers need a command`;
  const fix = `switch these gates on, for the API server and the kubelets, if you want sidecars; docs/reference/in-place-restart.md`;
  return about.note(text, fix);
}

/** What restarts in place as a sidecar needs of the API server and the scheduler. */
const GATES = [
  'ContainerRestartRules',
  'RestartAllContainersOnContainerExits',
  'NodeDeclaredFeatures',
] as const;

function gateFinding(gates: ReadonlyMap<string, boolean>): Finding {
  const about = checkOf(TOPIC, 'feature-gates');
  const told = GATES.filter((name) => gates.has(name));
  if (told.length === 0) {
    const text = 'the metrics of the API server tell no feature gate about restart rules';
    return about.unknown(text, { isMoot: true });
  }
  const text = told.map((name) => `${name} ${gates.get(name) === true ? 'on' : 'off'}`).join(', ');
  const level = told.every((name) => gates.get(name) === true) ? 'ok' : 'note';
  return about[level](text);
}

/** Credentials, leases and times in a status are judged by several clocks. */
const NOTED_SKEW_MS = 2_000;
const BAD_SKEW_MS = 60_000;

function clockFinding({ aheadMs, errorMs }: ClockOffset): Finding {
  const about = checkOf(TOPIC, 'clock');
  const skewMs = Math.max(0, Math.abs(aheadMs) - errorMs);
  const within = `give or take ${seconds(errorMs)}`;
  if (skewMs <= NOTED_SKEW_MS) {
    return about.ok(`the clocks of the API server and of this machine agree, ${within}`);
  }
  const where = aheadMs > 0 ? 'ahead of' : 'behind';
  const text = `the clock of the API server is ${seconds(Math.abs(aheadMs))} ${where} this machine's, ${within}`;
  const level = skewMs >= BAD_SKEW_MS ? 'problem' : 'note';
  return about[level](text, 'synchronize both by NTP: timedatectl set-ntp true');
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** The metrics of a large API server are some 20 MiB. */
const MAX_METRICS_BYTES = 64 * 1024 * 1024;
/** Kubernetes has some 200. */
const MAX_GATES = 2_000;
const GATE = /^kubernetes_feature_enabled\{name="(\w{1,128})"[^}]*\} ([01])$/gm;

async function readGates(
  { transport, credentials }: RawConnection,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, boolean>> {
  const { token, clientCertificate } = (await credentials?.current(signal)) ?? {};
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const request = { method: 'GET', path: '/metrics', headers, clientCertificate, signal } as const;
  const { status, body } = await transport.send(request);
  const text = (await wholeBody(body, MAX_METRICS_BYTES)).toString('latin1');
  if (status === 403 || status === 401) throw failure('Forbidden', 'forbidden');
  if (status !== 200) throw failureWithoutReason(`it answers ${status}`, status);
  const gates = new Map<string, boolean>();
  for (const [, name = '', value] of text.matchAll(GATE)) {
    if (gates.size < MAX_GATES) gates.set(name, value === '1');
  }
  return gates;
}

async function readClock(
  { transport }: RawConnection,
  { clock }: Asking,
  signal: AbortSignal,
): Promise<ClockOffset> {
  const { offset } = await timedAnswer(transport, clock, { path: '/version', signal });
  if (offset === undefined) throw failureWithoutReason('its answers have no date');
  return offset;
}
