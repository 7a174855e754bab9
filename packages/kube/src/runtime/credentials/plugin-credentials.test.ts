import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  type FakeProcess,
  type FakeProgram,
  MemoryProcessRunner,
} from '../memory/memory-process-runner.ts';
import { VirtualClock } from '../memory/virtual-clock.ts';
import type { CredentialSource } from './credential-source.ts';
import type { CredentialPlugin } from './exec-credential.ts';
import {
  EXPIRY_MARGIN_MS,
  FAILURE_PAUSE_MS,
  MIN_USE_MS,
  pluginCredentials,
  REFUSAL_PAUSE_MS,
} from './plugin-credentials.ts';
import {
  END_GRACE_MS,
  LOGIN_TIMEOUT_MS,
  MAX_OUTPUT_BYTES,
  type PluginRunOptions,
  RUN_TIMEOUT_MS,
  SLOW_AFTER_MS,
} from './plugin-run.ts';

const V1 = 'client.authentication.k8s.io/v1';
const PLUGIN: CredentialPlugin = {
  place: 'config: users[0].user.exec',
  apiVersion: V1,
  command: 'plugin',
  args: ['--client-secret=secret'],
  env: {},
  installHint: undefined,
  provideClusterInfo: false,
  interactiveMode: 'IfAvailable',
};

interface Setup {
  readonly source: CredentialSource;
  readonly clock: VirtualClock;
  readonly runner: MemoryProcessRunner;
  readonly told: string[];
}

function setup(
  program: FakeProgram,
  plugin: Partial<CredentialPlugin> = {},
  more: Partial<PluginRunOptions> = {},
): Setup {
  const clock = new VirtualClock();
  const runner = new MemoryProcessRunner({ plugin: program });
  const told: string[] = [];
  const source = pluginCredentials({
    plugin: { ...PLUGIN, ...plugin },
    cluster: { server: 'https://host', config: { a: 1 } },
    processes: runner,
    clock,
    env: {},
    workingDirectory: '/work',
    hasTerminal: false,
    isKeyPair: () => true,
    onSlow: (what) => told.push(what),
    ...more,
  });
  return { source, clock, runner, told };
}

function answer(self: FakeProcess, status: object): void {
  self.write('stdout', JSON.stringify({ apiVersion: V1, kind: 'ExecCredential', status }));
  self.exit(0);
}

/** Answers with token-1, token-2, ..., each valid for this time. */
function tokens(clock: () => VirtualClock, lifeMs?: number): FakeProgram {
  let count = 0;
  return (self) => {
    const token = `token-${++count}`;
    const expiry = new Date(clock().now() + (lifeMs ?? 0)).toISOString();
    answer(self, { token, ...(lifeMs === undefined ? {} : { expirationTimestamp: expiry }) });
  };
}

/** A plugin whose tokens are valid for this time, or until they are refused. */
function living(lifeMs?: number): Setup {
  const made: Setup = setup(tokens(() => made.clock, lifeMs));
  return made;
}

const never: FakeProgram = () => undefined;
const HOUR_MS = 3_600_000;

async function problemOf(asked: Promise<unknown>): Promise<string> {
  const error: unknown = await asked.then(
    () => new Error('none'),
    (reason: unknown) => reason,
  );
  // Everything that a log could show of it, including causes.
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('secret');
  return error instanceof Error ? error.message : String(error);
}

describe('a plugin', () => {
  it('gets its arguments, and its environment over ours', async () => {
    const { source, runner } = setup(
      (self) => answer(self, { token: 't' }),
      { env: { OURS: 'replaced', ITS: 'own' } },
      { env: { PATH: '/bin', OURS: 'x', NOT: undefined, KUBERNETES_EXEC_INFO: 'of our parent' } },
    );
    expect(await source.current()).toEqual({ token: 't' });
    const { argv, env, cwd } = runner.started[0]?.command ?? {};
    expect(argv).toEqual(['plugin', '--client-secret=secret']);
    expect(cwd).toBe('/work');
    const { KUBERNETES_EXEC_INFO: info = '', ...rest } = env ?? {};
    expect(rest).toEqual({ PATH: '/bin', OURS: 'replaced', ITS: 'own' });
    expect(JSON.parse(info)).toEqual({
      apiVersion: V1,
      kind: 'ExecCredential',
      spec: { interactive: false },
    });
  });

  it('hears of the cluster where it wants to', async () => {
    const { source, runner } = setup((self) => answer(self, { token: 't' }), {
      provideClusterInfo: true,
    });
    await source.current();
    const info = runner.started[0]?.command.env['KUBERNETES_EXEC_INFO'] ?? '';
    expect(JSON.parse(info)).toMatchObject({
      spec: { cluster: { server: 'https://host', config: { a: 1 } } },
    });
  });

  it.each([
    ['Never', true, 'Told', false],
    ['Never', false, 'Told', false],
    ['IfAvailable', true, 'Asked', true],
    ['IfAvailable', false, 'Told', false],
    ['Always', true, 'Asked', true],
  ] as const)(
    'of mode %s, where having a terminal is %s',
    async (mode, hasTerminal, user, isTold) => {
      const { source, runner } = setup(
        (self) => answer(self, { token: 't' }),
        { interactiveMode: mode },
        { hasTerminal },
      );
      await source.current();
      const { command } = runner.started[0] ?? {};
      expect(command?.user).toBe(user);
      const info = JSON.parse(command?.env['KUBERNETES_EXEC_INFO'] ?? '') as object;
      expect(info).toMatchObject({ spec: { interactive: isTold } });
    },
  );

  it('that always needs a terminal is not run without one', async () => {
    const { source, runner } = setup(never, { interactiveMode: 'Always' });
    expect(await problemOf(source.current())).toMatch(
      /^config: users\[0\]\.user\.exec\.interactiveMode: "Always": the plugin asks at a terminal, and standard input is none: run the command in a terminal, or use/,
    );
    expect(runner.started).toEqual([]);
  });

  it('may answer with a certificate', async () => {
    const status = { clientCertificateData: 'C', clientKeyData: 'K' };
    const { source } = setup((self) => answer(self, status));
    expect(await source.current()).toEqual({ clientCertificate: { certificate: 'C', key: 'K' } });
  });
});

