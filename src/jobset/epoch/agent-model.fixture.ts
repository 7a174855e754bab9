/** One slot of the protocol's model: its Pod, the Pod's agent, and its worker. */

import { type PodWorld, podOfSlot, type Step, type StoredPod } from './pod-world.fixture.ts';

type AgentStage = 'down' | 'read' | 'marked' | 'announced' | 'starting' | 'lifted' | 'exiting';

export class SlotModel {
  readonly stage: number;
  readonly index: number;
  readonly #world: PodWorld;
  phase: 'none' | 'live' | 'terminating' = 'none';
  jobUid = '';
  jobName = '';
  worker = 0;
  #uid = 0;
  #announced = 0;
  /** A patch of an older announcement that is still on its way. */
  #late = 0;
  #marker = { announced: 0, started: 0 };
  #agent: AgentStage = 'down';
  #own = 0;
  /** Index of the status version that the agent knows. */
  #view = 0;
  #workerExited = false;
  /** The last epoch in which the worker made no more progress. */
  #hungIn = 0;
  /** Whether the end of this Pod must not be charged. */
  #isEndForgiven = false;
  /** Ghost: the epoch of the last worker that started in this slot. */
  lastStart = 0;

  constructor(world: PodWorld, stage: number, index: number) {
    this.#world = world;
    this.stage = stage;
    this.index = index;
  }

  get podUid(): string {
    return `${this.stage}/${this.index}/${this.#uid}`;
  }

  get own(): number {
    return this.#own;
  }

