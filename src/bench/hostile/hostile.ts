/**
 * Measures restarts of a healthy group of simulated agents, with and without an attack on the
 * operator, side by side in one run. The operator and the attack are processes of their own. The
 * operator's webhooks are served with a certificate of ours, and only the attacker calls them.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import { freePort } from '@lockstep/kube/runtime/adapters/free-ports.ts';
import {
  createCertificateAuthority,
  issueCertificate,
} from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import { sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import { PORTS } from '../../cli/ports.ts';
import { JOBSETS } from '../../jobset/jobset.ts';
import { HUB_AUDIENCE } from '../../jobset/names.ts';
import type { AgentFleet } from '../agent-fleet.ts';
import { type BenchCluster, remove, startBenchCluster } from '../bench-cluster.ts';
import type { OperatorProcess } from '../operator-process.ts';
import { forgetPeak, processCost } from '../process-cost.ts';
import { SimulatedGroup, tokenOf } from '../simulated-group.ts';
import { type BenchOptions, median, type Report, spread } from '../table.ts';
import type { Attack } from './attack-process.ts';
import { Attacker } from './attacker.ts';
import { heavyPatterns, manyReplicatedJobs, oversized, reviewOf } from './reviews.ts';

const SIZE = 64;
const ROUNDS = 10;
/** The time between two restarts, so that an attack has time to hurt. */
const PAUSE_MS = 500;
const SETTLE_MS = 3000;
const MIB = 1024 * 1024;
const LOOPBACK = '127.0.0.1';

const OVERSIZED_COUNT = 3;
/** The most that the definition allows. */
const OVERSIZED_REPLICAS = 100_000;
const BODIES = 200;
/** One body is beyond the operator's limit, one at it. */
const BODY_MIB = [6, 4];
const REVIEWS_AT_A_TIME = 5;
const REPLICATED_JOBS = 75_000;
const PATTERN_REVIEWS = 20;
const RULES_PER_REVIEW = 20;
/** As many handshakes as two cores complete in one part; well within the limit of open files. */
const IDLE_CONNECTIONS = 2000;

