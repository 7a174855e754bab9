/**
 * Draws the cells of the grid. Each look is drawn once, and copied to its cells; cells that stay as
 * they are are not drawn again.
 */
import type { Layout } from './layout.ts';
import type { Look, Shape } from './states.ts';

export interface Painting {
  readonly layout: Layout;
  readonly looks: readonly Look[];
  /** By index of the member: its look. */
  readonly cells: Uint8Array;
  /** By index of the member: 1 if the filter leaves it out. */
  readonly isLeftOut: Uint8Array;
  readonly selected: number;
  readonly active: number;
  /** The likeliest suspect of the restart that is open; -1: none. */
  readonly culprit: number;
  readonly colorOf: (property: string) => string;
  /** Another one: `colorOf` has other colours. */
  readonly theme: number;
}

const painted = new WeakMap<HTMLCanvasElement, Painting>();

/** Smaller cells have no room for it. */
const LEAST_PARTED_PX = 16;
const LEFT_OUT_ALPHA = 0.18;
/** Beyond this, browsers refuse a canvas; 5,000 members need a tenth of it. */
const MAX_CANVAS_PX = 16_000;

export function paint(canvas: HTMLCanvasElement, widthPx: number, painting: Painting): void {
  const { layout, looks, cells, isLeftOut, colorOf } = painting;
  const scale = Math.min(devicePixelRatio, MAX_CANVAS_PX / Math.max(1, layout.heightPx, widthPx));
  const [width, height] = [Math.ceil(widthPx * scale), Math.ceil(layout.heightPx * scale)];
  const isResized = canvas.width !== width || canvas.height !== height;
  if (isResized) {
    canvas.width = width;
    canvas.height = height;
    Object.assign(canvas.style, { width: `${widthPx}px`, height: `${layout.heightPx}px` });
  }
  const context = canvas.getContext('2d');
  if (context === null) return;
  const before = isResized ? undefined : unchanged(painted.get(canvas), painting);
  painted.set(canvas, painting);
  context.setTransform(scale, 0, 0, scale, 0, 0);
  if (before === undefined) context.clearRect(0, 0, widthPx, layout.heightPx);
  const size = layout.cellPx;
  const stamps = looks.map(({ shape, color }) => stampOf(shape, colorOf(color), size, scale));
  const ringed = new Set([...ringsOf(painting), ...(before === undefined ? [] : ringsOf(before))]);
  for (const [i, look] of cells.entries()) {
    const stays = before?.cells[i] === look && before.isLeftOut[i] === isLeftOut[i];
    const stamp = stamps[look];
    if ((stays && !ringed.has(i)) || stamp === undefined) continue;
    const [x, y] = [layout.x[i] ?? 0, layout.y[i] ?? 0];
    if (before !== undefined) context.clearRect(x, y, size, size);
    context.globalAlpha = isLeftOut[i] === 1 ? LEFT_OUT_ALPHA : 1;
    context.drawImage(stamp, x, y, size, size);
  }
  context.globalAlpha = 1;
  const ring = (i: number, color: string, lineWidth: number): void => {
    if (i < 0 || i >= cells.length) return;
    context.strokeStyle = colorOf(color);
    context.lineWidth = lineWidth;
    const inset = lineWidth / 2;
    const [x, y] = [(layout.x[i] ?? 0) + inset, (layout.y[i] ?? 0) + inset];
    context.strokeRect(x, y, size - lineWidth, size - lineWidth);
    if (size < LEAST_PARTED_PX) return;
    // A line parts the ring from what is in it, which may have its colour.
    context.strokeStyle = colorOf('--surface');
    context.lineWidth = 1;
    context.strokeRect(
      x + inset + 0.5,
      y + inset + 0.5,
      size - 2 * lineWidth - 1,
      size - 2 * lineWidth - 1,
    );
  };
  ring(painting.culprit, '--bad', 3);
  ring(painting.selected, '--text', 2);
  ring(painting.active, '--accent', 2);
}

/** What stands on the canvas, if cells of it can stay. */
function unchanged(before: Painting | undefined, now: Painting): Painting | undefined {
  const isSame =
    before?.layout === now.layout && before.looks === now.looks && before.theme === now.theme;
  return isSame ? before : undefined;
}

function ringsOf({ culprit, selected, active }: Painting): readonly number[] {
  return [culprit, selected, active];
}

function stampOf(shape: Shape, color: string, size: number, scale: number): HTMLCanvasElement {
  const stamp = document.createElement('canvas');
  stamp.width = Math.ceil(size * scale);
  stamp.height = stamp.width;
  const context = stamp.getContext('2d');
  if (context !== null) {
    context.scale(stamp.width / size, stamp.width / size);
    drawShape(context, shape, color, size);
  }
  return stamp;
}

const LEVEL_SHARES = { Level0: 1, Level1: 0.66, Level2: 0.4, Level3: 0.2 } as const;

/** In a square of `size`, with a margin that parts it from its neighbours. */
export function drawShape(
  context: CanvasRenderingContext2D,
  shape: Shape,
  color: string,
  size: number,
): void {
  const margin = size < 16 ? 1 : 2;
  const inner = size - 2 * margin;
  const line = Math.max(1.5, inner / 8);
  context.fillStyle = color;
  context.strokeStyle = color;
  context.lineWidth = line;
  const outline = (): void => {
    const edge = margin + line / 2;
    context.strokeRect(edge, edge, inner - line, inner - line);
  };
  const lines = (...points: readonly (readonly [number, number, number, number])[]): void => {
    context.beginPath();
    for (const [fromX, fromY, toX, toY] of points) {
      context.moveTo(margin + fromX * inner, margin + fromY * inner);
      context.lineTo(margin + toX * inner, margin + toY * inner);
    }
    context.stroke();
  };
  switch (shape) {
    case 'Full':
      context.fillRect(margin, margin, inner, inner);
      break;
    case 'Ring':
      outline();
      break;
    case 'Half':
      outline();
      context.fillRect(margin, margin + inner / 2, inner, inner / 2);
      break;
    case 'Dot':
      context.beginPath();
      context.arc(size / 2, size / 2, inner / 5, 0, 2 * Math.PI);
      context.fill();
      break;
    case 'Minus':
      lines([0.1, 0.5, 0.9, 0.5]);
      break;
    case 'Cross':
      lines([0.1, 0.1, 0.9, 0.9], [0.9, 0.1, 0.1, 0.9]);
      break;
    case 'Check':
      lines([0.05, 0.55, 0.4, 0.9], [0.4, 0.9, 0.95, 0.15]);
      break;
    case 'Slash':
      outline();
      lines([0.1, 0.9, 0.9, 0.1]);
      break;
    case 'Bang':
      lines([0.5, 0, 0.5, 0.62], [0.5, 0.78, 0.5, 1]);
      break;
    case 'Level0':
    case 'Level1':
    case 'Level2':
    case 'Level3': {
      const height = inner * LEVEL_SHARES[shape];
      context.globalAlpha = 0.22;
      context.fillRect(margin, margin, inner, inner);
      context.globalAlpha = 1;
      context.fillRect(margin, margin + inner - height, inner, height);
      break;
    }
  }
}
