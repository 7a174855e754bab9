/** The simulated world itself, and seeds and scenarios in it. `npm run simulate` runs many more. */
import { VALIDATING_WEBHOOK_CONFIGURATIONS } from '@lockstep/kube/objects/admission-webhooks.ts';
import { describe, expect, it } from 'vitest';
import { VALIDATING_CONFIGURATION_NAME } from '../operator/webhooks/webhook-configurations.ts';
import { inWords } from './history.ts';
import { INVALID_TOKENS } from './network/network-acts.ts';
import { parseScenario } from './parse-scenario.ts';
import { type RunResult, runScenario } from './run.ts';
import { ACT_KINDS, type Act, type Scenario, scenarioOf } from './scenario.ts';
import type { World } from './world.ts';

const SEEDS = 12;
/** With acts of each kind. */
const PRINTED_SEEDS = 200;

const QUIET: Scenario = {
  seed: 1,
  jobs: [
    { name: 'a', replicas: 1, pods: 2 },
    { name: 'b', replicas: 1, pods: 1 },
  ],
  nodes: 2,
  operators: 2,
  maxRestarts: 2,
  isInOrder: true,
  acts: [],
};

function at(seconds: number, ...acts: readonly Act[]): Scenario['acts'] {
  return acts.map((act) => ({ atMs: seconds * 1000, act }));
}

async function played(
  scenario: Scenario,
): Promise<RunResult & { readonly lines: readonly string[] }> {
  const result = await runScenario(scenario);
  return { ...result, lines: result.events.map(inWords) };
}

