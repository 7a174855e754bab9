/** A stock kubectl against the server over TLS; skipped if kubectl is not installed. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type HttpServer, startHttpServer } from '@lockstep/kube/runtime/adapters/http-server.ts';
import { nodeClock } from '@lockstep/kube/runtime/adapters/node-clock.ts';
import { systemRandom } from '@lockstep/kube/runtime/adapters/system-random.ts';
import {
  createCertificateAuthority,
  issueCertificate,
} from '@lockstep/kube/runtime/adapters/tls/certificates.ts';
import { handlerTransport } from '@lockstep/kube/runtime/memory/memory-transport.ts';
import { SILENT } from '@lockstep/kube/runtime/ports/logger.ts';
import type { HttpHandler } from '@lockstep/kube/runtime/ports/transport.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MemoryStorage } from '../memory/memory-storage.ts';
import { createTokenSigner } from './adapters/token-signer.ts';
import { type ApiServer, createApiServer } from './api-server.ts';

const KUBECTL = spawnSync('kubectl', ['version', '--client']).status === 0;
if (!KUBECTL) process.stderr.write('kubectl is not installed: its tests are skipped\n');

const MANIFEST = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: default}
---
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  restartPolicy: Never
  containers: [{name: main, image: none, command: [sleep, "1"]}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  completionMode: Indexed
  completions: 2
  parallelism: 2
  template:
    spec: {restartPolicy: Never, containers: [{name: main, image: none}]}
`;

const DEFINITION = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties: {size: {type: integer, description: How large it is.}}
      additionalPrinterColumns:
        - {name: Size, type: integer, jsonPath: .spec.size}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: one}
spec: {size: 7}
`;

/** A webhook that refuses, changes or warns of objects with certain names. */
const WEBHOOK = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: opinions}
webhooks:
  - name: opinions.example.com
    clientConfig: {url: "https://hooks.test/"}
    rules:
      - {operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [configmaps]}
    objectSelector: {matchLabels: {judged: "yes"}}
    sideEffects: None
    admissionReviewVersions: [v1]
