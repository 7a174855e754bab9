import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';

const SINK = fileURLToPath(new URL('./output-sink.ts', import.meta.url));

/** A program that writes 1 MiB to its standard error, and prints its progress. */
const PROGRAM = `
  import { openSink } from ${JSON.stringify(SINK)};
  const sink = openSink(2);
  const took = sink.write('x'.repeat(1024 * 1024));
  process.stdout.write(JSON.stringify({ took, waits: sink.waiting > 0 }) + '\\n');
  sink.drained(() => process.stdout.write('drained\\n', () => process.exit(0)));
`;

let directory: string;
let program: string;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lockstep-sink-'));
  program = join(directory, 'program.mjs');
  writeFileSync(join(directory, 'program.ts'), PROGRAM);
  const entryPoints = [join(directory, 'program.ts')];
  await build({ entryPoints, bundle: true, platform: 'node', format: 'esm', outfile: program });
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Runs a line of shell, and gives what it printed. */
function printed(script: string): Promise<string> {
  const child = spawn('/bin/bash', ['-c', script], {
    env: { ...process.env, NODE: process.execPath, PROGRAM: program, D: directory },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  return new Promise((resolve) => {
    child.once('close', () => resolve(text));
  });
}

it('continues while nobody reads a pipe, and all arrives once somebody does', async () => {
  // The reader begins when the program has said how it continues.
  const script = `
    mkfifo "$D/said" "$D/go"
    { "$NODE" "$PROGRAM" 2>&1 >"$D/said" | { read -r first <"$D/go"; wc -c; } } &
    exec 3<"$D/said"
    read -r line <&3; echo "$line"
    echo > "$D/go"
    read -r line <&3; echo "$line"
    wait`;
  const [first, ...rest] = (await printed(script)).trim().split('\n');
  expect(JSON.parse(first ?? '')).toEqual({ took: false, waits: true });
  expect(rest.toSorted()).toEqual(['1048576', 'drained']);
});

it('writes to a file behind what is there', async () => {
  const script = `echo before > "$D/log"; "$NODE" "$PROGRAM" 2>>"$D/log"; wc -c < "$D/log"`;
  expect((await printed(script)).trim().split('\n')).toEqual([
    '{"took":true,"waits":false}',
    'drained',
    String(1024 * 1024 + 7),
  ]);
});
