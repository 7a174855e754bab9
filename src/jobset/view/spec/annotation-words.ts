/** The annotations of a JobSet, and of its templates, in words. */
import { parseDuration } from '@lockstep/kube/duration.ts';
import { listed } from '@lockstep/kube/listed.ts';
import { quote } from '@lockstep/kube/quote.ts';
import { isOff } from '../../annotations/table.ts';
import { unknownAnnotationErrors } from '../../annotations/unknown-annotations.ts';
import { parseStopGraceSeconds } from '../../injection/agent-settings.ts';
import { templateAgent } from '../../injection/template-agent.ts';
import * as names from '../../names.ts';
import { FIELD_ANNOTATIONS } from '../../overrides/field-annotations.ts';
import { placementRequest } from '../../placement-annotations.ts';
import { forgetNodesErrors } from '../../policies/forget-nodes.ts';
import { maxRestartsWithoutProgress, replaceAfter } from '../../policies/ladder-settings.ts';
import { progressTimeouts } from '../../progress/progress-timeouts.ts';
import { parseProcessesPerPod } from '../../ranks/processes-per-pod.ts';
import { type Asked, counted, durationWords, isInPlace, modeOf, type Words } from './asked.ts';

/** Includes words about an absent annotation, if its effect surprises. */
export function annotationWords(asked: Asked): Words {
  const { annotations = {} } = asked.metadata;
  return [
    ...Object.entries(WORDS).flatMap(([name, { of, off, needs }]) => {
      const value = annotations[name];
      if (value === undefined) return [];
      if (isOff(name, value)) return [off ?? `${name} is off.`];
      const words = of(value, asked) ?? `${name} is ${quote(value)}, which is not valid.`;
      return [`${words}${withoutEffect(needs, asked)}`];
    }),
    ...(isInPlace(asked) ? unasked(annotations) : []),
    ...queueWords(asked),
    ...placementWords(asked),
    ...unknownAnnotationErrors(asked.metadata, asked.spec).map(
      ({ field, detail }) => `${field} has no effect: ${detail}.`,
    ),
  ];
}

/** The mode without which an annotation has no effect. */
type Need = 'InPlace' | 'Supervisor' | 'Nothing';

interface AnnotationWords {
  /** Undefined: the value is not valid. */
  readonly of: (value: string, asked: Asked) => string | undefined;
  readonly needs: Need;
  /** What is shown if it is off; absent: that it is off. */
  readonly off?: string;
}

/** In the order in which they are shown. Others are shown elsewhere: see the test. */
const WORDS: Readonly<Record<string, AnnotationWords>> = {
  [names.REPLACE_AFTER]: {
    needs: 'InPlace',
    off: 'No member leaves its node for its failures.',
    of: (_, { metadata }) => {
      const after = replaceAfter(metadata.annotations);
      if (after === undefined) return undefined;
      const failures = counted(after.strikes, 'failure');
      return `A member leaves its node after ${failures} in ${durationWords(after.withinMs)}.`;
    },
  },
  [names.MAX_RESTARTS_WITHOUT_PROGRESS]: {
    needs: 'InPlace',
    of: (_, { metadata }) => {
      const most = maxRestartsWithoutProgress(metadata.annotations);
      if (most === undefined) return undefined;
      return `Fails after ${counted(most, 'restart')} in a row without a higher checkpoint.`;
    },
  },
  ...Object.fromEntries(
    FIELD_ANNOTATIONS.map(({ key, member, parse }): [string, AnnotationWords] => [
      key,
      {
        needs: 'Nothing',
        of: (value) =>
          parse(value) === undefined ? undefined : `${key} asks for ${member} ${value}.`,
      },
    ]),
  ),
  [names.EXTRA_RESTARTS]: {
    needs: 'Nothing',
    of: (value) => (/^\d+$/.test(value) ? `Has ${value} restarts beside maxRestarts.` : undefined),
  },
  [names.PROGRESS_TIMEOUT]: {
    needs: 'InPlace',
    off: 'No worker counts as hung.',
    of: (_, { metadata }) => {
      const { progressTimeout } = progressTimeouts(metadata.annotations);
      if (progressTimeout === undefined) return undefined;
      return progressTimeout === 'Auto'
        ? 'A worker counts as hung after five times its longest silence so far, and 5 minutes to 1 hour.'
        : `A worker that reports nothing for ${durationWords(progressTimeout)} counts as hung.`;
    },
  },
  [names.FIRST_PROGRESS_TIMEOUT]: {
    needs: 'InPlace',
    off: 'A worker has any time for its first report.',
    of: (_, { metadata }) => {
      const { firstProgressTimeout: ms } = progressTimeouts(metadata.annotations);
      return ms === undefined
        ? undefined
        : `A worker has ${durationWords(ms)} for its first report.`;
    },
  },
  [names.PROGRESS_PREFIX]: {
    needs: 'Supervisor',
    of: (value) => `A line that a worker prints with ${quote(value)} before a number is its step.`,
  },
  [names.STANDBY]: {
    needs: 'Supervisor',
    of: (value) =>
      value === 'Warm'
        ? 'A second process of each worker has prepared itself, and waits for the next epoch.'
        : undefined,
  },
  [names.PROCESSES_PER_POD]: {
    needs: 'Supervisor',
    of: processWords,
  },
  [names.LOG_PREFIX]: {
    needs: 'Supervisor',
    off: 'Lines of ranks have no prefix.',
    of: (value) => (value === 'On' ? 'Lines of ranks begin with the rank.' : undefined),
  },
  [names.PREFLIGHT]: {
    needs: 'Supervisor',
    of: (value) => `After a worker failed, a command checks its machine: ${quote(value)}.`,
  },
  [names.HANG_COMMAND]: {
    needs: 'Supervisor',
    of: (value) => `Before a hung worker is ended, a command looks into it: ${quote(value)}.`,
  },
  [names.LAST_WORDS]: {
    needs: 'Supervisor',
    of: (value) => LAST_WORDS.get(value),
  },
  [names.STOP_GRACE]: {
    needs: 'Supervisor',
    of: (value) => {
      const seconds = parseStopGraceSeconds(value);
      if (seconds === undefined) return undefined;
      return `At a restart, workers have ${durationWords(seconds * 1000)} from SIGTERM to SIGKILL.`;
    },
  },
  [names.KEEP_FAILED]: {
    needs: 'InPlace',
    of: lasting((time) => `When it has failed, its Pods stay for ${time}.`),
  },
  [names.LOST_NODE_DEADLINE]: {
    needs: 'Nothing',
    of: lasting(
      (time) => `A Pod of a lost node is deleted by force ${time} after its grace period.`,
    ),
  },
  [names.AGENT_CHANNEL]: {
    needs: 'InPlace',
    of: (value) => CHANNELS.get(value),
  },
  [names.RESTART_BACKOFF]: {
    needs: 'InPlace',
    off: 'A group that fails over and over restarts without delay.',
    of: (value) => (value === 'Enabled' ? BACKOFF : undefined),
  },
  [names.RESTART_EPOCH]: {
    needs: 'InPlace',
    of: (value) =>
      /^[1-9]\d*$/.test(value)
        ? `A restart of epoch ${value} was asked for, which is done once and does not count.`
        : undefined,
  },
  [names.FORGET_NODES]: {
    needs: 'InPlace',
    of: (value) =>
      forgetNodesErrors({ [names.FORGET_NODES]: value }).length > 0
        ? undefined
        : `Nodes that members have left were to be forgotten, each once: ${quote(value)}.`,
  },
  [names.DISABLE_IN_PLACE_RESTART]: {
    needs: 'InPlace',
    of: () => 'Restart in place is switched off: all barriers are open, and no epoch ends.',
  },
};

