import { describe, expect, it, test } from 'vitest';
import { KUBERNETES_VERSIONS } from './build.ts';
import { chosenVersions, runOnEach } from './versions.ts';

const [NEWEST, , OLDEST] = KUBERNETES_VERSIONS;

describe('the versions that a contributor asks for', () => {
  test.each([
    [[], [NEWEST], []],
    [['test/e2e/examples'], [NEWEST], ['test/e2e/examples']],
    [['--all-versions'], KUBERNETES_VERSIONS, []],
    [
      ['test/e2e', '--all-versions', '-t', 'doctor'],
      KUBERNETES_VERSIONS,
      ['test/e2e', '-t', 'doctor'],
    ],
    [['--version', OLDEST, '--bail=1'], [OLDEST], ['--bail=1']],
    [['--bail', '1', `--version=${OLDEST}`, 'x'], [OLDEST], ['--bail', '1', 'x']],
  ] as const)('%j', (args, versions, rest) => {
    expect(chosenVersions(args)).toEqual({ versions, rest });
  });

  test.each([
    [['--version', '1.29.0'], /^--version: "1\.29\.0", expected one of 1\.\d+\.\d+, /],
    [['--version'], /^--version: no value, expected one of /],
    [['--version', NEWEST, '--all-versions'], /exclude each other/],
  ])('%j is an error', (args, problem) => {
    expect(chosenVersions(args)).toMatch(problem);
  });
});

describe('a run on several versions', () => {
  async function outcomes(...ended: readonly (number | string)[]) {
    const lines: string[] = [];
    const left = [...ended];
    const run = async (): Promise<number | string> => left.shift() ?? 0;
    const exitCode = await runOnEach(KUBERNETES_VERSIONS, run, (line) => lines.push(line));
    return { exitCode, words: lines.map((line) => line.replace(/, after \d+ s$/, '')) };
  }
  const [first, second, third] = KUBERNETES_VERSIONS.map((version) => `Kubernetes ${version}`);

  it('says what became of each', async () => {
    expect(await outcomes(0, 0, 'no Go')).toEqual({
      exitCode: 0,
      words: [`${first}: passed`, `${second}: passed`, `${third}: skipped (no Go)`],
    });
  });

  it('continues after a failure, and fails', async () => {
    expect(await outcomes(0, 3, 1)).toEqual({
      exitCode: 3,
      words: [
        `${first}: passed`,
        `${second}: FAILED with exit code 3`,
        `${third}: FAILED with exit code 1`,
      ],
    });
  });

  it('ends at Ctrl-C', async () => {
    expect(await outcomes(130)).toEqual({
      exitCode: 130,
      words: [`${first}: FAILED with exit code 130`],
    });
  });
});
