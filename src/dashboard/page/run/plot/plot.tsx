/** How fast the group and its slowest members were. */
import { useEffect, useMemo, useRef } from 'preact/hooks';
import Chart from 'uplot';
import type { Sample } from '../../../messages/run.ts';
import { shown } from '../../elements/shown-text.ts';
import { zoneText } from '../../elements/time-text.ts';
import { colorsOf, useThemeVersion, useWidth } from '../follow.ts';
import { momentText } from '../timeline/ticks.ts';
import { rateText } from '../words.ts';
import { type Plotted, plotted, type Series, tabled } from './series.ts';

export interface PlotProps {
  /** Whether any member has reported a step. */
  readonly hasSteps: boolean;
  readonly samples: readonly Sample[];
  /** When epochs ended; Unix milliseconds. */
  readonly restartsMs: readonly number[];
}

const HEIGHT_PX = 200;
const TABLE_ROWS = 12;
/** Distances of the marks below it, in seconds: no label stands twice. */
const TICKS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 43_200];
/** So many samples draw a line. */
const LEAST_SAMPLES = 2;
const COLORS = ['--accent', '--bad', '--warn', '--time-hung', '--time-restarting', '--idle'];
/** Lines differ in their dashes, too. */
const DASHES: readonly number[][] = [[], [8, 4], [2, 3], [8, 3, 2, 3], [14, 4], [4, 8]];

export function Plot({ hasSteps, samples, restartsMs }: PlotProps) {
  const data = useMemo(() => plotted(samples), [samples]);
  const isTold = data.series.some(({ values }) => values.some((value) => value !== null));
  const newest = samples.at(-1);
  const offset = new Date(newest?.atMs ?? restartsMs.at(-1) ?? 0).getTimezoneOffset();
  return (
    <section class="card plot" aria-labelledby="plot-title">
      <div class="part-head">
        <h2 id="plot-title">Speed</h2>
        <p class="quiet">
          steps per second: the median of the group, and its slowest members; times in{' '}
          {zoneText(offset)}
        </p>
      </div>
      {isTold && samples.length >= LEAST_SAMPLES ? (
        <>
          <Lines data={data} restartsMs={restartsMs} />
          <ul class="plot-legend">
            {data.series.map(({ pod, values }, i) => (
              <li key={pod}>
                <DashSwatch number={i} /> {pod === null ? 'the group' : shown(pod, 80)}
                <b>{lastRate(values)}</b>
              </li>
            ))}
          </ul>
          <details>
            <summary>As a table</summary>
            <SampleTable samples={samples} offset={offset} />
          </details>
        </>
      ) : (
        <p class="part-empty">
          {hasSteps
            ? 'Speeds appear here once members have reported steps for a minute or two.'
            : 'No member reports steps now. A worker that writes its steps to the file that LOCKSTEP_PROGRESS_FILE names appears here.'}
        </p>
      )}
    </section>
  );
}

function lastRate(values: Series['values']): string {
  const last = values.findLast((value) => value !== null);
  return last === undefined || last === null ? '' : rateText(last);
}

function Lines({ data, restartsMs }: { data: Plotted; restartsMs: readonly number[] }) {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<Chart | null>(null);
  const restarts = useRef(restartsMs);
  restarts.current = restartsMs;
  const width = useWidth(box);
  const theme = useThemeVersion();
  const count = data.series.length;
  useEffect(() => {
    const { current } = box;
    if (current === null || width === 0) return undefined;
    const colorOf = colorsOf(current);
    const axis = {
      stroke: colorOf('--text-quiet'),
      grid: { stroke: colorOf('--line'), width: 1 },
      ticks: { stroke: colorOf('--line'), width: 1 },
      font: '11px system-ui, sans-serif',
    };
    const made = new Chart(
      {
        width,
        height: HEIGHT_PX,
        legend: { show: false },
        cursor: { drag: { x: false, y: false } },
        scales: { y: { range: (_, __, most) => [0, Math.max(most * 1.1, 0.001)] } },
        axes: [
          {
            ...axis,
            incrs: [...TICKS_S],
            values: (_, times) => times.map((time) => timeOfDay(time)),
            space: 70,
          },
          { ...axis, size: 54, values: (_, rates) => rates.map((rate) => rateOnAxis(rate)) },
        ],
        series: [
          {},
          ...data.series.map((_, i) => ({
            stroke: colorOf(COLORS[i] ?? '--idle'),
            width: i === 0 ? 2.5 : 1.5,
            dash: DASHES[i] ?? [],
            points: { show: false },
          })),
        ],
        hooks: { draw: [(drawn) => drawRestarts(drawn, restarts.current, colorOf('--bad'))] },
      },
      aligned(data),
      current,
    );
    chart.current = made;
    return () => {
      chart.current = null;
      made.destroy();
    };
  }, [width === 0, theme, count]);
  useEffect(() => chart.current?.setData(aligned(data)), [data]);
  useEffect(() => {
    if (width > 0) chart.current?.setSize({ width, height: HEIGHT_PX });
  }, [width]);
  return (
    <div
      class="plot-box"
      ref={box}
      role="img"
      aria-label="Steps per second over time. The table below has the numbers."
    />
  );
}

