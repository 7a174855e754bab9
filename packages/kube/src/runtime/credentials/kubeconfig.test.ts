import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ClusterAccessError } from './cluster-access.ts';
import { accessOf, mergeKubeconfigs, parseKubeconfig } from './kubeconfig.ts';

const PEM = '-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n';
const DATA = Buffer.from(PEM).toString('base64');

function parse(text: string, file = 'config') {
  return parseKubeconfig(text, file, (path) => `/home/u/.kube/${path}`);
}

function access(text: string, context?: string) {
  return accessOf(parse(text), 'config', context);
}

/** A whole kubeconfig with these fields in its cluster, its user and its context. */
function config(cluster: string, user = 'token: abc', context = ''): string {
  return [
    'apiVersion: v1',
    'kind: Config',
    'current-context: here',
    `contexts: [{name: here, context: {cluster: c, user: u, ${context}}}]`,
    `clusters: [{name: c, cluster: {${cluster}}}]`,
    `users: [{name: u, user: {${user}}}]`,
  ].join('\n');
}

const SERVER = 'server: "https://host:6443"';

describe('a kubeconfig', () => {
  it('says where the server is and who we are there', () => {
    const cluster = `${SERVER}, certificate-authority-data: ${DATA}, tls-server-name: kubernetes`;
    const user = `client-certificate: tls/me.crt, client-key-data: ${DATA}`;
    expect(access(config(cluster, user, 'namespace: team'))).toEqual({
      server: 'https://host:6443',
      serverName: 'kubernetes',
      insecureSkipVerify: false,
      certificateAuthority: { pem: PEM },
      clientCertificate: { file: '/home/u/.kube/tls/me.crt' },
      clientKey: { pem: PEM },
      credentials: undefined,
      pluginConfig: undefined,
      namespace: 'team',
      context: 'here',
    });
  });

  it.each([
    ['token: abc', { token: 'abc' }],
    ['tokenFile: token', { tokenFile: '/home/u/.kube/token' }],
    ['token: abc, tokenFile: token', { tokenFile: '/home/u/.kube/token' }],
    ['', undefined],
  ])('takes a token from {%s}', (user, credentials) => {
    expect(access(config(SERVER, user)).credentials).toEqual(credentials);
  });

  it('prefers data over the file beside it, and takes null for absent, as kubectl does', () => {
    const cluster = `${SERVER}, certificate-authority: ca.crt, certificate-authority-data: ${DATA}`;
    expect(access(config(cluster, 'token: null'))).toMatchObject({
      certificateAuthority: { pem: PEM },
      credentials: undefined,
      namespace: 'default',
    });
  });

  it('may name another context than the current one', () => {
    const text = config(SERVER).replace('name: here', 'name: there');
    expect(access(text, 'there').server).toBe('https://host:6443');
  });

  it('merges with others: the first to define a name or the current context wins', () => {
    const first = parse('clusters: [{name: c, cluster: {server: "https://first"}}]', 'first');
    const second = parse(config('server: "https://second"'), 'second');
    const merged = mergeKubeconfigs([first, second]);
    expect(accessOf(merged, 'first:second').server).toBe('https://first');
  });
});

const V1 = 'client.authentication.k8s.io/v1';
const V1BETA1 = 'client.authentication.k8s.io/v1beta1';

function plugin(exec: string, more = '') {
  return access(config(SERVER, `exec: {${exec}}${more}`)).credentials;
}

