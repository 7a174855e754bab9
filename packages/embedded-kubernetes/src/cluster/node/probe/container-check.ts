/**
 * Carries out one probe attempt or one lifecycle hook in or against a running container: a command
 * with the container's environment, an HTTP request, a question of gRPC's health protocol, a TCP
 * connection, or a pause.
 */
import type { IntOrString } from '@lockstep/kube/meta.ts';
import type { Container, LifecycleHandler, Probe } from '@lockstep/kube/objects/pod.ts';
import { sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import { ProcessStartError } from '@lockstep/kube/runtime/ports/process-runner.ts';
import { besideCommand, type RunningPlace } from '../namespaces/beside-command.ts';
import type { NodeContext } from '../ports/node-context.ts';
import { PROBE_USER_AGENT } from '../ports/probe-transport.ts';
import type { ProbeResult } from './prober.ts';

/** The target of a container's checks. */
export interface CheckTarget {
  readonly container: Container;
  readonly launch: RunningPlace;
  readonly podIP: string;
  /** From a declared port to the actual one. */
  readonly ports: ReadonlyMap<number, number>;
}

/** How much of a command's output is kept for the note. */
const MAX_OUTPUT_BYTES = 10 * 1024;
/** An endless hook would hold up the container's end for ever. */
const HOOK_TIMEOUT_MS = 600_000;

/** Never rejects. */
export async function attemptProbe(
  context: NodeContext,
  target: CheckTarget,
  probe: Probe,
  timeoutMs: number,
): Promise<ProbeResult> {
  try {
    if (probe.exec !== undefined) {
      return await runCommand(context, target, probe.exec.command ?? [], timeoutMs);
    }
    if (probe.httpGet !== undefined) return await get(context, target, probe.httpGet, timeoutMs);
    if (probe.tcpSocket !== undefined) {
      const { host, port } = probe.tcpSocket;
      await context.probes.connect(host ?? target.podIP, portOf(target, port), timeoutMs);
      return { outcome: 'success', note: '' };
    }
    if (probe.grpc !== undefined) return await askHealth(context, target, probe.grpc, timeoutMs);
    return { outcome: 'error', note: 'this node knows no such probe' };
  } catch (error) {
    // Refused, reset, too slow: the container does not answer as it should.
    return { outcome: 'failure', note: textOf(error) };
  }
}

/** Resolves when the hook is done; rejects with what went wrong, or when `signal` ends a pause. */
export async function runHook(
  context: NodeContext,
  target: CheckTarget,
  hook: LifecycleHandler,
  signal: AbortSignal,
): Promise<void> {
  if (hook.sleep !== undefined) {
    await sleep(context.clock, hook.sleep.seconds * 1000, signal);
    return;
  }
  const { outcome, note } = await attemptProbe(context, target, hook, HOOK_TIMEOUT_MS);
  if (outcome !== 'success') throw new Error(note);
}

async function runCommand(
  context: NodeContext,
  { launch }: CheckTarget,
  command: readonly string[],
  timeoutMs: number,
): Promise<ProbeResult> {
  const [program, ...rest] = command;
  if (program === undefined) return { outcome: 'error', note: 'the command is empty' };
  let output = '';
  try {
    const child = await context.processes.start({
      ...besideCommand(context, launch, [program, ...rest]),
      onOutput: (_stream, chunk) => {
        if (output.length < MAX_OUTPUT_BYTES) output += new TextDecoder().decode(chunk);
      },
    });
    let isLate = false;
    const timer = context.clock.setTimer(timeoutMs, () => {
      isLate = true;
      child.signalGroup('SIGKILL');
    });
    const exit = await child.exited;
    timer.cancel();
    if (isLate) return { outcome: 'failure', note: `command timed out after ${timeoutMs} ms` };
    return { outcome: exit.exitCode === 0 ? 'success' : 'failure', note: output.trimEnd() };
  } catch (error) {
    if (!(error instanceof ProcessStartError)) throw error;
    return { outcome: 'failure', note: error.message };
  }
}

async function get(
  context: NodeContext,
  target: CheckTarget,
  httpGet: NonNullable<Probe['httpGet']>,
  timeoutMs: number,
): Promise<ProbeResult> {
  const host = httpGet.host ?? target.podIP;
  const port = portOf(target, httpGet.port);
  const { path = '/', scheme = 'HTTP' } = httpGet;
  const headers = Object.fromEntries(
    (httpGet.httpHeaders ?? []).map(({ name, value }) => [name, value]),
  );
  const request = { scheme, host, port, path, timeoutMs };
  const answer = await context.probes.get({
    ...request,
    headers: { 'user-agent': PROBE_USER_AGENT, accept: '*/*', ...headers },
  });
  if (answer.redirectedTo !== undefined) {
    const note = `Probe terminated redirects, location: ${answer.redirectedTo}`;
    return { outcome: 'success', isWarning: true, note };
  }
  if (answer.status >= 200 && answer.status < 400) return { outcome: 'success', note: '' };
  return { outcome: 'failure', note: `HTTP probe failed with statuscode: ${answer.status}` };
}

async function askHealth(
  context: NodeContext,
  target: CheckTarget,
  { port, service = '' }: NonNullable<Probe['grpc']>,
  timeoutMs: number,
): Promise<ProbeResult> {
  const question = { host: target.podIP, port: portOf(target, port), service, timeoutMs };
  const status = await context.probes.health(question);
  if (status === 'SERVING') return { outcome: 'success', note: 'service healthy' };
  return { outcome: 'failure', note: `service unhealthy (responded with "${status}")` };
}

function portOf({ container, ports }: CheckTarget, port: IntOrString): number {
  const declared =
    typeof port === 'number'
      ? port
      : container.ports?.find(({ name }) => name === port)?.containerPort;
  const number = declared ?? Number(port);
  if (!Number.isInteger(number) || number < 1 || number > 65_535) {
    throw new Error(`couldn't find port ${JSON.stringify(port)} in container "${container.name}"`);
  }
  return ports.get(number) ?? number;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
