/**
 * The files of a release, and its images as a node would unpack them. Their programs start in an
 * otherwise empty root. The agent, installed beside a worker, supervises it in a root without a C
 * library, a shell or a loader.
 */

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { JOBS } from '@lockstep/kube/objects/job.ts';
import { LEASES } from '@lockstep/kube/objects/lease.ts';
import { PODS } from '@lockstep/kube/objects/pod.ts';
import { until } from '@lockstep/kube/until.fixture.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { injectAgent } from '../../src/jobset/injection/agent-injection.ts';
import { JOBSETS } from '../../src/jobset/jobset.ts';
import { AGENT_DIRECTORY, ENV_FOR_WORKER_PREFIX, EPOCH } from '../../src/jobset/names.ts';
import { defaultAgentImage } from '../../src/operator/configuration/object-names.ts';
import { IMAGE_NAMES, type ImageName } from '../../tools/image/images.ts';
import { machineArchitecture } from '../../tools/image/oci-archive.ts';
import { NODE_VERSION } from '../../tools/node-release.ts';
import { SOURCE_ARCHIVE_FILE, WHEEL_FILE } from '../../tools/python-package.ts';
import { PLUGIN_PROGRAM } from '../../tools/release/krew.ts';
import { CHECKSUMS_FILE, writeRelease } from '../../tools/release/release.ts';
import {
  type ApiUnderTest,
  createAccount,
  installJobSets,
  removeAccount,
  startApi,
  tokenOf,
} from './api-server.fixture.ts';

const LIMIT_MS = 60_000;
/** Time to unpack and compress 90 MB twice, on a busy machine. */
const PREPARATION_MS = 240_000;
const MAX_CONTENT_BYTES = 130_000_000;
const FAST = 1;
const BASE_URL = 'https://example.com/lockstep/';

/** With user namespaces, every user may change the root. */
const canChangeRoot = spawnSync('unshare', inRoot('/', ['/bin/true'])).status === 0;

/** Arguments of `unshare`, which then executes the program. */
function inRoot(root: string, argv: readonly string[]): readonly string[] {
  return ['--map-root-user', `--root=${root}`, ...argv];
}

let folder: string;
let files: readonly string[];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lockstep-images-'));
  files = await writeRelease(join(folder, 'release'), FAST, [machineArchitecture()], BASE_URL);
  for (const name of IMAGE_NAMES) unpack(name);
}, PREPARATION_MS);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { version } = packageJson;

function releaseFile(name: string): string {
  return join(folder, 'release', name);
}

function archiveOf(name: ImageName): string {
  return releaseFile(`lockstep-${name}-${version}-${machineArchitecture()}.tar`);
}

function rootOf(name: ImageName): string {
  return join(folder, name);
}

/** Acts as a container runtime: unpacks each layer over the one before. */
function unpack(name: ImageName): void {
  const blobs = join(folder, `${name}.blobs`);
  for (const directory of [blobs, rootOf(name)]) mkdirSync(directory);
  execFileSync('tar', ['-xf', archiveOf(name), '-C', blobs]);
  for (const layer of savedImage(name).Layers) {
    execFileSync('tar', ['-xzf', join(blobs, layer), '-C', rootOf(name)]);
  }
}

interface SavedImage {
  readonly RepoTags: readonly string[];
  readonly Layers: readonly string[];
}

function savedImage(name: ImageName): SavedImage {
  const path = join(folder, `${name}.blobs`, 'manifest.json');
  const [image] = readJson<readonly SavedImage[]>(path);
  if (image === undefined) throw new Error(`${path} names no image`);
  return image;
}

function tagOf(name: ImageName): string | undefined {
  return savedImage(name).RepoTags[0];
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8')) as T;
}

/** Runs a program with only the files below `root`, and an empty environment. */
function runIn(root: string, argv: readonly string[]) {
  return spawnSync('unshare', inRoot(root, argv), { env: {}, encoding: 'utf8' });
}

