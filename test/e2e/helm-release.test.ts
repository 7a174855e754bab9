/**
 * Helm takes over an installation of `lockstep install` while a group runs, upgrades it, and leaves.
 * No worker notices any of it.
 */
import { join } from 'node:path';
import { CONFIG_MAPS, SERVICE_ACCOUNTS } from '@lockstep/kube/objects/core.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '@lockstep/kube/objects/custom-resource-definition.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WorkerGroup } from '../../src/bench/worker-group.ts';
import { DEPLOYMENTS } from '../../src/deploy/kinds.ts';
import { OPERATOR_NAME } from '../../src/deploy/permissions.ts';
import { DEFAULT_NAMESPACE } from '../../src/deploy/settings.ts';
import { JOBSETS, type JobSet } from '../../src/jobset/jobset.ts';
import { JOBSET_CRD } from '../../src/jobset/schema/crd.ts';
import { CONFIGURATION_NAME } from '../../src/operator/configuration/object-names.ts';
import { EXCEPTIONS, KUBERNETES } from '../kubernetes.ts';
import { CHART, HELM, type HelmResult, runHelm } from './helm.fixture.ts';
import { JoinedNode, withAccount } from './joined-node.fixture.ts';

const NAME = 'taken-over';
const RELEASE = ['lockstep', '--namespace', DEFAULT_NAMESPACE] as const;
const UPGRADE = ['upgrade', '--install', RELEASE[0], CHART, ...RELEASE.slice(1), '--wait'] as const;
/** The network of Services, and so webhooks and the hub, do not reach this machine's Pods. */
const WITHOUT_WEBHOOKS = [
  '--set',
  'webhooks=false,configuration.agent.channel=Auto,configuration.agent.rights=true',
] as const;
const INSTALL = ['install', '--webhooks', 'off', '--agent-channel', 'Auto', '--agent-rights'];
const ACCOUNT = { namespace: 'default', name: 'trainer-of-a-release' };

/** Lockstep's own nodes have no images, and what is installed takes supervising agents from one. */
const hasAgents = !EXCEPTIONS.podsAreNotRestarted;

