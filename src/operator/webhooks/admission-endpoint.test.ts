import { invalid, invalidValue } from '@lockstep/kube/field-error.ts';
import type { AdmissionReview } from '@lockstep/kube/objects/admission-webhooks.ts';
import { applyJsonPatch, parseJsonPatch } from '@lockstep/kube/patch/json-patch.ts';
import { VirtualClock } from '@lockstep/kube/runtime/memory/virtual-clock.ts';
import { sleep } from '@lockstep/kube/runtime/ports/clock.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { HttpRequest } from '@lockstep/kube/runtime/ports/transport.ts';
import type { Status } from '@lockstep/kube/status.ts';
import { describe, expect, it } from 'vitest';
import { admissionEndpoint } from './admission-endpoint.ts';
import type { AdmissionHandler } from './admission-handler.ts';

const OBJECT = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { a: 1 } };
const REQUEST = {
  uid: '705ab4f5-6393-11e8-b7cc-42010a800002',
  kind: { group: '', version: 'v1', kind: 'Pod' },
  resource: { group: '', version: 'v1', resource: 'pods' },
  name: 'p',
  namespace: 'ns',
  operation: 'CREATE',
  userInfo: { username: 'admin' },
  object: OBJECT,
  oldObject: null,
  dryRun: false,
  options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
};

const ALLOWING: AdmissionHandler = async () => ({ kind: 'Allowed' });

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** Sends `body` to a webhook with this handler. */
async function send(
  handler: AdmissionHandler,
  body: unknown,
  over: Partial<HttpRequest> = {},
  clock = new VirtualClock(),
): Promise<Answer> {
  const handlers = new Map([['/hook', handler]]);
  const endpoint = admissionEndpoint({ handlers, clock, logger: SILENT });
  const response = await endpoint({
    method: 'POST',
    path: '/hook?timeout=3s',
    headers: { 'content-type': 'application/json' },
    body: body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body)),
    signal: new AbortController().signal,
    ...over,
  });
  const bytes = response.body instanceof Uint8Array ? response.body : Buffer.of();
  return { status: response.status, body: JSON.parse(Buffer.from(bytes).toString()) };
}

function reviewOf(request: unknown): unknown {
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request };
}