describe('the simulated world', () => {
  it('runs a group without faults', async () => {
    const { violation, epochs, lines } = await played(QUIET);
    expect(violation).toBeUndefined();
    expect(epochs).toBe(1);
    expect(lines.filter((line) => line.includes('starts in epoch 1'))).toHaveLength(3);
  });

  it('gives the same bytes for the same seed', async () => {
    const [first, second] = [await played(scenarioOf(33)), await played(scenarioOf(33))];
    expect(second.lines).toEqual(first.lines);
    expect(first.lines.length).toBeGreaterThan(20);
  });

  it('charges a failure, ends a hung worker, and fails a group that has spent its restarts', async () => {
    const acts = [
      ...at(60, { kind: 'WorkerKilled', member: 0 }),
      ...at(120, { kind: 'WorkerHangs', member: 1 }),
      ...at(240, { kind: 'WorkerExits', member: 2, exitCode: 3 }),
    ];
    const { violation, lines } = await played({ ...QUIET, acts });
    expect(violation).toBeUndefined();
    expect(lines.some((line) => line.endsWith('>> the worker of b/0/0 exits with 3'))).toBe(true);
    const statuses = lines.filter((line) => line.includes('status:'));
    expect(statuses.some((line) => line.includes('charged 2'))).toBe(true);
    expect(statuses.at(-1)).toContain('Failed');
  });

  // Seeds 245 and 342: the second one hung in the second of two ranks.
  it.each([{ member: 1 }, { member: 4, processes: 2 }])(
    'ends a worker that hangs before its first step: %o',
    async ({ member, ...more }) => {
      const acts = at(2, { kind: 'WorkerHangs', member });
      const { violation, epochs } = await runScenario({ ...QUIET, ...more, acts });
      expect(violation).toBeUndefined();
      expect(epochs).toBe(2);
    },
  );

  it('completes when all workers exit with 0', async () => {
    const { violation, lines } = await played({
      ...QUIET,
      acts: at(60, { kind: 'AllSucceed' }),
    });
    expect(violation).toBeUndefined();
    expect(lines.some((line) => line.includes('Completed'))).toBe(true);
  });

  it('ends an epoch for a new size, without a charge', async () => {
    const acts = at(60, { kind: 'Resized', job: 0, pods: 3 });
    const { violation, epochs, lines } = await played({ ...QUIET, acts });
    expect(violation).toBeUndefined();
    expect(epochs).toBe(2);
    expect(lines.filter((line) => line.includes('starts in epoch 2'))).toHaveLength(4);
    expect(lines.some((line) => line.includes('ended 1') && line.includes('charged 0'))).toBe(true);
  });

  it('restarts the group of a member whose marker is torn', async () => {
    const acts = at(60, { kind: 'MarkerTorn', member: 1, keeps: 0.5 });
    const { violation, epochs } = await runScenario({ ...QUIET, acts });
    expect(violation).toBeUndefined();
    expect(epochs).toBe(2);
  });

  it.each(['Created', 'Renamed', 'Acted'] as const)(
    'restarts the group of a member whose agent dies at its marker: %s',
    async (step) => {
      const dies = {
        kind: 'AgentDiesAtMarker',
        member: 1,
        write: 0,
        step,
        unsynced: 'Lost',
      } as const;
      const acts = at(60, dies, { kind: 'WorkerKilled', member: 0 });
      const { violation, epochs, lines } = await played({ ...QUIET, acts });
      expect(violation).toBeUndefined();
      // Its next agent joins the others at the barrier, unless they wait there no longer.
      expect(epochs).toBe(step === 'Acted' ? 3 : 2);
      expect(lines.filter((line) => line.includes(`starts in epoch ${epochs}`))).toHaveLength(3);
    },
  );

  it('tells an operator at once what it missed while its watches stalled', async () => {
    const stall = { kind: 'ApiFault', to: 'Operators', fault: 'StalledWatches' } as const;
    const acts = [
      ...at(60, { kind: 'HubCut', member: undefined, forMs: 120_000 }),
      ...at(90, { ...stall, forMs: 60_000 }),
      ...at(91, { kind: 'WorkerKilled', member: 0 }),
      ...at(210, { kind: 'StreamsReset' }),
    ];
    const { violation, lines } = await played({ ...QUIET, acts });
    expect(violation).toBeUndefined();
    const ended = lines.find((line) => line.includes('status: ended 1'));
    expect(Number.parseFloat(ended ?? '')).toBeGreaterThan(149);
  });

  it('ends one epoch for a resume, although no controller has ended the Pods', async () => {
    const acts = [
      ...at(44, { kind: 'ControllersDown', forMs: 130_000 }),
      ...at(78, { kind: 'Suspended', forMs: 80_000 }),
      ...at(180, { kind: 'StreamsReset' }),
    ];
    const { violation, lines } = await played({ ...QUIET, acts, isInOrder: false });
    expect(violation).toBeUndefined();
    expect(lines.some((line) => line.includes('ended 1'))).toBe(true);
  });

  it('takes a Pod that a tenant has forged for none of the group', async () => {
    const acts = [
      ...at(
        60,
        { kind: 'ControllersDown', forMs: 30_000 },
        { kind: 'PodForged', member: 0, ahead: 1 },
      ),
      ...at(63, { kind: 'WorkerSucceeds', member: 0 }),
    ];
    expect((await runScenario({ ...QUIET, acts })).violation).toBeUndefined();
  });

  it('ends a fault without those beside it', async () => {
    const fault = { kind: 'ApiFault', to: 'Operators' } as const;
    const acts = [
      ...at(60, { ...fault, fault: 'Cut', forMs: 60_000 }, { ...fault, fault: 'Slow', forMs: 500 }),
      ...at(61, { kind: 'WorkerKilled', member: 0 }),
      ...at(130, { kind: 'StreamsReset' }),
    ];
    const { lines } = await played({ ...QUIET, acts });
    const ended = lines.find((line) => line.includes('status: ended 1'));
    expect(Number.parseFloat(ended ?? '')).toBeGreaterThan(119);
  });

  it('ends no epoch for an agent whose messages are late, and come beside its next stream', async () => {
    const acts = [
      ...at(60, { kind: 'HubLate', member: 0, forMs: 20_000 }),
      ...at(65, { kind: 'WorkerKilled', member: 1 }),
      ...at(110, { kind: 'HubLate', member: 1, forMs: 60_000 }),
      ...at(200, { kind: 'StreamsReset' }),
    ];
    const { violation, epochs, lines } = await played({ ...QUIET, isInOrder: false, acts });
    expect(violation).toBeUndefined();
    expect(epochs).toBe(2);
    // Until the agent gets no answer in time, and connects again.
    const second = lines.find((line) => line.includes('starts in epoch 2'));
    expect(Number.parseFloat(second ?? '')).toBeGreaterThan(75);
  });

  it('starts a group whose controllers are down from the beginning', async () => {
    const acts = [
      { atMs: 11, act: { kind: 'ControllersDown', forMs: 90_000 } as const },
      ...at(60, { kind: 'StreamsReset' }),
    ];
    const { violation, epochs } = await runScenario({ ...QUIET, acts });
    expect(violation).toBeUndefined();
    expect(epochs).toBe(1);
  });

  // Seed 145.
  it('asks no more for another size when the JobSet has failed', async () => {
    const acts = [
      ...at(60, { kind: 'WorkerKilled', member: 0 }),
      ...at(90, { kind: 'Resized', job: 0, pods: 3 }),
    ];
    const { violation, lines } = await played({
      ...QUIET,
      maxRestarts: 0,
      hasWebhooks: true,
      acts,
    });
    expect(violation).toBeUndefined();
    expect(lines.some((line) => line.includes('Failed'))).toBe(true);
  });

  it.each(ACT_KINDS)('comes to rest after %s alone', async (kind) => {
    const { violation } = await runScenario(scenarioOf(5, { kinds: [kind], members: 3 }));
    expect(violation).toBeUndefined();
  });
});

