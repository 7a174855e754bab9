/** The fields of a JobSet's spec in words. */

import { listed } from '@lockstep/kube/listed.ts';
import type { JobSetSpec } from '../../jobset.ts';
import { isManagedByUs } from '../../manager.ts';
import { JOBSET_API_VERSION } from '../../names.ts';
import { extraRestarts } from '../../policies/ladder-settings.ts';
import { allowedRestarts } from '../../policies/restart-budget.ts';
import { type Asked, counted, durationWords, type Words } from './asked.ts';
import { ruleWords } from './rule-words.ts';

export function policyWords(asked: Asked): Words {
  return Object.values(FIELDS).flatMap((wordsOf) => wordsOf(asked));
}

/** The type ensures that each field has words. They are shown in this order. */
const FIELDS: Readonly<Record<keyof JobSetSpec, (asked: Asked) => Words>> = {
  suspend: ({ spec }) =>
    spec.suspend ? ['Is suspended: it has no Pods until it is resumed.'] : [],
  failurePolicy: (asked) => [...strategyWords(asked), ...ruleWords(asked)],
  successPolicy,
  replicatedJobs,
  startupPolicy,
  coordinator,
  activeDeadlineSeconds: ({ spec: { activeDeadlineSeconds: seconds } }) =>
    seconds === undefined
      ? []
      : [`Fails when it has been active for ${durationWords(seconds * 1000)} without a break.`],
  ttlSecondsAfterFinished: ({ spec: { ttlSecondsAfterFinished: seconds } }) =>
    seconds === undefined
      ? []
      : [`Is deleted ${seconds === 0 ? 'at once' : durationWords(seconds * 1000)} after its end.`],
  volumeClaimPolicies,
  network,
  managedBy,
};

/** A `maxRestarts` from this number on counts as no limit. */
const NO_LIMIT = 1_000_000_000;

function strategyWords({ spec: { failurePolicy }, metadata }: Asked): Words {
  if (failurePolicy === undefined) {
    return ['Has no failure policy: the first failure of a Job is final.'];
  }
  const { restartStrategy, maxRestarts } = failurePolicy;
  const extra = extraRestarts(metadata.annotations);
  const allowed = allowedRestarts({ metadata, spec: { failurePolicy } });
  const parts = extra === 0 ? '' : `: ${maxRestarts} by maxRestarts and ${extra} by an annotation`;
  const times = allowed === 1 ? 'once' : `${allowed} times`;
  const how =
    allowed <= 0
      ? 'but not for a failure that counts, because maxRestarts is 0'
      : allowed >= NO_LIMIT
        ? 'as often as it takes'
        : `at most ${times}${parts}`;
  switch (restartStrategy) {
    case 'InPlaceRestart':
      return [
        `Restarts in place, ${how}.`,
        'When one worker fails, all workers of the group stop, and start again in the Pods that they have.',
      ];
    case 'Recreate':
      return [`Makes all Jobs anew after a failure, ${how}.`];
    case 'BlockingRecreate':
      return [
        `Makes all Jobs anew after a failure, ${how}.`,
        'No new Job is made before all old ones are gone.',
      ];
  }
}

function successPolicy({ spec }: Asked): Words {
  const { operator, targetReplicatedJobs: targets = [] } = spec.successPolicy;
  const of = targets.length === 0 ? '' : ` of ${listed(targets)}`;
  return [
    operator === 'All'
      ? `Succeeds when all Jobs${of} have succeeded.`
      : `Succeeds as soon as one Job${of} has succeeded.`,
  ];
}

function replicatedJobs({ spec }: Asked): Words {
  return spec.replicatedJobs.flatMap(({ name, replicas, groupName, dependsOn = [], template }) => {
    const { parallelism = 1, completions = parallelism, completionMode } = template.spec;
    const jobs = `${counted(replicas, 'Job')} of ${counted(parallelism, 'Pod')}`;
    const each = completions === parallelism ? '' : ` at a time, ${completions} in all`;
    const group = groupName === 'default' ? '' : `, in group ${groupName}`;
    const mode = completionMode === 'NonIndexed' ? ', without an index' : '';
    const waits = dependsOn.map(({ name: other, status }) =>
      status === 'Ready' ? `${other} is ready` : `${other} has completed`,
    );
    return [
      `${name}: ${jobs}${each}${mode}${group}.`,
      ...(waits.length === 0 ? [] : [`${name} starts when ${listed(waits)}.`]),
    ];
  });
}

function startupPolicy({ spec }: Asked): Words {
  if (spec.startupPolicy.startupPolicyOrder !== 'InOrder') return [];
  const names = spec.replicatedJobs.map(({ name }) => name);
  return [`Starts in the order ${listed(names)}: each when the one before it is ready.`];
}

function coordinator({ spec }: Asked): Words {
  if (spec.coordinator === undefined) return [];
  const { replicatedJob, jobIndex = 0, podIndex = 0 } = spec.coordinator;
  return [`Its coordinator is Pod ${podIndex} of Job ${jobIndex} of ${replicatedJob}.`];
}

function volumeClaimPolicies({ spec, metadata }: Asked): Words {
  return spec.volumeClaimPolicies.map(({ templates, retentionPolicy }) => {
    const names = templates.map((each) => `${each.metadata?.name ?? ''}-${metadata.name}`);
    const end =
      retentionPolicy.whenDeleted === 'Retain' ? 'stay when it is deleted' : 'are deleted with it';
    return `All Jobs share volume claims, which ${end}: ${listed(names)}.`;
  });
}

function network({ spec, metadata }: Asked): Words {
  const { enableDNSHostnames, publishNotReadyAddresses, subdomain } = spec.network;
  if (!enableDNSHostnames) return ['Its Pods have no host names in DNS.'];
  const when = publishNotReadyAddresses ? 'before they are ready, too' : 'once they are ready';
  return [`Its Pods have host names below ${subdomain || metadata.name} in DNS, ${when}.`];
}

function managedBy({ spec }: Asked): Words {
  if (spec.managedBy === undefined) return [];
  if (isManagedByUs(spec)) return ['Names Lockstep as its controller.'];
  const [group] = JOBSET_API_VERSION.split('/');
  return [
    `Belongs to another controller of ${group}, ${spec.managedBy}: Lockstep leaves it alone.`,
  ];
}
