/** The table of Jobs for kubectl. */
import { humanDuration } from '@lockstep/kube/duration.ts';
import type { Job } from '@lockstep/kube/objects/job.ts';
import {
  formatLabelSelector,
  labelRequirementsOf,
} from '@lockstep/kube/selectors/label-selector.ts';
import { typed } from '../resources/api-object.ts';
import { ageOf, type TableLayout } from '../resources/table-layout.ts';

const NONE = '<none>';

export const JOB_TABLE: TableLayout = {
  columns: [
    { name: 'Name', type: 'string', format: 'name' },
    { name: 'Status', type: 'string', description: 'What the Job does, in one word.' },
    { name: 'Completions', type: 'string', description: 'Pods that succeeded, of those wanted.' },
    { name: 'Duration', type: 'string', description: 'From its start to its completion.' },
    { name: 'Age', type: 'string' },
    { name: 'Containers', type: 'string', priority: 1 },
    { name: 'Images', type: 'string', priority: 1 },
    { name: 'Selector', type: 'string', priority: 1 },
  ],
  cells: (object, nowMs) => {
    const job = typed<Job>(object);
    const { containers } = job.spec.template.spec;
    return [
      object.metadata.name,
      statusOf(job),
      completionsOf(job),
      durationOf(job, nowMs),
      ageOf(object, nowMs),
      containers.map(({ name }) => name).join(','),
      containers.map(({ image }) => image ?? '').join(','),
      formatLabelSelector(labelRequirementsOf(job.spec.selector)) || NONE,
    ];
  },
};

/** Ends come before steps towards them: the first that holds is shown. */
const SHOWN_CONDITIONS: readonly string[] = ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'];

function statusOf(job: Job): string {
  const holds = (type: string): boolean =>
    job.status?.conditions?.some((each) => each.type === type && each.status === 'True') === true;
  if (holds('Complete')) return 'Complete';
  if (holds('Failed')) return 'Failed';
  if (job.metadata.deletionTimestamp !== undefined) return 'Terminating';
  return SHOWN_CONDITIONS.find(holds) ?? 'Running';
}

function completionsOf({ spec, status }: Job): string {
  const succeeded = status?.succeeded ?? 0;
  if (spec.completions !== undefined) return `${succeeded}/${spec.completions}`;
  const parallelism = spec.parallelism ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationOf({ status }: Job, nowMs: number): string {
  const start = Date.parse(status?.startTime ?? '');
  if (Number.isNaN(start)) return '';
  const end = Date.parse(status?.completionTime ?? '');
  return humanDuration((Number.isNaN(end) ? nowMs : end) - start);
}
