/** Which options of this machine's mounts may not be changed, from `/proc/self/mountinfo`. */

/**
 * In a user namespace, a mount that is made read-only must keep the other restrictions of the mount
 * that it comes from, found by path without symbolic links.
 */
export function mountOptions(mountInfo: string): (path: string) => readonly string[] {
  const mounts = mountInfo.split('\n').flatMap((line) => {
    const [, , , , at, options] = line.split(' ');
    if (at === undefined || options === undefined) return [];
    return [{ at: unescaped(at), options: options.split(',').filter((one) => LOCKED.has(one)) }];
  });
  return (path) => {
    let found: (typeof mounts)[number] | undefined;
    for (const mount of mounts) {
      const holds = mount.at === '/' || path === mount.at || path.startsWith(`${mount.at}/`);
      // The later one of two at one path covers the other.
      if (holds && mount.at.length >= (found?.at.length ?? 0)) found = mount;
    }
    return found?.options ?? [];
  };
}

const LOCKED = new Set(['nosuid', 'nodev', 'noexec', 'noatime', 'nodiratime', 'relatime']);

function unescaped(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}
