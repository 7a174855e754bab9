/** The type of Pods. */
import type {
  Condition,
  IntOrString,
  KubeObject,
  LabelSelector,
  ObjectMeta,
  StringMap,
} from '../meta.ts';
import { type Resource, resource } from '../resource.ts';
import type { Affinity } from './affinity.ts';

/**
 * `core/v1 Pod`, with types for the fields that Lockstep reads or writes. Objects may hold more
 * fields, so never rebuild one from its known fields.
 */
export interface Pod extends KubeObject {
  readonly spec: PodSpec;
  readonly status?: PodStatus;
}

export const PODS: Resource<Pod> = resource('v1', 'pods', 'Pod');

export interface PodTemplateSpec {
  readonly metadata?: ObjectMeta;
  readonly spec: PodSpec;
}

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly Volume[];
  readonly restartPolicy?: RestartPolicy;
  readonly dnsPolicy?: string;
  readonly terminationGracePeriodSeconds?: number;
  readonly activeDeadlineSeconds?: number;
  readonly nodeName?: string;
  readonly nodeSelector?: StringMap;
  readonly affinity?: Affinity;
  readonly tolerations?: readonly Toleration[];
  /**
   * Conditions that must be True, besides the conditions of its containers, for the Pod to be ready.
   */
  readonly readinessGates?: readonly { readonly conditionType: string }[];
  readonly schedulingGates?: readonly { readonly name: string }[];
  readonly schedulerName?: string;
  readonly serviceAccountName?: string;
  /** The old name of `serviceAccountName`. */
  readonly serviceAccount?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly hostname?: string;
  readonly subdomain?: string;
  readonly setHostnameAsFQDN?: boolean;
  readonly hostnameOverride?: string;
  readonly priority?: number;
  readonly shareProcessNamespace?: boolean;
  readonly hostPID?: boolean;
  readonly hostNetwork?: boolean;
  readonly ephemeralContainers?: readonly EphemeralContainer[];
  readonly resourceClaims?: readonly PodResourceClaim[];
  readonly hostAliases?: readonly { readonly ip: string; readonly hostnames?: readonly string[] }[];
  readonly imagePullSecrets?: readonly { readonly name?: string }[];
  readonly overhead?: StringMap;
  readonly securityContext?: SecurityContext;
  readonly topologySpreadConstraints?: readonly {
    readonly topologyKey: string;
    /** Absent: matches no Pod. */
    readonly labelSelector?: LabelSelector;
  }[];
}

/** A claim of the Pod; containers refer to it by name. */
export interface PodResourceClaim {
  readonly name: string;
  readonly resourceClaimName?: string;
  readonly resourceClaimTemplateName?: string;
}

export type RestartPolicy = 'Always' | 'OnFailure' | 'Never';

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly workingDir?: string;
  readonly ports?: readonly ContainerPort[];
  readonly env?: readonly EnvVar[];
  readonly envFrom?: readonly EnvFromSource[];
  readonly resources?: {
    readonly limits?: StringMap;
    readonly requests?: StringMap;
    readonly claims?: readonly { readonly name: string; readonly request?: string }[];
  };
  readonly volumeMounts?: readonly VolumeMount[];
  readonly volumeDevices?: readonly { readonly name: string; readonly devicePath: string }[];
  readonly resizePolicy?: readonly {
    readonly resourceName: string;
    readonly restartPolicy: string;
  }[];
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
  readonly lifecycle?: {
    readonly postStart?: LifecycleHandler;
    readonly preStop?: LifecycleHandler;
  };
  readonly terminationMessagePath?: string;
  readonly terminationMessagePolicy?: 'File' | 'FallbackToLogsOnError';
  /**
   * Whether its standard input can be attached to; with `stdinOnce` the first client to leave ends
   * it.
   */
  readonly stdin?: boolean;
  readonly stdinOnce?: boolean;
  readonly tty?: boolean;
  readonly imagePullPolicy?: string;
  readonly securityContext?: SecurityContext;
  /** On an init container, `Always` makes it a sidecar. */
  readonly restartPolicy?: RestartPolicy;
  readonly restartPolicyRules?: readonly ContainerRestartRule[];
}

export interface SecurityContext {
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly runAsNonRoot?: boolean;
  readonly privileged?: boolean;
  readonly readOnlyRootFilesystem?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
  readonly seccompProfile?: { readonly type: string; readonly localhostProfile?: string };
  readonly seLinuxOptions?: StringMap;
}

/** Added to a running Pod for inspection. */
export interface EphemeralContainer extends Container {
  readonly targetContainerName?: string;
}

/** KEP-5307, with both dialects' names of the whole-Pod action, and `Terminate`. */
export interface ContainerRestartRule {
  readonly action: 'Restart' | 'RestartAllContainers' | 'RestartPod' | 'Terminate';
  readonly exitCodes?: {
    readonly operator: 'In' | 'NotIn';
    /** 0..255 each. */
    readonly values?: readonly number[];
  };
}

export interface ContainerPort {
  readonly name?: string;
  readonly containerPort: number;
  readonly hostPort?: number;
  readonly hostIP?: string;
  readonly protocol?: string;
}

export interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly fieldRef?: { readonly apiVersion?: string; readonly fieldPath: string };
    readonly configMapKeyRef?: KeySelector;
    readonly secretKeyRef?: KeySelector;
    readonly resourceFieldRef?: ResourceFieldSelector;
  };
}

export interface ResourceFieldSelector {
  /** In a volume; a variable may refer to another container, too. */
  readonly containerName?: string;
  /** For example `limits.cpu`. */
  readonly resource: string;
  readonly divisor?: string;
}

export interface KeySelector {
  readonly name: string;
  readonly key: string;
  readonly optional?: boolean;
}

export interface EnvFromSource {
  readonly prefix?: string;
  readonly configMapRef?: { readonly name: string; readonly optional?: boolean };
  readonly secretRef?: { readonly name: string; readonly optional?: boolean };
}

export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath?: string;
  readonly subPathExpr?: string;
  readonly readOnly?: boolean;
  readonly mountPropagation?: string;
}

export interface Volume {
  readonly name: string;
  readonly emptyDir?: { readonly medium?: string; readonly sizeLimit?: string };
  readonly configMap?: {
    readonly name: string;
    readonly items?: readonly KeyToPath[];
    readonly optional?: boolean;
    readonly defaultMode?: number;
  };
  readonly secret?: {
    readonly secretName: string;
    readonly items?: readonly KeyToPath[];
    readonly optional?: boolean;
    readonly defaultMode?: number;
  };
  readonly projected?: {
    readonly sources?: readonly VolumeProjection[];
    readonly defaultMode?: number;
  };
  readonly downwardAPI?: {
    readonly items?: readonly DownwardFile[];
    readonly defaultMode?: number;
  };
  readonly hostPath?: { readonly path: string; readonly type?: HostPathType | '' };
  /** The files of an image. */
  readonly image?: { readonly reference: string; readonly pullPolicy?: string };
  readonly persistentVolumeClaim?: { readonly claimName: string; readonly readOnly?: boolean };
}

export type HostPathType =
  | 'BlockDevice'
  | 'CharDevice'
  | 'Directory'
  | 'DirectoryOrCreate'
  | 'File'
  | 'FileOrCreate'
  | 'Socket';

export interface KeyToPath {
  readonly key: string;
  readonly path: string;
  readonly mode?: number;
}

export interface DownwardFile {
  readonly path: string;
  readonly fieldRef?: { readonly fieldPath: string };
  readonly resourceFieldRef?: ResourceFieldSelector;
  readonly mode?: number;
}

export interface VolumeProjection {
  readonly serviceAccountToken?: {
    readonly audience?: string;
    readonly expirationSeconds?: number;
    readonly path: string;
  };
  readonly configMap?: {
    readonly name: string;
    readonly items?: readonly KeyToPath[];
    readonly optional?: boolean;
  };
  readonly secret?: {
    readonly name: string;
    readonly items?: readonly KeyToPath[];
    readonly optional?: boolean;
  };
  readonly downwardAPI?: { readonly items?: readonly DownwardFile[] };
}

export interface Probe {
  readonly exec?: { readonly command?: readonly string[] };
  readonly httpGet?: {
    readonly path?: string;
    readonly port: IntOrString;
    readonly host?: string;
    readonly scheme?: 'HTTP' | 'HTTPS';
    readonly httpHeaders?: readonly { readonly name: string; readonly value: string }[];
  };
  readonly tcpSocket?: { readonly port: IntOrString; readonly host?: string };
  readonly grpc?: { readonly port: number; readonly service?: string };
  readonly initialDelaySeconds?: number;
  readonly timeoutSeconds?: number;
  readonly periodSeconds?: number;
  readonly successThreshold?: number;
  readonly failureThreshold?: number;
  readonly terminationGracePeriodSeconds?: number;
}

/** Exactly one member is set. */
export interface LifecycleHandler extends Pick<Probe, 'exec' | 'httpGet' | 'tcpSocket'> {
  readonly sleep?: { readonly seconds: number };
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: 'Exists' | 'Equal';
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

export interface PodStatus {
  readonly phase?: PodPhase;
  readonly conditions?: readonly PodCondition[];
  readonly message?: string;
  readonly reason?: string;
  readonly hostIP?: string;
  readonly podIP?: string;
  readonly podIPs?: readonly { readonly ip: string }[];
  readonly startTime?: string;
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly ephemeralContainerStatuses?: readonly ContainerStatus[];
  readonly qosClass?: string;
}

/** Unlike `meta/v1 Condition`, reason, message and times are optional. */
export type PodCondition = Pick<Condition, 'type' | 'status'> &
  Partial<Condition> & { readonly lastProbeTime?: string | null };

export interface ContainerStatus {
  readonly name: string;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly image: string;
  readonly imageID: string;
  readonly containerID?: string;
  readonly started?: boolean;
}

/** At most one member is set; none means waiting. */
export interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt?: string };
  readonly terminated?: ContainerStateTerminated;
}

export interface ContainerStateTerminated {
  readonly exitCode: number;
  readonly signal?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly startedAt?: string;
  readonly finishedAt?: string;
  readonly containerID?: string;
}
