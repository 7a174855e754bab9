/**
 * One Pod, its processes and a node agent that may die, as one transition system, walked at random:
 * each step of the Pod's life is taken twice from a frozen state, and what a kubelet keeps is kept.
 */

import type { Container, ContainerRestartRule, Pod, PodSpec } from '@lockstep/kube/objects/pod.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BACKOFF_RESET_MS, backoffLimits, earliestStartMs } from '../backoff.ts';
import type { ContainerRecord } from '../container/container-record.ts';
import { allContainersOf, containersOf } from '../pod-containers.ts';
import type { NodePodStatus } from '../status/pod-status.ts';
import { frozenStep } from './pod-life.fixture.ts';
import {
  newLife,
  type PodEffect,
  type PodLife,
  type PodNews,
  type PodState,
  recordOf,
} from './pod-life.ts';

type Order = Extract<PodEffect, { type: 'start' }>;

interface Choice {
  readonly name: string;
  readonly run: () => void;
}

const CODES = [0, 0, 1, 42] as const;
const NODE = { hostIP: '127.9.0.1', backoff: backoffLimits() };

class World {
  life: PodLife;
  nowMs = 1_700_000_000_000;
  /** Processes, by container: what is known of a stop. */
  readonly processes = new Map<string, { isStopping: boolean }>();
  /** Starts that were asked for and not answered. */
  starts: Order[] = [];
  /** Other effects that wait for their answer. */
  answers: Choice[] = [];
  isWakeAsked = false;
  /** Since all containers were last restarted. */
  readonly completed = new Set<string>();
  hasRegularStarted = false;
  faults: number;
  readonly #images = new Set<string>();
  #status: NodePodStatus | undefined;