describe('a release', () => {
  it('has the package, the images, the manifests and the bill, with checksums of all', () => {
    expect(files).toEqual([
      CHECKSUMS_FILE,
      'grafana-dashboard.json',
      `lockstep-${version}.cdx.json`,
      `lockstep-${version}.tgz`,
      `lockstep-agent-${version}-${machineArchitecture()}.tar`,
      `lockstep-helm-${version}.tgz`,
      'lockstep-krew.yaml',
      `lockstep-operator-${version}-${machineArchitecture()}.tar`,
      `lockstep-plugin-${version}.tar.gz`,
      'lockstep.yaml',
      WHEEL_FILE,
      SOURCE_ARCHIVE_FILE,
      'monitoring.yaml',
    ]);
    const cwd = join(folder, 'release');
    const checked = execFileSync('sha256sum', ['--check', CHECKSUMS_FILE], {
      cwd,
      encoding: 'utf8',
    });
    expect(checked.trim().split('\n')).toHaveLength(files.length - 1);
    const packed = execFileSync('tar', ['-tzf', releaseFile(`lockstep-${version}.tgz`)]).toString();
    for (const bundle of ['operator', 'agent', 'cli']) {
      expect(packed).toContain(`package/dist/${bundle}.js\n`);
    }
  });

  it("brings kubectl's plugin, whose manifest names the archive and its checksum", () => {
    const name = `lockstep-plugin-${version}.tar.gz`;
    const manifest = readFileSync(releaseFile('lockstep-krew.yaml'), 'utf8');
    expect(manifest).toContain(`uri: https://example.com/lockstep/${name}\n`);
    const sums = readFileSync(releaseFile(CHECKSUMS_FILE), 'utf8').split('\n');
    const [digest] = sums.find((line) => line.endsWith(`  ${name}`))?.split(' ') ?? [];
    expect(manifest).toContain(`sha256: ${digest}\n`);
  });

  it('brings a plugin that runs as it is unpacked', () => {
    const directory = join(folder, 'plugin');
    mkdirSync(directory);
    execFileSync('tar', [
      '-xzf',
      releaseFile(`lockstep-plugin-${version}.tar.gz`),
      '-C',
      directory,
    ]);
    const link = join(folder, 'kubectl-lockstep');
    symlinkSync(join(directory, PLUGIN_PROGRAM), link);
    const env = { PATH: dirname(process.execPath), NODE_PATH: '' };
    const run = (...args: readonly string[]) => spawnSync(link, args, { env, encoding: 'utf8' });
    expect(run('--version')).toMatchObject({ stdout: `${version}\n`, stderr: '', status: 0 });
    expect(run('--help').stdout).toMatch(/^Usage: kubectl lockstep /);
    const nowhere = run('status', '--kubeconfig', join(folder, 'none'));
    expect(nowhere.stderr).toMatch(/^lockstep: .*none: cannot be read: /);
    expect(run('render', '-').stderr).not.toMatch(/Cannot find (?:module|package)/);
  });

  it('has the chart as Helm wants it packed', () => {
    const chart = releaseFile(`lockstep-helm-${version}.tgz`);
    const names = execFileSync('tar', ['-tzf', chart], { encoding: 'utf8' }).trim().split('\n');
    expect(names).toContain('lockstep/Chart.yaml');
    expect(names).toContain('lockstep/templates/deployment.yaml');
    const about = execFileSync('tar', ['-xzOf', chart, 'lockstep/Chart.yaml'], {
      encoding: 'utf8',
    });
    expect(about).toContain(`\nversion: ${version}\n`);
  });

  it('installs the images that it brings', () => {
    const manifest = readFileSync(releaseFile('lockstep.yaml'), 'utf8');
    expect(manifest).toContain(`image: ${tagOf('operator')}\n`);
    // The operator knows the image of agents, so the settings need not name it.
    expect(defaultAgentImage(version)).toBe(tagOf('agent'));
    expect(manifest).not.toContain('  image: lockstep/agent');
  });

  it('is never written over other files', async () => {
    await expect(writeRelease(folder, FAST, [machineArchitecture()])).rejects.toThrow(
      `${folder} is not empty`,
    );
  });

  it('is not made for an architecture that nobody knows', () => {
    const args = ['--import', 'tsx', 'tools/release/main.ts', '--architecture', 'riscv64'];
    const { stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(stderr).toBe('release: --architecture is "riscv64", allowed are amd64, arm64\n');
    expect(status).toBe(2);
  });
});

describe('an image', () => {
  it.each(['operator', 'agent'] as const)('of the %s stays small', (name) => {
    const sizes = execFileSync('du', ['--bytes', '--summarize', rootOf(name)], {
      encoding: 'utf8',
    });
    expect(Number.parseInt(sizes, 10)).toBeLessThan(MAX_CONTENT_BYTES);
  });

  it('has a user to run as, and neither a shell nor authorities of the world', () => {
    const root = rootOf('operator');
    expect(readFileSync(join(root, 'etc/passwd'), 'utf8')).toContain('lockstep:x:65532:65532:');
    expect(existsSync(join(root, 'bin/sh'))).toBe(false);
    expect(readdirSync(join(root, 'etc')).toSorted()).toEqual(['group', 'nsswitch.conf', 'passwd']);
  });

  it.runIf(canChangeRoot)('starts its program where there is nothing else', () => {
    for (const name of ['operator', 'agent'] as const) {
      const program = `/lockstep/bin/lockstep-${name}`;
      const { stdout, stderr, status } = runIn(rootOf(name), [program, '--version']);
      expect([stdout, stderr, status], name).toEqual([`${version}\n`, '', 0]);
      const node = runIn(rootOf(name), ['/lockstep/bin/node', '--version']);
      expect(node.stdout, name).toBe(`v${NODE_VERSION}\n`);
      expect(runIn(rootOf(name), [program, '--help']).stdout).toContain(`lockstep-${name}`);
    }
  });
});

const AT = { namespace: 'default', name: 'installed' };
const ACCOUNT = { namespace: AT.namespace, name: 'installed-agent' };
/** A scheduler that does not exist, so that only the test handles the Pod. */
const ABSENT = 'example.com/absent';

describe.runIf(canChangeRoot)('an agent that is copied beside its worker', () => {
  let api: ApiUnderTest;
  let root: string;
  let agent: ChildProcess | undefined;
  beforeAll(async () => {
    root = join(folder, 'worker');
    for (const directory of ['dev', 'out', 'var/run/lockstep']) {
      mkdirSync(join(root, directory), { recursive: true });
    }
    // Processes need this file of those that a container runtime mounts.
    writeFileSync(join(root, 'dev/null'), '');
    api = await startApi();
    await installJobSets(api.client);
    await createAccount(api.client, ACCOUNT);
    await mountAccount(api, root);
  });
  afterAll(async () => {
    // It takes its worker along.
    if (agent?.kill('SIGTERM') === true) await once(agent, 'exit');
    const { client } = api;
    await client.delete(PODS, AT, { gracePeriodSeconds: 0 });
    await client.delete(JOBS, AT, { propagationPolicy: 'Background' });
    await client.delete(JOBSETS, AT, { propagationPolicy: 'Background' });
    await removeAccount(client, ACCOUNT);
    await api.stop();
  });

  /** A JobSet and its Pod, which no controller handles; returns the environment of its agent. */
  async function createGroup(): Promise<Record<string, string>> {
    const containers = [{ name: 'worker', image: 'none' }];
    const template = { spec: { template: { spec: { containers } } } };
    const jobSet = await api.client.create(JOBSETS, {
      apiVersion: 'jobset.x-k8s.io/v1alpha2',
      kind: 'JobSet',
      metadata: AT,
      spec: {
        managedBy: ABSENT,
        replicatedJobs: [{ name: 'w', replicas: 1, template }],
        failurePolicy: { restartStrategy: 'InPlaceRestart' },
      },
    });
    const job = { apiVersion: 'batch/v1', kind: 'Job' };
    const { metadata } = await api.client.create(JOBS, {
      ...job,
      metadata: AT,
      spec: {
        managedBy: ABSENT,
        template: { spec: { restartPolicy: 'Never', containers } },
      },
    });
    const owner = { ...job, name: AT.name, uid: metadata.uid, controller: true };
    const pod = await api.client.create(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...AT, ownerReferences: [owner] },
      spec: { schedulerName: ABSENT, serviceAccountName: ACCOUNT.name, containers },
    });
    const { hostname, port } = new URL(api.access.server);
    return {
      KUBERNETES_SERVICE_HOST: hostname,
      KUBERNETES_SERVICE_PORT: port,
      NAMESPACE: AT.namespace,
      POD_NAME: AT.name,
      POD_UID: pod.metadata.uid,
      JOBSET_NAME: AT.name,
      JOBSET_UID: jobSet.metadata.uid,
      REPLICATED_JOB_NAME: 'w',
      LOCKSTEP_MARKER_DIRECTORY: '/var/run/lockstep',
    };
  }

  async function setStatus(deprecatedEpoch: number, syncedEpoch: number): Promise<void> {
    const counts = { ready: 0, succeeded: 0, failed: 0, active: 0, suspended: 0 };
    const replicatedJobsStatus = [{ name: 'w', ...counts, syncedEpoch }];
    const patch = { status: { deprecatedEpoch, replicatedJobsStatus } };
    await api.client.patch(JOBSETS, AT, { type: 'merge', patch }, { subresource: 'status' });
  }

  async function announced(epoch: number): Promise<void> {
    await until(`epoch ${epoch} is announced`, async () => {
      const { metadata } = await api.client.get(PODS, AT);
      expect(metadata.annotations?.[EPOCH]).toBe(String(epoch));
    });
  }

  /** The environment that the worker of that epoch found. */
  async function environmentIn(epoch: number): Promise<Record<string, string>> {
    const path = join(root, 'out', String(epoch));
    return until(`the worker of epoch ${epoch} runs`, () => readJson(path));
  }

  it(
    'runs through its own loader, and restarts a worker that sees nothing of that',
    async () => {
      // A worker's image can contain anything: here it is Node and a script.
      const script = `const { writeFileSync, renameSync } = require('node:fs');
      writeFileSync('/out/next', JSON.stringify(process.env));
      renameSync('/out/next', '/out/' + process.env.LOCKSTEP_EPOCH);
      setInterval(() => {}, 1000);`;
      const node = [...nodeIn(AGENT_DIRECTORY), '-e', script];
      // A process that obeys these variables leaves its name.
      const loaded = `require('node:fs').appendFileSync('/out/loaded', process.argv.join(' ') + '\\n')`;
      writeFileSync(join(root, 'loaded.cjs'), loaded);
      const own = [
        { name: 'NODE_OPTIONS', value: '--require=/loaded.cjs' },
        { name: 'LD_PRELOAD', value: '/no-such-library.so' },
      ];
      const { template } = injectAgent(
        { spec: { containers: [{ name: 'worker', command: node, env: own }] } },
        { mode: 'Supervisor', image: 'lockstep/agent', delivery: 'Copy' },
      );
      const [install] = template.spec.initContainers ?? [];
      const [worker] = template.spec.containers;

      // The volume that both containers mount, as the init container sees it.
      mkdirSync(join(rootOf('agent'), AGENT_DIRECTORY), { recursive: true });
      const [program = '', ...args] = install?.command ?? [];
      for (const _ of ['the first start', 'all containers restarted']) {
        const installed = runIn(rootOf('agent'), [`/lockstep/bin/${program}`, ...args]);
        expect([installed.stderr, installed.status]).toEqual(['', 0]);
      }
      mkdirSync(join(root, 'opt'));
      execFileSync('mv', [join(rootOf('agent'), AGENT_DIRECTORY), join(root, AGENT_DIRECTORY)]);

      const told = (worker?.env ?? []).filter(({ name }) => name.startsWith(ENV_FOR_WORKER_PREFIX));
      const renamed = Object.fromEntries(told.map(({ name, value = '' }) => [name, value]));
      const env = { ...(await createGroup()), ...renamed };
      agent = spawn('unshare', inRoot(root, worker?.command ?? []), { env, stdio: 'ignore' });
      await announced(1);
      await setStatus(0, 1);
      const environment = await environmentIn(1);
      expect(environment['POD_NAME']).toBe(AT.name);
      for (const { name, value } of own) expect(environment[name]).toBe(value);
      expect(Object.keys(environment)).not.toContain('LD_LIBRARY_PATH');
      expect(Object.keys(environment).filter((name) => name in renamed)).toEqual([]);
      await setStatus(1, 1);
      await announced(2);
      await setStatus(1, 2);
      expect((await environmentIn(2))['LOCKSTEP_EPOCH']).toBe('2');
      expect(agent.exitCode).toBeNull();
      const loaders = readFileSync(join(root, 'out/loaded'), 'utf8').trim().split('\n');
      expect(loaders, 'two workers, and no agent').toHaveLength(2);
    },
    LIMIT_MS,
  );

  it('says what is wrong where it cannot be copied', () => {
    const command = ['/lockstep/bin/lockstep-agent', '--install', '/etc/passwd'];
    const { stderr, status } = runIn(rootOf('agent'), command);
    expect(stderr).toMatch(/^lockstep-agent: the agent cannot be copied to \/etc\/passwd: /);
    expect(status).toBe(1);
  });
});

