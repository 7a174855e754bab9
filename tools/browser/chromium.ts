/** Finds Chromium on this machine, or installs Debian's. */
import { hasApt, InstallationError, installPackages, pathOf } from '../debian-packages.ts';

/** The path of the program, or why there is none. */
export type Found = { readonly chromium: string } | { readonly missing: string };

const PROGRAM = 'chromium';
const PACKAGES = ['chromium', 'fonts-dejavu-core'];

/**
 * Only a machine without root or without Debian's packages goes without a
 * browser: elsewhere a failed installation throws `InstallationError`.
 */
export function installedChromium(): Found {
  const before = pathOf(PROGRAM);
  if (before !== undefined) return { chromium: before };
  if (!hasApt()) return { missing: 'this system has no apt-get' };
  if (process.getuid?.() !== 0) return { missing: 'only root may install Chromium here' };
  installPackages(PACKAGES);
  const after = pathOf(PROGRAM);
  if (after === undefined) throw new InstallationError(`apt-get has installed no ${PROGRAM}`);
  return { chromium: after };
}
