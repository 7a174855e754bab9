/** Reads a scenario as a violation printed it. */
import { defined } from '@lockstep/kube/json/defined.ts';
import { parsedJson } from '@lockstep/kube/json/parsed-json.ts';
import { expectAct } from './act-fields.ts';
import type { ReplicatedJobShape, Scenario, TimedAct } from './scenario.ts';

/** Throws an error that names the file and the field if the text is no scenario. */
export function parseScenario(text: string, file: string): Scenario {
  const { mode, processes, hasWebhooks, hasStandbys, tokens, ...others } = parsedObject(text, file);
  const { replaceAfter, hasPreflight, channel, ...rest } = others;
  const { seed, jobs, nodes, operators, maxRestarts, isInOrder, acts } = rest;
  const refuse = (field: string, expected: string): never => {
    throw new Error(`${file}: ${field}: expected ${expected}`);
  };
  if (typeof isInOrder !== 'boolean') refuse('isInOrder', 'true or false');
  if (mode !== undefined && mode !== 'Sidecar') refuse('mode', 'Sidecar, or nothing');
  if (channel !== undefined && channel !== 'API') refuse('channel', 'API, or nothing');
  for (const [field, count] of Object.entries({ processes, replaceAfter })) {
    if (count === undefined || isCount(count, 1)) continue;
    refuse(field, 'a whole number of at least 1, or nothing');
  }
  if (tokens !== undefined && tokens !== 'Keys' && tokens !== 'Reviews') {
    refuse('tokens', 'Keys, Reviews, or nothing');
  }
  for (const [field, flag] of Object.entries({ hasWebhooks, hasStandbys, hasPreflight })) {
    if (flag !== undefined && flag !== true) refuse(field, 'true, or nothing');
  }
  for (const [field, value, least] of [
    ['seed', seed, 1],
    ['nodes', nodes, 1],
    ['operators', operators, 1],
    ['maxRestarts', maxRestarts, 0],
  ] as const) {
    if (!isCount(value, least)) refuse(field, `a whole number of at least ${least}`);
  }
  for (const [field, value] of Object.entries({ jobs, acts })) {
    if (!Array.isArray(value)) refuse(field, 'a list');
  }
  for (const [index, job] of (jobs as readonly unknown[]).entries()) {
    const { name, replicas, pods } = (job ?? {}) as Partial<ReplicatedJobShape>;
    const isShape = typeof name === 'string' && isCount(replicas, 1) && isCount(pods, 1);
    if (!isShape) refuse(`jobs[${index}]`, 'name, replicas and pods');
  }
  let lastMs = 0;
  for (const [index, timed] of (acts as readonly unknown[]).entries()) {
    const { atMs, act } = (timed ?? {}) as Partial<TimedAct>;
    if (typeof atMs !== 'number' || !(atMs >= lastMs)) {
      return refuse(`acts[${index}].atMs`, `a number that is not below ${lastMs}`);
    }
    lastMs = atMs;
    expectAct(act, `${file}: acts[${index}].act`);
  }
  const known = { seed, jobs, nodes, operators, maxRestarts, isInOrder, acts };
  return {
    ...known,
    ...defined({ mode, processes, hasWebhooks, hasStandbys, tokens }),
    ...defined({ replaceAfter, hasPreflight, channel }),
  } as unknown as Scenario;
}

function isCount(value: unknown, least: number): boolean {
  return Number.isInteger(value) && (value as number) >= least;
}

function parsedObject(text: string, file: string): Readonly<Record<string, unknown>> {
  const value = parsedJson(text);
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  throw new Error(`${file}: expected an object in JSON`);
}
