/** The Grafana dashboard, as the JSON that Grafana imports. */
const PANEL_WIDTH = 12;
const PANEL_HEIGHT = 8;
const PANELS_PER_ROW = 2;
const SCHEMA_VERSION = 39;
/** The user chooses it at the top of the dashboard. */
const DATASOURCE = { type: 'prometheus', uid: '$datasource' } as const;

/** PromQL and the legend of its series. */
type Query = readonly [expression: string, legend: string];

interface Panel {
  readonly title: string;
  readonly description: string;
  readonly unit: 'short' | 's' | 'reqps' | 'Bps' | 'percentunit';
  /** Draws the series as bars on top of each other. */
  readonly isStacked?: true;
  readonly queries: readonly Query[];
}

/** A quantile of a histogram, a series for each value of a label. */
const quantile = (q: number, metric: string, label: string, legend = `{{${label}}}`): Query => [
  `histogram_quantile(${q}, sum by (le, ${label}) (rate(${metric}_bucket[$__rate_interval])))`,
  legend,
];

/** By how much a counter grew, a series for each value of a label. */
const growth = (metric: string, label: string): Query => [
  `sum by (${label}) (increase(${metric}[$__rate_interval]))`,
  `{{${label}}}`,
];

const RUN = '{{namespace}}/{{jobset}}';

/** After a change of leaders there may be two series of one JobSet for a moment. */
const ofRun = (metric: string): string => `max by (namespace, jobset) (lockstep_jobset_${metric})`;

