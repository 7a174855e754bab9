import { describe, expect, test } from 'vitest';
import { EXCLUSIVE_TOPOLOGY, NODE_SELECTOR_STRATEGY } from './names.ts';
import { placementRequest, withNodeSelectorStrategy } from './placement-annotations.ts';

const RACK = { [EXCLUSIVE_TOPOLOGY]: 'rack' };
const ZONE = { [EXCLUSIVE_TOPOLOGY]: 'zone' };
const STRATEGY = { [NODE_SELECTOR_STRATEGY]: 'true' };

describe('annotations of placement', () => {
  test.each([
    ['none', {}, {}, undefined],
    ['of the JobSet', RACK, {}, RACK],
    ['of the Job template', undefined, RACK, RACK],
    ['of both: the Job template takes precedence', ZONE, RACK, RACK],
    ['a strategy beside it', { ...RACK, ...STRATEGY }, {}, { ...RACK, ...STRATEGY }],
    ['a strategy at the other level only', { ...ZONE, ...STRATEGY }, RACK, RACK],
    ['a strategy of the template under a JobSet-wide topology', RACK, STRATEGY, RACK],
    ['a strategy without a topology', STRATEGY, STRATEGY, undefined],
  ])('%s', (_what, ofJobSet, ofJobTemplate, annotations) => {
    const request = placementRequest(ofJobSet, ofJobTemplate);
    expect(request?.annotations).toEqual(annotations);
    const isStrategy = annotations !== undefined && NODE_SELECTOR_STRATEGY in annotations;
    expect(request?.hasNodeSelectorStrategy ?? false).toBe(isStrategy);
  });

  test('the strategy selects the nodes of the Job and tolerates their taint', () => {
    const own = { key: 'own', operator: 'Exists' } as const;
    const spec = { containers: [], nodeSelector: { a: 'b' }, tolerations: [own] };
    expect(withNodeSelectorStrategy(spec, 'ml', 'train-w-0')).toEqual({
      containers: [],
      nodeSelector: { a: 'b', 'alpha.jobset.sigs.k8s.io/namespaced-job': 'ml_train-w-0' },
      tolerations: [
        own,
        { key: 'alpha.jobset.sigs.k8s.io/no-schedule', operator: 'Exists', effect: 'NoSchedule' },
      ],
    });
  });
});