`;

let directory: string;
let api: ApiServer;
let http: HttpServer;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'kubectl-'));
  api = createApiServer({
    storage: new MemoryStorage(),
    clock: nodeClock,
    random: systemRandom,
    logger: SILENT,
    tokenSigner: createTokenSigner(),
    kubelet: () => ({
      send: async (request) => ({ status: 200, headers: {}, body: Buffer.from(request.path) }),
    }),
    webhookTransport: () => handlerTransport(judge),
  });
  await api.start();
  const authority = createCertificateAuthority({ commonName: 'test', clock: nodeClock });
  const server = issueCertificate(authority, {
    commonName: 'server',
    ipAddresses: ['127.0.0.1'],
    usages: ['server'],
    days: 1,
  });
  const tls = { ...server, clientAuthority: authority.certificate };
  http = await startHttpServer({ handler: api.handler, host: '127.0.0.1', port: 0, tls });
  const client = issueCertificate(authority, {
    commonName: 'jane',
    organizations: ['dev'],
    usages: ['client'],
    days: 1,
  });
  writeFileSync(join(directory, 'config'), kubeconfig(authority.certificate, client));
  writeFileSync(join(directory, 'manifest.yaml'), MANIFEST);
  writeFileSync(join(directory, 'definition.yaml'), DEFINITION);
  writeFileSync(join(directory, 'webhook.yaml'), WEBHOOK);
});

const judge: HttpHandler = async ({ body }) => {
  const { request } = JSON.parse(Buffer.from(body ?? []).toString());
  const response = {
    uid: request.uid,
    allowed: request.name !== 'bad',
    warnings: [`${request.name} was judged`],
    status: { code: 403, reason: 'Forbidden', message: 'it is bad' },
  };
  const review = { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', response };
  return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(review)) };
};

afterAll(async () => {
  await api.close();
  await http.close();
  rmSync(directory, { recursive: true });
});

describe.skipIf(!KUBECTL)('kubectl', () => {
  it('finds its way around', async () => {
    expect(await kubectl('get', '--raw', '/readyz')).toBe('ok');
    expect(await kubectl('version')).toContain('Server Version: v1.36.3+lockstep');
    expect(await kubectl('auth', 'whoami')).toMatch(/Username +jane\nGroups +\[dev /);
    expect(await kubectl('auth', 'can-i', 'delete', 'nodes')).toBe('yes\n');
    const resources = await kubectl('api-resources', '--no-headers', '-o', 'wide');
    expect(resources).toMatch(/pods +po +v1 +true +Pod +create,delete,deletecollection,get/);
    expect(await kubectl('explain', 'job.spec.completions')).toMatch(
      /FIELD: completions <integer>/,
    );
  });

  it('applies, shows and changes objects', async () => {
    const apply = await kubectl('apply', '-f', 'manifest.yaml');
    expect(apply).toContain('pod/web created\njob.batch/train created');
    expect(await kubectl('apply', '-f', 'manifest.yaml')).toContain('pod/web unchanged');
    expect(await kubectl('get', 'pods')).toMatch(
      /^NAME +READY +STATUS +RESTARTS +AGE\nweb +0\/1 +Pending +0 +\d+s\n$/,
    );
    expect(await kubectl('get', 'pods', '-A', '-o', 'wide')).toMatch(
      /^NAMESPACE +NAME .* NODE +NOMINATED NODE +READINESS GATES\ndefault +web /,
    );
    expect(await kubectl('get', 'job,pod', '-o', 'name')).toBe('job.batch/train\npod/web\n');
    expect(await kubectl('get', 'pod', 'web', '-o', 'jsonpath={.status.phase}')).toBe('Pending');
    expect(await kubectl('get', 'pod', 'web', '-o', 'yaml')).toContain('kind: Pod\n');
    expect(await kubectl('get', 'pods', '-l', 'app=other')).toBe('');
    const patch = '{"metadata":{"labels":{"tier":"front"}}}';
    expect(await kubectl('patch', 'pod', 'web', '-p', patch)).toBe('pod/web patched\n');
    expect(await kubectl('label', 'pod', 'web', 'a=b')).toBe('pod/web labeled\n');
    expect(await kubectl('describe', 'pod', 'web')).toMatch(/Name: +web\n[\s\S]*Status: +Pending/);
    expect(await kubectl('describe', 'job', 'train')).toMatch(/Completion Mode: +Indexed/);
  });

  it('creates objects that it writes itself, in its own encoding', async () => {
    await kubectl('create', 'configmap', 'settings', '--from-literal=a=b');
    expect(await kubectl('get', 'cm', 'settings', '-o', 'jsonpath={.data.a}')).toBe('b');
    await kubectl('create', 'job', 'once', '--image=none', '--', 'echo', 'hello');
    const command = 'jsonpath={.spec.template.spec.containers[0].command}';
    expect(await kubectl('get', 'job', 'once', '-o', command)).toBe('["echo","hello"]');
    expect(await kubectl('create', 'token', 'default')).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    await kubectl('create', 'namespace', 'other');
    expect(await kubectl('get', 'ns', 'other')).toMatch(/other +Active/);
  });

  it('shows the logs that the node gives', async () => {
    await kubectl('run', 'logged', '--image=none', '--overrides={"spec":{"nodeName":"n1"}}');
    writeFileSync(
      join(directory, 'node.yaml'),
      'apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n',
    );
    await kubectl('create', '-f', 'node.yaml');
    expect(await kubectl('logs', 'logged', '--tail=5')).toBe(
      '/containerLogs/default/logged/logged?tailLines=5',
    );
  });

  it('serves custom resources as it serves its own', async () => {
    // kubectl looks up the object's kind before the definition exists, as on any cluster.
    await expect(kubectl('apply', '-f', 'definition.yaml')).rejects.toThrow(
      'ensure CRDs are installed first',
    );
    expect(await kubectl('apply', '-f', 'definition.yaml')).toContain(
      'widget.example.com/one created',
    );
    await kubectl('wait', '--for=condition=Established', 'crd/widgets.example.com');
    expect(await kubectl('get', 'widgets')).toMatch(/^NAME +SIZE\none +7\n$/);
    expect(await kubectl('explain', 'widget.spec')).toContain('How large it is.');
  });

  it('follows changes until what it waits for holds', async () => {
    await kubectl('create', 'configmap', 'flag', '--from-literal=done=no');
    const waited = kubectl('wait', '--for=jsonpath={.data.done}=yes', 'cm/flag', '--timeout=20s');
    await kubectl('patch', 'cm', 'flag', '--type=merge', '-p', '{"data":{"done":"yes"}}');
    expect(await waited).toBe('configmap/flag condition met\n');
  });

  it('shows errors in the words of Kubernetes', async () => {
    await expect(kubectl('get', 'pod', 'nope')).rejects.toThrow(
      'Error from server (NotFound): pods "nope" not found',
    );
    await expect(kubectl('delete', 'ns', 'default')).rejects.toThrow(
      'Error from server (Forbidden): namespaces "default" is forbidden',
    );
    await expect(kubectl('get', 'widgets', '--field-selector=spec.x=1')).rejects.toThrow(
      'field label not supported: spec.x',
    );
    const pod = '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},"spec":{"foo":1}}';
    writeFileSync(join(directory, 'bad.json'), pod);
    await expect(kubectl('create', '-f', 'bad.json')).rejects.toThrow(
      'strict decoding error: unknown field "spec.foo"',
    );
    await expect(kubectl('exec', 'web', '--', 'ls')).rejects.toThrow(
      'Error from server (BadRequest): pod web does not have a host assigned',
    );
  });

  it('deletes what it has made', async () => {
    expect(await kubectl('delete', '-f', 'manifest.yaml', '--wait=true')).toContain(
      'pod "web" deleted',
    );
    await expect(kubectl('get', 'pod', 'web')).rejects.toThrow('NotFound');
    await kubectl('delete', 'crd', 'widgets.example.com');
    await expect(kubectl('get', 'widgets')).rejects.toThrow('NotFound');
  });

  it('shows what admission webhooks say', async () => {
    await kubectl('create', '-f', 'webhook.yaml');
    expect(await kubectl('get', 'validatingwebhookconfigurations')).toMatch(
      /^NAME +WEBHOOKS +AGE\nopinions +1 +\d+s\n$/,
    );
    expect(await kubectl('explain', 'validatingwebhookconfiguration.webhooks.rules')).toMatch(
      /FIELD: rules <\[\]RuleWithOperations>/,
    );
    const create = (name: string, ...flags: readonly string[]): Promise<string> => {
      const metadata = { name, labels: { judged: 'yes' } };
      const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
      writeFileSync(join(directory, `${name}.json`), JSON.stringify(manifest));
      return kubectl('create', '-f', `${name}.json`, ...flags);
    };
    await expect(create('good', '--warnings-as-errors')).rejects.toThrow(
      /^Warning: good was judged\n.*1 warning received.*\nconfigmap\/good created/,
    );
    const denied = 'admission webhook "opinions.example.com" denied the request: it is bad';
    await expect(create('bad')).rejects.toThrow(
      `Warning: bad was judged\nError from server (Forbidden): error when creating "bad.json": ${denied}`,
    );
  });
});

describe.skipIf(!KUBECTL)('kubectl apply --server-side', () => {
  it('owns what it applies, and takes only by force what others have set', async () => {
    const file = configMap('owned', { a: '1', b: '2' });
    expect(await serverSide(file)).toBe('configmap/owned serverside-applied\n');
    expect(await serverSide(file)).toBe('configmap/owned serverside-applied\n');
    await kubectl('patch', 'cm', 'owned', '--type=merge', '-p', '{"data":{"a":"9"}}');
    await expect(serverSide(file)).rejects.toThrow(
      'Apply failed with 1 conflict: conflict with "kubectl-patch" using v1: .data.a',
    );
    await serverSide(file, '--force-conflicts');
    expect(await dataOf('owned')).toBe('{"a":"1","b":"2"}');
    await serverSide(configMap('owned', { b: '2' }));
    expect(await dataOf('owned')).toBe('{"b":"2"}');
  });

  it('shows who owns what only to those who ask', async () => {
    const file = configMap('shown', { a: '1' });
    await serverSide(file, '--field-manager=somebody');
    expect(await kubectl('get', 'cm', 'shown', '-o', 'yaml')).not.toContain('managedFields');
    const shown = await kubectl('get', 'cm', 'shown', '-o', 'yaml', '--show-managed-fields');
    expect(shown).toContain('f:a: {}');
    expect(shown).toMatch(/manager: somebody\n +operation: Apply\n/);
  });

  it('takes over what kubectl has applied itself, with all that goes with it', async () => {
    await kubectl('apply', '-f', configMap('turned', { a: '1', b: '2', c: '3' }));
    await serverSide(configMap('turned', { a: '1', b: '3' }));
    expect(await dataOf('turned')).toBe('{"a":"1","b":"3"}');
    const managers = 'jsonpath={.metadata.managedFields[*].manager}';
    expect(await kubectl('get', 'cm', 'turned', '-o', managers)).toBe(
      'kubectl-last-applied kubectl',
    );
    expect(await kubectl('apply', '-f', configMap('turned', { a: '1', b: '3' }))).toContain(
      'configmap/turned',
    );
  });

  it('tells what would change, and changes nothing', async () => {
    await serverSide(configMap('same', { a: '1' }));
    const file = configMap('same', { a: '2' });
    await expect(kubectl('diff', '--server-side', '-f', file)).rejects.toThrow(
      /- {2}a: "1"\n\+ {2}a: "2"/,
    );
    const dryRun = await serverSide(file, '--dry-run=server');
    expect(dryRun).toBe('configmap/same serverside-applied (server dry run)\n');
    expect(await dataOf('same')).toBe('{"a":"1"}');
  });

  it('applies Pods, Jobs and definitions', async () => {
    await serverSide('manifest.yaml');
    expect(await serverSide('manifest.yaml')).toContain('job.batch/train serverside-applied');
    await serverSide('definition.yaml');
    await kubectl('wait', '--for=condition=Established', 'crd/widgets.example.com');
    expect(await serverSide('definition.yaml')).toContain(
      'widget.example.com/one serverside-applied',
    );
    expect(await kubectl('get', 'widgets', '-o', 'name')).toBe('widget.example.com/one\n');
  });
});

function configMap(name: string, data: object): string {
  const file = `${name}.json`;
  const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
  writeFileSync(join(directory, file), JSON.stringify(manifest));
  return file;
}

function serverSide(file: string, ...flags: readonly string[]): Promise<string> {
  return kubectl('apply', '--server-side', '-f', file, ...flags);
}

function dataOf(name: string): Promise<string> {
  return kubectl('get', 'cm', name, '-o', 'jsonpath={.data}');
}

const KUBECTL_TIMEOUT_MS = 30_000;

/** What the command prints. Rejects with its error output if it fails. */
function kubectl(...args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const config = join(directory, 'config');
    const options = { cwd: directory, timeout: KUBECTL_TIMEOUT_MS };
    const env = { ...process.env, KUBECONFIG: config, HOME: directory };
    execFile('kubectl', args, { ...options, env }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${stderr}${stdout}`, { cause: error }));
    });
  });
}

function kubeconfig(authority: string, client: { certificate: string; key: string }): string {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'test',
        cluster: { server: http.url, 'certificate-authority-data': base64(authority) },
      },
    ],
    users: [
      {
        name: 'jane',
        user: {
          'client-certificate-data': base64(client.certificate),
          'client-key-data': base64(client.key),
        },
      },
    ],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'jane' } }],
    'current-context': 'test',
  });
}
