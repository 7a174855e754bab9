import type { Container, PodTemplateSpec } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, it } from 'vitest';
import { type DefaultedSpec, withDefaults } from '../defaults.ts';
import { agentInjector, restartRuleErrors, tryInjection } from './agent-mode.ts';

const DISABLED = { 'lockstep/agent-injection': 'Disabled' };
const UPSTREAMS_AGENT: Container = {
  name: 'in-place-restart-agent',
  restartPolicy: 'Always',
  restartPolicyRules: [
    { action: 'RestartAllContainers', exitCodes: { operator: 'NotIn', values: [0] } },
  ],
};

function templateOf(spec: Partial<PodTemplateSpec['spec']> = {}): PodTemplateSpec {
  return { spec: { containers: [{ name: 'worker', image: 'none' }], ...spec } };
}

function specWith(template: PodTemplateSpec, strategy = 'InPlaceRestart' as const): DefaultedSpec {
  return withDefaults({
    replicatedJobs: [{ name: 'w', template: { spec: { template } } }],
    failurePolicy: { restartStrategy: strategy },
  });
}

describe('with injection disabled', () => {
  const tried = (template: PodTemplateSpec): ReturnType<typeof tryInjection> =>
    tryInjection(template, 'T', specWith(template), DISABLED);

  it('a template without an agent is refused with how one is recognised', () => {
    const [error, ...others] = tried(templateOf()).errors;
    expect(others).toEqual([]);
    expect(error).toMatchObject({ type: 'FieldValueRequired', field: 'T.spec.initContainers' });
    for (const way of [
      'in-place-restart-agent',
      'IN_PLACE_RESTART_EXIT_CODE',
      'RESTART_POD_IN_PLACE_EXIT_CODE',
      'lockstep/agent-container',
    ]) {
      expect(error?.detail).toContain(way);
    }
  });

  it.each<[string, PodTemplateSpec]>([
    ['its name', templateOf({ initContainers: [UPSTREAMS_AGENT] })],
    ['our name', templateOf({ initContainers: [{ ...UPSTREAMS_AGENT, name: 'lockstep-agent' }] })],
    [
      "upstream's exit code",
      templateOf({
        containers: [{ name: 'w', env: [{ name: 'IN_PLACE_RESTART_EXIT_CODE', value: '1' }] }],
      }),
    ],
    [
      'the annotation',
      {
        ...templateOf({ containers: [{ name: 'mine' }] }),
        metadata: { annotations: { 'lockstep/agent-container': 'mine' } },
      },
    ],
  ])('an agent is recognised by %s', (_, template) => {
    expect(tried(template).errors).toEqual([]);
  });

  it('an exit of the agent that leaves its worker alone is warned of', () => {
    const { warnings } = tried(templateOf({ initContainers: [UPSTREAMS_AGENT] }));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('do not restart the Pod when it exits with 0');
  });
});

describe('a template with Terminate', () => {
  const rules = [
    { action: 'Terminate', exitCodes: { operator: 'In', values: [7] } },
  ] as const satisfies Container['restartPolicyRules'];
  const worker: Container = { name: 'w', restartPolicy: 'Never', restartPolicyRules: rules };
  const template = templateOf({ containers: [worker] });

  it('keeps it for nodes that know it, and only for those', () => {
    for (const nativeRestartRules of [true, false]) {
      const agent = { image: 'agent', nativeRestartRules };
      const injected = agentInjector(specWith(template), DISABLED, agent)(template, 'w');
      expect(JSON.stringify(injected).includes('Terminate')).toBe(nativeRestartRules);
    }
  });

  it('is refused where it cannot be expressed, with the field from the root of the JobSet', () => {
    const sidecar: Container = { ...worker, name: 's', restartPolicy: 'Always' };
    const spec = specWith(templateOf({ initContainers: [sidecar] }));
    expect(restartRuleErrors(spec, {}).map(({ field }) => field)).toEqual([
      'spec.replicatedJobs[0].template.spec.template.spec.initContainers[0].restartPolicyRules[0].action',
    ]);
    expect(restartRuleErrors(spec, { nativeRestartRules: true })).toEqual([]);
  });
});
