/**
 * The Pythons that have the frameworks. JAX and orbax come from PyPI into a virtual environment in
 * the user's cache; PyTorch is Debian's package, because PyPI's brings 3 GB for GPUs. Lightning and
 * Transformers come from PyPI into a directory beside it: the last versions that run on PyTorch 1.13.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDirectory } from '../cache-directory.ts';

/** All packages and their versions. A new version of one is a change of this file. */
const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');
/** They are all that these need beside Debian's packages: pip would not accept Debian's PyTorch. */
const TORCH_REQUIREMENTS = join(import.meta.dirname, 'requirements-torch.txt');
/** A small one of the former, which shows whether there is a registry at all. */
const PROBE = 'zipp';
const LEAST_PYTHON = [3, 11] as const;
/** The Python for which Debian's packages are. */
const DEBIAN_PYTHON = '/usr/bin/python3';
const DEBIAN_PACKAGE = 'python3-torch';

const SHORT_MS = 30_000;
const INSTALL_TIMEOUT_MS = 240_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
/** How much of the output of a command that failed is shown. */
const SHOWN_CHARACTERS = 2_000;

/** A Python that has the framework, or a directory of packages; or why this machine cannot have it. */
export type Found = { readonly path: string } | { readonly missing: string };

/** An installation that should have worked and did not. */
export class InstallationError extends Error {
  override readonly name = 'InstallationError';
}

/** Throws `InstallationError`. */
export function pythonWithJax(): Found {
  const base = ['python3', DEBIAN_PYTHON].find(hasVenv);
  if (base === undefined) {
    return { missing: `there is no Python from ${LEAST_PYTHON.join('.')} with venv` };
  }
  const version = run(base, ['--version'], SHORT_MS).output;
  const digest = createHash('sha256').update(version).update(readFileSync(REQUIREMENTS));
  const directory = join(cacheDirectory(), `jax-${digest.digest('hex').slice(0, 16)}`);
  const python = join(directory, 'bin', 'python3');
  const complete = join(directory, 'complete');
  if (existsSync(complete)) return { path: python };
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(cacheDirectory(), { recursive: true });
  must(base, ['-m', 'venv', directory]);
  const missing = missingAfter([python], REQUIREMENTS, directory);
  if (missing !== undefined) return { missing };
  writeFileSync(complete, '');
  return { path: python };
}

/** A directory with packages for the Python that has PyTorch. Throws `InstallationError`. */
export function packagesForTorch(): Found {
  if (!hasTorch()) return { missing: 'there is no PyTorch' };
  const pip = ['python3', DEBIAN_PYTHON].find(
    (python) => run(python, ['-m', 'pip', '--version'], SHORT_MS).isSuccess,
  );
  if (pip === undefined) return { missing: 'there is no pip' };
  const version = run(DEBIAN_PYTHON, ['--version'], SHORT_MS).output;
  const digest = createHash('sha256').update(version).update(readFileSync(TORCH_REQUIREMENTS));
  const directory = join(cacheDirectory(), `torch-${digest.digest('hex').slice(0, 16)}`);
  const complete = join(directory, 'complete');
  if (existsSync(complete)) return { path: directory };
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const options = ['--no-deps', '--target', directory];
  const missing = missingAfter(
    [pip, '--python', DEBIAN_PYTHON],
    TORCH_REQUIREMENTS,
    directory,
    options,
  );
  if (missing !== undefined) return { missing };
  writeFileSync(complete, '');
  return { path: directory };
}

/** Installs packages, by a Python and options of its pip. Returns why this machine cannot have them. */
function missingAfter(
  [python = '', ...pipOptions]: readonly string[],
  requirements: string,
  directory: string,
  options: readonly string[] = [],
): string | undefined {
  const pip = ['-m', 'pip', ...pipOptions, '--quiet', '--disable-pip-version-check'];
  const args = [...pip, 'install', ...options, '-r', requirements];
  const install = run(python, args, INSTALL_TIMEOUT_MS);
  if (install.isSuccess) return undefined;
  const probe = ['download', '--no-deps', '--no-cache-dir', '--dest', directory, PROBE];
  if (!run(python, [...pip, ...probe], SHORT_MS).isSuccess) {
    return 'no registry of Python packages answers';
  }
  throw new InstallationError(`pip install: ${install.output}`);
}

/** Throws `InstallationError`. */
export function pythonWithTorch(): Found {
  const found = { path: DEBIAN_PYTHON };
  if (hasTorch()) return found;
  if (process.getuid?.() !== 0) {
    return { missing: `${DEBIAN_PACKAGE} is not installed, and only root may install it` };
  }
  if (!run('apt-get', ['--version'], SHORT_MS).isSuccess) {
    return { missing: `${DEBIAN_PACKAGE} is not installed, and there is no apt-get` };
  }
  // Without this option it succeeds although nothing answered.
  const update = ['update', '--quiet', '-o', 'APT::Update::Error-Mode=any'];
  if (!run('apt-get', update, INSTALL_TIMEOUT_MS).isSuccess) {
    return { missing: 'no registry of Debian packages answers' };
  }
  must('apt-get', ['install', '--quiet', '--yes', '--no-install-recommends', DEBIAN_PACKAGE]);
  if (!hasTorch()) {
    throw new InstallationError(`${DEBIAN_PYTHON} cannot import torch of ${DEBIAN_PACKAGE}`);
  }
  return found;
}

function hasVenv(python: string): boolean {
  const [major, minor] = LEAST_PYTHON;
  const check = `import ensurepip, sys, venv; sys.exit(sys.version_info < (${major}, ${minor}))`;
  return run(python, ['-c', check], SHORT_MS).isSuccess;
}

function hasTorch(): boolean {
  const check = 'import torch.distributed as d; assert d.is_gloo_available()';
  return run(DEBIAN_PYTHON, ['-c', check], SHORT_MS).isSuccess;
}

function must(program: string, args: readonly string[]): void {
  const { isSuccess, output } = run(program, args, INSTALL_TIMEOUT_MS);
  if (!isSuccess) throw new InstallationError(`${program} ${args.join(' ')}: ${output}`);
}

interface Outcome {
  readonly isSuccess: boolean;
  /** The end of what it printed, or why it did not start or end. */
  readonly output: string;
}

function run(program: string, args: readonly string[], timeoutMs: number): Outcome {
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    maxBuffer: MAX_OUTPUT_BYTES,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  const output = error?.message ?? `${stdout}${stderr}`.slice(-SHOWN_CHARACTERS).trim();
  return { isSuccess: status === 0, output };
}
