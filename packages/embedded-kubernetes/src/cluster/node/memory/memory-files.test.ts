/** The node's files in memory, by the suite that every implementation passes. */
import { nodeFilesConformance } from '../ports/node-files.conformance.ts';
import { MemoryFiles } from './memory-files.ts';

nodeFilesConformance('MemoryFiles', async () => {
  const files = new MemoryFiles();
  await files.makeDirectory('/root');
  return { files, root: '/root', dispose: async () => undefined };
});