export async function benchHostile(report: Report, { signal }: BenchOptions): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'lockstep-bench-'));
  const attacker = await Attacker.in(directory);
  const cluster = await startBenchCluster(undefined, signal);
  try {
    await new Siege(cluster, directory, attacker, report, signal).run();
  } finally {
    attacker.stop();
    await cluster.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Ends the attack, and describes it for the row. */
type EndAttack = () => Promise<string>;

class Siege {
  #epoch = 0;
  #peaceMs = Number.NaN;
  readonly #cluster: BenchCluster;
  readonly #directory: string;
  readonly #attacker: Attacker;
  readonly #report: Report;
  readonly #signal: AbortSignal;

  constructor(
    cluster: BenchCluster,
    directory: string,
    attacker: Attacker,
    report: Report,
    signal: AbortSignal,
  ) {
    this.#cluster = cluster;
    this.#directory = directory;
    this.#attacker = attacker;
    this.#report = report;
    this.#signal = signal;
  }

  async run(): Promise<void> {
    const { client, namespace } = this.#cluster;
    const webhooks = await this.#webhooks();
    const operator = await this.#cluster.startOperator('Auto', webhooks.flags);
    const group = await SimulatedGroup.create(client, namespace, SIZE, this.#signal);
    const fleet = await group.startFleet(this.#signal);
    try {
      await fleet.all('started', 1);
      this.#epoch = 1;
      const hubPort = Number(new URL(group.hub.server).port);
      const token = await this.#strangerToken();
      const phase = (what: string, attack: () => EndAttack | Promise<EndAttack>): Promise<void> =>
        this.#phase(what, operator, fleet, attack);
      const network = (what: string, attack: Attack): Promise<void> =>
        phase(what, () => this.#attack(attack));
      await phase('peace', () => () => Promise.resolve(''));
      await phase(`${OVERSIZED_COUNT} JobSets of ${OVERSIZED_REPLICAS} Jobs`, () =>
        this.#oversized(),
      );
      for (const perSecond of [2000, 3000]) {
        const pages = { type: 'pages', port: hubPort, token, perSecond } as const;
        await network(`pages of members, ${perSecond} a second`, pages);
      }
      for (const mib of BODY_MIB) {
        const bodies = { type: 'bodies', port: webhooks.port, count: BODIES } as const;
        await network(`${BODIES} unfinished bodies of ${mib} MiB`, { ...bodies, bytes: mib * MIB });
      }
      const large = await this.#reviews([manyReplicatedJobs(REPLICATED_JOBS)]);
      const reviews = { type: 'reviews', port: webhooks.port, atATime: REVIEWS_AT_A_TIME } as const;
      await network(`reviews of ${REPLICATED_JOBS} ReplicatedJobs`, { ...reviews, files: large });
      const heavy = await this.#reviews(
        Array.from({ length: PATTERN_REVIEWS }, (_, i) => heavyPatterns(RULES_PER_REVIEW, i)),
      );
      await network('heavy patterns', { ...reviews, files: heavy });
      const idle = { type: 'idle', port: hubPort, count: IDLE_CONNECTIONS } as const;
      await network(`${IDLE_CONNECTIONS} connections that ask for nothing`, idle);
    } finally {
      await fleet.stop();
      await operator.stop();
    }
  }

  async #phase(
    what: string,
    operator: OperatorProcess,
    fleet: AgentFleet,
    attack: () => EndAttack | Promise<EndAttack>,
  ): Promise<void> {
    forgetPeak(operator.pid);
    const end = await attack();
    await sleep(PORTS.clock, SETTLE_MS, this.#signal);
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const [failedMs, { lastMs }] = await Promise.all([
        fleet.fail(),
        fleet.all('started', this.#epoch + 1),
      ]);
      this.#epoch++;
      times.push(lastMs - failedMs);
      await sleep(PORTS.clock, PAUSE_MS, this.#signal);
    }
    const { peakBytes } = processCost(operator.pid);
    const notes = await end();
    if (what === 'peace') this.#peaceMs = median(times);
    const label = `hostile, ${SIZE}, ${what}`;
    this.#report({ benchmark: `${label}: restart`, unit: 'ms', ...spread(times), notes });
    const ratio = median(times) / this.#peaceMs;
    this.#report({ benchmark: `${label}: to peace`, unit: 'times', median: ratio });
    this.#report({ benchmark: `${label}: operator's peak`, unit: 'MiB', median: peakBytes / MIB });
    // Leftovers of one attack must not count for the next.
    await sleep(PORTS.clock, SETTLE_MS, this.#signal);
  }

  #attack(attack: Attack): EndAttack {
    const end = this.#attacker.start(attack);
    return async () => {
      const { begun, connections, answers } = await end();
      const told = Object.entries(answers).map(([status, count]) => `${count} of ${status}`);
      return `${begun} begun, ${connections} connections, answers: ${told.join(', ') || 'none'}`;
    };
  }

  async #oversized(): Promise<EndAttack> {
    const { client, namespace } = this.#cluster;
    const names = Array.from({ length: OVERSIZED_COUNT }, (_, i) => `oversized-${i}`);
    for (const name of names) {
      await client.create(JOBSETS, oversized(namespace, name, OVERSIZED_REPLICAS));
    }
    return async () => {
      for (const name of names) await remove(client, JOBSETS, name, namespace);
      return '';
    };
  }

  /** The token of a Pod without a JobSet, which the operator's caches never show. */
  async #strangerToken(): Promise<string> {
    const { client, namespace } = this.#cluster;
    const { metadata } = await client.create(PODS, {
      apiVersion: 'v1',
      kind: PODS.kind,
      metadata: { namespace, name: 'stranger' },
      spec: { schedulerName: 'nobody', containers: [{ name: 'main', image: 'none' }] },
    });
    const account = { namespace, name: 'default' };
    return tokenOf(client, account, metadata, [HUB_AUDIENCE]);
  }

  /** Files with a review of each. */
  async #reviews(jobSets: readonly object[]): Promise<readonly string[]> {
    return Promise.all(
      jobSets.map(async (jobSet, i) => {
        const file = join(this.#directory, `review-${jobSets.length}-${i}.json`);
        await writeFile(file, reviewOf(jobSet));
        return file;
      }),
    );
  }

  /** Flags of an operator that serves its webhooks with our certificate. */
  async #webhooks(): Promise<{ readonly port: number; readonly flags: readonly string[] }> {
    const authority = createCertificateAuthority({ commonName: 'bench', clock: PORTS.clock });
    const pair = issueCertificate(authority, {
      commonName: 'webhook',
      ipAddresses: [LOOPBACK],
      usages: ['server'],
      days: 1,
    });
    const certDir = this.#directory;
    await writeFile(join(certDir, 'tls.crt'), pair.certificate);
    await writeFile(join(certDir, 'tls.key'), pair.key, { mode: 0o600 });
    const port = await freePort(PORTS.random);
    const configuration = {
      apiVersion: 'config.jobset.x-k8s.io/v1alpha1',
      kind: 'Configuration',
      webhook: { host: LOOPBACK, port, certDir },
      internalCertManagement: { enable: false },
      leaderElection: { leaderElect: true, resourceNamespace: this.#cluster.namespace },
      metrics: { secure: false },
    };
    const file = join(this.#directory, 'configuration.yaml');
    await writeFile(file, JSON.stringify(configuration));
    return { port, flags: ['--config', file] };
  }
}