describe('the simulated world with sidecars', () => {
  const SIDECARS: Scenario = { ...QUIET, mode: 'Sidecar' };

  it.each<[string, Act]>([
    ['worker that fails', { kind: 'WorkerExits', member: 1, exitCode: 3 }],
    ['worker that hangs', { kind: 'WorkerHangs', member: 1 }],
    ['agent that dies', { kind: 'AgentCrashes', member: 1 }],
    ['marker that is torn', { kind: 'MarkerTorn', member: 1, keeps: 0.5 }],
    ['Pod that is deleted', { kind: 'PodDeleted', member: 1 }],
  ])('ends one epoch for a %s', async (_, act) => {
    const { violation, epochs, lines } = await played({ ...SIDECARS, acts: at(60, act) });
    expect(violation).toBeUndefined();
    expect(epochs).toBe(2);
    expect(lines.filter((line) => line.includes('starts in epoch 2'))).toHaveLength(3);
  });

  it('completes when all workers exit with 0', async () => {
    const { violation, lines } = await played({
      ...SIDECARS,
      acts: at(60, { kind: 'AllSucceed' }),
    });
    expect(violation).toBeUndefined();
    expect(lines.some((line) => line.includes('Completed'))).toBe(true);
  });

  it('restarts Pods again that a silent node has kept', async () => {
    const acts = [
      ...at(60, { kind: 'NodeSilent', node: 0, forMs: 30_000 }),
      ...at(70, { kind: 'WorkerKilled', member: 0 }, { kind: 'WorkerKilled', member: 1 }),
      ...at(120, { kind: 'StreamsReset' }),
    ];
    const { violation, lines } = await played({ ...SIDECARS, nodes: 1, acts });
    expect(violation).toBeUndefined();
    const last = lines.findLast((line) => line.includes('starts in epoch 2'));
    expect(Number.parseFloat(last ?? '')).toBeGreaterThan(90);
  });

  it('lets an agent at the barrier lose its marker after another has lost its own', async () => {
    const acts = [
      ...at(60, { kind: 'MarkerTorn', member: 0, keeps: 0.8 }),
      ...at(60.01, { kind: 'MarkerTorn', member: 0, keeps: 0.6 }),
    ];
    const { violation, epochs } = await played({ ...SIDECARS, isInOrder: false, acts });
    expect(violation).toBeUndefined();
    expect(epochs).toBeGreaterThan(2);
  });
});

describe('the simulated world with standbys', () => {
  const STANDBYS: Scenario = { ...QUIET, hasStandbys: true };
  const warm = (lines: readonly string[]): number =>
    lines.filter((line) => line.includes('from its standby')).length;

  it('continues with the standbys', async () => {
    const acts = at(60, { kind: 'WorkerKilled', member: 1 });
    const { violation, epochs, lines } = await played({ ...STANDBYS, acts });
    expect(violation).toBeUndefined();
    expect(epochs).toBe(2);
    expect(warm(lines)).toBe(3);
  });

  it.each<[string, Act]>([
    ['dies', { kind: 'StandbyDies', member: 1, when: 'Now' }],
    ['exits with 0', { kind: 'StandbyExits', member: 1 }],
  ])('ends no epoch for a standby that %s, and starts that worker cold', async (_, act) => {
    const acts = [...at(60, act), ...at(60.1, { kind: 'WorkerKilled', member: 0 })];
    const { violation, epochs, lines } = await played({ ...STANDBYS, acts });
    expect(violation).toBeUndefined();
    expect(epochs).toBe(2);
    expect(warm(lines)).toBe(2);
  });

  it('ends no epoch for a standby that dies when its release is decided', async () => {
    const acts = at(
      60,
      { kind: 'StandbyDies', member: 1, when: 'Releasing' },
      { kind: 'WorkerKilled', member: 0 },
    );
    const { violation, epochs, lines } = await played({ ...STANDBYS, acts });
    expect(violation).toBeUndefined();
    expect(epochs).toBe(2);
    expect(warm(lines)).toBe(2);
  });

  it('takes one that dies when it is released for its worker', async () => {
    const acts = at(
      60,
      { kind: 'StandbyDies', member: 1, when: 'Released' },
      { kind: 'WorkerKilled', member: 0 },
    );
    const { violation, epochs } = await played({ ...STANDBYS, acts });
    expect(violation).toBeUndefined();
    expect(epochs).toBe(3);
  });

  it('promotes no standby that still prepares itself, nor one with other ranks', async () => {
    const acts = [
      ...at(1, { kind: 'StandbySlow', member: 0, forMs: 90_000 }),
      ...at(60, { kind: 'WorkerKilled', member: 1 }),
      ...at(120, { kind: 'Resized', job: 0, pods: 3 }),
    ];
    const { violation, epochs, lines } = await played({ ...STANDBYS, processes: 2, acts });
    expect(violation).toBeUndefined();
    expect(epochs).toBe(3);
    expect(warm(lines)).toBe(2);
  });
});

