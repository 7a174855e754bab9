/** Which options of the machine's mounts a mount in a user namespace has to keep. */
import { expect, it } from 'vitest';
import { mountOptions } from './mount-options.ts';

const TABLE = [
  '25 1 8:1 / / rw,relatime shared:1 - ext4 /dev/root rw',
  '30 25 0:22 / /tmp rw,nosuid,nodev shared:2 - tmpfs tmpfs rw',
  '31 30 0:23 / /tmp/with\\040space ro,noexec shared:3 - tmpfs tmpfs rw',
  '32 25 0:24 / /run rw,nosuid - tmpfs tmpfs rw',
  '33 32 0:25 / /run rw,noatime - tmpfs tmpfs rw',
  '',
].join('\n');

it.each([
  ['/home/me', ['relatime']],
  ['/tmp', ['nosuid', 'nodev']],
  ['/tmp/a/b', ['nosuid', 'nodev']],
  ['/tmpfile', ['relatime']],
  ['/tmp/with space/x', ['noexec']],
  ['/run/x', ['noatime']],
])('what must stay of the mount of %s', (path, expected) => {
  expect(mountOptions(TABLE)(path)).toEqual(expected);
});
