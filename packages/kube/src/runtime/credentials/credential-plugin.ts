/**
 * `users[].user.exec` of a kubeconfig: the program that makes a user's credentials, as EKS, GKE,
 * AKS and OIDC logins use it ("client-go credential plugins" in the Kubernetes documentation). Its
 * protocol is in `exec-credential.ts`; `plugin-credentials.ts` runs it.
 */
import {
  type CredentialPlugin,
  EXEC_API_VERSIONS,
  type ExecApiVersion,
  INTERACTIVE_MODES,
  type InteractiveMode,
} from './exec-credential.ts';
import type { KubeconfigMap } from './kubeconfig-map.ts';

/** Parses the field `exec`. Throws `ClusterAccessError`. */
export function credentialPlugin(exec: KubeconfigMap): CredentialPlugin {
  const apiVersion = exec.oneOf('apiVersion', EXEC_API_VERSIONS, NEWER);
  if (apiVersion === undefined) {
    throw exec.error('apiVersion', undefined, `required: ${EXEC_API_VERSIONS.join(' or ')}`);
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

/** As in shells, a name with a slash is a path, here relative to the directory of the file. */
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
