/** Whether API servers reach the webhooks, and agents the hub, as far as objects tell. */

import type { Webhook } from '@lockstep/kube/objects/admission-webhooks.ts';
import { CONFIG_MAPS } from '@lockstep/kube/objects/core.ts';
import {
  ENDPOINT_SLICES,
  type EndpointSlice,
  SERVICE_NAME,
} from '@lockstep/kube/objects/endpoint-slice.ts';
import { typeMetaOf } from '@lockstep/kube/resource.ts';
import { certificateFacts } from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { unlessGone } from '@lockstep/kube/runtime/client/unless-refused.ts';
import { ApiStatusError, isReason } from '@lockstep/kube/status.ts';
import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import { HUB_AUTHORITIES_KEY, HUB_AUTHORITIES_NAME } from '../../jobset/names.ts';
import {
  HUB_SERVICE_NAME,
  WEBHOOK_SERVICE_NAME,
} from '../../operator/configuration/object-names.ts';
import { readWebhooks } from '../webhook-configurations.ts';
import { type Asking, checkOf, type Fact, type Finding, fact, ifKnown } from './finding.ts';

const TOPIC = 'Lockstep';

export interface ReachFacts {
  /** The webhooks of both configurations; empty if there are none. */
  readonly webhooks: Fact<readonly Pick<Webhook, 'clientConfig' | 'failurePolicy' | 'rules'>[]>;
  /** What the API server answered to a JobSet that it did not store. */
  readonly dryRun: Fact<DryRun>;
  /** Ready addresses behind the Services; undefined outside of an installation. */
  readonly endpoints?: {
    readonly namespace: string;
    readonly webhooks: Fact<number>;
    /** The Service that the API servers call. */
    readonly webhookService: string;
    readonly hub: Fact<number>;
  };
  /** The hub's authorities for agents in the namespace of the JobSets, as PEM. */
  readonly authorities: Fact<string | undefined>;
  readonly jobSetNamespace: string;
  readonly nowMs: number;
}

export type DryRun =
  | { readonly type: 'Accepted' }
  /** The API server does not know JobSets. */
  | { readonly type: 'Unknown' }
  | { readonly type: 'Failed'; readonly message: string };

export async function readReach(
  client: Client,
  asking: Asking,
  namespace: string | undefined,
  jobSetNamespace: string,
): Promise<ReachFacts> {
  const ready = (of: string, service: string): Promise<Fact<number>> =>
    fact(asking, `list endpoint slices in namespace ${of}`, async (signal) => {
      const labelSelector = `${SERVICE_NAME}=${service}`;
      const slices = { namespace: of, labelSelector, limit: MAX_SLICES, signal };
      return readyAddresses((await client.list(ENDPOINT_SLICES, slices)).items);
    });
  const configured = fact(asking, 'get the webhook configurations', (signal) =>
    readWebhooks(client, signal),
  );
  const service = configured.then(webhookServiceOf);
  const [webhooks, webhookService, dryRun, authorities, ofWebhooks, ofHub] = await Promise.all([
    configured,
    service,
    fact(
      asking,
      `create jobsets in namespace ${jobSetNamespace}, not even in a dry run`,
      (signal) => dryRunJobSet(client, jobSetNamespace, signal),
    ),
    fact(asking, `get configmaps in namespace ${jobSetNamespace}`, async (signal) => {
      const at = { namespace: jobSetNamespace, name: HUB_AUTHORITIES_NAME };
      const map = await unlessGone(client.get(CONFIG_MAPS, at, { signal }));
      return map?.data?.[HUB_AUTHORITIES_KEY];
    }),
    namespace === undefined ? undefined : service.then((name) => ready(namespace, name)),
    namespace === undefined ? undefined : ready(namespace, HUB_SERVICE_NAME),
  ]);
  return {
    webhooks,
    dryRun,
    authorities,
    ...(namespace !== undefined &&
      ofWebhooks !== undefined &&
      ofHub !== undefined && {
        endpoints: { namespace, webhooks: ofWebhooks, webhookService, hub: ofHub },
      }),
    jobSetNamespace,
    nowMs: asking.clock.now(),
  };
}

