import { type Owner, ownerKey } from '../membership.ts';
import type { PodRecord } from './roster-group.ts';
import { type GroupView, RosterGroup } from './roster-group.ts';

/** The groups of a roster, by JobSet. */
export class RosterGroups {
  /** By `ownerKey` of the JobSet. */
  readonly #groups = new Map<string, RosterGroup>();
  readonly #records: ReadonlyMap<string, PodRecord>;
  readonly #none: RosterGroup;

  /** `records` are the records of all groups, by UID of the Pod. */
  constructor(records: ReadonlyMap<string, PodRecord>) {
    this.#records = records;
    this.#none = new RosterGroup({ namespace: '', name: '', uid: '' }, records);
  }

  get(jobSet: Owner): RosterGroup | undefined {
    return this.#groups.get(ownerKey(jobSet));
  }

  view(jobSet: Owner): GroupView {
    return this.get(jobSet) ?? this.#none;
  }

  values(): Iterable<GroupView> {
    return this.#groups.values();
  }

  /** The group of that JobSet, which is made if there is none. */
  of(jobSet: Owner): RosterGroup {
    const key = ownerKey(jobSet);
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = new RosterGroup(jobSet, this.#records);
      this.#groups.set(key, group);
    }
    return group;
  }

  dropIfEmpty(group: RosterGroup): void {
    if (group.isEmpty()) this.#groups.delete(ownerKey(group.jobSet));
  }
}
