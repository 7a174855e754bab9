import { describe, expect, it } from 'vitest';
import { parseLdd } from './shared-libraries.ts';

describe('what ldd prints', () => {
  it('reads the output of glibc: libraries, and the loader on a line of its own', () => {
    const text = `
\tlinux-vdso.so.1 (0x00007ffd5a5f2000)
\tlibdl.so.2 => /lib/x86_64-linux-gnu/libdl.so.2 (0x00007f6eed34f000)
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f6eece1e000)
\t/lib64/ld-linux-x86-64.so.2 (0x00007f6eed367000)
`;
    expect(parseLdd(text)).toEqual({
      loader: '/lib64/ld-linux-x86-64.so.2',
      libraries: ['/lib/x86_64-linux-gnu/libdl.so.2', '/lib/x86_64-linux-gnu/libc.so.6'],
    });
  });

  it('reads the output of musl: the loader comes first, and is the C library too', () => {
    const text = `
\t/lib/ld-musl-aarch64.so.1 (0xffff9a0b0000)
\tlibstdc++.so.6 => /usr/lib/libstdc++.so.6 (0xffff99d00000)
\tlibc.musl-aarch64.so.1 => /lib/ld-musl-aarch64.so.1 (0xffff9a0b0000)
`;
    expect(parseLdd(text)).toEqual({
      loader: '/lib/ld-musl-aarch64.so.1',
      libraries: ['/usr/lib/libstdc++.so.6'],
    });
  });

  it('is an error where a library is missing, or nothing is loaded', () => {
    expect(() => parseLdd('\tlibx.so.1 => not found\n')).toThrow('not there: libx.so.1');
    expect(() => parseLdd('\tstatically linked\n')).toThrow('linked dynamically');
  });
});
