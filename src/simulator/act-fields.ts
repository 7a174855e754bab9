/** What each field of an act may be. A scenario in a file may say anything. */
import { MARKER_STEPS, UNSYNCED } from './features/marker-acts.ts';
import { STANDBY_DEATHS } from './features/standby-acts.ts';
import { INVALID_TOKENS, REFUSED_CHANGES, WEBHOOK_FAULTS } from './network/network-acts.ts';
import { ACT_KINDS, type Act, type ActKind, API_FAULTS, PARTIES } from './scenario.ts';

interface Check {
  /** In words. */
  readonly expected: string;
  readonly holds: (value: unknown) => boolean;
}

type ChecksOf<A extends Act> = { readonly [F in Exclude<keyof A, 'kind'>]-?: Check };

const COUNT: Check = {
  expected: 'a whole number of at least 0',
  holds: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
};
const POSITIVE: Check = {
  expected: 'a whole number of at least 1',
  holds: (value) => Number.isSafeInteger(value) && (value as number) >= 1,
};
const WHOLE: Check = { expected: 'a whole number', holds: Number.isSafeInteger };
const SHARE: Check = {
  expected: 'a number from 0 to 1',
  holds: (value) => typeof value === 'number' && value >= 0 && value <= 1,
};
const EXIT_CODE: Check = {
  expected: 'a whole number from 1 to 255',
  holds: (value) => POSITIVE.holds(value) && (value as number) <= 255,
};
const MEMBER = { member: COUNT };
const LASTS = { forMs: POSITIVE };
/** One operator or agent, or all of them. */
const OF_PARTY = { to: oneOf(PARTIES), one: orNothing(COUNT) };

const FIELDS: { readonly [K in ActKind]: ChecksOf<Extract<Act, { readonly kind: K }>> } = {
  WorkerExits: { ...MEMBER, exitCode: EXIT_CODE },
  WorkerKilled: MEMBER,
  WorkerHangs: MEMBER,
  AgentCrashes: MEMBER,
  MarkerTorn: { ...MEMBER, keeps: SHARE },
  AgentDiesAtMarker: {
    ...MEMBER,
    write: COUNT,
    step: oneOf(MARKER_STEPS),
    unsynced: oneOf(UNSYNCED),
  },
  PodDeleted: MEMBER,
  WorkerSucceeds: MEMBER,
  AllSucceed: {},
  NodeSilent: { node: COUNT, ...LASTS },
  NodeBreaks: { ...MEMBER, ...LASTS },
  OperatorKilled: { operator: COUNT, ...LASTS },
  OperatorDiesAtWrite: { operator: COUNT, write: COUNT, when: oneOf(['Before', 'After']) },
  OperatorPaused: { operator: COUNT, ...LASTS },
  OperatorClock: { operator: COUNT, aheadMs: WHOLE },
  ClockJumps: { of: oneOf(PARTIES), one: COUNT, aheadMs: WHOLE },
  HubCut: { member: orNothing(COUNT), ...LASTS },
  HubLate: { ...MEMBER, ...LASTS },
  StreamsReset: {},
  ApiFault: { ...OF_PARTY, fault: oneOf(API_FAULTS), ...LASTS },
  WatchesEnd: { ...OF_PARTY, how: oneOf(['Closed', 'Gone']) },
  ControllersDown: LASTS,
  Suspended: LASTS,
  RestartAsked: {},
  Resized: { job: COUNT, pods: POSITIVE },
  PodForged: { ...MEMBER, ahead: WHOLE },
  WebhooksDown: { fault: oneOf(WEBHOOK_FAULTS), ...LASTS },
  ChangeRefused: { change: oneOf(REFUSED_CHANGES) },
  TokenInvalid: { ...MEMBER, how: oneOf(INVALID_TOKENS), ...LASTS },
  TokensUnchecked: LASTS,
  StandbyDies: { ...MEMBER, when: oneOf(STANDBY_DEATHS) },
  StandbyExits: MEMBER,
  StandbySlow: { ...MEMBER, ...LASTS },
};

/** Throws an error that names the field, its value and what was expected, unless this is an act. */
export function expectAct(value: unknown, path: string): void {
  const act = (value ?? {}) as Readonly<Record<string, unknown>>;
  const expectField = (field: string, { expected, holds }: Check): void => {
    if (holds(act[field])) return;
    throw new Error(`${path}.${field}: ${JSON.stringify(act[field])}, expected ${expected}`);
  };
  expectField('kind', oneOf(ACT_KINDS));
  for (const [field, check] of Object.entries(FIELDS[act['kind'] as ActKind])) {
    expectField(field, check);
  }
}

function oneOf(allowed: readonly string[]): Check {
  return {
    expected: `one of ${allowed.join(', ')}`,
    holds: (value) => allowed.includes(value as string),
  };
}

function orNothing({ expected, holds }: Check): Check {
  return {
    expected: `${expected}, or nothing`,
    holds: (value) => value === undefined || holds(value),
  };
}
