/** What is known of Kubernetes' minor versions. `docs/reference/stability.md` has it for readers. */

/** The first version with ValidatingAdmissionPolicy and matchConditions of webhooks. */
export const OLDEST_MINOR = 30;
/** The suites have passed on the API servers of these. */
export const TESTED_MINORS: readonly number[] = [36, 35, 34];
/** The first version whose nodes restart all containers of a Pod in place, if that gate is on. */
const IN_PLACE_MINOR = 35;

export interface VersionJudgement {
  /** Why Lockstep cannot run there. */
  readonly problem?: string;
  /** What it cannot do there, and what is not known. */
  readonly notes: readonly string[];
}

/** A version that is not like Kubernetes' has neither problem nor notes. */
export function judgeVersion(version: string): VersionJudgement {
  const minor = Number(/^v?1\.(\d+)/.exec(version)?.[1] ?? Number.NaN);
  if (minor < OLDEST_MINOR) {
    return { problem: `Lockstep needs 1.${OLDEST_MINOR} or later`, notes: [] };
  }
  const supervised = `before 1.${IN_PLACE_MINOR} no node restarts all containers of a Pod, so agents supervise their workers as with annotation lockstep/restart-mode: Supervisor, and these containers need a command`;
  const tested = TESTED_MINORS.map((each) => `1.${each}`).join(', ');
  const isUntested = !Number.isNaN(minor) && !TESTED_MINORS.includes(minor);
  return {
    notes: [
      ...(minor < IN_PLACE_MINOR ? [supervised] : []),
      ...(isUntested ? [`Lockstep is tested on ${tested}, not on 1.${minor}`] : []),
    ],
  };
}
