/**
 * Containers with namespaces, as real processes: what they see, how they end, what stays behind.
 */

import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Container, PODS, type PodSpec } from '@lockstep/kube/objects/pod.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { createNodeProcessRunner } from '@lockstep/kube/runtime/adapters/node-process-runner.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createLinuxNamespaces,
  findNamespaceTools,
  thisUser,
} from './adapters/linux-namespaces.ts';
import { createNodeFiles } from './adapters/node-files.ts';
import { PROGRAMS_PATH, RealNode, sh as shell } from './adapters/real-node.fixture.ts';
import type { NamespaceStyle } from './namespaces/command-line.ts';
import { probeNamespaces } from './namespaces/probe-namespaces.ts';
import type { TestApi } from './test-api.fixture.ts';

const AT = { namespace: 'default', name: 'p' };
const base = { clock: nodeClock, files: createNodeFiles(), processes: createNodeProcessRunner() };

const STYLES = [
  ['of the machine', false],
  ['of a user namespace', true],
] as const;

for (const [name, needsUserNamespace] of STYLES) {
  const style = styleOf(needsUserNamespace);
  const problem = typeof style === 'string' ? style : await problemOf(style);
  if (problem !== undefined) process.stderr.write(`skipped: root ${name}: ${problem}\n`);
  describe.skipIf(problem !== undefined)(
    `a container whose namespaces the root ${name} made`,
    () => {
      if (typeof style !== 'string') behaviour(style);
    },
  );
}

function styleOf(needsUserNamespace: boolean): NamespaceStyle | string {
  const tools = findNamespaceTools(PROGRAMS_PATH);
  if (typeof tools === 'string') return `this machine has no "${tools}"`;
  const user = thisUser();
  return { tools, needsUserNamespace, user: needsUserNamespace ? user : undefined };
}

async function problemOf(style: NamespaceStyle): Promise<string | undefined> {
  const parent = await mkdtemp(join(tmpdir(), 'namespaces-'));
  try {
    const options = { ...base, directory: join(parent, 'trial'), path: PROGRAMS_PATH };
    return await probeNamespaces(createLinuxNamespaces(style, join(parent, 'roots')), options);
  } finally {
    await rm(parent, { recursive: true });
  }
}

