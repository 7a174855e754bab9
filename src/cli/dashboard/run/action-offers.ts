/** What a user can do to a JobSet now, and why not the rest. */
import type { ActionOffer } from '../../../dashboard/messages/run.ts';
import type { JobSet } from '../../../jobset/jobset.ts';
import { restartableEpoch } from '../../jobset-restart/restart-state.ts';
import type { Rights } from './rights.ts';

type Kind = ActionOffer['action'];

const KINDS: readonly Kind[] = ['Restart', 'Suspend', 'Resume', 'SetTimeout', 'Delete'];

/** Undefined rights: the server has not said, so that it is left to a try. */
export function actionOffers(jobSet: JobSet, rights: Rights | undefined): readonly ActionOffer[] {
  return KINDS.map((action) => ({ action, refusal: refusalOf(action, jobSet, rights) ?? null }));
}

export function refusalOf(
  action: Kind,
  jobSet: JobSet,
  rights: Rights | undefined,
): string | undefined {
  const verb = action === 'Delete' ? 'delete' : 'patch';
  if (rights?.[verb] === false) {
    return `You lack the right to ${verb} JobSets in namespace ${jobSet.metadata.namespace ?? ''}.`;
  }
  if (jobSet.metadata.deletionTimestamp !== undefined) return 'The JobSet is being deleted.';
  if (action === 'Delete') return undefined;
  if (action === 'Restart') {
    const found = restartableEpoch(jobSet);
    return 'epoch' in found ? undefined : sentence(found.problem);
  }
  const { terminalState } = jobSet.status ?? {};
  if (terminalState === 'Completed') return 'The JobSet has completed.';
  if (terminalState === 'Failed') return 'The JobSet has failed.';
  const isSuspended = jobSet.spec.suspend === true;
  if (action === 'Suspend' && isSuspended) return 'The JobSet is suspended already.';
  if (action === 'Resume' && !isSuspended) return 'The JobSet is not suspended.';
  return undefined;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
