/** The user of a simulated group: what they ask for, again and again while no webhook answers. */

import { formatDuration } from '@lockstep/kube/duration.ts';
import type { Stored } from '@lockstep/kube/meta.ts';
import type { JsonPatchOperation } from '@lockstep/kube/patch/json-patch.ts';
import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { type Clock, sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import { ApiStatusError } from '@lockstep/kube/status.ts';
import { withDefaults } from '../jobset/defaults.ts';
import { JOBSETS, type JobSet } from '../jobset/jobset.ts';
import {
  AGENT_CHANNEL,
  FIRST_PROGRESS_TIMEOUT,
  PREFLIGHT,
  PROCESSES_PER_POD,
  PROGRESS_TIMEOUT,
  REPLACE_AFTER,
  RESTART_MODE,
  STANDBY,
} from '../jobset/names.ts';
import { isFinished } from '../jobset/status/conditions.ts';
import type { RefusedChange } from './network/network-acts.ts';
import type { ReplicatedJobShape, Scenario } from './scenario.ts';

export const NAMESPACE = 'default';
export const NAME = 'train';
const AT = { namespace: NAMESPACE, name: NAME } as const;
/** Above two steps of the simulated training. */
const PROGRESS_TIMEOUT_TEXT = '30s';
/** The shortest that is allowed is a minute. */
export const REPLACE_WITHIN_MS = 300_000;
const ASKS_AGAIN_MS = 5000;
/** Longer than any outage of webhooks. */
const MAX_TRIES = 500;
const INTERNAL_ERROR = 500;

export interface UserOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** Absent: nothing that the user asks for takes time. */
  readonly hasWebhooks: boolean;
  /** For work that nobody waits for. */
  readonly aside: (work: Promise<unknown>) => void;
}

export class User {
  readonly #options: UserOptions;
  /** One wish after the other. */
  #wishes: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(options: UserOptions) {
    this.#options = options;
  }

  /** All that was asked for is stored. */
  get isContent(): boolean {
    return this.#waiting === 0;
  }

  /** Tries it until a webhook answers. */
  async insist<T>(ask: () => Promise<T>): Promise<T> {
    const { clock } = this.#options;
    for (let tries = 1; ; tries++) {
      try {
        return await ask();
      } catch (error) {
        const isDown = error instanceof ApiStatusError && error.code === INTERNAL_ERROR;
        if (!isDown || tries === MAX_TRIES) throw error;
      }
      await sleep(clock, ASKS_AGAIN_MS);
    }
  }

  patch(patch: object): Promise<void> {
    const { client } = this.#options;
    return this.#wish(() => client.patch(JOBSETS, AT, { type: 'merge', patch }));
  }

  /** `operations`: undefined if the user does not want them any more. A JobSet that has ended may refuse them. */
  edit(operations: () => readonly JsonPatchOperation[] | undefined): Promise<void> {
    const { client } = this.#options;
    return this.#wish(async () => {
      const wanted = operations();
      if (wanted === undefined) return;
      try {
        await client.patch(JOBSETS, AT, { type: 'json', operations: wanted });
      } catch (error) {
        const isRefused = error instanceof ApiStatusError && error.code !== INTERNAL_ERROR;
        if (!isRefused || !(await this.#hasEnded())) throw error;
      }
    });
  }

  /** Asks for what no webhook allows, once. `accepted`: it is stored. */
  tryRefused(change: RefusedChange, accepted: () => void): void {
    const { client, aside } = this.#options;
    const asked = client.patch(JOBSETS, AT, { type: 'json', operations: [REFUSED[change]] });
    aside(
      asked.then(accepted, (error: unknown) => {
        if (!(error instanceof ApiStatusError)) throw error;
      }),
    );
  }

  async #hasEnded(): Promise<boolean> {
    const { status }: JobSet = await this.#options.client.get(JOBSETS, AT);
    return isFinished(status?.conditions);
  }

  /** Without webhooks it is done when this resolves. */
  async #wish(ask: () => Promise<unknown>): Promise<void> {
    if (!this.#options.hasWebhooks) {
      await ask();
      return;
    }
    this.#waiting++;
    this.#wishes = this.#wishes.then(async () => {
      await this.insist(ask);
      this.#waiting--;
    });
    this.#options.aside(this.#wishes);
  }
}

