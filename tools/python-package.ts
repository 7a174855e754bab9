/**
 * The Python package `lockstep-worker` as Python's tools install it: a wheel, and an archive of its
 * sources. Both depend on the files in `python/` alone, so making them needs no Python.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import packageJson from '../package.json' with { type: 'json' };
import { type TarEntry, tarOf } from './image/tar.ts';
import { type ZipEntry, zipOf } from './zip.ts';

const ROOT = join(import.meta.dirname, '..');
const FOLDER = join(ROOT, 'python');
const SOURCES = join(FOLDER, 'src');
const MODE = 0o644;

const { version } = packageJson;
/** As Python's tools write the name in a file name. */
const NAME = 'lockstep_worker';
export const WHEEL_FILE = `${NAME}-${version}-py3-none-any.whl`;
export const SOURCE_ARCHIVE_FILE = `${NAME}-${version}.tar.gz`;

export function pythonWheel(): Buffer {
  const information = `${NAME}-${version}.dist-info`;
  const entries: ZipEntry[] = [
    ...sourceFiles().map((path) => ({ path, content: readFileSync(join(SOURCES, path)) })),
    { path: `${information}/licenses/LICENSE`, content: readFileSync(join(ROOT, 'LICENSE')) },
    { path: `${information}/METADATA`, content: Buffer.from(metadata()) },
    {
      path: `${information}/WHEEL`,
      content: Buffer.from(
        'Wheel-Version: 1.0\nGenerator: lockstep\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
      ),
    },
  ];
  const record = `${information}/RECORD`;
  const lines = entries.map(({ path, content }) => {
    const digest = createHash('sha256').update(content).digest('base64url');
    return `${path},sha256=${digest},${content.length}\n`;
  });
  return zipOf([
    ...entries,
    { path: record, content: Buffer.from(`${lines.join('')}${record},,\n`) },
  ]);
}

/** `level`: of the compression, 1 to 9. */
export function pythonSources(level: number): Buffer {
  const files: readonly (readonly [string, Buffer])[] = [
    ...sourceFiles().map((path) => [`src/${path}`, readFileSync(join(SOURCES, path))] as const),
    ...['pyproject.toml', 'README.md'].map(
      (name) => [name, readFileSync(join(FOLDER, name))] as const,
    ),
    ['LICENSE', readFileSync(join(ROOT, 'LICENSE'))],
    ['PKG-INFO', Buffer.from(metadata())],
  ];
  const entries = files.map(
    ([path, content]): TarEntry => ({
      kind: 'File',
      path: `${NAME}-${version}/${path}`,
      mode: MODE,
      content,
    }),
  );
  return gzipSync(tarOf(entries), { level });
}

/** Below `src/`, in order. */
function sourceFiles(): readonly string[] {
  return readdirSync(join(SOURCES, 'lockstep'))
    .filter((name) => /\.py$|^py\.typed$/.test(name))
    .toSorted()
    .map((name) => `lockstep/${name}`);
}

function metadata(): string {
  const project = readFileSync(join(FOLDER, 'pyproject.toml'), 'utf8');
  const field = (name: string): string => {
    const [, value] = new RegExp(`^${name} = "(.*)"$`, 'm').exec(project) ?? [];
    if (value === undefined) throw new Error(`python/pyproject.toml has no ${name}`);
    return value;
  };
  if (field('version') !== version) {
    throw new Error(
      `python/pyproject.toml has version ${field('version')}, package.json ${version}`,
    );
  }
  const lines = [
    'Metadata-Version: 2.1',
    `Name: ${field('name')}`,
    `Version: ${version}`,
    `Summary: ${field('description')}`,
    `License: ${packageJson.license}`,
    `Requires-Python: ${field('requires-python')}`,
    'Description-Content-Type: text/markdown',
    '',
    readFileSync(join(FOLDER, 'README.md'), 'utf8'),
  ];
  return lines.join('\n');
}
