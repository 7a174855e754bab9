/** Validates probes and lifecycle handlers of containers. */
import { forbiddenField, invalidValue, required } from '@lockstep/kube/field-error.ts';
import type { IntOrString } from '@lockstep/kube/meta.ts';
import { portNameErrors, portNumberErrors } from '@lockstep/kube/name-rules.ts';
import type { Container, LifecycleHandler, Probe } from '@lockstep/kube/objects/pod.ts';
import type { FieldError } from '@lockstep/kube/status.ts';

/** Problems of all probes and handlers of a container that may have them. */
export function hookErrors(
  container: Container,
  path: string,
  gracePeriodSeconds: number | undefined,
): FieldError[] {
  const { livenessProbe, readinessProbe, startupProbe, lifecycle } = container;
  const errors: FieldError[] = [];
  for (const hook of ['postStart', 'preStop'] as const) {
    const handler = lifecycle?.[hook];
    if (handler === undefined) continue;
    errors.push(...handlerErrors(handler, `${path}.lifecycle.${hook}`, gracePeriodSeconds));
  }
  if (livenessProbe !== undefined) {
    errors.push(...oneSuccessProbeErrors(livenessProbe, `${path}.livenessProbe`));
  }
  if (readinessProbe !== undefined) {
    errors.push(...readinessProbeErrors(readinessProbe, `${path}.readinessProbe`));
  }
  if (startupProbe !== undefined) {
    errors.push(...oneSuccessProbeErrors(startupProbe, `${path}.startupProbe`));
  }
  return errors;
}

/** Refuses the hooks that a plain init container must not have. */
export function forbiddenHookErrors(container: Container, path: string): FieldError[] {
  const hooks = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const;
  return hooks
    .filter((hook) => container[hook] !== undefined)
    .map((hook) =>
      forbiddenField(
        `${path}.${hook}`,
        'may not be set for init containers without restartPolicy=Always',
      ),
    );
}

/** Liveness and startup probes need exactly one success. */
function oneSuccessProbeErrors(probe: Probe, path: string): FieldError[] {
  const errors = probeErrors(probe, path);
  const { successThreshold = 1 } = probe;
  if (successThreshold !== 1) {
    errors.push(invalidValue(`${path}.successThreshold`, successThreshold, 'must be 1'));
  }
  return errors;
}

function readinessProbeErrors(probe: Probe, path: string): FieldError[] {
  const errors = probeErrors(probe, path);
  const { terminationGracePeriodSeconds: seconds } = probe;
  if (seconds !== undefined) {
    const field = `${path}.terminationGracePeriodSeconds`;
    errors.push(invalidValue(field, seconds, 'must not be set for readinessProbes'));
  }
  return errors;
}

function probeErrors(probe: Probe, path: string): FieldError[] {
  const errors = handlerErrors(probe, path, undefined);
  const numbers = [
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ] as const;
  for (const name of numbers) {
    const value = probe[name] ?? 0;
    if (value < 0) {
      errors.push(invalidValue(`${path}.${name}`, value, 'must be greater than or equal to 0'));
    }
  }
  const { terminationGracePeriodSeconds: seconds } = probe;
  if (seconds !== undefined && seconds <= 0) {
    const field = `${path}.terminationGracePeriodSeconds`;
    errors.push(invalidValue(field, seconds, 'must be greater than 0'));
  }
  return errors;
}

const HEADER_NAME = /^[-A-Za-z0-9]+$/;
const HEADER_NAME_RULE =
  "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', " +
  "regex used for validation is '[-A-Za-z0-9]+')";

type HttpGet = NonNullable<Probe['httpGet']>;
type Handler = LifecycleHandler & Pick<Probe, 'grpc'>;

/** A handler has exactly one kind; the first counts, all others are refused. */
function handlerErrors(
  handler: Handler,
  path: string,
  gracePeriodSeconds: number | undefined,
): FieldError[] {
  const kinds = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const;
  const [first, ...others] = kinds.filter((kind) => handler[kind] !== undefined);
  if (first === undefined) return [required(path, 'must specify a handler type')];
  return [
    ...actionErrors(handler, path, gracePeriodSeconds),
    ...others.map((kind) =>
      forbiddenField(`${path}.${kind}`, 'may not specify more than 1 handler type'),
    ),
  ];
}

function actionErrors(
  { exec, httpGet, tcpSocket, grpc, sleep }: Handler,
  path: string,
  gracePeriodSeconds: number | undefined,
): FieldError[] {
  if (exec !== undefined) {
    const isEmpty = (exec.command ?? []).length === 0;
    return isEmpty ? [required(`${path}.exec.command`)] : [];
  }
  if (httpGet !== undefined) return httpErrors(httpGet, `${path}.httpGet`);
  if (tcpSocket !== undefined) return portErrors(tcpSocket.port, `${path}.tcpSocket.port`);
  if (grpc !== undefined) return portErrors(grpc.port, `${path}.grpc.port`);
  if (sleep === undefined || gracePeriodSeconds === undefined) return [];
  const { seconds } = sleep;
  if (seconds >= 0 && seconds <= gracePeriodSeconds) return [];
  const detail = `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriodSeconds})`;
  return [invalidValue(`${path}.sleep`, seconds, detail)];
}

function httpErrors({ port, httpHeaders = [] }: HttpGet, path: string): FieldError[] {
  return [
    ...portErrors(port, `${path}.port`),
    ...httpHeaders
      .filter(({ name }) => !HEADER_NAME.test(name))
      .map(({ name }) => invalidValue(`${path}.httpHeaders`, name, HEADER_NAME_RULE)),
  ];
}

/** A port is a number, or the name of one. */
export function portErrors(port: IntOrString, path: string): FieldError[] {
  const complaints = typeof port === 'number' ? portNumberErrors(port) : portNameErrors(port);
  return complaints.map((text) => invalidValue(path, port, text));
}
