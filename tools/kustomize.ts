/**
 * Kustomize files: `deploy/` is a base, whose one resource is `lockstep.yaml`, and each option of an
 * installation that needs no names is a component.
 */

import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import type { KubeObject } from '@lockstep/kube/meta.ts';
import { stringify } from 'yaml';
import { manifest, manifestYaml } from '../src/deploy/manifest.ts';
import type { InstallationSettings, Installed } from '../src/deploy/settings.ts';
import { isPlain } from './helm/template-tree.ts';

/** Components by name, each with the setting that it stands for. */
export const COMPONENTS: Readonly<Record<string, Partial<InstallationSettings>>> = {
  'no-webhooks': { webhooks: false },
  monitoring: { monitoring: true },
  'network-policy': { networkPolicy: true },
};

const RESOURCES_FILE = 'resources.yaml';

/** By path in `deploy/`. */
export function kustomizeFiles(settings: InstallationSettings): ReadonlyMap<string, string> {
  const base = { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization' };
  const components = Object.entries(COMPONENTS).flatMap(([name, option]) => {
    const files = component(manifest(settings), manifest({ ...settings, ...option }));
    return [...files].map(([file, text]) => [`kustomize/${name}/${file}`, text] as const);
  });
  return new Map([
    ['kustomization.yaml', stringify({ ...base, resources: ['lockstep.yaml'] })],
    ...components,
  ]);
}

interface Operation {
  readonly op: 'add' | 'remove' | 'replace';
  /** A JSON pointer. */
  readonly path: string;
  readonly value?: unknown;
}

/** What makes the second installation of the first. */
function component(
  from: readonly Installed[],
  to: readonly Installed[],
): ReadonlyMap<string, string> {
  const added = to.filter((one) => same(from, one) === undefined);
  const patches = from.flatMap((one) => {
    const wanted = same(to, one);
    if (wanted === undefined) return [{ patch: removal(one.object) }];
    const operations = difference(one.object, wanted.object, '');
    if (operations.length === 0) return [];
    const { namespace, name } = one.object.metadata;
    const target = { kind: one.of.kind, ...(namespace === undefined ? {} : { namespace }), name };
    return [{ target, patch: stringify(operations, { lineWidth: 0 }) }];
  });
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1alpha1',
    kind: 'Component',
    ...(added.length === 0 ? {} : { resources: [RESOURCES_FILE] }),
    ...(patches.length === 0 ? {} : { patches }),
  };
  const files = new Map([['kustomization.yaml', stringify(kustomization, { lineWidth: 0 })]]);
  return added.length === 0 ? files : files.set(RESOURCES_FILE, manifestYaml(added));
}

function same(all: readonly Installed[], { object }: Installed): Installed | undefined {
  const { kind, metadata } = object;
  return all.find(
    (one) =>
      one.object.kind === kind &&
      one.object.metadata.namespace === metadata.namespace &&
      one.object.metadata.name === metadata.name,
  );
}

function removal({ apiVersion, kind, metadata: { namespace, name } }: KubeObject): string {
  const metadata = { ...(namespace === undefined ? {} : { namespace }), name };
  return stringify({ apiVersion, kind, metadata, $patch: 'delete' });
}

/** Replaces lists as a whole. */
function difference(from: unknown, to: unknown, path: string): readonly Operation[] {
  if (deepEqual(from, to)) return [];
  if (!isPlain(from) || !isPlain(to)) {
    if (Array.isArray(from) && Array.isArray(to) && from.length === to.length)
      return from.flatMap((item, index) => difference(item, to[index], `${path}/${index}`));
    return [{ op: 'replace', path, value: to }];
  }
  const keys = new Set([...Object.keys(from), ...Object.keys(to)]);
  return [...keys].flatMap((key): readonly Operation[] => {
    const at = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (!Object.hasOwn(to, key)) return [{ op: 'remove', path: at }];
    if (!Object.hasOwn(from, key)) return [{ op: 'add', path: at, value: to[key] }];
    return difference(from[key], to[key], at);
  });
}
