/**
 * The `paths` of an OpenAPI v3 document. Clients read from them which kind a path is about, which
 * patches it takes, and that the server itself validates fields (`fieldValidation`); `kubectl` does
 * so before every `apply` and `create`.
 */
import type { JsonObject } from '@lockstep/kube/json/json-value.ts';
import { resourcePath } from '@lockstep/kube/resource.ts';
import { componentName, reference } from './components.ts';
import type { PublishedResource } from './published-resource.ts';

export function pathsOf(
  resources: readonly PublishedResource[],
): Readonly<Record<string, JsonObject>> {
  return Object.fromEntries(resources.flatMap(resourcePaths));
}

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** Verb of discovery, HTTP method, and what OpenAPI calls the action. */
const COLLECTION_ACTIONS = [
  ['list', 'get', 'list'],
  ['create', 'post', 'post'],
  ['deletecollection', 'delete', 'deletecollection'],
] as const;
const OBJECT_ACTIONS = [
  ['get', 'get', 'get'],
  ['update', 'put', 'put'],
  ['patch', 'patch', 'patch'],
  ['delete', 'delete', 'delete'],
] as const;
const SUBRESOURCE_ACTIONS = [...OBJECT_ACTIONS, ['create', 'post', 'post']] as const;

function resourcePaths(of: PublishedResource): readonly (readonly [string, JsonObject])[] {
  const namespace = of.namespaced ? { namespace: '{namespace}' } : {};
  const object = { ...namespace, name: '{name}' };
  const everywhere = of.namespaced
    ? [pathItem(of, {}, of.verbs, [['list', 'get', 'list']], 'ForAllNamespaces')]
    : [];
  return [
    ...everywhere,
    pathItem(of, namespace, of.verbs, COLLECTION_ACTIONS),
    pathItem(of, object, of.verbs, OBJECT_ACTIONS),
    ...of.subresources.map((subresource) =>
      pathItem(
        of,
        { ...object, subresource: subresource.name },
        subresource.verbs,
        SUBRESOURCE_ACTIONS,
        capitalized(subresource.name),
        subresource.kind,
      ),
    ),
  ].filter(([, item]) => Object.keys(item).some((member) => member !== 'parameters'));
}

type GroupVersionKind = Pick<PublishedResource, 'group' | 'version' | 'kind'>;

function pathItem(
  of: PublishedResource,
  at: { readonly namespace?: string; readonly name?: string; readonly subresource?: string },
  verbs: readonly string[],
  actions: readonly (readonly [string, Method, string])[],
  suffix = '',
  kind: GroupVersionKind = of,
): readonly [string, JsonObject] {
  const operations = actions
    .filter(([verb]) => verbs.includes(verb))
    .map(([, method, action]) => {
      const named = `${action}${operationName(of, suffix)}`;
      return [method, { ...operation(of, action, kind), operationId: named }] as const;
    });
  const parameters = (['namespace', 'name'] as const)
    .filter((parameter) => at[parameter] !== undefined)
    .map(pathParameter);
  // Braces of templates stay as they are.
  const path = decodeURIComponent(resourcePath(of, at));
  return [path, { ...Object.fromEntries(operations), parameters }];
}

function operation(of: PublishedResource, action: string, kind: GroupVersionKind): JsonObject {
  const name = componentName(of);
  const isOwn = kind.kind === of.kind;
  const schema = isOwn ? reference(action === 'list' ? `${name}List` : name) : { type: 'object' };
  const { group, version } = kind;
  return {
    tags: [`${of.group === '' ? 'core' : of.group.replaceAll('.', '_')}_${of.version}`],
    parameters: (QUERY_PARAMETERS.get(action) ?? []).map(queryParameter),
    ...requestBody(action, schema, of.custom),
    responses: {
      '200': { description: 'OK', content: { 'application/json': { schema } } },
      '401': { description: 'Unauthorized' },
    },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { group, version, kind: kind.kind },
  };
}

function requestBody(action: string, schema: JsonObject, custom: boolean): JsonObject {
  if (action === 'post' || action === 'put') {
    return { requestBody: { content: { '*/*': { schema } }, required: true } };
  }
  if (action !== 'patch') return {};
  const types = [
    'application/json-patch+json',
    'application/merge-patch+json',
    ...(custom ? [] : ['application/strategic-merge-patch+json']),
    'application/apply-patch+yaml',
  ];
  const content = Object.fromEntries(types.map((type) => [type, { schema: { type: 'object' } }]));
  return { requestBody: { content, required: true } };
}

const WRITE_PARAMETERS = ['dryRun', 'fieldManager', 'fieldValidation'] as const;
const DELETE_PARAMETERS = ['dryRun', 'gracePeriodSeconds', 'propagationPolicy'] as const;
const LIST_PARAMETERS = [
  'allowWatchBookmarks',
  'continue',
  'fieldSelector',
  'labelSelector',
  'limit',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'timeoutSeconds',
  'watch',
] as const;

const QUERY_PARAMETERS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>(
  [
    ['post', WRITE_PARAMETERS],
    ['put', WRITE_PARAMETERS],
    ['patch', WRITE_PARAMETERS],
    ['delete', DELETE_PARAMETERS],
    ['deletecollection', [...DELETE_PARAMETERS, ...LIST_PARAMETERS]],
    ['list', LIST_PARAMETERS],
  ],
);

const INTEGER_PARAMETERS: readonly string[] = ['gracePeriodSeconds', 'limit', 'timeoutSeconds'];
const BOOLEAN_PARAMETERS: readonly string[] = ['allowWatchBookmarks', 'sendInitialEvents', 'watch'];

function queryParameter(name: string): JsonObject {
  const type = INTEGER_PARAMETERS.includes(name)
    ? 'integer'
    : BOOLEAN_PARAMETERS.includes(name)
      ? 'boolean'
      : 'string';
  return { name, in: 'query', schema: { type, uniqueItems: true } };
}

function pathParameter(name: string): JsonObject {
  return { name, in: 'path', required: true, schema: { type: 'string', uniqueItems: true } };
}

/** Unique in the document, such as `BatchV1NamespacedJobStatus`. */
function operationName(of: PublishedResource, suffix: string): string {
  const group = of.group === '' ? 'core' : (of.group.split('.')[0] ?? '');
  const scope = of.namespaced && suffix !== 'ForAllNamespaces' ? 'Namespaced' : '';
  return `${capitalized(group)}${capitalized(of.version)}${scope}${of.kind}${suffix}`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