  /** The Pod that the controller would read. */
  pod(): StoredPod {
    return podOfSlot(this, { announced: this.#announced, isReleased: this.#isEndForgiven });
  }

  /** The Job controller creates the Pod. */
  create(jobUid: string, jobName: string): void {
    this.#uid++;
    Object.assign(this, { phase: 'live', jobUid, jobName });
    this.#announced = 0;
    this.#late = 0;
    this.#marker = { announced: 0, started: 0 };
    this.#isEndForgiven = false;
    this.#stopped();
    this.#world.changed(this);
  }

  /** Deletes the Pod: by a suspend or a change of the Job if `isForgiven`, otherwise as a loss. */
  terminate(isForgiven: boolean): void {
    if (!isForgiven) this.#lost();
    this.#isEndForgiven = isForgiven;
    this.phase = 'terminating';
    this.#world.changed(this);
  }

  steps(): Step[] {
    const steps: Step[] = [];
    if (this.phase === 'none') return steps;
    if (this.phase === 'terminating') {
      steps.push(() => this.#gone());
      // A worker may handle SIGTERM and exit with 0.
      if (this.#isEndForgiven) {
        steps.push(() => {
          this.#world.succeeded(this);
          this.#gone();
        });
      }
    }
    if (this.#late > 0) {
      steps.push(() => {
        // The patch tests the value that it replaces, so it cannot overwrite a newer one.
        if (this.#announced < this.#late) this.#announce(this.#late);
        this.#late = 0;
      });
    }
    const { isSidecar } = this.#world;
    if (isSidecar && (this.#agent === 'exiting' || this.#workerExited)) {
      steps.push(() => this.#stopped());
    }
    if (this.#isUp() && this.phase === 'live' && this.worker === 0 && !this.#workerExited) {
      steps.push(() => {
        this.#world.workerStarts(this);
        this.worker = this.#own;
        this.lastStart = this.#own;
      });
    }
    return [...steps, ...this.#agentSteps(), ...this.#hangSteps()];
  }

  faults(): Step[] {
    const faults: Step[] = [];
    if (this.phase === 'live') faults.push(() => this.terminate(false));
    if (this.worker > 0) faults.push(() => this.#exitWorker());
    if (this.worker > this.#hungIn) faults.push(() => this.#hang());
    if (this.#agent !== 'down' && this.#agent !== 'exiting') faults.push(() => this.#crash());
    return faults;
  }

  /** The kubelet may start the worker although the agent has just exited again. */
  #isUp(): boolean {
    if (this.#agent === 'lifted') return true;
    return (
      this.#world.isSidecar &&
      this.#agent === 'exiting' &&
      this.#own > 0 &&
      this.#marker.started === this.#own &&
      this.lastStart < this.#own
    );
  }

  /** The API server has answered past the time-out, so the worker is ended. */
  #hangSteps(): Step[] {
    const isHung = this.worker > 0 && this.worker === this.#hungIn && this.#agent === 'lifted';
    return isHung ? [() => this.#leave()] : [];
  }

  #hang(): void {
    this.#fail([this.worker]);
    this.#hungIn = this.worker;
  }

  #agentSteps(): Step[] {
    const { released, deprecated } = this.#world.seen(this.#view, this.stage);
    const steps: Step[] = [];
    const isRunning = this.#agent !== 'down' && this.#agent !== 'exiting';
    if (isRunning && this.#agent !== 'read' && deprecated >= this.#own) {
      steps.push(() => this.#leave());
    } else if (this.#agent === 'down') {
      // The first read is consistent: it is never older than what has been written.
      steps.push(() => {
        this.#agent = 'read';
        this.#view = this.#world.latest();
      });
    } else if (this.#agent === 'read') {
      steps.push(() => {
        this.#own = this.#choose(released, deprecated);
        this.#marker.announced = this.#own;
        this.#agent = 'marked';
      });
    } else if (this.#agent === 'marked') {
      steps.push(() => {
        this.#agent = 'announced';
        this.#announce(this.#own);
      });
    } else if (this.#agent === 'announced' && released === this.#own) {
      steps.push(() => {
        this.#marker.started = this.#own;
        this.#agent = 'starting';
      });
    } else if (this.#agent === 'starting' && this.phase === 'live') {
      steps.push(() => {
        this.#agent = 'lifted';
      });
    }
    if (isRunning && this.#view < this.#world.latest()) steps.push(() => void this.#view++);
    return steps;
  }

  #choose(released: number, deprecated: number): number {
    const { announced, started } = this.#marker;
    const mayJoin = released > deprecated && announced === released && started < released;
    return mayJoin ? released : Math.max(released, deprecated, started) + 1;
  }

  #announce(epoch: number): void {
    this.#announced = epoch;
    this.#world.changed(this);
  }

  #leave(): void {
    if (this.#agent === 'marked' || this.#agent === 'announced') {
      if (this.#agent === 'marked') this.#late = this.#own;
      this.#agent = 'read';
    } else if (this.#world.isSidecar) {
      this.#agent = 'exiting';
    } else {
      this.#agent = 'read';
      this.worker = 0;
    }
  }

  #stopped(): void {
    this.#agent = 'down';
    this.#own = 0;
    this.worker = 0;
    this.#workerExited = false;
  }

  #lost(): void {
    this.#world.failed([this.#marker.started, this.#marker.announced], this.worker);
  }

  #gone(): void {
    if (!this.#isEndForgiven) this.#lost();
    this.#world.ended(this);
    this.#stopped();
    this.phase = 'none';
  }

  #exitWorker(): void {
    this.#fail([this.worker]);
    this.worker = 0;
    if (this.#world.isSidecar) this.#workerExited = true;
    else if (this.#agent === 'lifted') this.#agent = 'read';
  }

  #crash(): void {
    this.#fail(this.#agent === 'starting' || this.#agent === 'lifted' ? [this.#own] : []);
    if (this.#agent === 'marked') this.#late = this.#own;
    if (this.#world.isSidecar) this.#agent = 'exiting';
    else this.#stopped();
  }

  /** A failure in a Pod that ends for another reason need not end an epoch. */
  #fail(epochs: readonly number[]): void {
    this.#world.failed(epochs, this.#isEndForgiven ? 0 : this.worker);
  }
}
