import type { Toleration } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, it } from 'vitest';
import { LOST_NODE_DEADLINE } from '../names.ts';
import { injectAgent } from './agent-injection.ts';

const KEY = 'node.kubernetes.io/unreachable';
const EVERYTHING: Toleration = { operator: 'Exists' };
const SPOT: Toleration = { key: 'spot', operator: 'Exists', effect: 'NoSchedule' };
const unreachable = (more: Partial<Toleration> = {}): Toleration => ({
  key: KEY,
  operator: 'Exists',
  effect: 'NoExecute',
  ...more,
});

function injected(
  tolerations: readonly Toleration[] | undefined,
  lostNodeDeadline: string | undefined,
  mode: 'Sidecar' | 'Supervisor' = 'Supervisor',
) {
  const container = { name: 'worker', image: 'i', command: ['train'] };
  const spec = { containers: [container], ...(tolerations === undefined ? {} : { tolerations }) };
  return injectAgent({ spec }, { mode, image: 'agent', lostNodeDeadline });
}

describe('with a deadline for lost nodes, a template', () => {
  const LIMITED = unreachable({ tolerationSeconds: 300 });

  it.each<[string, readonly Toleration[] | undefined, readonly Toleration[] | undefined]>([
    ['that tolerates everything is limited', [EVERYTHING], [LIMITED, EVERYTHING]],
    [
      'that tolerates it for ever is limited',
      [SPOT, unreachable()],
      [LIMITED, SPOT, unreachable()],
    ],
    [
      'whose first toleration that fits is for ever is limited',
      [EVERYTHING, unreachable({ tolerationSeconds: 10 })],
      [LIMITED, EVERYTHING, unreachable({ tolerationSeconds: 10 })],
    ],
    [
      'that says how long keeps that',
      [unreachable({ tolerationSeconds: 900 }), EVERYTHING],
      [unreachable({ tolerationSeconds: 900 }), EVERYTHING],
    ],
    ['that tolerates something else is left to Kubernetes', [SPOT], [SPOT]],
    [
      'that may only be placed there is left to Kubernetes',
      [unreachable({ effect: 'NoSchedule' })],
      [unreachable({ effect: 'NoSchedule' })],
    ],
    ['that says nothing is left to Kubernetes', undefined, undefined],
  ])('%s', (_what, tolerations, expected) => {
    expect(injected(tolerations, '5m').template.spec.tolerations).toEqual(expected);
    expect(injected(tolerations, '5m', 'Sidecar').template.spec.tolerations).toEqual(expected);
  });

  it('that is limited gives a warning, and no other does', () => {
    expect(injected([EVERYTHING], '5m').warnings).toEqual([
      'with lockstep/lost-node-deadline, Pods of this template tolerate node.kubernetes.io/unreachable for 300s instead of for ever, because a Pod that is not deleted is never replaced',
    ]);
    expect(injected([SPOT], '5m').warnings).toEqual([]);
  });

  it('is never limited to less than the deadline', () => {
    const [first] = injected([EVERYTHING], '90500ms').template.spec.tolerations ?? [];
    expect(first?.tolerationSeconds).toBe(91);
  });

  it('is limited once', () => {
    const once = injected([EVERYTHING], '5m').template;
    const twice = injectAgent(once, { mode: 'Supervisor', image: 'agent', lostNodeDeadline: '5m' });
    expect(twice.template).toEqual(once);
  });

  it('with an agent of its own stays as it is', () => {
    const own = {
      metadata: { annotations: { [LOST_NODE_DEADLINE]: '5m' } },
      spec: { containers: [{ name: 'lockstep-agent', image: 'i' }], tolerations: [EVERYTHING] },
    };
    const options = { mode: 'Sidecar', image: 'agent', lostNodeDeadline: '5m' } as const;
    expect(injectAgent(own, options).template).toBe(own);
  });
});

it('without a deadline a Pod may tolerate for ever that its node cannot be reached', () => {
  expect(injected([EVERYTHING], undefined).template.spec.tolerations).toEqual([EVERYTHING]);
});
