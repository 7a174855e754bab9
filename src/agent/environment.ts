/**
 * Reads the agent's environment variables and collects every problem, with the variable, its value
 * and what was expected, so that all can be reported together.
 */
import { parsedJson } from '@lockstep/kube/json/parsed-json.ts';
import type { ContainerRestartRule } from '@lockstep/kube/objects/pod.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Longer texts are cut in messages. */
const SHOWN_VALUE_LENGTH = 200;

export class EnvironmentReader {
  readonly errors: string[] = [];
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** Treats an empty variable as not set. */
  optional(name: string): string | undefined {
    const value = this.#environment[name];
    return value === '' ? undefined : value;
  }

  required(name: string, expected: string): string {
    const value = this.optional(name);
    if (value === undefined) this.reject(name, expected);
    return value ?? '';
  }

  integer(name: string, otherwise: number, least: number, most: number): number {
    const text = this.optional(name);
    if (text === undefined) return otherwise;
    const value = /^[0-9]{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    this.reject(name, `a whole number from ${least} to ${most}`);
    return otherwise;
  }

  port(name: string): number | undefined {
    return this.optional(name) === undefined ? undefined : this.integer(name, 0, 1, 65_535);
  }

  rules(name: string): readonly ContainerRestartRule[] | undefined {
    const text = this.optional(name);
    if (text === undefined) return undefined;
    const rules = parseRules(text);
    if (rules === undefined) {
      this.reject(
        name,
        'a JSON array of rules such as ' +
          '{"action":"RestartPod","exitCodes":{"operator":"NotIn","values":[0]}}, actions ' +
          `${ACTIONS.join(', ')}, operators In and NotIn, values 0 to 255`,
      );
    }
    return rules;
  }

  reject(name: string, expected: string): void {
    const value = this.#environment[name];
    const shown =
      value === undefined ? 'not set' : JSON.stringify(value.slice(0, SHOWN_VALUE_LENGTH));
    this.errors.push(`environment variable ${name}: ${shown}: expected ${expected}`);
  }
}

const ACTIONS = ['Restart', 'RestartPod', 'RestartAllContainers', 'Terminate'] as const;

function parseRules(text: string): readonly ContainerRestartRule[] | undefined {
  const parsed = parsedJson(text);
  return Array.isArray(parsed) && parsed.every(isRule) ? parsed : undefined;
}

function isRule(value: unknown): value is ContainerRestartRule {
  if (typeof value !== 'object' || value === null) return false;
  const action = 'action' in value ? value.action : undefined;
  const exitCodes = 'exitCodes' in value ? value.exitCodes : undefined;
  if (!ACTIONS.some((known) => known === action)) return false;
  if (typeof exitCodes !== 'object' || exitCodes === null) return false;
  const operator = 'operator' in exitCodes ? exitCodes.operator : undefined;
  const values = 'values' in exitCodes ? exitCodes.values : [];
  return (
    (operator === 'In' || operator === 'NotIn') && Array.isArray(values) && values.every(isExitCode)
  );
}

function isExitCode(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255;
}
