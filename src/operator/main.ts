/**
 * The operator's process: flags, access to the cluster, health and metrics, leader election, and an
 * end within two seconds of SIGTERM. Exit codes: 0 after a signal, 1 failure, 2 wrong flags.
 */
import { setMaxListeners } from 'node:events';
import { homedir, hostname } from 'node:os';
import { startHttpServer } from '@lockstep/kube/runtime/adapters/http-server.ts';
import { inClusterAccess } from '@lockstep/kube/runtime/adapters/in-cluster.ts';
import { loadKubeconfig } from '@lockstep/kube/runtime/adapters/kubeconfig-files.ts';
import { refuseInspector } from '@lockstep/kube/runtime/adapters/no-inspector.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { createPinoLogger } from '@lockstep/kube/runtime/adapters/pino-logger.ts';
import { sha1 } from '@lockstep/kube/runtime/adapters/sha1.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import { followCertificateFiles } from '@lockstep/kube/runtime/adapters/tls/certificate-files.ts';
import { BodyBudget } from '@lockstep/kube/runtime/body-budget.ts';
import {
  countedTransport,
  transportMetrics,
} from '@lockstep/kube/runtime/client/counted-transport.ts';
import {
  type ClusterAccess,
  ClusterAccessError,
} from '@lockstep/kube/runtime/credentials/cluster-access.ts';
import { type HealthCheck, healthHandler } from '@lockstep/kube/runtime/health.ts';
import { createMetrics, type Metrics } from '@lockstep/kube/runtime/metrics.ts';
import type { Logger } from '@lockstep/kube/runtime/ports/logger.ts';
import type { Transport } from '@lockstep/kube/runtime/ports/transport.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { ENV_POD_IP, ENV_ROOT } from '../jobset/names.ts';
import { leaderHubIfPossible } from './adapters/leader-hub.ts';
import {
  type Arguments,
  followSettings,
  lastGoodSettings,
  readArguments,
  rightSettings,
  type WatchedFile,
} from './adapters/mounted-settings.ts';
import { type Page, servePages } from './adapters/pages.ts';
import { showMetricsToParent } from './adapters/parent-page.ts';
import { reviewThreads } from './adapters/review-thread.ts';
import { reviewLimits } from './adapters/server-limits.ts';
import { flagsOnNode } from './configuration/bind-address.ts';
import type { OperatorFlags } from './configuration/operator-flags.ts';
import { authorizedPage, type PageReaders } from './hub/authorized-page.ts';
import { actOn, type OperatorOptions } from './operator.ts';
import { type ApiClients, type ApiConnections, connectApiClients } from './process/api-clients.ts';
import { installCrd } from './process/crd-installation.ts';
import { type OperatorProgress, readinessChecks } from './process/readiness.ts';
import { untilJobSetsAreServed } from './process/served-api.ts';
import { aborted, actInTerms, type Lease } from './process/term.ts';
import { type OperatorCaches, startCaches } from './tracking/caches.ts';
import { namespaceAnnotations } from './tracking/namespace-annotations.ts';
import {
  createNodeFeatures,
  type NodeFeatures,
  type NodeFeaturesOptions,
} from './tracking/node-features.ts';
import { startWebhooks, type Webhooks, type WebhooksOptions } from './webhooks/webhooks.ts';

const EXIT_FAILURE = 1;
const EXIT_USAGE = 2;
/** A clean end is faster, and Kubernetes sends SIGKILL after two seconds. */
const STOP_TIMEOUT_MS = 1_900;
const STANDARD_ERROR = 2;
/** One signal ends all requests of a reconcile, and each listens to it while it lasts. */
const MAX_LISTENERS_PER_SIGNAL = 10_000;

const ARGUMENTS: Arguments = { values: process.argv.slice(2), version: packageJson.version };

refuseInspector();
setMaxListeners(MAX_LISTENERS_PER_SIGNAL);
process.exitCode = await main();
process.exit();

async function main(): Promise<number> {
  const parsed = readArguments(ARGUMENTS);
  switch (parsed.kind) {
    case 'Text':
      process.stdout.write(parsed.text);
      return 0;
    case 'Error': {
      process.stderr.write(`${parsed.message}\n`);
      const kept = await lastGoodSettings(ARGUMENTS);
      return kept === undefined ? EXIT_USAGE : run(kept.flags, kept.text);
    }
    case 'Flags':
      return run(parsed.flags, parsed.fileText);
  }
}

