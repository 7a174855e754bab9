import { expect, test } from 'vitest';
import { replicatedJob, storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import { answering, snapshotOf } from '../../../test/fixtures/snapshots.ts';
import { AGENT_FILES_VOLUME_NAME, RESTART_MODE } from '../names.ts';
import { type Plan, plan } from '../plan.ts';
import type { AnswerOf } from './questions.ts';

function planned(answers: Partial<AnswerOf>, mode = 'Supervisor'): Plan {
  const spec = {
    failurePolicy: { restartStrategy: 'InPlaceRestart', maxRestarts: 1 },
    replicatedJobs: [replicatedJob('w')],
  } as const;
  const jobSet = storedJobSet(spec, { annotations: { [RESTART_MODE]: mode } });
  const agent = { image: 'agent:1', delivery: 'Auto' } as const;
  return plan(
    snapshotOf(jobSet, { agent, answer: answering({ ContainerMinimums: {}, ...answers }) }),
  );
}

function agentFilesOf({ actions }: Plan): unknown {
  const [job] = actions.flatMap((action) => (action.kind === 'CreateJob' ? [action.job] : []));
  const { volumes = [] } = job?.spec.template.spec ?? {};
  return volumes.find(({ name }) => name === AGENT_FILES_VOLUME_NAME);
}

test('nodes are asked before Jobs with supervisors are made, and only then', () => {
  expect(planned({}).question).toEqual({ kind: 'ImageVolumes' });
  expect(planned({}, 'Sidecar').question).toBeUndefined();
});

test('agents are mounted where all nodes can, and copied elsewhere', () => {
  const mounted = agentFilesOf(planned({ ImageVolumes: true }));
  expect(mounted).toMatchObject({ image: { reference: 'agent:1' } });
  expect(agentFilesOf(planned({ ImageVolumes: false }))).toMatchObject({ emptyDir: {} });
});