const LAST_WORDS: ReadonlyMap<string, string> = new Map([
  ['All', 'The last words of a worker are its own message, or the end of its standard error.'],
  ['Files', 'The standard error of workers is left alone: last words come from files.'],
]);

const CHANNELS: ReadonlyMap<string, string> = new Map([
  ['Hub', 'Agents speak to the hub of the operator, and need no rights.'],
  [
    'Auto',
    'Agents speak to the hub, and without it to the API server, as the account of their Pod.',
  ],
  ['API', 'Agents speak to the API server, as the account of their Pod.'],
]);

const BACKOFF = 'A group that fails over and over waits longer and longer before it restarts.';

function processWords(value: string, { spec }: Asked): string | undefined {
  const processes = parseProcessesPerPod(value);
  if (processes === undefined) return undefined;
  const each = (of: string, number: number): string =>
    `${number} ${number === 1 ? 'process' : 'processes'} in each Pod${of}`;
  if (typeof processes === 'number') return `The agent starts ${each('', processes)}.`;
  const parts = spec.replicatedJobs.flatMap(({ name }) => {
    const number = processes.get(name);
    return number === undefined ? [] : [each(` of ${name}`, number)];
  });
  return parts.length === 0 ? undefined : `The agent starts ${listed(parts)}.`;
}

function unasked(annotations: Readonly<Record<string, string>>): Words {
  return [
    ...(annotations[names.RESTART_BACKOFF] === undefined ? [BACKOFF] : []),
    ...(annotations[names.PROGRESS_TIMEOUT] === undefined ? ['No worker counts as hung.'] : []),
  ];
}

function lasting(words: (time: string) => string): AnnotationWords['of'] {
  return (value) => {
    const ms = parseDuration(value);
    return ms === undefined || ms < 0 ? undefined : words(durationWords(ms));
  };
}

function withoutEffect(needs: Need, asked: Asked): string {
  if (needs === 'Nothing') return '';
  if (!isInPlace(asked)) return ' It has no effect without restart in place.';
  const isSidecar =
    needs === 'Supervisor' && modeOf(asked) === 'Sidecar' && !hasOwnSupervisor(asked);
  return isSidecar ? ' It has no effect in Sidecar mode.' : '';
}

/** A template may bring an agent that is the parent of its worker, whatever the mode. */
function hasOwnSupervisor({ spec }: Asked): boolean {
  return spec.replicatedJobs.some(({ template }) => {
    const pod = template.spec.template;
    const own = templateAgent(pod);
    return own !== undefined && pod.spec.containers.includes(own);
  });
}

function queueWords({ metadata: { labels, annotations } }: Asked): Words {
  const queue = labels?.[names.KUEUE_QUEUE_NAME] ?? annotations?.[names.KUEUE_QUEUE_NAME];
  return queue === undefined ? [] : [`Kueue admits it through queue ${queue}.`];
}

/** One sentence if all Jobs have the same. */
function placementWords({ metadata, spec }: Asked): Words {
  const words = spec.replicatedJobs.map(({ name, template }) => {
    const request = placementRequest(metadata.annotations, template.metadata?.annotations);
    if (request === undefined) return { name, told: undefined };
    const key = request.annotations[names.EXCLUSIVE_TOPOLOGY];
    const how = request.hasNodeSelectorStrategy
      ? ', on nodes that were labelled for it by hand'
      : '';
    return { name, told: `has a value of node label ${key} of its own${how}` };
  });
  const [first] = words;
  if (first?.told !== undefined && words.every(({ told }) => told === first.told)) {
    return [`Each Job ${first.told}.`];
  }
  return words.flatMap(({ name, told }) =>
    told === undefined ? [] : [`Each Job of ${name} ${told}.`],
  );
}
