/** Commands and the dashboard from outside of the cluster's network, as on a user's laptop. */
import { execFile, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { outputUntil } from '../e2e/local-cluster.fixture.ts';
import { FROM_OUTSIDE, KUBECONFIG, LOCKSTEP, lockstepFromOutside, NAMESPACE } from './node.ts';
import { nodeGroups } from './node-group.fixture.ts';

const run = promisify(execFile);

const SIZE = 2;
const PAGE_TIMEOUT_MS = 30_000;
const IN = ['-n', NAMESPACE];
const MANIFEST = fileURLToPath(new URL('../../examples/mnist/jobset.yaml', import.meta.url));

const groups = nodeGroups();

/** Prints the page of the dashboard and the beginning of its overview, with a session. */
const READ_PAGE = `
  const [url] = process.argv.slice(1);
  const signal = AbortSignal.timeout(${PAGE_TIMEOUT_MS});
  const { headers } = await fetch(url, { redirect: 'manual', signal });
  const cookie = (headers.get('set-cookie') ?? '').split(';')[0];
  const page = await fetch(new URL('/', url), { headers: { cookie }, signal });
  console.log(page.status, await page.text());
  const overview = await fetch(new URL('/api/overview', url), { headers: { cookie }, signal });
  for await (const chunk of overview.body) {
    console.log(Buffer.from(chunk).toString());
    if (Buffer.from(chunk).includes('seen-from-outside')) process.exit(0);
  }
`;

it('Pods and Services cannot be reached from there', async () => {
  const group = await groups.start({ name: 'unreachable', size: 1 });
  await group.running(1);
  const address = (await group.pods())[0]?.status?.podIP ?? '';
  const [program, ...args] = [...FROM_OUTSIDE, 'ip', 'route', 'get', address];
  await expect(run(program, args)).rejects.toMatchObject({
    stderr: expect.stringContaining('unreachable'),
  });
});

it('Lockstep can be removed and installed from there', async () => {
  expect(await lockstepFromOutside('uninstall')).toContain('Lockstep is gone');
  expect(await lockstepFromOutside('install')).toMatch(/Lockstep \S+ is ready\n$/);
});

it('a JobSet is rendered there, and names are completed', async () => {
  const rendered = await lockstepFromOutside('render', MANIFEST);
  expect(rendered).toMatch(/^kind: Job$/m);
  expect(rendered).toMatch(/^kind: Service$/m);
  expect(await lockstepFromOutside('completion', 'bash')).toContain(
    'complete -F __lockstep_complete lockstep',
  );
  expect(await lockstepFromOutside('__complete', 'logs', '-n', NAMESPACE.slice(0, -1))).toBe(
    `${NAMESPACE}\n:4\n`,
  );
});

it('every command works from there', async () => {
  const name = 'seen-from-outside';
  const group = await groups.start({ name, size: SIZE });
  await group.running(1);
  expect(await lockstepFromOutside('doctor', '--jobset-namespace', NAMESPACE)).toContain(
    'Lockstep',
  );
  const probe = ['doctor', '--probe', '--jobset-namespace', NAMESPACE];
  expect(await lockstepFromOutside(...probe)).toContain('Lockstep');
  expect(await lockstepFromOutside('status', ...IN)).toContain(name);
  expect(await lockstepFromOutside('status', name, ...IN)).toContain('0 of 100 restarts used');
  expect(await lockstepFromOutside('logs', name, ...IN)).toContain('START');
  await lockstepFromOutside('restart', name, ...IN);
  await group.running(2);
  await group.kill(1);
  await group.running(3);
  expect(await lockstepFromOutside('report', name, ...IN)).toContain('worker 1');
  expect(await lockstepFromOutside('nodes', name, ...IN)).toContain('no node');

  const [program, ...args] = [...FROM_OUTSIDE, process.execPath, LOCKSTEP, 'dashboard'];
  const child = spawn(program, [...args, '--no-open', '--port', '0'], {
    env: { ...process.env, KUBECONFIG },
  });
  try {
    const printed = await outputUntil(child, 'Ctrl-C');
    const address = /http:\S+/.exec(printed)?.[0] ?? '';
    const script = ['--input-type=module', '--eval', READ_PAGE, address];
    const [enter, ...net] = FROM_OUTSIDE;
    const { stdout } = await run(enter, [...net, process.execPath, ...script]);
    expect(stdout).toMatch(/^200 /);
    expect(stdout).toContain(name);
  } finally {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGINT');
    await ended;
  }
});
