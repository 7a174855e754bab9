/**
 * Visits every state of a transition system, breadth first, so that the trace of a violation is as
 * short as can be. Then it checks that the system can come to rest from each of them without more
 * faults.
 */
import type { PropertyName, Violation } from '../properties.ts';
import { NumberList, VisitedStates } from './visited-states.ts';

/** A state is a row of whole numbers, of the same length each time. */
export type State = readonly number[];

export interface Transition {
  readonly to: State;
  readonly isFault: boolean;
  /** What happens, in words. */
  readonly text: () => string;
  /** What does not hold if this happens. */
  readonly violation?: Violation | undefined;
}

export interface TransitionSystem {
  readonly initial: State;
  transitions(state: State): readonly Transition[];
  /** One state for all that are the same but for the order of members. */
  canonical(state: State): State;
  /** The state in words. */
  describe(state: State): string;
  /** Why the group should not rest in a state in which nothing but a fault can happen. */
  unrest(state: State): Violation | undefined;
}

export interface Exploration {
  readonly states: number;
  readonly transitions: number;
  /** Whether there are more states than were visited. */
  readonly isCut: boolean;
  readonly violation?: Violation;
  /** What led to the violation, in words. */
  readonly trace: readonly string[];
}

/** Above the largest group that the documentation names; it takes some 2 GiB. */
export const MAX_STATES = 12_000_000;

const REST: PropertyName = 'A quiet group comes to rest';

export function explore(system: TransitionSystem, maxStates = MAX_STATES): Exploration {
  const visited = new VisitedStates(system.initial.length);
  visited.add(system.canonical(system.initial), 0);
  /** By state, where its successors without a fault begin in `successors`. */
  const starts = new NumberList();
  const successors = new NumberList();
  const resting: number[] = [];
  let transitions = 0;
  const found = (violation: Violation, at: number, last?: Transition): Exploration => ({
    states: visited.size,
    transitions,
    isCut: false,
    violation,
    trace: traceTo(system, visited, at, last),
  });
  for (let at = 0; at < visited.size; at++) {
    const state = visited.at(at);
    starts.push(successors.size);
    for (const transition of system.transitions(state)) {
      transitions++;
      const { violation, to, isFault } = transition;
      if (violation !== undefined) return found(violation, at, transition);
      const next = visited.add(system.canonical(to), at);
      if (!isFault) successors.push(next);
    }
    if (visited.size > maxStates)
      return { states: visited.size, transitions, isCut: true, trace: [] };
    if (successors.size > starts.at(at)) continue;
    const unrest = system.unrest(state);
    if (unrest !== undefined) return found(unrest, at);
    resting.push(at);
  }
  starts.push(successors.size);
  const restless = firstRestless(starts, successors, resting);
  if (restless !== undefined) {
    const detail = 'it moves for ever, and can never rest';
    return found({ property: REST, detail }, restless);
  }
  return { states: visited.size, transitions, isCut: false, trace: [] };
}

/** The first state from which none of the resting states can be reached without a fault. */
function firstRestless(
  starts: NumberList,
  successors: NumberList,
  resting: readonly number[],
): number | undefined {
  const states = starts.size - 1;
  const ends = new Int32Array(states + 1);
  for (let edge = 0; edge < successors.size; edge++) {
    const to = successors.at(edge);
    ends[to + 1] = (ends[to + 1] ?? 0) + 1;
  }
  for (let state = 0; state < states; state++) {
    ends[state + 1] = (ends[state + 1] ?? 0) + (ends[state] ?? 0);
  }
  const filled = ends.slice();
  const predecessors = new Int32Array(successors.size);
  for (let state = 0; state < states; state++) {
    for (let edge = starts.at(state); edge < starts.at(state + 1); edge++) {
      const to = successors.at(edge);
      const place = filled[to] ?? 0;
      predecessors[place] = state;
      filled[to] = place + 1;
    }
  }
  const canRest = new Uint8Array(states);
  const open = [...resting];
  for (const state of resting) canRest[state] = 1;
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    for (let edge = ends[state] ?? 0; edge < (ends[state + 1] ?? 0); edge++) {
      const from = predecessors[edge] ?? 0;
      if (canRest[from] === 1) continue;
      canRest[from] = 1;
      open.push(from);
    }
  }
  const first = canRest.indexOf(0);
  return first < 0 ? undefined : first;
}

/**
 * What happens on the way to a state, and the state. Members keep their numbers, although stored
 * states have them in another order.
 */
function traceTo(
  system: TransitionSystem,
  visited: VisitedStates,
  index: number,
  last: Transition | undefined,
): readonly string[] {
  const trace: string[] = [];
  let state = system.initial;
  const take = (isWanted: (transition: Transition) => boolean): void => {
    const taken = system.transitions(state).find(isWanted);
    if (taken === undefined) throw new Error('the trace leads nowhere');
    trace.push(`${taken.isFault ? 'FAULT ' : ''}${taken.text()}`);
    state = taken.to;
  };
  for (const at of visited.pathTo(index).slice(1)) {
    const wanted = visited.at(at).join();
    take(({ to, violation }) => violation === undefined && system.canonical(to).join() === wanted);
  }
  if (last !== undefined) {
    const wanted = system.canonical(last.to).join();
    take(({ to, violation }) => violation !== undefined && system.canonical(to).join() === wanted);
  }
  return [...trace, `then: ${system.describe(state)}`];
}