export const PANELS: readonly Panel[] = [
  {
    title: 'What the JobSets do',
    description: 'How many there are of each state.',
    unit: 'short',
    queries: [
      ['sum by (state) (max by (namespace, jobset, state) (lockstep_jobset_state))', '{{state}}'],
    ],
  },
  {
    title: 'Runs at the barrier',
    description: 'For how long members of a group have been waiting to be released.',
    unit: 's',
    queries: [[`time() - ${ofRun('barrier_since_timestamp_seconds')}`, RUN]],
  },
  {
    title: 'Budget of each run',
    description: 'The share of its restarts that a JobSet has used.',
    unit: 'percentunit',
    queries: [[`${ofRun('restart_budget_used')} / (${ofRun('restart_budget')} > 0)`, RUN]],
  },
  {
    title: 'Silence of each run',
    description: 'Since a worker last reported progress or was released, where workers report.',
    unit: 's',
    queries: [[`time() - ${ofRun('progress_timestamp_seconds')}`, RUN]],
  },
  {
    title: 'Steps of each run',
    description: 'Steps a second, by the highest step that a member reports.',
    unit: 'short',
    queries: [
      [
        'max by (namespace, jobset) (clamp_min(deriv(lockstep_jobset_step[$__rate_interval]), 0))',
        RUN,
      ],
    ],
  },
  {
    title: 'Goodput of each run',
    description:
      'The share of its time under way that was saved, as of the newest status write, where workers report checkpoints.',
    unit: 'percentunit',
    queries: [[ofRun('goodput_ratio'), RUN]],
  },
  {
    title: 'Ranks that fail',
    description: 'In how many restarts of the last day each rank failed first.',
    unit: 'short',
    queries: [
      ['max by (namespace, jobset, rank) (lockstep_jobset_rank_failures)', `${RUN}, rank {{rank}}`],
    ],
  },
  {
    title: 'Ranks behind in their Pods',
    description: 'Ranks that are steps behind the others of their Pods, or silent for much longer.',
    unit: 'short',
    queries: [[ofRun('ranks_behind'), RUN]],
  },
  {
    title: 'Restarts of groups',
    description: 'By what ended the epoch, and whether it was charged to maxRestarts.',
    unit: 'short',
    queries: [
      [
        'sum by (cause, counted) (increase(lockstep_restarts_total[$__rate_interval]))',
        '{{cause}}, counted: {{counted}}',
      ],
    ],
  },
  {
    title: 'How long a restart in place takes',
    description: 'Median and 90th percentile of each phase: detect, announce, release.',
    unit: 's',
    queries: [
      quantile(0.5, 'lockstep_restart_phase_seconds', 'phase', '{{phase}}, half'),
      quantile(0.9, 'lockstep_restart_phase_seconds', 'phase', '{{phase}}, 90 %'),
    ],
  },
  {
    title: 'Where the time went',
    description:
      'Time of all JobSets by class, when a status write accounted for it. So the time of an epoch without failures shows when it ends.',
    unit: 's',
    isStacked: true,
    queries: [growth('lockstep_goodput_seconds_total', 'class')],
  },
  {
    title: 'Productive share',
    description:
      'Of the time of JobSets that were not waiting, not suspended and told of checkpoints, accounted for in the range that is shown.',
    unit: 'percentunit',
    queries: [
      [
        `sum(increase(lockstep_goodput_seconds_total{class="Productive"}[$__range])) / sum(increase(lockstep_goodput_seconds_total{class!~"Waiting|Suspended|Running"}[$__range]))`,
        'productive',
      ],
    ],
  },
  {
    title: 'Warm standbys',
    description: 'Those that are ready, and members whose Pods get none any more.',
    unit: 'short',
    queries: [
      ['sum(lockstep_standbys_ready)', 'ready'],
      ['sum(lockstep_standbys_off)', 'off'],
    ],
  },
  {
    title: 'Members that left their nodes',
    description:
      'Because their workers kept failing there, or a check of the machine did not pass.',
    unit: 'short',
    queries: [growth('lockstep_members_replaced_total', 'reason')],
  },
  {
    title: 'Pods deleted by force',
    description: 'Of nodes that were lost, by the reason of their DisruptionTarget.',
    unit: 'short',
    queries: [growth('lockstep_forced_pod_deletions_total', 'reason')],
  },
  {
    title: 'JobSets that ended',
    description: 'Completed and failed.',
    unit: 'short',
    queries: [
      ['sum(increase(jobset_completed_total[$__rate_interval]))', 'completed'],
      ['sum(increase(jobset_failed_total[$__rate_interval]))', 'failed'],
    ],
  },
  {
    title: 'Reconciles',
    description: 'Passes over JobSets by result, and those that failed.',
    unit: 'reqps',
    queries: [
      [
        'sum by (controller, result) (rate(controller_runtime_reconcile_total[$__rate_interval]))',
        '{{controller}}: {{result}}',
      ],
    ],
  },
  {
    title: 'Length of a reconcile',
    description: '90th percentile by controller.',
    unit: 's',
    queries: [quantile(0.9, 'controller_runtime_reconcile_time_seconds', 'controller')],
  },
  {
    title: 'Queues',
    description: 'Keys that wait, and how long 90 % of them wait at most.',
    unit: 'short',
    queries: [
      ['max by (name) (workqueue_depth)', '{{name}}: waiting'],
      quantile(0.9, 'workqueue_queue_duration_seconds', 'name', '{{name}}: seconds'),
    ],
  },
  {
    title: 'Admission',
    description: 'Requests by webhook and answer.',
    unit: 'reqps',
    queries: [
      [
        'sum by (webhook, code) (rate(controller_runtime_webhook_requests_total[$__rate_interval]))',
        '{{webhook}} {{code}}',
      ],
    ],
  },
  {
    title: 'Time to admit',
    description: '99th percentile by webhook.',
    unit: 's',
    queries: [quantile(0.99, 'controller_runtime_webhook_latency_seconds', 'webhook')],
  },
];

export function dashboard(): object {
  return {
    title: 'Lockstep',
    uid: 'lockstep',
    description: 'JobSets that restart in place',
    tags: ['lockstep', 'kubernetes'],
    schemaVersion: SCHEMA_VERSION,
    editable: true,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [{ name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' }],
    },
    panels: PANELS.map(panelOf),
  };
}

const STACKED = { drawStyle: 'bars', fillOpacity: 80, stacking: { mode: 'normal' } } as const;

function panelOf({ title, description, unit, isStacked, queries }: Panel, index: number): object {
  const custom = isStacked === true ? { custom: STACKED } : {};
  return {
    id: index + 1,
    type: 'timeseries',
    title,
    description,
    datasource: DATASOURCE,
    gridPos: {
      x: (index % PANELS_PER_ROW) * PANEL_WIDTH,
      y: Math.floor(index / PANELS_PER_ROW) * PANEL_HEIGHT,
      w: PANEL_WIDTH,
      h: PANEL_HEIGHT,
    },
    fieldConfig: { defaults: { unit, min: 0, ...custom }, overrides: [] },
    targets: queries.map(([expr, legendFormat], i) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + i),
      datasource: DATASOURCE,
      expr,
      legendFormat,
    })),
  };
}
