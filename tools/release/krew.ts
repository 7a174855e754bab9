/**
 * What Krew, the manager of kubectl's plugins, installs `kubectl lockstep` from: an archive that
 * runs as it is unpacked, and a manifest that says where the archive lies.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { stringify } from 'yaml';
import { type TarEntry, tarOf } from '../image/tar.ts';
import { foreignPackages, type Lockfile } from './bill-of-materials.ts';

/** The program in the archive; Krew links to it as `kubectl-lockstep`. */
export const PLUGIN_PROGRAM = 'bin/kubectl-lockstep.js';

const EXECUTABLE = 0o755;
const READABLE = 0o644;

/**
 * The npm package and the packages that it depends on, as a `tar.gz`. Krew runs no installer, so
 * nothing may be missing. The bundles contain the packages of this repository. `packed` is the package's own archive, and `root` has `node_modules`.
 */
export function pluginArchive(
  packed: string,
  { root, lockfile, level }: { root: string; lockfile: Lockfile; level: number },
): Buffer {
  const unpacked = mkdtempSync(join(tmpdir(), 'lockstep-plugin-'));
  try {
    execFileSync('tar', ['-xzf', packed, '--strip-components=1', '-C', unpacked]);
    const packages = foreignPackages(lockfile)
      .filter((path) => lockfile.packages[path]?.dev !== true)
      .flatMap((path) => filesBelow(root, path));
    return gzipSync(tarOf([...filesBelow(unpacked, ''), ...packages]), { level });
  } finally {
    rmSync(unpacked, { recursive: true, force: true });
  }
}

/** A package in a package's own `node_modules` has an entry in the lockfile of its own. */
function filesBelow(root: string, path: string): readonly TarEntry[] {
  const entries = readdirSync(join(root, path), { withFileTypes: true });
  return entries.flatMap((entry): readonly TarEntry[] => {
    const name = path === '' ? entry.name : `${path}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesBelow(root, name);
    const file = join(root, name);
    const isProgram = (statSync(file).mode & 0o100) !== 0;
    const mode = isProgram ? EXECUTABLE : READABLE;
    return [{ kind: 'File', path: name, mode, content: readFileSync(file) }];
  });
}

/** The manifest of the archive at this address, for `kubectl krew install --manifest`. */
export function krewManifest({
  version,
  uri,
  sha256,
}: {
  readonly version: string;
  readonly uri: string;
  readonly sha256: string;
}): string {
  const os = { key: 'os', operator: 'In', values: ['linux', 'darwin'] };
  return stringify(
    {
      apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
      kind: 'Plugin',
      metadata: { name: 'lockstep' },
      spec: {
        version: `v${version}`,
        shortDescription: 'See and restart JobSets whose workers restart in place',
        description: DESCRIPTION,
        caveats: CAVEATS,
        platforms: [{ selector: { matchExpressions: [os] }, uri, sha256, bin: PLUGIN_PROGRAM }],
      },
    },
    { lineWidth: 0 },
  );
}

const DESCRIPTION = `Lists JobSets, shows the members of one, its logs across restarts, and who caused
each restart. Installs the operator of Lockstep in a cluster, and says what is
missing there.
`;

const CAVEATS = `This plugin needs Node 20.19 or later, as "node" on the PATH.
To complete "kubectl lockstep", put a program kubectl_complete-lockstep on the PATH:
  #!/bin/sh
  exec kubectl-lockstep __complete "$@"
`;

/** What is wrong with the address below which the files of a release lie; undefined: nothing. */
export function baseUrlProblem(text: string): string | undefined {
  const problem = `--base-url is "${text}", expected an address such as https://example.com/v1.2.3`;
  if (!URL.canParse(text)) return problem;
  const { protocol, search, hash, username } = new URL(text);
  const isPlain = search === '' && hash === '' && username === '';
  return protocol === 'https:' && isPlain ? undefined : problem;
}
