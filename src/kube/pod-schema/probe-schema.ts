/** Schemas of probes and lifecycle handlers. */
import {
  atomicList,
  defaulted,
  definitions,
  int32,
  int64,
  intOrString,
  oneOf,
  string,
} from '../schema/builders.ts';

const core = definitions('io.k8s.api.core.v1');

const HTTP_HEADER = core(
  'HTTPHeader',
  { name: string(), value: defaulted('', string()) },
  { required: ['name', 'value'] },
);

const EXEC_ACTION = core('ExecAction', { command: atomicList(string()) });

const HTTP_GET_ACTION = core(
  'HTTPGetAction',
  {
    path: string(),
    port: intOrString(),
    host: string(),
    scheme: oneOf(['HTTP', 'HTTPS']),
    httpHeaders: atomicList(HTTP_HEADER),
  },
  { required: ['port'] },
);

const TCP_SOCKET_ACTION = core(
  'TCPSocketAction',
  { port: intOrString(), host: string() },
  { required: ['port'] },
);

const GRPC_ACTION = core(
  'GRPCAction',
  { port: int32(), service: string() },
  { required: ['port'] },
);

const SLEEP_ACTION = core('SleepAction', { seconds: int64() }, { required: ['seconds'] });

export const PROBE = core('Probe', {
  exec: EXEC_ACTION,
  httpGet: HTTP_GET_ACTION,
  tcpSocket: TCP_SOCKET_ACTION,
  grpc: GRPC_ACTION,
  initialDelaySeconds: int32(),
  timeoutSeconds: int32(),
  periodSeconds: int32(),
  successThreshold: int32(),
  failureThreshold: int32(),
  terminationGracePeriodSeconds: int64(),
});

const LIFECYCLE_HANDLER = core('LifecycleHandler', {
  exec: EXEC_ACTION,
  httpGet: HTTP_GET_ACTION,
  tcpSocket: TCP_SOCKET_ACTION,
  sleep: SLEEP_ACTION,
});

export const LIFECYCLE = core('Lifecycle', {
  postStart: LIFECYCLE_HANDLER,
  preStop: LIFECYCLE_HANDLER,
  stopSignal: string(),
});