  constructor(spec: PodSpec, faults: number) {
    const metadata = { name: 'p', namespace: 'default', uid: 'u', generation: 1 };
    this.life = newLife({ metadata, spec } as Pod, NODE, this.#at(), undefined);
    this.faults = faults;
    this.tell({ type: 'begun' });
  }

  tell(news: PodNews): void {
    const before = this.life;
    const { life, effects } = frozenStep(before, { ...news, at: this.#at() });
    this.life = life;
    this.#checkBackoff(before, news);
    const restartsAll = effects.some(({ type }) => type === 'logRestartOfAll');
    // A restart of all containers waits for nothing.
    const waiting = restartsAll || before.mode === 'restarting-all' ? [] : before.records;
    for (const effect of effects) this.#carryOut(effect, waiting);
    if (life.stage.name === 'Over' || life.stage.name === 'CleanedUp') {
      expect([...this.processes.keys(), ...this.starts]).toEqual([]);
    }
  }

  choices(): readonly Choice[] {
    const { life } = this;
    const all: Choice[] = [...this.answers];
    const add = (name: string, run: () => void): void => {
      all.push({ name, run });
    };
    for (const order of this.starts) this.#answersTo(order, add);
    for (const [name, { isStopping }] of this.processes) {
      for (const exitCode of isStopping ? [0, 143] : CODES) {
        add(`${name} ends with ${exitCode}`, () => this.end(name, exitCode));
      }
      if (!isStopping) this.#probesOf(name, add);
    }
    if (this.isWakeAsked) {
      add('the time comes', () => {
        const { wakeAtMs = 0, at } = life;
        this.nowMs += Math.max(0, wakeAtMs - at.monotonicMs);
        this.isWakeAsked = false;
        this.tell({ type: 'woken' });
      });
    }
    add('time passes', () => {
      this.nowMs += 700;
    });
    return all;
  }

  /** What befalls the Pod from outside. */
  disturbances(): readonly Choice[] {
    if (this.faults === 0) return [];
    const { pod } = this.life;
    const { metadata, spec } = pod;
    const generation = (metadata.generation ?? 0) + 1;
    const [first, ...others] = spec.containers;
    const image = `image-${generation}`;
    const changed = first === undefined ? spec.containers : [{ ...first, image }, ...others];
    const guest = { name: `guest-${generation}` };
    const found: [string, () => void][] = [
      ['a long time passes', () => (this.nowMs += BACKOFF_RESET_MS + 1)],
      ['the agent is killed', () => this.killAgent()],
      [
        'an image changes',
        () => {
          if (first !== undefined) this.#images.add(first.name);
          this.update({
            metadata: { ...metadata, generation },
            spec: { ...spec, containers: changed },
          });
        },
      ],
      [
        'somebody looks into it',
        () => {
          const ephemeralContainers = [...(spec.ephemeralContainers ?? []), guest];
          this.update({
            metadata: { ...metadata, generation },
            spec: { ...spec, ephemeralContainers },
          });
        },
      ],
      ['it is deleted', () => this.delete(30)],
      ['it is deleted at once', () => this.delete(1)],
      ['its object is gone', () => this.tell({ type: 'gone' })],
      ['its deadline passes', () => this.tell({ type: 'deadlineExceeded' })],
    ];
    return found.map(([name, run]) => ({ name, run }));
  }

  update(changes: Pick<Pod, 'metadata'> & Partial<Pod>): void {
    this.tell({ type: 'updated', pod: { ...this.life.pod, ...changes } });
  }

  delete(seconds: number): void {
    const { metadata } = this.life.pod;
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    this.update({
      metadata: { ...metadata, deletionTimestamp, deletionGracePeriodSeconds: seconds },
    });
  }

  /** What it had asked for and was not done is not done any more; processes continue. */
  killAgent(): void {
    const { records, mode, ending, podIP, pod, stage } = this.life;
    if (stage.name === 'CleanedUp' || stage.name === 'Over') return;
    const state: PodState = { records, mode, ending, podIP };
    this.starts = [];
    this.answers = [];
    this.isWakeAsked = false;
    this.life = newLife(pod, NODE, this.#at(), state);
    this.tell({ type: 'begun' });
  }

  end(name: string, exitCode: number): void {
    this.processes.delete(name);
    if (exitCode === 0 && this.life.mode !== 'restarting-all') this.completed.add(name);
    this.tell({ type: 'exited', name, exitCode, message: '' });
  }

  #at() {
    return { nowMs: this.nowMs, monotonicMs: this.nowMs - 1_000 };
  }

  #answersTo(order: Order, add: (name: string, run: () => void) => void): void {
    const { name } = order.container;
    const answer = (news: PodNews): void => {
      this.starts = this.starts.filter((one) => one !== order);
      if (order.kind === 'regular' && news.type !== 'blocked') this.hasRegularStarted = true;
      this.tell(news);
    };
    add(`${name} starts`, () => {
      this.processes.set(name, { isStopping: false });
      answer({ type: 'started', name, containerID: `c-${name}`, startedMs: this.nowMs });
    });
    add(`${name} cannot start`, () => {
      answer({ type: 'notStarted', name, why: 'no such program', containerID: `c-${name}` });
    });
    add(`${name} has to wait`, () => {
      answer({ type: 'blocked', name, reason: 'Missing', message: 'a map', mayPass: true });
    });
  }

  #probesOf(name: string, add: (name: string, run: () => void) => void): void {
    const known = allContainersOf(this.life.spec).find(({ container }) => container.name === name);
    const { startupProbe, livenessProbe } = known?.container ?? {};
    if (startupProbe !== undefined) {
      add(`${name} has started`, () =>
        this.tell({ type: 'probed', name, probe: 'Startup', verdict: 'success' }),
      );
    }
    if (livenessProbe !== undefined) {
      add(`${name} is given up`, () =>
        this.tell({ type: 'probed', name, probe: 'Liveness', verdict: 'failure' }),
      );
    }
  }

  #carryOut(effect: PodEffect, waiting: readonly ContainerRecord[]): void {
    const answerLater = (name: string, ...news: readonly PodNews[]): void => {
      const choice: Choice = {
        name,
        run: () => {
          this.answers = this.answers.filter((one) => one !== choice);
          for (const each of news) this.tell(each);
        },
      };
      this.answers.push(choice);
    };
    switch (effect.type) {
      case 'writeStatus':
        this.#checkStatus(effect.status);
        break;
      case 'start':
        this.#checkStart(effect, waiting);
        this.starts.push(effect);
        break;
      case 'stop': {
        const process = this.processes.get(effect.name);
        if (process === undefined) throw new Error(`${effect.name} is stopped and does not run`);
        process.isStopping = true;
        break;
      }
      case 'takeOver':
        answerLater(
          'all is taken over',
          ...effect.runs.map(({ container: { name }, run }): PodNews => {
            const isThere = this.processes.has(name);
            if (!isThere || run === undefined) {
              this.processes.delete(name);
              return { type: 'missing', name };
            }
            this.processes.set(name, { isStopping: false });
            return { type: 'takenOver', name, wasOver: false };
          }),
          { type: 'allTakenOver' },
        );
        break;
      case 'prepare':
        if (this.life.mode !== 'ending') {
          answerLater('it is prepared', { type: 'prepared', podIP: '127.9.0.2' });
        }
        break;
      case 'introduce':
        answerLater('others know it', { type: 'introduced' });
        break;
      case 'renewAddress':
        this.tell({ type: 'addressRenewed', podIP: '127.9.0.3' });
        break;
      case 'cleanUp':
        answerLater('it is cleaned up', { type: 'cleanedUp' });
        break;
      case 'wake':
        this.isWakeAsked = effect.delayMs !== undefined;
        break;
      case 'logRestartOfAll':
        this.completed.clear();
        this.hasRegularStarted = false;
        break;
      case 'abandonPreparation':
      case 'confirmDeletion':
      case 'event':
      case 'killAfter':
      case 'tellOthers':
        break;
    }
  }

