/**
 * A request of the script, and what many of them share: paths, media types, the simplest objects.
 */
export interface ScriptedRequest {
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `{continue}` and `{revision}` stand for the values of the last list that had them. */
  readonly path: string;
  readonly body?: unknown;
  /** Sent as they are instead of `body` as JSON. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** For a watch: the answer ends after this many events. */
  readonly events?: number;
  /** Whether the managers of fields are part of the comparison. */
  readonly showsManagers?: boolean;
}

export const NAMESPACE = '/api/v1/namespaces/conformance';
export const PODS = `${NAMESPACE}/pods`;
export const CUSTOM_GROUPS: readonly string[] = ['conformance.example.com', 'jobset.x-k8s.io'];

export const MERGE = { 'content-type': 'application/merge-patch+json' };
export const JSON_PATCH = { 'content-type': 'application/json-patch+json' };
export const STRATEGIC = { 'content-type': 'application/strategic-merge-patch+json' };
export const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
export const METADATA = { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' };
export const METADATA_LIST = {
  accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
};