describe('the simulated world with members that may leave their nodes', () => {
  const LEAVING: Scenario = { ...QUIET, maxRestarts: 9, hasWebhooks: true };
  const kill: Act = { kind: 'WorkerKilled', member: 1 };
  const left = (lines: readonly string[]): readonly string[] =>
    lines.filter((line) => line.includes('the Pod of'));

  async function nodesOf(scenario: Scenario) {
    const nodes: (string | undefined)[] = [];
    const note = (world: World): void => {
      nodes.push(world.members[1]?.pod.spec.nodeName);
    };
    const ended = (world: World): Promise<void> => Promise.resolve(note(world));
    const { violation, events } = await runScenario(scenario, { began: note, ended });
    return { violation, lines: events.map(inWords), nodes };
  }

  it('replaces a Pod on another node when its worker has failed twice', async () => {
    const acts = [...at(10, { kind: 'StreamsReset' }), ...at(60, kill), ...at(120, kill)];
    const { violation, lines, nodes } = await nodesOf({ ...LEAVING, replaceAfter: 2, acts });
    expect(violation).toBeUndefined();
    expect(left(lines)).toEqual([expect.stringContaining('the Pod of a/0/1 ends: 143')]);
    expect(new Set(nodes).size).toBe(2);
  });

  it('replaces a Pod whose preflight does not pass, and no other', async () => {
    const breaks: Act = { kind: 'NodeBreaks', member: 1, forMs: 30_000 };
    const acts = [...at(60, breaks), ...at(120, kill), ...at(180, { kind: 'StreamsReset' })];
    const { violation, lines } = await played({ ...LEAVING, hasPreflight: true, acts });
    expect(violation).toBeUndefined();
    expect(left(lines)).toEqual([expect.stringContaining('the Pod of a/0/1 ends: 143')]);
    const second = lines.filter((line) => line.includes('starts in epoch 2'));
    expect(Number.parseFloat(second[0] ?? '')).toBeGreaterThan(70);
    expect(Number.parseFloat(lines.find((line) => line.includes('epoch 3')) ?? '')).toBeLessThan(
      135,
    );
  });

  it('replaces nobody whose failures are no longer recent', async () => {
    const acts = [...at(60, kill), ...at(400, kill), ...at(460, { kind: 'StreamsReset' })];
    const { violation, epochs, lines } = await played({ ...LEAVING, replaceAfter: 2, acts });
    expect(violation).toBeUndefined();
    expect(epochs).toBe(3);
    expect(left(lines)).toEqual([]);
  });

  it('replaces a Pod although the operator dies when it has named it', async () => {
    const acts = [2, 3, 4].flatMap((write) => [
      ...at(60 * write, { kind: 'OperatorDiesAtWrite', operator: 0, write, when: 'After' }, kill),
    ]);
    const { violation, lines } = await played({
      ...LEAVING,
      operators: 1,
      replaceAfter: 1,
      acts: [...acts, ...at(300, { kind: 'StreamsReset' })],
    });
    expect(violation).toBeUndefined();
    expect(left(lines).length).toBeGreaterThan(0);
  });
});

