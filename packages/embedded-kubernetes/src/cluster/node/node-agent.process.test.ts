/** Pods of real processes: restarts, what must be killed, logs, and the recordings of a kubelet. */

import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  type Container,
  type ContainerRestartRule,
  PODS,
  type Pod,
} from '@lockstep/kube/objects/pod.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StatusText } from '../recorded-pods/pod-status-text.fixture.ts';
import {
  type RecordedPod,
  readRecording,
  shownStatuses,
} from '../recorded-pods/recorded-pod.fixture.ts';
import { namesIn, RealNode, sh } from './adapters/real-node.fixture.ts';
import type { TestApi } from './test-api.fixture.ts';

const RULES: readonly ContainerRestartRule[] = [
  { action: 'RestartPod', exitCodes: { operator: 'NotIn', values: [0] } },
];
const AT = { namespace: 'default', name: 'p' };

let node: RealNode;
let api: TestApi;

beforeEach(async () => {
  node = await RealNode.start();
  api = node.api;
});

afterEach(() => node.stop());

function haveRestarted(count: number, ...names: readonly string[]): () => boolean {
  return () =>
    names.every((name) => {
      const status = api.status(name);
      return status?.restartCount === count && status.state?.running !== undefined;
    });
}

describe('a container', () => {
  it('finds its volumes, its environment and its own directory', async () => {
    await api.run({
      volumes: [
        { name: 'd', emptyDir: {} },
        {
          name: 'f',
          downwardAPI: { items: [{ path: 'n', fieldRef: { fieldPath: 'metadata.name' } }] },
        },
      ],
      containers: [
        {
          ...sh('c', 'pwd; cat "$LOCKSTEP_ROOT/etc/info/n"; echo; echo "$1 $B"; ls -A', {
            workingDir: '/data/sub',
            volumeMounts: [
              { name: 'd', mountPath: '/data' },
              { name: 'f', mountPath: '/etc/info' },
            ],
            env: [
              { name: 'A', value: 'a' },
              { name: 'B', value: '$(A)b$$(A)' },
            ],
          }),
          args: ['-', 'ip=$(LOCKSTEP_POD_IP)'],
        },
      ],
    });
    await node.untilPhase('Succeeded');
    const [cwd, name, line, ...rest] = (await node.logs('c')).toString().trimEnd().split('\n');
    expect(cwd).toMatch(/\/data\/sub$|volumes\/d\/sub$/);
    expect([name, line, rest]).toEqual(['p', 'ip=127.77.0.2 ab$(A)', []]);
  });

  it('writes its progress where another container of the Pod reads it', async () => {
    const volumeMounts = [{ name: 'd', mountPath: '/var/run/lockstep-progress' }];
    const file = '/var/run/lockstep-progress/progress';
    const env = [{ name: 'LOCKSTEP_PROGRESS_FILE', value: file }];
    const read = `until grep 330 "$LOCKSTEP_ROOT${file}" 2>/dev/null; do sleep 0.05; done`;
    await api.run({
      volumes: [{ name: 'd', emptyDir: {} }],
      containers: [
        sh('worker', 'echo 330 > "$LOCKSTEP_PROGRESS_FILE"', { volumeMounts, env }),
        sh('agent', read, { volumeMounts }),
      ],
    });
    await node.untilPhase('Succeeded');
    expect((await node.logs('agent')).toString()).toBe('330\n');
  });

  it('is told to stop with SIGTERM, and leaves with its own code', async () => {
    await api.run({
      containers: [sh('c', 'trap "echo stopping; exit 5" TERM; echo ready; sleep 100 & wait')],
    });
    await until('it is ready', async () => expect(`${await node.logs('c')}`).toBe('ready\n'));
    await api.client.delete(PODS, AT);
    await until('the Pod is gone', () => api.pod === undefined);
    const last = api.history.findLast(
      ({ status }) => status?.containerStatuses?.[0]?.state?.terminated !== undefined,
    );
    expect(last?.status?.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(5);
  });

  it('leaves a message behind', async () => {
    await api.run({
      containers: [
        sh('c', 'printf bad-luck > "$LOCKSTEP_ROOT/dev/termination-log"; exit 1'),
        sh('d', 'echo from-the-log; exit 1', { terminationMessagePolicy: 'FallbackToLogsOnError' }),
      ],
    });
    await node.untilPhase('Failed');
    expect(api.status('c')?.state?.terminated?.message).toBe('bad-luck');
    expect(api.status('d')?.state?.terminated?.message).toBe('from-the-log\n');
  });

  it('fails to start when its command does not exist', async () => {
    await api.run({ containers: [{ name: 'c', image: 'x', command: ['/no/such/program'] }] });
    await node.untilPhase('Failed');
    expect(api.status('c')?.state?.terminated).toMatchObject({
      exitCode: 128,
      reason: 'StartError',
      message: expect.stringContaining('"/no/such/program": no such file or directory'),
    });
  });

  it('writes what it likes: bytes arrive intact', async () => {
    await api.run({ containers: [sh('c', String.raw`printf 'a\377\000b\nno newline'`)] });
    await node.untilPhase('Succeeded');
    expect(await node.logs('c')).toEqual(Buffer.from('a\xff\x00b\nno newline', 'latin1'));
  });

  it('may write for ever: others are served, and its log stays bounded', async () => {
    await api.run({
      containers: [
        sh('noisy', 'exec cat /dev/zero | tr "\\0" "x" | fold -w 1000'),
        sh('quiet', 'echo here; exec sleep 100'),
      ],
    });
    await until('the Pod is seen', () => api.pod !== undefined);
    const noisy = join(node.root, 'logs', `default_p_${api.pod?.metadata.uid ?? ''}`, 'noisy');
    await until('six logs', async () => expect(await namesIn(noisy)).toContain('0.log.6'));
    expect((await namesIn(noisy)).length).toBeLessThanOrEqual(5);
    expect((await node.logs('quiet')).toString()).toBe('here\n');
    expect((await node.logs('noisy', '?tailLines=1')).length).toBe(1001);
  });

  it('takes its descendants along, wherever they went', async () => {
    const script = 'setsid sh -c "trap : TERM; while :; do sleep 1; done" & sleep 0.2; exit 0';
    await api.run({ containers: [sh('c', script)] });
    await node.untilPhase('Succeeded');
    expect(await node.processes()).toEqual([]);
  });
});

describe('logs', () => {
  it('are followed until the container ends', async () => {
    await api.run({
      containers: [sh('c', 'for i in 1 2 3; do echo $i; sleep 0.05; done')],
    });
    await until('a line', async () => expect(`${await node.logs('c')}`).toMatch(/^1\n/));
    expect((await node.logs('c', '?follow=true')).toString()).toBe('1\n2\n3\n');
  });

  it('of the run before are kept', async () => {
    const once =
      'f=$LOCKSTEP_ROOT/d/m; [ -f $f ] && { echo second; exec sleep 100; }; touch $f; echo first; exit 1';
    await api.run({
      restartPolicy: 'OnFailure',
      volumes: [{ name: 'd', emptyDir: {} }],
      containers: [sh('c', once, { volumeMounts: [{ name: 'd', mountPath: '/d' }] })],
    });
    await until('the second run', async () => expect(`${await node.logs('c')}`).toBe('second\n'));
    expect((await node.logs('c', '?previous=true')).toString()).toBe('first\n');
  });

  it.each([
    ['/containerLogs/default/none/c', 404, 'pod "none" not found'],
    ['/containerLogs/default/p/none', 400, 'container none is not valid for pod p'],
    ['/containerLogs/default/p/c?tailLines=x', 400, 'tailLines: Invalid value: "x"'],
    [
      '/containerLogs/default/p/c?previous=true',
      400,
      'previous terminated container "c" in pod "p"',
    ],
    ['/elsewhere', 404, '404 page not found'],
  ])('%s is refused with %d', async (path, status, text) => {
    await api.run({ containers: [{ name: 'c', image: 'no command' }] });
    await until('it has a status', () => api.status('c') !== undefined);
    const response = await node.get(path);
    expect(response.status).toBe(status);
    expect(Buffer.from(response.body as Uint8Array).toString()).toContain(text);
  });
});

describe('a restart of all containers', () => {
  const once = (code: number): string =>
    `f=$LOCKSTEP_ROOT/d/m; [ -f $f ] || { touch $f; sleep 0.1; exit ${code}; }; exec sleep 100`;
  const volumeMounts = [{ name: 'd', mountPath: '/d' }];
  const volumes = [{ name: 'd', emptyDir: {} }];
  const restarting = { restartPolicy: 'Never', restartPolicyRules: RULES, volumeMounts } as const;

  it('from a regular container keeps UID, address and volumes', async () => {
    await api.run({
      volumes,
      initContainers: [sh('side', 'exec sleep 100', { restartPolicy: 'Always' })],
      containers: [sh('a', once(42), restarting), sh('b', 'exec sleep 100')],
    });
    await until('all have restarted once', haveRestarted(1, 'side', 'a', 'b'));
    expect(new Set(api.history.map(({ metadata }) => metadata.uid)).size).toBe(1);
    expect(new Set(api.history.flatMap(({ status }) => status?.podIP ?? [])).size).toBe(1);
  });

  it('from a sidecar kills what ignores SIGTERM', async () => {
    await api.run({
      volumes,
      initContainers: [sh('side', once(7), { ...restarting, restartPolicy: 'Always' })],
      containers: [sh('b', 'trap "" TERM; while :; do sleep 1; done')],
    });
    await until('all have restarted once', haveRestarted(1, 'side', 'b'));
  });

  it('forgets what was written outside volumes, and keeps the logs of the run before', async () => {
    const script = `ls; touch own; ${once(42)}`;
    await api.run({ volumes, containers: [sh('a', script, restarting)] });
    await until('all have restarted once', haveRestarted(1, 'a'));
    expect((await node.logs('a')).toString()).toBe('');
    expect((await node.logs('a', '?previous=true')).toString()).toBe('');
    const { uid } = api.pod?.metadata ?? {};
    expect(await namesIn(join(node.root, `logs/default_p_${uid}/a`))).toEqual(['0.log', '1.log']);
  });

  it('from an init container runs the earlier ones again', async () => {
    const script = `f=$LOCKSTEP_ROOT/d/m; [ -f $f ] && exit 0; touch $f; exit 9`;
    await api.run({
      volumes,
      initContainers: [sh('i', 'exit 0'), sh('j', script, restarting)],
      containers: [sh('b', 'exec sleep 100')],
    });
    await node.untilPhase('Running');
    expect([api.status('i')?.restartCount, api.status('j')?.restartCount]).toEqual([1, 1]);
    expect(api.status('b')?.restartCount).toBe(0);
  });
});

/** The recordings whose Pods come to rest within seconds. */
const FINITE = [
  'all-from-init-once',
  'all-reruns-completed-and-failed',
  'all-then-init-fails',
  'all-then-worker-fails-nomatch',
  'all-then-worker-succeeds',
  'all-two-sources-same-time',
  'init-always-pod-container-never-fails',
  'init-restart-once',
  'liveness-fails-never-rule-restart',
  'restart-nomatch',
  'restart-once-then-all',
  'two-one-fails-then-done',
];

/** Which of two exits comes first is chance. */
const RACING = 'all-two-sources-same-time';

describe('the recorded Pods of a kubelet end here as there', () => {
  it.each(FINITE)('%s', async (name) => {
    const recording = readRecording<RecordedPod>(name);
    // The recordings mount volumes at absolute paths; here they are below the container's root.
    const text = JSON.stringify(recording.spec).replaceAll('/d/', '$LOCKSTEP_ROOT/d/');
    const spec: Pod['spec'] = JSON.parse(text.replaceAll('sleep 1 ', 'sleep 0.1 '));
    await api.run({ ...spec, containers: spec.containers.map(withShellProbe) });
    const { pod, conditions, containers } = recording.statuses.at(-1) ?? {};
    const last = { pod, conditions, containers };
    await until('the last status', () =>
      expect(isDeepStrictEqual(shownStatuses(api.history).at(-1), last)).toBe(true),
    );
    if (name === RACING) return;
    const here = ends(shownStatuses(api.history));
    expect(here).toEqual(expect.arrayContaining([...ends(recording.statuses)]));
  });
});

/** An exec probe runs without a shell, so a variable in its command needs one. */
function withShellProbe(container: Container): Container {
  const command = container.livenessProbe?.exec?.command;
  if (command === undefined) return container;
  const exec = { command: ['sh', '-c', command.join(' ')] };
  return { ...container, livenessProbe: { ...container.livenessProbe, exec } };
}

/** The exits of containers that a client could see, each once. */
function ends(statuses: readonly StatusText[]): readonly string[] {
  const texts = statuses.flatMap(({ containers }) => containers);
  return [...new Set(texts.filter((text) => /^\w+: exit/.test(text)))];
}
