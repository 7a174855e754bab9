/**
 * Compares the embedded API server with a real one, field by field. `recorded/api-server.json`
 * holds the answers of kube-apiserver 1.36.3 to the script of `api-requests.ts` (`record.ts`
 * records it). With `LOCKSTEP_TEST_KUBECONFIG`, that server is compared with the recording too.
 */
import { readFileSync } from 'node:fs';
import { createTokenSigner, TestServer } from '@lockstep/embedded-kubernetes/in-memory';
import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import { createHttpTransport } from '@lockstep/kube/runtime/adapters/http-transport.ts';
import { describe, expect, it } from 'vitest';
import { startApi } from '../integration/api-server.fixture.ts';
import { KUBERNETES, unlikeRecorded } from '../kubernetes.ts';
import { playScript, type RecordedAnswer, removeTraces, sendVia } from './api-answers.ts';

const file = new URL('recorded/api-server.json', import.meta.url);
const recorded = JSON.parse(readFileSync(file, 'utf8')) as readonly RecordedAnswer[];

const OUR_READER = 'Kubernetes repeats what Go’s decoder says of its own types.';
const OUR_ACTIONS = 'We know two actions more.';
const NO_PROTECTION = 'The finalizer is taken away by a controller that does not run here.';
const GO_COMPARISON = 'Kubernetes shows a comparison of Go structures.';

/** Answers in which only the prose may differ, and why. */
const OTHER_TEXTS: Readonly<Record<string, string>> = {
  'a list as body': OUR_READER,
  'another kind': OUR_READER,
  'another version': OUR_READER,
  'a wrong type': OUR_READER,
  'merge patch to a wrong type': OUR_READER,
  'an unknown accept': 'We answer in JSON and YAML only.',
  'update with another UID': 'Kubernetes names a key and an error of etcd.',
  'JSON patch whose test fails': 'We say what failed.',
  'JSON patch of a missing path': 'We say what failed.',
  'bad restart rules': OUR_ACTIONS,
  'a Pod: an unknown action': OUR_ACTIONS,
  'a Pod: no action': OUR_ACTIONS,
  'a Pod: an unknown action, of an init container': OUR_ACTIONS,
  'a Pod: no action, of an init container': OUR_ACTIONS,
  'a Pod: privileges that contradict': 'Kubernetes shows a Go structure.',
  'a Pod: a claim of resources of no kind': 'Kubernetes shows a Go structure.',
  'a Pod: claims of resources of one name, of two kinds': 'Kubernetes shows a Go structure.',
  'a Pod that changes its node selector': GO_COMPARISON,
  'a Pod that gets other restart rules': GO_COMPARISON,
  'a Pod that gets another policy of a container': GO_COMPARISON,
  'a Pod that gets another policy of a Pod': GO_COMPARISON,
  'a Pod that gets another grace period': GO_COMPARISON,
  'a template that changes on a Job that is not suspended': 'Kubernetes shows a Go structure.',
  'the image of a suspended Job': 'Kubernetes shows a Go structure.',
  'beside whom a suspended Job runs': 'Kubernetes shows a Go structure.',
  'metadata of one, of a list': 'Kubernetes names a type of Go.',
  'metadata of a list, of one': 'Kubernetes names a type of Go.',
  'may I do both': 'Kubernetes shows a Go structure.',
  'an apply with a wrong type': 'Kubernetes shows a Go structure.',
  'an apply that is no YAML': 'We say what our reader of YAML says.',
};

/** Answers that may differ, and why. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'a Pod: an amount that is none': 'Kubernetes does not say which amount it is.',
  'a Pod: a stop signal without a system':
    'The feature gate of the field is off, so it is dropped.',
  'a Pod: a system that needs other fields': 'Nothing here runs Windows.',
  'a Pod: an unknown system': 'We name the field that is wrong, not the one around it.',
  'a volume claim': 'The finalizer comes from the volume controller, which alone can remove it.',
  'a PodGroup': NO_PROTECTION,
  'a PodGroup of its own': NO_PROTECTION,
  'a Widget with an empty map':
    'Kubernetes makes a null of a map whose entries go, and refuses that; we leave it out.',
  'a watch of a table and its end': 'The row of a bookmark is of no object: its cells are empty.',
  'resize what is not there': 'Pods have no such subresource here.',
  'an Event without what it needs': 'Kubernetes names the group under which it stores Events.',
};

describe('the API server answers as kube-apiserver to', async () => {
  const server = await TestServer.start({ tokenSigner: createTokenSigner() });
  const answers = await playScript(sendVia(server.transport));
  const byName = new Map(answers.map((answer) => [answer.name, answer]));

  it.each(recorded.map((answer) => [answer.name, answer] as const))('%s', (name, expected) => {
    const answer = byName.get(name);
    if (name in EXCEPTIONS) expect(answer).not.toEqual(expected);
    else if (name in OTHER_TEXTS) {
      expect(answer).not.toEqual(expected);
      expect(withoutProse(answer)).toEqual(withoutProse(expected));
    } else expect(answer).toEqual(expected);
  });

  it('nothing but what was recorded', () => {
    expect(answers.map(({ name }) => name)).toEqual(recorded.map(({ name }) => name));
  });

  it('all that is excepted', () => {
    for (const name of [...Object.keys(OTHER_TEXTS), ...Object.keys(EXCEPTIONS)]) {
      expect(byName.has(name), name).toBe(true);
    }
  });
});

it.skipIf(KUBERNETES === undefined)(
  'a real API server answers as recorded',
  async ({ skip }) => {
    const { client, access, stop } = await startApi();
    const why = await unlikeRecorded(client);
    await stop();
    skip(why !== undefined, why);
    const transport = createHttpTransport(access);
    const send = sendVia(transport);
    let answers: readonly RecordedAnswer[];
    try {
      answers = await playScript(send);
    } finally {
      await removeTraces(send);
      transport.close();
    }
    const withoutChance = ({ name, ...answer }: RecordedAnswer): unknown =>
      name in OTHER_TEXTS ? withoutProse(answer) : answer;
    expect(answers.map(withoutChance)).toEqual(recorded.map(withoutChance));
  },
  120_000,
);

/** The answer without its messages, whose words are not part of the API. */
function withoutProse(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutProse);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([name]) => name !== 'message');
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutProse(member)]));
}
