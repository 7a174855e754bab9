/** Schemas of the security contexts of Pods and containers. */
import { atomicList, boolean, definitions, int64, oneOf, string } from '../schema/builders.ts';

const core = definitions('io.k8s.api.core.v1');

const APP_ARMOR_PROFILE = core(
  'AppArmorProfile',
  {
    type: oneOf(['Localhost', 'RuntimeDefault', 'Unconfined']),
    localhostProfile: string(),
  },
  { required: ['type'] },
);

const SECCOMP_PROFILE = core(
  'SeccompProfile',
  {
    type: oneOf(['Localhost', 'RuntimeDefault', 'Unconfined']),
    localhostProfile: string(),
  },
  { required: ['type'] },
);

const SE_LINUX_OPTIONS = core('SELinuxOptions', {
  user: string(),
  role: string(),
  type: string(),
  level: string(),
});

const WINDOWS_SECURITY_CONTEXT_OPTIONS = core('WindowsSecurityContextOptions', {
  gmsaCredentialSpecName: string(),
  gmsaCredentialSpec: string(),
  runAsUserName: string(),
  hostProcess: boolean(),
});

const CAPABILITIES = core('Capabilities', {
  add: atomicList(string()),
  drop: atomicList(string()),
});

const SYSCTL = core('Sysctl', { name: string(), value: string() }, { required: ['name', 'value'] });

export const SECURITY_CONTEXT = core('SecurityContext', {
  capabilities: CAPABILITIES,
  privileged: boolean(),
  seLinuxOptions: SE_LINUX_OPTIONS,
  windowsOptions: WINDOWS_SECURITY_CONTEXT_OPTIONS,
  runAsUser: int64(),
  runAsGroup: int64(),
  runAsNonRoot: boolean(),
  readOnlyRootFilesystem: boolean(),
  allowPrivilegeEscalation: boolean(),
  procMount: oneOf(['Default', 'Unmasked']),
  seccompProfile: SECCOMP_PROFILE,
  appArmorProfile: APP_ARMOR_PROFILE,
});

export const POD_SECURITY_CONTEXT = core('PodSecurityContext', {
  seLinuxOptions: SE_LINUX_OPTIONS,
  windowsOptions: WINDOWS_SECURITY_CONTEXT_OPTIONS,
  runAsUser: int64(),
  runAsGroup: int64(),
  runAsNonRoot: boolean(),
  supplementalGroups: atomicList(int64()),
  supplementalGroupsPolicy: oneOf(['Merge', 'Strict']),
  fsGroup: int64(),
  sysctls: atomicList(SYSCTL),
  fsGroupChangePolicy: oneOf(['Always', 'OnRootMismatch']),
  seccompProfile: SECCOMP_PROFILE,
  appArmorProfile: APP_ARMOR_PROFILE,
  seLinuxChangePolicy: oneOf(['MountOption', 'Recursive']),
});
