/**
 * Warnings for volumes that are valid but probably wrong: removed kinds, and files that hide each
 * other.
 */
import type { Volume, VolumeProjection } from '@lockstep/kube/objects/pod.ts';
import { quote } from '@lockstep/kube/quote.ts';

export function volumesWarnings(volumes: readonly Volume[], path: string): readonly string[] {
  return [
    ...volumes.flatMap((volume, index) => goneKindWarnings(volume, `${path}[${index}]`)),
    ...volumes.flatMap(overlapWarnings),
  ];
}

/** The member of a volume, its name in the warning, and what became of it. */
const GONE_KINDS: readonly (readonly [member: string, shown: string, fate: string])[] = [
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

function goneKindWarnings(volume: Volume, path: string): readonly string[] {
  return GONE_KINDS.filter(([member]) => Object.hasOwn(volume, member)).map(
    ([, shown, fate]) => `${path}.${shown}: ${fate}`,
  );
}

interface FilePlace {
  readonly path: string;
  /** In a projected volume, the source of the file. */
  readonly source?: string;
}

function overlapWarnings(volume: Volume): readonly string[] {
  const { configMap, secret, downwardAPI, projected, name } = volume;
  const title = (kind: string): string => `volume ${quote(name)} (${kind})`;
  return [
    ...overlaps(configMap?.items, title(`ConfigMap ${quote(configMap?.name ?? '')}`)),
    ...overlaps(secret?.items, title(`Secret ${quote(secret?.secretName ?? '')}`)),
    ...overlaps(downwardAPI?.items, title('DownwardAPI')),
    ...(projected?.sources ?? [])
      .filter((source) => Object.keys(source).length === 0)
      .map(() => `${title('Projected')} has no sources provided`),
    ...overlaps(projected?.sources?.flatMap(projectedPlaces), title('Projected')),
  ];
}

/** Finds overlaps: one path holds one file, and nothing can be below a file. */
function overlaps(places: readonly FilePlace[] = [], title = ''): readonly string[] {
  const trimmed = places
    .map((place) => ({ ...place, path: place.path.replace(/\/+$/, '') }))
    .filter(({ path }) => path !== '');
  return trimmed.flatMap((place, index) =>
    trimmed
      .slice(0, index)
      .filter((other) => isWithin(place, other) || isWithin(other, place))
      .map((other) => `${title}: overlapping paths: ${placeText(place)} with ${placeText(other)}`),
  );
}

function isWithin({ path }: FilePlace, other: FilePlace): boolean {
  return `${path}/`.startsWith(`${other.path}/`);
}

function placeText({ path, source }: FilePlace): string {
  return source === undefined ? quote(path) : `${quote(path)} (${source})`;
}

function projectedPlaces(projection: VolumeProjection): readonly FilePlace[] {
  const { configMap, secret, downwardAPI, serviceAccountToken } = projection;
  const placesOf = (items: readonly FilePlace[] | undefined, source: string) =>
    (items ?? []).map(({ path }) => ({ path, source }));
  return [
    ...placesOf(configMap?.items, `ConfigMap ${quote(configMap?.name ?? '')}`),
    ...placesOf(secret?.items, `Secret ${quote(secret?.name ?? '')}`),
    ...placesOf(downwardAPI?.items, 'DownwardAPI'),
    ...(serviceAccountToken === undefined
      ? []
      : [{ path: serviceAccountToken.path, source: 'ServiceAccountToken' }]),
  ];
}
