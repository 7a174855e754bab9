/**
 * How a JobSet begins: with a spec that is in order, and a status from which agents need not guess.
 */
import { formatFieldErrors } from '@lockstep/kube/field-error.ts';
import { defined } from '@lockstep/kube/json/defined.ts';
import { hubErrors } from '../../injection/agent-hub.ts';
import { restartRuleErrors, wantsAgents } from '../../injection/agent-mode.ts';
import { nodeSupportErrors } from '../../injection/node-support.ts';
import { fieldAnnotationErrors } from '../../overrides/field-annotations.ts';
import { isUnrecorded, recordedAnnotations } from '../../overrides/recording.ts';
import { cleared } from '../../status/conditions.ts';
import { jobSetWarnings, validateJobSet } from '../../validation/validation.ts';
import type { Decision, PlannedEvent } from '../decision.ts';
import type { Facts } from '../facts.ts';
import { definitionErrors } from './definition.ts';

/** The operator does not act on an invalid spec: Jobs that run continue, and it makes none. */
export function rejectInvalidSpec(facts: Facts): readonly Decision[] {
  const { jobSet, spec, limits, agent } = facts;
  const type = 'Rejected';
  const errors = [
    ...validateJobSet(jobSet, spec, limits),
    // Later they say nothing, as the status has recorded what counts.
    ...(isUnrecorded(jobSet) ? fieldAnnotationErrors(jobSet.metadata.annotations) : []),
    ...restartRuleErrors(spec, agent),
    ...hubErrors(jobSet.metadata.annotations, agent.hub !== undefined),
    ...nodeSupportErrors(spec, jobSet.metadata.annotations, agent),
    ...definitionErrors(facts),
  ];
  if (errors.length === 0) {
    return [{ conditions: [cleared(type, 'ValidSpec', 'the spec is valid')] }];
  }
  const message = formatFieldErrors(errors);
  const rejected = { type, status: 'True', reason: 'InvalidSpec', message } as const;
  return [{ conditions: [{ ...rejected, event: 'Warning' }], isLast: true }];
}

export function writeFirstStatus({
  jobSet,
  spec,
  status,
  group,
  agent,
  recording,
}: Facts): readonly Decision[] {
  if (status.restarts !== undefined) return [];
  const warnings = jobSetWarnings(jobSet, spec, agent);
  const why = agent.restartAllProblem?.why;
  const isSupervised = why !== undefined && wantsAgents(spec, jobSet.metadata.annotations);
  const mode = { type: 'Normal', reason: 'SupervisorMode' } as const;
  return [
    {
      status: {
        restarts: 0,
        restartsCountTowardsMax: 0,
        ...(group &&
          status.deprecatedEpoch === undefined && { deprecatedEpoch: 0, syncedEpoch: 0 }),
        ...defined({ recordedAnnotations: recordedAnnotations(recording) }),
      },
      events: [
        ...(isSupervised ? [{ ...mode, note: `agents supervise their workers: ${why}` }] : []),
        ...(recording?.problems ?? []).map((note): PlannedEvent => {
          return { type: 'Warning', reason: 'NamespaceDefaultIgnored', note };
        }),
        ...warnings.map((note): PlannedEvent => ({ type: 'Warning', reason: 'SpecWarning', note })),
      ],
    },
  ];
}
