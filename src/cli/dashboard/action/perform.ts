/** Does what a user asks for on the page, with the user's own rights. */

import type { Stored } from '@lockstep/kube/meta.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { isReason } from '@lockstep/kube/status.ts';
import type { Action, ActionAnswer, ActionRequest } from '../../../dashboard/messages/action.ts';
import { JOBSETS, type JobSet } from '../../../jobset/jobset.ts';
import { askForRestart } from '../../jobset-restart/ask-for-restart.ts';
import { findJobSet } from '../../named-jobset.ts';
import { refusalOf } from '../run/action-offers.ts';

/** A busy status changes several times a second, and each change may come between. */
const MAX_ATTEMPTS = 10;

/** Never rejects, except with the signal's reason. */
export async function perform(
  client: Client,
  request: ActionRequest,
  signal: AbortSignal,
): Promise<ActionAnswer> {
  try {
    return { problem: (await tried(client, request, signal)) ?? null };
  } catch (error) {
    signal.throwIfAborted();
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Returns why nothing was done. */
async function tried(
  client: Client,
  request: ActionRequest,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { action, uid } = request;
  const at = { namespace: request.namespace, name: request.name };
  for (let attempt = 1; ; attempt++) {
    const jobSet = await findJobSet(client, at, signal);
    if (jobSet === undefined) return `JobSet ${at.namespace}/${at.name} was deleted.`;
    if (jobSet.metadata.uid !== uid) {
      return `JobSet ${at.namespace}/${at.name} is another one by now: nothing was changed.`;
    }
    const refusal = refusalOf(action.kind, jobSet, undefined);
    if (refusal !== undefined) return refusal;
    if (action.kind === 'Restart') {
      await askForRestart({ client, at, jobSet, signal }, action.epoch);
      return undefined;
    }
    if (action.kind === 'Delete') {
      // Jobs and Pods go with it, as by kubectl.
      const preconditions = { uid };
      await client.delete(JOBSETS, at, { preconditions, propagationPolicy: 'Background', signal });
      return undefined;
    }
    try {
      const patch = patchOf(action, jobSet);
      await client.patch(JOBSETS, at, { type: 'merge', patch }, { signal });
      return undefined;
    } catch (error) {
      if (!isReason(error, 'Conflict') || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** Under the version that was looked at. */
function patchOf(
  action: Exclude<Action, { readonly kind: 'Restart' | 'Delete' }>,
  { metadata: { resourceVersion, uid } }: Stored<JobSet>,
): object {
  const metadata = { resourceVersion, uid };
  switch (action.kind) {
    case 'Suspend':
    case 'Resume':
      return { metadata, spec: { suspend: action.kind === 'Suspend' } };
    case 'SetTimeout':
      return { metadata: { ...metadata, annotations: { [action.annotation]: action.value } } };
  }
}
