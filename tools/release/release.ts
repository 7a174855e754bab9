/**
 * Writes all files of one version into one directory: the npm package, kubectl's plugin, the
 * archives of the images, the manifests for `kubectl apply`, the Helm chart, the Python package, the
 * bill of materials, and their checksums.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import packageJson from '../../package.json' with { type: 'json' };
import { AGENT_TREE } from '../../src/jobset/injection/agent-tree.ts';
import { packagesInBundles } from '../bundled-packages.ts';
import { CHART_NAME, chartFiles } from '../helm/chart.ts';
import { type WrittenArchive, writeArchives } from '../image/archives.ts';
import type { Architecture } from '../image/oci-archive.ts';
import { tarOf } from '../image/tar.ts';
import { deployFiles } from '../manifest.ts';
import { NODE_VERSION } from '../node-release.ts';
import { pythonSources, pythonWheel, SOURCE_ARCHIVE_FILE, WHEEL_FILE } from '../python-package.ts';
import { billOfMaterials, type Lockfile, type SystemFile } from './bill-of-materials.ts';
import { krewManifest, pluginArchive } from './krew.ts';

export const CHECKSUMS_FILE = 'SHA256SUMS';

const CHART_FILE_MODE = 0o644;

const ROOT = join(import.meta.dirname, '../..');

/**
 * Writes the files of the version in `package.json`, from the existing `dist/`, into a new or empty
 * directory. `level`: compression of archives, 1 to 9. `architectures`: of the images. `baseUrl` is where the files will lie; without
 * it there is no manifest for Krew, which has to say that. Returns the files' names.
 */
export async function writeRelease(
  directory: string,
  level: number,
  architectures: readonly Architecture[],
  baseUrl?: string,
): Promise<readonly string[]> {
  const { version } = packageJson;
  expectChangelog(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), version);
  mkdirSync(directory, { recursive: true });
  if (readdirSync(directory).length > 0) throw new ReleaseError(`${directory} is not empty`);
  const pack = ['pack', '--silent', '--ignore-scripts', '--pack-destination', directory];
  execFileSync('npm', pack, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
  const archives = await writeArchives(directory, level, architectures);
  for (const [name, text] of deployFiles()) writeFileSync(join(directory, name), text);
  // `helm package` would give it the name that `npm pack` gives the npm package.
  writeFileSync(join(directory, `lockstep-helm-${version}.tgz`), packedChart(level));
  writeFileSync(join(directory, WHEEL_FILE), pythonWheel());
  writeFileSync(join(directory, SOURCE_ARCHIVE_FILE), pythonSources(level));
  const lockfile = readJson<Lockfile>(join(ROOT, 'package-lock.json'));
  const plugin = `lockstep-plugin-${version}.tar.gz`;
  const packed = join(directory, `lockstep-${version}.tgz`);
  writeFileSync(join(directory, plugin), pluginArchive(packed, { root: ROOT, lockfile, level }));
  if (baseUrl !== undefined) {
    const uri = `${baseUrl.replace(/\/$/, '')}/${plugin}`;
    const digest = sha256(readFileSync(join(directory, plugin)));
    writeFileSync(
      join(directory, 'lockstep-krew.yaml'),
      krewManifest({ version, uri, sha256: digest }),
    );
  }
  const bill = billOfMaterials({
    lockfile,
    bundled: await packagesInBundles(),
    nodeVersion: NODE_VERSION,
    systemFiles: systemFilesOf(archives),
  });
  const text = `${JSON.stringify(bill, undefined, 2)}\n`;
  writeFileSync(join(directory, `lockstep-${version}.cdx.json`), text);
  writeFileSync(join(directory, CHECKSUMS_FILE), checksums(directory));
  return readdirSync(directory).toSorted();
}

/** What has to be fixed before there can be a release. */
export class ReleaseError extends Error {
  override readonly name = 'ReleaseError';
}

/** Throws unless the changelog has a dated section for the version. */
export function expectChangelog(changelog: string, version: string): void {
  const dated = (line: string): boolean =>
    line.startsWith(`## ${version} - `) && /- \d{4}-\d{2}-\d{2}$/.test(line);
  if (changelog.split('\n').some(dated)) return;
  throw new ReleaseError(`CHANGELOG.md has no section "## ${version} - YYYY-MM-DD"`);
}

function packedChart(level: number): Buffer {
  const entries = [...chartFiles()].map(([path, text]) => ({
    kind: 'File' as const,
    path: `${CHART_NAME}/${path}`,
    mode: CHART_FILE_MODE,
    content: Buffer.from(text),
  }));
  return gzipSync(tarOf(entries), { level });
}

/** In the format of `sha256sum --check`. */
function checksums(directory: string): string {
  return readdirSync(directory)
    .toSorted()
    .map((name) => `${sha256(readFileSync(join(directory, name)))}  ${name}\n`)
    .join('');
}

/** The libraries and the loader, which come from a system, for each architecture. */
function systemFilesOf(archives: readonly WrittenArchive[]): readonly SystemFile[] {
  const found = new Map<string, string>();
  for (const { architecture, layers } of archives) {
    for (const entry of layers.flat()) {
      const [directory, name] = split(entry.path);
      if (entry.kind !== 'File' || directory !== AGENT_TREE.libraries) continue;
      found.set(`${architecture}/${name}`, sha256(entry.content));
    }
  }
  return [...found].map(([name, digest]) => ({ name, sha256: digest }));
}

function split(path: string): readonly [string, string] {
  const at = path.lastIndexOf('/');
  return [path.slice(0, Math.max(0, at)), path.slice(at + 1)];
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8')) as T;
}
