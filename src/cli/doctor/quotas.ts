/** Whether the quotas of a namespace leave room for the objects of a JobSet. */
import type { KubeObject, StringMap } from '@lockstep/kube/meta.ts';
import { compareQuantities, parseQuantity } from '@lockstep/kube/quantity.ts';
import { type Resource, resource } from '@lockstep/kube/resource.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { type Some, someOf } from '@lockstep/kube/runtime/client/pages.ts';
import {
  type Asking,
  checkOf,
  type Fact,
  type Finding,
  fact,
  ifKnown,
  ifServed,
} from './finding.ts';

interface ResourceQuota extends KubeObject {
  readonly status?: { readonly hard?: StringMap; readonly used?: StringMap };
}

const RESOURCE_QUOTAS: Resource<ResourceQuota> = resource('v1', 'resourcequotas', 'ResourceQuota');

export interface QuotaFacts {
  readonly namespace: string;
  readonly quotas: Fact<Some<Quota>>;
}

export interface Quota {
  readonly name: string;
  readonly hard: StringMap;
  readonly used: StringMap;
}

export async function readQuotas(
  client: Client,
  asking: Asking,
  namespace: string,
): Promise<QuotaFacts> {
  const quotas = await fact(asking, `list resourcequotas in namespace ${namespace}`, (signal) =>
    ifServed(
      someOf(
        (page) => client.list(RESOURCE_QUOTAS, { namespace, ...page, signal }),
        ({ metadata, status }): Quota => ({
          name: metadata.name ?? '',
          hard: status?.hard ?? {},
          used: status?.used ?? {},
        }),
      ),
      { items: [], isAll: true },
    ),
  );
  return { namespace, quotas };
}

/** What no JobSet can do without. Other resources depend on its Pods. */
const NEEDED: ReadonlySet<string> = new Set([
  'pods',
  'count/pods',
  'services',
  'count/services',
  'count/jobs.batch',
  'count/jobsets.jobset.x-k8s.io',
  'requests.cpu',
  'requests.memory',
  'limits.cpu',
  'limits.memory',
  'cpu',
  'memory',
]);
const NEARLY_PERCENT = 90n;

export function quotaFindings({ namespace, quotas }: QuotaFacts): readonly Finding[] {
  const about = checkOf('Namespace', 'quotas');
  return ifKnown(quotas, about, ({ items }) => {
    const uses = items.flatMap(usesOf);
    const full = uses.filter((use) => use.isFull && NEEDED.has(use.resource));
    const near = uses.filter((use) => use.isNear && !full.includes(use));
    const fix = `kubectl -n ${namespace} describe resourcequota`;
    const where = `in namespace ${namespace}`;
    const found = [
      ...full.map(({ text }) => about.problem(`${text} ${where}: no room for another JobSet`, fix)),
      ...near.map(({ text }) => about.note(`${text} ${where}`, fix)),
    ];
    if (found.length > 0) return found.slice(0, MAX_FINDINGS);
    return items.length === 0
      ? about.ok(`namespace ${namespace} has no quota`)
      : about.ok(`the quotas of namespace ${namespace} leave room`);
  });
}

const MAX_FINDINGS = 10;

interface Use {
  readonly resource: string;
  readonly isFull: boolean;
  readonly isNear: boolean;
  readonly text: string;
}

function usesOf({ name, hard, used }: Quota): readonly Use[] {
  return Object.entries(hard).flatMap(([of, limit]) => {
    const most = parseQuantity(limit);
    const now = parseQuantity(used[of] ?? '0');
    if (most === undefined || now === undefined) return [];
    return [
      {
        resource: of,
        isFull: compareQuantities(now, most) >= 0,
        isNear: now.nano * 100n >= most.nano * NEARLY_PERCENT,
        text: `quota ${name}: ${used[of] ?? '0'} of ${limit} ${of} are used`,
      },
    ];
  });
}
