import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { PodTemplateSpec } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { type AgentOptions, injectAgent } from './agent-injection.ts';

interface Input
  extends Partial<
    Pick<AgentOptions, 'annotations' | 'command' | 'delivery' | 'exitCode' | 'hub' | 'processes'>
  > {
  readonly mode: AgentOptions['mode'];
  readonly template: PodTemplateSpec;
}

const FOLDER = fileURLToPath(new URL('./testdata/agent-injection/', import.meta.url));
const CASES = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.input.yaml'))
  .map((name) => name.slice(0, -'.input.yaml'.length));

/** They get an error instead of an agent. */
const REFUSED = ['supervisor-marker-mount', 'supervisor-without-command'];

function inject({ template, ...options }: Input): ReturnType<typeof injectAgent> {
  return injectAgent(template, { image: 'lockstep/agent:test', ...options });
}

function read(name: string): Input {
  return parse(readFileSync(`${FOLDER}${name}.input.yaml`, 'utf8')) as Input;
}

/** `UPDATE_GOLDEN=1` rewrites the expectations; read the difference before you commit it. */
describe('agent injection', () => {
  it.each(CASES)('gives what testdata says for %s', (name) => {
    const text = stringify(inject(read(name)), { lineWidth: 100, aliasDuplicateObjects: false });
    const file = `${FOLDER}${name}.output.yaml`;
    if (process.env['UPDATE_GOLDEN'] !== undefined) writeFileSync(file, text);
    expect(text).toBe(readFileSync(file, 'utf8'));
  });

  const valid = CASES.filter((name) => !name.includes('clashes') && !REFUSED.includes(name));
  it.each(valid)('changes nothing when it is done twice (%s)', (name) => {
    const input = read(name);
    const once = inject(input);
    expect(once.errors).toEqual([]);
    expect(inject({ ...input, template: once.template }).template).toEqual(once.template);
  });

  it('names the field of an error from the root of the object', () => {
    const { errors } = injectAgent(
      { spec: { containers: [{ name: 'worker' }] } },
      { mode: 'Supervisor', image: '', path: 'spec.replicatedJobs[1].template.spec.template' },
    );
    expect(errors.map((error) => error.field)).toEqual([
      'spec.replicatedJobs[1].template.spec.template.spec.containers[0].command',
    ]);
  });
});
