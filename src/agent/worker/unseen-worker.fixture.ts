/** A worker of which a supervisor sees only its end: the smallest valid options. */
import type { SupervisorOptions } from '../supervisor.ts';

export const UNSEEN_WORKER = {
  files: {
    open: () => Promise.resolve(undefined),
    hadStandby: Promise.resolve(false),
    tidy: () => undefined,
  },
  messages: {
    state: () => Promise.resolve(undefined),
    changed: () => Promise.resolve(undefined),
  },
  output: {
    begin: () =>
      Promise.resolve({ streams: {}, handedOver: () => undefined, end: () => undefined }),
  },
  looks: {
    isAlive: () => true,
    tree: () => undefined,
    threads: () => [],
    oomKills: () => undefined,
  },
  hasStandby: false,
  priorities: { lower: () => false, restore: () => true },
  say: () => undefined,
  hangCommand: undefined,
  preflight: undefined,
  progressPrefix: undefined,
  terminationMessagePath: '/dev/termination-log',
} satisfies Partial<SupervisorOptions>;
