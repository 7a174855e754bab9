import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { NodeFiles } from './node-files.ts';

/** The tests that every implementation of the port must pass. `make` returns an empty directory. */
export function nodeFilesConformance(
  name: string,
  make: () => Promise<{
    readonly files: NodeFiles;
    readonly root: string;
    readonly dispose: () => Promise<void>;
  }>,
): void {
  describe(`${name} as NodeFiles`, () => {
    let files: NodeFiles;
    let root: string;
    let dispose: () => Promise<void>;
    const textOf = async (path: string): Promise<string> =>
      new TextDecoder().decode(await files.readEnd(path, 100));
    const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

    beforeEach(async () => {
      ({ files, root, dispose } = await make());
    });
    afterEach(() => dispose());

    it('makes directories with their parents, and again', async () => {
      await files.makeDirectory(`${root}/a/b/c`);
      await files.makeDirectory(`${root}/a/b/c`);
      expect(await files.kindOf(`${root}/a/b`)).toBe('directory');
      expect(await files.kindOf(`${root}/a/x`)).toBeUndefined();
    });

    it('replaces a file', async () => {
      await files.write(`${root}/f`, bytes('one'), 0o644);
      await files.write(`${root}/f`, bytes('two'), 0o644);
      expect(await textOf(`${root}/f`)).toBe('two');
      expect(await files.kindOf(`${root}/f`)).toBe('file');
    });

    it('reads the end of a file, and nothing where there is none', async () => {
      await files.write(`${root}/f`, bytes('0123456789'), 0o644);
      expect(await files.readEnd(`${root}/f`, 4)).toEqual(Buffer.from('6789'));
      expect(await files.readEnd(`${root}/none`, 4)).toHaveLength(0);
      await files.makeDirectory(`${root}/d`);
      expect(await files.readEnd(`${root}/d`, 4)).toHaveLength(0);
    });

    it('writes and reads through a link, and removes the link without its target', async () => {
      await files.makeDirectory(`${root}/volume`);
      await files.makeDirectory(`${root}/box`);
      await files.link(`${root}/volume`, `${root}/box/data`);
      await files.write(`${root}/box/data/f`, bytes('kept'), 0o644);
      await files.remove(`${root}/box`);
      expect(await files.kindOf(`${root}/box`)).toBeUndefined();
      expect(await textOf(`${root}/volume/f`)).toBe('kept');
    });

    it('does not make a link over something', async () => {
      await files.write(`${root}/f`, bytes('x'), 0o644);
      await expect(files.link(root, `${root}/f`)).rejects.toThrow(/EEXIST/);
    });

    it('removes a missing file silently', async () => {
      await expect(files.remove(`${root}/none`)).resolves.toBeUndefined();
    });

    it('appends to a log in a directory that it makes', () => {
      const log = files.openLog(`${root}/logs/0.log`);
      log.append(bytes('abc'));
      log.append(bytes('def'));
      log.close();
      expect(files.logSize(`${root}/logs/0.log`)).toBe(6);
      expect(Buffer.from(files.readLog(`${root}/logs/0.log`, 2, 3)).toString()).toBe('cde');
      expect(files.readLog(`${root}/logs/0.log`, 6, 3)).toHaveLength(0);
    });

    it('renames, lists and removes logs', () => {
      files.openLog(`${root}/logs/0.log`).close();
      files.openLog(`${root}/logs/1.log`).close();
      files.renameLog(`${root}/logs/0.log`, `${root}/logs/0.log.1`);
      expect(files.logNames(`${root}/logs`)).toEqual(['0.log.1', '1.log']);
      files.removeLog(`${root}/logs/1.log`);
      files.removeLog(`${root}/logs/none`);
      expect(files.logNames(`${root}/logs`)).toEqual(['0.log.1']);
      expect(files.logNames(`${root}/none`)).toEqual([]);
    });
  });
}
