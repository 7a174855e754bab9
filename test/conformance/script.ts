/**
 * A script of requests that every Kubernetes API server must answer in the same way: what clients
 * of Lockstep do, and their mistakes. Controllers do not act on these objects: Pods name a
 * scheduler that does not exist, Jobs another controller.
 */
import { JOBSET_CRD } from '../../src/jobset/schema/crd.ts';
import { ACCESS_REQUESTS } from './access-requests.ts';
import { JOBSET_APPLY_REQUESTS, WIDGET_APPLY_REQUESTS } from './apply-custom-requests.ts';
import { APPLY_KIND_REQUESTS } from './apply-kind-requests.ts';
import { APPLY_REQUESTS } from './apply-requests.ts';
import { CHANGE_REQUESTS } from './change-requests.ts';
import { CRDS, DEFINITION_REQUESTS } from './definition-requests.ts';
import { JOB_REFUSALS } from './job-refusals.ts';
import { JOB_REQUESTS } from './job-requests.ts';
import { JOB_STATUS_REQUESTS } from './job-status-requests.ts';
import { JOBSET_REQUESTS, JOBSETS } from './jobset-requests.ts';
import { LIST_REQUESTS } from './list-requests.ts';
import { OBJECT_REQUESTS } from './object-requests.ts';
import { POD_REFUSALS } from './pod-refusals.ts';
import { POD_REQUESTS } from './pod-requests.ts';
import type { ScriptedRequest } from './scripted-request.ts';
import { SMALL_KIND_REQUESTS } from './small-kind-requests.ts';
import { WARNING_REQUESTS } from './warning-requests.ts';
import { WIDGET_REQUESTS, WIDGETS } from './widget-requests.ts';
import { WORKLOAD_REQUESTS } from './workload-requests.ts';

/** The definition that must be served before some requests make sense. */
export interface ScriptPart {
  readonly definition?: object;
  readonly served?: string;
  readonly requests: readonly ScriptedRequest[];
}

export const DEFINITIONS = CRDS;

export const SCRIPT: readonly ScriptPart[] = [
  {
    requests: [
      ...OBJECT_REQUESTS,
      ...CHANGE_REQUESTS,
      ...POD_REQUESTS,
      ...POD_REFUSALS,
      ...JOB_REQUESTS,
      ...JOB_STATUS_REQUESTS,
      ...JOB_REFUSALS,
      ...WARNING_REQUESTS,
      ...SMALL_KIND_REQUESTS,
      ...WORKLOAD_REQUESTS,
      ...LIST_REQUESTS,
      ...ACCESS_REQUESTS,
      ...DEFINITION_REQUESTS,
      ...APPLY_REQUESTS,
      ...APPLY_KIND_REQUESTS,
    ],
  },
  { served: WIDGETS, requests: [...WIDGET_REQUESTS, ...WIDGET_APPLY_REQUESTS] },
  {
    definition: JOBSET_CRD,
    served: JOBSETS,
    requests: [...JOBSET_REQUESTS, ...JOBSET_APPLY_REQUESTS],
  },
];
