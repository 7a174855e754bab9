/**
 * Parses the path of a request. Kubernetes' paths are regular, so no router is needed:
 * `/api/v1/...` for the core group, `/apis/GROUP/VERSION/...` for the others, an optional
 * `namespaces/NAME`, then resource, name and subresource.
 */
export interface ResourcePath {
  readonly group: string;
  readonly version: string;
  /** Set if the path contains `namespaces/NAME`. */
  readonly namespace: string | undefined;
  readonly plural: string;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  /** The deprecated `/watch/` prefix. */
  readonly watch: boolean;
}

/** Below a namespace these name subresources of the Namespace, not resources in it. */
const NAMESPACE_SUBRESOURCES: readonly string[] = ['status', 'finalize'];

/** The decoded segments of a path, without empty ones; undefined if an escape is malformed. */
export function pathSegments(pathname: string): readonly string[] | undefined {
  try {
    return pathname
      .split('/')
      .filter((segment) => segment !== '')
      .map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

/** The resource that the segments address; undefined if they address none. */
export function parseResourcePath(segments: readonly string[]): ResourcePath | undefined {
  const core = segments[0] === 'api';
  if (!core && segments[0] !== 'apis') return undefined;
  const group = core ? '' : (segments[1] ?? '');
  const version = segments[core ? 1 : 2] ?? '';
  let rest = segments.slice(core ? 2 : 3);
  const watch = rest[0] === 'watch';
  if (watch) rest = rest.slice(1);
  let namespace: string | undefined;
  if (rest[0] === 'namespaces' && rest.length > 2 && !isNamespacePart(rest)) {
    namespace = rest[1];
    rest = rest.slice(2);
  }
  const [plural, name, subresource, ...more] = rest;
  if (plural === undefined || more.length > 0) return undefined;
  return { group, version, namespace, plural, name, subresource, watch };
}

function isNamespacePart(rest: readonly string[]): boolean {
  return rest.length === 3 && NAMESPACE_SUBRESOURCES.includes(rest[2] ?? '');
}
