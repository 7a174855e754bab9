import type { KubeList, KubeObject, Stored, StringMap } from '@lockstep/kube/meta.ts';
import { JOBS } from '@lockstep/kube/objects/job.ts';
import type { Node } from '@lockstep/kube/objects/node.ts';
import type { Resource } from '@lockstep/kube/resource.ts';
import type { ListOptions } from '@lockstep/kube/runtime/client/client.ts';
import { MemoryClient } from '@lockstep/kube/runtime/memory/memory-client.ts';
import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { failure } from '@lockstep/kube/status.ts';
import { forbidden, unsupportedMediaType } from '@lockstep/kube/status-errors.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import type { JobSetSpec } from '../../jobset/jobset.ts';
import { NODE_ANSWER_LIFETIME_MS } from './node-answers.ts';
import { createNodeFeatures, type NodeFeatures } from './node-features.ts';

const FEATURE = 'RestartAllContainersOnContainerExits';

/** Answers with the nodes of one set of labels, one page each. */
class Cluster extends MemoryClient {
  pages: Record<string, readonly (readonly (readonly string[])[])[]> = {};

  override list<T extends KubeObject>(
    _of: Resource<T>,
    { labelSelector = '', continue: token = '0' }: ListOptions = {},
  ): Promise<KubeList<Stored<T>>> {
    this.calls.push(`LIST ${labelSelector} ${token}`);
    const pages = this.pages[labelSelector] ?? [];
    const nodes = (pages[Number(token)] ?? []).map(
      (declaredFeatures): Node => ({
        apiVersion: 'v1',
        kind: 'Node',
        metadata: {},
        status: { declaredFeatures },
      }),
    );
    const next = Number(token) + 1;
    const more = next < pages.length ? { continue: `${next}` } : {};
    const list = { apiVersion: 'v1', kind: 'NodeList', metadata: more, items: nodes };
    return Promise.resolve(list as unknown as KubeList<Stored<T>>);
  }
}

let client: Cluster;
let clock: VirtualClock;
let features: NodeFeatures;

beforeEach(() => {
  client = new Cluster();
  clock = new VirtualClock();
  const logger = new MemoryLogger();
  features = createNodeFeatures({ client, clock, logger, namespace: 'lockstep-system' });
});

async function ask(...nodeSelectors: readonly StringMap[]): Promise<string | undefined> {
  const spec: JobSetSpec = {
    replicatedJobs: nodeSelectors.map((nodeSelector, i) => ({
      name: `w${i}`,
      template: { spec: { template: { spec: { containers: [], nodeSelector } } } },
    })),
  };
  const problem = await features.restartAllProblem(spec, new AbortController().signal);
  return problem && `${problem.why}${problem.dropsRules ? ', all of them' : ''}`;
}

describe('an API server', () => {
  test('that accepts the rule is asked now and then, and stores nothing', async () => {
    client.pages = { '': [[[FEATURE]]] };
    expect(await ask({})).toBeUndefined();
    expect(await ask({})).toBeUndefined();
    expect(client.calls).toHaveLength(2);
    expect(client.objects.size).toBe(0);
    await clock.advance(NODE_ANSWER_LIFETIME_MS);
    await ask({});
    expect(client.calls).toHaveLength(4);
  });

  test.each([
    [
      'refuses the action',
      failure('Invalid', 'invalid', {
        causes: [
          {
            reason: 'FieldValueNotSupported',
            message: 'Unsupported value: "RestartAllContainers"',
            field: 'spec.template.spec.containers[0].restartPolicyRules[0].action',
          },
        ],
      }),
      /^the API server refuses such restart rules \(feature gates ContainerRestartRules and .* 1\.35\)$/,
    ],
    [
      'is too old to know the field',
      failure(
        'InternalError',
        'failed to create typed patch object: .spec.template.spec.containers[name="worker"].restartPolicyRules: field not declared in schema',
      ),
      /^the API server drops restart rules .*, all of them$/,
    ],
    ['does not let us ask', forbidden(JOBS, 'x', 'no'), undefined],
    ['has no server-side apply', unsupportedMediaType([]), undefined],
  ])('that %s', async (_, error, expected) => {
    client.before = (verb) => {
      if (verb === 'PATCH') throw error;
    };
    const problem = await ask({});
    if (expected === undefined) expect(problem).toBeUndefined();
    else expect(problem).toMatch(expected);
  });

  test('that drops the rule', async () => {
    client.patch = (_of, _at, { patch }: { readonly patch?: unknown }) => {
      const job = structuredClone(patch) as {
        spec: { template: { spec: { containers: object[] } } };
      };
      job.spec.template.spec.containers = [{ name: 'worker' }];
      return Promise.resolve(job as never);
    };
    expect(await ask({})).toMatch(/^the API server drops restart rules .*, all of them$/);
  });

  test('that fails is asked again, and nothing is decided meanwhile', async () => {
    client.pages = { '': [[[FEATURE]]] };
    client.before = () => {
      throw failure('InternalError', 'etcd is slow');
    };
    await expect(ask({})).rejects.toThrow('etcd is slow');
    client.before = () => undefined;
    expect(await ask({})).toBeUndefined();
  });
});

describe('nodes', () => {
  test('one that can is enough, on whichever page', async () => {
    client.pages = { '': [[[], ['Other']], [[], [FEATURE]], [[]]] };
    expect(await ask({})).toBeUndefined();
    expect(client.calls.filter((call) => call.startsWith('LIST'))).toEqual(['LIST  0', 'LIST  1']);
  });

  test('are named by the labels that Pods ask for, if none of them can', async () => {
    client.pages = { '': [[[FEATURE]]], 'pool=old,zone=a': [[[], []]] };
    expect(await ask({}, { zone: 'a', pool: 'old' })).toBe(
      `no node with pool=old,zone=a declares the feature ${FEATURE}`,
    );
    expect(await ask({})).toBeUndefined();
  });

  test('of the whole cluster are read if no JobSet is given', async () => {
    client.pages = { '': [[[]]] };
    const { signal } = new AbortController();
    const problem = await features.restartAllProblem(undefined, signal);
    expect(problem?.why).toMatch(/^no node declares /);
  });

  test('that do not exist yet may be of any kind', async () => {
    expect(await ask({ pool: 'empty' })).toBeUndefined();
  });

  test('are not looked at without end', async () => {
    client.pages = { '': Array.from({ length: 100 }, () => [[]]) };
    expect(await ask({})).toBe(`no node declares the feature ${FEATURE}`);
    expect(client.calls.filter((call) => call.startsWith('LIST'))).toHaveLength(10);
  });
});
