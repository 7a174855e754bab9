import type { Resource } from '@lockstep/kube/resource.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';

/** A resource as OpenAPI documents describe it. */
export interface PublishedResource extends Resource {
  readonly listKind: string;
  /** The schema of the whole object, `metadata` included. */
  readonly schema: JsonSchema;
  /** As discovery lists them: `get`, `list`, `create`, `update`, `patch`, `delete` and so on. */
  readonly verbs: readonly string[];
  readonly subresources: readonly {
    readonly name: string;
    readonly verbs: readonly string[];
    /** What is exchanged, where it is not the resource's own kind. */
    readonly kind?: { readonly group: string; readonly version: string; readonly kind: string };
  }[];
  /** Custom resources take no strategic merge patch. */
  readonly custom: boolean;
}
