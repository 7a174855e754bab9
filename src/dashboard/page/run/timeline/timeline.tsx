/** The life of a JobSet on one bar: what became of each moment, with a mark for each restart. */
import { useRef, useState } from 'preact/hooks';
import { isFailure } from '../../../../jobset/culprits/failure-words.ts';
import type { TimelineSegment } from '../../../../jobset/goodput/timeline.ts';
import { shown } from '../../elements/shown-text.ts';
import { zoneText } from '../../elements/time-text.ts';
import { useWidth } from '../follow.ts';
import { restartInWords } from '../restart/words.ts';
import { classWords, counted, rough } from '../words.ts';
import { barsOf, type Mark, marksOf } from './bars.ts';
import { useGestures, type Zoom, zoomByKey } from './gestures.ts';
import { Legend } from './legend.tsx';
import { type DatedRestart, RestartTable } from './restart-table.tsx';
import { Strip } from './strip.tsx';
import { momentText, ticksOf } from './ticks.ts';
import {
  ALL,
  momentAt,
  type Span,
  shareOf,
  spanOf,
  type Window,
  windowOn,
  zoomed,
} from './window.ts';

export interface TimelineProps {
  readonly segments: readonly TimelineSegment[];
  readonly life: Span;
  /** The oldest first. */
  readonly restarts: readonly DatedRestart[];
  readonly window: Window;
  readonly show: (window: Window) => void;
  /** The epoch whose end is open below; null: none. */
  readonly selected: number | null;
  readonly select: (epoch: number) => void;
}

const HOUR_MS = 3_600_000;
/** How much of the time before and after a restart is shown with it. */
const AROUND_BEFORE_MS = 10_000;
const AROUND_AFTER_MS = 20_000;
/** Bars that are wide enough bear their names. */
const NAMED_PX = 74;

export function Timeline(props: TimelineProps) {
  const { segments, life, restarts, window, show, selected, select } = props;
  const [pointedPx, point] = useState<number | null>(null);
  const bar = useRef<HTMLDivElement>(null);
  const width = useWidth(bar);
  const zoom: Zoom = { window, life, show };
  const brush = useGestures(bar, zoom);
  const span = spanOf(window, life);
  const offset = new Date(span.toMs).getTimezoneOffset();
  const last = restarts.at(-1);
  const around = ({ fromMs, toMs }: Span): void =>
    show(windowOn({ fromMs: fromMs - AROUND_BEFORE_MS, toMs: toMs + AROUND_AFTER_MS }, life));
  const open = ({ restarts: joined, span: at }: Mark<DatedRestart>): void => {
    const newest = joined.at(-1);
    if (newest !== undefined) select(newest.record.epoch);
    // Zooming does not separate restarts that happened in one second.
    if (joined.length > 1 && at.toMs - at.fromMs > 1000) {
      const ms = (at.toMs - at.fromMs) * 0.2;
      show(windowOn({ fromMs: at.fromMs - ms, toMs: at.toMs + ms }, life));
    }
  };
  const press = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (zoomByKey(event.key, zoom)) event.preventDefault();
  };
  const pointed = pointedPx === null || width === 0 ? null : momentAt(span, pointedPx / width);
  const under = segments.find(
    ({ fromMs, toMs }) => pointed !== null && pointed >= fromMs && pointed < toMs,
  );
  const zoomMiddle = (factor: number): void => {
    const at = window.kind === 'Fixed' ? (span.fromMs + span.toMs) / 2 : span.toMs;
    show(zoomed(window, life, factor, at));
  };
  if (segments.length === 0) {
    return (
      <section class="card timeline" aria-labelledby="timeline-title">
        <div class="part-head">
          <h2 id="timeline-title">Timeline</h2>
        </div>
        <p class="part-empty">The operator does not account for the time of this JobSet.</p>
        <RestartTable restarts={restarts} offset={offset} />
      </section>
    );
  }
  return (
    <section class="card timeline" aria-labelledby="timeline-title">
      <div class="part-head">
        <h2 id="timeline-title">Timeline</h2>
        <p class="quiet">
          {rangeText(window, span, offset)}; times in {zoneText(offset)}
        </p>
        <div class="part-tools" role="group" aria-label="What the timeline shows">
          <Tool text="All" isOn={window.kind === 'All'} press={() => show(ALL)} />
          <Tool
            text="Last hour"
            isOn={window.kind === 'Last' && window.ms === HOUR_MS}
            press={() => show({ kind: 'Last', ms: HOUR_MS })}
          />
          <Tool
            text="Last restart"
            isDisabled={last === undefined}
            press={() => {
              if (last === undefined) return;
              select(last.record.epoch);
              around({ fromMs: last.atMs, toMs: last.atMs });
            }}
          />
          <Tool text="−" name="Show more time" press={() => zoomMiddle(2)} />
          <Tool text="+" name="Show less time" press={() => zoomMiddle(0.5)} />
        </div>
      </div>
      <div class="timeline-marks">
        {marksOf(restarts, span, width).map((mark) => (
          <MarkButton
            key={mark.restarts[0]?.record.epoch}
            mark={mark}
            selected={selected}
            offset={offset}
            open={() => open(mark)}
          />
        ))}
      </div>
      <div
        class="timeline-bar"
        ref={bar}
        tabindex={0}
        role="group"
        aria-label="Timeline. Plus and minus zoom, arrow keys move, 0 shows everything. Tables below say the same."
        onKeyDown={press}
        onPointerMove={(event) => {
          const { left = 0 } = bar.current?.getBoundingClientRect() ?? {};
          point(event.clientX - left);
        }}
        onPointerLeave={() => point(null)}
      >
        {barsOf(segments, span, width).map(({ segment, xPx, widthPx }) => {
          const { class: name, isSummary, fromMs } = segment;
          return (
            <div
              key={`${fromMs} ${name}`}
              class={`timeline-segment time time-${name.toLowerCase()} ${isSummary ? 'is-summary' : ''}`}
              style={{ left: `${xPx}px`, width: `${widthPx}px` }}
            >
              {widthPx >= NAMED_PX && <span>{classWords(name)[0]}</span>}
            </div>
          );
        })}
        {restarts
          .filter(({ atMs }) => atMs >= span.fromMs && atMs <= span.toMs)
          .map(({ atMs, record }) => (
            <div
              key={`at ${record.epoch}`}
              class={`timeline-line ${record.epoch === selected ? 'is-selected' : ''}`}
              style={{ left: `${shareOf(span, atMs) * 100}%` }}
            />
          ))}
        {brush !== null && (
          <div
            class="timeline-brush"
            style={{
              left: `${Math.min(...brush) * 100}%`,
              width: `${Math.abs(brush[1] - brush[0]) * 100}%`,
            }}
          />
        )}
      </div>
      <div class="timeline-axis" aria-hidden="true">
        {ticksOf(span, width, offset).map(({ atMs, label }) => (
          <span key={atMs} class="timeline-tick" style={{ left: `${shareOf(span, atMs) * 100}%` }}>
            {label}
          </span>
        ))}
      </div>
      <Strip
        {...zoom}
        segments={segments}
        restartsMs={restarts.map(({ atMs }) => atMs)}
        widthPx={width}
      />
      <p class="timeline-readout quiet" aria-hidden="true">
        {pointed === null ? (
          'Drag over the bar to look closer; pinch, or hold Ctrl and turn the wheel, to zoom.'
        ) : (
          <>
            <b>{momentText(pointed, offset, span.toMs - span.fromMs < 60_000 ? 3 : 0)}</b>{' '}
            {segmentText(under)}
          </>
        )}
      </p>
      <Legend segments={segments} life={life} span={span} />
      <RestartTable restarts={restarts} offset={offset} />
    </section>
  );
}

