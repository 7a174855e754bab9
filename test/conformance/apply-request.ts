/**
 * Shared parts of the scripts of server-side apply: who applies what, and who changes it otherwise.
 */
import type { ScriptedRequest } from './scripted-request.ts';

export const APPLY = { 'content-type': 'application/apply-patch+yaml' };
/** A controller, identified by its User-Agent. */
export const AGENT = { 'user-agent': 'controller/v1.0 (linux)' };

/** After it the object has no managers until it is applied again. */
export const RESET = [{ op: 'replace', path: '/metadata/managedFields', value: [{}] }];

export function applied(
  name: string,
  path: string,
  body: unknown,
  { by = 'alice', query = '', headers = {} }: AppliedHow = {},
): ScriptedRequest {
  return {
    name,
    method: 'PATCH',
    path: `${path}?fieldManager=${by}${query}`,
    headers: { ...APPLY, ...headers },
    body,
    showsManagers: true,
  };
}

interface AppliedHow {
  readonly by?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request other than apply, by another manager. */
export function changed(
  name: string,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>>,
): ScriptedRequest {
  return {
    name,
    method: 'PATCH',
    path,
    headers: { ...headers, ...AGENT },
    body,
    showsManagers: true,
  };
}

/** An object of the given kind. */
export function of(
  apiVersion: string,
  kind: string,
  name: string,
  more: object = {},
  metadata = {},
) {
  return { apiVersion, kind, metadata: { name, ...metadata }, ...more };
}
