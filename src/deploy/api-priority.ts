/**
 * Priority levels in the API server. A restart brings thousands of requests from agents at once.
 * Under stock settings all clients of one account share 300 places in the queues; the rest gets 429,
 * comes back in phase, and gets 429 again. Here one account may fill 8,000 places, so agents wait
 * inside the server instead. The operator, for which they wait, has places that no other client uses,
 * and its lease has the places of leader elections. Requests that agents or users cause it to make
 * use neither.
 */

import { LEASES } from '@lockstep/kube/objects/lease.ts';
import { JOBSETS } from '../jobset/jobset.ts';
import { FLOW_SCHEMAS, PRIORITY_LEVELS } from './kinds.ts';
import { OPERATOR_NAME } from './permissions.ts';
import { type InstallationSettings, type Installed, installed } from './settings.ts';

const AGENTS = 'lockstep-agents';

/** Relative to the shares of all levels, about 245 in stock settings: an eighth of the server. */
const AGENTS_SHARES = 40;
/** The part that other levels may use while agents do not. */
const AGENTS_LENDABLE_PERCENT = 75;
/**
 * Some 40 concurrent requests in stock settings. They are never lent, so they are available at
 * once.
 */
const OPERATOR_SHARES = 20;
const OPERATOR_LENDABLE_PERCENT = 0;
const QUEUES = 64;
/** The queues over which one account is spread. More would leave too few to keep accounts apart. */
const HAND_SIZE = 8;
const QUEUE_LENGTH = 1_000;

/** Before `service-accounts` (9000), and after the levels that keep the cluster itself alive. */
const LEASE_PRECEDENCE = 940;
const REVIEWS_PRECEDENCE = 945;
const OPERATOR_PRECEDENCE = 950;
const AGENTS_PRECEDENCE = 1_000;

export function apiPriority({ namespace }: InstallationSettings): readonly Installed[] {
  const serviceAccount = { namespace, name: OPERATOR_NAME };
  const operator = { kind: 'ServiceAccount', serviceAccount };
  const everywhere = { clusterScope: true, namespaces: ['*'] };
  return [
    priorityLevel(AGENTS, AGENTS_SHARES, AGENTS_LENDABLE_PERCENT),
    priorityLevel(OPERATOR_NAME, OPERATOR_SHARES, OPERATOR_LENDABLE_PERCENT),
    flowSchema(`${OPERATOR_NAME}-lease`, 'leader-election', LEASE_PRECEDENCE, {
      subjects: [operator],
      resourceRules: [
        {
          verbs: ['get', 'create', 'update'],
          apiGroups: [LEASES.group],
          resources: [LEASES.plural],
          namespaces: [namespace],
        },
      ],
    }),
    flowSchema(`${OPERATOR_NAME}-reviews`, 'workload-low', REVIEWS_PRECEDENCE, {
      subjects: [operator],
      resourceRules: [
        {
          verbs: ['create', 'patch'],
          apiGroups: ['events.k8s.io', 'authentication.k8s.io', 'authorization.k8s.io'],
          resources: ['events', 'tokenreviews', 'subjectaccessreviews'],
          ...everywhere,
        },
      ],
    }),
    flowSchema(OPERATOR_NAME, OPERATOR_NAME, OPERATOR_PRECEDENCE, {
      subjects: [operator],
      resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], ...everywhere }],
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['*'] }],
    }),
    flowSchema(AGENTS, AGENTS, AGENTS_PRECEDENCE, {
      subjects: [{ kind: 'Group', group: { name: 'system:serviceaccounts' } }],
      resourceRules: [
        { verbs: ['patch'], apiGroups: [''], resources: ['pods'], namespaces: ['*'] },
        {
          verbs: ['list', 'watch'],
          apiGroups: [JOBSETS.group],
          resources: [JOBSETS.plural],
          namespaces: ['*'],
        },
      ],
    }),
  ];
}

function priorityLevel(name: string, shares: number, lendablePercent: number): Installed {
  const queuing = { queues: QUEUES, handSize: HAND_SIZE, queueLengthLimit: QUEUE_LENGTH };
  const limitResponse = { type: 'Queue', queuing };
  const limited = { nominalConcurrencyShares: shares, lendablePercent, limitResponse };
  return installed(PRIORITY_LEVELS, { name }, { spec: { type: 'Limited', limited } });
}

function flowSchema(
  name: string,
  level: string,
  matchingPrecedence: number,
  rule: object,
): Installed {
  const spec = {
    priorityLevelConfiguration: { name: level },
    matchingPrecedence,
    distinguisherMethod: { type: 'ByUser' },
    rules: [rule],
  };
  return installed(FLOW_SCHEMAS, { name }, { spec });
}
