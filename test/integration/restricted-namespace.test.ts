/**
 * Templates that fit a namespace of Pod security level `restricted`, with a quota that requires
 * resources of every container, still fit with an agent in them, according to a real API server.
 * The embedded one does not check security.
 */

import type { KubeObject } from '@lockstep/kube/meta.ts';
import { NAMESPACES, SERVICE_ACCOUNTS } from '@lockstep/kube/objects/core.ts';
import { PODS, type PodTemplateSpec, type SecurityContext } from '@lockstep/kube/objects/pod.ts';
import { type Resource, resource } from '@lockstep/kube/resource.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import { waitFor } from '@lockstep/kube/runtime/informer/wait-for.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentOptions, injectAgent } from '../../src/jobset/injection/agent-injection.ts';
import { translateRestartRules } from '../../src/jobset/restart-rules/restart-rules.ts';
import { AGENT_MODES, EXCEPTIONS, KUBERNETES } from '../kubernetes.ts';
import { type ApiUnderTest, startApi } from './api-server.fixture.ts';

const NAMESPACE = 'restricted-workers';
/** A scheduler that does not exist: nothing runs. */
const ABSENT = 'example.com/absent';

interface ResourceQuota extends KubeObject {
  readonly spec?: { readonly hard: Readonly<Record<string, string | number>> };
  readonly status?: { readonly hard?: object };
}
const QUOTAS: Resource<ResourceQuota> = resource('v1', 'resourcequotas', 'ResourceQuota');
const QUOTA = { namespace: NAMESPACE, name: 'all' };
const TIMING = { clock: nodeClock, random: systemRandom, timeoutMs: 30_000 };

const RESTRICTED: SecurityContext = {
  runAsNonRoot: true,
  runAsUser: 1000,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
};

const TEMPLATE: PodTemplateSpec = {
  spec: {
    schedulerName: ABSENT,
    restartPolicy: 'Never',
    containers: [
      {
        name: 'worker',
        image: 'train:1',
        command: ['train'],
        resources: { limits: { cpu: '1', memory: '1Gi' } },
        securityContext: RESTRICTED,
      },
    ],
  },
};

describe.skipIf(KUBERNETES === undefined)('in a restricted namespace of a real Kubernetes', () => {
  let api: ApiUnderTest;
  beforeAll(async () => {
    api = await startApi();
    await api.client.create(NAMESPACES, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name: NAMESPACE,
        labels: { 'pod-security.kubernetes.io/enforce': 'restricted' },
      },
    });
    await api.client.create(QUOTAS, {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: QUOTA,
      spec: {
        hard: {
          'requests.cpu': 8,
          'requests.memory': '8Gi',
          'limits.cpu': 8,
          'limits.memory': '8Gi',
        },
      },
    });
    // The quota refuses nothing before it has been counted.
    const isCounted = (quota: ResourceQuota | undefined): boolean =>
      quota?.status?.hard !== undefined;
    await waitFor(api.client, QUOTAS, QUOTA, isCounted, TIMING);
    // Without it no Pod is admitted.
    const account = { namespace: NAMESPACE, name: 'default' };
    await waitFor(api.client, SERVICE_ACCOUNTS, account, (one) => one !== undefined, TIMING);
  });
  afterAll(async () => {
    await api.client.delete(NAMESPACES, { name: NAMESPACE });
    await api.stop();
  });

  it('Pods whose containers have no resources are refused', async () => {
    const [worker] = TEMPLATE.spec.containers;
    const { resources: _resources, ...container } = worker ?? { name: '' };
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: NAMESPACE, name: 'greedy' },
      spec: { ...TEMPLATE.spec, containers: [container] },
    };
    await expect(api.client.create(PODS, pod)).rejects.toThrow('must specify limits.cpu');
  });

  const kinds: readonly Pick<AgentOptions, 'mode' | 'delivery'>[] = [
    { mode: 'Sidecar' },
    { mode: 'Supervisor', delivery: 'Copy' },
    { mode: 'Supervisor', delivery: 'ImageVolume' },
  ];
  const possible = kinds.filter(({ mode }) => AGENT_MODES.includes(mode));
  it.each(possible)('Pods with an agent are admitted ($mode $delivery)', async (options) => {
    const { template, errors } = injectAgent(TEMPLATE, {
      image: 'lockstep/agent:1',
      ...(EXCEPTIONS.podsAreNotRestarted
        ? { restartAllProblem: { why: 'nodes are too old', dropsRules: true } }
        : {}),
      ...options,
    });
    expect(errors).toEqual([]);
    const name = `${options.mode}-${options.delivery ?? 'none'}`.toLowerCase();
    const pod = await api.client.create(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...template.metadata, namespace: NAMESPACE, name },
      spec: translateRestartRules(template).spec,
    });
    expect(pod.status, 'as without an agent').toMatchObject({ qosClass: 'Guaranteed' });
    await api.client.delete(PODS, { namespace: NAMESPACE, name }, { gracePeriodSeconds: 0 });
  });
});
