import { expect, it } from 'vitest';
import { type Action, commandOf } from './action.ts';

const AT = { namespace: 'research', name: 'train' };

it.each<[Action, string]>([
  [{ kind: 'Restart', epoch: 4 }, 'lockstep restart train -n research'],
  [
    { kind: 'Suspend' },
    `kubectl patch -n research jobset train --type merge -p '{"spec":{"suspend":true}}'`,
  ],
  [
    { kind: 'Resume' },
    `kubectl patch -n research jobset train --type merge -p '{"spec":{"suspend":false}}'`,
  ],
  [
    { kind: 'SetTimeout', annotation: 'lockstep/progress-timeout', value: '5m' },
    'kubectl annotate -n research jobset train --overwrite lockstep/progress-timeout=5m',
  ],
  [
    { kind: 'SetTimeout', annotation: 'lockstep/progress-timeout', value: "5m'; rm -rf $HOME" },
    `kubectl annotate -n research jobset train --overwrite 'lockstep/progress-timeout=5m'\\''; rm -rf $HOME'`,
  ],
  [
    { kind: 'SetTimeout', annotation: 'lockstep/progress-timeout', value: null },
    'kubectl annotate -n research jobset train lockstep/progress-timeout-',
  ],
  [{ kind: 'Delete' }, 'kubectl delete -n research jobset train'],
])('%j is the command %s', (action, command) => {
  expect(commandOf({ ...AT, action }, [])).toBe(command);
});

it('quotes names that no API server lets in', () => {
  const at = { namespace: '$(reboot)', name: 'a b' };
  expect(commandOf({ ...at, action: { kind: 'Delete' } }, [])).toBe(
    "kubectl delete -n '$(reboot)' jobset 'a b'",
  );
});

it('leads to the cluster of the page, whatever the shell would choose', () => {
  const flags = ['--kubeconfig', '/home/me/my clusters', '--context', 'prod'];
  expect(commandOf({ ...AT, action: { kind: 'Delete' } }, flags)).toBe(
    "kubectl delete -n research jobset train --kubeconfig '/home/me/my clusters' --context prod",
  );
});