/** `text` is the text of the Configuration file, if there is one. */
async function run(given: OperatorFlags, text: string | undefined): Promise<number> {
  const flags = flagsOnNode(given, process.env);
  const logger = createPinoLogger({ destination: STANDARD_ERROR, level: flags.logLevel });
  const stopping = new AbortController();
  const stop = (why: string): void => {
    logger.info('stopping', { why });
    nodeClock.setTimer(STOP_TIMEOUT_MS, () => process.exit(EXIT_FAILURE));
    stopping.abort(new Error(why));
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => stop(`received ${signal}`));
  let connections: ApiConnections | undefined;
  try {
    const access = await clusterAccess(flags, logger);
    const metrics = createMetrics();
    showMetricsToParent(metrics, () => stop('its parent has ended'));
    const counts = transportMetrics(metrics);
    connections = connectApiClients(access, {
      userAgent: `lockstep-operator/${packageJson.version}`,
      clock: nodeClock,
      random: systemRandom,
      rate: { perSecond: flags.kubeApiQps, burst: flags.kubeApiBurst },
      through: (transport) => countedTransport(transport, counts),
    });
    const watched = text === undefined ? undefined : { running: rightSettings(given, text), stop };
    const parts = { ...connections, logger, metrics, watched };
    await operate(flags, access, parts, stopping.signal);
    return 0;
  } catch (error) {
    if (stopping.signal.aborted) return 0;
    if (error instanceof ClusterAccessError) process.stderr.write(`${error.message}\n`);
    else logger.error('the operator ends', { err: error });
    return EXIT_FAILURE;
  } finally {
    connections?.close();
  }
}

async function clusterAccess(
  { kubeconfig, context }: OperatorFlags,
  logger: Logger,
): Promise<ClusterAccess> {
  const { env } = process;
  const isAsked = kubeconfig !== undefined || context !== undefined;
  if (!isAsked && env['KUBERNETES_SERVICE_HOST'] !== undefined)
    return inClusterAccess(env, env[ENV_ROOT] ?? '/');
  return loadKubeconfig({
    path: kubeconfig,
    context,
    env,
    homeDirectory: homedir(),
    onSlow: (what) => logger.warn(what),
  });
}

interface ProcessParts {
  readonly clients: ApiClients;
  readonly transport: Transport;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly watched: WatchedFile | undefined;
}

/** Runs until the signal aborts, or rejects when the start, a term or the webhooks fail. */
async function operate(
  flags: OperatorFlags,
  access: ClusterAccess,
  { clients, transport, logger, metrics, watched }: ProcessParts,
  signal: AbortSignal,
): Promise<void> {
  const failing = new AbortController();
  const ending = AbortSignal.any([signal, failing.signal]);
  const runtime = {
    client: clients.reconcile,
    clock: nodeClock,
    random: systemRandom,
    sha1,
    logger,
    metrics,
    signal: ending,
  };
  const status: OperatorStatus = { api: 'unknown' };
  // For requests that neither a restart nor the lease needs.
  const aside = { ...runtime, client: clients.other };
  const nodeFeatures = nodeFeaturesOf(flags, access, aside);
  const asking = { nodeFeatures, namespaceAnnotations: namespaceAnnotations(aside) };
  const hasWebhooks = flags.webhookBindAddress !== 'off';
  const checks = readinessChecks({ hasWebhooks }, status);
  const pages = await servePages(pagesOf(flags, metrics, checks, aside), {
    clock: nodeClock,
    logger,
    tls: flags.tls,
  });
  const following = followSettings(ARGUMENTS, flags, {
    ...aside,
    namespace: access.namespace,
    watched,
    isReady: () => checks.every(({ problem }) => problem() === undefined),
    isLeader: () => status.leads === true,
    leave: () => {
      status.leaves = true;
    },
  });
  try {
    const fail = (error: unknown): void => failing.abort(error);
    const beside = { ...aside, ...asking, caches: () => status.caches };
    status.webhooks = webhooksOf(flags, access, beside, new BodyBudget(), fail);
    if (flags.installCrd) await installCrd(runtime);
    const { namespaces } = flags;
    await untilJobSetsAreServed({
      ...runtime,
      transport,
      namespaces,
      onProblem: (problem) => {
        status.api = problem === undefined ? 'served' : { problem };
      },
    });
    const agentDefaults = { mode: flags.agentMode, injection: flags.agentInjection };
    const config = { ...flags, agentDefaults, gates: flags.featureGates, limits: flags };
    const { onlyManaged } = flags;
    const caches = startCaches({ ...runtime, namespaces, onlyManaged });
    status.caches = caches;
    const own = { namespace: access.namespace, podIP: process.env[ENV_POD_IP] };
    const hub = await leaderHubIfPossible(flags, own, { ...runtime, lookupClient: clients.hub });
    try {
      // Logged now rather than with the first JobSet, which asks again if this fails.
      nodeFeatures?.restartAllProblem(undefined, ending).catch((error: unknown) => {
        logger.debug('nodes could not be asked yet', { err: String(error) });
      });
      await caches.whenSynced(ending);
      const lease = { ...runtime, client: clients.lease, lease: leaseOf(flags, access) };
      await actInTerms(lease, async (term) => {
        status.leads = true;
        caches.reconnect();
        const running = { ...runtime, ...asking, signal: term.lost, hub: hub?.settings };
        const open = await hub?.open(term.lost);
        const operator = actOn(caches, {
          ...running,
          eventClient: clients.other,
          config,
          broken: fail,
        });
        if (operator.hub !== undefined) open?.serve(operator.hub);
        logger.info('the operator runs', { namespaces: flags.namespaces ?? 'all' });
        await aborted(term.over);
        status.leads = false;
        await Promise.all([operator.stop(), open?.close()]);
      });
      failing.signal.throwIfAborted();
    } finally {
      await Promise.all([hub?.stop(), caches.stop()]);
    }
  } finally {
    failing.abort(new Error('the operator ends'));
    await Promise.all([status.webhooks?.stop(), following]);
    await pages.close();
  }
}

