/** The built-in kind Node. */

import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import { NODES } from '@lockstep/kube/objects/node.ts';
import { defaultNodeStatus } from '../../../api-machinery/validation/pod/resource-amounts.ts';
import {
  type ApiObject,
  listAt,
  objectAt,
  type StoredObject,
  textAt,
  valueAt,
} from '../resources/api-object.ts';
import type { BuiltInKind } from '../resources/built-in-kind.ts';
import { ageOf } from '../resources/table-layout.ts';

const ROLE_LABEL_PREFIX = 'node-role.kubernetes.io/';
const NONE = '<none>';
const UNKNOWN = '<unknown>';

export const NODE_KIND: BuiltInKind = {
  resource: NODES,
  shortNames: ['no'],
  hasStatus: true,
  fieldLabels: {
    'spec.unschedulable': (node) => String(valueAt(node, 'spec', 'unschedulable') === true),
  },
  strategy: {
    prepareForCreate: prepared,
    prepareForUpdate: prepared,
  },
  table: {
    columns: [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'Status', type: 'string' },
      { name: 'Roles', type: 'string' },
      { name: 'Age', type: 'string' },
      { name: 'Version', type: 'string' },
      { name: 'Internal-IP', type: 'string', priority: 1 },
      { name: 'External-IP', type: 'string', priority: 1 },
      { name: 'OS-Image', type: 'string', priority: 1 },
      { name: 'Kernel-Version', type: 'string', priority: 1 },
      { name: 'Container-Runtime', type: 'string', priority: 1 },
    ],
    cells: (node, nowMs) => [
      node.metadata.name,
      statusOf(node),
      rolesOf(node),
      ageOf(node, nowMs),
      info(node, 'kubeletVersion'),
      addressOf(node, 'InternalIP'),
      addressOf(node, 'ExternalIP'),
      info(node, 'osImage'),
      info(node, 'kernelVersion'),
      info(node, 'containerRuntimeVersion'),
    ],
  },
};

/** A node registers with its status, so creation keeps it. */
function prepared(node: ApiObject): ApiObject {
  return { ...node, status: defaultNodeStatus(objectAt(node, 'status')) };
}

function statusOf(node: StoredObject): string {
  const ready = listAt(node, 'status', 'conditions').find(
    (condition) => textAt(condition, 'type') === 'Ready',
  );
  const parts = [readiness(ready)];
  if (valueAt(node, 'spec', 'unschedulable') === true) parts.push('SchedulingDisabled');
  return parts.join(',');
}

function readiness(condition: unknown): string {
  if (!isJsonObject(condition)) return 'Unknown';
  return textAt(condition, 'status') === 'True' ? 'Ready' : 'NotReady';
}

function rolesOf(node: StoredObject): string {
  const roles = Object.keys(node.metadata.labels ?? {})
    .filter((label) => label.startsWith(ROLE_LABEL_PREFIX))
    .map((label) => label.slice(ROLE_LABEL_PREFIX.length))
    .sort();
  return roles.length === 0 ? NONE : roles.join(',');
}

function addressOf(node: StoredObject, type: string): string {
  const found = listAt(node, 'status', 'addresses').find((each) => textAt(each, 'type') === type);
  return found === undefined ? NONE : textAt(found, 'address');
}

function info(node: StoredObject, member: string): string {
  const text = textAt(node, 'status', 'nodeInfo', member);
  return text === '' ? UNKNOWN : text;
}