describe('credentials of a plugin', () => {
  it('are kept until shortly before they expire', async () => {
    const { source, clock, runner } = living(HOUR_MS);
    expect(await source.current()).toEqual({ token: 'token-1' });
    await clock.advance(HOUR_MS - EXPIRY_MARGIN_MS - 1);
    expect(await source.current()).toEqual({ token: 'token-1' });
    await clock.advance(1);
    expect(await source.current()).toEqual({ token: 'token-2' });
    expect(runner.started).toHaveLength(2);
    expect(clock.pendingTimers).toBe(0);
  });

  it('are kept for ever if they do not expire', async () => {
    const { source, clock } = living();
    await source.current();
    await clock.advance(1000 * HOUR_MS);
    expect(await source.current()).toEqual({ token: 'token-1' });
  });

  it('are used for some seconds even if they have expired by our clock', async () => {
    const { source, clock } = living(-HOUR_MS);
    await source.current();
    await clock.advance(MIN_USE_MS - 1);
    expect(await source.current()).toEqual({ token: 'token-1' });
    await clock.advance(1);
    expect(await source.current()).toEqual({ token: 'token-2' });
  });

  it('come from one run for all who want them at a time', async () => {
    const { source, runner } = living(HOUR_MS);
    const all = await Promise.all(Array.from({ length: 20 }, () => source.current()));
    expect(new Set(all)).toEqual(new Set([{ token: 'token-1' }]));
    expect(runner.started).toHaveLength(1);
  });

  it('are asked for again once they are refused, by all together', async () => {
    const { source, runner } = living(HOUR_MS);
    const first = await source.current();
    source.refused?.(first);
    source.refused?.(first);
    const seconds = await Promise.all([source.current(), source.current()]);
    expect(seconds).toEqual([{ token: 'token-2' }, { token: 'token-2' }]);
    expect(runner.started).toHaveLength(2);
  });

  it('are not asked for again because of those that they have replaced', async () => {
    const { source, clock } = living(HOUR_MS);
    const first = await source.current();
    await clock.advance(HOUR_MS);
    await source.current();
    source.refused?.(first);
    expect(await source.current()).toEqual({ token: 'token-2' });
  });

  it('are not asked for again and again by a server that refuses them all', async () => {
    const { source, clock } = living(HOUR_MS);
    source.refused?.(await source.current());
    source.refused?.(await source.current());
    expect(await source.current()).toEqual({ token: 'token-2' });
    await clock.advance(REFUSAL_PAUSE_MS);
    source.refused?.(await source.current());
    expect(await source.current()).toEqual({ token: 'token-3' });
  });

  it('that are still valid are used while a plugin fails', async () => {
    let isBroken = false;
    const made: Setup = setup((self) => {
      if (isBroken) self.exit(1);
      else tokens(() => made.clock, HOUR_MS)(self);
    });
    const { source, clock, runner } = made;
    await source.current();
    isBroken = true;
    await clock.advance(HOUR_MS - EXPIRY_MARGIN_MS);
    expect(await source.current()).toEqual({ token: 'token-1' });
    expect(await source.current()).toEqual({ token: 'token-1' });
    expect(runner.started).toHaveLength(2);
    await clock.advance(EXPIRY_MARGIN_MS);
    expect(await problemOf(source.current())).toContain('exit code 1');
    isBroken = false;
    await clock.advance(FAILURE_PAUSE_MS);
    expect(await source.current()).toEqual({ token: 'token-1' });
    expect(runner.started).toHaveLength(4);
  });
});

