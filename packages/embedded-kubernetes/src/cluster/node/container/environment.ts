/**
 * The environment of a container: the node's variables, then `envFrom`, then `env` in order, each
 * value expanded with earlier ones. A reference to a missing object is a value with a kubelet's
 * text, and the container waits as CreateContainerConfigError.
 */
import { namespaceOf } from '@lockstep/kube/meta.ts';
import type { Container, EnvVar } from '@lockstep/kube/objects/pod.ts';
import { type PodFields, podField, resourceField } from '../field-reference.ts';
import {
  type ConfigurationSource,
  configMapBytes,
  secretBytes,
} from '../volume/configuration-source.ts';
import { expand } from './expansion.ts';

export type EnvironmentResult =
  | { readonly variables: ReadonlyMap<string, string>; readonly problem: undefined }
  | { readonly variables: undefined; readonly problem: string };

/** `given` is the environment of every container; the container's own variables replace those. */
export function buildEnvironment(
  container: Container,
  facts: PodFields,
  source: ConfigurationSource,
  given: ReadonlyMap<string, string>,
): EnvironmentResult {
  const variables = new Map(given);
  for (const from of container.envFrom ?? []) {
    const prefix = from.prefix ?? '';
    if (from.configMapRef !== undefined) {
      const { name, optional } = from.configMapRef;
      const map = source.configMap(name);
      if (map === undefined && optional !== true) return missing('configmap', name);
      if (map !== undefined) addAll(variables, prefix, configMapBytes(map));
    }
    if (from.secretRef !== undefined) {
      const { name, optional } = from.secretRef;
      const secret = source.secret(name);
      if (secret === undefined && optional !== true) return missing('secret', name);
      if (secret !== undefined) addAll(variables, prefix, secretBytes(secret));
    }
  }
  for (const variable of container.env ?? []) {
    const value = variableText(container, variable, facts, source, variables);
    if (value.problem !== undefined) return { variables: undefined, problem: value.problem };
    if (value.text !== undefined) variables.set(variable.name, value.text);
  }
  return { variables, problem: undefined };
}

/** Without text: an optional reference to a missing object, which leaves the variable out. */
interface Value {
  readonly text?: string | undefined;
  readonly problem?: string;
}

function variableText(
  container: Container,
  variable: EnvVar,
  facts: PodFields,
  source: ConfigurationSource,
  before: ReadonlyMap<string, string>,
): Value {
  const from = variable.valueFrom;
  if (from === undefined) return { text: expand(variable.value ?? '', before) };
  if (from.fieldRef !== undefined) {
    const { fieldPath } = from.fieldRef;
    const text = podField(facts, fieldPath);
    return text === undefined ? { problem: `unsupported fieldPath: ${fieldPath}` } : { text };
  }
  if (from.configMapKeyRef !== undefined) {
    const { name } = from.configMapKeyRef;
    const map = source.configMap(name);
    return keyValue('configmap', from.configMapKeyRef, map && configMapBytes(map), facts);
  }
  if (from.secretKeyRef !== undefined) {
    const { name } = from.secretKeyRef;
    const secret = source.secret(name);
    return keyValue('secret', from.secretKeyRef, secret && secretBytes(secret), facts);
  }
  if (from.resourceFieldRef !== undefined) {
    const text = resourceField(facts, from.resourceFieldRef, container);
    const { resource } = from.resourceFieldRef;
    return text === undefined ? { problem: `container has no resource ${resource}` } : { text };
  }
  return { problem: `variable ${variable.name}: this node knows no such source of a value` };
}

function keyValue(
  kind: 'configmap' | 'secret',
  reference: { readonly name: string; readonly key: string; readonly optional?: boolean },
  values: ReadonlyMap<string, Uint8Array> | undefined,
  facts: PodFields,
): Value {
  const bytes = values?.get(reference.key);
  if (bytes !== undefined) return { text: textOf(bytes) };
  if (reference.optional === true) return {};
  if (values === undefined) return { problem: `${kind} "${reference.name}" not found` };
  const where = `${namespaceOf(facts.pod.metadata)}/${reference.name}`;
  const what = kind === 'configmap' ? 'ConfigMap' : 'Secret';
  return { problem: `couldn't find key ${reference.key} in ${what} ${where}` };
}

function addAll(
  variables: Map<string, string>,
  prefix: string,
  values: ReadonlyMap<string, Uint8Array>,
): void {
  for (const [key, bytes] of values) variables.set(prefix + key, textOf(bytes));
}

function missing(kind: 'configmap' | 'secret', name: string): EnvironmentResult {
  return { variables: undefined, problem: `${kind} "${name}" not found` };
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
