import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const FOLDERS = ['src', 'packages', 'test', 'tools', 'examples'];
const TESTS = /\.(test|fixture|conformance)\.tsx?$/;
/** Other ways to wait in real time than `until`. */
const WAITS =
  /expect\s*\.poll\(|vi\.wait|timers\/promises'|=> setTimeout\(resolve|sleep\((nodeClock|RUNTIME\.clock)|function until\b/;

const EXCEPTIONS: Readonly<Record<string, string>> = {
  'packages/kube/src/until.fixture.ts': 'it is the one way',
  'src/cli/dashboard/dashboard.fixture.ts': 'a time-out beside an event',
  'test/integration/bad-weather.fixture.ts': 'bad weather takes more patience',
  'test/integration/hub-process.test.ts': 'the moment of a death is to wander',
};

it('tests wait in real time by one function, which says what was missing', () => {
  const waiting = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .map((path) => join(folder, path))
      .filter((path) => TESTS.test(path) && !/node_modules|waiting-tests/.test(path))
      .filter((path) => WAITS.test(readFileSync(join(ROOT, path), 'utf8'))),
  );
  expect(waiting.toSorted()).toEqual(Object.keys(EXCEPTIONS).toSorted());
});
