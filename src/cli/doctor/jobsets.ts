/** What is wrong with the definition of JobSet, with JobSets, and what other controllers left. */

import { defined } from '@lockstep/kube/json/defined.ts';
import { MUTATING_WEBHOOK_CONFIGURATIONS } from '@lockstep/kube/objects/admission-webhooks.ts';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  type CustomResourceDefinition,
} from '@lockstep/kube/objects/custom-resource-definition.ts';
import { CLUSTER_ROLES } from '@lockstep/kube/objects/rbac.ts';
import { groupResourceOf } from '@lockstep/kube/resource.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { type Some, someOf } from '@lockstep/kube/runtime/client/pages.ts';
import { unlessGone } from '@lockstep/kube/runtime/client/unless-refused.ts';
import {
  formatLabelSelector,
  labelRequirementsOf,
} from '@lockstep/kube/selectors/label-selector.ts';
import { DEPLOYMENTS } from '../../deploy/kinds.ts';
import { ONLY_MANAGED } from '../../deploy/operator-deployment.ts';
import { INSTALLED_LABELS } from '../../deploy/settings.ts';
import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import { isManagedByUs } from '../../jobset/manager.ts';
import { missingStatusFields } from '../../jobset/schema/missing-fields.ts';
import { counted } from '../../jobset/view/spec/asked.ts';
import { isOurDefinition } from '../install/objects.ts';
import { otherController } from '../install/other-controller.ts';
import {
  type Asking,
  checkOf,
  type Fact,
  type Finding,
  fact,
  ifKnown,
  ifServed,
  named,
} from './finding.ts';

const TOPIC = 'JobSets';

export interface JobSetsFacts {
  readonly definition: Fact<DefinitionFacts | undefined>;
  /** Undefined: the API server serves none. */
  readonly jobSets: Fact<Some<JobSetFacts> | undefined>;
  /** Undefined: of all namespaces. */
  readonly namespace: string | undefined;
  /** Lines about the controller of upstream, each with what to do. */
  readonly controllers: Fact<readonly string[]>;
  /** Names of ClusterRoles of upstream. */
  readonly roles: Fact<readonly string[]>;
  /** Whether the operator runs beside another controller. */
  readonly isOnlyManaged: boolean;
  readonly nowMs: number;
}

export interface DefinitionFacts {
  readonly isOurs: boolean;
  readonly missing: readonly string[];
}

export interface JobSetFacts {
  readonly name: string;
  readonly managedBy?: string | undefined;
  /** NaN if it is not being deleted. */
  readonly deletedMs: number;
  readonly finalizers: readonly string[];
  readonly isOutdated: boolean;
}

/** What its manifests and its chart call them. */
const UPSTREAM_ROLES = ['jobset-manager-role', 'jobset-metrics-reader', 'jobset-proxy-role'];

export async function readJobSets(
  client: Client,
  asking: Asking,
  namespace: string,
): Promise<JobSetsFacts> {
  const name = groupResourceOf(JOBSETS);
  const list = (of: string | undefined): Promise<JobSetsFacts['jobSets']> => {
    const where = of === undefined ? 'in all namespaces' : `in namespace ${of}`;
    return fact(asking, `list jobsets ${where}`, (signal) =>
      ifServed<Some<JobSetFacts> | undefined>(
        someOf(
          (page) => client.list(JOBSETS, { ...defined({ namespace: of }), ...page, signal }),
          jobSetFacts,
        ),
        undefined,
      ),
    );
  };
  const [definition, everywhere, controllers, roles, beside] = await Promise.all([
    fact(asking, 'get the CustomResourceDefinition of JobSets', async (signal) => {
      const crd = await unlessGone(client.get(CUSTOM_RESOURCE_DEFINITIONS, { name }, { signal }));
      return crd === undefined ? undefined : definitionFacts(crd);
    }),
    list(undefined),
    fact(
      asking,
      'list deployments in all namespaces and webhook configurations',
      async (signal) => {
        // The search takes what may not be read for absent. The embedded cluster has no Deployments.
        const served = ifServed(client.list(DEPLOYMENTS, { limit: 1, signal }), undefined);
        if ((await served) === undefined) return [];
        await client.list(MUTATING_WEBHOOK_CONFIGURATIONS, { limit: 1, signal });
        return otherController({ client, signal });
      },
    ),
    fact(asking, 'get cluster roles', async (signal) => {
      const found = await Promise.all(
        UPSTREAM_ROLES.map((role) =>
          unlessGone(client.get(CLUSTER_ROLES, { name: role }, { signal })),
        ),
      );
      return found.flatMap((role) => (role === undefined ? [] : [role.metadata.name]));
    }),
    fact(asking, 'list the Deployment of the operator', (signal) =>
      ifServed(runsBesideOthers(client, signal), false),
    ),
  ]);
  const isEverywhere = 'value' in everywhere;
  const isOnlyManaged = 'value' in beside && beside.value;
  return {
    definition,
    jobSets: isEverywhere ? everywhere : await list(namespace),
    namespace: isEverywhere ? undefined : namespace,
    controllers,
    roles,
    isOnlyManaged,
    nowMs: asking.clock.now(),
  };
}

/** Whether our operator leaves JobSets that do not name it to another controller. */
async function runsBesideOthers(client: Client, signal: AbortSignal): Promise<boolean> {
  const labelSelector = formatLabelSelector(labelRequirementsOf({ matchLabels: INSTALLED_LABELS }));
  const { items } = await client.list(DEPLOYMENTS, { labelSelector, limit: 1, signal });
  const containers = items[0]?.spec?.template?.spec?.containers ?? [];
  return containers.some(({ args }) => args?.includes(ONLY_MANAGED) === true);
}

