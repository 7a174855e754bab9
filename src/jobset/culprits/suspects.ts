/**
 * Finds the workers that failed first, from the ends of all workers. The witness of a restart is only
 * the first member whose failure the operator saw. It may see a consequence before the cause. An
 * unknown culprit is an answer, a wrong one is a defect (`docs/design/culprits.md#the-rules`).
 */
import { defined } from '@lockstep/kube/json/defined.ts';
import { MAX_SUSPECTS } from '../jobset-status.ts';
import type { GroupEvidence, Member } from '../roster/group-evidence.ts';
import { failedSlowly, firstToFail, killed, leftEarly, lost } from './end-rules.ts';
import { type EndedMember, knownOf, type Rule, type Suspicion } from './known.ts';
import { oddOneOut } from './odd-one-out.ts';

/** The first rule that matches decides. */
const RULES: readonly Rule[] = [lost, leftEarly, killed, failedSlowly, firstToFail, oddOneOut];

/** At most `MAX_SUSPECTS`, the likeliest first; empty if the culprit is unknown. */
export function suspectsOf(evidence: GroupEvidence): readonly Suspicion[] {
  const known = knownOf(evidence);
  for (const rule of RULES) {
    const found = rule(known);
    if (found.length === 0) continue;
    // A lost member explains only its own silence.
    const isSure = rule === lost ? known.isAccountedFor : known.isTold;
    return found
      .slice(0, MAX_SUSPECTS)
      .map(isSure ? same : likely)
      .map((suspicion) => ({ ...suspicion, ...processIn(suspicion.member, known.ends) }));
  }
  return [];
}

/** The process of the Pod that ended first, or hung, if its agent knows that. */
function processIn(
  member: Member,
  ends: readonly EndedMember[],
): Pick<Suspicion, 'process' | 'rank'> {
  const { local: process, rank } = ends.find((end) => end.member === member) ?? {};
  return process === undefined ? {} : { process, ...defined({ rank }) };
}

function same(suspicion: Suspicion): Suspicion {
  return suspicion;
}

function likely(suspicion: Suspicion): Suspicion {
  return { ...suspicion, confidence: 'Likely' };
}