/** Only the webhooks refuse these: the definition allows them. */
const REFUSED: Readonly<Record<RefusedChange, JsonPatchOperation>> = {
  Image: {
    op: 'add',
    path: '/spec/replicatedJobs/0/template/spec/template/spec/containers/0/image',
    value: 'other',
  },
  BackoffLimit: { op: 'add', path: '/spec/replicatedJobs/0/template/spec/backoffLimit', value: 1 },
  ProgressTimeout: {
    op: 'add',
    path: `/metadata/annotations/${PROGRESS_TIMEOUT.replace('/', '~1')}`,
    value: 'soon',
  },
};

/** What the webhooks fill in, and the definition does not: the names of fields that are missing. */
export function missingDefaults({ metadata, spec }: Stored<JobSet>): readonly string[] {
  const { network, successPolicy, startupPolicy } = spec ?? {};
  const filled = {
    'spec.network.enableDNSHostnames': network?.enableDNSHostnames,
    'spec.successPolicy': successPolicy,
    'spec.startupPolicy': startupPolicy,
    [`metadata.annotations[${RESTART_MODE}]`]: metadata.annotations?.[RESTART_MODE],
  };
  return Object.entries(filled).flatMap(([field, value]) => (value === undefined ? [field] : []));
}

/** What the user asks for now. */
export function shapesIn({ spec }: JobSet): readonly ReplicatedJobShape[] {
  return withDefaults(spec).replicatedJobs.map(({ name, replicas, template }) => ({
    name,
    replicas,
    pods: template.spec.parallelism ?? 1,
  }));
}

/** By ReplicatedJob, Job and completion index, such as `a/0/1`. */
export function slotsOf(jobs: readonly ReplicatedJobShape[]): readonly string[] {
  return jobs.flatMap(({ name, replicas, pods }) =>
    Array.from(
      { length: replicas * pods },
      (_, index) => `${name}/${Math.floor(index / pods)}/${index % pods}`,
    ),
  );
}

export function jobSetOf(scenario: Scenario): JobSet {
  const { jobs, maxRestarts, isInOrder, mode, processes, hasStandbys } = scenario;
  const { replaceAfter, hasPreflight, channel } = scenario;
  const containers = [{ name: 'worker', image: 'none', command: ['train'] }];
  return {
    apiVersion: `${JOBSETS.group}/${JOBSETS.version}`,
    kind: JOBSETS.kind,
    metadata: {
      name: NAME,
      namespace: NAMESPACE,
      annotations: {
        [PROGRESS_TIMEOUT]: PROGRESS_TIMEOUT_TEXT,
        // A worker may hang before its first step, too.
        [FIRST_PROGRESS_TIMEOUT]: PROGRESS_TIMEOUT_TEXT,
        ...(mode !== undefined && { [RESTART_MODE]: mode }),
        ...(hasStandbys === true && { [STANDBY]: 'Warm' }),
        ...(processes !== undefined && { [PROCESSES_PER_POD]: String(processes) }),
        ...(replaceAfter !== undefined && {
          [REPLACE_AFTER]: `${replaceAfter}/${formatDuration(REPLACE_WITHIN_MS)}`,
        }),
        ...(hasPreflight === true && { [PREFLIGHT]: 'check' }),
        ...(channel !== undefined && { [AGENT_CHANNEL]: channel }),
      },
    },
    spec: {
      failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts },
      ...(isInOrder && { startupPolicy: { startupPolicyOrder: 'InOrder' } }),
      replicatedJobs: jobs.map(({ name, replicas, pods }) => ({
        name,
        replicas,
        template: {
          spec: {
            backoffLimit: 2_147_483_647,
            podReplacementPolicy: 'Failed',
            completionMode: 'Indexed',
            completions: pods,
            parallelism: pods,
            template: { spec: { restartPolicy: 'Never', containers } },
          },
        },
      })),
    },
  };
}
