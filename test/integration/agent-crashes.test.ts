/**
 * Agents whose container dies at the barrier, with the operator at the other end
 * (`docs/design/member-hazards.md#an-agent-crashes-at-the-barrier`).
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AGENT_STARTS } from '../../src/jobset/names.ts';
import { type GroupUnderTest, startedGroupUnderTest } from './group-under-test.fixture.ts';
import { CALM_MS, SUPERVISOR, THREE_WORKERS, WORKERS } from './three-workers.fixture.ts';
import { type Member, type StartMember, supervised } from './training-group.fixture.ts';

let group: GroupUnderTest;
/** Lets the agent of `w/0` start, for which the others wait. */
let admit: () => void;

const withLatecomer: StartMember = (pod, slot, runtime, started) => {
  const start = (): Member => supervised('Canonical')(pod, slot, runtime, started);
  if (slot !== 'w/0') return start();
  let member: Member | undefined;
  admit = () => {
    member = start();
  };
  return {
    slot,
    podName: pod.metadata.name,
    get epoch() {
      return member?.epoch;
    },
    exit: (exitCode) => member?.exit(exitCode),
    crash: () => member?.crash(),
    end: () => member?.end(),
  };
};

beforeEach(async () => {
  group = await startedGroupUnderTest(withLatecomer);
  await group.create(THREE_WORKERS, SUPERVISOR);
  await untilStarts('w/1', '1:1');
  await untilStarts('w/2', '1:1');
  await group.cluster.until(async () => group.hasMember('w/0'));
});

afterEach(() => group.stop());

function untilStarts(slot: string, text: string): Promise<void> {
  return group.cluster.until(async () => {
    const pods = await group.cluster.pods();
    return pods.some(
      ({ metadata }) =>
        metadata.name.startsWith(`train-w-0-${slot.slice(-1)}`) &&
        metadata.annotations?.[AGENT_STARTS] === text,
    );
  });
}

async function crash(slot: string, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    const before = i + 1;
    await untilStarts(slot, `1:${before}`);
    group.crash(slot);
  }
}

test('an agent that crashes at the barrier takes part again, and no restart is charged', async () => {
  await crash('w/1', 2);
  await untilStarts('w/1', '1:3');
  admit();
  await group.allIn(1, WORKERS);
  await group.cluster.calm(CALM_MS);
  expect((await group.jobSet()).status).toMatchObject({ deprecatedEpoch: 0, syncedEpoch: 1 });
  expect(group.starts).toHaveLength(WORKERS);
});

test('an agent that crashes over and over ends the epoch, charged once', async () => {
  await crash('w/1', 3);
  await group.until(({ deprecatedEpoch }) => deprecatedEpoch === 1);
  await untilStarts('w/1', '2:1');
  admit();
  await group.allIn(2, WORKERS);
  await group.cluster.calm(CALM_MS);
  expect((await group.jobSet()).status).toMatchObject({
    deprecatedEpoch: 1,
    inPlaceRestarts: 1,
    inPlaceRestartsCountTowardsMax: 1,
    restartHistory: [{ epoch: 1, cause: 'StartFailed', counted: true }],
  });
});
