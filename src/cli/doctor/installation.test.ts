import { PODS } from '@lockstep/kube/objects/pod.ts';
import { failure } from '@lockstep/kube/status.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { DEPLOYMENTS } from '../../deploy/kinds.ts';
import { install } from '../install/install.ts';
import { InstallationWorld, optionsOf } from '../install/installation.fixture.ts';
import type { Finding } from './finding.ts';
import { findOperator, installationFindings, readInstallation } from './installation.ts';

let world: InstallationWorld;

beforeEach(() => {
  world = new InstallationWorld();
});

const OPERATOR = { namespace: 'lockstep-system', name: 'lockstep-operator' };

async function findings(namespace = 'lockstep-system'): Promise<readonly Finding[]> {
  const context = world.context();
  return installationFindings(await readInstallation(world.client, context, namespace, '1.2.3'));
}

function shown(all: readonly Finding[]): readonly string[] {
  return all.map(({ check, level, text }) => `${level} ${check}: ${text}`);
}

describe('the health of an installation', () => {
  test('says that all is well', async () => {
    await world.bringUp();
    const found = await findings();
    expect(found.map(({ check, level }) => `${check} ${level}`)).toEqual([
      'objects ok',
      'jobset-api ok',
      'operator ok',
      'leader ok',
      'webhooks ok',
    ]);
  });

  test('says that nothing is installed, and what to do', async () => {
    expect(await findings()).toEqual([
      {
        topic: 'Lockstep',
        check: 'objects',
        level: 'problem',
        text: 'Lockstep is not installed: run "lockstep install"',
        fix: 'lockstep install -n lockstep-system',
      },
    ]);
  });

  test('names what is missing, why Pods do not run, and the last leader', async () => {
    await world.bringUp();
    await world.client.delete(DEPLOYMENTS, OPERATOR);
    await world.clock.advance(60_000);
    const [objects, , operator, leader] = shown(await findings());
    expect(objects).toBe(
      'problem objects: missing: Deployment lockstep-system/lockstep-operator: run "lockstep install" again',
    );
    expect(operator).toBe('problem operator: there is no Deployment');
    expect(leader).toMatch(/^problem leader: a led until .*, and no replica leads now$/);
  });

  test('tells what the Pods of the operator wait for, once', async () => {
    await world.bringUp();
    const behind = { status: { replicas: 2, updatedReplicas: 2, availableReplicas: 0 } };
    await world.client.patch(DEPLOYMENTS, OPERATOR, { type: 'merge', patch: behind });
    const waiting = { reason: 'ImagePullBackOff', message: 'no such image' };
    const labels = {
      'app.kubernetes.io/name': 'lockstep',
      'app.kubernetes.io/component': 'operator',
    };
    const container = { name: 'operator', ready: false, restartCount: 0, image: '', imageID: '' };
    for (const name of ['a', 'b']) {
      await world.client.create(PODS, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { namespace: 'lockstep-system', name, labels },
        spec: { containers: [] },
        status: { containerStatuses: [{ ...container, state: { waiting } }] },
      });
    }
    expect(shown(await findings())[2]).toBe(
      'problem operator: 0 of 2 replicas are available; ImagePullBackOff: no such image',
    );
  });

  test('expects no webhooks where the operator has none, and rights where it has them', async () => {
    const confined = optionsOf({ webhooks: 'off', watchNamespace: ['team-a'] });
    const running = install(world.context(), confined);
    await world.clock.advance(1_000);
    await world.becomeReady(confined);
    await world.clock.advance(2_000);
    expect(await running).toBe(0);
    const found = await findings();
    expect(found.map(({ check, level }) => `${check} ${level}`)).toEqual([
      'objects ok',
      'jobset-api ok',
      'operator ok',
      'leader ok',
    ]);
  });

  test('names what the user may not read, and judges the rest', async () => {
    await world.bringUp();
    world.client.before = (_verb, path) => {
      if (/deployments|leases|webhookconfigurations/.test(path)) throw failure('Forbidden', 'no');
    };
    expect(shown(await findings())).toEqual([
      'not-checked objects: you may not get Deployment lockstep-system/lockstep-operator and 2 more',
      'ok jobset-api: the API server serves JobSets',
      'not-checked operator: you may not get Deployment lockstep-system/lockstep-operator',
      'not-checked leader: you may not get Lease lockstep-system/6d4f6a47.jobset.x-k8s.io',
      expect.stringMatching(/^not-checked webhooks: you may not get .* and 1 more$/),
    ]);
  });

  test('calls nothing missing that the user may not read', async () => {
    await world.bringUp();
    world.client.before = () => {
      throw failure('Forbidden', 'no');
    };
    expect(shown(await findings())).toEqual([
      expect.stringMatching(/^not-checked objects: you may not get .* more$/),
    ]);
  });
});

describe('the place of the operator', () => {
  test('comes from the webhooks, from the binding, or is the usual one', async () => {
    const place = () => findOperator(world.client, world.context(), undefined);
    expect(await place()).toEqual({ type: 'Cluster', namespace: 'lockstep-system' });
    await world.bringUp(optionsOf());
    expect(await place()).toEqual({ type: 'Cluster', namespace: 'lockstep-system' });
    world.client.before = () => {
      throw failure('Forbidden', 'no');
    };
    expect(await place()).toEqual({ type: 'Cluster', namespace: 'lockstep-system' });
    expect(await findOperator(world.client, world.context(), 'mine')).toEqual({
      type: 'Cluster',
      namespace: 'mine',
    });
  });
});
