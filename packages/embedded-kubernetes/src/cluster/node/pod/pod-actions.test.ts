/** What the containers of a Pod are to do next, from records alone. */

import type {
  Container,
  ContainerRestartRule,
  PodSpec,
  RestartPolicy,
} from '@lockstep/kube/objects/pod.ts';
import { describe, expect, it } from 'vitest';
import { backoffLimits } from '../backoff.ts';
import { type ContainerRecord, freshRecord } from '../container/container-record.ts';
import { exited, probed, running, starting, stopping } from '../container/container-transitions.ts';
import { containersOf } from '../pod-containers.ts';
import { type PodMode, planPod } from './pod-actions.ts';

/**
 * `-` never ran, `s` starts, `r` runs, `u` runs and has not started yet by its probe, `g` was given
 * up by a probe, `k` was told to stop, a number ended with that code.
 */
type Life = '-' | 's' | 'r' | 'u' | 'g' | 'k' | number;

const ALL: readonly ContainerRestartRule[] = [
  { action: 'RestartAllContainers', exitCodes: { operator: 'NotIn', values: [0] } },
];
const NOW = 1_000_000;

const SPEC: PodSpec = {
  restartPolicy: 'Never',
  initContainers: [
    { name: 'i' },
    { name: 's1', restartPolicy: 'Always' },
    { name: 's2', restartPolicy: 'Always' },
  ],
  containers: [{ name: 'a', restartPolicy: 'Never', restartPolicyRules: ALL }, { name: 'b' }],
};

function recordOf(
  container: Container,
  kind: ContainerRecord['kind'],
  life: Life,
): ContainerRecord {
  const fresh = freshRecord(container.name, kind);
  if (life === '-') return fresh;
  const started = starting(fresh, NOW, backoffLimits());
  if (life === 's') return started;
  const run = running(started, 'id', NOW, {
    startup: life === 'u' || life === 'g',
    readiness: false,
  });
  if (life === 'r' || life === 'u') return run;
  if (life === 'g') return probed(run, 'Startup', 'failure', false);
  if (life === 'k') return stopping(run, 'PodEnd');
  return exited(run, { exitCode: life }, NOW);
}

function plan(lives: string, mode: PodMode = 'running', spec = SPEC): unknown {
  const each = lives
    .split(' ')
    .map((text): Life => (/^\d/.test(text) ? Number(text) : (text as Life)));
  const records = containersOf(spec).map(({ container, kind }, i) =>
    recordOf(container, kind, each[i] ?? '-'),
  );
  const result = planPod(
    { spec, records: new Map(records.map((record) => [record.name, record])), mode },
    NOW,
  );
  switch (result.type) {
    case 'run':
      return [
        `start ${result.start.join(' ')}`.trim(),
        ...(result.stop.length === 0 ? [] : [`stop ${result.stop.join(' ')}`]),
      ].join(', ');
    case 'take-down':
      return result.isDown ? 'down' : `stop ${result.stop.join(' ')}`.trim();
    case 'restart-all':
    case 'replace-sandbox':
    case 'end':
      return result.type;
  }
}

describe('a Pod of init container i, sidecars s1 and s2, containers a and b', () => {
  it.each([
    ['waits for it', 'r - - - -', 'start'],
    ['goes on to the sidecar', '0 - - - -', 'start s1'],
    ['waits for a sidecar to have started', '0 u - - -', 'start'],
    ['goes on once it has', '0 r - - -', 'start s2'],
    ['starts all containers together', '0 r r - -', 'start a b'],
    ['has nothing to do while all run', '0 r r r r', 'start'],
    ['restarts a sidecar beside running containers', '0 137 r r r', 'start s1'],
    ['does not hold containers back once they ran', '0 u r 0 r', 'start'],
    ['ends when its containers are done', '0 r r 0 0', 'end'],
    ['runs on while one container does', '0 r r 0 r', 'start'],
    ['ends when the init container fails', '1 - - - -', 'end'],
    ['keeps running when a container failed for good', '0 r r r 1', 'start'],
    ['restarts all when a rule says so', '0 r r 42 r', 'restart-all'],
    ['restarts all although another ended', '0 r r 42 0', 'restart-all'],
    ['stops what a probe gave up', '0 r r g r', 'start, stop a'],
    ['loses its sandbox when a probe gave up the last container', '0 r r 0 g', 'replace-sandbox'],
    ['keeps it for a sidecar that a probe gave up', '0 g r r r', 'start, stop s1'],
    [
      'stops a sidecar that a probe gave up before anything else ran',
      '0 g - - -',
      'start, stop s1',
    ],
    ['restarts a sidecar along with the next', '0 137 - - -', 'start s1 s2'],
    ['restarts all on the exit of a sidecar only by a rule', '0 42 r r r', 'start s1'],
  ])('%s', (_, lives, expected) => {
    expect(plan(lives)).toBe(expected);
  });

  it.each([
    ['stops one container after the other', '0 r r r r', 'stop a'],
    ['stops the next when it is down', '0 r r 42 r', 'stop b'],
    ['stops the sidecars after them', '0 r r 42 143', 'stop s1'],
    ['in the order in which they were started', '0 143 r 42 143', 'stop s2'],
    ['waits for what is starting', '0 42 s - -', 'stop'],
    ['is down when nothing runs', '0 143 143 42 137', 'down'],
  ])('while all restart: %s', (_, lives, expected) => {
    expect(plan(lives, 'restarting-all')).toBe(expected);
  });

  it.each([
    ['stops containers first', '0 r r r r', 'stop a b'],
    ['leaves the sidecars until they are down', '0 r r k 143', 'stop'],
    ['stops the last sidecar', '0 r r 0 143', 'stop s2'],
    ['then the one before', '0 r 143 0 143', 'stop s1'],
    ['is down at the end', '0 143 143 0 143', 'down'],
    ['asks no rule any more', '0 143 143 42 0', 'down'],
    ['has nothing to stop before anything ran', '- - - - -', 'down'],
  ])('while it ends: %s', (_, lives, expected) => {
    expect(plan(lives, 'ending')).toBe(expected);
  });
});