describe('a credential plugin', () => {
  const SMALL = `apiVersion: ${V1BETA1}, command: aws`;

  it('has defaults for all but its version and its command', () => {
    const expected = {
      place: 'config: users[0].user.exec',
      apiVersion: V1BETA1,
      command: 'aws',
      args: [],
      env: {},
      installHint: undefined,
      provideClusterInfo: false,
      interactiveMode: 'IfAvailable',
    };
    expect(plugin(SMALL)).toEqual({ plugin: expected });
    expect(plugin(`${SMALL}, args: null, env: null, provideClusterInfo: null`)).toEqual({
      plugin: expected,
    });
  });

  it('says what to run, how, and what for', () => {
    const exec = [
      `apiVersion: ${V1}`,
      'command: gke-gcloud-auth-plugin',
      'args: [get-token, --region, ""]',
      'env: [{name: A, value: b}, {name: EMPTY}, {name: A, value: last}]',
      'installHint: "get it at a place"',
      'provideClusterInfo: true',
      'interactiveMode: Never',
    ];
    expect(plugin(exec.join(', '))).toEqual({
      plugin: {
        place: 'config: users[0].user.exec',
        apiVersion: V1,
        command: 'gke-gcloud-auth-plugin',
        args: ['get-token', '--region', ''],
        env: { A: 'last', EMPTY: '' },
        installHint: 'get it at a place',
        provideClusterInfo: true,
        interactiveMode: 'Never',
      },
    });
  });

  it.each([
    ['aws', 'aws'],
    ['./aws', '/home/u/.kube/./aws'],
    ['bin/aws', '/home/u/.kube/bin/aws'],
  ])('is found by the command %s at %s', (command, path) => {
    const exec = `apiVersion: ${V1BETA1}, command: ${command}`;
    expect(plugin(exec)).toMatchObject({ plugin: { command: path } });
  });

  it.each([
    ['a token', ', token: abc', { token: 'abc' }],
    ['a token file', ', tokenFile: t', { tokenFile: '/home/u/.kube/t' }],
    ['a certificate', ', client-certificate: a, client-key: b', undefined],
  ])('is not run for a user who has %s', (_, more, credentials) => {
    expect(plugin(SMALL, more)).toEqual(credentials);
  });

  it('gets what the cluster has for it alone', () => {
    const extensions =
      'extensions: [{name: other}, {name: client.authentication.k8s.io/exec, extension: {a: [1]}}]';
    const user = `exec: {${SMALL}}`;
    expect(access(config(`${SERVER}, ${extensions}`, user)).pluginConfig).toEqual({ a: [1] });
  });

  it.each([
    ['command: aws', `.apiVersion: required: ${V1} or ${V1BETA1}`],
    [
      'apiVersion: client.authentication.k8s.io/v1alpha1, command: aws',
      `.apiVersion: "client.authentication.k8s.io/v1alpha1": must be ${V1} or ${V1BETA1}; your provider's command writes a newer kubeconfig`,
    ],
    [`apiVersion: ${V1BETA1}`, '.command: required'],
    [
      `apiVersion: ${V1}, command: a`,
      `.interactiveMode: required by ${V1}: Never, IfAvailable, Always`,
    ],
    [
      `${SMALL}, interactiveMode: Sometimes`,
      '.interactiveMode: "Sometimes": must be Never or IfAvailable or Always',
    ],
    [`${SMALL}, args: get-token`, '.args: must be a list'],
    [`${SMALL}, args: [a, 5]`, '.args[1]: must be a string'],
    [`${SMALL}, env: [{value: b}]`, '.env[0].name: required'],
    [`${SMALL}, env: {A: b}`, '.env: must be a list'],
    [`${SMALL}, provideClusterInfo: "yes"`, '.provideClusterInfo: "yes": must be true or false'],
  ])('of {%s} is refused', (exec, message) => {
    const refused = `config: users[0].user.exec${message}`;
    expect(() => plugin(exec)).toThrow(new ClusterAccessError(refused));
    // Even if it would not be run.
    expect(() => plugin(exec, ', token: abc')).toThrow(new ClusterAccessError(refused));
  });

  it('is refused a configuration that contains itself', () => {
    const extensions =
      'extensions: [{name: client.authentication.k8s.io/exec, extension: &a {a: *a}}]';
    expect(() => access(config(`${SERVER}, ${extensions}`))).toThrow(
      'config: clusters[0].cluster.extensions[0].extension: must be JSON',
    );
  });
});

