/** The built-in kind Pod, with its subresources. */

import { PODS } from '@lockstep/kube/objects/pod.ts';
import { podErrors } from '../../../api-machinery/validation/pod/pod.ts';
import { defaultPod } from '../../../api-machinery/validation/pod/pod-defaults.ts';
import { podStatusUpdateErrors } from '../../../api-machinery/validation/pod/pod-status.ts';
import {
  ephemeralUpdateErrors,
  podUpdateErrors,
} from '../../../api-machinery/validation/pod/pod-update.ts';
import { podWarnings } from '../../../api-machinery/validation/pod/pod-warnings.ts';
import { withTolerations } from '../admission/pod-admission.ts';
import {
  type ApiObject,
  numberAt,
  objectAt,
  textAt,
  typed,
  valueAt,
} from '../resources/api-object.ts';
import type { BuiltInKind } from '../resources/built-in-kind.ts';
import { qosClass } from './pod-quality.ts';
import { POD_TABLE } from './pod-table.ts';

const DEFAULT_GRACE_SECONDS = 30;
const EPHEMERAL = 'ephemeralcontainers';
const ENDED: readonly string[] = ['Succeeded', 'Failed'];

export const POD_KIND: BuiltInKind = {
  resource: PODS,
  shortNames: ['po'],
  categories: ['all'],
  hasStatus: true,
  subresources: [
    { name: 'attach', kind: optionsKind('PodAttachOptions'), verbs: ['create', 'get'] },
    { name: 'binding', kind: { group: '', version: 'v1', kind: 'Binding' }, verbs: ['create'] },
    { name: 'ephemeralcontainers', verbs: ['get', 'patch', 'update'] },
    {
      name: 'eviction',
      kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
      verbs: ['create'],
    },
    { name: 'exec', kind: optionsKind('PodExecOptions'), verbs: ['create', 'get'] },
    { name: 'log', verbs: ['get'] },
    { name: 'portforward', kind: optionsKind('PodPortForwardOptions'), verbs: ['create', 'get'] },
  ],
  fieldLabels: {
    'spec.nodeName': (pod) => textAt(pod, 'spec', 'nodeName'),
    'spec.restartPolicy': (pod) => textAt(pod, 'spec', 'restartPolicy'),
    'spec.schedulerName': (pod) => textAt(pod, 'spec', 'schedulerName'),
    'spec.serviceAccountName': (pod) => textAt(pod, 'spec', 'serviceAccountName'),
    'spec.hostNetwork': (pod) => String(valueAt(pod, 'spec', 'hostNetwork') === true),
    'status.phase': (pod) => textAt(pod, 'status', 'phase'),
    'status.podIP': (pod) => textAt(pod, 'status', 'podIP'),
    'status.nominatedNodeName': (pod) => textAt(pod, 'status', 'nominatedNodeName'),
  },
  table: POD_TABLE,
  strategy: {
    countsGeneration: true,
    countedSubresources: [EPHEMERAL],
    returnsDeleted: true,
    defaults: defaultPod,
    prepareForCreate: (pod) => {
      const complete = defaultPod(pod);
      const status = { phase: 'Pending', qosClass: qosClass(typed(complete)) };
      return { ...complete, status };
    },
    prepareForUpdate: (pod, old, subresource) => {
      if (subresource === 'status') return withOwners(pod, old);
      if (subresource === EPHEMERAL) return defaultPod(withEphemeralContainers(pod, old));
      return defaultPod(subresource === undefined ? withTolerations(pod) : pod);
    },
    warnings: (pod, old) => (old === undefined ? podWarnings(typed(pod)) : []),
    validate: (pod) => podErrors(typed(pod)),
    validateUpdate: (pod, old, subresource) => {
      if (subresource === EPHEMERAL) return ephemeralUpdateErrors(typed(pod), typed(old));
      if (subresource === 'status') return podStatusUpdateErrors(typed(pod), typed(old));
      return subresource === undefined ? podUpdateErrors(typed(pod), typed(old)) : [];
    },
    deletion: {
      graceSeconds: (pod, requested) => {
        const isEnded = ENDED.includes(textAt(pod, 'status', 'phase'));
        if (textAt(pod, 'spec', 'nodeName') === '' || isEnded) return 0;
        const own = valueAt(pod, 'spec', 'terminationGracePeriodSeconds');
        if (requested !== undefined) return requested;
        return own === undefined
          ? DEFAULT_GRACE_SECONDS
          : numberAt(pod, 'spec', 'terminationGracePeriodSeconds');
      },
    },
  },
};

/** The options with which a connection to a Pod is requested. */
function optionsKind(kind: string) {
  return { group: '', version: 'v1', kind };
}

/**
 * Ephemeral containers can only be changed through this subresource, and nothing else can be here.
 */
function withEphemeralContainers(pod: ApiObject, old: ApiObject): ApiObject {
  const { resourceVersion } = pod.metadata;
  const { ephemeralContainers: _, ...spec } = objectAt(old, 'spec');
  const wanted = valueAt(pod, 'spec', 'ephemeralContainers');
  return {
    ...old,
    metadata: resourceVersion === undefined ? old.metadata : { ...old.metadata, resourceVersion },
    spec: wanted === undefined ? spec : { ...spec, ephemeralContainers: wanted },
  };
}

/** A node reports the status of a Pod, but may not change its owners. */
function withOwners(pod: ApiObject, old: ApiObject): ApiObject {
  const { ownerReferences: _, ...metadata } = pod.metadata;
  const { ownerReferences } = old.metadata;
  return {
    ...pod,
    metadata: ownerReferences === undefined ? metadata : { ...metadata, ownerReferences },
    status: objectAt(pod, 'status'),
  };
}
