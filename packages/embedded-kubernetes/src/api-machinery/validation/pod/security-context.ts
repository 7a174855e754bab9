/**
 * Validates users, groups and kernel settings of Pods and containers. A node may ignore them, but
 * invalid values are refused.
 */
import { duplicate, invalidValue, required } from '@lockstep/kube/field-error.ts';
import type { PodSpec, SecurityContext } from '@lockstep/kube/objects/pod.ts';
import type { FieldError } from '@lockstep/kube/status.ts';

interface PodSecurityContext extends SecurityContext {
  readonly fsGroup?: number;
  readonly supplementalGroups?: readonly number[];
  readonly sysctls?: readonly { readonly name?: string }[];
}

const MAX_ID = 2_147_483_647;
const SYSCTL_LIMIT = 253;
const SYSCTL_PATTERN = String.raw`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`;
const SYSCTL = new RegExp(SYSCTL_PATTERN);

export function podSecurityErrors(
  spec: PodSpec & { readonly securityContext?: PodSecurityContext },
  path: string,
): FieldError[] {
  const { hostPID, shareProcessNamespace, securityContext = {} } = spec;
  const { fsGroup, runAsUser, runAsGroup, supplementalGroups = [], sysctls } = securityContext;
  const detail = 'ShareProcessNamespace and HostPID cannot both be enabled';
  return [
    ...idErrors(fsGroup, `${path}.fsGroup`),
    ...idErrors(runAsUser, `${path}.runAsUser`),
    ...idErrors(runAsGroup, `${path}.runAsGroup`),
    ...supplementalGroups.flatMap((id, at) => idErrors(id, `${path}.supplementalGroups[${at}]`)),
    ...(hostPID === true && shareProcessNamespace === true
      ? [invalidValue(`${path}.shareProcessNamespace`, true, detail)]
      : []),
    ...sysctlErrors(sysctls ?? [], `${path}.sysctls`),
  ];
}

export function containerSecurityErrors(
  securityContext: SecurityContext = {},
  path = '',
): FieldError[] {
  const { runAsUser, runAsGroup, privileged, allowPrivilegeEscalation, capabilities } =
    securityContext;
  const refused = [
    ...(privileged === true ? ['`privileged` to true'] : []),
    ...(capabilities?.add ?? [])
      .filter((capability) => capability === 'CAP_SYS_ADMIN')
      .map((capability) => `\`capabilities.Add\` ${capability}`),
  ];
  return [
    ...idErrors(runAsUser, `${path}.runAsUser`),
    ...idErrors(runAsGroup, `${path}.runAsGroup`),
    ...(allowPrivilegeEscalation === false ? refused : []).map((what) =>
      invalidValue(
        path,
        securityContext,
        `cannot set \`allowPrivilegeEscalation\` to false and ${what}`,
      ),
    ),
  ];
}

function idErrors(id: number | undefined, path: string): FieldError[] {
  if (id === undefined || (id >= 0 && id <= MAX_ID)) return [];
  return [invalidValue(path, id, `must be between 0 and ${MAX_ID}, inclusive`)];
}

function sysctlErrors(sysctls: readonly { readonly name?: string }[], path: string): FieldError[] {
  const names = new Set<string>();
  return sysctls.flatMap(({ name = '' }, index) => {
    const at = `${path}[${index}].name`;
    if (name === '') return [required(at)];
    const isKnown = names.has(name);
    names.add(name);
    if (name.length > SYSCTL_LIMIT || !SYSCTL.test(name)) {
      const detail = `must have at most ${SYSCTL_LIMIT} characters and match regex ${SYSCTL_PATTERN}`;
      return [invalidValue(at, name, detail)];
    }
    return isKnown ? [duplicate(at, name)] : [];
  });
}
