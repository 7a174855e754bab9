/**
 * Who waits for whom in the API server. In a restart thousands of agents come at the same time; under the
 * stock settings all that share an account have 300 places in the queues, the rest is turned away with
 * 429, comes back in phase and is turned away again. Here one account may fill 8,000 places, so that
 * they wait in the server instead. The operator, which ends their waiting, has places that no other
 * client uses, its lease those of leader elections, and what agents and users make it ask has neither.
 */
import { JOBSETS } from '../jobset/jobset.ts';
import { LEASES } from '../kube/objects/lease.ts';
import { FLOW_SCHEMAS, PRIORITY_LEVELS } from './kinds.ts';
import { OPERATOR_NAME } from './permissions.ts';
import { type InstallationSettings, type Installed, installed } from './settings.ts';

const AGENTS = 'lockstep-agents';

/** Of the shares of all levels together, about 245 in stock settings: an eighth of the server. */
const AGENTS_SHARES = 40;
/** What they do not use, others may. */
const AGENTS_LENDABLE_PERCENT = 75;
/** Some 40 requests at a time in stock settings: never lent, they are there at once. */
const OPERATOR_SHARES = 20;
const OPERATOR_LENDABLE_PERCENT = 0;
const QUEUES = 64;
/** Queues over which one account is spread; more would leave no choice to keep accounts apart. */
const HAND_SIZE = 8;
const QUEUE_LENGTH = 1_000;

/** Before `service-accounts` (9000) and after what keeps the cluster itself alive. */
const LEASE_PRECEDENCE = 940;
const REVIEWS_PRECEDENCE = 945;
const OPERATOR_PRECEDENCE = 950;
const AGENTS_PRECEDENCE = 1_000;

export function apiPriority({ namespace }: InstallationSettings): readonly Installed[] {
  const operator = {
    kind: 'ServiceAccount',
    serviceAccount: { namespace, name: OPERATOR_NAME },
  };
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
  return installed(
    PRIORITY_LEVELS,
    { name },
    {
      spec: {
        type: 'Limited',
        limited: {
          nominalConcurrencyShares: shares,
          lendablePercent,
          limitResponse: { type: 'Queue', queuing },
        },
      },
    },
  );
}

function flowSchema(
  name: string,
  level: string,
  matchingPrecedence: number,
  rule: object,
): Installed {
  return installed(
    FLOW_SCHEMAS,
    { name },
    {
      spec: {
        priorityLevelConfiguration: { name: level },
        matchingPrecedence,
        distinguisherMethod: { type: 'ByUser' },
        rules: [rule],
      },
    },
  );
}
