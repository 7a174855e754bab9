/** Shapes of Jobs, templates and rules that scenarios share. */
import type { PodFailurePolicyRule } from '@lockstep/kube/objects/job.ts';
import { NODE_NAME } from './job-play.ts';

export const INDEXED = { completionMode: 'Indexed', completions: 2, parallelism: 2 } as const;
export const THREE = { completionMode: 'Indexed', completions: 3, parallelism: 3 } as const;
export const PER_INDEX = { ...INDEXED, backoffLimitPerIndex: 1 } as const;

export function onExit(action: PodFailurePolicyRule['action'], ...values: readonly number[]) {
  return { action, onExitCodes: { operator: 'In', values } } as const;
}

export function template(podSpec: object = {}, labels?: Readonly<Record<string, string>>) {
  return {
    ...(labels === undefined ? {} : { metadata: { labels } }),
    spec: {
      restartPolicy: 'Never',
      nodeName: NODE_NAME,
      containers: [{ name: 'main', image: 'none' }],
      ...podSpec,
    },
  } as const;
}
