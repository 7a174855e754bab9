/**
 * The watchdog: a detached process that outlives its parent by moments. It reads the parent's pipe.
 * If that ends without `done`, the parent was killed: the watchdog then ends every process group
 * that it knows, and removes the state directory.
 *
 * Input, one line each: `group PID`, `gone PID`, `state PATH` (Pods' processes that left
 * their group are ended too), `remove PATH`, `done`.
 */
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { refuseInspector } from '@lockstep/kube/runtime/adapters/no-inspector.ts';
import { endLeftovers } from './leftovers.ts';

refuseInspector();
const groups = new Set<number>();
const states = new Set<string>();
const removals = new Set<string>();
let done = false;

// A terminal's Ctrl-C reaches the whole foreground group, but this process must see the pipe end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

for await (const line of createInterface({ input: process.stdin })) {
  const space = line.indexOf(' ');
  const word = space < 0 ? line : line.slice(0, space);
  const rest = line.slice(space + 1);
  if (word === 'group') groups.add(Number(rest));
  else if (word === 'gone') groups.delete(Number(rest));
  else if (word === 'state') states.add(rest);
  else if (word === 'remove') removals.add(rest);
  else if (word === 'done') done = true;
}

if (!done) {
  for (const group of groups) kill(-group);
  for (const path of states) await endLeftovers(path);
  for (const path of removals) rmSync(path, { recursive: true, force: true });
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}
