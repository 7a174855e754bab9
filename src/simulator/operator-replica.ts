/** One replica of the operator: it fills its caches, and acts while it holds the lease. */
import { sha1 } from '@lockstep/kube/runtime/adapters/sha1.ts';
import { createClient } from '@lockstep/kube/runtime/client/http-client.ts';
import type { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { createMetrics } from '@lockstep/kube/runtime/metrics.ts';
import { type Logger, SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { Random } from '@lockstep/kube/runtime/ports/random.ts';
import type { Transport } from '@lockstep/kube/runtime/ports/transport.ts';
import { BrokenInvariant } from '../jobset/invariant.ts';
import { PodTokens } from '../operator/hub/pod-tokens.ts';
import { actOn } from '../operator/operator.ts';
import { aborted, actInTerms } from '../operator/process/term.ts';
import { startCaches } from '../operator/tracking/caches.ts';
import type { HubNetwork, OpenHub } from './hub-network.ts';
import { importSimulatedKey } from './network/agent-tokens.ts';
import { serveWebhooks, type WebhookNetwork } from './network/webhook-network.ts';
import { ProcessLife } from './process-life.ts';
import { Weather } from './weather.ts';

const LEASE = { namespace: 'lockstep-system', name: 'lockstep' } as const;
/** How long a kubelet takes to start a container again. */
const RESTART_MS = 1000;
const CONFIG = { agentImage: 'agent' } as const;

export interface ReplicaOptions {
  readonly name: string;
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly server: Transport;
  readonly hubs: HubNetwork;
  /** Absent: it serves none. */
  readonly webhooks?: WebhookNetwork | undefined;
  /** The operator found that what it knows contradicts itself. */
  readonly broken: (error: Error) => void;
}

export class OperatorReplica {
  readonly weather: Weather;
  readonly #options: ReplicaOptions;
  #aheadMs = 0;
  #life: ProcessLife | undefined;
  #hub: OpenHub | undefined;
  /** Takes it from the webhooks' Service. */
  #unserve: () => void = () => undefined;
  #starts = 0;

  constructor(options: ReplicaOptions) {
    this.#options = options;
    this.weather = new Weather(options.random);
  }

  get name(): string {
    return this.#options.name;
  }

  /** How often a process of it has started. */
  get starts(): number {
    return this.#starts;
  }

  get runs(): boolean {
    return this.#life !== undefined;
  }

  get leads(): boolean {
    return this.#hub !== undefined;
  }

  start(): void {
    if (this.#life !== undefined) return;
    const { clock, server } = this.#options;
    const life = new ProcessLife(clock, server, this.weather);
    life.aheadMs = this.#aheadMs;
    this.#life = life;
    this.#run(life).catch((error: unknown) => {
      if (!life.gone.aborted) this.#options.broken(error as Error);
    });
  }

  /** The wall clock is this far ahead of the world's, also for processes that start later. */
  jump(aheadMs: number): void {
    this.#aheadMs = aheadMs;
    if (this.#life !== undefined) this.#life.aheadMs = aheadMs;
  }

  /** The process gets SIGKILL. */
  kill(): void {
    this.#life?.kill();
    this.#life = undefined;
    this.#unserve();
    this.#leave();
  }

  /** The process dies, and is started again, at a write, counted from 0, just before or after the server has it. */
  killAtWrite(write: number, when: 'Before' | 'After'): void {
    let left = write;
    this.weather.onWrite = (now) => {
      if (now !== when || left-- > 0) return;
      this.weather.onWrite = () => undefined;
      this.kill();
      this.#options.clock.setTimer(RESTART_MS, () => this.start());
    };
  }

  /** The process gets SIGSTOP, and its connections stay open. */
  pause(): void {
    this.#life?.pause();
  }

  resume(): void {
    this.#life?.resume();
  }

  async #run(life: ProcessLife): Promise<void> {
    const { name, random, hubs, webhooks, broken } = this.#options;
    const { clock, transport, gone } = life;
    const client = createClient({ transport, clock, random, userAgent: 'lockstep-operator' });
    const logger = listening(broken);
    const runtime = { client, clock, random, logger, metrics: createMetrics(), sha1 };
    const caches = startCaches(runtime);
    if (webhooks !== undefined) {
      const { namespace: operatorNamespace } = LEASE;
      const cannotListen = (error: unknown): void => broken(error as Error);
      const beside = { ...runtime, caches: () => caches, operatorNamespace, cannotListen };
      serveWebhooks(beside, (handler) => {
        this.#unserve = webhooks.add(life.serve(handler));
      });
    }
    await caches.whenSynced(gone);
    const tokens = hubs.tokens && new PodTokens({ ...runtime, importKey: importSimulatedKey });
    void tokens?.keepKeys(gone);
    const lease = { ...LEASE, identity: `${name}_${this.#starts++}` };
    await actInTerms({ ...runtime, signal: gone, lease }, async (term) => {
      caches.reconnect();
      const hub =
        tokens === undefined
          ? hubs.settings
          : { ...hubs.settings, podOf: (token: string) => tokens.podOf(token) };
      const operator = actOn(caches, {
        ...runtime,
        config: CONFIG,
        signal: term.lost,
        hub,
        broken,
      });
      const accept = operator.hub?.accept;
      if (accept !== undefined) {
        this.#hub = { accept, life };
        hubs.lead(this.#hub);
      }
      await aborted(term.over);
      if (gone.aborted) return;
      this.#leave();
      await operator.stop();
    });
  }

  #leave(): void {
    if (this.#hub !== undefined) this.#options.hubs.leaves(this.#hub);
    this.#hub = undefined;
  }
}

/** Drops all but errors that say that a plan would break a rule, which the operator only logs. */
function listening(broken: (error: Error) => void): Logger {
  const logger: Logger = {
    ...SILENT,
    error: (_, fields) => {
      if (fields?.['err'] instanceof BrokenInvariant) broken(fields['err']);
    },
    with: () => logger,
  };
  return logger;
}
