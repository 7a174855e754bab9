import { notAcceptable } from '@lockstep/kube/status-errors.ts';

/**
 * The form that a client asks for in its Accept header: whole objects, metadata only, or a table.
 * The first acceptable clause wins, because `kubectl` and client libraries list alternatives.
 */
export type Representation =
  | { readonly form: 'Object'; readonly encoding: Encoding }
  | {
      readonly form: 'Metadata';
      readonly encoding: Encoding;
      readonly version: MetaVersion;
      /** The kind that was asked for: a single object or a list. */
      readonly as: 'PartialObjectMetadata' | 'PartialObjectMetadataList';
    }
  | {
      readonly form: 'Table';
      readonly encoding: Encoding;
      readonly version: MetaVersion;
      readonly includeObject: IncludeObject;
    };

export type Encoding = 'json' | 'yaml';
export type MetaVersion = 'v1' | 'v1beta1';
/** Query parameter `includeObject` of tables: what each row carries. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

export interface MediaType {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** The media types of answers. */
export const OFFERED_TYPES: readonly string[] = ['application/json', 'application/yaml'];

/** The number of clauses that are read; clients send fewer than a dozen. */
const MAX_ACCEPT_CLAUSES = 32;

export function negotiate(
  accept: string | undefined,
  includeObject: () => IncludeObject,
): Representation {
  for (const media of acceptedTypes(accept)) {
    const encoding = encodingOf(media.type);
    if (encoding === undefined) continue;
    const as = media.parameters.get('as');
    if (as === undefined) return { form: 'Object', encoding };
    const version = media.parameters.get('v') === 'v1beta1' ? 'v1beta1' : 'v1';
    if (media.parameters.get('g') !== 'meta.k8s.io') continue;
    if (as === 'Table') {
      return { form: 'Table', encoding, version, includeObject: includeObject() };
    }
    if (as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList') {
      return { form: 'Metadata', encoding, version, as };
    }
  }
  throw notAcceptable(OFFERED_TYPES);
}

/** The media types of an Accept header, best first; every type if there is no header. */
export function acceptedTypes(accept: string | undefined): readonly MediaType[] {
  if (accept === undefined || accept.trim() === '') return [{ type: '*/*', parameters: new Map() }];
  return accept
    .split(',', MAX_ACCEPT_CLAUSES)
    .map(parseMediaType)
    .map((media, place) => ({ media, place, quality: qualityOf(media) }))
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality || a.place - b.place)
    .map(({ media }) => media);
}

/** Parses `type/subtype; name=value; ...`, in lower case except for the values. */
export function parseMediaType(text: string): MediaType {
  const [type = '', ...rest] = text.split(';');
  const parameters = new Map<string, string>();
  for (const part of rest) {
    const [name = '', value = ''] = part.split('=', 2);
    parameters.set(name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, '$1'));
  }
  return { type: type.trim().toLowerCase(), parameters };
}

function qualityOf(media: MediaType): number {
  const quality = Number(media.parameters.get('q') ?? '1');
  return Number.isFinite(quality) ? quality : 0;
}

function encodingOf(type: string): Encoding | undefined {
  switch (type) {
    case 'application/json':
    case 'application/*':
    case '*/*':
      return 'json';
    case 'application/yaml':
      return 'yaml';
    default:
      return undefined;
  }
}
