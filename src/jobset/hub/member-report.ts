import type { WorkerEnd } from '../group/notice.ts';

/** What the hub tells of one member of a JobSet, to whoever speaks for another of its members. */
export interface MemberReport {
  readonly pod: string;
  /** The newest epoch that it announced, over either channel; null: none yet. */
  readonly epoch: number | null;
  /** `Hub` while it has a stream. */
  readonly channel: 'Hub' | 'API';
  /** How its worker of an earlier epoch ended, if its agent said so. */
  readonly cause?: { readonly epoch: number; readonly end: WorkerEnd };
}
