import { defined } from '@lockstep/kube/json/defined.ts';
import type { ContainerStatus, PodStatus } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, it } from 'vitest';
import type { StoredObject } from '../resources/api-object.ts';
import type { TableLayout } from '../resources/table-layout.ts';
import { CORE_EVENT_TABLE } from './event-table.ts';
import { JOB_TABLE } from './job-table.ts';
import { NODE_KIND } from './nodes.ts';
import { POD_TABLE } from './pod-table.ts';
import { POD_GROUP_KIND } from './scheduling.ts';

const NOW = Date.parse('2026-01-01T01:00:00Z');

function stored(fields: object, metadata: object = {}): StoredObject {
  return {
    apiVersion: 'v1',
    kind: 'Any',
    metadata: {
      name: 'x',
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...metadata,
    },
    ...fields,
  };
}

/** The cells by the name of their column. */
function row(table: TableLayout | undefined, object: StoredObject): Record<string, unknown> {
  const cells = table?.cells(object, NOW) ?? [];
  return Object.fromEntries(table?.columns.map(({ name }, at) => [name, cells[at]]) ?? []);
}

type State = NonNullable<ContainerStatus['state']>;

function container(name: string, state: State, more: Partial<ContainerStatus> = {}) {
  return { name, image: '', imageID: '', ready: false, restartCount: 0, state, ...more };
}

const RUNNING: State = { running: { startedAt: '2026-01-01T00:00:00Z' } };
const COMPLETED: State = { terminated: { exitCode: 0, reason: 'Completed' } };
const TRUE = (type: string) => ({ type, status: 'True' as const });

const PODS: readonly {
  readonly shows: readonly [ready: string, status: string, restarts: string];
  readonly of: string;
  readonly status: PodStatus;
  readonly init?: readonly object[];
  readonly metadata?: object;
}[] = [
  { of: 'a new Pod', shows: ['0/2', 'Pending', '0'], status: { phase: 'Pending' } },
  {
    of: 'a gated Pod',
    shows: ['0/2', 'SchedulingGated', '0'],
    status: {
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }],
    },
  },
  {
    of: 'a Pod that creates its containers',
    shows: ['0/2', 'ContainerCreating', '0'],
    status: {
      phase: 'Pending',
      containerStatuses: [
        container('a', { waiting: { reason: 'ContainerCreating' } }),
        container('b', { waiting: { reason: 'ContainerCreating' } }),
      ],
    },
  },
  {
    of: 'a running Pod that restarted',
    shows: ['1/2', 'Running', '3 (5m ago)'],
    status: {
      phase: 'Running',
      containerStatuses: [
        container('a', RUNNING, {
          ready: true,
          restartCount: 3,
          lastState: { terminated: { exitCode: 1, finishedAt: '2026-01-01T00:55:00Z' } },
        }),
        container('b', RUNNING),
      ],
    },
  },
  {
    of: 'a crash loop',
    shows: ['1/2', 'CrashLoopBackOff', '0'],
    status: {
      phase: 'Running',
      containerStatuses: [
        container('a', { waiting: { reason: 'CrashLoopBackOff' } }),
        container('b', RUNNING, { ready: true }),
      ],
    },
  },
  {
    of: 'a Pod of which one container has completed',
    shows: ['1/2', 'NotReady', '0'],
    status: {
      phase: 'Running',
      containerStatuses: [container('a', COMPLETED), container('b', RUNNING, { ready: true })],
    },
  },
  {
    of: 'a Pod that ended by a signal without a reason',
    shows: ['0/2', 'Signal:9', '0'],
    status: {
      phase: 'Failed',
      containerStatuses: [container('a', { terminated: { exitCode: 137, signal: 9 } })],
    },
  },
  {
    of: 'a Pod in its second init container',
    shows: ['0/2', 'Init:1/2', '0'],
    init: [{ name: 'i' }, { name: 'j' }],
    status: {
      phase: 'Pending',
      initContainerStatuses: [container('i', COMPLETED), container('j', RUNNING)],
      containerStatuses: [container('a', { waiting: { reason: 'PodInitializing' } })],
    },
  },
  {
    of: 'a failed init container',
    shows: ['0/2', 'Init:Error', '2'],
    init: [{ name: 'i' }],
    status: {
      phase: 'Pending',
      initContainerStatuses: [
        container('i', { terminated: { exitCode: 1, reason: 'Error' } }, { restartCount: 2 }),
      ],
    },
  },
  {
    of: 'a Pod with a sidecar',
    shows: ['2/3', 'Running', '1'],
    init: [{ name: 's', restartPolicy: 'Always' }],
    status: {
      phase: 'Running',
      conditions: [TRUE('Initialized')],
      initContainerStatuses: [
        container('s', RUNNING, { ready: true, started: true, restartCount: 1 }),
      ],
      containerStatuses: [
        container('a', RUNNING, { ready: true }),
        container('b', { waiting: {} }),
      ],
    },
  },
  {
    of: 'a Pod that restarts as a whole, its sidecar first',
    shows: ['0/3', 'Init:0/1', '1'],
    init: [{ name: 's', restartPolicy: 'Always' }],
    status: {
      phase: 'Pending',
      initContainerStatuses: [container('s', RUNNING, { started: false, restartCount: 1 })],
      containerStatuses: [container('a', { waiting: { reason: 'PodInitializing' } })],
    },
  },
  {
    of: 'an evicted Pod',
    shows: ['0/2', 'Evicted', '0'],
    status: { phase: 'Failed', reason: 'Evicted' },
  },
  {
    of: 'a Pod that is being deleted',
    shows: ['1/2', 'Terminating', '0'],
    metadata: { deletionTimestamp: '2026-01-01T00:59:00Z' },
    status: { phase: 'Running', containerStatuses: [container('a', RUNNING, { ready: true })] },
  },
];

