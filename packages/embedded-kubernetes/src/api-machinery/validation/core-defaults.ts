/** Defaults of the small kinds of the core group. */
import { isJsonObject, type JsonObject } from '@lockstep/kube/json/json-value.ts';
import { withDefaults, withMember, withoutMember } from './members.ts';
import { canonicalResources } from './pod/resource-amounts.ts';

/** Adds the label by which a namespace can be selected by name. */
export function defaultNamespace<T extends JsonObject>(namespace: T): T {
  const { metadata } = namespace;
  const name = isJsonObject(metadata) ? metadata['name'] : undefined;
  const labelled =
    typeof name !== 'string' || name === ''
      ? namespace
      : withMember(namespace, 'metadata', (meta) => ({
          ...meta,
          labels: {
            ...(isJsonObject(meta['labels']) ? meta['labels'] : {}),
            'kubernetes.io/metadata.name': name,
          },
        }));
  return withDefaults(labelled, { spec: {}, status: { phase: 'Active' } });
}

/** Moves `stringData`, which is write-only, into `data`, where its entries win. */
export function defaultSecret<T extends JsonObject>(secret: T): T {
  const { stringData, data } = secret;
  const typed = withDefaults(secret, { type: 'Opaque' });
  if (!isJsonObject(stringData)) return typed;
  const encoded = Object.entries(stringData).map(([key, value]) => [
    key,
    typeof value === 'string' ? Buffer.from(value).toString('base64') : value,
  ]);
  const merged = { ...(isJsonObject(data) ? data : {}), ...Object.fromEntries(encoded) };
  return withoutMember({ ...typed, data: merged }, 'stringData');
}

export function defaultPersistentVolumeClaim<T extends JsonObject>(claim: T): T {
  const filled = withMember(claim, 'spec', (spec) =>
    withMember(withDefaults(spec, { volumeMode: 'Filesystem' }), 'resources', canonicalResources),
  );
  return withDefaults(filled, { status: { phase: 'Pending' } });
}
