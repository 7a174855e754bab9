/**
 * Variables that a supervising agent would obey itself: variables of Node and of the dynamic loader,
 * by which a worker loads libraries of its own image, or trusts other authorities. An agent that we
 * add gets a template's variables under other names, without effect, and gives them to its worker
 * under the original names. The operator cannot see variables of an image, or of `envFrom`.
 */
import type { StringMap } from '@lockstep/kube/meta.ts';
import type { Container } from '@lockstep/kube/objects/pod.ts';
import { ENV_AGENT_VARIABLES, ENV_FOR_WORKER_PREFIX } from '../names.ts';

const OBEYED: ReadonlySet<string> = new Set([
  'NODE_OPTIONS',
  'NODE_EXTRA_CA_CERTS',
  'NODE_TLS_REJECT_UNAUTHORIZED',
  'NODE_DEBUG',
  'NODE_V8_COVERAGE',
  'OPENSSL_CONF',
  'LD_PRELOAD',
  'LD_AUDIT',
  'LD_DEBUG',
  'GLIBC_TUNABLES',
]);

/** The container with the variables renamed. */
export function keptFromAgent(container: Container): Container {
  const { env = [], command, args } = container;
  if (!env.some(({ name }) => OBEYED.has(name))) return container;
  const renamed = new Set(env.map(({ name }) => name).filter((name) => OBEYED.has(name)));
  const refer = (text: string): string => withReferences(text, renamed);
  return {
    ...container,
    env: env.map(({ name, value, ...rest }) => ({
      ...rest,
      name: renamed.has(name) ? `${ENV_FOR_WORKER_PREFIX}${name}` : name,
      ...(value === undefined ? {} : { value: refer(value) }),
    })),
    ...(command === undefined ? {} : { command: command.map(refer) }),
    ...(args === undefined ? {} : { args: args.map(refer) }),
  };
}

/** The environment of a worker, from its agent's. */
export function workerEnvironment(env: StringMap): StringMap {
  const ofAgent = new Set([ENV_AGENT_VARIABLES, ...(env[ENV_AGENT_VARIABLES] ?? '').split(',')]);
  const entries = Object.entries(env).filter(([name]) => !ofAgent.has(name));
  const isKept = ([name]: readonly [string, string]): boolean =>
    name.startsWith(ENV_FOR_WORKER_PREFIX);
  const own = entries
    .filter(isKept)
    .map(([name, value]) => [name.slice(ENV_FOR_WORKER_PREFIX.length), value] as const);
  return Object.fromEntries([...entries.filter((entry) => !isKept(entry)), ...own]);
}

/**
 * Renames `$(NAME)` of these variables. Kubernetes turns `$$` into `$` without expanding what
 * follows.
 */
function withReferences(text: string, renamed: ReadonlySet<string>): string {
  return text.replace(/\$\$|\$\(([^()]+)\)/g, (found, name: string | undefined) =>
    name !== undefined && renamed.has(name) ? `$(${ENV_FOR_WORKER_PREFIX}${name})` : found,
  );
}
