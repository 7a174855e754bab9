/** Answers that hold only the metadata of objects. */
import type { KubeObject } from '@lockstep/kube/meta.ts';
import type { StoredObject } from '../resources/api-object.ts';
import type { MetaVersion } from './content-negotiation.ts';

/** `meta.k8s.io PartialObjectMetadata`: an object reduced to its metadata. */
export function partialMetadata(object: StoredObject, version: MetaVersion = 'v1'): KubeObject {
  return {
    kind: 'PartialObjectMetadata',
    apiVersion: `meta.k8s.io/${version}`,
    metadata: object.metadata,
  };
}
