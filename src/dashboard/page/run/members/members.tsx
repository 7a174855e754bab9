/** The members of a group: a grid of all, a filter, and one of them in full. */
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Suspect } from '../../../../jobset/jobset-status.ts';
import { memberState } from '../../../../jobset/view/member-state.ts';
import type { JobSetView } from '../../../../jobset/view/status-view.ts';
import type { RunMember } from '../../../messages/run.ts';
import { PlayedAt } from '../../elements/age.tsx';
import { shown } from '../../elements/shown-text.ts';
import { colorsOf, useThemeVersion } from '../follow.ts';
import { counted } from '../words.ts';
import { type Cell, cellKey, processesOf, rankCells, rankCount } from './cells.ts';
import { type Filter, KINDS, type Kind, matches, NO_FILTER } from './filter.ts';
import { Grid } from './grid.tsx';
import { inOrder } from './layout.ts';
import { Member } from './member.tsx';
import { drawShape } from './paint.ts';
import { COLORINGS, type Coloring, LOOKS, type Look, lookOf, STATES, silenceOf } from './states.ts';
import { cellName, silenceText } from './words.ts';

export interface MembersProps {
  readonly jobSet: JobSetView;
  /** By name of the Pod. */
  readonly members: ReadonlyMap<string, RunMember>;
  readonly nowMs: number;
  readonly selected: string | null;
  /** The local rank that is open; null: all of the Pod. */
  readonly process: number | null;
  /** Null: none. */
  readonly select: (pod: string | null, process?: number | null) => void;
  /** The likeliest suspect of the restart that is open. */
  readonly culprit: Pick<Suspect, 'pod' | 'process'> | null;
}

const COLORED_BY: Readonly<Record<Coloring, string>> = {
  State: 'state',
  Step: 'steps behind',
  Silence: 'silence',
  Epoch: 'epoch',
};

const KIND_WORDS: Readonly<Record<Kind, string>> = {
  All: 'all',
  Behind: 'behind',
  NotReady: 'not ready',
  Lagging: 'with ranks behind',
};

/** Up to this number, members are in a table as well. */
const MAX_ROWS = 20;

