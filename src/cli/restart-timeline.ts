/** Draws how long the phases of a restart took, below each other in the order of time. */

/** The event that ends each phase, in words. */
const LABELS: Readonly<Record<string, string>> = {
  announced: 'announced',
  atBarrier: 'all at barrier',
  heldBack: 'back-off over',
  released: 'released',
  podsGone: 'old Pods gone',
  podsRunning: 'new Pods run',
  firstStep: 'first step',
};

const LABEL_WIDTH = 16;
const TIME_WIDTH = 10;
const TEXT_WIDTH = LABEL_WIDTH + 2 * TIME_WIDTH + 4;
/** Shorter bars say nothing. */
const LEAST_BAR_WIDTH = 10;

/**
 * One row for the event `start` and one for the end of each phase, with a bar. `phasesMs` are durations in
 * their order. A bar as wide as the rest of the line lasts `longestMs`.
 */
export function timelineRows(
  start: string,
  phasesMs: Readonly<Record<string, number>>,
  { longestMs, width }: { readonly longestMs: number; readonly width: number },
): readonly string[] {
  const room = width - TEXT_WIDTH;
  const scale = longestMs > 0 && room >= LEAST_BAR_WIDTH ? room / longestMs : 0;
  let atMs = 0;
  const rows = Object.entries(phasesMs).map(([phase, tookMs]) => {
    const from = Math.round(atMs * scale);
    const length = scale === 0 ? 0 : Math.max(1, Math.round(tookMs * scale));
    atMs += tookMs;
    const bar = `${' '.repeat(from)}${'#'.repeat(length)}`;
    return row(LABELS[phase] ?? phase, atMs, `+${seconds(tookMs)}`, bar);
  });
  return [row(start, 0, '', ''), ...rows].map((line) => line.slice(0, width).trimEnd());
}

function row(label: string, atMs: number, took: string, bar: string): string {
  const times = `${seconds(atMs).padStart(TIME_WIDTH)}${took.padStart(TIME_WIDTH)}`;
  return `  ${label.padEnd(LABEL_WIDTH)}${times}  ${bar}`;
}

/** `0.42 s`, `12.3 s` */
export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}
