/**
 * A controller of another project, as a process beside the control plane under test. It has the
 * definitions, the configuration and the webhooks of its own installation, and an administrator's
 * rights. Its webhooks answer at a URL instead of a Service.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeObject } from '@lockstep/kube/meta.ts';
import {
  MUTATING_WEBHOOK_CONFIGURATIONS,
  type MutatingWebhookConfiguration,
  VALIDATING_WEBHOOK_CONFIGURATIONS,
} from '@lockstep/kube/objects/admission-webhooks.ts';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  type CustomResourceDefinition,
} from '@lockstep/kube/objects/custom-resource-definition.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import { freePorts } from '@lockstep/kube/runtime/adapters/free-ports.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import {
  createCertificateAuthority,
  issueCertificate,
} from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { unlessGone } from '@lockstep/kube/runtime/client/unless-refused.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { expect } from 'vitest';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { KUBERNETES } from '../kubernetes.ts';

const LOOPBACK = '127.0.0.1';
const STOP_GRACE_MS = 5_000;
const START_TIMEOUT_MS = 60_000;
/** Lines of its log that are shown if it does not start. */
const SHOWN_LOG_LINES = 30;
const CERTIFICATE_DAYS = 2;

/** Where the manifests of each have what it needs, and how its own certificates are turned off. */
const LAYOUTS = {
  jobset: { definitions: 'crd/bases', certificates: 'internalCertManagement' },
  kueue: { definitions: 'crd/bases', certificates: 'internalCertManagement' },
  trainer: { definitions: 'crds', certificates: 'certManagement' },
} as const;

export type NeighbourName = keyof typeof LAYOUTS;

type WebhookConfiguration = MutatingWebhookConfiguration;

/** The directory of a program that `npm run test:neighbours` has built. */
export function programDirectory(name: string): string {
  const directories = JSON.parse(process.env['LOCKSTEP_TEST_NEIGHBOURS'] ?? '{}');
  return (directories as Readonly<Record<string, string>>)[name] ?? '';
}

/** Changes what of an installation differs from the manifests. */
export interface NeighbourOptions {
  readonly client: Client;
  /** For its logs and certificates. */
  readonly directory: string;
  /** An administrator's kubeconfig; by default it leads to the cluster under test. */
  readonly kubeconfig?: string | undefined;
  /** Keys of its Configuration file, in place of those in the manifest. */
  readonly configuration?: object;
}

export class Neighbour {
  readonly #client: Client;
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #webhooks: [Resource, string][] = [];

  private constructor(client: Client, child: ChildProcess) {
    this.#client = client;
    this.#child = child;
    this.#exited = new Promise((resolve) => child.once('exit', resolve));
  }

