/**
 * Kubeconfig files, `v1 Config`, as kubectl reads them: several files merge into one, in which the
 * first to define a name wins. This file is about content; `adapters/kubeconfig-files.ts` reads
 * files. Errors name the file, the field, the value (never a secret) and what was expected. Only
 * what the chosen context needs must be valid.
 */
import { parseDocument } from 'yaml';
import { ClusterAccessError } from './cluster-access.ts';
import { credentialPlugin } from './credential-plugin.ts';
import type { CredentialPlugin } from './exec-credential.ts';
import { KubeconfigMap, type PemSource } from './kubeconfig-map.ts';

export interface Kubeconfig {
  readonly currentContext: string | undefined;
  readonly contexts: ReadonlyMap<string, KubeconfigMap>;
  readonly clusters: ReadonlyMap<string, KubeconfigMap>;
  readonly users: ReadonlyMap<string, KubeconfigMap>;
}

/** The meaning of a context, before its files are read. */
export interface ContextAccess {
  readonly server: string;
  readonly serverName: string | undefined;
  readonly insecureSkipVerify: boolean;
  readonly certificateAuthority: PemSource | undefined;
  readonly clientCertificate: PemSource | undefined;
  readonly clientKey: PemSource | undefined;
  readonly credentials: ContextCredentials | undefined;
  /**
   * The cluster's settings for credential plugins: its extension
   * `client.authentication.k8s.io/exec`.
   */
  readonly pluginConfig: unknown;
  /** Its name. */
  readonly context: string;
  readonly namespace: string;
}

export type ContextCredentials =
  | { readonly token: string }
  | { readonly tokenFile: string }
  | { readonly plugin: CredentialPlugin };

/** `resolvePath` makes paths in the file, which are relative to its directory, absolute. */
export function parseKubeconfig(
  text: string,
  file: string,
  resolvePath: (path: string) => string,
): Kubeconfig {
  const root = new KubeconfigMap(yamlOf(text, file) ?? {}, { file, path: '', resolvePath });
  return {
    currentContext: root.string('current-context'),
    contexts: named(root, 'contexts', 'context'),
    clusters: named(root, 'clusters', 'cluster'),
    users: named(root, 'users', 'user'),
  };
}

function yamlOf(text: string, file: string): unknown {
  const document = parseDocument(text, { logLevel: 'error' });
  try {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    // An alias without its anchor, or one that expands without bounds, fails only here.
    return document.toJS();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // The rest of the message quotes the place, which may hold a key.
    const [why = ''] = message.split('\n');
    throw new ClusterAccessError(`${file}: must be YAML: ${why.replace(/:$/, '')}`, {
      cause: error,
    });
  }
}

function named(
  root: KubeconfigMap,
  list: string,
  member: string,
): ReadonlyMap<string, KubeconfigMap> {
  const entries = new Map<string, KubeconfigMap>();
  for (const entry of root.list(list)) {
    const name = entry.required('name');
    if (!entries.has(name)) entries.set(name, entry.map(member));
  }
  return entries;
}

export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const merged = (of: (config: Kubeconfig) => ReadonlyMap<string, KubeconfigMap>) =>
    new Map(configs.toReversed().flatMap((config) => [...of(config)]));
  return {
    currentContext: configs.find((config) => config.currentContext !== undefined)?.currentContext,
    contexts: merged((config) => config.contexts),
    clusters: merged((config) => config.clusters),
    users: merged((config) => config.users),
  };
}

/**
 * The access of the named context, or the current one. `file` names the configuration in errors.
 */
export function accessOf(
  config: Kubeconfig,
  file: string,
  contextName: string | undefined = config.currentContext,
): ContextAccess {
  const known = [...config.contexts.keys()].map((name) => JSON.stringify(name)).join(', ');
  if (contextName === undefined) {
    throw new ClusterAccessError(
      `${file}: current-context: required; contexts: ${known || 'none'}`,
    );
  }
  const context = config.contexts.get(contextName);
  if (context === undefined) {
    throw new ClusterAccessError(
      `${file}: context ${JSON.stringify(contextName)}: not found; contexts: ${known || 'none'}`,
    );
  }
  const cluster = context.reference('cluster', config.clusters, 'clusters');
  const user =
    context.string('user') === undefined
      ? undefined
      : context.reference('user', config.users, 'users');
  return {
    ...clusterOf(cluster),
    ...userOf(user),
    namespace: context.string('namespace') ?? 'default',
    context: contextName,
  };
}

function clusterOf(cluster: KubeconfigMap) {
  cluster.refuse('proxy-url', 'proxies are not supported');
  const server = cluster.required('server');
  if (!URL.canParse(server) || !/^https?:$/.test(new URL(server).protocol)) {
    throw cluster.error('server', server, 'must be an http:// or https:// URL');
  }
  const certificateAuthority = cluster.pem('certificate-authority');
  const insecureSkipVerify = cluster.boolean('insecure-skip-tls-verify') ?? false;
  if (insecureSkipVerify && certificateAuthority !== undefined) {
    const why = 'must not be set beside a certificate authority, which it would ignore';
    throw cluster.error('insecure-skip-tls-verify', true, why);
  }
  return {
    server,
    serverName: cluster.string('tls-server-name'),
    insecureSkipVerify,
    certificateAuthority,
    pluginConfig: cluster
      .list('extensions')
      .find((extension) => extension.string('name') === PLUGIN_EXTENSION)
      ?.json('extension'),
  };
}

/** Reserved for this by the documentation of credential plugins. */
const PLUGIN_EXTENSION = 'client.authentication.k8s.io/exec';

const SUPPORTED = 'use a client certificate, token, tokenFile or a credential plugin (exec)';

function userOf(user: KubeconfigMap | undefined) {
  const gone = 'Kubernetes 1.26 removed authentication providers';
  user?.refuse('auth-provider', `${gone}; ${SUPPORTED}: your provider's command sets one up`);
  user?.refuse('username', `passwords are not supported by Kubernetes any more; ${SUPPORTED}`);
  user?.refuse('as', 'impersonation is not supported');
  const clientCertificate = user?.pem('client-certificate');
  const clientKey = user?.pem('client-key');
  if (user !== undefined && (clientCertificate === undefined) !== (clientKey === undefined)) {
    const missing = clientKey === undefined ? 'client-key' : 'client-certificate';
    throw user.error(missing, undefined, 'a client certificate and its key go together');
  }
  const credentials = credentialsOf(user, clientCertificate !== undefined);
  return { clientCertificate, clientKey, credentials };
}

function credentialsOf(
  user: KubeconfigMap | undefined,
  hasCertificate: boolean,
): ContextCredentials | undefined {
  // Always checked, as in kubectl, so that its errors do not come later.
  const plugin = user?.has('exec') === true ? credentialPlugin(user.map('exec')) : undefined;
  const tokenFile = user?.path('tokenFile');
  // The file wins, as in client-go, because its token is newer.
  if (tokenFile !== undefined) return { tokenFile };
  const token = user?.string('token');
  if (token !== undefined) return { token };
  // If the file itself identifies the user, the plugin is superfluous and not run.
  return plugin === undefined || hasCertificate ? undefined : { plugin };
}
