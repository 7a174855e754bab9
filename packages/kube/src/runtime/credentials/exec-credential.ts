/**
 * The protocol between a client and its credential plugin, `ExecCredential` of
 * client.authentication.k8s.io: the input in the variable `KUBERNETES_EXEC_INFO`, and the answer on
 * standard output. An answer holds secrets, so errors show nothing of it.
 */
import { parse } from 'yaml';
import type { Credentials } from './credential-source.ts';

/** The program and how it is called, as a kubeconfig has it. */
export interface CredentialPlugin {
  /** File and field, for errors: `config: users[0].user.exec`. */
  readonly place: string;
  readonly apiVersion: ExecApiVersion;
  /** A path, or a name to be looked up in PATH. */
  readonly command: string;
  /** They may hold secrets, so they are never shown. */
  readonly args: readonly string[];
  /** Added to the environment of this process. */
  readonly env: Readonly<Record<string, string>>;
  /** For a user who does not have the command. */
  readonly installHint: string | undefined;
  readonly provideClusterInfo: boolean;
  readonly interactiveMode: InteractiveMode;
}

/** Versions of the protocol that are spoken here. */
export const EXEC_API_VERSIONS = [
  'client.authentication.k8s.io/v1',
  'client.authentication.k8s.io/v1beta1',
] as const;
export type ExecApiVersion = (typeof EXEC_API_VERSIONS)[number];

export const INTERACTIVE_MODES = ['Never', 'IfAvailable', 'Always'] as const;
/** Whether the program reads standard input: never, only if that is a terminal, or always. */
export type InteractiveMode = (typeof INTERACTIVE_MODES)[number];

/** The name of the variable. */
export const EXEC_INFO = 'KUBERNETES_EXEC_INFO';

/** The cluster for which credentials are wanted. */
export interface ExecCluster {
  readonly server: string;
  readonly serverName?: string | undefined;
  readonly insecureSkipVerify?: boolean | undefined;
  /** PEM. */
  readonly certificateAuthority?: string | undefined;
  /** The kubeconfig's settings for the plugin. */
  readonly config: unknown;
}

/**
 * The value of the variable. `cluster` is for plugins whose kubeconfig sets `provideClusterInfo`.
 */
export function execInfo(
  apiVersion: ExecApiVersion,
  interactive: boolean,
  cluster: ExecCluster | undefined,
): string {
  const spec = { ...(cluster === undefined ? {} : { cluster: clusterInfo(cluster) }), interactive };
  return JSON.stringify({ apiVersion, kind: 'ExecCredential', spec });
}

/**
 * Leaves out fields that are not set. There is no `proxy-url`, because such clusters are refused.
 */
function clusterInfo(cluster: ExecCluster): object {
  const { certificateAuthority: authority } = cluster;
  return {
    server: cluster.server,
    'tls-server-name': cluster.serverName,
    'insecure-skip-tls-verify': cluster.insecureSkipVerify === true ? true : undefined,
    'certificate-authority-data':
      authority === undefined ? undefined : Buffer.from(authority).toString('base64'),
    config: cluster.config,
  };
}

export interface ExecAnswer {
  readonly credentials: Credentials;
  /** Wall time; undefined: valid for as long as the server accepts them. */
  readonly expiresAtMs: number | undefined;
}

/** Parses the plugin's answer, or returns what is wrong with it. */
export function execAnswer(
  output: string,
  apiVersion: ExecApiVersion,
): ExecAnswer | { readonly problem: string } {
  const answer = fieldsOf(parsed(output));
  if (answer === undefined) {
    const what = output.trim() === '' ? 'nothing' : 'something else';
    return { problem: `wrote ${what} instead of an ExecCredential in JSON` };
  }
  for (const [field, value] of Object.entries({ kind: 'ExecCredential', apiVersion })) {
    const found = answer.get(field);
    if (found === value) continue;
    return { problem: `answered with ${field} ${shown(found)}, where ${value} is expected` };
  }
  const status = fieldsOf(answer.get('status'));
  if (status === undefined) return { problem: 'answered without a status: it has no credentials' };
  for (const field of STATUS_FIELDS) {
    if (typeof (status.get(field) ?? '') === 'string') continue;
    return { problem: `answered with a status.${field} that is not a string` };
  }
  const [token, certificate, key, expiry] = STATUS_FIELDS.map((field) => text(status, field));
  return token === undefined && certificate === undefined && key === undefined
    ? { problem: 'answered without status.token, and without status.clientCertificateData' }
    : credentialsOf({ token, certificate, key, expiry });
}

const STATUS_FIELDS = [
  'token',
  'clientCertificateData',
  'clientKeyData',
  'expirationTimestamp',
] as const;

function credentialsOf(status: {
  readonly token: string | undefined;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
  readonly expiry: string | undefined;
}): ExecAnswer | { readonly problem: string } {
  const { token, certificate, key, expiry } = status;
  if (token !== undefined && !TOKEN.test(token)) {
    return { problem: 'answered with a status.token that is no bearer token: it has white space' };
  }
  if ((certificate === undefined) !== (key === undefined)) {
    const missing = key === undefined ? 'clientKeyData' : 'clientCertificateData';
    return { problem: `answered without status.${missing}: certificate and key go together` };
  }
  const expiresAtMs = expiry === undefined ? undefined : rfc3339(expiry);
  if (expiry !== undefined && expiresAtMs === undefined) {
    return {
      problem: `answered with status.expirationTimestamp ${shown(expiry)}, where a time as 2026-01-31T12:00:00Z is expected`,
    };
  }
  const clientCertificate =
    certificate === undefined || key === undefined ? undefined : { certificate, key };
  return { credentials: { token, clientCertificate }, expiresAtMs };
}

/** The characters that can stand in a header: Node would refuse to send others. */
const TOKEN = /^[\x21-\x7e]+$/;

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

function rfc3339(time: string): number | undefined {
  const ms = RFC_3339.test(time) ? Date.parse(time.toUpperCase()) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

/**
 * Accepts YAML too, as client-go does. The parser's messages are dropped, because they quote the
 * text.
 */
function parsed(output: string): unknown {
  try {
    return parse(output, { logLevel: 'error' });
  } catch {
    return undefined;
  }
}

function fieldsOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isMap ? new Map(Object.entries(value)) : undefined;
}

/** An empty text counts as absent, as in Kubernetes. */
function text(fields: ReadonlyMap<string, unknown>, field: string): string | undefined {
  const value = fields.get(field);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

const MAX_SHOWN_CHARACTERS = 60;

/** For fields that hold no secret. */
function shown(value: unknown): string {
  if (typeof value !== 'string') return value === undefined ? 'missing' : 'of another type';
  return JSON.stringify(value.slice(0, MAX_SHOWN_CHARACTERS));
}