/** Nodes that know every rule need not be asked. */
function nodeFeaturesOf(
  { nativeRestartRules, namespaces }: OperatorFlags,
  access: ClusterAccess,
  runtime: Omit<NodeFeaturesOptions, 'namespace'>,
): NodeFeatures | undefined {
  if (nativeRestartRules) return undefined;
  return createNodeFeatures({ ...runtime, namespace: namespaces?.[0] ?? access.namespace });
}

/** The parts that run so far, for readiness checks. */
interface OperatorStatus extends OperatorProgress {
  caches?: OperatorCaches | undefined;
  webhooks?: Webhooks | undefined;
  leads?: boolean;
}

function webhooksOf(
  flags: OperatorFlags,
  access: ClusterAccess,
  runtime: Omit<OperatorOptions, 'config'> & Pick<WebhooksOptions, 'caches'>,
  bodies: BodyBudget,
  cannotListen: (error: unknown) => void,
): Webhooks | undefined {
  const { webhookBindAddress: at, webhookService: name, webhookUrl: url, webhookCertDir } = flags;
  if (at === 'off') return undefined;
  const { namespace } = access;
  const rules = {
    gates: flags.featureGates,
    limits: {
      maxJobs: flags.maxJobs,
      maxPods: flags.maxPods,
      unknownAnnotations: flags.unknownAnnotations,
    },
    nativeRestartRules: flags.nativeRestartRules,
    agentResources: flags.agentResources,
    servesHub: flags.hubBindAddress !== 'off',
    agentDefaults: { mode: flags.agentMode, injection: flags.agentInjection },
    onlyManaged: flags.onlyManaged,
  };
  return startWebhooks({
    ...runtime,
    ...rules,
    judgeApart: (questions) =>
      reviewThreads({ ...runtime, rules, questions, logLevel: flags.logLevel }),
    namespaces: flags.namespaces,
    operatorNamespace: namespace,
    secretName: flags.webhookSecretName,
    host: at.host,
    ...(name === undefined ? {} : { address: { kind: 'Service', namespace, name } }),
    ...(url === undefined ? {} : { address: { kind: 'Url', url } }),
    install: flags.installWebhooks,
    certificateFiles:
      webhookCertDir === undefined
        ? undefined
        : (onChange) => followCertificateFiles({ ...runtime, directory: webhookCertDir, onChange }),
    listen: (handler, pair) =>
      startHttpServer({
        ...at,
        handler,
        tls: { ...flags.tls, ...pair },
        logger: runtime.logger,
        ...reviewLimits(bodies),
      }),
    cannotListen,
  });
}

function pagesOf(
  flags: OperatorFlags,
  metrics: Metrics,
  checks: readonly HealthCheck[],
  readers: PageReaders,
): readonly Page[] {
  const { livenessEndpoint: live, readinessEndpoint: ready } = flags;
  const health = healthHandler({ ready: checks, names: { live, ready } });
  return [
    {
      what: 'metrics',
      address: flags.metricsBindAddress,
      handler: flags.metricsSecure ? authorizedPage(metrics.handler, readers) : metrics.handler,
      certificateDirectory: flags.metricsCertDir,
      isSecure: flags.metricsSecure,
    },
    { what: 'health', address: flags.healthProbeBindAddress, handler: health },
  ];
}

function leaseOf(flags: OperatorFlags, { namespace }: ClusterAccess): Lease | undefined {
  if (!flags.leaderElect) return undefined;
  return {
    namespace: flags.leaderElectionNamespace ?? namespace,
    name: flags.leaderElectionId,
    // The name of the Pod, if there is one.
    identity: `${process.env['HOSTNAME'] ?? hostname()}_${systemRandom.uuid()}`,
    times: flags.leaseTimes,
  };
}
