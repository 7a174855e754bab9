/** Which stretch of time the timeline shows, and how zooming and moving change it. */

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** `All` and `Last` follow the time as it passes; `Fixed` stays where it is. */
export type Window =
  | { readonly kind: 'All' }
  | { readonly kind: 'Last'; readonly ms: number }
  | { readonly kind: 'Fixed'; readonly span: Span };

export const ALL: Window = { kind: 'All' };

/** Shorter stretches say nothing: phases are known to the millisecond. */
export const LEAST_SPAN_MS = 20;

/** What a window shows of a life: at least `LEAST_SPAN_MS`, and nothing outside of longer lives. */
export function spanOf(window: Window, life: Span): Span {
  const whole = { fromMs: life.fromMs, toMs: Math.max(life.toMs, life.fromMs + LEAST_SPAN_MS) };
  switch (window.kind) {
    case 'All':
      return whole;
    case 'Last':
      return within({ fromMs: whole.toMs - window.ms, toMs: whole.toMs }, whole);
    case 'Fixed':
      return within(window.span, whole);
  }
}

/** A window that reaches the present follows it. */
export function windowOn(span: Span, life: Span): Window {
  const whole = spanOf(ALL, life);
  const { fromMs, toMs } = within(span, whole);
  if (toMs < whole.toMs) return { kind: 'Fixed', span: { fromMs, toMs } };
  return fromMs <= whole.fromMs ? ALL : { kind: 'Last', ms: toMs - fromMs };
}

/** `factor` below 1 shows less. The moment `atMs` keeps its place as far as there is time around it. */
export function zoomed(window: Window, life: Span, factor: number, atMs: number): Window {
  const { fromMs, toMs } = spanOf(window, life);
  const lengthMs = Math.max(LEAST_SPAN_MS, (toMs - fromMs) * factor);
  const share = (clamped(atMs, fromMs, toMs) - fromMs) / (toMs - fromMs);
  const newFromMs = clamped(atMs, fromMs, toMs) - share * lengthMs;
  return windowOn({ fromMs: newFromMs, toMs: newFromMs + lengthMs }, life);
}

/** Moves by a share of what is shown, which may be infinite; above 0 towards the present. */
export function moved(window: Window, life: Span, share: number): Window {
  const { fromMs, toMs } = spanOf(window, life);
  const whole = spanOf(ALL, life);
  const byMs = clamped((toMs - fromMs) * share, whole.fromMs - fromMs, whole.toMs - toMs);
  return windowOn({ fromMs: fromMs + byMs, toMs: toMs + byMs }, life);
}

/** What two pointers that touched `before` show when they touch `after`, both as shares of a span. */
export function pinched(
  span: Span,
  before: readonly [number, number],
  after: readonly [number, number],
): Span {
  const lengthMs = span.toMs - span.fromMs;
  const [left, right] = before[0] <= before[1] ? before : [before[1], before[0]];
  const [newLeft, newRight] = after[0] <= after[1] ? after : [after[1], after[0]];
  const factor = Math.max(0.001, right - left) / Math.max(0.001, newRight - newLeft);
  const fromMs = span.fromMs + (left - newLeft * factor) * lengthMs;
  return { fromMs, toMs: fromMs + lengthMs * factor };
}

/** Where a moment lies on something as wide as `span`: 0 at its beginning, 1 at its end. */
export function shareOf(span: Span, atMs: number): number {
  return (atMs - span.fromMs) / (span.toMs - span.fromMs);
}

export function momentAt(span: Span, share: number): number {
  return span.fromMs + share * (span.toMs - span.fromMs);
}

/** Keeps the length if it fits. */
function within({ fromMs, toMs }: Span, whole: Span): Span {
  const wholeMs = whole.toMs - whole.fromMs;
  const lengthMs = clamped(toMs - fromMs, Math.min(LEAST_SPAN_MS, wholeMs), wholeMs);
  if (lengthMs === wholeMs) return whole;
  if (toMs >= whole.toMs) return { fromMs: whole.toMs - lengthMs, toMs: whole.toMs };
  const start = clamped(fromMs, whole.fromMs, whole.toMs - lengthMs);
  return { fromMs: start, toMs: Math.min(start + lengthMs, whole.toMs) };
}

function clamped(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}