function webhookServiceOf(webhooks: ReachFacts['webhooks']): string {
  const all = 'value' in webhooks ? webhooks.value : [];
  const service = all.map(({ clientConfig }) => clientConfig.service).find(Boolean);
  return service?.name ?? WEBHOOK_SERVICE_NAME;
}

/** A Service of two replicas has one or two. */
const MAX_SLICES = 20;

function readyAddresses(slices: readonly EndpointSlice[]): number {
  return slices
    .flatMap(({ endpoints }) => endpoints ?? [])
    .filter(({ conditions }) => conditions?.ready !== false)
    .reduce((sum, { addresses }) => sum + addresses.length, 0);
}

const PROBE_NAME = 'lockstep-doctor';

async function dryRunJobSet(
  client: Client,
  namespace: string,
  signal: AbortSignal,
): Promise<DryRun> {
  const worker = { name: 'worker', image: 'none', command: ['none'] };
  const template = { spec: { restartPolicy: 'Never', containers: [worker] } } as const;
  const patch: JobSet = {
    ...typeMetaOf(JOBSETS),
    metadata: { namespace, name: PROBE_NAME },
    spec: { replicatedJobs: [{ name: 'w', template: { spec: { template } } }] },
  };
  const how = { fieldManager: PROBE_NAME, dryRun: 'All' } as const;
  try {
    const at = { namespace, name: PROBE_NAME };
    await client.patch(JOBSETS, at, { type: 'apply', patch, ...how }, { signal });
    return { type: 'Accepted' };
  } catch (error) {
    if (!(error instanceof ApiStatusError)) throw error;
    if (isReason(error, 'Forbidden') && !error.message.includes('webhook')) throw error;
    if (error.code === 404) return { type: 'Unknown' };
    return { type: 'Failed', message: error.message };
  }
}

export function reachFindings(facts: ReachFacts): readonly Finding[] {
  const webhooks = ifKnown(facts.webhooks, checkOf(TOPIC, 'webhook-certificates'), (all) =>
    all.length === 0 ? [] : [certificates(all, facts.nowMs)],
  );
  const hasWebhooks = !('value' in facts.webhooks) || facts.webhooks.value.length > 0;
  return [
    ...webhooks,
    ...(hasWebhooks ? webhookEndpoints(facts) : []),
    ...dryRunFindings(facts),
    ...hubEndpoints(facts),
    ...authoritiesFindings(facts),
  ];
}

/** Operators renew theirs long before. */
const SOON_MS = 7 * 24 * 60 * 60 * 1000;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;
const MAX_CERTIFICATES = 50;

function certificates(webhooks: readonly Pick<Webhook, 'clientConfig'>[], nowMs: number): Finding {
  const about = checkOf(TOPIC, 'webhook-certificates');
  const bundles = new Set(webhooks.map(({ clientConfig }) => clientConfig.caBundle ?? ''));
  if (bundles.has('')) {
    const text =
      'the operator has not yet told API servers which authority of its webhooks to trust';
    return about.problem(text, OPERATOR_LOG);
  }
  const ends = [...bundles].map((bundle) => latestEnd(atob64(bundle)));
  const firstMs = Math.min(...ends);
  if (Number.isNaN(firstMs)) {
    const text = 'the webhook configurations have an authority that is no certificate';
    return about.problem(text, OPERATOR_LOG);
  }
  const when = new Date(firstMs).toISOString();
  if (firstMs <= nowMs) {
    return about.problem(`the authority of the webhooks expired at ${when}`, OPERATOR_LOG);
  }
  if (firstMs - nowMs < SOON_MS) {
    const text = `the authority of the webhooks expires soon, at ${when}; the operator renews it`;
    return about.note(text, OPERATOR_LOG);
  }
  return about.ok(`the authority of the webhooks is valid until ${when}`);
}

const OPERATOR_LOG = 'see the log of the operator; docs/troubleshooting.md#the-operator-is-down';

function atob64(text: string): string {
  return Buffer.from(text, 'base64').toString('latin1');
}

