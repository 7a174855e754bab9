/** The node's files on a real disk, by the suite that every implementation passes. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeFilesConformance } from '../ports/node-files.conformance.ts';
import { createNodeFiles } from './node-files.ts';

nodeFilesConformance('files of this machine', async () => {
  const root = await mkdtemp(join(tmpdir(), 'node-files-'));
  return {
    files: createNodeFiles(),
    root,
    dispose: () => rm(root, { recursive: true, force: true }),
  };
});
