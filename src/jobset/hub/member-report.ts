import type { WorkerEnd } from '../group/notice.ts';

/** What the hub tells of one member of a JobSet, to whoever speaks for another of its members. */
export interface MemberReport {
  readonly pod: string;
  /** The newest epoch that it announced, over either channel; null: none yet. */
  readonly epoch: number | null;
  /** `Hub` while it has a stream, `API` if its epoch is an annotation; null between two streams. */
  readonly channel: 'Hub' | 'API' | null;
  /** How its worker of an earlier epoch ended, if its agent said so. */
  readonly cause?: { readonly epoch: number; readonly end: WorkerEnd };
}
