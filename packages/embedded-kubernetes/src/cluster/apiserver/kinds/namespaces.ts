import { dns1123LabelErrors } from '@lockstep/kube/name-rules.ts';
import { NAMESPACES } from '@lockstep/kube/objects/core.ts';
import { defaultNamespace } from '../../../api-machinery/validation/core-defaults.ts';
import { listAt, objectAt, textAt } from '../resources/api-object.ts';
import type { BuiltInKind } from '../resources/built-in-kind.ts';
import { ALL_VERBS } from '../resources/served-resource.ts';
import { ageOf } from '../resources/table-layout.ts';

/** Held by the namespace controller until nothing is left inside. */
const CONTENT_FINALIZER = 'kubernetes';
/** Without these the cluster itself does not work. */
const PERMANENT: readonly string[] = ['default', 'kube-system', 'kube-public'];

export const NAMESPACE_KIND: BuiltInKind = {
  resource: NAMESPACES,
  shortNames: ['ns'],
  verbs: ALL_VERBS.filter((verb) => verb !== 'deletecollection'),
  hasStatus: true,
  subresources: [{ name: 'finalize', verbs: ['update'] }],
  fieldLabels: { 'status.phase': (namespace) => textAt(namespace, 'status', 'phase') },
  table: {
    columns: [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'Status', type: 'string', description: 'The status of the namespace' },
      { name: 'Age', type: 'string' },
    ],
    cells: (namespace, nowMs) => [
      namespace.metadata.name,
      textAt(namespace, 'status', 'phase'),
      ageOf(namespace, nowMs),
    ],
  },
  strategy: {
    nameRule: dns1123LabelErrors,
    defaults: defaultNamespace,
    prepareForCreate: (namespace) => {
      const finalizers = listAt(namespace, 'spec', 'finalizers');
      const all = finalizers.includes(CONTENT_FINALIZER)
        ? finalizers
        : [...finalizers, CONTENT_FINALIZER];
      return defaultNamespace({
        ...namespace,
        spec: { finalizers: all },
        status: { phase: 'Active' },
      });
    },
    prepareForUpdate: (namespace, old, subresource) =>
      subresource === 'finalize'
        ? { ...old, metadata: namespace.metadata, spec: namespace['spec'] ?? {} }
        : defaultNamespace({ ...namespace, spec: objectAt(old, 'spec') }),
    deletion: {
      isHeld: (namespace) => listAt(namespace, 'spec', 'finalizers').length > 0,
      begin: (namespace) => ({
        ...namespace,
        status: { ...objectAt(namespace, 'status'), phase: 'Terminating' },
      }),
      forbidden: ({ metadata }) =>
        PERMANENT.includes(metadata.name) ? 'this namespace may not be deleted' : undefined,
    },
  },
};
