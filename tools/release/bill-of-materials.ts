/**
 * The bill of materials of a release, as CycloneDX 1.6: the packages of `package-lock.json` that
 * npm installs with ours or that our bundles contain, and what the images hold besides, which is Node
 * and the libraries of a system. It has no time and no random serial number, so equal inputs give equal files.
 */

/**
 * The part of `package-lock.json`, version 3, that we read. Keys of `packages` are paths; the
 * root's is empty.
 */
export interface Lockfile {
  readonly name: string;
  readonly version: string;
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  /** `sha512-BASE64` */
  readonly integrity?: string;
  readonly dev?: boolean;
  /** A package of this repository. */
  readonly link?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** A file of the images that comes from no package. */
export interface SystemFile {
  readonly name: string;
  readonly sha256: string;
}

export interface Materials {
  readonly lockfile: Lockfile;
  /** The packages inside bundles, as keys of the lockfile. */
  readonly bundled: readonly string[];
  /** Without the leading `v`. */
  readonly nodeVersion: string;
  readonly systemFiles: readonly SystemFile[];
}

export interface BillOfMaterials {
  readonly bomFormat: 'CycloneDX';
  readonly specVersion: '1.6';
  readonly version: 1;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly Dependency[];
}

export interface Component {
  readonly type: 'application' | 'library' | 'platform' | 'file';
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version?: string;
  readonly purl?: string;
  readonly licenses?: readonly { readonly license: { readonly id: string } }[];
  readonly hashes?: readonly { readonly alg: 'SHA-256' | 'SHA-512'; readonly content: string }[];
}

interface Dependency {
  readonly ref: string;
  readonly dependsOn: readonly string[];
}

/**
 * The packages of others, as keys of the lockfile. The packages of this repository are parts of ours:
 * npm links them, and they lie outside of `node_modules`.
 */
export function foreignPackages({ packages }: Lockfile): readonly string[] {
  return Object.entries(packages)
    .filter(([path, { link }]) => link !== true && path.includes('node_modules/'))
    .map(([path]) => path);
}

export function billOfMaterials(materials: Materials): BillOfMaterials {
  const { lockfile, bundled, nodeVersion, systemFiles } = materials;
  const { packages } = lockfile;
  const isShipped = (path: string): boolean =>
    packages[path]?.dev !== true || bundled.includes(path);
  const paths = foreignPackages(lockfile).filter(isShipped);
  const root = packages[''] ?? {};
  const node: Component = {
    type: 'platform',
    'bom-ref': `pkg:generic/node@${nodeVersion}`,
    name: 'node',
    version: nodeVersion,
    purl: `pkg:generic/node@${nodeVersion}`,
    licenses: licensesOf('MIT'),
  };
  const files = systemFiles.map(fileComponent);
  const main = packageComponent('application', lockfile.name, {
    ...root,
    version: lockfile.version,
  });
  const refOf = new Map(paths.map((path) => [path, refAt(packages, path)]));
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: main },
    components: [
      ...paths.map((path) => packageComponent('library', nameAt(path), packages[path] ?? {})),
      node,
      ...files,
    ],
    dependencies: [
      {
        ref: main['bom-ref'],
        dependsOn: [...dependenciesOf(packages, '', refOf), node['bom-ref']],
      },
      ...paths.map((path) => ({
        ref: refAt(packages, path),
        dependsOn: dependenciesOf(packages, path, refOf),
      })),
      { ref: node['bom-ref'], dependsOn: files.map((component) => component['bom-ref']) },
    ],
  };
}

type Packages = Lockfile['packages'];

function dependenciesOf(
  packages: Packages,
  path: string,
  refOf: ReadonlyMap<string, string>,
): readonly string[] {
  // Only the root has the last, and of these only what is in a bundle has a reference.
  const { dependencies, optionalDependencies, devDependencies } = packages[path] ?? {};
  const names = Object.keys({ ...dependencies, ...optionalDependencies, ...devDependencies });
  const refs = names.map((name) => refOf.get(resolved(packages, path, name) ?? ''));
  return [...new Set(refs.filter((ref) => ref !== undefined))].toSorted();
}

/** Resolves as Node does: in the package's own `node_modules`, then in those around it. */
function resolved(packages: Packages, path: string, name: string): string | undefined {
  for (
    let from = path;
    ;
    from = from.slice(0, Math.max(0, from.lastIndexOf('node_modules/') - 1))
  ) {
    const candidate = `${from === '' ? '' : `${from}/`}node_modules/${name}`;
    if (packages[candidate] !== undefined) return candidate;
    if (from === '') return undefined;
  }
}

const MODULES = 'node_modules/';

function nameAt(path: string): string {
  return path.slice(path.lastIndexOf(MODULES) + MODULES.length);
}

function refAt(packages: Packages, path: string): string {
  return purlOf(nameAt(path), packages[path]?.version ?? '');
}

function purlOf(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

function packageComponent(
  type: 'application' | 'library',
  name: string,
  { version = '', license, integrity }: LockedPackage,
): Component {
  const purl = purlOf(name, version);
  const digest = /^sha512-(.+)$/.exec(integrity ?? '')?.[1];
  return {
    type,
    'bom-ref': purl,
    name,
    version,
    purl,
    ...(license === undefined ? {} : { licenses: licensesOf(license) }),
    ...(digest === undefined
      ? {}
      : { hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }] }),
  };
}

function fileComponent({ name, sha256 }: SystemFile): Component {
  const hashes = [{ alg: 'SHA-256' as const, content: sha256 }];
  return { type: 'file', 'bom-ref': `file:${name}`, name, hashes };
}

function licensesOf(id: string): NonNullable<Component['licenses']> {
  return [{ license: { id } }];
}
