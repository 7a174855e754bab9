import type { ContainerRestartRule, PodTemplateSpec } from '@lockstep/kube/objects/pod.ts';
import { expect, test } from 'vitest';
import { translateRestartRules } from './restart-rules.ts';

const rule = (action: ContainerRestartRule['action']): ContainerRestartRule => ({
  action,
  exitCodes: { operator: 'In', values: [7] },
});

function templateWith(action: ContainerRestartRule['action']): PodTemplateSpec {
  const container = { name: 'c', restartPolicyRules: [rule('Restart'), rule(action)] };
  return { spec: { containers: [container, { name: 'bare' }], initContainers: [container] } };
}

test('RestartPod becomes what API servers know, wherever it stands, and nothing else changes', () => {
  expect(translateRestartRules(templateWith('RestartPod'))).toEqual(
    templateWith('RestartAllContainers'),
  );
  const native = templateWith('RestartAllContainers');
  expect(translateRestartRules(native)).toBe(native);
});
