import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NODES_MAX, parseUpFlags, type UpFlags } from './up-options.ts';

function parse(flags: Partial<UpFlags>) {
  return parseUpFlags({
    stateDir: '/state',
    nodes: '1',
    agentChannel: 'Auto',
    nodeMonitorGracePeriod: '40s',
    dashboardPort: '8475',
    ...flags,
  });
}

function nodesOf(flags: Partial<UpFlags>) {
  const parsed = parse(flags);
  return 'options' in parsed ? parsed.options.nodes : [];
}

test('one node without labels by default', () => {
  expect(nodesOf({})).toEqual([{ name: 'node-0', labels: {} }]);
});

test.each([
  ['8475', 8475],
  ['0', 0],
  ['off', undefined],
])('--dashboard-port %s', (dashboardPort, expected) => {
  const parsed = parse({ dashboardPort });
  expect('options' in parsed && parsed.options.dashboardPort).toBe(expected);
});

test('nodes are spread over the values of each topology, racks within zones', () => {
  const nodes = nodesOf({ nodes: '8', topology: ['rack=4', 'example.com/zone=2'] });
  expect(nodes.map(({ name }) => name)).toEqual([...Array(8).keys()].map((i) => `node-${i}`));
  const racks = nodes.map(({ labels }) => labels['rack']);
  expect(racks.join(' ')).toBe('rack-0 rack-0 rack-1 rack-1 rack-2 rack-2 rack-3 rack-3');
  const zones = nodes.map(({ labels }) => labels['example.com/zone']);
  expect(zones.join(' ')).toBe('zone-0 zone-0 zone-0 zone-0 zone-1 zone-1 zone-1 zone-1');
});

test('every node gives its containers the requested environment', () => {
  const modes = nodesOf({ nodes: '2', podNamespaces: 'Off' }).map((node) => node.podNamespaces);
  expect(modes).toEqual(['Off', 'Off']);
});

test.each<[string, Partial<UpFlags>, RegExp]>([
  ['no node', { nodes: '0' }, /^--nodes is "0", allowed is an integer from 1 to 100$/],
  ['no time', { timeout: '0' }, /^--timeout is "0", allowed are seconds from 1 to 3600$/],
  ['a time with a unit', { timeout: '40s' }, /^--timeout is "40s", allowed are seconds from/],
  ['no port', { dashboardPort: '65536' }, /^--dashboard-port is "65536", allowed are off and wh/],
  ['a word', { dashboardPort: 'on' }, /^--dashboard-port is "on", allowed are off and whole n/],
  ['no state directory', { stateDir: '' }, /^--state-dir is "", allowed is the path of a/],
  ['too many nodes', { nodes: '101' }, /^--nodes is "101"/],
  ['no channel', { agentChannel: 'api' }, /^--agent-channel is "api", allowed are Hub, Auto, API$/],
  ['no namespaces', { podNamespaces: 'On' }, /^--pod-namespaces is "On", allowed are Auto, Off$/],
  ['no number', { nodes: '2x' }, /^--nodes is "2x"/],
  ['no count', { topology: ['rack'] }, /^--topology is "rack", allowed is LABEL=COUNT/],
  ['more values than nodes', { nodes: '2', topology: ['rack=3'] }, /from 1 to the number of nodes/],
  ['no value', { topology: ['rack=0'] }, /^--topology is "rack=0"/],
  [
    'no time between restarts',
    { maxContainerRestartPeriod: '500ms' },
    /^--max-container-restart-period is "500ms", allowed is a duration from 1s to 5m/,
  ],
  ['too long a time', { maxContainerRestartPeriod: '5m1s' }, /^--max-container-restart-period/],
  ['no label', { topology: ['=1'] }, /^--topology is "=1", allowed is the key of a label/],
  ['a wrong label', { topology: ['a b=1'] }, /name part must consist of/],
  [
    'a label of every node',
    { topology: ['kubernetes.io/hostname=1'] },
    /but those that every node/,
  ],
  ['a label twice', { topology: ['rack=1', 'rack=1'] }, /allowed is each label once/],
  ['too long a label', { topology: [`${'a'.repeat(63)}=1`] }, /shorter label/],
])('refused: %s', (_, flags, message) => {
  const parsed = parse(flags);
  expect('errors' in parsed ? parsed.errors : []).toEqual([expect.stringMatching(message)]);
});

test.each<[Partial<UpFlags>, object]>([
  [{ maxContainerRestartPeriod: '10s' }, { maxContainerRestartPeriodMs: 10_000 }],
  [{ reducedCrashLoopDecay: true }, { reduceDefaultDecay: true }],
  [
    { maxContainerRestartPeriod: '5m', reducedCrashLoopDecay: true },
    { maxContainerRestartPeriodMs: 300_000, reduceDefaultDecay: true },
  ],
])('every node slows crash loops down by %j', (flags, backoff) => {
  const nodes = nodesOf({ ...flags, nodes: '2' });
  expect(nodes.map((node) => node.backoff)).toEqual([backoff, backoff]);
});

test('every wrong flag is named', () => {
  const parsed = parse({ nodes: 'x', topology: ['rack', 'zone=-1'] });
  expect('errors' in parsed ? parsed.errors.length : 0).toBe(3);
});

test('values are all used, and evenly', () => {
  const sizes = fc
    .integer({ min: 1, max: NODES_MAX })
    .chain((nodes) =>
      fc.record({ nodes: fc.constant(nodes), values: fc.integer({ min: 1, max: nodes }) }),
    );
  fc.assert(
    fc.property(sizes, ({ nodes, values }) => {
      const counts = new Map<string, number>();
      for (const { labels } of nodesOf({ nodes: `${nodes}`, topology: [`r=${values}`] })) {
        const value = labels['r'] ?? '';
        counts.set(value, (counts.get(value) ?? 0) + 1);
      }
      expect(counts.size).toBe(values);
      expect(Math.max(...counts.values()) - Math.min(...counts.values())).toBeLessThanOrEqual(1);
    }),
  );
});
