/**
 * What an agent must not forget when its container restarts: the epoch that it announced last, and
 * the epoch in which its worker started last. It lives in an emptyDir, so it goes with the Pod. It
 * is written before the act that it records, so it may claim too much but never too little.
 */
export interface Marker {
  readonly announced: number;
  readonly started: number;
  /**
   * How many agents of this Pod, one after the other, have announced `announced`
   * (`docs/design/member-hazards.md#containers-crash-before-the-barrier`).
   */
  readonly starts: number;
}

/** The marker of a Pod whose agent has never announced anything. */
export const NO_MARKER: Marker = { announced: 0, started: 0, starts: 0 };

/** Where the marker is kept. */
export interface MarkerStore {
  /** Undefined when there is none, or none that can be read as one. */
  read(): Promise<Marker | undefined>;
  /** Durable when it resolves; rejects when it could not be made so. */
  write(marker: Marker): Promise<void>;
}

export function formatMarker(marker: Marker): string {
  return `${JSON.stringify(marker)}\n`;
}

/** Undefined for anything that `formatMarker` did not write, such as a torn file. */
export function parseMarker(text: string): Marker | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof parsed !== 'object' || parsed === null) return undefined;
  const announced = 'announced' in parsed ? parsed.announced : undefined;
  const started = 'started' in parsed ? parsed.started : undefined;
  const starts = 'starts' in parsed ? parsed.starts : undefined;
  return isCount(announced) && isCount(started) && isCount(starts)
    ? { announced, started, starts }
    : undefined;
}

const MAX_INT32 = 2147483647;

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_INT32;
}

/** For an agent without a marker directory: its marker ends with its process. */
export function processMarkerStore(): MarkerStore {
  let kept: Marker | undefined;
  return {
    read: () => Promise.resolve(kept),
    write: (marker) => {
      kept = marker;
      return Promise.resolve();
    },
  };
}
