/**
 * Whose turn it is to restart when the Configuration file has changed. One replica at a time ends,
 * and only while all others are ready, so that webhooks always have an answer. The leader is last,
 * because each change of the leader interrupts streams of agents.
 */

/** The record that all replicas share. */
export interface RestartRecord {
  /** The replica that restarts; it keeps the turn until it is ready again. */
  readonly turn?: string | undefined;
  /** The digest of the settings with which each replica runs, by name. */
  readonly runs: Readonly<Record<string, string>>;
}

/** Another replica whose Pod exists. */
export interface OtherReplica {
  readonly name: string;
  readonly isReady: boolean;
}

/**
 * How long a leader waits for the others. A kubelet brings a changed file within a minute or two,
 * and each replica takes less than a minute.
 */
const LEADER_PATIENCE_MS = 5 * 60_000;

/** Why this replica has to wait; undefined if it may take the turn and end. */
export function whyNotToRestart(situation: {
  readonly self: string;
  readonly isReady: boolean;
  readonly isLeader: boolean;
  /** The digest of the settings in the file. */
  readonly wanted: string;
  /** Since the change was seen. */
  readonly waitedMs: number;
  readonly others: readonly OtherReplica[];
  readonly record: RestartRecord;
}): string | undefined {
  const { self, isLeader, wanted, waitedMs, others, record } = situation;
  const { turn, runs } = record;
  // A replica that is not ready serves nothing, and two of them would wait for each other.
  if (!situation.isReady) return undefined;
  // The turn of a Pod that is gone is over.
  if (turn !== self && others.some(({ name }) => name === turn)) return `${turn} restarts`;
  const away = others.find(({ isReady }) => !isReady);
  if (away !== undefined) return `${away.name} is not ready`;
  const older = others.find(({ name }) => runs[name] !== wanted);
  if (isLeader && older !== undefined && waitedMs < LEADER_PATIENCE_MS)
    return `${older.name} comes before the leader`;
  return undefined;
}