  #checkStart({ container: { name }, kind }: Order, waiting: readonly ContainerRecord[]): void {
    const { life } = this;
    expect([life.mode, life.stage.name], `start of ${name}`).toEqual(['running', 'Prepared']);
    expect(this.processes.has(name), `${name} starts twice`).toBe(false);
    expect(this.starts.map(({ container }) => container.name)).not.toContain(name);
    // The crash loop of one image is none of the next.
    const record = waiting.find((one) => one.name === name && !this.#images.has(name));
    if (record !== undefined) expect(life.at.nowMs).toBeGreaterThanOrEqual(dueMs(record));
    if (kind === 'ephemeral' || this.hasRegularStarted) return;
    for (const earlier of containersOf(life.pod.spec)) {
      if (earlier.container.name === name) break;
      if (earlier.kind !== 'init') continue;
      expect([...this.completed], `${name} starts`).toContain(earlier.container.name);
    }
  }

  /** It shrinks only for another image, or after a long run; a start that could not be tried counts not. */
  #checkBackoff(before: PodLife, news: PodNews): void {
    if (news.type === 'begun' || news.type === 'blocked') return;
    for (const record of this.life.records) {
      const old = recordOf(before, record.name)?.backoff;
      const isLong = old !== undefined && this.nowMs - old.updatedMs > BACKOFF_RESET_MS;
      if (old === undefined || isLong || this.#images.has(record.name)) continue;
      expect(record.backoff?.delayMs ?? 0, record.name).toBeGreaterThanOrEqual(old.delayMs);
    }
  }

  /** An end is for good, and what is shown of restarts is never taken back. */
  #checkStatus(status: NodePodStatus): void {
    const before = this.#status;
    this.#status = status;
    if (before === undefined) return;
    if (isTerminal(before)) expect(status.phase).toBe(before.phase);
    for (const { name, restartCount } of before.containerStatuses ?? []) {
      const now = status.containerStatuses?.find((one) => one.name === name);
      expect(now?.restartCount, name).toBeGreaterThanOrEqual(restartCount);
    }
  }
}