describe('a plugin that does not do its work', () => {
  it.each<[string, FakeProgram, string]>([
    [
      'fails',
      (self) => {
        self.write('stdout', 'secret');
        self.write('stderr', 'secret');
        self.exit(3);
      },
      'failed with exit code 3; its standard error says why',
    ],
    ['dies', (self) => self.die('SIGSEGV'), 'died of SIGSEGV; its'],
    [
      'writes something else',
      (self) => {
        self.write('stdout', 'secret');
        self.exit(0);
      },
      'wrote something else instead of an ExecCredential in JSON',
    ],
    ['has no credentials', (self) => answer(self, {}), 'answered without status.token'],
  ])('because it %s is named', async (_, program, problem) => {
    const { source } = setup(program);
    const what = await problemOf(source.current());
    expect(what).toContain(`config: users[0].user.exec: credential plugin "plugin" ${problem}`);
  });

  it('is refused with a key of another certificate', async () => {
    const status = { clientCertificateData: 'secret', clientKeyData: 'secret' };
    const { source } = setup((self) => answer(self, status), {}, { isKeyPair: () => false });
    expect(await problemOf(source.current())).toContain('that are no certificate in PEM with its');
  });

  it('runs again only after a pause', async () => {
    const { source, clock, runner } = setup((self) => self.exit(1));
    await problemOf(source.current());
    expect(await problemOf(source.current())).toContain('exit code 1');
    expect(runner.started).toHaveLength(1);
    await clock.advance(FAILURE_PAUSE_MS);
    await problemOf(source.current());
    expect(runner.started).toHaveLength(2);
  });

  it.each([
    [false, RUN_TIMEOUT_MS, 60],
    [true, LOGIN_TIMEOUT_MS, 300],
  ])(
    'because it hangs is ended, where having a terminal is %s',
    async (hasTerminal, limitMs, s) => {
      const { source, clock, runner } = setup(
        (self) => self.onSignal(() => undefined),
        {},
        { hasTerminal },
      );
      const problem = problemOf(source.current());
      await clock.advance(limitMs - 1);
      expect(runner.started[0]?.signals).toEqual([]);
      await clock.advance(1);
      expect(await problem).toMatch(`credential plugin "plugin" did not end within ${s} s`);
      expect(runner.started[0]?.signals).toEqual(['SIGTERM']);
      await clock.advance(END_GRACE_MS);
      expect(runner.started[0]?.signals).toEqual(['SIGTERM', 'SIGKILL']);
      expect(clock.pendingTimers).toBe(0);
    },
  );

  it('because it hangs releases callers that give up, and ends with the last of them', async () => {
    const { source, clock, runner } = setup(never);
    const [one, other] = [new AbortController(), new AbortController()];
    const asked = [problemOf(source.current(one.signal)), problemOf(source.current(other.signal))];
    await clock.settle();
    one.abort(new Error('enough'));
    expect(await asked[0]).toBe('enough');
    expect(runner.running).toHaveLength(1);
    other.abort(new Error('Ctrl-C'));
    expect(await asked[1]).toBe('Ctrl-C');
    await clock.settle();
    expect(runner.running).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
    // An aborted run is not a failure: the next caller gets a run of its own.
    void problemOf(source.current(AbortSignal.timeout(HOUR_MS)));
    await clock.settle();
    expect(runner.running).toHaveLength(1);
  });

  it.each([
    ['without end', never],
    ['too much, and ends', (self: FakeProcess) => self.exit(0)],
  ])('because it writes %s is named and ended', async (_, last) => {
    const { source, clock, runner } = setup((self) => {
      self.write('stdout', 'secret');
      self.write('stdout', ' '.repeat(MAX_OUTPUT_BYTES));
      last(self);
    });
    expect(await problemOf(source.current())).toContain(
      `wrote more than ${MAX_OUTPUT_BYTES} bytes`,
    );
    await clock.settle();
    expect(runner.running).toEqual([]);
  });

  it('because it is missing says how to get it', async () => {
    const { source } = setup(never, { command: 'aws', installHint: 'It is at a place.\n' });
    expect(await problemOf(source.current())).toBe(
      'config: users[0].user.exec.command: exec "aws": executable file not found in PATH\nIt is at a place.',
    );
  });

  it('soon is reported, but not in the middle of its own questions', async () => {
    const waiting = setup(never);
    void problemOf(waiting.source.current());
    await waiting.clock.advance(SLOW_AFTER_MS);
    expect(waiting.told).toEqual(['waiting for credential plugin "plugin", for at most 60 s']);
    const asking = setup(never, {}, { hasTerminal: true });
    void problemOf(asking.source.current());
    await asking.clock.advance(SLOW_AFTER_MS);
    expect(asking.told).toEqual([]);
  });
});

describe('a source of credentials', () => {
  it('shows none of them', async () => {
    const { source } = setup((self) => answer(self, { token: 'secret' }));
    await source.current();
    expect(JSON.stringify({ source })).not.toContain('secret');
    expect(inspect({ source }, { depth: 1 })).not.toContain('secret');
  });
});
