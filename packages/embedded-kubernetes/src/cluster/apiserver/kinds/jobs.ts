/** The built-in kind Job. */

import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import { CONTROLLER_UID_LABEL, JOB_NAME_LABEL, JOBS } from '@lockstep/kube/objects/job.ts';
import { jobErrors } from '../../../api-machinery/validation/job/job.ts';
import { defaultJob } from '../../../api-machinery/validation/job/job-defaults.ts';
import { jobStatusUpdateErrors } from '../../../api-machinery/validation/job/job-status.ts';
import { jobUpdateErrors } from '../../../api-machinery/validation/job/job-update.ts';
import { jobWarnings } from '../../../api-machinery/validation/job/job-warnings.ts';
import { type ApiObject, numberAt, objectAt, typed } from '../resources/api-object.ts';
import type { BuiltInKind } from '../resources/built-in-kind.ts';
import { JOB_TABLE } from './job-table.ts';

export const JOB_KIND: BuiltInKind = {
  resource: JOBS,
  categories: ['all'],
  hasStatus: true,
  fieldLabels: {
    'status.successful': (job) => String(numberAt(job, 'status', 'succeeded')),
  },
  table: JOB_TABLE,
  strategy: {
    countsGeneration: true,
    defaults: defaultJob,
    prepareForCreate: (job, { uid }) => {
      const complete = defaultJob(selecting(withoutTemplateLabels(job), uid));
      return { ...complete, status: {} };
    },
    prepareForUpdate: (job, _old, subresource) =>
      subresource === undefined ? defaultJob(job) : withoutZeros(job),
    warnings: (job, old) => jobWarnings(typed(job), old === undefined ? undefined : typed(old)),
    validate: (job) => jobErrors(typed(job)),
    validateUpdate: (job, old, subresource) =>
      subresource === undefined
        ? jobUpdateErrors(typed(job), typed(old))
        : jobStatusUpdateErrors(typed(job), typed(old)),
  },
};

/** Drops counters that are zero and a text that is empty, as Go does. */
function withoutZeros(job: ApiObject): ApiObject {
  const told = Object.entries(objectAt(job, 'status')).filter(
    ([member, value]) => !(OMITTED_IF_ZERO.has(member) && (value === 0 || value === '')),
  );
  return { ...job, status: Object.fromEntries(told) };
}

const OMITTED_IF_ZERO = new Set(['active', 'succeeded', 'failed', 'completedIndexes']);

/** A Job whose labels default to its template's gets the labels of its selector too. */
function withoutTemplateLabels(job: ApiObject): ApiObject {
  const { labels, ...metadata } = job.metadata;
  const ofTemplate = objectAt(job, 'spec', 'template', 'metadata', 'labels');
  return labels !== undefined && deepEqual(labels, ofTemplate) ? { ...job, metadata } : job;
}

/**
 * Adds the labels that a Job's Pods have and by which it selects them, unless it selects by hand.
 * Existing ones stay, and are refused if they differ.
 */
function selecting(job: ApiObject, uid: string): ApiObject {
  const spec = objectAt(job, 'spec');
  if (spec['manualSelector'] === true) return job;
  const template = objectAt(spec, 'template');
  const metadata = objectAt(template, 'metadata');
  const name = job.metadata.name ?? '';
  const labels = {
    [CONTROLLER_UID_LABEL]: uid,
    [JOB_NAME_LABEL]: name,
    'controller-uid': uid,
    'job-name': name,
    ...objectAt(metadata, 'labels'),
  };
  const selector = objectAt(spec, 'selector');
  const matchLabels = { [CONTROLLER_UID_LABEL]: uid, ...objectAt(selector, 'matchLabels') };
  return {
    ...job,
    spec: {
      ...spec,
      selector: { ...selector, matchLabels },
      template: { ...template, metadata: { ...metadata, labels } },
    },
  };
}
