/** The numbers of the ranks in one member whose agent starts several processes. */

/** As `torchrun` counts: a group rank is the number of a member that has ranks. */
export interface MemberRanks {
  /** Processes of this member, 1 to 64: its local ranks are 0 to this less one. */
  readonly processes: number;
  /** The rank of its process 0 in the whole group. */
  readonly firstRank: number;
  /** All ranks of the group. */
  readonly world: number;
  readonly groupRank: number;
  /** Members that have ranks. */
  readonly groups: number;
  /** The host name of the member with rank 0. */
  readonly master: string;
}

/** Whether a process that was started with the numbers `a` may run with `b`. */
export function isSameRanks(a: MemberRanks | undefined, b: MemberRanks | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (
    a.processes === b.processes &&
    a.firstRank === b.firstRank &&
    a.world === b.world &&
    a.groupRank === b.groupRank &&
    a.groups === b.groups &&
    a.master === b.master
  );
}
