/**
 * ConfigMaps, Secrets and claims as Pods refer to them: which ones a Pod names, and which were
 * found. The shell reads them; their users decide what follows from their absence.
 */

import type { StringMap } from '@lockstep/kube/meta.ts';
import type { ConfigMap, PersistentVolumeClaim, Secret } from '@lockstep/kube/objects/core.ts';
import type { Container, PodSpec, Volume } from '@lockstep/kube/objects/pod.ts';

export interface ConfigurationSource {
  configMap(name: string): ConfigMap | undefined;
  secret(name: string): Secret | undefined;
  claim(name: string): PersistentVolumeClaim | undefined;
}

/** Names without duplicates, in order of appearance. */
export interface ConfigurationNames {
  readonly configMaps: readonly string[];
  readonly secrets: readonly string[];
  readonly claims: readonly string[];
}

export function namesInEnvironment(container: Container): ConfigurationNames {
  const names = new Names();
  for (const source of container.envFrom ?? []) {
    names.addConfigMap(source.configMapRef?.name);
    names.addSecret(source.secretRef?.name);
  }
  for (const { valueFrom } of container.env ?? []) {
    names.addConfigMap(valueFrom?.configMapKeyRef?.name);
    names.addSecret(valueFrom?.secretKeyRef?.name);
  }
  return names;
}

export function namesInVolumes(spec: PodSpec): ConfigurationNames {
  const names = new Names();
  for (const volume of spec.volumes ?? []) addVolume(names, volume);
  return names;
}

/** Keys and values of a ConfigMap as bytes. */
export function configMapBytes(map: ConfigMap): ReadonlyMap<string, Uint8Array> {
  return new Map([
    ...Object.entries(map.data ?? {}).map(([key, text]) => [key, Buffer.from(text)] as const),
    ...decoded(map.binaryData),
  ]);
}

/** Keys and values of a Secret as bytes. */
export function secretBytes(secret: Secret): ReadonlyMap<string, Uint8Array> {
  return new Map(decoded(secret.data));
}

function decoded(data: StringMap | undefined): readonly (readonly [string, Uint8Array])[] {
  return Object.entries(data ?? {}).map(([key, text]) => [key, Buffer.from(text, 'base64')]);
}

function addVolume(names: Names, volume: Volume): void {
  const { configMap, secret, projected, persistentVolumeClaim } = volume;
  names.addConfigMap(configMap?.name);
  names.addSecret(secret?.secretName);
  names.addClaim(persistentVolumeClaim?.claimName);
  for (const source of projected?.sources ?? []) {
    names.addConfigMap(source.configMap?.name);
    names.addSecret(source.secret?.name);
  }
}

class Names implements ConfigurationNames {
  readonly #configMaps = new Set<string>();
  readonly #secrets = new Set<string>();
  readonly #claims = new Set<string>();

  addConfigMap(name: string | undefined): void {
    if (name !== undefined) this.#configMaps.add(name);
  }

  addSecret(name: string | undefined): void {
    if (name !== undefined) this.#secrets.add(name);
  }

  addClaim(name: string | undefined): void {
    if (name !== undefined) this.#claims.add(name);
  }

  get configMaps(): readonly string[] {
    return [...this.#configMaps];
  }

  get secrets(): readonly string[] {
    return [...this.#secrets];
  }

  get claims(): readonly string[] {
    return [...this.#claims];
  }
}
