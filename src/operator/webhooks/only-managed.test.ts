/** The webhooks of an operator beside upstream's controller: they concern our JobSets alone. */
import { describe, expect, test } from 'vitest';
import { DEFAULT_FEATURE_GATES } from '../../jobset/feature-gates.ts';
import { MANAGED_BY_LOCKSTEP } from '../../jobset/names.ts';
import {
  mutatingConfiguration,
  validatingConfiguration,
  type WebhookSettings,
} from './webhook-configurations.ts';
import { webhookHandlers } from './webhook-handlers.ts';

const SETTINGS: WebhookSettings = {
  address: { kind: 'Service', namespace: 'lockstep-system', name: 'lockstep-webhook-service' },
  bundle: '',
  onlyManaged: true,
};

describe('the configurations', () => {
  test('meet JobSets that name us, and no Pods but those that avoid nodes', () => {
    const { webhooks: mutating = [] } = mutatingConfiguration(SETTINGS);
    const { webhooks: validating = [] } = validatingConfiguration(SETTINGS);
    expect(mutating.map(({ name }) => name)).toEqual(['mjobset.kb.io', 'mpodnodes.kb.io']);
    expect(validating.map(({ name }) => name)).toEqual(['vjobset.kb.io']);
    const expressions = [...mutating, ...validating].map(({ matchConditions = [] }) =>
      matchConditions.map(({ expression }) => expression).join(),
    );
    const names = (object: string): string =>
      `(has(${object}.spec) && has(${object}.spec.managedBy) && ${object}.spec.managedBy == 'lockstep/jobset-controller')`;
    expect(expressions).toEqual([
      names('object'),
      '',
      `${names('object')} || (oldObject != null && ${names('oldObject')})`,
    ]);
  });

  test('meet all JobSets where no other controller is', () => {
    const { webhooks = [] } = mutatingConfiguration({ ...SETTINGS, onlyManaged: false });
    expect(webhooks).toHaveLength(4);
    expect(webhooks[0]).not.toHaveProperty('matchConditions');
  });
});

describe('the answers', () => {
  const handlers = webhookHandlers({ gates: DEFAULT_FEATURE_GATES, onlyManaged: true }, {
    jobSets: {},
    pods: {},
  } as never);
  const jobSet = (managedBy?: string, more: object = {}) => ({
    apiVersion: 'jobset.x-k8s.io/v1alpha2',
    kind: 'JobSet',
    metadata: { name: 'x' },
    spec: { replicatedJobs: 'wrong', ...more, ...(managedBy === undefined ? {} : { managedBy }) },
  });

  test.each([undefined, 'jobset.sigs.k8s.io/jobset-controller'])(
    'let a JobSet pass that names %s',
    async (managedBy) => {
      const request = { operation: 'UPDATE', object: jobSet(managedBy), oldObject: jobSet() };
      for (const path of ['/mutate', '/validate']) {
        const handler = handlers.get(`${path}-jobset-x-k8s-io-v1alpha2-jobset`);
        const answer = await handler?.(request as never, new AbortController().signal);
        expect(answer).toEqual({ kind: 'Allowed' });
      }
    },
  );

  test.each([
    [jobSet(MANAGED_BY_LOCKSTEP, { network: {} }), jobSet(MANAGED_BY_LOCKSTEP)],
    [jobSet(), jobSet(MANAGED_BY_LOCKSTEP)],
  ])('judge a JobSet that names us, or did', async (object, oldObject) => {
    const request = { operation: 'UPDATE', object, oldObject };
    const handler = handlers.get('/validate-jobset-x-k8s-io-v1alpha2-jobset');
    const judged = async () => handler?.(request as never, new AbortController().signal);
    await expect(judged()).rejects.toThrow('replicatedJobs');
  });
});
