/**
 * A priority level of their own for agents. In a restart thousands of them come at the same time;
 * under the stock settings all that share an account have 300 places in the queues, the rest is
 * turned away with 429, comes back in phase and is turned away again (design, section 6). Here one
 * account may fill 8,000 places, so that they wait in the server instead. The operator, which ends
 * their waiting, does not queue behind them.
 */
import { JOBSETS } from '../jobset/jobset.ts';
import { FLOW_SCHEMAS, PRIORITY_LEVELS } from './kinds.ts';
import { OPERATOR_NAME } from './permissions.ts';
import { type InstallationSettings, type Installed, installed } from './settings.ts';

const AGENTS = 'lockstep-agents';

/** Of the shares of all levels together, about 245 in stock settings: a sixth of the server. */
const CONCURRENCY_SHARES = 40;
/** What they do not use, others may. */
const LENDABLE_PERCENT = 75;
const QUEUES = 64;
/** Queues over which one account is spread; more would leave no choice to keep accounts apart. */
const HAND_SIZE = 8;
const QUEUE_LENGTH = 1_000;

/** Before `service-accounts` (9000) and after what keeps the cluster itself alive. */
const OPERATOR_PRECEDENCE = 950;
const AGENTS_PRECEDENCE = 1_000;

export function apiPriority({ namespace }: InstallationSettings): readonly Installed[] {
  return [
    installed(
      PRIORITY_LEVELS,
      { name: AGENTS },
      {
        spec: {
          type: 'Limited',
          limited: {
            nominalConcurrencyShares: CONCURRENCY_SHARES,
            lendablePercent: LENDABLE_PERCENT,
            limitResponse: {
              type: 'Queue',
              queuing: {
                queues: QUEUES,
                handSize: HAND_SIZE,
                queueLengthLimit: QUEUE_LENGTH,
              },
            },
          },
        },
      },
    ),
    flowSchema(OPERATOR_NAME, 'workload-high', OPERATOR_PRECEDENCE, {
      subjects: [{ kind: 'ServiceAccount', serviceAccount: { namespace, name: OPERATOR_NAME } }],
      resourceRules: [
        {
          verbs: ['*'],
          apiGroups: ['*'],
          resources: ['*'],
          clusterScope: true,
          namespaces: ['*'],
        },
      ],
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
