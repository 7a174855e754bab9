/** Each step of a Pod's life alone, from a literal state that is frozen. */

import type { Pod } from '@lockstep/kube/objects/pod.ts';
import { describe, expect, it } from 'vitest';
import { backoffLimits } from '../backoff.ts';
import {
  type ContainerRecord,
  type Exited,
  FRESH,
  freshRecord,
  type Running,
} from '../container/container-record.ts';
import { frozenStep } from './pod-life.fixture.ts';
import { newLife, type PodEffect, type PodLife, type PodNews, type Step } from './pod-life.ts';

const NOW_MS = Date.parse('2026-01-01T00:00:00Z');
const AT = { nowMs: NOW_MS, monotonicMs: 5_000 };
const POD: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'default', uid: 'u', generation: 1 },
  spec: {
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 10,
    containers: [
      {
        name: 'a',
        restartPolicy: 'Never',
        restartPolicyRules: [
          { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } },
        ],
      },
      { name: 'b', image: 'one' },
    ],
  },
};
const RUNNING: Running = {
  state: 'running',
  containerID: 'c',
  startedMs: NOW_MS - 1_000,
  started: true,
  ready: true,
  stopping: undefined,
  unhealthy: undefined,
};
const EXITED: Exited = {
  state: 'exited',
  terminated: { exitCode: 1 },
  finishedMs: NOW_MS,
  wasStopped: undefined,
};

function record(name: string, life: ContainerRecord['life'], more: Partial<ContainerRecord> = {}) {
  return { ...freshRecord(name, 'regular'), life, ...more };
}

/** Prepared, with both containers running, which the API knows. */
const LIFE: PodLife = {
  ...newLife(
    {
      ...POD,
      status: {
        phase: 'Running',
        podIP: '127.9.0.2',
        conditions: [{ type: 'Ready', status: 'True' }],
      },
    },
    { hostIP: '127.9.0.1', backoff: backoffLimits() },
    AT,
    undefined,
  ),
  stage: { name: 'Prepared' },
  podIP: '127.9.0.2',
  records: [record('a', RUNNING), record('b', RUNNING)],
};

function on(life: PodLife, news: PodNews): Step {
  return frozenStep(life, { ...news, at: AT });
}

/** Effects by their types, with what tells two of one type apart. */
function told(effects: readonly PodEffect[]): readonly string[] {
  return effects.map(textOf);
}

function textOf(effect: PodEffect): string {
  switch (effect.type) {
    case 'writeStatus':
      return `${effect.importance} ${effect.status.phase}`;
    case 'start':
      return `start ${effect.container.name} ${effect.restart}`;
    case 'stop':
      return `stop ${effect.name} in ${effect.graceMs}`;
    case 'event':
      return `event ${effect.reason} ${effect.about?.name ?? ''}`.trimEnd();
    case 'wake':
      return `wake ${effect.delayMs}`;
    case 'killAfter':
      return `kill in ${effect.delayMs}`;
    case 'takeOver':
      return `take over ${effect.runs.map(({ container }) => container.name).join(' ')}`;
    case 'abandonPreparation':
    case 'cleanUp':
    case 'confirmDeletion':
    case 'introduce':
    case 'logRestartOfAll':
    case 'prepare':
    case 'renewAddress':
    case 'tellOthers':
      return effect.type;
  }
}

const exit = (name: string, exitCode: number): PodNews => {
  return { type: 'exited', name, exitCode, message: '' };
};

