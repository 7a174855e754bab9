import { describe, expect, test } from 'vitest';
import { type ApiServerFacts, apiServerFindings } from './api-server.ts';
import type { Finding } from './finding.ts';
import { type JobSetFacts, type JobSetsFacts, jobSetsFindings } from './jobsets.ts';
import { type NodeFacts, type NodeLease, type NodesFacts, nodesFindings } from './nodes.ts';
import { type Quota, quotaFindings } from './quotas.ts';
import { type ReachFacts, reachFindings } from './reach.ts';

function levels(findings: readonly Finding[]): Record<string, string> {
  return Object.fromEntries(findings.map(({ check, level }) => [check, level]));
}

function textOf(findings: readonly Finding[], check: string): string {
  return findings.find((one) => one.check === check)?.text ?? '';
}

const UNKNOWN = { unknown: 'you may not look' };

describe('the API server', () => {
  const WELL: ApiServerFacts = {
    version: '1.36.3',
    restartRules: { value: undefined },
    gates: { value: new Map([['RestartAllContainersOnContainerExits', true]]) },
    clock: { value: { aheadMs: 100, errorMs: 500 } },
  };

  test.each([
    ['1.36.3', 'ok'],
    ['v1.35.0', 'ok'],
    ['1.34.9', 'note'],
    ['1.99.0', 'note'],
    ['1.29.0', 'problem'],
    ['unknown', 'ok'],
  ])('of version %s is %s', (version, level) => {
    expect(levels(apiServerFindings({ ...WELL, version }))).toMatchObject({ version: level });
  });

  test.each([
    [100, 'ok'],
    [-2_400, 'ok'],
    [2_600, 'note'],
    [-59_000, 'note'],
    [-61_000, 'problem'],
  ])('whose clock is %d ms ahead is %s', (aheadMs, level) => {
    const facts = { ...WELL, clock: { value: { aheadMs, errorMs: 500 } } };
    expect(levels(apiServerFindings(facts))).toMatchObject({ clock: level });
  });

  test('tells gates that are off, and rules that it drops', () => {
    const gates = { value: new Map([['ContainerRestartRules', false]]) };
    const found = apiServerFindings({ ...WELL, gates, restartRules: { value: 'it drops them' } });
    expect(levels(found)).toMatchObject({ 'feature-gates': 'note', 'restart-rules': 'note' });
    expect(textOf(found, 'feature-gates')).toBe('ContainerRestartRules off');
  });

  test('that does not let us look is judged by its version alone', () => {
    const found = apiServerFindings({
      version: '1.36.3',
      restartRules: UNKNOWN,
      gates: UNKNOWN,
      clock: UNKNOWN,
    });
    expect(found.filter(({ level }) => level === 'not-checked')).toHaveLength(3);
  });
});