describe('a wrong kubeconfig', () => {
  it.each([
    ['a: [', /^config: must be YAML: .* at line 1, column/s],
    ['- a', 'config: the file: must be a map'],
    ['text', 'config: the file: must be a map'],
    ['', 'config: current-context: required; contexts: none'],
    ['contexts: x', 'config: contexts: "x": must be a list'],
    ['contexts: [x]', 'config: contexts[0]: "x": must be a map'],
    ['contexts: [{context: {}}]', 'config: contexts[0].name: required'],
    ['current-context: 5', 'config: current-context: 5: must be a string'],
    [
      'current-context: a\ncontexts: [{name: b}, {name: c}]',
      'config: context "a": not found; contexts: "b", "c"',
    ],
    [
      'current-context: a\ncontexts: [{name: a, context: {cluster: d}}]',
      'config: contexts[0].context.cluster: "d": no entry of clusters has this name',
    ],
    [config(''), 'config: clusters[0].cluster.server: required'],
    [
      config('server: host'),
      'config: clusters[0].cluster.server: "host": must be an http:// or https:// URL',
    ],
    [
      config(`${SERVER}, insecure-skip-tls-verify: "no"`),
      'config: clusters[0].cluster.insecure-skip-tls-verify: "no": must be true or false',
    ],
    [
      config(`${SERVER}, certificate-authority: ca, insecure-skip-tls-verify: true`),
      /insecure-skip-tls-verify: true: must not be set beside a certificate authority/,
    ],
    [config(`${SERVER}, proxy-url: "http://p"`), /cluster\.proxy-url: proxies are not supported/],
    [
      config(SERVER, 'client-certificate: a'),
      'config: users[0].user.client-key: a client certificate and its key go together',
    ],
    [
      config(SERVER, 'auth-provider: {name: gcp}'),
      /users\[0\]\.user\.auth-provider: Kubernetes 1\.26 removed .* a credential plugin \(exec\)/,
    ],
    [
      config(SERVER, 'auth-provider: {name: gcp}, exec: {command: a}'),
      /users\[0\]\.user\.auth-provider: /,
    ],
    [config(SERVER, 'username: me, password: x'), /users\[0\]\.user\.username: /],
    [config(SERVER, 'as: root'), /users\[0\]\.user\.as: impersonation/],
  ])('%j is named', (text, message) => {
    expect(() => access(text)).toThrow(ClusterAccessError);
    expect(() => access(text)).toThrow(message);
  });

  it.each([
    'secret',
    config(SERVER).replace('users: [', 'users: [secret, '),
    config(SERVER).replace('users: [{name: u, user: {token: abc}}]', 'users: {token: secret}'),
    config(SERVER, 'token: [secret]'),
    config(SERVER, 'tokenFile: {token: secret}'),
    config(SERVER, 'exec: secret'),
    config(SERVER, `exec: {apiVersion: ${V1BETA1}, command: a, args: --password=secret}`),
    config(SERVER, `exec: {apiVersion: ${V1BETA1}, command: a, args: [{secret: 1}]}`),
    config(SERVER, `exec: {apiVersion: ${V1BETA1}, command: a, env: [PASSWORD=secret]}`),
    config(SERVER, `exec: {apiVersion: ${V1BETA1}, command: a, env: [{name: A, value: [secret]}]}`),
  ])('never shows what may be a secret: %s', (text) => {
    let message = '';
    try {
      access(text);
    } catch (error) {
      message = error instanceof ClusterAccessError ? error.message : '';
    }
    expect(message).toMatch(/^config: (the file|users\S*): must be/);
    expect(message).not.toContain('secret');
  });

  it('never shows a key in an error', () => {
    const secret = Buffer.from('not PEM, and secret').toString('base64');
    const user = `client-certificate-data: ${DATA}, client-key-data: ${secret}`;
    expect(() => access(config(SERVER, user))).toThrow(
      /^config: users\[0\]\.user\.client-key-data: must be a PEM text in base64$/,
    );
  });

  it('of any form is an error of its own kind, never another', () => {
    const field = fc.constantFrom(
      'current-context',
      'contexts',
      'clusters',
      'users',
      'name',
      'context',
      'cluster',
      'user',
      'server',
      'token',
      'exec',
      'command',
      'extensions',
    );
    const { tree } = fc.letrec<{ tree: unknown; leaf: unknown }>((tie) => ({
      leaf: fc.constantFrom(null, 5, true, 'a', 'https://a', []),
      tree: fc.oneof(
        { depthSize: 'medium' },
        tie('leaf'),
        fc.dictionary(field, tie('tree')),
        fc.array(tie('tree'), { maxLength: 3 }),
      ),
    }));
    fc.assert(
      fc.property(
        fc.oneof(
          tree.map((value) => JSON.stringify(value)),
          fc.string(),
        ),
        (text) => {
          try {
            access(text);
          } catch (error) {
            expect(error).toBeInstanceOf(ClusterAccessError);
          }
        },
      ),
    );
  });
});
