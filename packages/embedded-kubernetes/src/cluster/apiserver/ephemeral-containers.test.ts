import { beforeEach, expect, it } from 'vitest';
import { TestServer } from './test-server.ts';

const PODS = '/api/v1/namespaces/default/pods';
const EPHEMERAL = `${PODS}/a/ephemeralcontainers`;
const LOOK = { name: 'look', image: 'sh', command: ['sh'] };

let server: TestServer;

beforeEach(async () => {
  server = await TestServer.start();
  const spec = { containers: [{ name: 'main', image: 'none' }] };
  await server.post(PODS, { metadata: { name: 'a' }, spec });
});

const add = (...containers: readonly object[]) =>
  server.patch(EPHEMERAL, 'strategic', { spec: { ephemeralContainers: containers } });

it('are added through their subresource, with defaults, as a new generation of the Pod', async () => {
  const { status, body } = await add(LOOK);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    kind: 'Pod',
    metadata: { generation: 2 },
    spec: {
      containers: [{ name: 'main' }],
      ephemeralContainers: [
        { ...LOOK, imagePullPolicy: 'Always', terminationMessagePolicy: 'File' },
      ],
    },
  });
  await add({ ...LOOK, name: 'again', targetContainerName: 'main' });
  const { body: read } = await server.get(EPHEMERAL);
  const { spec } = read as { spec: { ephemeralContainers: { name: string }[] } };
  expect(spec.ephemeralContainers.map(({ name }) => name).sort()).toEqual(['again', 'look']);
});

it('change nothing else of the Pod, and come from nowhere else', async () => {
  const { body } = await server.patch(EPHEMERAL, 'merge', {
    metadata: { labels: { a: 'b' } },
    spec: { ephemeralContainers: [LOOK], activeDeadlineSeconds: 5 },
  });
  expect(body).not.toMatchObject({ metadata: { labels: { a: 'b' } } });
  expect(body).not.toMatchObject({ spec: { activeDeadlineSeconds: 5 } });
  const other = await server.patch(`${PODS}/a`, 'strategic', {
    spec: { ephemeralContainers: [{ ...LOOK, name: 'other' }] },
  });
  expect(other.status).toBe(422);
});

it.each<[string, object, string]>([
  [
    'a policy',
    { restartPolicy: 'Always' },
    '[0].restartPolicy: Forbidden: cannot be set for an Ephemeral Container',
  ],
  [
    'rules',
    { restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [1] } }] },
    '[0].restartPolicyRules: Forbidden: cannot be set for an Ephemeral Container',
  ],
  [
    'ports',
    { ports: [{ containerPort: 80 }] },
    '[0].ports: Forbidden: cannot be set for an Ephemeral Container',
  ],
  [
    'a target that is not there',
    { targetContainerName: 'z' },
    '[0].targetContainerName: Not found: "z"',
  ],
  ['the name of another container', { name: 'main' }, '[0].name: Duplicate value: "main"'],
])('are refused with %s', async (_, more, problem) => {
  const { status, body } = await add({ ...LOOK, ...more });
  expect(status).toBe(422);
  expect(body['message']).toContain(`spec.ephemeralContainers${problem}`);
});

it.each<[string, (containers: object[]) => object[]]>([
  ['removed', () => []],
  ['changed', ([first]) => [{ ...first, command: ['other'] }]],
])('may not be %s any more', async (what, change) => {
  const { body } = await add(LOOK);
  const { spec } = body as { spec: { ephemeralContainers: object[] } };
  const wanted = {
    ...body,
    spec: { ...spec, ephemeralContainers: change(spec.ephemeralContainers) },
  };
  const { status, body: answer } = await server.put(EPHEMERAL, wanted);
  expect(status).toBe(422);
  expect(answer['message']).toContain(
    `spec.ephemeralContainers: Forbidden: existing ephemeral containers "look" may not be ${what}`,
  );
});

it('are not found if the Pod does not exist', async () => {
  const { status } = await server.patch(`${PODS}/z/ephemeralcontainers`, 'merge', {});
  expect(status).toBe(404);
});
