/** The webhooks of Pods before the Job controller of a cluster in memory. */
import type { MemoryCluster } from '@lockstep/embedded-kubernetes/in-memory';
import type { AdmissionRequest } from '@lockstep/kube/objects/admission-webhooks.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { SeededRandom } from '@lockstep/kube/runtime/memory/seeded-random.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { HttpResponse } from '@lockstep/kube/runtime/ports/transport.ts';
import { failure } from '@lockstep/kube/status.ts';
import { startPodLookups } from '../../src/operator/pod-placement/pod-lookups.ts';
import { startCaches } from '../../src/operator/tracking/caches.ts';
import { nodeAvoider, podMutator, podValidator } from '../../src/operator/webhooks/pod-webhooks.ts';

/** A process that answers webhooks, beside the leader of the operator. */
export class PodAdmission {
  readonly caches: ReturnType<typeof startCaches>;
  readonly #cluster: MemoryCluster;
  readonly #lookups: ReturnType<typeof startPodLookups>;

  constructor(cluster: MemoryCluster) {
    const { client, clock } = cluster;
    const options = { client, clock, random: new SeededRandom(3), logger: SILENT };
    this.#cluster = cluster;
    this.caches = startCaches(options);
    this.#lookups = startPodLookups({ ...options, caches: () => this.caches });
  }

  /**
   * Lets every Pod that the Job controller makes pass the webhooks, as an API server does. `tamper`
   * changes a Pod after them.
   */
  async start(tamper: (pod: Pod) => Pod = (pod) => pod): Promise<void> {
    const lookups = this.#lookups;
    const handlers = [podMutator(lookups), nodeAvoider(lookups), podValidator(lookups)];
    const { signal } = new AbortController();
    this.#cluster.intercept = async (http, send) => {
      if (http.method !== 'POST' || !/\/namespaces\/[^/]+\/pods(\?|$)/.test(http.path))
        return send();
      let pod: Pod = JSON.parse(new TextDecoder().decode(http.body));
      pod = { ...pod, spec: { ...pod.spec, priority: 0 } };
      for (const handler of handlers) {
        const answer = await handler(reviewOf(pod), signal);
        if (answer.kind === 'Denied') return refusal(answer.status.message ?? '');
        pod = (answer.object as Pod | undefined) ?? pod;
      }
      return this.#cluster.send({ ...http, body: Buffer.from(JSON.stringify(tamper(pod))) });
    };
    await this.#reached(this.caches.whenSynced());
  }

  async stop(): Promise<void> {
    await this.#reached(Promise.all([this.#lookups.stop(), this.caches.stop()]));
  }

  async #reached(work: Promise<unknown>): Promise<void> {
    let hasEnded = false;
    const ended = work.finally(() => {
      hasEnded = true;
    });
    await this.#cluster.clock.runUntil(() => hasEnded, 60_000);
    await ended;
  }
}

function reviewOf(object: Pod): AdmissionRequest {
  const { group, version, kind, plural } = PODS;
  return {
    uid: 'review',
    kind: { group, version, kind },
    resource: { group, version, resource: plural },
    namespace: 'default',
    operation: 'CREATE',
    userInfo: {},
    object,
  };
}

function refusal(message: string): HttpResponse {
  const { status } = failure('Forbidden', message);
  return {
    status: status.code,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(status)),
  };
}
