/**
 * Fields of a Pod that this node ignores: it runs containers as processes of its machine, without
 * images and limits of their own. The fields are kept as they are, and the Pod's Event names them
 * once. Fields that match how the node works anyway are not listed: a Pod that wants the network,
 * the processes or the IPC of its host has them.
 */
import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import type { PodSpec } from '@lockstep/kube/objects/pod.ts';

/** Members of the Pod's spec, of each container, and of their parts; a dot leads into an object. */
const OF_POD = [
  'securityContext',
  'imagePullSecrets',
  'dnsConfig',
  'runtimeClassName',
  'overhead',
  'resourceClaims',
  'resources.limits',
  'resources.claims',
] as const;

/** Only an environment variable has it. */
const OF_POD_WITHOUT_NAMESPACES = ['setHostnameAsFQDN', 'hostnameOverride'] as const;

/**
 * Values of a member that ask for something ignored; its other values ask for what is done anyway.
 */
const VALUES_OF_POD = [
  ['hostUsers', false],
  ['dnsPolicy', 'None'],
  ['os.name', 'windows'],
] as const;

const OF_CONTAINER = [
  'resources.limits',
  'resources.claims',
  'resizePolicy',
  'volumeDevices',
  'lifecycle.stopSignal',
  'tty',
] as const;
const OF_MOUNT = ['recursiveReadOnly', 'mountPropagation'] as const;
/** A link does not prevent writes. */
const OF_LINKED_MOUNT = ['readOnly', ...OF_MOUNT] as const;
const OF_PORT = ['hostPort', 'hostIP'] as const;
const OF_VOLUME = [
  'emptyDir.medium',
  'emptyDir.sizeLimit',
  'persistentVolumeClaim.readOnly',
] as const;

/** The longest text that an Event can have is 1024 bytes; some is for the words around. */
const MAX_LISTED = 20;

/** The text of the Event; undefined if the node ignores nothing. */
export function ignoredFieldsNote(spec: PodSpec, hasNamespaces: boolean): string | undefined {
  const fields = ignoredFields(spec, hasNamespaces);
  if (fields.length === 0) return undefined;
  const listed = fields.slice(0, MAX_LISTED).join(', ');
  const more = fields.length > MAX_LISTED ? ` and ${fields.length - MAX_LISTED} more` : '';
  return `this node runs containers as processes of its machine, so these have no effect: ${listed}${more}`;
}

/** Paths of fields, with the names of containers, mounts, ports and volumes as keys. */
export function ignoredFields(spec: PodSpec, hasNamespaces: boolean): readonly string[] {
  const ofMount = hasNamespaces ? OF_MOUNT : OF_LINKED_MOUNT;
  const pod: JsonObject = { ...spec };
  const neverWritten = volumesOfNode(pod);
  return [
    ...setFields(pod, OF_POD, ''),
    ...(hasNamespaces ? [] : setFields(pod, OF_POD_WITHOUT_NAMESPACES, '')),
    ...VALUES_OF_POD.filter(([name, value]) => memberAt(pod, name) === value).map(([name]) => name),
    ...itemsOf(pod, 'volumes', 'name').flatMap(([volume, path]) =>
      setFields(volume, OF_VOLUME, `${path}.`),
    ),
    ...['initContainers', 'containers'].flatMap((list) =>
      itemsOf(pod, list, 'name').flatMap(([container, path]) => [
        ...(asksForSecurity(container) ? [`${path}.securityContext`] : []),
        ...setFields(container, OF_CONTAINER, `${path}.`),
        ...itemsOf(container, 'volumeMounts', 'mountPath').flatMap(([mount, at]) =>
          setFields(mount, neverWritten.has(mount['name']) ? OF_MOUNT : ofMount, `${path}.${at}.`),
        ),
        ...(pod['hostNetwork'] === true
          ? []
          : itemsOf(container, 'ports', 'containerPort')
        ).flatMap(([port, at]) => setFields(port, OF_PORT, `${path}.${at}.`)),
      ]),
    ),
  ];
}

/** Names of volumes that the node fills, which Kubernetes always mounts read-only. */
function volumesOfNode(pod: JsonObject): ReadonlySet<unknown> {
  const filled = itemsOf(pod, 'volumes', 'name').filter(([volume]) =>
    ['projected', 'secret', 'configMap', 'downwardAPI'].some((kind) => kind in volume),
  );
  return new Set(filled.map(([volume]) => volume['name']));
}

/** Whether its security context asks for more than fewer rights, which programs do not rely on. */
function asksForSecurity({ securityContext }: JsonObject): boolean {
  if (!isJsonObject(securityContext)) return false;
  const {
    allowPrivilegeEscalation,
    readOnlyRootFilesystem: _,
    capabilities,
    ...others
  } = securityContext;
  const hasAdded = isSet(memberAt({ capabilities }, 'capabilities.add'));
  return allowPrivilegeEscalation === true || hasAdded || isSet(others);
}

/** The objects of a list, each with its path: the list's name and the item's key. */
function itemsOf(
  object: JsonObject,
  list: string,
  key: string,
): readonly (readonly [item: JsonObject, path: string])[] {
  const items: unknown = object[list];
  if (!Array.isArray(items)) return [];
  return items.filter(isJsonObject).map((item) => [item, `${list}[${nameOf(item[key])}]`] as const);
}

function nameOf(key: unknown): string {
  return typeof key === 'string' || typeof key === 'number' ? `${key}` : '';
}

function setFields(
  object: JsonObject,
  names: readonly string[],
  prefix: string,
): readonly string[] {
  return names.filter((name) => isSet(memberAt(object, name))).map((name) => prefix + name);
}

function memberAt(object: JsonObject, name: string): unknown {
  return name
    .split('.')
    .reduce<unknown>((value, part) => (isJsonObject(value) ? value[part] : undefined), object);
}

/** Values by which some fields ask for nothing. */
const NOTHING: readonly unknown[] = ['None', 'Disabled'];

/** Whether it asks for anything: an empty object or a zero comes from defaults. */
function isSet(value: unknown): boolean {
  if (NOTHING.includes(value)) return false;
  if (typeof value !== 'object' || value === null) return Boolean(value);
  return Object.keys(value).length > 0;
}
