/**
 * Pending timers by due time, in a binary heap; equal ones fire in the order in which they were
 * armed. Cancelled timers stay in it until they surface or outnumber the live ones, so arming and
 * cancelling a time-out per request stays cheap.
 */
export interface PendingTimer {
  readonly due: number;
  readonly sequence: number;
  readonly fire: () => void;
  cancelled: boolean;
}

/** Below this size a heap is not worth compacting. */
const COMPACTION_MINIMUM = 64;

export class TimerQueue {
  #heap: PendingTimer[] = [];
  #cancelled = 0;

  add(timer: PendingTimer): void {
    this.#heap.push(timer);
    this.#rise(this.#heap.length - 1);
  }

  cancel(timer: PendingTimer): void {
    if (timer.cancelled) return;
    timer.cancelled = true;
    this.#cancelled++;
    if (this.#cancelled * 2 > this.#heap.length && this.#heap.length > COMPACTION_MINIMUM) {
      // A sorted array is a heap too.
      this.#heap = this.#heap.filter((entry) => !entry.cancelled).sort(byDueTime);
      this.#cancelled = 0;
    }
  }

  /** The timer that fires next. */
  peek(): PendingTimer | undefined {
    while (this.#heap[0]?.cancelled) {
      this.#removeFirst();
      this.#cancelled--;
    }
    return this.#heap[0];
  }

  /** Removes the timer that fires next. From then on, cancelling it has no effect. */
  take(): PendingTimer | undefined {
    const first = this.peek();
    if (first !== undefined) {
      this.#removeFirst();
      first.cancelled = true;
    }
    return first;
  }

  /** How many timers are pending. */
  get size(): number {
    return this.#heap.length - this.#cancelled;
  }

  #removeFirst(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    this.#heap[0] = last;
    this.#sink();
  }

  #rise(from: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#swapIfEarlier(at, parent)) return;
      at = parent;
    }
  }

  #sink(): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const [a, b] = [heap[left], heap[left + 1]];
      if (a === undefined) return;
      const child = b !== undefined && byDueTime(b, a) < 0 ? left + 1 : left;
      if (!this.#swapIfEarlier(child, at)) return;
      at = child;
    }
  }

  /** Swaps a child with its parent if it is due before it. */
  #swapIfEarlier(child: number, parent: number): boolean {
    const [below, above] = [this.#heap[child], this.#heap[parent]];
    if (below === undefined || above === undefined || byDueTime(above, below) <= 0) return false;
    this.#heap[child] = above;
    this.#heap[parent] = below;
    return true;
  }
}

function byDueTime(a: PendingTimer, b: PendingTimer): number {
  return a.due - b.due || a.sequence - b.sequence;
}
