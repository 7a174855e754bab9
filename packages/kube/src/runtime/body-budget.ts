/**
 * Bounds the bytes of request bodies in a process, over all servers that share the budget. Bytes
 * count from their arrival to the answer. When they no longer fit, a body that is still arriving is
 * refused: the oldest one of the address that holds the most. So a crowd of unfinished bodies loses
 * to one that arrives whole, and large bodies cannot take the share of small ones.
 */
export class BodyBudget {
  readonly #limits: BodyBudgetLimits;
  /** Oldest first. */
  readonly #arriving = new Set<Body>();
  #heldBytes = 0;
  #heldByLargeBytes = 0;

  constructor(limits: BodyBudgetLimits = DEFAULT_BODY_BUDGET) {
    this.#limits = limits;
  }

  /** `refuse` is called at most once, when the body is refused; it holds nothing from then on. */
  begin(address: string, refuse: () => void): BodyShare {
    const body: Body = { address, refuse, bytes: 0 };
    this.#arriving.add(body);
    return {
      take: (byteLength) => this.#take(body, byteLength),
      arrived: () => void this.#arriving.delete(body),
      release: () => this.#release(body),
    };
  }

  /** All bytes that are held now. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  #take(body: Body, byteLength: number): void {
    const wasLarge = this.#isLarge(body);
    const bytes = Math.max(byteLength, MIN_CHUNK_BYTES);
    body.bytes += bytes;
    this.#heldBytes += bytes;
    if (this.#isLarge(body)) this.#heldByLargeBytes += wasLarge ? bytes : body.bytes;
    const { maxBytes, maxLargeBytes } = this.#limits;
    while (this.#heldByLargeBytes > maxLargeBytes) {
      if (!this.#turnOneAway((one) => this.#isLarge(one))) break;
    }
    while (this.#heldBytes > maxBytes) {
      if (!this.#turnOneAway(() => true)) break;
    }
  }

  /** False if there is no body left to refuse. */
  #turnOneAway(mayGo: (body: Body) => boolean): boolean {
    const candidates = [...this.#arriving].filter(mayGo);
    const byAddress = new Map<string, number>();
    for (const { address, bytes } of candidates) {
      byAddress.set(address, (byAddress.get(address) ?? 0) + bytes);
    }
    const most = Math.max(...byAddress.values());
    const one = candidates.find(({ address }) => byAddress.get(address) === most);
    if (one === undefined) return false;
    this.#release(one);
    one.refuse();
    return true;
  }

  #release(body: Body): void {
    this.#arriving.delete(body);
    this.#heldBytes -= body.bytes;
    if (this.#isLarge(body)) this.#heldByLargeBytes -= body.bytes;
    body.bytes = 0;
  }

  #isLarge({ bytes }: Body): boolean {
    return bytes > this.#limits.smallBodyBytes;
  }
}

export interface BodyBudgetLimits {
  readonly maxBytes: number;
  /** The part of it that bodies above `smallBodyBytes` may hold together. */
  readonly maxLargeBytes: number;
  readonly smallBodyBytes: number;
}

/** Up to this size a body is small: nearly every review of a Pod, and most of JobSets. */
export const SMALL_BODY_BYTES = 64 * 1024;

const DEFAULT_BODY_BUDGET: BodyBudgetLimits = {
  maxBytes: 32 * 1024 * 1024,
  maxLargeBytes: 24 * 1024 * 1024,
  smallBodyBytes: SMALL_BODY_BYTES,
};

/** What one body holds of the budget. */
export interface BodyShare {
  /** More of the body arrived, so this one or others may be refused. */
  take(byteLength: number): void;
  /** The body is complete, and cannot be refused any more. */
  arrived(): void;
  /** The body is not needed any longer. May be called again. */
  release(): void;
}

interface Body {
  readonly address: string;
  readonly refuse: () => void;
  bytes: number;
}

/** The least cost of a chunk, because a body that arrives byte by byte is expensive to hold. */
const MIN_CHUNK_BYTES = 512;
