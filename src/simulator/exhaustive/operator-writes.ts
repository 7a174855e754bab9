/** Writes of the status that are under way in an explored group, and what can become of them. */

export interface Write {
  /** The version on which it was decided. */
  readonly version: number;
  /** The number of the status. */
  readonly status: number;
  /** Whether the operator that sent it still waits for the answer. */
  readonly isAwaited: boolean;
}

export interface OperatorState {
  /** Numbers of all statuses so far, the oldest first. */
  readonly versions: readonly number[];
  /** The version in the operator's cache. */
  readonly cached: number;
  readonly writes: readonly Write[];
  /** How many more may happen. */
  readonly faults: number;
}

export interface WriteOutcome<S> {
  readonly text: string;
  readonly next: S;
  readonly isFault: boolean;
  /** Whether the status is stored now. */
  readonly isStored: boolean;
  /** Whether the operator knows that. */
  readonly isAnswered: boolean;
}

/** `takesOldWrites`: a bug of the API server, which does not compare versions. */
export function outcomesOf<S extends OperatorState>(
  state: S,
  write: Write,
  takesOldWrites = false,
): readonly WriteOutcome<S>[] {
  const { versions, cached, faults } = state;
  const { isAwaited, version, status } = write;
  const newest = versions.length - 1;
  const writes = state.writes.filter((each) => each !== write);
  const name = isAwaited ? 'the write' : 'the late write';
  const outcomes: WriteOutcome<S>[] = [];
  const add = (text: string, next: Partial<OperatorState>, more = {}): void => {
    const kind = { isFault: false, isStored: false, isAnswered: false, ...more };
    outcomes.push({ text: `${name} ${text}`, next: { ...state, writes, ...next }, ...kind });
  };
  if (!isAwaited) add('is lost', {});
  if (version !== newest && !takesOldWrites) {
    if (isAwaited) add('is refused, and the operator reads the JobSet', { cached: newest });
    return outcomes;
  }
  const stored = { versions: [...versions, status] };
  const text = `on version ${version + 1} is stored as version ${newest + 2}`;
  const next = { ...stored, cached: isAwaited ? newest + 1 : cached };
  add(text, next, { isStored: true, isAnswered: isAwaited });
  if (isAwaited && faults > 0) {
    const lost = { ...stored, faults: faults - 1 };
    add(`${text}, and its answer is lost`, lost, { isStored: true, isFault: true });
  }
  return outcomes;
}