describe.runIf(canChangeRoot)('an operator in its image', () => {
  let api: ApiUnderTest;
  beforeAll(async () => {
    api = await startApi();
    await createAccount(api.client, ACCOUNT);
  });
  afterAll(async () => {
    await removeAccount(api.client, ACCOUNT);
    await api.stop();
  });

  it('leads with the account of its Pod, and goes when it is told to', async () => {
    const root = rootOf('operator');
    mkdirSync(join(root, 'dev'), { recursive: true });
    writeFileSync(join(root, 'dev/null'), '');
    await mountAccount(api, root);
    const program = ['/lockstep/bin/lockstep-operator', '--install-crd', '--leader-elect'];
    const { hostname, port } = new URL(api.access.server);
    const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
    const operator = spawn('unshare', inRoot(root, program), { env, stdio: 'ignore' });
    const ended = once(operator, 'exit');
    await until('the operator leads', async () => {
      expect(operator.exitCode).toBeNull();
      const { items } = await api.client.list(LEASES, { namespace: ACCOUNT.namespace });
      return items.some(({ spec }) => (spec?.holderIdentity ?? '') !== '');
    });
    operator.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });
});

/** As a node does for a container. */
async function mountAccount({ client, access }: ApiUnderTest, root: string): Promise<void> {
  const directory = join(root, 'var/run/secrets/kubernetes.io/serviceaccount');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'ca.crt'), access.tls.certificateAuthority ?? '');
  writeFileSync(join(directory, 'token'), await tokenOf(client, ACCOUNT));
  writeFileSync(join(directory, 'namespace'), AT.namespace);
}

function nodeIn(directory: string): readonly string[] {
  const tree = `${directory}/lockstep`;
  return [`${tree}/lib/ld.so`, '--library-path', `${tree}/lib`, `${tree}/bin/node`];
}
