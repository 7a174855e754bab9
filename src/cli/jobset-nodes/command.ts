/** `lockstep nodes JOBSET`: the nodes that its members have left, and their way back into use. */
import type { Stored } from '@lockstep/kube/meta.ts';
import { dns1123SubdomainErrors } from '@lockstep/kube/name-rules.ts';
import { DeadlineError } from '@lockstep/kube/runtime/deadline.ts';
import { waitFor } from '@lockstep/kube/runtime/informer/wait-for.ts';
import { isReason } from '@lockstep/kube/status.ts';
import { JOBSETS, type JobSet } from '../../jobset/jobset.ts';
import type { AvoidedNode } from '../../jobset/jobset-status.ts';
import { FORGET_NODES } from '../../jobset/names.ts';
import { forgetRequest, requestKey } from '../../jobset/policies/forget-nodes.ts';
import { Arguments, type Parsed } from '../arguments.ts';
import type { ConnectionFlags } from '../cluster-connection.ts';
import {
  findJobSet,
  type JobSetName,
  jobSetNameErrors,
  type NamedJobSet,
  withJobSet,
} from '../named-jobset.ts';
import { documentOf } from '../output-form.ts';
import { PORTS } from '../ports.ts';
import { tell } from '../tell.ts';
import { entriesOf, nodeLines, nodeList, withEarlier } from './node-list.ts';

export interface NodesOptions extends JobSetName {
  /** Undefined: they are only listed. */
  readonly forget: 'All' | readonly string[] | undefined;
  readonly timeoutMs: number;
  readonly output: 'table' | 'json' | 'yaml';
}

export interface NodesFlags {
  readonly namespace?: string | undefined;
  readonly forget?: readonly string[] | undefined;
  readonly all?: boolean | undefined;
  readonly timeout: string;
  readonly output?: string | undefined;
}

/** A busy status changes several times a second, and each change may come between. */
const MAX_ATTEMPTS = 10;
const EXIT_FAILURE = 1;

export function parseNodes(
  name: string,
  { namespace, forget, all, timeout, output }: NodesFlags,
): Parsed<NodesOptions> {
  const given = new Arguments(jobSetNameErrors({ name, namespace }));
  const form = given.oneOf('--output', output, ['json', 'yaml']) ?? 'table';
  for (const node of forget ?? []) {
    given.refuse(...dns1123SubdomainErrors(node).map((why) => `--forget is "${node}": ${why}`));
  }
  if (forget !== undefined && all === true) given.refuse('--forget and --all exclude each other');
  const timeoutMs = given.timeout(timeout, 'whole seconds') * 1000;
  const asked = all === true ? 'All' : forget;
  return given.parsed({ name, namespace, forget: asked, timeoutMs, output: form });
}

export async function jobSetNodes(
  { forget, timeoutMs, output, ...named }: NodesOptions,
  flags: ConnectionFlags,
): Promise<number> {
  return withJobSet(named, flags, async (found) => {
    const asked = forget === undefined ? [] : await askToForget(found, forget);
    const jobSet = asked.length === 0 ? found.jobSet : await afterwards(found, asked, timeoutMs);
    const list = nodeList(jobSet);
    if (output !== 'table') process.stdout.write(documentOf(list, output));
    else if (forget === undefined || asked.length === 0) print(nodeLines(list, PORTS.clock.now()));
    const left = stillIn(jobSet, asked);
    const gone = asked.filter((entry) => !left.includes(entry));
    if (output === 'table' && gone.length > 0) print([`forgotten: ${nodesOf(gone)}`]);
    if (left.length === 0) return 0;
    tell(
      `not forgotten after ${timeoutMs / 1000} s: ${nodesOf(left)}. What members leave in a restart goes ` +
        `after its end: see "lockstep status ${named.name}", and "lockstep doctor" for the operator`,
    );
    return EXIT_FAILURE;
  });
}

/** Writes the request, unless there is nothing to forget. Returns the entries that it names. */
async function askToForget(
  { client, at, jobSet, signal }: NamedJobSet,
  nodes: 'All' | readonly string[],
): Promise<readonly AvoidedNode[]> {
  let seen = jobSet;
  for (let attempt = 1; ; attempt++) {
    const found = entriesOf(seen, nodes);
    if ('problem' in found) throw new Error(found.problem);
    const { entries } = found;
    if (entries.length === 0) return [];
    const { resourceVersion } = seen.metadata;
    const annotations = { [FORGET_NODES]: forgetRequest(withEarlier(seen, entries)) };
    const patch = { metadata: { resourceVersion, annotations } };
    try {
      await client.patch(JOBSETS, at, { type: 'merge', patch }, { signal });
      return entries;
    } catch (error) {
      if (!isReason(error, 'Conflict') || attempt === MAX_ATTEMPTS) throw error;
    }
    seen = sameJobSet(jobSet, await findJobSet(client, at, signal));
  }
}

/** The JobSet when it lists none of the entries any more, or as it was when time was up. */
async function afterwards(
  { client, at, jobSet, signal }: NamedJobSet,
  entries: readonly AvoidedNode[],
  timeoutMs: number,
): Promise<Stored<JobSet>> {
  let last = jobSet;
  const wait = { ...PORTS, timeoutMs, signal };
  const isDone = (now: Stored<JobSet> | undefined): boolean => {
    last = sameJobSet(jobSet, now);
    return stillIn(last, entries).length === 0;
  };
  try {
    await waitFor(client, JOBSETS, at, isDone, wait);
  } catch (error) {
    if (!(error instanceof DeadlineError)) throw error;
  }
  return last;
}

function sameJobSet({ metadata }: Stored<JobSet>, now: Stored<JobSet> | undefined): Stored<JobSet> {
  if (now?.metadata.uid === metadata.uid) return now;
  throw new Error(`JobSet ${metadata.namespace}/${metadata.name} was deleted`);
}

function stillIn(
  { status }: Stored<JobSet>,
  entries: readonly AvoidedNode[],
): readonly AvoidedNode[] {
  const listed = new Set((status?.avoidedNodes ?? []).map(requestKey));
  return entries.filter((entry) => listed.has(requestKey(entry)));
}

function nodesOf(entries: readonly AvoidedNode[]): string {
  return [...new Set(entries.map(({ node }) => node))].join(', ');
}

function print(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
}
