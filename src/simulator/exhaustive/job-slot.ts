/** The place of one Job in an explored group: the Job, what the operator sees of it, and requests for it. */

export interface JobView {
  /** Each Job of the slot has the next number. */
  readonly number: number;
  readonly attempt: number;
  readonly isFailed: boolean;
  readonly isDeleting: boolean;
}

export interface Request {
  readonly kind: 'Create' | 'Delete';
  /** The attempt of a new Job, or the number of a Job to delete. */
  readonly which: number;
  /** `Planned`: it waits for the write of the status. `Late`: its operator has crashed. */
  readonly stage: 'Planned' | 'Sent' | 'Late';
}

export interface Slot {
  /** The Job at the API server; null: there is none. */
  readonly stored: JobView | null;
  /** The Job in the operator's cache, and what its watch will show next. */
  readonly seen: JobView | null;
  readonly unseen: readonly (JobView | null)[];
  readonly requests: readonly Request[];
  /** Jobs that this slot has had. */
  readonly jobs: number;
}

/** The Job changes, which the operator sees later. */
export function shown(slot: Slot, stored: JobView | null): Slot {
  return { ...slot, stored, unseen: [...slot.unseen, stored] };
}

/** A new Job of that attempt. */
export function created(slot: Slot, attempt: number): Slot {
  const number = slot.jobs + 1;
  const job = { number, attempt, isFailed: false, isDeleting: false };
  return shown({ ...slot, jobs: number }, job);
}

/** Requests wait for the answer to the write before them. */
export function afterWrite(slot: Slot, isAnswered: boolean): Slot {
  const requests = slot.requests.flatMap((request): Request[] => {
    if (request.stage !== 'Planned') return [request];
    return isAnswered ? [{ ...request, stage: 'Sent' }] : [];
  });
  return { ...slot, requests };
}

/** The operator has started again: it lists all Jobs, and what it has sent may arrive late. */
export function afterCrash(slot: Slot): Slot {
  const sent = slot.requests.filter(({ stage }) => stage !== 'Planned');
  const requests = sent.map((request): Request => ({ ...request, stage: 'Late' }));
  return { ...slot, seen: slot.stored, unseen: [], requests };
}
