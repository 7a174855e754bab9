import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where tools keep what takes long to make or fetch, by version: `~/.cache/lockstep`. */
export function cacheDirectory(): string {
  return join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'lockstep');
}