describe('the table of Pods', () => {
  it.each(PODS)('shows $of', ({ shows, status, init, metadata }) => {
    const spec = {
      containers: [{ name: 'a' }, { name: 'b' }],
      ...defined({ initContainers: init }),
    };
    const cells = row(POD_TABLE, stored({ spec, status }, metadata));
    expect([cells['Ready'], cells['Status'], cells['Restarts']]).toEqual(shows);
    expect(cells).toMatchObject({ Name: 'x', Age: '60m', IP: '<none>', Node: '<none>' });
  });
});

describe('the table of Jobs', () => {
  const template = { spec: { containers: [{ name: 'c', image: 'i' }] } };

  it.each([
    ['Running', '0/3', { parallelism: 1, completions: 3 }, {}],
    ['Complete', '3/3', { completions: 3 }, { succeeded: 3, conditions: [TRUE('Complete')] }],
    ['Failed', '1/3', { completions: 3 }, { succeeded: 1, conditions: [TRUE('Failed')] }],
    ['Suspended', '0/1 of 2', { parallelism: 2 }, { conditions: [TRUE('Suspended')] }],
  ])('shows a Job that is %s', (status, completions, spec, reported) => {
    const job = stored({ spec: { ...spec, template }, status: reported });
    expect(row(JOB_TABLE, job)).toMatchObject({ Status: status, Completions: completions });
  });

  it('counts the duration until the completion, or until now', () => {
    const startTime = '2026-01-01T00:30:00Z';
    const duration = (status: object): unknown =>
      row(JOB_TABLE, stored({ spec: { template }, status }))['Duration'];
    expect(duration({})).toBe('');
    expect(duration({ startTime })).toBe('30m');
    expect(duration({ startTime, completionTime: '2026-01-01T00:31:30Z' })).toBe('90s');
  });
});

describe('the table of Events', () => {
  it('shows a series by its last occurrence', () => {
    const event = stored({
      involvedObject: { kind: 'Pod', name: 'p' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      series: { count: 4, lastObservedTime: '2026-01-01T00:59:50.000000Z' },
      reportingComponent: 'kubelet',
      reportingInstance: 'n1',
      reason: 'BackOff',
      message: ' again \n',
      type: 'Warning',
    });
    expect(row(CORE_EVENT_TABLE, event)).toMatchObject({
      'Last Seen': '10s',
      'First Seen': '60m',
      Object: 'pod/p',
      Source: 'kubelet, n1',
      Message: 'again',
      Count: 4,
    });
  });
});

describe('the table of Nodes', () => {
  it('shows readiness, cordon and role', () => {
    const metadata = { labels: { 'node-role.kubernetes.io/control-plane': '' } };
    const conditions = [{ type: 'Ready', status: 'True' }];
    const node = stored({ spec: { unschedulable: true }, status: { conditions } }, metadata);
    expect(row(NODE_KIND.table, node)).toMatchObject({
      Status: 'Ready,SchedulingDisabled',
      Roles: 'control-plane',
      Version: '<unknown>',
    });
  });
});

describe('the table of PodGroups', () => {
  const scheduled = (status: string) => ({ type: 'PodGroupScheduled', status });
  const disrupted = { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' };

  it.each([
    ['Pending', []],
    ['Scheduled', [scheduled('True')]],
    ['Unschedulable', [scheduled('False')]],
    ['PreemptionByScheduler', [scheduled('True'), disrupted]],
  ])('shows %s', (state, conditions) => {
    const group = stored({ spec: { schedulingPolicy: { basic: {} } }, status: { conditions } });
    expect(row(POD_GROUP_KIND.table, group)).toMatchObject({ Policy: 'Basic', Status: state });
  });
});
