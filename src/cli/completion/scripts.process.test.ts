/** The scripts in real shells, beside a command that answers what it is told to. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { completionScript, SHELLS, type Shell } from './scripts.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'lockstep-completion-'));
  const command = '#!/bin/sh\nprintf "%s|" "$@" >"$ASKED"\nprintf "%b" "$ANSWER"\n';
  writeFileSync(join(directory, 'lockstep'), command);
  chmodSync(join(directory, 'lockstep'), 0o755);
  for (const shell of SHELLS) {
    writeFileSync(join(directory, `script.${shell}`), completionScript(shell, 'lockstep'));
  }
});
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

/** Prints each candidate for the line in $LINE on a line of its own. */
const DRIVERS: Readonly<Record<Shell, readonly string[]>> = {
  bash: [
    '-c',
    `source script.bash; COMP_LINE=$LINE; COMP_POINT=\${#LINE}; COMP_WORDBREAKS=$' \\t\\n"=:'
     __lockstep_complete; printf '%s\\n' "\${COMPREPLY[@]}"`,
  ],
  zsh: [
    '-f',
    '-c',
    `compdef() { :; }; compset() { PREFIX=\${PREFIX#*=}; }; _files() { print -l file*; }
     compadd() { print -rl -- $values; }
     source ./script.zsh; words=(\${=LINE}); [[ $LINE == *' ' ]] && words+=('')
     CURRENT=$#words; PREFIX=$words[-1]; _lockstep`,
  ],
  fish: [
    '--no-config',
    '-c',
    "source script.fish; complete -C $LINE | string replace -r '\\t.*' ''; true",
  ],
};

interface Completed {
  readonly candidates: readonly string[];
  /** The arguments of the command. */
  readonly asked: readonly string[];
}

function completed(shell: Shell, line: string, answer: string): Completed {
  const asked = join(directory, 'asked');
  const path = `${directory}${delimiter}${process.env['PATH']}`;
  const { stdout, stderr, status } = spawnSync(shell, DRIVERS[shell], {
    cwd: directory,
    encoding: 'utf8',
    env: { HOME: directory, PATH: path, LINE: line, ANSWER: answer, ASKED: asked },
    timeout: 30_000,
  });
  if (status !== 0) throw new Error(`${shell}: ${stderr}`);
  const told = spawnSync('cat', [asked], { encoding: 'utf8' }).stdout;
  return {
    candidates: stdout.split('\n').filter((one) => one !== ''),
    asked: told.split('|').slice(0, -1),
  };
}

function isInstalled(shell: Shell): boolean {
  if (spawnSync(shell, ['--version']).status === 0) return true;
  process.stderr.write(`skipped: ${shell} is not installed, so its script is not tried\n`);
  return false;
}

describe.each(SHELLS)('%s', (shell) => {
  const isThere = isInstalled(shell);

  it.runIf(isThere)('asks for the word at the end, and shows the candidates', () => {
    const answer = 'status\\tlist JobSets\\nstart\\n:4\\n';
    const { candidates, asked } = completed(shell, 'lockstep st', answer);
    expect(candidates.toSorted()).toEqual(['start', 'status']);
    expect(asked).toEqual(['__complete', 'st']);
  });

  it.runIf(isThere)('asks for a new word', () => {
    const { candidates, asked } = completed(shell, 'lockstep status -n a ', 'train\\n:4\\n');
    expect(candidates).toEqual(['train']);
    expect(asked).toEqual(['__complete', 'status', '-n', 'a', '']);
  });

  it.runIf(isThere)('completes a value behind its flag', () => {
    const { candidates, asked } = completed(shell, 'lockstep status --output=w', 'wide\\n:4\\n');
    expect(candidates).toEqual([shell === 'fish' ? '--output=wide' : 'wide']);
    expect(asked).toEqual(['__complete', 'status', '--output=w']);
  });

  it.runIf(isThere)('completes files', () => {
    writeFileSync(join(directory, 'file.yaml'), '');
    const { candidates } = completed(shell, 'lockstep render fi', ':0\\n');
    expect(candidates).toEqual(['file.yaml']);
  });

  it.runIf(isThere)('shows nothing for no answer', () => {
    expect(completed(shell, 'lockstep status ', '').candidates).toEqual([]);
    expect(completed(shell, 'lockstep status ', ':4\\n').candidates).toEqual([]);
  });

  it.runIf(isThere)('runs nothing of what it reads', () => {
    completed(shell, 'lockstep status $(touch one)', 'x$(touch two)`touch three`\\n:4\\n');
    expect(readdirSync(directory).filter((name) => /^(one|two|three)$/.test(name))).toEqual([]);
  });
});

describe('bash', () => {
  it('leaves what stands before a colon, because it keeps that itself', () => {
    const answer = 'arn:aws:one\\narn:aws:other\\n:4\\n';
    const { candidates } = completed('bash', 'lockstep status --context arn:aws:o', answer);
    expect(candidates).toEqual(['one', 'other']);
  });
});
