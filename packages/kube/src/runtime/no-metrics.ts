/** Metrics of a program that has none. */
import type { Metrics } from './metrics.ts';
import { textResponse } from './text-response.ts';

const NO_SERIES = {
  add: () => undefined,
  set: () => undefined,
  observe: () => undefined,
  remove: () => undefined,
  clear: () => undefined,
};

/** Measures nothing: the default of libraries and of most tests. */
export const NO_METRICS: Metrics = {
  counter: () => NO_SERIES,
  gauge: () => NO_SERIES,
  histogram: () => NO_SERIES,
  beforePage: () => () => undefined,
  handler: () => Promise.resolve(textResponse(404, '404 page not found\n')),
};