describe('nodes', () => {
  const NOW_MS = 1_000_000;
  const node = (name: string, more: Partial<NodeFacts> = {}): NodeFacts => ({
    name,
    kubelet: 'v1.36.1',
    isReady: true,
    canRestartAll: true,
    ...more,
  });
  const facts = (nodes: readonly NodeFacts[], leases: readonly NodeLease[] = []): NodesFacts => ({
    nodes: { value: { items: nodes, isAll: true } },
    leases: { value: { items: leases, isAll: true } },
    nowMs: NOW_MS,
  });

  test.each([
    [[node('a'), node('b')], 'ok', /^2 of 2 nodes/],
    [[node('a'), node('b', { canRestartAll: false })], 'note', /^1 of 2 nodes declare.*Supervisor/],
    [[node('a', { canRestartAll: false })], 'note', /^no node declares/],
    [[], 'problem', /no nodes/],
  ] as const)('say which modes of agents work: %#', (nodes, level, text) => {
    const found = nodesFindings(facts(nodes), UNKNOWN);
    expect(levels(found)['restart-in-place']).toBe(level);
    expect(textOf(found, 'restart-in-place')).toMatch(text);
  });

  test.each([
    ['v1.35.0', 'note'],
    ['v1.35.3', 'note'],
    ['v1.35.3-gke.100', 'note'],
    ['v1.35.4', 'ok'],
    ['v1.35.10', 'ok'],
    ['v1.36.0', 'ok'],
    ['v1.34.9', 'ok'],
    ['', 'ok'],
  ])('with kubelet %s are %s', (kubelet, level) => {
    const found = nodesFindings(facts([node('a', { kubelet })]), UNKNOWN);
    expect(levels(found)['kubelet-bugs']).toBe(level);
  });

  test('that are not ready are named, up to a number', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const found = nodesFindings(
      facts(names.map((name) => node(name, { isReady: false }))),
      UNKNOWN,
    );
    expect(textOf(found, 'ready')).toBe('not ready: a, b, c, d, e and 2 more');
  });

  test('are silent, or their clock is ahead, by the clock of the API server', () => {
    const lease = (name: string, renewMs: number): NodeLease => ({
      name,
      renewMs,
      durationMs: 40_000,
    });
    const aheadMs = 100_000;
    const leases = [
      lease('well', NOW_MS + aheadMs - 9_000),
      lease('silent', NOW_MS + aheadMs - 41_000),
      lease('fast', NOW_MS + aheadMs + 3_000),
      lease('empty', Number.NaN),
    ];
    const found = nodesFindings(facts([], leases), { value: { aheadMs, errorMs: 500 } });
    expect(textOf(found, 'node-leases')).toMatch(/: silent$/);
    expect(textOf(found, 'node-clocks')).toMatch(/ahead on fast,/);
  });
});

describe('quotas', () => {
  const judged = (hard: Quota['hard'], used: Quota['used']): readonly Finding[] => {
    const quotas = { value: { items: [{ name: 'q', hard, used }], isAll: true } };
    return quotaFindings({ namespace: 'team', quotas });
  };

  test.each([
    [{ pods: '10' }, { pods: '8' }, 'ok'],
    [{ pods: '10' }, { pods: '9' }, 'note'],
    [{ pods: '10' }, { pods: '10' }, 'problem'],
    [{ pods: '0' }, {}, 'problem'],
    [{ 'requests.cpu': '2' }, { 'requests.cpu': '1900m' }, 'note'],
    [{ 'limits.memory': '1Gi' }, { 'limits.memory': '1024Mi' }, 'problem'],
    [{ secrets: '1' }, { secrets: '1' }, 'note'],
    [{ pods: 'many' }, { pods: '1' }, 'ok'],
  ] as const)('%j, of which %j are used: %s', (hard, used, level) => {
    expect(judged(hard, used).map((one) => one.level)).toEqual([level]);
  });
});

describe('webhooks and hub', () => {
  const webhook = { clientConfig: {}, rules: [] } as const;
  const facts = (more: Partial<ReachFacts>): ReachFacts => ({
    webhooks: { value: [] },
    dryRun: { value: { type: 'Accepted' } },
    authorities: { value: undefined },
    jobSetNamespace: 'team',
    nowMs: 0,
    ...more,
  });

  test.each([
    ['an authority is missing', { webhooks: { value: [webhook] } }, 'webhook-certificates'],
    [
      'an authority is no certificate',
      { webhooks: { value: [{ ...webhook, clientConfig: { caBundle: 'eA==' } }] } },
      'webhook-certificates',
    ],
    [
      'webhooks cannot be called',
      { dryRun: { value: { type: 'Failed', message: 'failed calling webhook "x": refused' } } },
      'webhooks-reachable',
    ],
    [
      'no replica serves the hub',
      {
        endpoints: {
          namespace: 'n',
          webhookService: 's',
          webhooks: { value: 1 },
          hub: { value: 0 },
        },
      },
      'hub-endpoints',
    ],
    [
      'no replica serves webhooks',
      {
        webhooks: { value: [webhook] },
        endpoints: {
          namespace: 'n',
          webhookService: 's',
          webhooks: { value: 0 },
          hub: { value: 1 },
        },
      },
      'webhook-endpoints',
    ],
    ['agents would trust nothing', { authorities: { value: 'x' } }, 'hub-authorities'],
  ] satisfies [string, Partial<ReachFacts>, string][])('%s', (_what, more, check) => {
    const found = reachFindings(facts(more));
    expect(levels(found)[check]).toBe('problem');
    expect(found.find((one) => one.check === check)?.fix).toBeDefined();
  });

  test('are well, or not checked', () => {
    expect(reachFindings(facts({})).map(({ level }) => level)).toEqual(['ok', 'ok']);
    const nothing = { webhooks: UNKNOWN, dryRun: UNKNOWN, authorities: UNKNOWN };
    expect(new Set(reachFindings(facts(nothing)).map(({ level }) => level))).toEqual(
      new Set(['not-checked']),
    );
  });
});

