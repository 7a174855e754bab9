/** The spec of a JobSet for people: in words, and as YAML. */

import type { Stored } from '@lockstep/kube/meta.ts';
import { stringify } from 'yaml';
import { withDefaults } from '../defaults.ts';
import type { JobSet } from '../jobset.ts';
import { FIRST_PROGRESS_TIMEOUT, PROGRESS_TIMEOUT } from '../names.ts';
import { asRecorded } from '../overrides/recorded-annotations.ts';
import { annotationWords } from './spec/annotation-words.ts';
import type { Asked } from './spec/asked.ts';
import { injectionWords } from './spec/injection-words.ts';
import { policyWords } from './spec/policy-words.ts';

export interface SpecView {
  /** One sentence each: `Restarts in place, at most 10 times.` */
  readonly policies: readonly string[];
  /** What the operator adds to the Pods, one sentence each. */
  readonly injected: readonly string[];
  /** Time-outs that can be changed while the JobSet runs. */
  readonly timeouts: readonly TimeoutView[];
  /** Without `managedFields` and status. */
  readonly yaml: string;
}

export interface TimeoutView {
  readonly annotation: string;
  /** The value as it was written; null: it is not set. */
  readonly value: string | null;
  /** One sentence. */
  readonly meaning: string;
}

/** Time-outs that may change while a group runs, with their meaning. */
const TIMEOUTS: readonly (readonly [annotation: string, meaning: string])[] = [
  [
    PROGRESS_TIMEOUT,
    'A worker that reports nothing for longer counts as hung: Off, which is the default, Auto, or from 10s to 168h.',
  ],
  [
    FIRST_PROGRESS_TIMEOUT,
    'How long a worker has for its first report: Off, which is the default, or from 10s to 168h.',
  ],
];

/** The result may hold any text of a user. */
export function specView(jobSet: Stored<JobSet>): SpecView {
  const { metadata, spec, status = {} } = asRecorded(jobSet);
  const asked: Asked = { metadata, status, spec: withDefaults(spec) };
  return {
    policies: [...policyWords(asked), ...annotationWords(asked)],
    injected: injectionWords(asked),
    timeouts:
      asked.spec.failurePolicy?.restartStrategy === 'InPlaceRestart' ? timeoutsOf(jobSet) : [],
    yaml: yamlOf(jobSet),
  };
}

function timeoutsOf({ metadata }: JobSet): readonly TimeoutView[] {
  return TIMEOUTS.map(([annotation, meaning]) => {
    return { annotation, value: metadata.annotations?.[annotation] ?? null, meaning };
  });
}

function yamlOf({ apiVersion, kind, metadata, spec }: Stored<JobSet>): string {
  const { managedFields: _, ...shown } = metadata;
  return stringify(
    { apiVersion, kind, metadata: shown, spec },
    {
      lineWidth: 0,
      aliasDuplicateObjects: false,
    },
  );
}