/** As all numbers of the page, whatever the language of the browser: `1,200`, `1.5`. */
function rateOnAxis(rate: number): string {
  return rate.toLocaleString('en', { maximumSignificantDigits: 6 });
}

function aligned({ times, series }: Plotted): Chart.AlignedData {
  return [[...times], ...series.map(({ values }) => [...values])];
}

function timeOfDay(seconds: number): string {
  const ms = seconds * 1000;
  return momentText(ms, new Date(ms).getTimezoneOffset()).replace(/^.* /, '');
}

function drawRestarts(chart: Chart, restartsMs: readonly number[], color: string): void {
  const { ctx: context, bbox } = chart;
  context.save();
  context.strokeStyle = color;
  context.lineWidth = Chart.pxRatio;
  context.setLineDash([3 * Chart.pxRatio, 3 * Chart.pxRatio]);
  for (const atMs of restartsMs) {
    const x = Math.round(chart.valToPos(atMs / 1000, 'x', true));
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    context.beginPath();
    context.moveTo(x, bbox.top);
    context.lineTo(x, bbox.top + bbox.height);
    context.stroke();
  }
  context.restore();
}

function DashSwatch({ number }: { readonly number: number }) {
  return (
    <svg class="dash-swatch" width="32" height="10" aria-hidden="true">
      <line
        class={`line-${number}`}
        x1="0"
        y1="5"
        x2="32"
        y2="5"
        stroke-width={number === 0 ? 2.5 : 1.5}
        stroke-dasharray={(DASHES[number] ?? []).join(' ')}
      />
    </svg>
  );
}

function stepText(step: number): string {
  return step.toLocaleString('en');
}

interface SampleTableProps {
  readonly samples: readonly Sample[];
  readonly offset: number;
}

function SampleTable({ samples, offset }: SampleTableProps) {
  return (
    <div class="table-box" tabindex={0} role="region" aria-label="Speeds as a table">
      <table class="data-table">
        <thead class="data-head">
          <tr>
            <th>Time, {zoneText(offset)}</th>
            <th>Epoch</th>
            <th class="number">Group</th>
            <th class="number">Steps</th>
            <th>Slowest member</th>
          </tr>
        </thead>
        <tbody>
          {tabled(samples, TABLE_ROWS).map(
            ({ atMs, epoch, stepsPerSecond, lowestStep, highestStep, slowest: [slowest] }) => (
              <tr key={atMs}>
                <td>{momentText(atMs, offset)}</td>
                <td>{epoch ?? '–'}</td>
                <td class="number">{stepsPerSecond === null ? '–' : rateText(stepsPerSecond)}</td>
                <td class="number">
                  {lowestStep === null
                    ? '–'
                    : lowestStep === highestStep
                      ? stepText(lowestStep)
                      : `${stepText(lowestStep)} to ${stepText(highestStep ?? lowestStep)}`}
                </td>
                <td>
                  {slowest === undefined
                    ? '–'
                    : `${shown(slowest.pod, 80)}, ${rateText(slowest.stepsPerSecond)}`}
                </td>
              </tr>
            ),
          )}
        </tbody>
      </table>
    </div>
  );
}
