/**
 * `users[].user.exec` of a kubeconfig: the program that makes a user's credentials, as EKS, GKE, AKS
 * and OIDC logins have it ("client-go credential plugins" of the Kubernetes documentation). Its
 * protocol is in `exec-credential.ts`; `plugin-credentials.ts` runs it.
 */
import type { KubeconfigMap } from './kubeconfig-map.ts';

export interface CredentialPlugin {
  /** File and field, for errors: `config: users[0].user.exec`. */
  readonly place: string;
  readonly apiVersion: ExecApiVersion;
  /** A path, or a name to be looked up in PATH. */
  readonly command: string;
  /** They may hold secrets: never shown. */
  readonly args: readonly string[];
  /** Over the environment of this process. */
  readonly env: Readonly<Record<string, string>>;
  /** For a user who does not have the command. */
  readonly installHint: string | undefined;
  readonly provideClusterInfo: boolean;
  readonly interactiveMode: InteractiveMode;
}

const API_VERSIONS = [
  'client.authentication.k8s.io/v1',
  'client.authentication.k8s.io/v1beta1',
] as const;
export type ExecApiVersion = (typeof API_VERSIONS)[number];

const INTERACTIVE_MODES = ['Never', 'IfAvailable', 'Always'] as const;
/** Whether the program reads standard input: it must not, it may if that is a terminal, it must. */
export type InteractiveMode = (typeof INTERACTIVE_MODES)[number];

/** Of the field `exec`. Throws `ClusterAccessError`. */
export function credentialPlugin(exec: KubeconfigMap): CredentialPlugin {
  const apiVersion = exec.oneOf('apiVersion', API_VERSIONS, NEWER);
  if (apiVersion === undefined) {
    throw exec.error('apiVersion', undefined, `required: ${API_VERSIONS.join(' or ')}`);
  }
  return {
    place: exec.place,
    apiVersion,
    command: commandOf(exec),
    args: exec.strings('args'),
    env: Object.fromEntries(
      exec.list('env').map((entry) => [entry.required('name'), entry.string('value') ?? '']),
    ),
    installHint: exec.string('installHint'),
    provideClusterInfo: exec.boolean('provideClusterInfo') ?? false,
    interactiveMode: interactiveModeOf(exec, apiVersion),
  };
}

/** Kubernetes 1.24 removed `v1alpha1`, which old kubeconfigs still have. */
const NEWER = "your provider's command writes a newer kubeconfig";

/** As with shells: what holds a slash is a path, here one from the directory of the file. */
function commandOf(exec: KubeconfigMap): string {
  const command = exec.required('command');
  return command.includes('/') ? (exec.path('command') ?? command) : command;
}

function interactiveModeOf(exec: KubeconfigMap, apiVersion: ExecApiVersion): InteractiveMode {
  const mode = exec.oneOf('interactiveMode', INTERACTIVE_MODES);
  if (mode !== undefined) return mode;
  if (apiVersion === 'client.authentication.k8s.io/v1beta1') return 'IfAvailable';
  const why = `required by ${apiVersion}: ${INTERACTIVE_MODES.join(', ')}`;
  throw exec.error('interactiveMode', undefined, why);
}
