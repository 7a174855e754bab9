/**
 * A network of its own for a program and all that it starts, where Linux user namespaces are available:
 * what is tested there reaches no other machine, and is reached by none. Beside loopback it has an
 * address that Kubernetes takes behind a Service.
 */
import { spawnSync } from 'node:child_process';

/** Reserved for documentation, so that nobody has it. */
export const SERVICE_ADDRESS = '198.51.100.1';

const TIMEOUT_MS = 5_000;
const SET_UP = `ip link set lo up && ip addr add ${SERVICE_ADDRESS}/32 dev lo`;
const UNSHARE = ['unshare', '--user', '--map-root-user', '--net', 'sh', '-c'] as const;

/** The command line that runs `argv` there; undefined where that is not to be had. */
export function inOwnNetwork(argv: readonly string[]): readonly string[] | undefined {
  const [program, ...args] = UNSHARE;
  const tried = spawnSync(program, [...args, SET_UP], { timeout: TIMEOUT_MS, stdio: 'ignore' });
  return tried.status === 0 ? [...UNSHARE, `${SET_UP} && exec "$@"`, 'sh', ...argv] : undefined;
}
