/**
 * The part of a Job that the cache keeps: the fields that plans read, each text within a bound. Any
 * user may create Jobs of a megabyte, under any JobSet of the namespace, and as many as its quota
 * allows. Jobs of one ReplicatedJob share most of it. Only a resume reads whole Jobs, from the API
 * server.
 */

import { defined } from '@lockstep/kube/json/defined.ts';
import type { Stored } from '@lockstep/kube/meta.ts';
import { DISRUPTION_TARGET } from '@lockstep/kube/objects/disruption.ts';
import type { Job, PodFailurePolicy, PodFailurePolicyRule } from '@lockstep/kube/objects/job.ts';
import type { Container, PodTemplateSpec, Volume } from '@lockstep/kube/objects/pod.ts';
import { templateAgent } from '../../jobset/injection/template-agent.ts';
import {
  AGENT_CONTAINER,
  ENV_AGENT_CHANNEL,
  ENV_EXIT_CODE,
  ENV_HUB_CA,
  ENV_HUB_URL,
  ENV_PROCESSES_PER_POD,
  HUB_AUTHORITIES_NAME,
  HUB_TOKEN_VOLUME_NAME,
  JOB_INDEX,
  JOB_RESTART_ATTEMPT,
  REPLACE_AFTER,
  REPLICATED_JOB_NAME,
  REPLICATED_JOB_REPLICAS,
  RESTART_ATTEMPT,
  UPSTREAM_ENV_EXIT_CODE,
} from '../../jobset/names.ts';
import { END_CODES } from '../../jobset/policies/ladder-settings.ts';
import { beginningOf, boundedMetadata, sharedValues, valuesOf } from './bounded-metadata.ts';

const PLACE_LABELS = [REPLICATED_JOB_NAME, JOB_INDEX, RESTART_ATTEMPT, JOB_RESTART_ATTEMPT];
const JOB_LABELS = [...PLACE_LABELS, REPLICATED_JOB_REPLICAS];
const TEMPLATE_LABELS = [...PLACE_LABELS, REPLACE_AFTER];
/** The first two make a container an agent. */
const VARIABLES = [
  ENV_EXIT_CODE,
  UPSTREAM_ENV_EXIT_CODE,
  ENV_HUB_CA,
  ENV_HUB_URL,
  ENV_AGENT_CHANNEL,
  ENV_PROCESSES_PER_POD,
];
/** One authority has some 700 characters, and there are two while they change. */
const MAX_AUTHORITIES_CHARACTERS = 8_192;

/** The transformation of one cache. Doing it twice changes nothing. */
export function keptJobs(shared = sharedValues()): (job: Stored<Job>) => Stored<Job> {
  const bounded = boundedMetadata(JOB_LABELS, shared);
  return (job) => {
    const { spec, status } = job;
    const { suspend, parallelism, completions, completionMode } = spec;
    const { backoffLimitPerIndex, ttlSecondsAfterFinished, podFailurePolicy } = spec;
    const { apiVersion, kind, metadata } = bounded(job);
    // An object that begins with a spread gets a hidden class of its own in V8, and plans of many Jobs
    // would take three times as long.
    return defined({
      apiVersion,
      kind,
      metadata,
      spec: defined({
        suspend,
        parallelism,
        completions,
        completionMode,
        backoffLimitPerIndex,
        ttlSecondsAfterFinished,
        podFailurePolicy: podFailurePolicy && shared(keptPolicy(podFailurePolicy)),
        template: {
          metadata: {
            labels: valuesOf(TEMPLATE_LABELS, spec.template.metadata?.labels ?? {}),
            annotations: shared(
              valuesOf([AGENT_CONTAINER], spec.template.metadata?.annotations ?? {}),
            ),
          },
          spec: shared(keptPodSpec(spec.template)),
        },
      }),
      // Only controllers may write it.
      status,
    });
  };
}

/**
 * The part of a policy that `toleratesReplacement` reads. An API server returns an empty list of rules
 * as null, and some versions an empty list of conditions, so a Job of any tenant may have that.
 */
function keptPolicy(policy: PodFailurePolicy): PodFailurePolicy {
  const rules: readonly PodFailurePolicyRule[] | null = policy.rules;
  return {
    rules: (rules ?? []).map(({ action, onExitCodes, onPodConditions }) => ({
      action,
      onPodConditions: (onPodConditions ?? [])
        .filter(({ type }) => type === DISRUPTION_TARGET)
        .map(({ type, status }) => ({ type, ...defined({ status }) })),
      ...(onExitCodes && {
        onExitCodes: {
          operator: onExitCodes.operator,
          values: onExitCodes.values.filter((code) => END_CODES.includes(code)),
        },
      }),
    })),
  };
}

/** The agent, its container, and whether its token's volume has the authorities of the hub. */
function keptPodSpec(template: PodTemplateSpec): PodTemplateSpec['spec'] {
  const agent = templateAgent(template);
  const { initContainers, volumes } = template.spec;
  const isInit = agent !== undefined && initContainers?.includes(agent) === true;
  const kept = agent === undefined ? [] : [keptAgent(agent)];
  const volume = volumes?.find(({ name }) => name === HUB_TOKEN_VOLUME_NAME);
  return {
    ...(isInit ? { initContainers: kept } : {}),
    containers: isInit ? [] : kept,
    ...(volume && { volumes: [keptVolume(volume)] }),
  };
}

function keptAgent({ name, env, restartPolicy, startupProbe }: Container): Container {
  const variables = VARIABLES.flatMap((wanted) => {
    const found = env?.find((variable) => variable.name === wanted);
    if (found === undefined) return [];
    const most = wanted === ENV_HUB_CA ? MAX_AUTHORITIES_CHARACTERS : undefined;
    const value = found.value && beginningOf(found.value, most);
    return [{ name: wanted, ...defined({ value }) }];
  });
  return {
    name,
    env: variables,
    ...defined({ restartPolicy }),
    ...(startupProbe && { startupProbe: {} }),
  };
}

function keptVolume({ name, projected }: Volume): Volume {
  const hasMap = projected?.sources?.some(({ configMap }) => configMap !== undefined) === true;
  return {
    name,
    ...(hasMap && { projected: { sources: [{ configMap: { name: HUB_AUTHORITIES_NAME } }] } }),
  };
}