describe('a Pod that the node sees', () => {
  const seen = newLife(POD, LIFE.node, AT, undefined);

  it('is prepared first', () => {
    const { life, effects } = on(seen, { type: 'begun' });
    expect(told(effects)).toEqual(['prepare', 'latest Pending']);
    expect(life.stage).toEqual({ name: 'Preparing', problem: undefined });
  });

  it('is only cleaned up if it has ended before', () => {
    const { life, effects } = on(
      { ...seen, pod: { ...POD, status: { phase: 'Failed' } } },
      { type: 'begun' },
    );
    expect([life.stage.name, told(effects)]).toEqual(['Over', ['cleanUp']]);
  });

  it('says what it cannot be prepared for', () => {
    const news: PodNews = { type: 'notPrepared', reason: 'FailedMount', problem: 'no such map' };
    const { life, effects } = on(seen, news);
    expect(told(effects)).toEqual(['event FailedMount', 'latest Pending']);
    expect(life.status?.conditions[0]).toMatchObject({ status: 'False', message: 'no such map' });
  });

  it('starts its containers once other Pods know its address', () => {
    const prepared = on(seen, { type: 'prepared', podIP: '127.9.0.2' });
    expect(told(prepared.effects)).toEqual(['introduce']);
    const { effects } = on(prepared.life, { type: 'introduced' });
    expect(told(effects)).toEqual(['latest Pending', 'start a 0', 'start b 0']);
  });

  it('starts nothing if it was deleted meanwhile', () => {
    const deleted: Pod = {
      ...POD,
      metadata: { ...POD.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    };
    const { life, effects } = on(seen, { type: 'updated', pod: deleted });
    expect(told(effects)).toEqual(['abandonPreparation', 'must Failed', 'cleanUp']);
    expect([life.stage.name, life.ending]).toEqual(['Over', { type: 'deleted' }]);
  });
});

describe('a Pod that an earlier life of the node has run', () => {
  const resumed = newLife(POD, LIFE.node, AT, {
    records: [record('a', RUNNING), record('b', { state: 'starting', before: settledFresh('b') })],
    mode: 'running',
    ending: undefined,
    podIP: '127.9.0.2',
  });

  it('takes its processes over before anything else', () => {
    const { life, effects } = on(resumed, { type: 'begun' });
    expect([life.stage.name, told(effects)]).toEqual(['Adopting', ['take over a b']]);
  });

  it('does nothing about an end before all is taken over, and shows nothing', () => {
    expect(on(resumed, exit('a', 42)).effects).toEqual([]);
    expect(on(resumed, { type: 'gone' }).effects).toEqual([{ type: 'abandonPreparation' }]);
  });

  it('continues with its preparation then, and still shows nothing', () => {
    const { life, effects } = on(resumed, { type: 'allTakenOver' });
    expect([life.stage.name, told(effects)]).toEqual(['Preparing', ['prepare']]);
  });

  it('counts a process that is gone as lost, and a start that was none as not tried', () => {
    const lost = on(resumed, { type: 'missing', name: 'a' }).life;
    const { life } = on(lost, { type: 'missing', name: 'b' });
    expect(life.records).toMatchObject([
      { life: { state: 'exited', terminated: { reason: 'ContainerStatusUnknown' } } },
      { life: { state: 'waiting' }, restartCount: 0 },
    ]);
  });

  it('ends if it was about to, with its whole grace', () => {
    const ending: PodLife = {
      ...resumed,
      mode: 'ending',
      ending: { type: 'containers' },
      records: [record('a', RUNNING), record('b', EXITED)],
    };
    const { life, effects } = on(ending, { type: 'allTakenOver' });
    expect(life.killAtMs).toBe(AT.monotonicMs + 10_000);
    expect(told(effects)).toContain('stop a in 10000');
  });

  it('keeps a container with another image for after its preparation', () => {
    const stopped = record('b', { ...RUNNING, stopping: 'Redefined' });
    const { life, effects } = on(
      { ...resumed, stage: { name: 'Preparing', problem: undefined }, records: [stopped] },
      exit('b', 143),
    );
    expect(effects).toEqual([]);
    expect(life.records[0]).toMatchObject({
      life: { state: 'waiting', isRestart: true },
      backoff: { delayMs: 10_000 },
    });
  });
});

describe('a container', () => {
  const starting: PodLife = {
    ...LIFE,
    records: [record('a', { state: 'starting', before: settledFresh('a') }), record('b', RUNNING)],
  };

  it('runs when its process has started', () => {
    const news: PodNews = { type: 'started', name: 'a', containerID: 'id', startedMs: NOW_MS };
    const { life, effects } = on(starting, news);
    expect(life.records[0]?.life).toMatchObject({ state: 'running', containerID: 'id' });
    expect(told(effects)).toEqual(['event Created a', 'event Started a', 'latest Running']);
  });

  it('has failed when its command cannot be executed', () => {
    const news: PodNews = { type: 'notStarted', name: 'a', why: 'no such file', containerID: 'id' };
    const { life, effects } = on(starting, news);
    expect(life.records[0]?.life).toMatchObject({
      state: 'exited',
      terminated: { exitCode: 128, reason: 'StartError' },
    });
    expect(told(effects)[0]).toBe('event Failed a');
  });

  it.each([true, false])('waits for what is missing, if that may come: %s', (mayPass) => {
    const why = { reason: 'CreateContainerConfigError', message: 'no map' };
    const { life, effects } = on(starting, { type: 'blocked', name: 'a', mayPass, ...why });
    expect(life.records[0]?.life).toMatchObject({ state: 'waiting', ...why });
    expect(told(effects).includes('wake 2000')).toBe(mayPass);
  });

  it('has not restarted as long as it waits for what is missing', () => {
    const before = { ...freshRecord('a', 'regular'), life: EXITED };
    const restarting = record('a', { state: 'starting', before }, { restartCount: 1 });
    const { life } = on(
      { ...LIFE, records: [restarting, record('b', RUNNING)] },
      { type: 'blocked', name: 'a', mayPass: true, reason: 'CreateContainerError', message: '' },
    );
    expect(life.records[0]).toMatchObject({
      restartCount: 0,
      lastTerminated: EXITED.terminated,
      life: { state: 'waiting', isRestart: true },
    });
  });

  it('restarts at once after its first end, which is shown before', () => {
    const spec: Pod['spec'] = { ...POD.spec, containers: [{ name: 'a', restartPolicy: 'Always' }] };
    const { life, effects } = on(
      { ...LIFE, pod: { ...POD, spec }, spec, records: [record('a', RUNNING)] },
      exit('a', 1),
    );
    expect(told(effects)).toEqual(['must Running', 'tellOthers', 'start a 1']);
    expect(life.records[0]?.backoff).toEqual({ delayMs: 10_000, updatedMs: NOW_MS });
  });

  it('waits for its back-off after another end', () => {
    const spec: Pod['spec'] = { ...POD.spec, containers: [{ name: 'a', restartPolicy: 'Always' }] };
    const backoff = { delayMs: 20_000, updatedMs: NOW_MS - 1_000 };
    const { life, effects } = on(
      { ...LIFE, pod: { ...POD, spec }, spec, records: [record('a', RUNNING, { backoff })] },
      exit('a', 1),
    );
    expect(told(effects).slice(2)).toEqual(['event BackOff a', 'latest Running', 'wake 20000']);
    expect(life.records[0]?.backoff?.delayMs).toBe(40_000);
    expect(life.records[0]?.life).toMatchObject({
      message: 'back-off 20s restarting failed container=a pod=p_default(u)',
    });
    expect(told(on(life, { type: 'woken' }).effects)).toEqual(['wake 20000']);
  });

  it('is stopped when a probe gives it up', () => {
    const news: PodNews = { type: 'probed', name: 'b', probe: 'Liveness', verdict: 'failure' };
    const { life, effects } = on(LIFE, news);
    expect(told(effects)).toEqual(['latest Running', 'event Killing b', 'stop b in 10000']);
    expect(life.records[1]?.life).toMatchObject({ stopping: 'Unhealthy' });
  });

  it('is shown as started before it is shown as ready', () => {
    const spec: Pod['spec'] = { ...POD.spec, containers: [{ name: 'a', startupProbe: {} }] };
    const running = { ...RUNNING, started: false, ready: false };
    const { effects } = on(
      { ...LIFE, pod: { ...POD, spec }, spec, records: [record('a', running)] },
      { type: 'probed', name: 'a', probe: 'Startup', verdict: 'success' },
    );
    const shown = effects.flatMap((effect) =>
      effect.type === 'writeStatus'
        ? effect.status.containerStatuses?.map(({ started, ready }) => ({ started, ready }))
        : [],
    );
    expect(shown).toEqual([
      { started: true, ready: false },
      { started: true, ready: true },
    ]);
  });

  it('is stopped for another image, and starts again without its end being shown', () => {
    const [a, b] = POD.spec.containers;
    const pod: Pod = {
      ...POD,
      metadata: { ...POD.metadata, generation: 2 },
      spec: {
        ...POD.spec,
        containers: [a, { ...b, name: 'b', image: 'two' }].flatMap((c) => c ?? []),
      },
    };
    const changed = on(LIFE, { type: 'updated', pod });
    expect(told(changed.effects).slice(0, 2)).toEqual(['event Killing b', 'stop b in 10000']);
    const { life, effects } = on(changed.life, exit('b', 143));
    expect(told(effects)).toEqual(['start b 1']);
    expect(life.status?.containerStatuses?.[1]).toMatchObject({ state: { running: {} } });
  });

  it('is not started again by the probe that gave it up, once its Pod ends', () => {
    const { life, effects } = on(
      {
        ...LIFE,
        mode: 'ending',
        ending: { type: 'deleted' },
        records: [
          record('a', { ...RUNNING, stopping: 'PodEnd' }),
          record('b', { ...RUNNING, stopping: 'Redefined' }),
        ],
      },
      exit('b', 0),
    );
    expect(told(effects)).not.toContain('start b 1');
    expect(life.records[1]?.life.state).toBe('exited');
  });
});

describe('a restart of all containers', () => {
  it('begins by the rule, and stops what runs', () => {
    const { life, effects } = on(LIFE, exit('a', 42));
    expect(life.mode).toBe('restarting-all');
    expect(told(effects)).toEqual([
      'logRestartOfAll',
      'must Running',
      'tellOthers',
      'event Killing b',
      'stop b in 2000',
    ]);
  });

  it('waits if the last one began just now', () => {
    const { life, effects } = on(
      { ...LIFE, lastRestartAllMs: AT.monotonicMs - 100 },
      exit('a', 42),
    );
    expect([life.mode, told(effects).at(-1)]).toEqual(['running', 'wake 400']);
  });

  it('starts all again when the last is down', () => {
    const restarting: PodLife = {
      ...LIFE,
      mode: 'restarting-all',
      records: [
        record('a', { ...EXITED, terminated: { exitCode: 42 } }),
        record('b', { ...RUNNING, stopping: 'RestartAllContainers' }),
      ],
    };
    const { life, effects } = on(restarting, exit('b', 143));
    expect(life.mode).toBe('running');
    expect(told(effects).filter((one) => one.startsWith('start'))).toEqual([
      'start a 1',
      'start b 1',
    ]);
  });
});

describe('a sandbox whose last container a probe gave up', () => {
  const down: PodLife = {
    ...LIFE,
    mode: 'replacing-sandbox',
    records: [
      record('a', { ...RUNNING, stopping: 'SandboxChanged' }),
      record('b', { ...EXITED, terminated: { exitCode: 0 } }),
    ],
  };

  it('gets another address once all is down', () => {
    const { effects } = on(down, exit('a', 42));
    expect(told(effects)).toEqual([
      'must Running',
      'tellOthers',
      'event SandboxChanged',
      'step Running',
      'renewAddress',
    ]);
  });

  it('shows the address, and tells others of it', () => {
    const { life, effects } = on(LIFE, { type: 'addressRenewed', podIP: '127.9.0.7' });
    expect(told(effects)).toEqual(['must Running', 'tellOthers', 'introduce']);
    expect(life.status?.podIP).toBe('127.9.0.7');
  });

  it('is not renewed for a Pod that is done', () => {
    const { life, effects } = on(down, exit('a', 1));
    expect([life.stage.name, told(effects).at(-1)]).toEqual(['Over', 'cleanUp']);
  });
});

describe('the end of a Pod', () => {
  it('comes when its containers are done: conditions first, then the phase', () => {
    const { life, effects } = on(
      {
        ...LIFE,
        records: [record('a', RUNNING), record('b', { ...EXITED, terminated: { exitCode: 0 } })],
      },
      exit('a', 0),
    );
    expect(told(effects)).toEqual([
      'step Running',
      'tellOthers',
      'abandonPreparation',
      'must Succeeded',
      'cleanUp',
    ]);
    expect(life.stage.name).toBe('Over');
  });

  it('is brought forward by a shorter grace, and keeps its first reason', () => {
    const ending = on(LIFE, { type: 'deadlineExceeded' });
    expect(told(ending.effects)).toEqual([
      'event DeadlineExceeded',
      'abandonPreparation',
      'event Killing a',
      'stop a in 10000',
      'event Killing b',
      'stop b in 10000',
      'latest Running',
      'tellOthers',
    ]);
    const { life, effects } = on(ending.life, { type: 'gone' });
    expect(told(effects)).toEqual(['kill in 2000']);
    expect(life.ending).toMatchObject({ type: 'failed', reason: 'DeadlineExceeded' });
  });

  it('is not shown when the node stops', () => {
    const stopping = on(LIFE, { type: 'nodeStops' });
    expect(stopping.effects).toEqual([]);
    const down = on(stopping.life, exit('a', 143));
    expect(down.effects).toEqual([]);
    expect(told(on(down.life, { type: 'allShutDown' }).effects)).toEqual(['cleanUp']);
  });

  it.each([
    ['a Pod that is deleted', '2026-01-01T00:00:00Z', ['tellOthers', 'confirmDeletion']],
    ['one that stays', undefined, ['tellOthers']],
  ])('lets the API forget %s', (_, deletionTimestamp, expected) => {
    const metadata = { ...POD.metadata, ...(deletionTimestamp && { deletionTimestamp }) };
    const over: PodLife = { ...LIFE, pod: { ...POD, metadata }, stage: { name: 'Over' } };
    expect(told(on(over, { type: 'cleanedUp' }).effects)).toEqual(expected);
  });

  it('is confirmed also when the deletion comes later', () => {
    const metadata = { ...POD.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
    const gone: PodLife = { ...LIFE, stage: { name: 'CleanedUp' } };
    const news: PodNews = { type: 'updated', pod: { ...POD, metadata } };
    expect(told(on(gone, news).effects)).toEqual(['confirmDeletion']);
  });
});

function settledFresh(name: string) {
  return { ...freshRecord(name, 'regular'), life: FRESH };
}
