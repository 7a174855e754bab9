/**
 * A stock kubectl against `lockstep up`: every command that the README promises except those that
 * stream (`kubectl-exec.test.ts`). Skipped, with the reason printed, if kubectl is not installed.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KUBERNETES } from '../kubernetes.ts';
import { hasKubectl, KUBECTL, kubectlOutput } from './kubectl.fixture.ts';
import { type ClusterUnderTest, outputUntil, startCluster } from './local-cluster.fixture.ts';

/**
 * Names the defaults of a replicated Job. The merge patch of `kubectl apply` replaces lists as a
 * whole, so it is never empty for a list with items that the server has completed.
 */
const JOBSET = `
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: pair
spec:
  failurePolicy: { maxRestarts: 3, restartStrategy: InPlaceRestart }
  replicatedJobs:
    - name: w
      replicas: 1
      groupName: default
      template:
        spec:
          parallelism: 2
          completions: 2
          completionMode: Indexed
          backoffLimit: 2147483647
          podReplacementPolicy: Failed
          template:
            spec:
              restartPolicy: Never
              terminationGracePeriodSeconds: 1
              containers:
                - name: worker
                  image: sh
                  command: [sh, -c]
                  args: ["echo hello from $HOSTNAME; while [ ! -e $GATE ]; do sleep 0.05; done; echo bye"]
                  env: [{ name: GATE, value: GATE_PATH }]
`;

