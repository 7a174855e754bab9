import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryLogger } from '@lockstep/kube/runtime/memory/memory-logger.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMarkerFile } from '../marker-file.ts';
import { createMarkerDirectory } from './marker-directory.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lockstep-marker-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

describe('the marker file', () => {
  it('keeps the last marker over a restart and leaves nothing else behind', async () => {
    const logger = new MemoryLogger();
    const before = createMarkerFile(createMarkerDirectory(directory), logger);
    expect(await before.read()).toBeUndefined();
    await before.write({ announced: 1, started: 0, starts: 1 });
    await before.write({ announced: 1, started: 1, starts: 2 });
    expect(await createMarkerFile(createMarkerDirectory(directory), logger).read()).toEqual({
      announced: 1,
      started: 1,
      starts: 2,
    });
    expect(await readdir(directory)).toEqual(['marker.json']);
    expect(logger.records).toEqual([]);
  });

  it.each([
    '',
    '{"announced":1',
    '{"announced":1,"started":1}',
    '[1,2]',
    '{"announced":-1,"started":0,"starts":1}',
  ])('counts as none, and is said to be malformed, when it holds %j', async (content) => {
    await writeFile(join(directory, 'marker.json'), content);
    const logger = new MemoryLogger();
    expect(await createMarkerFile(createMarkerDirectory(directory), logger).read()).toBeUndefined();
    expect(logger.records).toMatchObject([{ level: 'warn', fields: { content } }]);
  });

  it('rejects when it cannot be written', async () => {
    const missing = createMarkerFile(
      createMarkerDirectory(join(directory, 'missing')),
      new MemoryLogger(),
    );
    await expect(missing.write({ announced: 1, started: 0, starts: 1 })).rejects.toThrow('ENOENT');
  });
});