describe('JobSets', () => {
  const one = (name: string, more: Partial<JobSetFacts> = {}): JobSetFacts => ({
    name,
    managedBy: undefined,
    deletedMs: Number.NaN,
    finalizers: [],
    isOutdated: false,
    ...more,
  });
  const facts = (more: Partial<JobSetsFacts>): JobSetsFacts => ({
    definition: { value: { isOurs: true, missing: [] } },
    jobSets: { value: { items: [], isAll: true } },
    namespace: undefined,
    controllers: { value: [] },
    roles: { value: [] },
    isOnlyManaged: false,
    nowMs: 3_600_000,
    ...more,
  });

  test.each([
    [undefined, 'note'],
    [{ isOurs: false, missing: ['goodput'] }, 'problem'],
    [{ isOurs: true, missing: ['goodput'] }, 'problem'],
    [{ isOurs: true, missing: [] }, 'ok'],
  ])('have a definition: %j is %s', (value, level) => {
    expect(levels(jobSetsFindings(facts({ definition: { value } })))['definition']).toBe(level);
  });

  test('that the API server does not know need an installation', () => {
    const found = jobSetsFindings(facts({ jobSets: { value: undefined } }));
    expect(found.find(({ check }) => check === 'jobsets')).toMatchObject({
      level: 'note',
      text: 'this cluster does not know JobSets',
      fix: 'lockstep install',
    });
  });

  test('of others, stuck ones and outdated ones are named', () => {
    const items = [
      one('a/others', { managedBy: 'kueue.x-k8s.io/multikueue' }),
      one('a/ours', { managedBy: 'jobset.sigs.k8s.io/jobset-controller' }),
      one('a/also-ours', { managedBy: 'lockstep/jobset-controller' }),
      one('a/going', { deletedMs: 3_600_000 - 60_000 }),
      one('a/stuck', { deletedMs: 0, finalizers: ['x/y'] }),
      one('a/old', { isOutdated: true }),
    ];
    const found = jobSetsFindings(facts({ jobSets: { value: { items, isAll: true } } }));
    expect(textOf(found, 'managed-by-others')).toMatch(/: a\/others$/);
    expect(textOf(found, 'stuck-deletion')).toMatch(/: a\/stuck \(finalizers: x\/y\)$/);
    expect(textOf(found, 'definition-outdated')).toMatch(/: a\/old$/);
  });

  test('have another controller, beside which Lockstep runs', () => {
    const items = [one('a/unnamed'), one('a/ours', { managedBy: 'lockstep/jobset-controller' })];
    const found = jobSetsFindings(
      facts({
        isOnlyManaged: true,
        definition: { value: { isOurs: false, missing: ['goodput'] } },
        controllers: { value: ['it runs'] },
        roles: { value: ['jobset-manager-role'] },
        jobSets: { value: { items, isAll: true } },
      }),
    );
    expect(levels(found)).toMatchObject({ 'other-controller': 'ok', definition: 'note' });
    expect(levels(found)['other-roles']).toBeUndefined();
    expect(textOf(found, 'managed-by-others')).toMatch(/: a\/unnamed$/);
  });

  test('have another controller, or what it left', () => {
    const found = jobSetsFindings(
      facts({ controllers: { value: ['it runs'] }, roles: { value: ['jobset-manager-role'] } }),
    );
    expect(levels(found)).toMatchObject({ 'other-controller': 'problem', 'other-roles': 'note' });
  });
});
