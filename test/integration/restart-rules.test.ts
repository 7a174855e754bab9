/**
 * Restart rules in the words of a real API server: every rule that a template may have here is
 * translated into what its validation accepts; rules that cannot be expressed there are refused
 * beforehand.
 */

import { JOBS } from '@lockstep/kube/objects/job.ts';
import type {
  Container,
  ContainerRestartRule,
  PodTemplateSpec,
} from '@lockstep/kube/objects/pod.ts';
import { apiVersionOf } from '@lockstep/kube/resource.ts';
import { ApiStatusError } from '@lockstep/kube/status.ts';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { terminateErrors, withoutTerminate } from '../../src/jobset/injection/terminate-rules.ts';
import { translateRestartRules } from '../../src/jobset/restart-rules/restart-rules.ts';
import { EXCEPTIONS, KUBERNETES } from '../kubernetes.ts';
import { type ApiUnderTest, startApi } from './api-server.fixture.ts';

const RUNS = 150;
/** The limit for one container. */
const MAX_RULES = 20;

const RULE: fc.Arbitrary<ContainerRestartRule> = fc.record({
  action: fc.constantFrom('Restart', 'RestartPod', 'RestartAllContainers', 'Terminate'),
  exitCodes: fc.record({
    operator: fc.constantFrom('In', 'NotIn'),
    values: fc.oneof(
      fc.uniqueArray(fc.integer({ min: 0, max: 9 }), { minLength: 1 }),
      fc.uniqueArray(fc.integer({ min: 0, max: 255 }), {
        minLength: 1,
        maxLength: 255,
        size: 'max',
      }),
    ),
  }),
});

const WORKER: fc.Arbitrary<Container> = fc.record({
  name: fc.constant('worker'),
  image: fc.constant('none'),
  restartPolicy: fc.constantFrom('Always', 'OnFailure', 'Never'),
  restartPolicyRules: fc.array(RULE, { minLength: 1, maxLength: MAX_RULES }),
});

describe.skipIf(KUBERNETES === undefined || EXCEPTIONS.podsAreNotRestarted)(
  'a real API server',
  () => {
    let api: ApiUnderTest;
    beforeAll(async () => {
      api = await startApi();
    });
    afterAll(() => api.stop());

    /** What is wrong with a Job of the template; a dry run. */
    async function refusal(template: PodTemplateSpec): Promise<string | undefined> {
      const at = { namespace: 'default', name: 'judged' };
      const job = {
        apiVersion: apiVersionOf(JOBS),
        kind: JOBS.kind,
        metadata: at,
        spec: { template },
      };
      const how = { fieldManager: 'test', dryRun: 'All' } as const;
      try {
        await api.client.patch(JOBS, at, { type: 'apply', patch: job, ...how });
        return undefined;
      } catch (error) {
        if (error instanceof ApiStatusError && error.code === 422) return error.message;
        throw error;
      }
    }

    it('takes every translation that we do not refuse ourselves', async () => {
      await fc.assert(
        fc.asyncProperty(WORKER, fc.boolean(), async (worker, isInit) => {
          const other: Container = { name: 'other', image: 'none' };
          const template: PodTemplateSpec = {
            spec: {
              restartPolicy: 'Never',
              containers: isInit ? [other] : [worker],
              ...(isInit ? { initContainers: [worker] } : {}),
            },
          };
          fc.pre(terminateErrors(template, '').length === 0);
          expect(await refusal(translateRestartRules(withoutTerminate(template)))).toBeUndefined();
        }),
        { numRuns: RUNS },
      );
    });

    it('knows neither Terminate nor RestartPod', async () => {
      for (const action of ['Terminate', 'RestartPod'] as const) {
        const rule = { action, exitCodes: { operator: 'In', values: [1] } } as const;
        const worker: Container = {
          name: 'worker',
          image: 'none',
          restartPolicy: 'Never',
          restartPolicyRules: [rule],
        };
        const template = { spec: { restartPolicy: 'Never', containers: [worker] } } as const;
        expect(await refusal(template)).toContain(`Unsupported value: "${action}"`);
      }
    });
  },
);