interface ToolProps {
  readonly text: string;
  readonly name?: string;
  readonly isOn?: boolean;
  readonly isDisabled?: boolean;
  readonly press: () => void;
}

function Tool({ text, name, isOn, isDisabled = false, press }: ToolProps) {
  return (
    <button
      type="button"
      class={`button ${isOn === true ? 'is-on' : ''}`}
      aria-label={name}
      title={name}
      aria-pressed={isOn}
      disabled={isDisabled}
      onClick={press}
    >
      {text}
    </button>
  );
}

interface MarkButtonProps {
  readonly mark: Mark<DatedRestart>;
  readonly selected: number | null;
  readonly offset: number;
  readonly open: () => void;
}

function MarkButton({ mark, selected, offset, open }: MarkButtonProps) {
  const { restarts, xPx } = mark;
  const isSelected = restarts.some(({ record }) => record.epoch === selected);
  const isBad = restarts.some(({ record }) => isFailure(record));
  const newest = restarts.at(-1);
  const told =
    newest === undefined
      ? ''
      : `epoch ${newest.record.epoch} ended, ${momentText(newest.atMs, offset)}: ${shown(restartInWords(newest.record), 200)}`;
  const name =
    restarts.length === 1 ? told : `${counted(restarts.length, 'restart')}, the newest: ${told}`;
  return (
    <button
      type="button"
      class={`mark ${isBad ? 'is-bad' : ''} ${isSelected ? 'is-selected' : ''}`}
      style={{ left: `${xPx}px` }}
      aria-label={name}
      aria-pressed={isSelected}
      title={name}
      onClick={open}
    >
      {restarts.length > 1 ? `×${restarts.length}` : newest?.record.epoch}
    </button>
  );
}

function rangeText(window: Window, span: Span, offset: number): string {
  const length = rough(span.toMs - span.fromMs);
  if (window.kind === 'All')
    return `${length} since the creation, ${momentText(span.fromMs, offset)}`;
  if (window.kind === 'Last') return `the last ${length}`;
  const digits = span.toMs - span.fromMs < 60_000 ? 3 : 0;
  const to = momentText(span.toMs, offset, digits);
  return `${length}, ${momentText(span.fromMs, offset, digits)} to ${to}`;
}

function segmentText(segment: TimelineSegment | undefined): string {
  if (segment === undefined) return '';
  const { class: name, fromMs, toMs, epoch, isSummary } = segment;
  const [label, meaning] = classWords(name);
  const of = epoch === null ? '' : `, epoch ${epoch}`;
  const order = isSummary === true ? '; in which order is not known' : '';
  return `${label} for ${rough(toMs - fromMs)}${of}: ${meaning}${order}`;
}
