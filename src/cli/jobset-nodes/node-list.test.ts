import type { Stored } from '@lockstep/kube/meta.ts';
import { describe, expect, it } from 'vitest';
import { storedJobSet } from '../../../test/fixtures/jobset-objects.ts';
import type { JobSet } from '../../jobset/jobset.ts';
import type { AvoidedNode, JobSetStatus } from '../../jobset/jobset-status.ts';
import { forgetRequest } from '../../jobset/policies/forget-nodes.ts';
import { parseNodes } from './command.ts';
import { entriesOf, nodeLines, nodeList, withEarlier } from './node-list.ts';

const NOW_MS = Date.parse('2026-01-01T01:00:00Z');

function left(node: string, time: string): AvoidedNode {
  return {
    node,
    time,
    reason: 'its preflight did not pass',
    pod: `train-w-0-5-${node}`,
    worker: 'worker 5 of w',
  };
}

const OLD = left('a', '2026-01-01T00:00:00.000000Z');
const NEW = left('b', '2026-01-01T00:50:00.000000Z');

function jobSetWith(status: JobSetStatus, annotations = {}): Stored<JobSet> {
  return { ...storedJobSet({}, { annotations }), status };
}

describe('the list', () => {
  it('says of each node since when, why, and who left it', () => {
    expect(nodeLines(nodeList(jobSetWith({ avoidedNodes: [NEW, OLD] })), NOW_MS)).toEqual([
      'NODE   AGE   MEMBER          POD             WHY',
      'b      10m   worker 5 of w   train-w-0-5-b   its preflight did not pass',
      'a      60m   worker 5 of w   train-w-0-5-a   its preflight did not pass',
    ]);
  });

  it('may be empty', () => {
    expect(nodeLines(nodeList(jobSetWith({})), NOW_MS)).toEqual([
      'JobSet default/train avoids no node',
    ]);
  });

  it('has nothing that could change the terminal', () => {
    const [, line] = nodeLines(
      nodeList(jobSetWith({ avoidedNodes: [{ ...OLD, reason: '\u001b[2J' }] })),
      NOW_MS,
    );
    expect(line).not.toContain('\u001b');
  });
});

describe('what is to be forgotten', () => {
  const jobSet = jobSetWith({ avoidedNodes: [NEW, OLD] });

  it('are the entries of the named nodes, or all', () => {
    expect(entriesOf(jobSet, ['a'])).toEqual({ entries: [OLD] });
    expect(entriesOf(jobSet, 'All')).toEqual({ entries: [NEW, OLD] });
    expect(entriesOf(jobSetWith({}), 'All')).toEqual({ entries: [] });
  });

  it.each<[string, Stored<JobSet>, string]>([
    ['is not avoided', jobSet, 'does not avoid c; it avoids b, a; nothing was changed'],
    ['is not, as none is', jobSetWith({}), 'does not avoid c; it avoids none'],
    [
      'would never be used again',
      jobSetWith({
        conditions: [
          { type: 'Failed', status: 'True', reason: 'r', message: '', lastTransitionTime: '' },
        ],
      }),
      'has finished, and makes no Pods',
    ],
    [
      'is the business of another controller',
      { ...jobSet, spec: { ...jobSet.spec, managedBy: 'kueue.x-k8s.io/multikueue' } },
      'is managed by kueue.x-k8s.io/multikueue',
    ],
  ])('is nothing if a node %s', (_, of, problem) => {
    expect(entriesOf(of, ['c'])).toEqual({ problem: expect.stringContaining(`train ${problem}`) });
  });

  it('keeps what an earlier request names, as long as it is listed', () => {
    const gone = left('c', '2026-01-01T00:10:00.000000Z');
    const annotations = { 'lockstep/forget-nodes': forgetRequest([NEW, gone]) };
    expect(withEarlier(jobSetWith({ avoidedNodes: [NEW, OLD] }, annotations), [OLD])).toEqual([
      NEW,
      OLD,
    ]);
    expect(withEarlier(jobSet, [OLD])).toEqual([OLD]);
  });
});

it.each([
  [{ forget: ['a_b'] }, '--forget is "a_b"'],
  [{ forget: ['a'], all: true }, '--forget and --all exclude each other'],
  [{ timeout: '0' }, '--timeout is "0", allowed are whole seconds from 1 to 3600'],
  [{ output: 'wide' }, '--output is "wide", allowed are json, yaml'],
])('%j is a usage error', (flags, error) => {
  const parsed = parseNodes('train', { timeout: '60', ...flags });
  expect('errors' in parsed && parsed.errors.join('\n')).toContain(error);
});
