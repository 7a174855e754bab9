import { describe, expect, it } from 'vitest';
import { TestServer } from './test-server.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const PODS = '/api/v1/namespaces/default/pods';
const JOBS = '/apis/batch/v1/namespaces/default/jobs';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/default/leases';

function pod(name: string, more: object = {}, metadata: object = {}): object {
  const containers = [{ name: 'main', image: 'none' }];
  return { metadata: { name, ...metadata }, spec: { containers, ...more } };
}

function job(name: string): object {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'x' }] } };
  return { metadata: { name }, spec: { template } };
}

describe('creating', () => {
  it('fills in what the server owns and drops what a client may not set', async () => {
    const server = await TestServer.start();
    const { body, status } = await server.post(PODS, {
      ...pod('a', { terminationGracePeriodSeconds: 5 }),
      metadata: { name: 'a', uid: 'mine', generation: 9, creationTimestamp: null },
      status: { phase: 'Running' },
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: 'default', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: {
        terminationGracePeriodSeconds: 5,
        restartPolicy: 'Always',
        dnsPolicy: 'ClusterFirst',
      },
      status: { phase: 'Pending', qosClass: 'BestEffort' },
    });
    expect(body['metadata']).not.toMatchObject({ uid: 'mine' });
  });

  it('makes names of generateName', async () => {
    const server = await TestServer.start();
    const { body } = await server.post(MAPS, { metadata: { generateName: 'x-' } });
    expect(body['metadata']).toMatchObject({
      name: expect.stringMatching(/^x-[bcdfghjklmnpqrstvwxz2456789]{5}$/),
    });
  });

  it('gives a Job the selector and the labels by which its Pods are found', async () => {
    const server = await TestServer.start();
    const { body } = await server.post(JOBS, job('j'));
    const { uid } = body['metadata'] as { uid: string };
    expect(body['spec']).toMatchObject({
      completions: 1,
      parallelism: 1,
      backoffLimit: 6,
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } },
      template: {
        metadata: { labels: { 'batch.kubernetes.io/job-name': 'j', 'controller-uid': uid } },
      },
    });
  });

  it('takes empty texts of a client for fields that have defaults', async () => {
    const server = await TestServer.start();
    const ports = [{ containerPort: 80, protocol: '' }];
    const empty = { imagePullPolicy: '', terminationMessagePolicy: '', ports };
    const containers = [{ name: 'c', image: 'i:1', ...empty }];
    const spec = { restartPolicy: 'Never', dnsPolicy: '', containers };
    const created = await server.post('/apis/batch/v1/namespaces/default/jobs', {
      metadata: { name: 'j' },
      spec: { template: { spec } },
    });
    const filled = { imagePullPolicy: 'IfNotPresent', ports: [{ protocol: 'TCP' }] };
    expect(created.body).toMatchObject({
      spec: { template: { spec: { dnsPolicy: 'ClusterFirst', containers: [filled] } } },
    });
  });

  it('changes nothing in a dry run', async () => {
    const server = await TestServer.start();
    const dry = await server.post(`${MAPS}?dryRun=All`, { metadata: { name: 'a' } });
    expect(dry).toMatchObject({ status: 201, body: { metadata: { name: 'a' } } });
    expect(dry.body['metadata']).not.toHaveProperty('resourceVersion');
    expect((await server.get(`${MAPS}/a`)).status).toBe(404);
  });

  it('takes YAML', async () => {
    const server = await TestServer.start();
    const yaml = 'metadata: {name: a}\ndata:\n  x: |\n    text\n';
    const created = await server.send('POST', MAPS, yaml, { 'content-type': 'application/yaml' });
    expect(created.body).toMatchObject({ data: { x: 'text\n' } });
  });

  it('puts nothing into a namespace that is going', async () => {
    const server = await TestServer.start();
    await server.post('/api/v1/namespaces', { metadata: { name: 'n' } });
    await server.delete('/api/v1/namespaces/n');
    const refused = await server.post('/api/v1/namespaces/n/configmaps', {
      metadata: { name: 'a' },
    });
    expect(refused.body).toMatchObject({
      code: 403,
      details: { causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }] },
    });
  });
});