  /** Resolves when it is ready and its webhooks are asked. */
  static async start(name: NeighbourName, options: NeighbourOptions): Promise<Neighbour> {
    const { client } = options;
    await applyDefinitions(name, client);
    const directory = join(options.directory, name);
    const authority = writeCertificates(directory);
    const [webhook = 0, health = 0] = await freePorts(2, systemRandom);
    const configuration = join(directory, 'configuration.yaml');
    const ports = { webhook, health };
    writeFileSync(configuration, configurationOf(name, directory, ports, options.configuration));
    const log = join(directory, 'log');
    const output = openSync(log, 'a', 0o600);
    const program = join(programDirectory(name), name);
    const flags = [`--config=${configuration}`];
    const [command, ...args] = [...commandOf(name, program, servingDirectory(directory)), ...flags];
    const child = spawn(command, args, {
      stdio: ['ignore', output, output],
      env: {
        ...process.env,
        KUBECONFIG: options.kubeconfig ?? KUBERNETES ?? join(options.directory, 'kubeconfig'),
        TMPDIR: directory,
      },
    });
    closeSync(output);
    const neighbour = new Neighbour(client, child);
    try {
      await until(
        `${name} is ready`,
        async () => {
          if (neighbour.#hasExited) return true;
          const answer = await fetch(`http://${LOOPBACK}:${health}/readyz`);
          expect(answer.status).toBe(200);
          return true;
        },
        START_TIMEOUT_MS,
      );
      if (neighbour.#hasExited) throw new Error('it has ended');
    } catch (error) {
      await neighbour.stop();
      const lines = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-SHOWN_LOG_LINES);
      throw new Error(`${name} does not start:\n${lines.join('\n')}`, { cause: error });
    }
    const answerAt = { url: `https://${LOOPBACK}:${webhook}`, authority };
    await neighbour.#applyWebhooks(name, (each) => answeringAt(answerAt, each));
    return neighbour;
  }

  async #applyWebhooks(
    name: NeighbourName,
    edit: (configuration: WebhookConfiguration) => WebhookConfiguration,
  ): Promise<void> {
    for (const object of manifests(name, 'webhook/manifests.yaml')) {
      const of =
        object.kind === MUTATING_WEBHOOK_CONFIGURATIONS.kind
          ? MUTATING_WEBHOOK_CONFIGURATIONS
          : VALIDATING_WEBHOOK_CONFIGURATIONS;
      const metadata = { name: `${name}-${object.metadata?.name}` };
      const patch = { ...edit(object), metadata };
      await apply(this.#client, of, patch);
      this.#webhooks.push([of, metadata.name]);
    }
  }

  /** Removes its webhooks, which would refuse everything without it, and ends it. */
  async stop(): Promise<void> {
    for (const [of, name] of this.#webhooks.splice(0)) await this.#client.delete(of, { name });
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_GRACE_MS);
    this.#child.kill('SIGTERM');
    if (!this.#hasExited) await this.#exited;
    clearTimeout(timer);
  }

  get #hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }
}

/** The definitions of its release, which replace the definitions of another release. */
export async function applyDefinitions(name: NeighbourName, client: Client): Promise<void> {
  const folder = LAYOUTS[name].definitions;
  const files = readdirSync(join(programDirectory(name), 'manifests', folder));
  for (const file of files.filter((each) => each.includes('_'))) {
    const [object] = manifests(name, `${folder}/${file}`);
    await applyDefinition(client, object as CustomResourceDefinition);
  }
}

/**
 * Resolves when its objects are served by the new definition only. A watch that was open before shows
 * objects by the old one until the API server ends it, and its client never gets them again.
 */
export async function applyDefinition(
  client: Client,
  definition: CustomResourceDefinition,
): Promise<void> {
  // A status that comes with a definition is the server's to write.
  const { apiVersion, kind, metadata, spec } = definition;
  const { name = '', annotations = {} } = metadata;
  const patch = { apiVersion, kind, metadata: { name, annotations }, spec };
  const before = await unlessGone(client.get(CUSTOM_RESOURCE_DEFINITIONS, { name }));
  const watch = before && (await openWatch(client, resourceOf(definition)));
  await apply(client, CUSTOM_RESOURCE_DEFINITIONS, patch);
  await until(`${name} is served`, async () => {
    const { status, metadata: now } = await client.get(CUSTOM_RESOURCE_DEFINITIONS, { name });
    const isTrue = { type: 'Established', status: 'True' };
    expect(status?.conditions).toContainEqual(expect.objectContaining(isTrue));
    if (now.generation !== before?.metadata.generation) expect(watch?.isOpen ?? false).toBe(false);
  });
  watch?.close();
}

interface OpenWatch {
  readonly isOpen: boolean;
  close(): void;
}

/** Resolves when the API server has sent what there is. */
async function openWatch(client: Client, of: Resource): Promise<OpenWatch> {
  const closed = new AbortController();
  const events = client
    .watch(of, {
      sendInitialEvents: true,
      allowWatchBookmarks: true,
      resourceVersionMatch: 'NotOlderThan',
      signal: closed.signal,
    })
    [Symbol.asyncIterator]();
  for (let isFilled = false; !isFilled; ) {
    const { value, done } = await events.next();
    isFilled = done === true || (value.type === 'BOOKMARK' && value.initialEventsEnd);
  }
  let isOpen = true;
  const read = async (): Promise<void> => {
    while ((await events.next()).done !== true);
  };
  void read()
    .catch(() => undefined)
    .finally(() => {
      isOpen = false;
    });
  return {
    get isOpen() {
      return isOpen;
    },
    close: () => closed.abort(),
  };
}

function resourceOf({ spec }: CustomResourceDefinition): Resource {
  const { group, names, scope, versions } = spec;
  const version = versions.find(({ storage }) => storage)?.name ?? '';
  const { plural, kind } = names;
  return { group, version, plural, kind, namespaced: scope === 'Namespaced' };
}

/** As `kubectl apply --server-side --force-conflicts`. */
export async function apply(
  client: Client,
  of: Resource,
  patch: KubeObject & { readonly metadata: { readonly name: string; readonly namespace?: string } },
): Promise<void> {
  const { name, namespace } = patch.metadata;
  const at = namespace === undefined ? { name } : { namespace, name };
  await client.patch(of, at, { type: 'apply', patch, fieldManager: 'test', force: true });
}

function manifests(name: NeighbourName, path: string): readonly KubeObject[] {
  const text = readFileSync(join(programDirectory(name), 'manifests', path), 'utf8');
  return parseAllDocuments(text).flatMap((each) => each.toJS() ?? []);
}

function configurationOf(
  name: NeighbourName,
  directory: string,
  ports: { readonly webhook: number; readonly health: number },
  more: object = {},
): string {
  const path = join(programDirectory(name), 'manifests/manager/controller_manager_config.yaml');
  return stringify({
    ...parse(readFileSync(path, 'utf8')),
    health: { healthProbeBindAddress: `${LOOPBACK}:${ports.health}` },
    metrics: { bindAddress: '0' },
    // Trainer has no key for the directory, and looks below `TMPDIR`.
    webhook: {
      host: LOOPBACK,
      port: ports.webhook,
      ...(name === 'trainer' ? {} : { certDir: servingDirectory(directory) }),
    },
    leaderElection: { leaderElect: false },
    [LAYOUTS[name].certificates]: { enable: false },
    // It answers kubectl about queues, as an extension of the API server.
    ...(name === 'kueue' ? { featureGates: { VisibilityOnDemand: false } } : {}),
    ...more,
  });
}

/**
 * Kueue reads the certificate of its metrics from a path that it does not let one choose, so it gets
 * an `/etc` of its own.
 */
function commandOf(
  name: NeighbourName,
  program: string,
  certificates: string,
): readonly [string, ...string[]] {
  if (name !== 'kueue') return [program];
  const at = '/etc/kueue/metrics/certs';
  const setUp = `mount -t tmpfs none /etc && mkdir -p ${at} && cp ${certificates}/tls.* ${at}`;
  const own = ['--user', '--map-root-user', '--mount'];
  return ['unshare', ...own, 'sh', '-c', `${setUp} && exec "$@"`, 'sh', program];
}

function servingDirectory(directory: string): string {
  return join(directory, 'k8s-webhook-server/serving-certs');
}

/** Returns the authority of its serving certificate, in PEM. */
function writeCertificates(directory: string): string {
  const serving = servingDirectory(directory);
  mkdirSync(serving, { recursive: true });
  const authority = createCertificateAuthority({ commonName: 'neighbour', clock: nodeClock });
  const pair = issueCertificate(authority, {
    commonName: 'webhooks',
    ipAddresses: [LOOPBACK],
    usages: ['server'],
    days: CERTIFICATE_DAYS,
  });
  writeFileSync(join(serving, 'tls.crt'), pair.certificate);
  writeFileSync(join(serving, 'tls.key'), pair.key, { mode: 0o600 });
  return authority.certificate;
}

function answeringAt(
  { url, authority }: { readonly url: string; readonly authority: string },
  configuration: WebhookConfiguration,
): WebhookConfiguration {
  const caBundle = Buffer.from(authority).toString('base64');
  const webhooks = (configuration.webhooks ?? []).map((each) => {
    const path = each.clientConfig.service?.path ?? '';
    return { ...each, clientConfig: { url: `${url}${path}`, caBundle } };
  });
  return { ...configuration, webhooks };
}
