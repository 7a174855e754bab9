/**
 * The hub in the protocol's model: streams that break, or are open at one end only, and lose their
 * messages. A controller keeps reports only in its memory, which a crash erases.
 */
export class StreamModel {
  readonly podUid: string;
  /** Announcements on their way to the hub. */
  readonly sent: number[] = [];
  isAnswered = false;
  /** The hub has closed it, or the network has: either end knows. */
  isClosed = false;
  isPinged = false;
  isPonged = false;
  /** Nothing gets through any more, and the agent does not know yet. */
  isDead = false;

  constructor(podUid: string) {
    this.podUid = podUid;
  }

  say(epoch: number): void {
    if (!this.isDead && !this.isClosed) this.sent.push(epoch);
  }

  /** Whether the hub has a ping to answer. */
  get hasPing(): boolean {
    return this.isPinged && !this.isPonged && !this.isDead && !this.isClosed;
  }

  /** Loses everything that is on its way. */
  drop(): void {
    this.isClosed = true;
    this.sent.length = 0;
  }
}

/** A controller that believes that it leads, as agents see it. */
export interface HubModel {
  open(podUid: string): StreamModel;
}

/** One agent's end of the hub: at most one stream, or the API server after it gave the hub up. */
export class HubChannelModel {
  #stream: StreamModel | undefined;
  isViaApi = false;

  /** Whether states arrive and announcements go out. */
  get isConnected(): boolean {
    return this.isViaApi || (this.#stream?.isAnswered === true && !this.#stream.isClosed);
  }

  get hasStream(): boolean {
    return this.#stream !== undefined && !this.#stream.isClosed;
  }

  get isDead(): boolean {
    return this.hasStream && this.#stream?.isDead === true;
  }

  /** The hello, with the announcement of `epoch` unless that is 0. */
  connect(hub: HubModel, podUid: string, epoch: number): void {
    this.#stream = hub.open(podUid);
    if (epoch > 0) this.#stream.say(epoch);
  }

  get isWaitingForAnswer(): boolean {
    return this.hasStream && this.#stream?.isAnswered === false && !this.isDead;
  }

  /** The agent may ask for a sign of life: over a stream, and once until it is answered. */
  get canPing(): boolean {
    return !this.isViaApi && this.isConnected && this.#stream?.isPinged === false;
  }

  get isPonged(): boolean {
    return this.#stream?.isPonged === true;
  }

  ping(): void {
    if (this.#stream !== undefined) this.#stream.isPinged = true;
  }

  /** Answers to earlier questions do not count any more. */
  forgetPings(): void {
    if (this.#stream !== undefined)
      Object.assign(this.#stream, { isPinged: false, isPonged: false });
  }

  answered(): void {
    if (this.#stream !== undefined) this.#stream.isAnswered = true;
  }

  say(epoch: number): void {
    this.#stream?.say(epoch);
  }

  /** The agent closes it, or ends: what it has said still arrives. */
  leave(): void {
    this.#stream = undefined;
  }

  dropStream(): void {
    this.#stream?.drop();
    this.#stream = undefined;
  }

  killStream(): void {
    if (this.#stream === undefined) return;
    this.#stream.isDead = true;
    this.#stream.sent.length = 0;
  }
}