describe.skipIf(KUBERNETES === undefined || HELM === undefined || !hasAgents)(
  'a release of Helm',
  () => {
    let node: JoinedNode;
    let group: WorkerGroup;
    let pods: readonly unknown[];
    let jobSet: string;

    beforeAll(async () => {
      node = await JoinedNode.join('helm-0');
      await node.lockstep(...INSTALL);
      const { client, directory } = node;
      const { kind } = SERVICE_ACCOUNTS;
      await client.create(SERVICE_ACCOUNTS, { apiVersion: 'v1', kind, metadata: ACCOUNT });
      const edit = (jobSet: JobSet): JobSet => withAccount(jobSet, ACCOUNT.name);
      group = await WorkerGroup.start({
        client,
        directory,
        name: NAME,
        mode: 'Sidecar',
        size: 3,
        edit,
      });
      await group.running(1);
      pods = identities();
      const { metadata } = await client.get(JOBSETS, { namespace: 'default', name: NAME });
      jobSet = metadata.uid;
    });
    afterAll(async () => {
      await Promise.all([group.pods.stop(), group.jobSets.stop()]);
      await node.leave();
    });

    function identities(): readonly unknown[] {
      return [...group.pods.store.values()]
        .map(({ metadata, status }) => ({
          uid: metadata.uid,
          restarts: status?.containerStatuses?.map(({ restartCount }) => restartCount),
        }))
        .toSorted((a, b) => a.uid.localeCompare(b.uid));
    }

    function uids(): readonly string[] {
      return [...group.pods.store.values()].map(({ metadata }) => metadata.uid).toSorted();
    }

    function helm(...args: readonly string[]): Promise<HelmResult> {
      return runHelm(join(node.directory, 'helm'), ...args);
    }

    async function expectJobSetToStay(): Promise<void> {
      const found = await node.client.get(JOBSETS, { namespace: 'default', name: NAME });
      expect(found.metadata).toMatchObject({ uid: jobSet });
      expect(found.metadata.deletionTimestamp).toBeUndefined();
    }

    test('is refused over objects of others, and takes them over when it is told to', async () => {
      const refused = await helm(...UPGRADE, ...WITHOUT_WEBHOOKS);
      expect(refused.stderr).toContain('cannot be imported into the current release');
      expect(refused.exitCode).toBe(1);
      const taken = await helm(
        ...UPGRADE,
        ...WITHOUT_WEBHOOKS,
        '--take-ownership',
        '--server-side=false',
      );
      expect(taken.exitCode, taken.stderr).toBe(0);
      expect(taken.stdout).toContain(`is installed in namespace ${DEFAULT_NAMESPACE}`);
      expect(identities()).toEqual(pods);
      expect(group.starts()).toHaveLength(group.size);
      await expectJobSetToStay();
    });

    test('is upgraded, whereupon a group restarts in the same Pods', async () => {
      const upgraded = await helm(
        ...UPGRADE,
        ...WITHOUT_WEBHOOKS,
        '--set',
        'maxStreams=1000,replicas=3',
      );
      expect(upgraded.exitCode, upgraded.stderr).toBe(0);
      expect(upgraded.stdout).not.toContain('edited by hand');
      const deployment = await node.client.get(DEPLOYMENTS, {
        namespace: DEFAULT_NAMESPACE,
        name: OPERATOR_NAME,
      });
      expect(deployment.status).toMatchObject({ replicas: 3, updatedReplicas: 3 });
      expect(identities()).toEqual(pods);
      expect(group.starts()).toHaveLength(group.size);
      const before = uids();
      group.kill(1);
      await group.running(2);
      expect(group.starts()).toHaveLength(2 * group.size);
      expect(uids()).toEqual(before);
      pods = identities();
    });

    test('says what it replaces that was edited by hand', async () => {
      const at = { namespace: DEFAULT_NAMESPACE, name: CONFIGURATION_NAME };
      const { data } = await node.client.get(CONFIG_MAPS, at);
      const edited = `${data?.['configuration.yaml']}clientConnection: { burst: 600 }\n`;
      const patch = { data: { 'configuration.yaml': edited } };
      await node.client.patch(CONFIG_MAPS, at, { type: 'merge', patch });
      const upgraded = await helm(...UPGRADE, ...WITHOUT_WEBHOOKS, '--reuse-values');
      expect(upgraded.exitCode, upgraded.stderr).toBe(0);
      expect(upgraded.stdout).toContain('was edited by hand, and this upgrade has replaced that');
      expect(upgraded.stdout).toContain('clientConnection: { burst: 600 }');
      expect((await node.client.get(CONFIG_MAPS, at)).data).toEqual(data);
    });

    test('is left alone by lockstep install and uninstall', async () => {
      for (const command of ['install', 'uninstall']) {
        const refused = await node.lockstep(command).catch((error: unknown) => error);
        const stderr = expect.stringContaining(
          `"helm uninstall lockstep --namespace ${DEFAULT_NAMESPACE}"`,
        );
        expect(refused).toMatchObject({ code: 1, stdout: '', stderr });
      }
    });

    test('goes, and leaves the definition, the JobSets and their workers', async () => {
      const gone = await helm('uninstall', ...RELEASE, '--wait');
      expect(gone.exitCode, gone.stderr).toBe(0);
      expect(gone.stdout).toContain('[CustomResourceDefinition] jobsets.jobset.x-k8s.io');
      const { name = '' } = JOBSET_CRD.metadata;
      const definition = await node.client.get(CUSTOM_RESOURCE_DEFINITIONS, { name });
      expect(definition.metadata.deletionTimestamp).toBeUndefined();
      await expectJobSetToStay();
      expect(identities()).toEqual(pods);
      expect(group.starts()).toHaveLength(2 * group.size);
      const doctor = await node.lockstep('doctor').catch((error: unknown) => error);
      expect(doctor).toMatchObject({ stdout: expect.stringContaining('not installed') });
    });

    test('is succeeded by lockstep install, which finds the group', async () => {
      await node.lockstep(...INSTALL);
      group.kill(0);
      await group.running(3);
      expect(uids()).toHaveLength(group.size);
      expect(group.starts()).toHaveLength(3 * group.size);
      const output = await node.lockstep('uninstall', '--delete-jobsets');
      expect(output).toMatch(/Lockstep is gone\n$/);
    });
  },
);
