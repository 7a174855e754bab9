import { describe, expect, it } from 'vitest';
import { asCalled, asCommanderReads, commandName } from './invocation.ts';

it.each([
  ['/usr/bin/lockstep', 'lockstep'],
  ['/work/bin/lockstep.js', 'lockstep'],
  ['/home/me/.krew/bin/kubectl-lockstep', 'kubectl lockstep'],
  ['/x/kubectl-lockstep.js', 'kubectl lockstep'],
  [undefined, 'lockstep'],
])('%s is called as "%s"', (script, name) => {
  expect(commandName(script)).toBe(name);
});

describe('a message of a plugin', () => {
  it('names commands as kubectl does', () => {
    const message = 'run "lockstep install", then kubectl lockstep status; lockstep installs';
    expect(asCalled(message, 'kubectl lockstep', ['install', 'status'])).toBe(
      'run "kubectl lockstep install", then kubectl lockstep status; lockstep installs',
    );
    expect(asCalled(message, 'lockstep', ['install', 'status'])).toBe(message);
  });
});

it('reads a short flag with its value as kubectl does', () => {
  const words = ['status', '-o=json', '-n=a=b', '-A', '--x=y', '-', '--', '-o=z'];
  const read = ['status', '-ojson', '-na=b', '-A', '--x=y', '-', '--', '-o=z'];
  expect(asCommanderReads(words)).toEqual(read);
});
