import type { StatusDraft } from './status-draft.ts';

/** The two ends of a JobSet. Both are final. */
export function completeJobSet(draft: StatusDraft): void {
  const message = 'jobset completed successfully';
  const reason = 'AllJobsCompleted';
  draft.condition({ type: 'Completed', status: 'True', reason, message }, 'Normal');
  for (const type of RESTARTING) {
    draft.clear({ type, reason: 'JobSetCompleted', message: 'jobset completed' });
  }
  draft.set({ terminalState: 'Completed' });
  draft.outcome({ kind: 'Completed' });
}

export function failJobSet(draft: StatusDraft, reason: string, message: string): void {
  draft.condition({ type: 'Failed', status: 'True', reason, message }, 'Warning');
  for (const type of RESTARTING) {
    draft.clear({ type, reason: 'JobSetFailed', message: 'jobset failed' });
  }
  draft.set({ terminalState: 'Failed' });
  draft.outcome({ kind: 'Failed' });
}

const RESTARTING = ['RestartingJobSet', 'RestartingInPlace'] as const;
