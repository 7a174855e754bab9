/**
 * Templates that are fit for a namespace of Pod security level `restricted` stay so when they get an
 * agent, and whatever we add is what a real API server takes. The embedded one judges no security.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentOptions, injectAgent } from '../../src/jobset/agent/agent-injection.ts';
import { translateRestartRules } from '../../src/jobset/restart-rules/restart-rules.ts';
import { NAMESPACES } from '../../src/kube/core.ts';
import { PODS, type PodTemplateSpec, type SecurityContext } from '../../src/kube/pod.ts';
import { KUBERNETES } from '../kubernetes.ts';
import { type ApiUnderTest, startApi } from './api-server.fixture.ts';

const NAMESPACE = 'restricted-workers';
/** A scheduler that does not exist: nothing is run. */
const NOBODY = 'example.com/nobody';

const RESTRICTED: SecurityContext = {
  runAsNonRoot: true,
  runAsUser: 1000,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
};

const TEMPLATE: PodTemplateSpec = {
  spec: {
    schedulerName: NOBODY,
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
  });
  afterAll(async () => {
    await api.client.delete(NAMESPACES, { name: NAMESPACE });
    await api.stop();
  });

  it.each<Pick<AgentOptions, 'mode' | 'delivery'>>([
    { mode: 'Sidecar' },
    { mode: 'Supervisor', delivery: 'Copy' },
    { mode: 'Supervisor', delivery: 'ImageVolume' },
  ])('Pods with an agent are admitted ($mode $delivery)', async (options) => {
    const { template, errors } = injectAgent(TEMPLATE, { image: 'lockstep/agent:1', ...options });
    expect(errors).toEqual([]);
    const name = `${options.mode}-${options.delivery ?? 'none'}`.toLowerCase();
    const pod = await api.client.create(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...template.metadata, namespace: NAMESPACE, name },
      spec: translateRestartRules(template).spec,
    });
    expect(pod.metadata.uid).toBeDefined();
    await api.client.delete(PODS, { namespace: NAMESPACE, name }, { gracePeriodSeconds: 0 });
  });
});