describe.skipIf(!hasKubectl())('kubectl', () => {
  let cluster: ClusterUnderTest;
  let directory: string;
  let manifest: string;

  function kubectl(...args: readonly string[]): Promise<string> {
    return kubectlOutput(cluster.kubeconfig, ...args);
  }

  beforeAll(async () => {
    cluster = await startCluster();
    directory = mkdtempSync(join(tmpdir(), 'lockstep-kubectl-'));
    manifest = join(directory, 'pair.yaml');
    writeFileSync(manifest, JOBSET.replace('GATE_PATH', join(cluster.shared, 'gate')));
  });
  afterAll(async () => {
    await cluster.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('sees a healthy server', async () => {
    expect(await kubectl('get', '--raw', '/readyz')).toBe('ok');
    expect(await kubectl('api-resources')).toMatch(
      /^jobsets\s+jobset\.x-k8s\.io\/v1alpha2\s+true\s+JobSet$/m,
    );
    expect(await kubectl('get', 'nodes')).toMatch(/node-0\s+Ready/);
  });

  it('applies a JobSet and applies it again without a change', async () => {
    expect(await kubectl('apply', '-f', manifest)).toContain('jobset.jobset.x-k8s.io/pair created');
    expect(await kubectl('apply', '-f', manifest)).toContain('pair unchanged');
    await kubectl('wait', '--for=jsonpath={.status.syncedEpoch}=1', 'jobset/pair', '--timeout=60s');
  });

  // In another cluster the operator has a page of its own.
  it.skipIf(KUBERNETES !== undefined)('reads the metrics of a JobSet', async () => {
    const page = await kubectl('get', '--raw', '/metrics');
    const of = '{namespace="default",jobset="pair"}';
    for (const line of [
      'lockstep_jobset_state{namespace="default",jobset="pair",state="Released"} 1',
      `lockstep_jobset_epoch${of} 1`,
      `lockstep_jobset_restart_budget${of} 3`,
    ]) {
      expect(page.split('\n')).toContain(line);
    }
    const families = [...page.matchAll(/^# HELP (\S+)/gm)].map(([, name]) => name);
    expect(families).toContain('job_controller_jobs_finished_total');
    expect(new Set(families).size, 'a family that is there twice').toBe(families.length);
  });

  it('names every problem of a bad manifest', async () => {
    const bad = join(directory, 'bad.yaml');
    writeFileSync(bad, JOBSET.replace('maxRestarts: 3', 'maxRestarts: lots, maxRestrats: 3'));
    await expect(kubectl('apply', '-f', bad)).rejects.toThrow(
      /unknown field "spec.failurePolicy.maxRestrats"/,
    );
    writeFileSync(bad, JOBSET.replace('maxRestarts: 3', 'maxRestarts: lots'));
    await expect(kubectl('create', '-f', bad)).rejects.toThrow(
      /spec.failurePolicy.maxRestarts: Invalid value: "string"/,
    );
  });

  it('gets all that is wrong at once, by schema and rules together', async () => {
    const bad = join(directory, 'wrong.yaml');
    const wrong = [
      'managedBy: me',
      'coordinator: { replicatedJob: x }',
      'successPolicy: { operator: Any, targetReplicatedJobs: [nobody] }',
    ];
    const spec = ['spec:', ...wrong].join('\n  ');
    writeFileSync(bad, JOBSET.replace('spec:', spec).replace('name: pair', 'name: wrong'));
    const refusal = await kubectl('create', '-f', bad).catch((error: Error) => error.message);
    for (const cause of [
      'managedBy',
      'coordinator.replicatedJob',
      'successPolicy.targetReplicatedJobs[0]',
    ]) {
      expect(refusal).toContain(`spec.${cause}: Invalid value`);
    }
  });

  it('explains every field of a JobSet', async () => {
    const all = await kubectl('explain', 'jobset.spec', '--recursive');
    for (const field of ['replicatedJobs', 'dependsOn', 'restartStrategy', 'podFailurePolicy']) {
      expect(all).toMatch(new RegExp(`^\\s+${field}\\t`, 'm'));
    }
    expect(await kubectl('explain', 'jobset.spec.failurePolicy.rules.action')).toContain(
      'RestartJobAndIgnoreMaxRestarts',
    );
  });

  it('shows tables, documents and names', async () => {
    expect(await kubectl('get', 'jobsets')).toMatch(
      /^NAME\s+TERMINALSTATE\s+RESTARTS\s+INPLACE\s+EPOCH\s+COMPLETED/,
    );
    expect(await kubectl('get', 'pods', '-o', 'wide')).toMatch(/^NAME\s+READY\s+STATUS.*IP\s+NODE/);
    expect(await kubectl('get', 'pods', '-A')).toMatch(/^NAMESPACE\s+NAME/);
    expect(await kubectl('get', 'jobset', 'pair', '-o', 'yaml')).toContain('syncedEpoch: 1');
    expect(JSON.parse(await kubectl('get', 'jobset', 'pair', '-o', 'json'))).toMatchObject({
      kind: 'JobSet',
    });
    expect(await kubectl('get', 'jobset', '-o', 'name')).toBe('jobset.jobset.x-k8s.io/pair\n');
    expect(await kubectl('get', 'jobset', 'pair', '-o', 'jsonpath={.status.deprecatedEpoch}')).toBe(
      '0',
    );
    const labelled = 'jobset.sigs.k8s.io/jobset-name=pair';
    expect(
      (await kubectl('get', 'pods', '-l', labelled, '-o', 'name')).trim().split('\n'),
    ).toHaveLength(2);
    expect(
      await kubectl('get', 'pods', '-l', 'jobset.sigs.k8s.io/jobset-name=nobody', '-o', 'name'),
    ).toBe('');
  });

  it('describes JobSet, Job and Pod', async () => {
    expect(await kubectl('describe', 'jobset', 'pair')).toContain(
      'Restart Strategy:  InPlaceRestart',
    );
    expect(await kubectl('describe', 'job', 'pair-w-0')).toMatch(/Completion Mode:\s+Indexed/);
    const pod = (await podNames())[0] ?? '';
    expect(await kubectl('describe', 'pod', pod)).toMatch(/Events:[\s\S]*Started/);
  });

  it('reads logs', async () => {
    const pod = (await podNames())[0] ?? '';
    expect(await kubectl('logs', pod, '-c', 'worker')).toMatch(/^hello from pair-w-0-/m);
    const follow = spawn(KUBECTL, [
      '--kubeconfig',
      cluster.kubeconfig,
      'logs',
      '-f',
      pod,
      '-c',
      'worker',
    ]);
    await outputUntil(follow, 'hello from');
    follow.kill();
    await expect(kubectl('logs', pod, '-c', 'worker', '--previous')).rejects.toThrow(
      /previous terminated container "worker" in pod ".*" not found/,
    );
    await expect(kubectl('logs', pod, '-c', 'nobody')).rejects.toThrow(
      /container nobody is not valid/,
    );
  });

  it('watches, patches and lists events', async () => {
    const watch = spawn(KUBECTL, [
      '--kubeconfig',
      cluster.kubeconfig,
      'get',
      'jobset',
      'pair',
      '-w',
    ]);
    const suspended = outputUntil(watch, 'true');
    await kubectl('patch', 'jobset', 'pair', '--type=merge', '-p', '{"spec":{"suspend":true}}');
    await suspended;
    watch.kill();
    await kubectl('wait', '--for=condition=Suspended', 'jobset/pair', '--timeout=60s');
    await kubectl('patch', 'jobset', 'pair', '--type=merge', '-p', '{"spec":{"suspend":false}}');
    await until('an Event says so', async () =>
      expect(await kubectl('events', '--for', 'jobset/pair')).toContain('SuspendedJobs'),
    );
    expect(await kubectl('get', 'events', '--sort-by=.lastTimestamp')).toContain('SuspendedJobs');
  });

  it('waits for completion, then deletes', async () => {
    writeFileSync(join(cluster.shared, 'gate'), '');
    await kubectl('wait', '--for=condition=Completed', 'jobset/pair', '--timeout=60s');
    expect(await kubectl('get', 'jobset', 'pair')).toMatch(/pair\s+Completed/);
    expect(await kubectl('delete', 'jobset', 'pair', '--cascade=foreground')).toContain(
      '"pair" deleted',
    );
    expect(await kubectl('get', 'jobs,pods', '-o', 'name')).toBe('');
  });

  it('reports missing objects in the words of a real server', async () => {
    await expect(kubectl('get', 'jobset', 'pair')).rejects.toThrow(
      'Error from server (NotFound): jobsets.jobset.x-k8s.io "pair" not found',
    );
    await expect(kubectl('get', '--raw', '/apis/nothing/v1/things')).rejects.toThrow(
      /the server could not find the requested resource/,
    );
    await expect(kubectl('get', 'nonsense')).rejects.toThrow(
      /doesn't have a resource type "nonsense"/,
    );
  });

  async function podNames(): Promise<readonly string[]> {
    const names = await kubectl('get', 'pods', '-o', 'jsonpath={.items[*].metadata.name}');
    return names.split(' ').sort();
  }
});