it('restarts members in place that use the API server alone', async () => {
  const acts = [
    ...at(50, { kind: 'HubCut', member: undefined, forMs: 600_000 }),
    ...at(60, { kind: 'WorkerKilled', member: 1 }),
    ...at(120, { kind: 'StreamsReset' }),
  ];
  const { violation, epochs, lines } = await played({ ...QUIET, channel: 'API', acts });
  expect(violation).toBeUndefined();
  expect(epochs).toBe(2);
  const last = lines.findLast((line) => line.includes('starts in epoch 2'));
  expect(Number.parseFloat(last ?? '')).toBeLessThan(70);
});

it('numbers ranks again for a new size, and names the rank that failed', async () => {
  const acts = [
    ...at(60, { kind: 'WorkerExits', member: 4, exitCode: 3 }),
    ...at(90, { kind: 'Resized', job: 0, pods: 3 }),
    ...at(120, { kind: 'WorkerHangs', member: 1 }),
    ...at(240, { kind: 'StreamsReset' }),
  ];
  const { violation, epochs } = await played({ ...QUIET, processes: 2, acts });
  expect(violation).toBeUndefined();
  expect(epochs).toBe(4);
});

describe('the simulated world with webhooks', () => {
  const JUDGED: Scenario = { ...QUIET, hasWebhooks: true };
  const down = (fault: 'Cut' | 'Slow' | 'Refuses500', seconds: number) =>
    ({ kind: 'WebhooksDown', fault, forMs: seconds * 1000 }) as const;

  it.each(['Cut', 'Refuses500'] as const)('restarts in place while they are %s', async (fault) => {
    const acts = [
      ...at(50, down(fault, 600)),
      ...at(60, { kind: 'WorkerKilled', member: 1 }),
      ...at(120, { kind: 'PodDeleted', member: 0 }),
      ...at(300, { kind: 'StreamsReset' }),
    ];
    const { violation, lines } = await played({ ...JUDGED, acts });
    expect(violation).toBeUndefined();
    const last = lines.findLast((line) => line.includes('starts in epoch 3'));
    expect(Number.parseFloat(last ?? '')).toBeLessThan(140);
  });

  it('asks again for a suspension that nobody could judge', async () => {
    const acts = [
      ...at(50, down('Cut', 60)),
      ...at(60, { kind: 'Suspended', forMs: 90_000 }),
      ...at(170, { kind: 'StreamsReset' }),
    ];
    const { violation, lines } = await played({ ...JUDGED, acts });
    expect(violation).toBeUndefined();
    const ended = lines.find((line) => line.includes('status: ended 1'));
    expect(Number.parseFloat(ended ?? '')).toBeGreaterThan(109);
  });

  it('refuses changes by those replicas that run', async () => {
    const refused = { kind: 'ChangeRefused', change: 'Image' } as const;
    const acts = [
      ...at(60, { kind: 'OperatorKilled', operator: 0, forMs: 60_000 }, refused),
      ...at(70, { kind: 'OperatorPaused', operator: 1, forMs: 30_000 }, refused),
      ...at(80, down('Slow', 30), { ...refused, change: 'BackoffLimit' }),
      ...at(170, { ...refused, change: 'ProgressTimeout' }),
    ];
    const { violation, epochs } = await played({ ...JUDGED, acts });
    expect(violation).toBeUndefined();
    expect(epochs).toBe(1);
  });

  it('finds what is stored although nobody judged it', async () => {
    const acts = at(60, { kind: 'ChangeRefused', change: 'Image' });
    const { violation } = await runScenario(
      { ...JUDGED, acts },
      {
        began: ({ cluster: { client } }) => {
          const name = VALIDATING_CONFIGURATION_NAME;
          void client.delete(VALIDATING_WEBHOOK_CONFIGURATIONS, { name });
        },
      },
    );
    expect(violation?.property).toBe('Webhooks judge what is stored');
  });
});

