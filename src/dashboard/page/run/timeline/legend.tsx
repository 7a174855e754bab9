/** What the patterns of the timeline mean, and how much time each stands for. */
import type { TimelineSegment } from '../../../../jobset/goodput/timeline.ts';
import { CLASSES, classWords, percent, rough } from '../words.ts';
import { sumsWithin } from './bars.ts';
import { ALL, type Span, spanOf } from './window.ts';

export interface LegendProps {
  readonly segments: readonly TimelineSegment[];
  readonly life: Span;
  /** What is shown of it. */
  readonly span: Span;
}

export function Legend({ segments, life, span }: LegendProps) {
  const whole = spanOf(ALL, life);
  const isPart = span.fromMs > whole.fromMs || span.toMs < whole.toMs;
  const sums = sumsWithin(segments, whole);
  const own = sumsWithin(segments, span);
  const hasSummary = segments.some(({ isSummary }) => isSummary === true);
  return (
    <div>
      <h3 class="visually-hidden">Where the time went</h3>
      <dl class="legend">
        {CLASSES.filter((name) => sums.has(name)).map((name) => {
          const [label, meaning] = classWords(name);
          const isAbsent = isPart && !own.has(name);
          return (
            <div key={name} class={`legend-class ${isAbsent ? 'is-absent' : ''}`}>
              <dt>
                <span class={`swatch time time-${name.toLowerCase()}`} />
                {label}
              </dt>
              <dd>{sumText(sums.get(name), whole)}</dd>
              <dd class="legend-more">{meaning}</dd>
              {isPart && (
                <dd class="legend-more">
                  <b>
                    {isAbsent ? 'not in what is shown' : `shown: ${sumText(own.get(name), span)}`}
                  </b>
                </dd>
              )}
            </div>
          );
        })}
      </dl>
      {hasSummary && (
        <p class="legend-note">
          <span class="swatch is-summary" /> Hatched: how long is known, but not in which order.
        </p>
      )}
    </div>
  );
}

/** `4m5s, 12.3 %` */
function sumText(ms = 0, { fromMs, toMs }: Span): string {
  return `${rough(ms)}, ${percent(ms, toMs - fromMs)}`;
}
