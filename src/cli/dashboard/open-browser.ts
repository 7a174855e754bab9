/** Opens an address in the user's browser, where there is one. */
import { spawn } from 'node:child_process';

/** Never fails: whoever has no browser here uses the printed address. */
export function openBrowser(address: string): void {
  const { platform, env } = process;
  const [program = '', ...rest] = OPENERS[platform] ?? ['xdg-open'];
  const hasDisplay = env['DISPLAY'] !== undefined || env['WAYLAND_DISPLAY'] !== undefined;
  // Without one, xdg-open starts a browser of the terminal, which would fight for it.
  if (platform === 'linux' && !hasDisplay && env['WSL_DISTRO_NAME'] === undefined) return;
  try {
    // In a group of its own, Ctrl-C ends only the server.
    const child = spawn(program, [...rest, address], { stdio: 'ignore', detached: true });
    child.on('error', () => undefined);
    child.unref();
  } catch {
    // There is no such program.
  }
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  // `start` is of the shell, and takes a first text in quotes for a title.
  win32: ['cmd', '/c', 'start', '""'],
};
