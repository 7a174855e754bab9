/** Where the cells of the grid lie. */
import type { MemberView } from '../../../../jobset/view/status-view.ts';

export interface Layout {
  readonly cellPx: number;
  readonly columns: number;
  /** Left of the cells, for the labels of the rows. */
  readonly gutterPx: number;
  readonly heightPx: number;
  /** By index of the member: left and top edges. */
  readonly x: Float32Array;
  readonly y: Float32Array;
  readonly labels: readonly RowLabel[];
}

export interface RowLabel {
  readonly yPx: number;
  readonly text: string;
  /** A heading stands in a line of its own, above the cells of its ReplicatedJob. */
  readonly isHeading: boolean;
}

const HEADING_PX = 22;
/** Larger cells than these show nothing more; smaller ones cannot be hit. */
const CELLS_PX = [32, 26, 20, 16, 13, 11];
const COMFORTABLE_HEIGHT_PX = 560;
const LEAST_COLUMNS = 8;

/** By ReplicatedJob, Job and index; `a-2` comes before `a-10`. */
export function inOrder<M extends MemberView>(members: Iterable<M>): readonly M[] {
  const keyed = Array.from(members, (member) => ({
    member,
    job: numberAtEnd(member.job),
    index: member.index === null ? -1 : Number(member.index),
  }));
  return keyed
    .sort(
      (a, b) =>
        compare(a.member.replicatedJob, b.member.replicatedJob) ||
        a.job - b.job ||
        compare(a.member.job, b.member.job) ||
        a.index - b.index ||
        compare(a.member.pod, b.member.pod),
    )
    .map(({ member }) => member);
}

/** Members of a ReplicatedJob lie together, and begin with a heading; Jobs have a gap between them. */
export function layOut(members: readonly MemberView[], widthPx: number): Layout {
  let layout = layOutCells(members, widthPx, CELLS_PX[0] ?? 0);
  for (const cellPx of CELLS_PX.slice(1)) {
    if (layout.heightPx <= COMFORTABLE_HEIGHT_PX) return layout;
    layout = layOutCells(members, widthPx, cellPx);
  }
  return layout;
}

function layOutCells(members: readonly MemberView[], widthPx: number, cellPx: number): Layout {
  const gutterPx = widthPx < 560 ? 52 : 92;
  const columns = Math.max(LEAST_COLUMNS, Math.floor((widthPx - gutterPx) / cellPx));
  const x = new Float32Array(members.length);
  const y = new Float32Array(members.length);
  const labels: RowLabel[] = [];
  const sizes = sizesOfJobs(members);
  let column = 0;
  let top = 0;
  const line = (text: string): void => {
    labels.push({ yPx: top, text, isHeading: false });
  };
  for (const [i, member] of members.entries()) {
    const before = members[i - 1];
    const isNewGroup = before?.replicatedJob !== member.replicatedJob;
    const isNewJob = isNewGroup || before.job !== member.job;
    const rest = columns - column;
    const isLarge = (sizes.get(member.job) ?? 0) > Math.max(rest - 1, 0);
    if (isNewGroup) {
      if (i > 0) top += column > 0 ? cellPx + 6 : 6;
      labels.push({ yPx: top, text: member.replicatedJob, isHeading: true });
      top += HEADING_PX;
      column = 0;
    } else if (column >= columns || (isNewJob && isLarge)) {
      top += cellPx;
      column = 0;
    } else if (isNewJob) column += 1;
    if (column === 0) line(rowText(member, isNewJob));
    x[i] = gutterPx + column * cellPx;
    y[i] = top;
    column += 1;
  }
  const heightPx = members.length === 0 ? 0 : top + cellPx;
  return { cellPx, columns, gutterPx, heightPx, x, y, labels };
}

/** The cell at a point, or -1. */
export function cellAt({ x, y, cellPx }: Layout, atX: number, atY: number): number {
  // The tops of cells never fall.
  let low = 0;
  let high = y.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((y[middle] ?? 0) + cellPx <= atY) low = middle + 1;
    else high = middle;
  }
  const top = y[low];
  if (top === undefined || atY < top) return -1;
  for (let i = low; i < y.length && y[i] === top; i += 1) {
    const left = x[i] ?? 0;
    if (atX >= left && atX < left + cellPx) return i;
  }
  return -1;
}

/** The cell that an arrow key leads to. */
export function neighbour({ x, y }: Layout, from: number, key: string): number {
  const last = x.length - 1;
  switch (key) {
    case 'ArrowLeft':
      return Math.max(0, from - 1);
    case 'ArrowRight':
      return Math.min(last, from + 1);
    case 'Home':
      return 0;
    case 'End':
      return last;
    case 'ArrowUp':
    case 'ArrowDown':
      return inNextRow(x, y, from, key === 'ArrowUp' ? -1 : 1);
    default:
      return from;
  }
}

/** The nearest cell of the next row in that direction. */
function inNextRow(x: Float32Array, y: Float32Array, from: number, direction: 1 | -1): number {
  let at = from;
  while (y[at] === y[from]) at += direction;
  const row = y[at];
  if (row === undefined) return from;
  let best = at;
  const distance = (i: number): number => Math.abs((x[i] ?? 0) - (x[from] ?? 0));
  for (; y[at] === row; at += direction) if (distance(at) < distance(best)) best = at;
  return best;
}

function sizesOfJobs(members: readonly MemberView[]): ReadonlyMap<string, number> {
  const sizes = new Map<string, number>();
  for (const { job } of members) sizes.set(job, (sizes.get(job) ?? 0) + 1);
  return sizes;
}

/** `job 12`, or the first index of a row that continues with one. */
function rowText({ job, index }: MemberView, isNewJob: boolean): string {
  const number = numberAtEnd(job);
  if (isNewJob) return number < 0 ? 'job' : `job ${number}`;
  return index ?? '';
}

function numberAtEnd(name: string): number {
  const text = /([0-9]{1,9})$/.exec(name)?.[1];
  return text === undefined ? -1 : Number(text);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
