import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createProcessPriorities } from './process-priorities.ts';

const directories: string[] = [];

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

/** The kernel's files about a process with these capabilities, users and limit on `nice`. */
function procOf(capabilities: string, users: string, limit: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'proc-'));
  directories.push(directory);
  writeFileSync(join(directory, 'status'), `Name:\tnode\nCapEff:\t${capabilities}\n`);
  writeFileSync(join(directory, 'uid_map'), users);
  writeFileSync(
    join(directory, 'limits'),
    `Limit  Soft Limit  Hard Limit  Units\nMax nice priority  ${limit}  ${limit}\n`,
  );
  return directory;
}

const ALL = '000001ffffffffff';
const WITHOUT_NICE = '00000000a80425fb';
const ALL_USERS = '         0          0 4294967295\n';
const OWN_USERS = '         0       1000          1\n';
/** No process has this number, so that nothing is changed. */
const NO_PROCESS = 2 ** 22 + 1;

test.each([
  ['with the capability', ALL, ALL_USERS, '0', true],
  ['with the capability in a user namespace of its own', ALL, OWN_USERS, '0', false],
  ['as in most containers', WITHOUT_NICE, ALL_USERS, '0', false],
  ['with a limit that allows it', WITHOUT_NICE, OWN_USERS, '20', true],
  ['without a limit', WITHOUT_NICE, ALL_USERS, 'unlimited', true],
  ['where the kernel says nothing', '', '', '', false],
])('a priority is lowered only where it can be restored: %s', (_, mask, users, limit, expected) => {
  const priorities = createProcessPriorities(procOf(mask, users, limit));
  expect(priorities.lower(NO_PROCESS)).toBe(expected);
});
