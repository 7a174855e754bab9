import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { KUBERNETES_VERSIONS } from '../control-plane/build.ts';
import { isGoInstalled } from '../go-module.ts';
import { generateKinds } from './generate.ts';

const ROOT = join(import.meta.dirname, '../..');
/** The first time, Go downloads 25 MB of modules. */
const TIMEOUT_MS = 300_000;

it.skipIf(!isGoInstalled())(
  'the generated tables are what `npm run kinds` writes (skipped where Go is not installed)',
  async () => {
    const generated = await generateKinds(KUBERNETES_VERSIONS[0]);
    expect(generated.size).toBeGreaterThan(0);
    for (const [path, text] of generated) {
      expect(readFileSync(join(ROOT, path), 'utf8'), path).toBe(text);
    }
  },
  TIMEOUT_MS,
);