function definitionFacts(crd: CustomResourceDefinition): DefinitionFacts {
  return { isOurs: isOurDefinition(crd), missing: missingStatusFields(crd) };
}

function jobSetFacts({ metadata, spec, status }: JobSet): JobSetFacts {
  return {
    name: `${metadata.namespace ?? ''}/${metadata.name ?? ''}`,
    managedBy: spec.managedBy,
    deletedMs: Date.parse(metadata.deletionTimestamp ?? ''),
    finalizers: metadata.finalizers ?? [],
    isOutdated: (status?.conditions ?? []).some(
      (one) => one.type === 'DefinitionOutdated' && one.status === 'True',
    ),
  };
}

export function jobSetsFindings(facts: JobSetsFacts): readonly Finding[] {
  return [
    ...definitionFindings(facts),
    ...ifKnown(facts.controllers, checkOf(TOPIC, 'other-controller'), (lines) =>
      controllerFindings(lines, facts),
    ),
    ...(facts.isOnlyManaged
      ? []
      : ifKnown(facts.roles, checkOf(TOPIC, 'other-roles'), roleFindings)),
    ...ifKnown(facts.jobSets, checkOf(TOPIC, 'jobsets'), (some) => listFindings(some, facts)),
  ];
}

function definitionFindings(
  facts: Pick<JobSetsFacts, 'definition' | 'isOnlyManaged'>,
): readonly Finding[] {
  const { definition, isOnlyManaged } = facts;
  const about = checkOf(TOPIC, 'definition');
  return ifKnown(definition, about, (found) => {
    if (found === undefined) {
      const text = 'there is no definition of JobSet, so no JobSet can be made';
      return about.note(text, 'lockstep install');
    }
    if (!found.isOurs) {
      const text =
        'the definition of JobSet belongs to another controller, and lacks fields of Lockstep';
      const pilot = isOnlyManaged ? ' --only-managed' : '';
      const fix = `lockstep install${pilot} --replace-crd; docs/migrating-from-upstream.md`;
      return about[isOnlyManaged ? 'note' : 'problem'](text, fix);
    }
    if (found.missing.length > 0) {
      const fields = named(found.missing.map((path) => `status.${path}`));
      const text = `the definition of JobSet is of another version, and lacks ${fields}: what writes them is off`;
      return about.problem(text, 'lockstep install');
    }
    return about.ok('the definition of JobSet has all fields');
  });
}

function controllerFindings(
  lines: readonly string[],
  { isOnlyManaged }: Pick<JobSetsFacts, 'isOnlyManaged'>,
): readonly Finding[] {
  const about = checkOf(TOPIC, 'other-controller');
  if (lines.length === 0) {
    return [about.ok('no other controller of JobSets and none of its webhooks was found')];
  }
  if (isOnlyManaged) {
    const text =
      'another controller of JobSets was found, and Lockstep acts only on JobSets that name it, as it should beside that';
    return [about.ok(text)];
  }
  return lines.map((text) => about.problem(text, 'docs/migrating-from-upstream.md'));
}

function roleFindings(roles: readonly string[]): readonly Finding[] {
  const [first] = roles;
  if (first === undefined) return [];
  const about = checkOf(TOPIC, 'other-roles');
  const text = `cluster roles of another controller are left, which do no harm: ${roles.join(', ')}`;
  return [about.note(text, `kubectl delete clusterrole ${roles.join(' ')}`)];
}

/** A deletion takes as long as the Pods' grace periods, which are rarely longer. */
const STUCK_MS = 10 * 60 * 1000;

function listFindings(
  some: Some<JobSetFacts> | undefined,
  { namespace, nowMs, isOnlyManaged }: Pick<JobSetsFacts, 'namespace' | 'nowMs' | 'isOnlyManaged'>,
): readonly Finding[] {
  if (some === undefined) {
    const text = 'this cluster does not know JobSets';
    return [checkOf(TOPIC, 'jobsets').note(text, 'lockstep install')];
  }
  const { items, isAll } = some;
  const names = (of: readonly JobSetFacts[]): string => named(of.map(({ name }) => name));
  const strange = items.filter((one) => !isManagedByUs(one, { onlyManaged: isOnlyManaged }));
  const stuck = items.filter(({ deletedMs }) => nowMs - deletedMs > STUCK_MS);
  const outdated = items.filter(({ isOutdated }) => isOutdated);
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
  const read = `${counted(items.length, 'JobSet')}${where}${isAll ? '' : ' were read, and there are more'}`;
  return [
    checkOf(TOPIC, 'jobsets').ok(read),
    ...about(strange, {
      check: 'managed-by-others',
      level: 'note',
      text: `${counted(strange.length, 'JobSet')} of another controller (spec.managedBy), which Lockstep leaves alone: ${names(strange)}`,
    }),
    ...about(stuck, {
      check: 'stuck-deletion',
      level: 'problem',
      text: `being deleted for more than ${STUCK_MS / 60_000} minutes: ${names(stuck)} (finalizers: ${named([...new Set(stuck.flatMap(({ finalizers }) => finalizers))]) || 'none'})`,
      fix: 'find out who should remove the finalizers, and why its Pods do not end: kubectl get pods -o wide',
    }),
    ...about(outdated, {
      check: 'definition-outdated',
      level: 'problem',
      text: `features are off because the stored definition lacks fields (condition DefinitionOutdated): ${names(outdated)}`,
      fix: 'lockstep install',
    }),
  ];
}

/** None if it is about no JobSet. */
function about(of: readonly JobSetFacts[], found: Omit<Finding, 'topic'>): readonly Finding[] {
  return of.length === 0 ? [] : [{ topic: TOPIC, ...found }];
}
