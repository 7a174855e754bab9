/**
 * A Pod of a scripted node whose containers somebody plays. What is started, restarted and stopped, and
 * what the status says, is decided as on an embedded node (`node/pod/pod-step.ts`).
 */
import type { Stored } from '@lockstep/kube/meta.ts';
import type { Pod } from '@lockstep/kube/objects/pod.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import type { Clock, Timer } from '@lockstep/kube/runtime/ports/clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import { backoffLimits } from './node/backoff.ts';
import { confirmDeletion } from './node/pod/pod-deletion.ts';
import { newLife, type PodEffect, type PodLife, type PodNews } from './node/pod/pod-life.ts';
import { step } from './node/pod/pod-step.ts';
import { StatusWriter } from './node/status/status-writer.ts';

/** One run of a container, from its start to its end. Its player calls these. */
export interface PlayedRun {
  /** Its startup probe has succeeded. */
  passed(): void;
  /** All of its processes are gone. Further calls change nothing. */
  exited(exitCode: number): void;
}

/** Starts a run of the container with that name. Returns what takes the signals of the node. */
export type PlayContainer = (
  name: string,
  run: PlayedRun,
) => (signal: 'SIGTERM' | 'SIGKILL') => void;

export interface ScriptedPodOptions {
  readonly pod: Stored<Pod>;
  readonly client: Client;
  readonly clock: Clock;
  readonly play: PlayContainer;
}

/** No traffic reaches them. */
const ADDRESS = '10.0.0.1';

export class ScriptedPod {
  readonly nodeName: string | undefined;
  readonly #options: ScriptedPodOptions;
  readonly #writer: StatusWriter;
  /** Aborts when the object is gone. */
  readonly #gone = new AbortController();
  /** What takes the signals of the containers that run, by name. */
  readonly #runs = new Map<string, ReturnType<PlayContainer>>();
  #life: PodLife;
  #wake: Timer | undefined;
  /** What is to be done next, in order. */
  readonly #due: (() => void)[] = [];
  #isBusy = false;
  #isFrozen = false;

  constructor(options: ScriptedPodOptions) {
    const { pod, client, clock } = options;
    this.#options = options;
    this.nodeName = pod.spec.nodeName;
    this.#writer = new StatusWriter(pod, client, clock, SILENT);
    this.#life = newLife(
      pod,
      { hostIP: ADDRESS, backoff: backoffLimits() },
      this.#now(),
      undefined,
    );
    this.#tell({ type: 'begun' });
  }

  /** The object has changed. */
  update(pod: Stored<Pod>): void {
    this.#tell({ type: 'updated', pod });
  }

  /** The object is gone. */
  gone(): void {
    this.#then(() => {
      this.#writer.stop();
      this.#gone.abort(new Error('the Pod is gone'));
    });
    this.#tell({ type: 'gone' });
  }

  /** Its node does nothing until `thaw`. Processes run on. */
  freeze(): void {
    this.#isFrozen = true;
  }

  thaw(): void {
    this.#isFrozen = false;
    this.#then(() => undefined);
  }

  /** Writes nothing more. */
  stop(): void {
    this.#isFrozen = true;
    this.#wake?.cancel();
    this.#writer.stop();
    this.#gone.abort(new Error('the node stops'));
  }

  #tell(news: PodNews): void {
    this.#then(() => {
      const { life, effects } = step(this.#life, { ...news, at: this.#now() });
      this.#life = life;
      for (const effect of effects) this.#carryOut(effect);
    });
  }

  #then(act: () => void): void {
    this.#due.push(act);
    if (this.#isBusy) return;
    this.#isBusy = true;
    while (!this.#isFrozen) {
      const next = this.#due.shift();
      if (next === undefined) break;
      next();
    }
    this.#isBusy = false;
  }

  #after(delayMs: number, act: () => void): Timer {
    return this.#options.clock.setTimer(delayMs, () => this.#then(act));
  }

  #carryOut(effect: PodEffect): void {
    switch (effect.type) {
      case 'writeStatus':
        this.#writer.write(effect.status, effect.importance);
        break;
      case 'prepare':
        this.#tell({ type: 'prepared', podIP: ADDRESS });
        break;
      case 'introduce':
        this.#tell({ type: 'introduced' });
        break;
      case 'renewAddress':
        this.#tell({ type: 'addressRenewed', podIP: ADDRESS });
        break;
      case 'start':
        this.#start(effect.container.name);
        break;
      case 'stop':
        this.#stop(effect.name, effect.graceMs);
        break;
      case 'killAfter':
        this.#after(effect.delayMs, () => {
          for (const signal of this.#runs.values()) signal('SIGKILL');
        });
        break;
      case 'wake':
        this.#wake?.cancel();
        this.#wake =
          effect.delayMs === undefined
            ? undefined
            : this.#options.clock.setTimer(effect.delayMs, () => this.#tell({ type: 'woken' }));
        break;
      case 'cleanUp':
        this.#tell({ type: 'cleanedUp' });
        break;
      case 'confirmDeletion':
        void this.#confirmDeletion();
        break;
      // Its Events and its address are not used, and no earlier life of a node has run it.
      case 'event':
      case 'tellOthers':
      case 'logRestartOfAll':
      case 'abandonPreparation':
      case 'takeOver':
        break;
    }
  }

  #start(name: string): void {
    const { clock, play } = this.#options;
    const containerID = `scripted://${name}`;
    this.#then(() => {
      let isOver = false;
      const signal = play(name, {
        passed: () => {
          if (!isOver) this.#tell({ type: 'probed', name, probe: 'Startup', verdict: 'success' });
        },
        exited: (exitCode) => {
          if (isOver) return;
          isOver = true;
          this.#runs.delete(name);
          this.#tell({ type: 'exited', name, exitCode, message: '' });
        },
      });
      if (!isOver) this.#runs.set(name, signal);
    });
    // What is decided about a started container may be to stop it, which takes what its signals go to.
    this.#tell({ type: 'started', name, containerID, startedMs: clock.now() });
  }

  #stop(name: string, graceMs: number): void {
    const signal = this.#runs.get(name);
    if (signal === undefined) return;
    signal('SIGTERM');
    this.#after(graceMs, () => {
      if (this.#runs.get(name) === signal) signal('SIGKILL');
    });
  }

  async #confirmDeletion(): Promise<void> {
    const { client, clock, pod } = this.#options;
    await this.#writer.flushed();
    await confirmDeletion({ client, clock, logger: SILENT }, pod, this.#gone.signal);
  }

  #now(): PodLife['at'] {
    const { clock } = this.#options;
    return { nowMs: clock.now(), monotonicMs: clock.monotonic() };
  }
}
