/**
 * Connects commands to the cluster of a kubeconfig. Problems are reported once, in words that say
 * what to do.
 */
import { homedir } from 'node:os';
import { parsedObject } from '@lockstep/kube/json/parsed-json.ts';
import {
  type ClientConnection,
  connectClient,
} from '@lockstep/kube/runtime/adapters/http-client-connection.ts';
import { loadKubeconfig } from '@lockstep/kube/runtime/adapters/kubeconfig-files.ts';
import { certificateFacts } from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import {
  FIRST_ANSWER_TIMEOUT_MS,
  firstAnswer,
} from '@lockstep/kube/runtime/client/first-answer.ts';
import {
  type ClusterAccess,
  ClusterAccessError,
} from '@lockstep/kube/runtime/credentials/cluster-access.ts';
import { withDeadline } from '@lockstep/kube/runtime/deadline.ts';
import { TransportError } from '@lockstep/kube/runtime/ports/transport.ts';
import { ApiStatusError } from '@lockstep/kube/status.ts';
import { UsageError } from './arguments.ts';
import { PORTS } from './ports.ts';
import { tell } from './tell.ts';

/** After this time without an answer, the user sees what the command waits for. */
const SLOW_ANSWER_MS = 3_000;

/** Why a cluster cannot be used, for the user. */
export class ConnectionProblem extends Error {
  override readonly name = 'ConnectionProblem';
}

