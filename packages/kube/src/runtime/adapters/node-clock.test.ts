import { clockConformance } from '../ports/clock.conformance.ts';
import { nodeClock } from './node-clock.ts';

clockConformance('nodeClock', () => ({
  clock: nodeClock,
  pass: (ms) => new Promise((resolve) => nodeClock.setTimer(ms, resolve)),
}));