export function Members(props: MembersProps) {
  const { jobSet, members, nowMs, selected, process, select, culprit } = props;
  const { namespace, name } = jobSet;
  const isLive = useContext(PlayedAt) === null;
  const [coloring, colorBy] = useState<Coloring>('State');
  const [filter, look] = useState<Filter>(NO_FILTER);
  const [isByRank, showRanks] = useState(false);
  const pods = useMemo(() => podsOf(members), [members]);
  const podOrder = useMemo(() => inOrder(members.values()).map(({ pod }) => pod), [pods]);
  const inPods = useMemo(
    () => podOrder.flatMap((pod) => members.get(pod) ?? []),
    [podOrder, members],
  );
  const ranks = rankCount(inPods);
  const hasRanks = isByRank && ranks > 0;
  const ordered: readonly Cell[] = useMemo(
    () => (hasRanks ? rankCells(inPods) : inPods),
    [inPods, hasRanks],
  );
  const keys = useMemo(() => ordered.map(cellKey).join('\n'), [ordered]);
  const order = useMemo(() => ordered.map(cellKey), [keys]);
  const keyOf = (at: Pick<Cell, 'pod' | 'process'> | null): string | null => {
    if (at === null) return null;
    const member = members.get(at.pod);
    const isDivided = hasRanks && member !== undefined && processesOf(member) > 1;
    return cellKey(isDivided ? { pod: at.pod, process: at.process ?? 0 } : { pod: at.pod });
  };
  const silentMs = (member: RunMember): number | null => silenceOf(member, nowMs);
  const drawn = useMemo(() => {
    const isLeftOut = new Uint8Array(ordered.length);
    const cells = new Uint8Array(ordered.length);
    const counts = new Map<number, number>();
    for (const [i, member] of ordered.entries()) {
      const cell = lookOf(coloring, member, jobSet, silentMs(member));
      cells[i] = cell;
      counts.set(cell, (counts.get(cell) ?? 0) + 1);
      isLeftOut[i] = matches(filter, member, jobSet) ? 0 : 1;
    }
    return { cells, isLeftOut, counts };
  }, [ordered, coloring, filter, jobSet, coloring === 'Silence' ? nowMs : 0]);
  const found = useMemo(() => ordered.filter((_, i) => drawn.isLeftOut[i] === 0), [ordered, drawn]);
  const missing = jobSet.size - members.size;
  const open = selected === null ? undefined : members.get(selected);
  return (
    <section class="card members" aria-labelledby="members-title">
      <div class="part-head">
        <h2 id="members-title">Members</h2>
        <p class="quiet">
          {members.size === jobSet.size
            ? `${counted(jobSet.size, 'member')}${ranks === 0 ? '' : `, ${counted(ranks, 'rank')}`}`
            : `${members.size.toLocaleString('en')} of ${counted(jobSet.size, 'member')} have a Pod`}
        </p>
        <div class="part-tools" hidden={members.size === 0}>
          {ranks > 0 && (
            <label class="inline-field">
              One cell for each
              <select
                class="input"
                onChange={({ currentTarget }) => showRanks(currentTarget.value === 'rank')}
              >
                <option value="pod" selected={!isByRank}>
                  Pod
                </option>
                <option value="rank" selected={isByRank}>
                  rank
                </option>
              </select>
            </label>
          )}
          <label class="inline-field">
            Coloured by
            <select
              class="input"
              onChange={({ currentTarget }) => colorBy(chosen(currentTarget.value, COLORINGS))}
            >
              {COLORINGS.map((each) => (
                <option key={each} value={each} selected={each === coloring}>
                  {COLORED_BY[each]}
                </option>
              ))}
            </select>
          </label>
          <label class="inline-field">
            Show
            <select
              class="input"
              onChange={({ currentTarget }) =>
                look({ ...filter, kind: chosen(currentTarget.value, KINDS) })
              }
            >
              {KINDS.map((each) => (
                <option key={each} value={each} selected={each === filter.kind}>
                  {KIND_WORDS[each]}
                </option>
              ))}
            </select>
          </label>
          <input
            class="input"
            type="search"
            placeholder="Pod, node, index"
            aria-label="Filter members by text"
            value={filter.text}
            onInput={({ currentTarget }) => look({ ...filter, text: currentTarget.value })}
          />
        </div>
      </div>
      {members.size === 0 ? (
        <p class="part-empty">{emptyText(jobSet, isLive)}</p>
      ) : (
        <>
          <MemberLegend
            looks={LOOKS[coloring]}
            counts={drawn.counts}
            hasCulprit={culprit !== null && members.has(culprit.pod)}
          />
          <div class={`members-parts ${open === undefined ? '' : 'has-member'}`}>
            <div class="members-all">
              <Grid
                order={order}
                members={ordered}
                looks={LOOKS[coloring]}
                silentMs={silentMs}
                selected={keyOf(
                  selected === null ? null : { pod: selected, process: process ?? 0 },
                )}
                culprit={keyOf(culprit)}
                select={({ pod, process: local }) => select(pod, local)}
                cells={drawn.cells}
                isLeftOut={drawn.isLeftOut}
              />
              <p class="quiet" role="status">
                {found.length < ordered.length
                  ? `${found.length.toLocaleString('en')} of ${counted(ordered.length, hasRanks ? 'rank' : 'member')} ${found.length === 1 ? 'matches' : 'match'}.`
                  : ''}
                {missing > 0 && (jobSet.state === 'AtBarrier' || jobSet.state === 'Running')
                  ? ` ${counted(missing, 'Pod')} ${missing === 1 ? 'is' : 'are'} not there${isLive ? ': the Events below may say why' : ''}.`
                  : ''}
              </p>
              {found.length > 0 && found.length <= MAX_ROWS && (
                <Rows
                  found={found}
                  jobSet={jobSet}
                  silentMs={silentMs}
                  selected={selected}
                  process={process}
                  select={select}
                />
              )}
            </div>
            {open !== undefined && (
              <Member
                namespace={namespace}
                name={name}
                member={open}
                state={memberState(open, jobSet)}
                nowMs={nowMs}
                process={process}
                choose={(local) => select(open.pod, local)}
                close={() => select(null)}
              />
            )}
          </div>
        </>
      )}
      {selected !== null && open === undefined && (
        <p class="quiet" role="status">
          Pod {shown(selected, 253)} is gone.{' '}
          <button type="button" class="link" onClick={() => select(null)}>
            Close
          </button>
        </p>
      )}
    </section>
  );
}