/** When a container may start at the earliest. */
function dueMs({ life, backoff }: ContainerRecord): number {
  if (life.state === 'waiting') return life.notBeforeMs;
  return life.state === 'exited' ? earliestStartMs(backoff, life.finishedMs) : 0;
}

function isTerminal({ phase }: NodePodStatus): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

const RULE: fc.Arbitrary<ContainerRestartRule> = fc.record({
  action: fc.constantFrom('Restart', 'RestartAllContainers', 'Terminate'),
  exitCodes: fc.constant({ operator: 'In', values: [42] }),
}) as fc.Arbitrary<ContainerRestartRule>;
const PROBE = fc.constantFrom(undefined, { exec: { command: ['true'] } });
const POLICY = fc.constantFrom('Always', 'OnFailure', 'Never');

function containers(prefix: string, minLength: number, own: fc.Arbitrary<Partial<Container>>) {
  const each = fc.tuple(own, fc.array(RULE, { maxLength: 1 }), PROBE, PROBE);
  return fc.array(each, { minLength, maxLength: 2 }).map((all) =>
    all.map(([more, rules, startupProbe, livenessProbe], i) => ({
      name: `${prefix}${i}`,
      image: 'image',
      ...more,
      ...(more.restartPolicy === undefined ? {} : { restartPolicyRules: rules }),
      ...(prefix === 'i' ? {} : { startupProbe, livenessProbe }),
    })),
  );
}

const OWN_POLICY = fc
  .option(POLICY, { nil: undefined })
  .map((restartPolicy) => ({ restartPolicy }));
const SPEC: fc.Arbitrary<PodSpec> = fc
  .record({
    restartPolicy: POLICY,
    inits: containers('i', 0, fc.constantFrom({}, { restartPolicy: 'Never' as const })),
    sidecars: containers('s', 0, fc.constant({ restartPolicy: 'Always' as const })),
    regulars: containers('r', 1, OWN_POLICY as fc.Arbitrary<Partial<Container>>),
    isSidecarFirst: fc.boolean(),
  })
  .map(({ restartPolicy, inits, sidecars, regulars, isSidecarFirst }) => ({
    restartPolicy,
    initContainers: isSidecarFirst ? [...sidecars, ...inits] : [...inits, ...sidecars],
    containers: regulars,
  })) as fc.Arbitrary<PodSpec>;

interface Turn {
  readonly choice: number;
  readonly isDisturbed: boolean;
}

const PICKS: fc.Arbitrary<readonly Turn[]> = fc.array(
  fc.record({ choice: fc.nat(999), isDisturbed: fc.nat(11).map((n) => n === 0) }),
  { minLength: 10, maxLength: 80, size: 'max' },
);
const RUNS = 600;
/** Far more steps than any Pod needs to end. */
const REST_LIMIT = 200;

function walk(world: World, picks: readonly Turn[]): void {
  for (const { choice, isDisturbed } of picks) {
    const disturbances = isDisturbed ? world.disturbances() : [];
    const enabled = disturbances.length > 0 ? disturbances : world.choices();
    if (disturbances.length > 0) world.faults--;
    enabled[choice % enabled.length]?.run();
  }
}

/** Whatever it did, a Pod that is deleted ends. */
function finish(world: World): void {
  world.delete(1);
  for (let i = 0; i < REST_LIMIT; i++) {
    if (world.life.stage.name === 'CleanedUp') return;
    const [next] = world.choices();
    next?.run();
  }
  throw new Error(`the Pod does not end: ${JSON.stringify(world.life)}`);
}

describe('the life of a Pod', () => {
  it('keeps the order of its containers, their back-off and its end, whatever happens', () => {
    fc.assert(
      fc.property(SPEC, PICKS, fc.nat(3), (spec, picks, faults) => {
        const world = new World(spec, faults);
        walk(world, picks);
        finish(world);
      }),
      { numRuns: RUNS },
    );
  });
});
