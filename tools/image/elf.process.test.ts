import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { interpreterOf, neededBy, withoutSections } from './elf.ts';
import { sharedLibraries } from './shared-libraries.ts';

const isLinux = process.platform === 'linux';

describe.runIf(isLinux)('the Node that runs this', () => {
  const node = readFileSync(process.execPath);

  it('asks for the loader and the libraries that ldd finds', () => {
    const { loader, libraries } = sharedLibraries(process.execPath);
    expect(interpreterOf(node)).toBe(loader);
    const found = [...libraries, loader].map((path) => basename(path));
    expect(neededBy(node)).toContain('libc.so.6');
    expect(neededBy(node).filter((name) => !found.includes(name))).toEqual([]);
  });

  it('runs without what stands behind its segments', () => {
    const directory = mkdtempSync(join(tmpdir(), 'lockstep-elf-'));
    try {
      const program = join(directory, 'node');
      const cut = withoutSections(node);
      expect(cut.length).toBeLessThan(node.length);
      writeFileSync(program, cut, { mode: 0o755 });
      const script = 'process.stdout.write(process.version)';
      expect(execFileSync(program, ['-e', script], { encoding: 'utf8' })).toBe(process.version);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});

it.each([
  ['a script', '#!/bin/sh\n'],
  ['nothing', ''],
  ['a binary of 32 bits', `\u007fELF\u0001\u0001${'\0'.repeat(80)}`],
])('%s is no ELF binary of 64 bits', (_, text) => {
  expect(() => neededBy(Buffer.from(text, 'latin1'))).toThrow('expected an ELF binary of 64 bits');
});
