/** The command lines that make, hold and join the namespaces of a container. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { enterCommand, placeOfCommand, withEveryVariable } from './command-line.ts';
import type { NamespaceTools } from './launch-script.ts';

const tools: NamespaceTools = {
  sh: '/bin/sh',
  env: '/bin/env',
  unshare: '/bin/unshare',
  nsenter: '/bin/nsenter',
  mount: '/bin/mount',
  pivot_root: '/sbin/pivot_root',
  cp: '/bin/cp',
  sleep: '/bin/sleep',
  hostname: '/bin/hostname',
};

const word = fc.oneof(
  fc.string(),
  fc.constantFrom('--pid', '--mount', '/x/launch.sh', '/bin/unshare', ''),
);

describe('the command line of a container with namespaces', () => {
  it('says what place it makes, for any command', () => {
    fc.assert(
      fc.property(
        fc.record({
          cwd: word,
          hasOwnProcesses: fc.boolean(),
          hostname: fc.option(fc.constant('web-0'), { nil: undefined }),
        }),
        fc.option(fc.nat(), { nil: undefined }),
        fc.boolean(),
        fc.tuple(word, word, word),
        ({ cwd, ...place }, holderPid, needsUserNamespace, argv) => {
          const hasOwnProcesses = place.hasOwnProcesses || holderPid !== undefined;
          const whole = { cwd, hasOwnProcesses, directory: '/state/pods/1/containers/c' };
          const style = { tools, needsUserNamespace, user: undefined };
          const { hostname } = place;
          const command = enterCommand(style, { ...whole, hostname, holderPid }, argv);
          const hasOwnHostname = hostname !== undefined;
          expect(placeOfCommand(command)).toEqual({ ...whole, hasOwnHostname });
        },
      ),
    );
  });

  it('is none of a container without', () => {
    expect(placeOfCommand(['sh', '-c', 'exit'])).toBeUndefined();
    expect(placeOfCommand(['/data/launch.sh', 'a'])).toBeUndefined();
  });

  it('hands on the variables that a shell would drop', () => {
    const env = { A: '1', 'a.b': '2', 'c-d': 'e f' };
    expect(withEveryVariable(env, '/bin/env', ['/bin/x', 'y'])).toEqual([
      '/bin/env',
      'a.b=2',
      'c-d=e f',
      '/bin/x',
      'y',
    ]);
    expect(withEveryVariable({ A: '1' }, '/bin/env', ['/bin/x'])).toEqual(['/bin/x']);
  });
});
