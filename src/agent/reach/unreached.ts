/**
 * Says in plain words why a Pod does not reach the hub, and where to look. Few people know the
 * meaning of Node's codes.
 */

import { DeadlineError } from '@lockstep/kube/runtime/deadline.ts';
import { StreamRefusedError } from '@lockstep/kube/runtime/ports/stream.ts';
import { HUB_AUTHORITIES_NAME } from '../../jobset/names.ts';

/** One try that failed. */
export interface FailedTry {
  readonly message: string;
  /** The code of the system, such as `ECONNREFUSED`, or of TLS. */
  readonly code?: string;
  /** HTTP: the hub answered, and refused. */
  readonly status?: number;
}

export interface Unreached {
  readonly sight: Sight;
  /** A sentence without its end: `nothing answered in time`. */
  readonly saw: string;
  /** Where the cause is likely to be. */
  readonly look?: string;
}

const POLICY =
  'NetworkPolicies, which drop packets in silence: allow egress from this Pod to the hub and its port, and ingress there';
const OTHER_SERVER = 'the address of the hub: another server, or a proxy, answers there';

interface KnownOperator {
  readonly codes: readonly string[];
  readonly saw: string;
  readonly look: string;
}

const KNOWN = {
  Refused: {
    codes: ['ECONNREFUSED'],
    saw: 'its port refused the connection',
    look: 'the endpoint of its Service: a replica of the operator has to run and to lead; some networks refuse so what a NetworkPolicy forbids',
  },
  NoRoute: {
    // The last two are the answers of a firewall on the Pod's own node.
    codes: ['EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN', 'EPERM', 'EACCES'],
    saw: 'there is no route to it',
    look: POLICY,
  },
  TimedOut: {
    codes: ['ETIMEDOUT', 'ERR_SOCKET_CONNECTION_TIMEOUT'],
    saw: 'nothing answered in time',
    look: POLICY,
  },
  UnknownName: {
    codes: ['ENOTFOUND', 'EAI_NONAME', 'EAI_NODATA'],
    saw: 'the name service does not know its name',
    look: 'DNS: whether the Service is in the namespace that the address names, and dnsPolicy of this Pod',
  },
  NoNameService: {
    codes: ['EAI_AGAIN', 'EAI_FAIL'],
    saw: 'the name service did not answer',
    look: 'DNS: whether its Pods run, and NetworkPolicies: allow egress from this Pod to port 53, UDP and TCP',
  },
  Untrusted: {
    codes: [
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'UNABLE_TO_GET_ISSUER_CERT',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'CERT_SIGNATURE_FAILURE',
      'CERT_UNTRUSTED',
      'CERT_REJECTED',
      'INVALID_CA',
    ],
    saw: 'its certificate is not trusted',
    look: `the authorities of the hub: ConfigMap ${HUB_AUTHORITIES_NAME} of this namespace; Jobs that are older than an installation made anew`,
  },
  NotValidNow: {
    codes: ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'],
    saw: 'its certificate is not valid now',
    look: 'the clock of this node, and the log of the operator, which renews the certificate',
  },
  OtherName: {
    codes: ['ERR_TLS_CERT_ALTNAME_INVALID', 'HOSTNAME_MISMATCH'],
    saw: 'its certificate is for another name',
    look: OTHER_SERVER,
  },
  NoTls: {
    codes: ['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'],
    saw: 'what answers there does not speak TLS as the hub does',
    look: OTHER_SERVER,
  },
  BrokenOff: {
    codes: ['ECONNRESET', 'ECONNABORTED', 'EPIPE'],
    saw: 'the connection was broken off',
    look: 'the log of the operator, and proxies or a service mesh on the way',
  },
} as const satisfies Readonly<Record<string, KnownOperator>>;

export type Sight =
  | keyof typeof KNOWN
  /** It answered, and refused. */
  | 'Answered'
  /** Nothing is known but its text. */
  | 'Other';

const BY_CODE: ReadonlyMap<string, Unreached> = new Map(
  Object.entries<KnownOperator>(KNOWN).flatMap(([sight, { codes, saw, look }]) =>
    codes.map((code) => [code, { sight: sight as Sight, saw, look }] as const),
  ),
);

const STATUS_LOOKS: Readonly<Record<number, string>> = {
  401: 'the token of this Pod: an address of a hub in another cluster, or a clock that is wrong',
  403: 'the log of the operator: it knows no member of a JobSet by this Pod',
  404: OTHER_SERVER,
  426: OTHER_SERVER,
  429: 'the log of this agent: it asks too often, so its streams end soon',
  502: OTHER_SERVER,
  503: 'whether a replica of the operator leads; it may be starting, or full',
};

export function unreached({ message, code, status }: FailedTry): Unreached {
  if (status !== undefined) {
    const look = STATUS_LOOKS[status];
    const saw = `it answered with HTTP status ${status}`;
    return { sight: 'Answered', saw, ...(look !== undefined && { look }) };
  }
  const known = BY_CODE.get(code ?? '');
  return known ?? { sight: 'Other', saw: message === '' ? (code ?? 'an unknown error') : message };
}

/** The failed try that an error describes. */
export function failedTry(error: unknown): FailedTry {
  if (!(error instanceof Error)) return { message: String(error) };
  const { message } = error;
  if (error instanceof StreamRefusedError) return { message, status: error.status };
  if (error instanceof DeadlineError) return { message, code: 'ETIMEDOUT' };
  return 'code' in error && typeof error.code === 'string'
    ? { message, code: error.code }
    : { message };
}
