import { NAMESPACES } from '../../../kube/core.ts';
import { dns1123LabelErrors } from '../../../kube/names.ts';
import { NAMESPACE } from '../../../kube/schema/core-schema.ts';
import { type ApiObject, listAt, objectAt, textAt } from '../api-object.ts';
import type { BuiltInKind } from '../built-in-kind.ts';
import { ageOf } from '../table.ts';

/** The label by which selectors can name a namespace. */
const NAME_LABEL = 'kubernetes.io/metadata.name';
/** Held by the namespace controller until nothing is left inside. */
const CONTENT_FINALIZER = 'kubernetes';
/** Without these the cluster itself does not work. */
const PERMANENT: readonly string[] = ['default', 'kube-system', 'kube-public'];

export const NAMESPACE_KIND: BuiltInKind = {
  resource: NAMESPACES,
  schema: NAMESPACE,
  shortNames: ['ns'],
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
    prepareForCreate: (namespace) => {
      const finalizers = listAt(namespace, 'spec', 'finalizers');
      const all = finalizers.includes(CONTENT_FINALIZER)
        ? finalizers
        : [...finalizers, CONTENT_FINALIZER];
      return named({ ...namespace, spec: { finalizers: all }, status: { phase: 'Active' } });
    },
    prepareForUpdate: (namespace, old, subresource) =>
      subresource === 'finalize'
        ? { ...old, metadata: namespace.metadata, spec: namespace['spec'] ?? {} }
        : named({ ...namespace, spec: objectAt(old, 'spec') }),
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

function named(namespace: ApiObject): ApiObject {
  const labels = { ...namespace.metadata.labels, [NAME_LABEL]: namespace.metadata.name ?? '' };
  return { ...namespace, metadata: { ...namespace.metadata, labels } };
}
