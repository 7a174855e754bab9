/** One cell for each member or rank, on a canvas; keys, screen readers and pointers find each of them. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { RunMember } from '../../../messages/run.ts';
import { shown } from '../../elements/shown-text.ts';
import { colorsOf, useThemeVersion, useWidth } from '../follow.ts';
import { type Cell, cellKey } from './cells.ts';
import { cellAt, layOut, neighbour } from './layout.ts';
import { paint } from './paint.ts';
import type { Look } from './states.ts';
import { cellInWords } from './words.ts';

export interface GridProps {
  /** Keys of the cells in their order; another array only if one came or went. */
  readonly order: readonly string[];
  /** In the same order. */
  readonly members: readonly Cell[];
  readonly looks: readonly Look[];
  /** By index of the member: its look. */
  readonly cells: Uint8Array;
  readonly isLeftOut: Uint8Array;
  /** Keys of cells. */
  readonly selected: string | null;
  readonly culprit: string | null;
  readonly silentMs: (member: RunMember) => number | null;
  readonly select: (cell: Cell) => void;
}

const TIP_PX = 280;

export function Grid(props: GridProps) {
  const { order, members, looks, cells, isLeftOut, selected, culprit, silentMs, select } = props;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(box);
  const theme = useThemeVersion();
  const [active, activate] = useState(0);
  const [hovered, hover] = useState(-1);
  const [hasFocus, focus] = useState(false);
  const layout = useMemo(() => layOut(width === 0 ? [] : members, width), [order, width]);
  const indexes = useMemo(
    () => new Map(order.map((key, i): [string, number] => [key, i])),
    [order],
  );
  const at = Math.min(active, members.length - 1);
  const ringed = hasFocus ? at : hovered;
  useLayoutEffect(() => {
    if (canvas.current === null || width === 0) return;
    const indexOf = (key: string | null): number => (key === null ? -1 : (indexes.get(key) ?? -1));
    paint(canvas.current, width, {
      layout,
      looks,
      cells,
      isLeftOut,
      colorOf: colorsOf(canvas.current),
      theme,
      selected: indexOf(selected),
      culprit: indexOf(culprit),
      active: ringed,
    });
  }, [layout, looks, cells, isLeftOut, selected, culprit, ringed, theme]);
  useEffect(() => {
    const row = layout.y[at];
    if (!hasFocus || row === undefined || canvas.current === null) return;
    const { top } = canvas.current.getBoundingClientRect();
    if (top + row < 0 || top + row + layout.cellPx > innerHeight) {
      scrollBy(0, top + row - innerHeight / 2);
    }
  }, [at, hasFocus]);

  const indexUnder = (event: MouseEvent): number => {
    const { left = 0, top = 0 } = canvas.current?.getBoundingClientRect() ?? {};
    return cellAt(layout, event.clientX - left, event.clientY - top);
  };
  const open = (index: number): void => {
    const member = members[index];
    if (member === undefined) return;
    activate(index);
    select(member);
  };
  const press = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Enter' || event.key === ' ') open(at);
    else if (/^(Arrow|Home|End)/.test(event.key)) activate(neighbour(layout, at, event.key));
    else return;
    event.preventDefault();
  };
  const wordsOf = (index: number): string => {
    const member = members[index];
    const look = looks[cells[index] ?? -1]?.label ?? '';
    return member === undefined ? '' : shown(cellInWords(member, look, silentMs(member)), 300);
  };
  const tip = hovered >= 0 ? hovered : hasFocus ? at : -1;
  const active_ = members[at];
  return (
    <div class="grid" ref={box} onPointerLeave={() => hover(-1)}>
      <div
        class="grid-cells"
        role="listbox"
        tabindex={0}
        aria-label="Members; arrow keys go from one to the next, Enter opens it"
        aria-activedescendant={active_ === undefined ? undefined : 'grid-active'}
        onKeyDown={press}
        onFocus={() => focus(true)}
        onBlur={() => focus(false)}
        onPointerMove={(event) => hover(indexUnder(event))}
        onClick={(event) => open(indexUnder(event))}
      >
        <canvas ref={canvas} aria-hidden="true" />
        {active_ !== undefined && (
          <div
            class="visually-hidden"
            role="option"
            id="grid-active"
            aria-selected={cellKey(active_) === selected}
            aria-posinset={at + 1}
            aria-setsize={members.length}
          >
            {wordsOf(at)}
          </div>
        )}
      </div>
      <div class="grid-labels" aria-hidden="true">
        {layout.labels.map(({ yPx, text, isHeading }) => (
          <span
            key={`${yPx} ${isHeading}`}
            class={isHeading ? 'grid-heading' : 'grid-label'}
            style={{ top: `${yPx}px`, lineHeight: isHeading ? null : `${layout.cellPx}px` }}
          >
            {shown(text, 63)}
          </span>
        ))}
      </div>
      {tip >= 0 && tip < members.length && (
        <div
          class="grid-tip"
          aria-hidden="true"
          style={{
            left: `${Math.max(0, Math.min((layout.x[tip] ?? 0) + layout.cellPx, width - TIP_PX))}px`,
            top: `${(layout.y[tip] ?? 0) + layout.cellPx + 4}px`,
          }}
        >
          {wordsOf(tip)}
        </div>
      )}
    </div>
  );
}