export interface ConnectionFlags {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

export interface Connected extends ClientConnection {
  readonly access: ClusterAccess;
  /** For example `1.36.3`. */
  readonly serverVersion: string;
}

/** Rejects with `ConnectionProblem`, `ClusterAccessError` or `UsageError`. */
export async function connectTo(flags: ConnectionFlags, signal: AbortSignal): Promise<Connected> {
  return connect(await accessBy(flags), signal);
}

/** The access in the kubeconfig, before any request. Rejects as `connectTo` does. */
export async function accessBy(flags: ConnectionFlags): Promise<ClusterAccess> {
  if (flags.kubeconfig === '') {
    throw new UsageError('--kubeconfig is "", expected is the path of a file');
  }
  const access = await loadKubeconfig({
    path: flags.kubeconfig,
    context: flags.context,
    env: process.env,
    homeDirectory: homedir(),
    onSlow: tell,
  });
  const expiry = expiryProblem(access, PORTS.clock.now());
  if (expiry !== undefined) throw new ConnectionProblem(expiry);
  return access;
}

/** Rejects as `connectTo` does. */
export async function connect(access: ClusterAccess, signal: AbortSignal): Promise<Connected> {
  const runtime = { ...PORTS, userAgent: 'lockstep' };
  const connection = connectClient(access, runtime);
  const slow = PORTS.clock.setTimer(SLOW_ANSWER_MS, () => {
    tell(`waiting for ${access.server}`);
  });
  try {
    const answer = await firstAnswer(connection.transport, PORTS.clock, signal);
    slow.cancel();
    // A client would retry for as long as it cannot read the answer.
    if (answer.status === 200 && parsedObject(answer.text) === undefined) {
      throw new ConnectionProblem(`${access.server} ${NO_API_SERVER}`);
    }
    await logIn(access, signal);
    const version = await withDeadline(PORTS.clock, FIRST_ANSWER_TIMEOUT_MS, signal, (limited) =>
      connection.client.getPath('/version', { signal: limited }),
    );
    return { ...connection, access, serverVersion: versionIn(version) };
  } catch (cause) {
    slow.cancel();
    connection.close();
    if (signal.aborted || cause instanceof ConnectionProblem) throw cause;
    throw new ConnectionProblem(connectionProblem(cause, access), { cause });
  }
}

/** Logs in first: a user may take minutes, which must not count as the server's. */
async function logIn({ credentials }: ClusterAccess, signal: AbortSignal): Promise<void> {
  if (credentials !== undefined && 'source' in credentials) {
    await credentials.source.current(signal);
  }
}

/** What is wrong with the kubeconfig's certificates at the moment. */
export function expiryProblem(
  { tls }: Pick<ClusterAccess, 'tls'>,
  nowMs: number,
): string | undefined {
  const { clientCertificate } = tls;
  const notAfterMs =
    clientCertificate === undefined ? undefined : certificateFacts(clientCertificate)?.notAfterMs;
  if (notAfterMs === undefined || notAfterMs > nowMs) return undefined;
  const when = new Date(notAfterMs).toISOString();
  return `the client certificate of the kubeconfig expired at ${when}: get a new kubeconfig from the administrator of the cluster (kubeadm certs renew, or your provider's command)`;
}

/** Tells a user who lacks the rights that the command needs an administrator. */
export function withoutRights(error: unknown): unknown {
  if (!(error instanceof ApiStatusError) || error.code !== 403) return error;
  const advice = 'this needs the rights of a cluster administrator (ClusterRole cluster-admin)';
  return new ConnectionProblem(`${error.message}: ${advice}`, { cause: error });
}

/** What an error means for the owner of the kubeconfig. */
function connectionProblem(error: unknown, { server, credentials }: ClusterAccess): string {
  if (error instanceof ClusterAccessError) return error.message;
  if (error instanceof ApiStatusError) {
    if (error.code === 401) {
      if (credentials !== undefined && 'plugin' in credentials) {
        const { place, command } = credentials.plugin;
        return `${server} does not accept what the credential plugin ${JSON.stringify(command)} (${place}) returns: log in again with your provider's command, or use an account of this cluster`;
      }
      return `${server} does not accept the credentials of the kubeconfig: they may have expired, or belong to another cluster`;
    }
    if (error.code === 404) return `${server} ${NO_API_SERVER} (${error.message})`;
    return `${server} answers ${error.code}: ${error.message}`;
  }
  if (error instanceof TransportError) {
    const advice = ADVICE[error.code ?? ''];
    return advice === undefined
      ? error.message
      : `${server}: ${advice} (${oneLine(error.message)})`;
  }
  const why = error instanceof Error ? error.message : String(error);
  return `${server} does not answer: is it the right server, and can this machine reach it? (${why})`;
}

/** OpenSSL ends its messages with a line break, and names a file of its source. */
function oneLine(message: string): string {
  return message.replace(/:\.\.\/\S*\s*$/, '').trim();
}

/** A proxy, or a login page in front of one. */
const NO_API_SERVER = 'answers, but not like a Kubernetes API server: is this the right server?';

const REACHABLE = 'cannot be reached: is the cluster up, and is this the right server?';
const UNTRUSTED =
  'its certificate is not signed by an authority that the kubeconfig trusts: certificate-authority belongs to another cluster, or is missing';
const NO_TLS = 'it does not speak TLS like a Kubernetes API server: is this the right server?';

/** By the code of Node and OpenSSL. */
const ADVICE: Readonly<Record<string, string>> = {
  ECONNREFUSED: REACHABLE,
  ECONNRESET: NO_TLS,
  EHOSTUNREACH: REACHABLE,
  ENETUNREACH: REACHABLE,
  ETIMEDOUT: REACHABLE,
  ENOTFOUND: 'its name is unknown: is this the right server?',
  EAI_AGAIN: 'its name cannot be looked up now: does DNS work on this machine?',
  CERT_HAS_EXPIRED:
    "its certificate has expired: the administrator of the cluster has to renew it, or this machine's clock is wrong",
  CERT_NOT_YET_VALID: "its certificate is not valid yet: is this machine's clock right?",
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  CERT_SIGNATURE_FAILURE: UNTRUSTED,
  ERR_TLS_CERT_ALTNAME_INVALID:
    'its certificate is for other names: use one of them as server, or set tls-server-name',
  EPROTO: NO_TLS,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  HPE_INVALID_CONSTANT: NO_TLS,
};

function versionIn(answer: unknown): string {
  const isObject = typeof answer === 'object' && answer !== null && 'gitVersion' in answer;
  return isObject ? String(answer.gitVersion).replace(/^v/, '') : 'unknown';
}