async function decision(handler: AdmissionHandler): Promise<AdmissionReview['response']> {
  const { status, body } = await send(handler, reviewOf(REQUEST));
  expect(status).toBe(200);
  expect(body).toMatchObject({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' });
  const { response } = body as AdmissionReview;
  expect(response?.uid).toBe(REQUEST.uid);
  return response;
}

describe('an admission endpoint', () => {
  it('allows without a patch what its handler does not change', async () => {
    const allowed = { uid: REQUEST.uid, allowed: true };
    expect(await decision(ALLOWING)).toEqual(allowed);
    const same: AdmissionHandler = async ({ object }) => ({
      kind: 'Allowed',
      ...(object === undefined ? {} : { object: structuredClone(object) }),
    });
    expect(await decision(same)).toEqual(allowed);
  });

  it('makes a JSON patch of what its handler changes', async () => {
    const changed = { ...OBJECT, metadata: { name: 'p', labels: { 'a/b': 'c' } }, spec: {} };
    const response = await decision(async () => ({ kind: 'Allowed', object: changed }));
    expect(response).toMatchObject({ allowed: true, patchType: 'JSONPatch' });
    const patch: unknown = JSON.parse(Buffer.from(response?.patch ?? '', 'base64').toString());
    expect(patch).toHaveLength(2);
    expect(applyJsonPatch(OBJECT, parseJsonPatch(patch))).toEqual(changed);
  });

  it('passes warnings on with any decision', async () => {
    const warnings = ['one', 'two'];
    const allowed = await decision(async () => ({ kind: 'Allowed', warnings }));
    expect(allowed).toMatchObject({ allowed: true, warnings });
    const status = { message: 'no', code: 403 };
    const denied = await decision(async () => ({ kind: 'Denied', status, warnings }));
    expect(denied).toMatchObject({ allowed: false, warnings });
  });

  it('refuses with the whole status that its handler throws', async () => {
    const errors = [invalidValue('spec.a', 1, 'too small'), invalidValue('spec.b', 'x', 'too x')];
    const response = await decision(async () => {
      throw invalid({ group: 'jobset.x-k8s.io', kind: 'JobSet' }, 'train', errors);
    });
    expect(response).toEqual({
      uid: REQUEST.uid,
      allowed: false,
      status: {
        metadata: {},
        status: 'Failure',
        reason: 'Invalid',
        code: 422,
        message:
          'JobSet.jobset.x-k8s.io "train" is invalid: [spec.a: Invalid value: 1: too small, spec.b: Invalid value: "x": too x]',
        details: {
          name: 'train',
          group: 'jobset.x-k8s.io',
          kind: 'JobSet',
          causes: [
            {
              reason: 'FieldValueInvalid',
              message: 'Invalid value: 1: too small',
              field: 'spec.a',
            },
            {
              reason: 'FieldValueInvalid',
              message: 'Invalid value: "x": too x',
              field: 'spec.b',
            },
          ],
        },
      },
    });
  });

  it('refuses with 500 when its handler fails', async () => {
    const response = await decision(async () => {
      throw new Error('boom 100%');
    });
    expect(response).toMatchObject({
      allowed: false,
      status: {
        code: 500,
        reason: 'InternalError',
        message: 'Internal error occurred: boom 100%',
      },
    });
  });

  it.each([
    ['3s', 3_000],
    ['1h', 30_000],
    ['soon', 10_000],
  ])('gives its handler the time that the API server has: %s', async (timeout, ms) => {
    const clock = new VirtualClock();
    let sent: Answer | undefined;
    const slow: AdmissionHandler = async (_request, signal) => {
      await sleep(clock, 3_600_000, signal);
      return { kind: 'Allowed' };
    };
    const path = `/hook?timeout=${timeout}`;
    const sending = send(slow, reviewOf(REQUEST), { path }, clock).then((answer) => {
      sent = answer;
    });
    await clock.advance(ms - 1);
    expect(sent).toBeUndefined();
    await clock.advance(1);
    await sending;
    expect(sent?.body).toMatchObject({
      response: {
        allowed: false,
        status: { code: 500, message: expect.stringContaining(`${ms}`) },
      },
    });
  });

  it('gives handlers null as absent, and the rest as it was asked', async () => {
    let seen: unknown;
    await send(async (request) => {
      seen = request;
      return { kind: 'Allowed' };
    }, reviewOf(REQUEST));
    const { oldObject: _, ...rest } = REQUEST;
    expect(seen).toEqual({ ...rest, subResource: '' });
  });

  it.each<[string, unknown, string]>([
    ['nothing', Buffer.of(), 'the request has no body'],
    ['no JSON', Buffer.from('{"a":'), 'it is not JSON'],
    ['no text', Buffer.from([0x22, 0xff, 0x22]), 'it is not JSON'],
    ['a list', [], 'it is not an object'],
    [
      'something very deep',
      Buffer.from(`{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`),
      'deeper than 1000 levels',
    ],
    [
      'another version',
      { apiVersion: 'admission.k8s.io/v1beta1', kind: 'AdmissionReview', request: REQUEST },
      '"admission.k8s.io/v1beta1 AdmissionReview", expected admission.k8s.io/v1 AdmissionReview',
    ],
    ['another kind', { apiVersion: 'v1', kind: 'Pod' }, '"v1 Pod"'],
    ['no request', reviewOf(undefined), 'request: expected an object'],
    ['no uid', reviewOf({ ...REQUEST, uid: '' }), 'request.uid: Required value'],
    ['a uid that is no text', reviewOf({ ...REQUEST, uid: 7 }), 'request.uid: expected a string'],
    [
      'an unknown operation',
      reviewOf({ ...REQUEST, operation: 'READ' }),
      'request.operation: "READ", expected one of CREATE, UPDATE, DELETE, CONNECT',
    ],
    [
      'a kind that is text',
      reviewOf({ ...REQUEST, kind: 'Pod' }),
      'request.kind: expected an object',
    ],
    [
      'an object that is none',
      reviewOf({ ...REQUEST, object: [1] }),
      'request.object: expected an object',
    ],
    [
      'an object without metadata',
      reviewOf({ ...REQUEST, object: { apiVersion: 'v1', kind: 'Pod' } }),
      'request.object.metadata: expected an object',
    ],
    [
      'names of prototypes',
      Buffer.from('{"__proto__":{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}}'),
      'expected admission.k8s.io/v1 AdmissionReview',
    ],
  ])('refuses to read %s', async (_what, body, why) => {
    const { status, body: refusal } = await send(ALLOWING, body);
    expect(status).toBe(400);
    expect(refusal).toMatchObject({ kind: 'Status', reason: 'BadRequest', code: 400 });
    expect((refusal as Status).message).toContain(why);
  });

  it.each<[string, Partial<HttpRequest>, number]>([
    ['another path', { path: '/' }, 404],
    ['a path that looks like a host', { path: '//hook' }, 404],
    ['another method', { method: 'GET' }, 405],
    ['another media type', { headers: { 'content-type': 'text/plain' } }, 415],
    ['no media type', { headers: {} }, 415],
    [
      'a body that is packed',
      { headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' } },
      415,
    ],
  ])('is not there for %s', async (_what, over, code) => {
    expect((await send(ALLOWING, reviewOf(REQUEST), over)).status).toBe(code);
  });

  it('takes a media type with parameters', async () => {
    const headers = { 'content-type': 'Application/JSON; charset=utf-8' };
    expect((await send(ALLOWING, reviewOf(REQUEST), { headers })).status).toBe(200);
  });
});