describe('a container that ended beside one that runs', () => {
  const rules = (action: ContainerRestartRule['action'], value: number) =>
    [{ action, exitCodes: { operator: 'In', values: [value] } }] as const;

  it.each<[pod: RestartPolicy, own: Partial<Container>, code: number, isStarted: boolean]>([
    ['Always', {}, 0, true],
    ['Always', {}, 1, true],
    ['OnFailure', {}, 0, false],
    ['OnFailure', {}, 1, true],
    ['Never', {}, 0, false],
    ['Never', {}, 1, false],
    ['Never', { restartPolicy: 'Always' }, 0, true],
    ['Never', { restartPolicy: 'Always' }, 1, true],
    ['Always', { restartPolicy: 'OnFailure' }, 0, false],
    ['Never', { restartPolicy: 'OnFailure' }, 1, true],
    ['Always', { restartPolicy: 'Never' }, 0, false],
    ['Always', { restartPolicy: 'Never' }, 1, false],
    ['Always', { restartPolicy: 'Never', restartPolicyRules: rules('Restart', 1) }, 1, true],
    ['Always', { restartPolicy: 'Never', restartPolicyRules: rules('Restart', 0) }, 0, true],
    ['Always', { restartPolicy: 'Always', restartPolicyRules: rules('Terminate', 1) }, 1, false],
    ['Always', { restartPolicy: 'Always', restartPolicyRules: rules('Terminate', 1) }, 2, true],
  ])('under %s with %j and code %i is started: %s', (restartPolicy, own, code, isStarted) => {
    const spec: PodSpec = { restartPolicy, containers: [{ name: 'a', ...own }, { name: 'b' }] };
    expect(plan(`${code} r`, 'running', spec)).toBe(isStarted ? 'start a' : 'start');
  });

  it('is started if it never ran, under any policy', () => {
    const spec: PodSpec = { restartPolicy: 'Never', containers: [{ name: 'a' }, { name: 'b' }] };
    expect(plan('- r', 'running', spec)).toBe('start a');
  });
});

describe('a Pod of which all containers were removed', () => {
  it('begins with its init containers', () => {
    expect(plan('- - - - -')).toBe('start i');
  });

  it('starts its containers if it has no others', () => {
    const spec: PodSpec = { containers: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] };
    expect(plan('- - -', 'running', spec)).toBe('start a b c');
  });
});

describe('an init container whose own policy is Never', () => {
  it('ends its Pod when it fails, although that would retry', () => {
    const spec: PodSpec = {
      restartPolicy: 'Always',
      initContainers: [{ name: 'i', restartPolicy: 'Never' }],
      containers: [{ name: 'a' }],
    };
    expect(plan('1 -', 'running', spec)).toBe('end');
  });
});

describe('an init container', () => {
  const spec = (more: Partial<Container>): PodSpec => ({
    restartPolicy: 'Never',
    initContainers: [{ name: 'i', ...more }],
    containers: [{ name: 'a' }],
  });

  it.each([
    [
      'is finished by exit 0 whatever its Restart rule',
      {
        restartPolicy: 'Never',
        restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [0] } }],
      },
      '0 -',
      'start a',
    ],
    ['is retried under its own policy', { restartPolicy: 'OnFailure' }, '1 -', 'start i'],
    [
      'is retried by a rule of its own',
      {
        restartPolicy: 'Never',
        restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [75] } }],
      },
      '75 -',
      'start i',
    ],
    [
      'ends the Pod with a code that no rule lists',
      {
        restartPolicy: 'Never',
        restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [75] } }],
      },
      '1 -',
      'end',
    ],
    [
      'triggers the restart of all with its rule',
      {
        restartPolicy: 'Never',
        restartPolicyRules: [
          { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } },
        ],
      },
      '42 -',
      'restart-all',
    ],
    [
      'triggers the restart of all with 0 too, if its rule matches',
      {
        restartPolicy: 'Never',
        restartPolicyRules: [{ action: 'RestartPod', exitCodes: { operator: 'In', values: [0] } }],
      },
      '0 -',
      'restart-all',
    ],
  ] as const)('%s', (_, more, lives, expected) => {
    expect(plan(lives, 'running', spec(more as Partial<Container>))).toBe(expected);
  });
});
