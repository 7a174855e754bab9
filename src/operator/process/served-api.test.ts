import type { Client } from '@lockstep/kube/runtime/client/client.ts';
import { MemoryClient } from '@lockstep/kube/runtime/memory/memory-client.ts';
import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { type Transport, TransportError } from '@lockstep/kube/runtime/ports/transport.ts';
import { forbidden, unauthorized, unknownResource } from '@lockstep/kube/status-errors.ts';
import { expect, test } from 'vitest';
import { untilJobSetsAreServed } from './served-api.ts';

test('reports each reason why there are no JobSets once, with what to do, and then continues', async () => {
  const clock = new VirtualClock();
  const logger = new MemoryLogger();
  const answers: (Error | undefined)[] = [
    new TransportError('10.0.0.1: connection refused'),
    unauthorized(),
    forbidden(undefined, '', 'no'),
    forbidden(undefined, '', 'no'),
    unknownResource(),
    undefined,
  ];
  const memory = new MemoryClient();
  const list: Client['list'] = async () => {
    const answer = answers.shift();
    if (answer !== undefined) throw answer;
    return { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '1' }, items: [] };
  };
  const client = Object.assign(memory, { list });
  let isThere = false;
  const transport: Transport = {
    send: async () => {
      if (!isThere) throw new TransportError('10.0.0.1: no route');
      return { status: 403, headers: {}, body: Buffer.from('any answer will do') };
    },
  };
  const problems: (string | undefined)[] = [];
  let isServed = false;
  const served = untilJobSetsAreServed({
    client,
    transport,
    clock,
    logger,
    signal: new AbortController().signal,
    onProblem: (problem) => problems.push(problem),
  }).then(() => {
    isServed = true;
  });
  await clock.runUntil(() => problems.length > 0, 60_000);
  expect(answers, 'nothing that would be repeated for minutes was asked').toHaveLength(6);
  isThere = true;
  await clock.runUntil(() => isServed, 60_000);
  await served;
  expect(problems.map((problem) => problem?.split(':')[0])).toEqual([
    'the API server does not answer',
    'the API server does not answer',
    'the API server does not accept the credentials of the operator',
    'the operator may not list jobsets.jobset.x-k8s.io of jobset.x-k8s.io/v1alpha2',
    'the operator may not list jobsets.jobset.x-k8s.io of jobset.x-k8s.io/v1alpha2',
    'the API server does not know jobsets.jobset.x-k8s.io of jobset.x-k8s.io/v1alpha2',
    undefined,
  ]);
  expect(logger.records.filter(({ level }) => level === 'error')).toHaveLength(5);
  expect(problems[5]).toContain('lockstep install');
});