function behaviour(style: NamespaceStyle): void {
  let node: RealNode;
  let api: TestApi;

  beforeEach(async () => {
    node = await RealNode.start({
      namespaces: (directory) => createLinuxNamespaces(style, directory),
    });
    api = node.api;
  });

  afterEach(() => node.stop());

  async function ended(spec: PodSpec): Promise<string> {
    await api.run(spec);
    await node.untilPhase('Succeeded', 'Failed');
    return (await node.logs(spec.containers[0]?.name ?? '')).toString();
  }

  it('finds volumes at their paths, which the machine does not have', async () => {
    const log = await ended({
      volumes: [
        { name: 'd', emptyDir: {} },
        { name: 'f', downwardAPI: { items: [{ path: 'n', fieldRef: NAME_FIELD }] } },
      ],
      containers: [
        sh(
          'pwd; cat /lockstep/info/n /etc/lockstep.conf "$LOCKSTEP_ROOT/lockstep/info/n"; echo; ' +
            '(: >/lockstep/info/x) 2>/dev/null || echo read-only; : >/lockstep/data/sub/y; ls',
          {
            workingDir: '/lockstep/data/sub',
            volumeMounts: [
              { name: 'd', mountPath: '/lockstep/data' },
              { name: 'f', mountPath: '/lockstep/info', readOnly: true },
              { name: 'f', mountPath: '/etc/lockstep.conf', subPath: 'n' },
            ],
          },
        ),
      ],
    });
    expect(log).toBe('/lockstep/data/sub\nppp\nread-only\ny\n');
    expect(existsSync('/lockstep') || existsSync('/etc/lockstep.conf')).toBe(false);
  });

  it('shares what is mounted inside a volume and outside it', async () => {
    const volumeMounts = [
      { name: 'd', mountPath: '/lockstep' },
      { name: 'e', mountPath: '/lockstep/inner' },
    ];
    const log = await ended({
      volumes: [
        { name: 'd', emptyDir: {} },
        { name: 'e', emptyDir: {} },
      ],
      initContainers: [{ ...sh('echo kept >/lockstep/inner/x', { volumeMounts }), name: 'i' }],
      containers: [sh('cat /e/x', { volumeMounts: [{ name: 'e', mountPath: '/e' }] })],
    });
    expect(log).toBe('kept\n');
  });

  it('finds the names of its Pods in /etc/hosts', async () => {
    const log = await ended({ containers: [sh('cmp /etc/hosts "$LOCKSTEP_HOSTS" && echo same')] });
    expect(log).toBe('same\n');
  });

  it('has the name of its Pod, which it finds, and the aliases that the Pod wants', async () => {
    const script = [
      'cat /proc/sys/kernel/hostname',
      'echo $HOSTNAME',
      'grep -c "^$LOCKSTEP_POD_IP.*[[:space:]]me$" /etc/hosts',
      'tail -n 2 /etc/hosts',
      'cmp /etc/hosts "$LOCKSTEP_HOSTS"',
    ].join('; ');
    const log = await ended({
      hostname: 'me',
      hostAliases: [{ ip: '198.51.100.7', hostnames: ['far', 'far.example.com'] }],
      containers: [sh(script)],
    });
    expect(log).toBe(
      'me\nme\n1\n# Entries added by HostAliases.\n198.51.100.7\tfar\tfar.example.com\n',
    );
    expect(await readFile('/proc/sys/kernel/hostname', 'utf8')).not.toBe('me\n');
  });

  it('has its full name where it wants that', async () => {
    const full = await ended({
      subdomain: 'svc',
      hostname: 'me',
      setHostnameAsFQDN: true,
      containers: [sh('cat /proc/sys/kernel/hostname')],
    });
    expect(full).toMatch(/^me\.svc\.\S+\.svc\.cluster\.local\n$/);
  });

  it('has the name of the machine on its network', async () => {
    const host = await ended({
      hostNetwork: true,
      hostname: 'me',
      containers: [sh('cat /proc/sys/kernel/hostname')],
    });
    expect(host).toBe(await readFile('/proc/sys/kernel/hostname', 'utf8'));
  });

  it('sees its own processes only, and is the user that started the node', async () => {
    const log = await ended({ containers: [sh('ls -d /proc/[0-9]* | wc -l; id -u; id -g')] });
    const [count, uid, gid] = log.split('\n').map(Number);
    expect(count).toBeLessThan(10);
    expect([uid, gid]).toEqual([process.getuid?.(), process.getgid?.()]);
  });

  it('sees the processes of its Pod if they are shared, and they end with the Pod', async () => {
    const other = sh('exec tail -f /dev/null', { restartPolicy: 'Always' });
    const look = 'until grep -qx tail /proc/[0-9]*/comm 2>/dev/null; do sleep 0.05; done';
    const log = await ended({
      shareProcessNamespace: true,
      terminationGracePeriodSeconds: 1,
      initContainers: [{ ...other, name: 'i' }],
      containers: [sh(`${look}; ls -d /proc/[0-9]* | wc -l`)],
    });
    expect(Number(log)).toBeGreaterThan(3);
    expect(Number(log)).toBeLessThan(20);
  });

  it('sees the processes of the machine if it asks for that', async () => {
    const script = `[ -d /proc/${process.pid} ] && echo seen`;
    expect(await ended({ hostPID: true, containers: [sh(script)] })).toBe('seen\n');
  });

  it('writes nothing on the machine beside its volumes', async () => {
    await ended({ containers: [sh(': >/lockstep-file && : >/lockstep-other')] });
    expect(api.pod?.status?.phase).toBe('Succeeded');
    expect(existsSync('/lockstep-file')).toBe(false);
  });

  it('has all variables, also those that no shell could have', async () => {
    const env = [
      { name: 'a.b-c', value: 'x y' },
      { name: 'D', value: '1' },
    ];
    const log = await ended({
      containers: [{ name: 'c', image: 'i', command: ['env'], env }],
    });
    expect(log.split('\n')).toEqual(expect.arrayContaining(['a.b-c=x y', 'D=1']));
    expect(log).not.toMatch(/^OLDPWD=/m);
  });

  it('leaves its message at its path', async () => {
    await ended({ containers: [sh('printf bad-luck >/dev/termination-log; exit 3')] });
    const { terminated } = api.status('c')?.state ?? {};
    expect([terminated?.message, terminated?.exitCode]).toEqual(['bad-luck', 3]);
  });

  it.each<[string, string, number]>([
    ['its own code', 'trap "exit 5" TERM; echo ready; sleep 100 & wait', 5],
    ['the code of the signal', 'echo ready; exec sleep 100', 143],
    ['SIGKILL if it does not obey', 'trap "" TERM; echo ready; while :; do sleep 1; done', 137],
  ])('is told to stop and ends with %s', async (_, script, code) => {
    for (const hostPID of [false, true]) {
      await api.run({ hostPID, terminationGracePeriodSeconds: 1, containers: [sh(script)] });
      await until('it is ready', async () => expect(`${await node.logs('c')}`).toBe('ready\n'));
      await api.client.delete(PODS, AT);
      await until('the Pod is gone', () => api.pod === undefined);
      const last = api.history.findLast(({ status }) => exitCodeIn(status) !== undefined);
      expect(exitCodeIn(last?.status)).toBe(code);
    }
  });

  it('takes its descendants along, wherever they went', async () => {
    const script = 'setsid sh -c "trap : TERM; while :; do sleep 1; done" & sleep 0.1; exit 0';
    await ended({ containers: [sh(script)] });
    expect(await node.processes()).toEqual([]);
  });

  it('fails to start without its command, and runs one of a volume', async () => {
    await writeFile(join(node.root, 'tool'), '#!/bin/sh\necho from the volume\n', { mode: 0o755 });
    const volumes = [{ name: 'h', hostPath: { path: node.root } }];
    const volumeMounts = [{ name: 'h', mountPath: '/lockstep/tools' }];
    const command = ['/lockstep/tools/tool'];
    const tool = { name: 'c', image: 'i', command, volumeMounts };
    const missing = { ...tool, name: 'd', command: ['/lockstep/tools/none'] };
    expect(await ended({ volumes, containers: [tool, missing] })).toBe('from the volume\n');
    expect(api.status('d')?.state?.terminated).toMatchObject({
      exitCode: 128,
      reason: 'StartError',
      message: expect.stringContaining('"/lockstep/tools/none": no such file or directory'),
    });
    await rm(join(node.root, 'tool'));
  });

  it('is entered by hooks and probes', async () => {
    const command = ['sh', '-c', 'echo here >>/lockstep/data/x; [ $$ -lt 1000 ]'];
    const log = await ended({
      volumes: [{ name: 'd', emptyDir: {} }],
      containers: [
        sh(': >>x; while [ "$(wc -l </lockstep/data/x)" != 2 ]; do sleep 0.05; done; cat x', {
          workingDir: '/lockstep/data',
          volumeMounts: [{ name: 'd', mountPath: '/lockstep/data' }],
          lifecycle: { postStart: { exec: { command } } },
          startupProbe: { exec: { command }, periodSeconds: 60 },
        }),
      ],
    });
    expect(log).toBe('here\nhere\n');
  });
}

const NAME_FIELD = { fieldPath: 'metadata.name' };

function sh(script: string, more: Partial<Container> = {}): Container {
  return shell('c', script, more);
}

function exitCodeIn(status: NonNullable<TestApi['pod']>['status']): number | undefined {
  return status?.containerStatuses?.[0]?.state?.terminated?.exitCode;
}
