/**
 * The built-in kinds Workload and PodGroup, which real servers have off by default. They are kept and
 * shown, and checked by their schemas only, because nothing acts on them.
 */

import { resource } from '@lockstep/kube/resource.ts';
import { withDefaults, withItems, withMember } from '../../../api-machinery/validation/members.ts';
import { type ApiObject, listAt, textAt, valueAt } from '../resources/api-object.ts';
import type { BuiltInKind } from '../resources/built-in-kind.ts';
import { ageOf } from '../resources/table-layout.ts';

const API_VERSION = 'scheduling.k8s.io/v1alpha2';

export const WORKLOAD_KIND: BuiltInKind = {
  resource: resource(API_VERSION, 'workloads', 'Workload'),
  strategy: {
    defaults: withNullConstraints,
    prepareForCreate: withNullConstraints,
    prepareForUpdate: withNullConstraints,
  },
};

export const POD_GROUP_KIND: BuiltInKind = {
  resource: resource(API_VERSION, 'podgroups', 'PodGroup'),
  hasStatus: true,
  table: {
    columns: [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'Policy', type: 'string' },
      { name: 'Workload', type: 'string' },
      { name: 'Status', type: 'string' },
      { name: 'Age', type: 'string' },
    ],
    cells: (group, nowMs) => [
      group.metadata.name,
      valueAt(group, 'spec', 'schedulingPolicy', 'gang') === undefined ? 'Basic' : 'Gang',
      textAt(group, 'spec', 'podGroupTemplateRef', 'workload', 'workloadName') || '<none>',
      stateOf(group),
      ageOf(group, nowMs),
    ],
  },
  strategy: {
    defaults: withNullTemplate,
    prepareForCreate: (group) => withNullTemplate({ ...group, status: {} }),
    prepareForUpdate: withNullTemplate,
  },
};

/** As Go writes templates without constraints. */
function withNullConstraints(workload: ApiObject): ApiObject {
  return withMember(workload, 'spec', (spec) =>
    withItems(spec, 'podGroupTemplates', (template) =>
      withDefaults(template, { schedulingConstraints: null }),
    ),
  );
}

/** As Go writes PodGroups that are of no Workload. */
function withNullTemplate(group: ApiObject): ApiObject {
  return withMember(group, 'spec', (spec) => withDefaults(spec, { podGroupTemplateRef: null }));
}

function stateOf(group: ApiObject): string {
  const conditions = listAt(group, 'status', 'conditions');
  const find = (type: string) => conditions.find((one) => textAt(one, 'type') === type);
  const disrupted = find('DisruptionTarget');
  if (disrupted !== undefined) return textAt(disrupted, 'reason');
  const scheduled = find('PodGroupScheduled');
  if (scheduled === undefined) return 'Pending';
  return textAt(scheduled, 'status') === 'True' ? 'Scheduled' : 'Unschedulable';
}