/** A bundle holds the authorities before and after a renewal, so the last one counts. */
function latestEnd(pem: string): number {
  const blocks = (pem.match(CERTIFICATE) ?? []).slice(0, MAX_CERTIFICATES);
  const ends = blocks.flatMap((block) => certificateFacts(block)?.notAfterMs ?? []);
  return ends.length === 0 ? Number.NaN : Math.max(...ends);
}

function webhookEndpoints({ endpoints }: ReachFacts): readonly Finding[] {
  if (endpoints === undefined) return [];
  const about = checkOf(TOPIC, 'webhook-endpoints');
  return ifKnown(endpoints.webhooks, about, (ready) => {
    if (ready > 0) return about.ok(`${replicas(ready)} for webhooks`);
    const text = `no ready replica is behind Service ${endpoints.namespace}/${endpoints.webhookService}, so new JobSets are refused`;
    return about.problem(text, podsOf(endpoints.namespace));
  });
}

function hubEndpoints({ endpoints }: ReachFacts): readonly Finding[] {
  if (endpoints === undefined) return [];
  const about = checkOf(TOPIC, 'hub-endpoints');
  return ifKnown(endpoints.hub, about, (ready) => {
    if (ready > 0) return about.ok(`${replicas(ready)} for the hub`);
    const text = `no replica is behind Service ${endpoints.namespace}/${HUB_SERVICE_NAME}: agents cannot reach the hub, and use the API server if they may`;
    return about.problem(text, podsOf(endpoints.namespace));
  });
}

function replicas(ready: number): string {
  return `${ready} ${ready === 1 ? 'address is' : 'addresses are'} ready`;
}

function podsOf(namespace: string): string {
  return `kubectl -n ${namespace} get pods,endpointslices`;
}

function dryRunFindings({ dryRun, webhooks, jobSetNamespace }: ReachFacts): readonly Finding[] {
  const about = checkOf(TOPIC, 'webhooks-reachable');
  return ifKnown(dryRun, about, (answer) => {
    switch (answer.type) {
      case 'Accepted': {
        const asked = 'value' in webhooks ? webhooks.value.filter(isAboutJobSets) : [];
        const areSure = asked.some(({ failurePolicy }) => failurePolicy !== 'Ignore');
        const text = areSure
          ? 'the API server reaches the webhooks: it accepted a JobSet in a dry run'
          : 'the API server accepted a JobSet in a dry run';
        return about.ok(text);
      }
      case 'Unknown': {
        const text = `the API server does not know JobSets, or there is no namespace ${jobSetNamespace}`;
        return about.unknown(text);
      }
      case 'Failed': {
        const isCall = answer.message.includes('failed calling webhook');
        const what = isCall
          ? 'the API server cannot reach the webhooks, so it refuses every new JobSet'
          : 'the API server refused a JobSet in a dry run';
        const fix = isCall
          ? 'let the control plane reach port 9443 of the nodes (firewall, network policy); docs/troubleshooting.md'
          : 'docs/troubleshooting.md';
        return about.problem(`${what}: ${answer.message}`, fix);
      }
    }
  });
}

function isAboutJobSets({ rules = [] }: Pick<Webhook, 'rules'>): boolean {
  return rules.some(({ resources }) => resources.includes(JOBSETS.plural));
}

function authoritiesFindings(facts: ReachFacts): readonly Finding[] {
  const { authorities, jobSetNamespace, nowMs } = facts;
  const about = checkOf(TOPIC, 'hub-authorities');
  return ifKnown(authorities, about, (pem) => {
    if (pem === undefined) {
      const text = `no group runs in namespace ${jobSetNamespace}, so the operator has not published the authorities of the hub there`;
      return about.ok(text);
    }
    const endMs = latestEnd(pem);
    if (endMs > nowMs) {
      const text = `ConfigMap ${jobSetNamespace}/${HUB_AUTHORITIES_NAME} has the authorities of the hub`;
      return about.ok(text);
    }
    const text = `ConfigMap ${jobSetNamespace}/${HUB_AUTHORITIES_NAME} has no valid authority of the hub`;
    const fix = `kubectl -n ${jobSetNamespace} delete configmap ${HUB_AUTHORITIES_NAME}; the operator makes it anew`;
    return about.problem(text, fix);
  });
}