/** Changes only if a member came or went. */
function podsOf(members: ReadonlyMap<string, RunMember>): string {
  return [...members.keys()].join('\n');
}

function chosen<T extends string>(text: string, choices: readonly [T, ...T[]]): T {
  return choices.find((choice) => choice === text) ?? choices[0];
}

function emptyText({ state, name, namespace }: JobSetView, isLive: boolean): string {
  switch (state) {
    case 'Suspended':
      return 'It is suspended, so it has no Pods.';
    case 'Completed':
    case 'Failed':
      return 'It is over, and its Pods are gone.';
    case 'AtBarrier':
    case 'Released':
    case 'Running':
      return isLive
        ? `It has no Pods yet. If this lasts, ask: kubectl -n ${namespace} describe jobset ${name}`
        : 'It has no Pods.';
  }
}

interface MemberLegendProps {
  readonly looks: readonly Look[];
  readonly counts: ReadonlyMap<number, number>;
  readonly hasCulprit: boolean;
}

function MemberLegend({ looks, counts, hasCulprit }: MemberLegendProps) {
  return (
    <ul class="member-legend">
      {looks.map((look, i) => {
        const count = counts.get(i) ?? 0;
        return (
          count > 0 && (
            <li key={look.label}>
              <ShapeSwatch {...look} /> {look.label} <b>{count.toLocaleString('en')}</b>
            </li>
          )
        );
      })}
      {hasCulprit && (
        <li key="culprit">
          <span class="culprit-swatch" /> a suspect of the restart that is open
        </li>
      )}
    </ul>
  );
}

const SWATCH_PX = 16;

function ShapeSwatch({ shape, color }: Look) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useThemeVersion();
  useEffect(() => {
    const context = canvas.current?.getContext('2d') ?? null;
    if (context === null || canvas.current === null) return;
    const scale = devicePixelRatio;
    canvas.current.width = SWATCH_PX * scale;
    canvas.current.height = SWATCH_PX * scale;
    context.scale(scale, scale);
    drawShape(context, shape, colorsOf(canvas.current)(color), SWATCH_PX);
  }, [theme, shape, color]);
  return <canvas ref={canvas} class="shape-swatch" aria-hidden="true" />;
}

interface RowsProps {
  readonly found: readonly Cell[];
  readonly jobSet: JobSetView;
  readonly silentMs: (member: RunMember) => number | null;
  readonly selected: string | null;
  readonly process: number | null;
  readonly select: (pod: string, process?: number) => void;
}

function Rows({ found, jobSet, silentMs, selected, process, select }: RowsProps) {
  const isOpen = (cell: Cell): boolean =>
    cell.pod === selected && (process === null || (cell.process ?? process) === process);
  return (
    <div class="table-box" tabindex={0} role="region" aria-label="Members as a table">
      <table class="data-table">
        <thead class="data-head">
          <tr>
            <th>Member</th>
            <th>State</th>
            <th class="number">Step</th>
            <th class="number">Silent</th>
            <th>Node</th>
          </tr>
        </thead>
        <tbody>
          {found.map((member) => {
            const silence = silentMs(member);
            return (
              <tr key={cellKey(member)} class={isOpen(member) ? 'is-selected' : ''}>
                <th scope="row">
                  <button
                    type="button"
                    class="link"
                    onClick={() => select(member.pod, member.process)}
                  >
                    {shown(cellName(member), 120)}
                  </button>
                </th>
                <td>
                  {STATES[memberState(member, jobSet)].label}
                  {member.heldBy === null ? '' : `: ${shown(member.heldBy, 80)}`}
                </td>
                <td class="number">{member.progress?.step?.toLocaleString('en') ?? '–'}</td>
                <td class="number">{silence === null ? '–' : silenceText(silence)}</td>
                <td>{member.node === null ? '–' : shown(member.node, 120)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