/** Texts of kube-apiserver 1.36.3 for the same requests. */
const REFUSALS: readonly {
  readonly what: string;
  readonly body: unknown;
  readonly path?: string;
  readonly code: number;
  readonly message: string;
}[] = [
  {
    what: 'text that is no JSON',
    body: '{bad',
    code: 400,
    message:
      "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: invalid character 'b' looking for beginning of object key string ({bad)",
  },
  {
    what: 'an empty body',
    body: '',
    code: 400,
    message:
      "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)",
  },
  {
    what: 'unknown and repeated fields under strict validation',
    path: `${MAPS}?fieldValidation=Strict`,
    body: '{"metadata":{"name":"a","name":"b","foo":1},"foo":{"x":1}}',
    code: 400,
    message:
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "metadata.name", unknown field "metadata.foo", unknown field "foo"',
  },
  {
    what: 'a name that is none',
    body: { metadata: { name: 'A_' } },
    code: 422,
    message: `ConfigMap "A_" is invalid: metadata.name: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
  },
  {
    what: 'no name',
    body: { metadata: {} },
    code: 422,
    message:
      'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
  },
  {
    what: 'another namespace than that of the path',
    body: { metadata: { name: 'a', namespace: 'other' } },
    code: 400,
    message:
      'the namespace of the provided object does not match the namespace sent on the request',
  },
  {
    what: 'a namespace that does not exist',
    path: '/api/v1/namespaces/nope/configmaps',
    body: { metadata: { name: 'a' } },
    code: 404,
    message: 'namespaces "nope" not found',
  },
  {
    what: 'a dry run of another kind',
    path: `${MAPS}?dryRun=x`,
    body: { metadata: { name: 'a' } },
    code: 422,
    message:
      'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["x"]: supported values: "All"',
  },
];

describe('a refused creation', () => {
  it.each(REFUSALS)('names what is wrong with $what', async ({ path, body, code, message }) => {
    const server = await TestServer.start();
    const refused = await server.post(path ?? MAPS, body);
    expect(refused.body).toMatchObject({ kind: 'Status', status: 'Failure', code, message });
    expect((await server.get(MAPS)).body['items']).toEqual([]);
  });

  it('says that the name is taken', async () => {
    const server = await TestServer.start();
    await server.post(MAPS, { metadata: { name: 'a' } });
    expect((await server.post(MAPS, { metadata: { name: 'a' } })).body).toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
      message: 'configmaps "a" already exists',
    });
  });

  it('is answered 413 if it is too large', async () => {
    const server = await TestServer.start();
    const refused = await server.post(MAPS, 'x'.repeat(3 * 1024 * 1024 + 1));
    expect(refused.body).toMatchObject({ code: 413, reason: 'RequestEntityTooLarge' });
  });
});

describe('updating', () => {
  it('is refused for any resourceVersion but the present one', async () => {
    const server = await TestServer.start();
    const { body } = await server.post(MAPS, { metadata: { name: 'a' }, data: { x: '1' } });
    const first = await server.put(`${MAPS}/a`, { ...body, data: { x: '2' } });
    expect(first.status).toBe(200);
    const second = await server.put(`${MAPS}/a`, { ...body, data: { x: '3' } });
    expect(second.body).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
    });
  });

  it('that changes nothing is not written, and watches show nothing', async () => {
    const server = await TestServer.start();
    const { body } = await server.post(MAPS, { metadata: { name: 'a' }, data: { x: '1' } });
    const watch = server.watch(`${MAPS}?watch=1&resourceVersion=${versionOf(body)}`);
    const again = await server.put(`${MAPS}/a`, { metadata: { name: 'a' }, data: { x: '1' } });
    expect(versionOf(again.body)).toBe(versionOf(body));
    const patched = await server.patch(`${MAPS}/a`, 'merge', { data: { x: '1' } });
    expect(versionOf(patched.body)).toBe(versionOf(body));
    expect(await watch.take()).toEqual([]);
    watch.close();
  });

  it('counts generations of the spec only, and keeps status for its subresource', async () => {
    const server = await TestServer.start();
    await server.post(JOBS, job('j'));
    const labelled = await server.patch(`${JOBS}/j`, 'strategic', {
      metadata: { labels: { a: 'b' } },
      status: { active: 3 },
    });
    expect(labelled.body).toMatchObject({ metadata: { generation: 1 }, status: {} });
    const grown = await server.patch(`${JOBS}/j`, 'strategic', { spec: { parallelism: 2 } });
    expect(grown.body).toMatchObject({ metadata: { generation: 2 } });
    const status = await server.patch(`${JOBS}/j/status`, 'merge', {
      spec: { parallelism: 9 },
      status: { active: 2 },
    });
    expect(status.body).toMatchObject({
      metadata: { generation: 2 },
      spec: { parallelism: 2 },
      status: { active: 2 },
    });
  });

  it('creates a Lease that is not there, and needs its version otherwise', async () => {
    const server = await TestServer.start();
    const lease = { metadata: { name: 'l' }, spec: { holderIdentity: 'me' } };
    expect((await server.put(`${LEASES}/l`, lease)).status).toBe(201);
    expect((await server.put(`${LEASES}/l`, lease)).body).toMatchObject({
      code: 422,
      message:
        'leases.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    });
    expect((await server.put(`${MAPS}/a`, { metadata: { name: 'a' } })).status).toBe(404);
  });

  it('patches in three ways and refuses others', async () => {
    const server = await TestServer.start();
    await server.post(PODS, pod('p', {}, { labels: { a: '1' } }));
    const path = `${PODS}/p`;
    const json = await server.patch(path, 'json', [
      { op: 'test', path: '/metadata/labels/a', value: '1' },
      { op: 'add', path: '/metadata/labels/b', value: '2' },
    ]);
    expect(json.body['metadata']).toMatchObject({ labels: { a: '1', b: '2' } });
    const merge = await server.patch(path, 'merge', { metadata: { labels: { a: null } } });
    expect(merge.body['metadata']).toMatchObject({ labels: { b: '2' } });
    const image = { spec: { containers: [{ name: 'main', image: 'other' }] } };
    const strategic = await server.patch(path, 'strategic', image);
    expect(strategic.body['spec']).toMatchObject({
      containers: [{ name: 'main', image: 'other' }],
    });
    const failed = await server.patch(path, 'json', [
      { op: 'test', path: '/metadata/labels/b', value: '3' },
    ]);
    expect(failed.body).toMatchObject({ code: 422, reason: 'Invalid' });
    const binary = await server.send('PATCH', path, 'spec: {}', {
      'content-type': 'application/apply-patch+cbor',
    });
    expect(binary.body).toMatchObject({ code: 415, reason: 'UnsupportedMediaType' });
  });
});

describe('deleting', () => {
  it('removes at once what nothing holds, and says so', async () => {
    const server = await TestServer.start();
    await server.post(MAPS, { metadata: { name: 'a' } });
    const gone = await server.delete(`${MAPS}/a`);
    expect(gone.body).toMatchObject({
      status: 'Success',
      details: { name: 'a', kind: 'configmaps' },
    });
    expect((await server.get(`${MAPS}/a`)).status).toBe(404);
  });

  it('waits for finalizers, and takes no new ones', async () => {
    const server = await TestServer.start();
    await server.post(MAPS, { metadata: { name: 'a', finalizers: ['example.com/hold'] } });
    const marked = await server.delete(`${MAPS}/a`);
    expect(marked.body['metadata']).toMatchObject({
      deletionTimestamp: '2026-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 0,
    });
    const more = await server.patch(`${MAPS}/a`, 'merge', {
      metadata: { finalizers: ['example.com/hold', 'example.com/more'] },
    });
    expect(more.body).toMatchObject({ code: 422, message: /no new finalizers can be added/ });
    await server.patch(`${MAPS}/a`, 'merge', { metadata: { finalizers: null } });
    expect((await server.get(`${MAPS}/a`)).status).toBe(404);
  });

  it.each([
    ['Foreground', ['foregroundDeletion']],
    ['Orphan', ['orphan']],
  ])('%s leaves the dependents to the garbage collector', async (policy, finalizers) => {
    const server = await TestServer.start();
    await server.post(JOBS, job('j'));
    const marked = await server.delete(`${JOBS}/j`, { propagationPolicy: policy });
    expect(marked.body['metadata']).toMatchObject({ finalizers, generation: 2 });
    await server.delete(`${JOBS}/j`, { propagationPolicy: 'Background' });
    expect((await server.get(`${JOBS}/j`)).status).toBe(404);
  });

  it('leaves a scheduled Pod to its node, which may only be hurried', async () => {
    const server = await TestServer.start();
    await server.post(PODS, pod('p', { nodeName: 'n', terminationGracePeriodSeconds: 20 }));
    await server.delete(`${PODS}/p`);
    const longer = await server.delete(`${PODS}/p`, { gracePeriodSeconds: 60 });
    expect(longer.body['metadata']).toMatchObject({
      deletionTimestamp: '2026-01-01T00:00:20Z',
      deletionGracePeriodSeconds: 20,
    });
    const shorter = await server.delete(`${PODS}/p`, { gracePeriodSeconds: 2 });
    expect(shorter.body['metadata']).toMatchObject({
      deletionTimestamp: '2026-01-01T00:00:02Z',
      deletionGracePeriodSeconds: 2,
    });
    await server.delete(`${PODS}/p`, { gracePeriodSeconds: 0 });
    expect((await server.get(`${PODS}/p`)).status).toBe(404);
  });

  it('holds to its preconditions', async () => {
    const server = await TestServer.start();
    await server.post(MAPS, { metadata: { name: 'a' } });
    const refused = await server.delete(`${MAPS}/a`, { preconditions: { uid: 'x' } });
    expect(refused.body).toMatchObject({
      code: 409,
      message: expect.stringMatching(/^Operation cannot be fulfilled on ConfigMap "a": the UID in/),
    });
    expect((await server.get(`${MAPS}/a`)).status).toBe(200);
  });

  it('takes a collection by its labels', async () => {
    const server = await TestServer.start();
    for (const [name, app] of [
      ['a', 'x'],
      ['b', 'x'],
      ['c', 'y'],
    ]) {
      await server.post(MAPS, { metadata: { name, labels: { app } } });
    }
    await server.delete(`${MAPS}?labelSelector=app%3Dx`);
    expect((await server.get(MAPS)).body['items']).toMatchObject([{ metadata: { name: 'c' } }]);
  });

  it('keeps the namespaces that the cluster needs', async () => {
    const server = await TestServer.start();
    expect((await server.delete('/api/v1/namespaces/default')).body).toMatchObject({
      code: 403,
      message: 'namespaces "default" is forbidden: this namespace may not be deleted',
    });
  });

  it('lets a namespace go when its finalizer is taken away', async () => {
    const server = await TestServer.start();
    await server.post('/api/v1/namespaces', { metadata: { name: 'n' } });
    const { body } = await server.delete('/api/v1/namespaces/n');
    expect(body).toMatchObject({ status: { phase: 'Terminating' } });
    const finalized = await server.put('/api/v1/namespaces/n/finalize', { ...body, spec: {} });
    expect(finalized.status).toBe(200);
    expect((await server.get('/api/v1/namespaces/n')).status).toBe(404);
  });
});

describe('Pods', () => {
  it('are bound to a node once', async () => {
    const server = await TestServer.start();
    await server.post(PODS, pod('p'));
    const binding = { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n1' } };
    expect((await server.post(`${PODS}/p/binding`, binding)).status).toBe(201);
    expect((await server.get(`${PODS}/p`)).body).toMatchObject({
      spec: { nodeName: 'n1' },
      status: { conditions: [{ type: 'PodScheduled', status: 'True' }] },
    });
    expect((await server.post(`${PODS}/p/binding`, binding)).body).toMatchObject({
      code: 409,
      message:
        'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n1"',
    });
  });

  it('are found by fields, and by none that there is not', async () => {
    const server = await TestServer.start();
    await server.post(PODS, pod('a', { nodeName: 'n1' }));
    await server.post(PODS, pod('b'));
    const on = await server.get('/api/v1/pods?fieldSelector=spec.nodeName%3Dn1');
    expect(on.body['items']).toMatchObject([{ metadata: { name: 'a' } }]);
    expect((await server.get('/api/v1/pods?fieldSelector=spec.foo%3D1')).body).toMatchObject({
      code: 400,
      message: 'field label not supported: spec.foo',
    });
  });

  it('are evicted by deletion', async () => {
    const server = await TestServer.start();
    await server.post(PODS, pod('p'));
    const evicted = await server.post(`${PODS}/p/eviction`, { metadata: { name: 'p' } });
    expect(evicted.body).toMatchObject({ status: 'Success', code: 201 });
    expect((await server.get(`${PODS}/p`)).status).toBe(404);
  });
});

describe('Events', () => {
  it('are the same objects in both groups', async () => {
    const server = await TestServer.start();
    const events = '/apis/events.k8s.io/v1/namespaces/default/events';
    const created = await server.post(events, {
      metadata: { name: 'e' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'test',
      reportingInstance: 'test-0',
      action: 'Testing',
      reason: 'Tested',
      regarding: { kind: 'Pod', namespace: 'default', name: 'p' },
      note: 'all is well',
      type: 'Normal',
    });
    expect(created.status).toBe(201);
    expect((await server.get('/api/v1/namespaces/default/events/e')).body).toMatchObject({
      lastTimestamp: null,
      apiVersion: 'v1',
      involvedObject: { kind: 'Pod', name: 'p' },
      message: 'all is well',
      reportingComponent: 'test',
    });
    const selected = await server.get(`${events}?fieldSelector=regarding.name%3Dp`);
    expect(selected.body).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      items: [{ note: 'all is well' }],
    });
  });
});

function versionOf(body: Readonly<Record<string, unknown>>): unknown {
  return (body['metadata'] as { resourceVersion?: string }).resourceVersion;
}