describe.each(['Keys', 'Reviews'] as const)('the simulated world with tokens by %s', (tokens) => {
  const SIGNED: Scenario = { ...QUIET, tokens };

  it.each(INVALID_TOKENS)('restarts a group with a member whose token is %s', async (how) => {
    const acts = [
      ...at(60, { kind: 'TokenInvalid', member: 0, how, forMs: 120_000 }),
      ...at(70, { kind: 'WorkerKilled', member: 1 }),
      ...at(90, { kind: 'PodForged', member: 1, ahead: 1 }),
      ...at(170, { kind: 'StreamsReset' }),
    ];
    const { violation, lines } = await played({ ...SIGNED, acts });
    expect(violation).toBeUndefined();
    const starts = lines.filter((line) => line.includes('starts in epoch 2'));
    expect(starts).toHaveLength(3);
    expect(Number.parseFloat(starts.at(-1) ?? '')).toBeLessThan(90);
  });

  it('restarts a group while nothing checks tokens', async () => {
    const acts = [
      ...at(50, { kind: 'TokensUnchecked', forMs: 120_000 }),
      ...at(55, { kind: 'OperatorKilled', operator: 0, forMs: 1000 }, { kind: 'StreamsReset' }),
      ...at(60, { kind: 'WorkerKilled', member: 1 }),
      ...at(180, { kind: 'StreamsReset' }),
    ];
    const { violation, lines } = await played({ ...SIGNED, acts });
    expect(violation).toBeUndefined();
    const last = lines.findLast((line) => line.includes('starts in epoch 2'));
    expect(Number.parseFloat(last ?? '')).toBeLessThan(120);
  });
});

describe('a scenario in JSON', () => {
  it('is read as it was printed', () => {
    const scenarios = Array.from({ length: PRINTED_SEEDS }, (_, index) => scenarioOf(index + 1));
    const read = scenarios.map((scenario) => parseScenario(JSON.stringify(scenario), 'file'));
    expect(read).toEqual(scenarios);
    const kinds = new Set(scenarios.flatMap(({ acts }) => acts.map(({ act }) => act.kind)));
    expect([...kinds].toSorted()).toEqual(ACT_KINDS.toSorted());
  });

  it.each([
    ['nothing', '', 'file: expected an object in JSON'],
    ['no order', '{}', 'file: isInOrder: expected true or false'],
    ['no nodes', JSON.stringify({ ...QUIET, nodes: 0 }), 'file: nodes: expected a whole number'],
    ['no acts', JSON.stringify({ ...QUIET, acts: 1 }), 'file: acts: expected a list'],
    ['another mode', JSON.stringify({ ...QUIET, mode: 'Fast' }), 'file: mode: expected Sidecar'],
    ['webhooks', JSON.stringify({ ...QUIET, hasWebhooks: 1 }), 'file: hasWebhooks: expected true'],
    ['no flag', JSON.stringify({ ...QUIET, hasStandbys: 1 }), 'file: hasStandbys: expected true'],
    ['tokens', JSON.stringify({ ...QUIET, tokens: 1 }), 'file: tokens: expected Keys, Reviews'],
    [
      'preflights',
      JSON.stringify({ ...QUIET, hasPreflight: 1 }),
      'file: hasPreflight: expected true',
    ],
    ['a channel', JSON.stringify({ ...QUIET, channel: 'Hub' }), 'file: channel: expected API'],
    ['no failure', JSON.stringify({ ...QUIET, replaceAfter: 0 }), 'file: replaceAfter: expected a'],
    ['no process', JSON.stringify({ ...QUIET, processes: 0 }), 'file: processes: expected a whole'],
    [
      'a job of nothing',
      JSON.stringify({ ...QUIET, jobs: [null] }),
      'file: jobs[0]: expected name',
    ],
    [
      'an act of an unknown kind',
      JSON.stringify({ ...QUIET, acts: [{ atMs: 1, act: { kind: 'Fire' } }] }),
      'file: acts[0].act.kind: "Fire", expected one of WorkerExits, ',
    ],
    [
      'an act before the last one',
      JSON.stringify({ ...QUIET, acts: [{ atMs: -1, act: { kind: 'AllSucceed' } }] }),
      'file: acts[0].atMs: expected a number that is not below 0',
    ],
    [
      'a fault that there is not',
      JSON.stringify({
        ...QUIET,
        acts: [{ atMs: 1, act: { kind: 'ApiFault', to: 'Agents', fault: 'Burnt', forMs: 5 } }],
      }),
      'file: acts[0].act.fault: "Burnt", expected one of Slow, ',
    ],
    [
      'no member',
      JSON.stringify({ ...QUIET, acts: [{ atMs: 1, act: { kind: 'WorkerKilled' } }] }),
      'file: acts[0].act.member: undefined, expected a whole number of at least 0',
    ],
  ])('is refused with %s', (_, text, message) => {
    expect(() => parseScenario(text, 'file')).toThrow(message);
  });
});

it.each(Array.from({ length: SEEDS }, (_, index) => index + 1))('seed %i holds', async (seed) => {
  expect((await runScenario(scenarioOf(seed))).violation).toBeUndefined();
});
