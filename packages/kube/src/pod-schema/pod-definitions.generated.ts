/**
 * The schemas of Job and Pod templates, claims and metadata, in Kubernetes 1.36.3. Written by
 * `npm run kinds`: change what that reads, not this file.
 * `packages/kube/src/schema/definitions.ts` explains the notation.
 */
export const POD_DEFINITION_TEXTS: Readonly<Record<string, string>> = {
  'io.k8s.api.batch.v1': `
JobSpec
 parallelism int32
 completions int32
 activeDeadlineSeconds int64
 podFailurePolicy PodFailurePolicy
 successPolicy SuccessPolicy
 backoffLimit int32
 backoffLimitPerIndex int32
 maxFailedIndexes int32
 selector io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector
 manualSelector boolean
 template! io.k8s.api.core.v1.PodTemplateSpec
 ttlSecondsAfterFinished int32
 completionMode 'Indexed'|'NonIndexed'
 suspend boolean
 podReplacementPolicy 'Failed'|'TerminatingOrFailed'
 managedBy string
PodFailurePolicy
 rules! [PodFailurePolicyRule] list=atomic
PodFailurePolicyOnExitCodesRequirement
 containerName string
 operator! 'In'|'NotIn'
 values! [int32] list=set
PodFailurePolicyOnPodConditionsPattern
 type! string
 status string
PodFailurePolicyRule
 action! 'Count'|'FailIndex'|'FailJob'|'Ignore'
 onExitCodes PodFailurePolicyOnExitCodesRequirement
 onPodConditions [PodFailurePolicyOnPodConditionsPattern] list=atomic
SuccessPolicy
 rules! [SuccessPolicyRule] list=atomic
SuccessPolicyRule
 succeededIndexes string
 succeededCount int32
`,
  'io.k8s.api.core.v1': `
AWSElasticBlockStoreVolumeSource
 volumeID! string
 fsType string
 partition int32
 readOnly boolean
Affinity
 nodeAffinity NodeAffinity
 podAffinity PodAffinity
 podAntiAffinity PodAntiAffinity
AppArmorProfile
 type! 'Localhost'|'RuntimeDefault'|'Unconfined'
 localhostProfile string
AzureDiskVolumeSource
 diskName! string
 diskURI! string
 cachingMode 'None'|'ReadOnly'|'ReadWrite' default="ReadWrite"
 fsType string default="ext4"
 readOnly boolean default=false
 kind 'Dedicated'|'Managed'|'Shared' default="Shared"
AzureFileVolumeSource
 secretName! string
 shareName! string
 readOnly boolean
CSIVolumeSource
 driver! string
 readOnly boolean
 fsType string
 volumeAttributes {string}
 nodePublishSecretRef LocalObjectReference
Capabilities
 add [string] list=atomic
 drop [string] list=atomic
CephFSVolumeSource
 monitors! [string] list=atomic
 path string
 user string
 secretFile string
 secretRef LocalObjectReference
 readOnly boolean
CinderVolumeSource
 volumeID! string
 fsType string
 readOnly boolean
 secretRef LocalObjectReference
ClusterTrustBundleProjection
 name string
 signerName string
 labelSelector io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector
 optional boolean
 path! string
ConfigMapEnvSource
 name string
 optional boolean
ConfigMapKeySelector map=atomic
 name string
 key! string
 optional boolean
ConfigMapProjection
 name string
 items [KeyToPath] list=atomic
 optional boolean
ConfigMapVolumeSource
 name string
 items [KeyToPath] list=atomic
 defaultMode int32
 optional boolean
Container
 name! string
 image string
 command [string] list=atomic
 args [string] list=atomic
 workingDir string
 ports [ContainerPort] list=map keys=containerPort,protocol patch=merge patchKey=containerPort
 envFrom [EnvFromSource] list=atomic
 env [EnvVar] list=map keys=name patch=merge patchKey=name
 resources ResourceRequirements
 resizePolicy [ContainerResizePolicy] list=atomic
 restartPolicy string
 restartPolicyRules [ContainerRestartRule] list=atomic
 volumeMounts [VolumeMount] list=map keys=mountPath patch=merge patchKey=mountPath
 volumeDevices [VolumeDevice] list=map keys=devicePath patch=merge patchKey=devicePath
 livenessProbe Probe
 readinessProbe Probe
 startupProbe Probe
 lifecycle Lifecycle
 terminationMessagePath string
 terminationMessagePolicy 'FallbackToLogsOnError'|'File'
 imagePullPolicy 'Always'|'IfNotPresent'|'Never'
 securityContext SecurityContext
 stdin boolean
 stdinOnce boolean
 tty boolean
ContainerPort
 name string
 hostPort int32
 containerPort! int32
 protocol 'SCTP'|'TCP'|'UDP' default="TCP"
 hostIP string
ContainerResizePolicy
 resourceName! string
 restartPolicy! string
ContainerRestartRule
 action! string
 exitCodes ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes
 operator! string
 values [int32] list=set
DownwardAPIProjection
 items [DownwardAPIVolumeFile] list=atomic
DownwardAPIVolumeFile
 path! string
 fieldRef ObjectFieldSelector
 resourceFieldRef ResourceFieldSelector
 mode int32
DownwardAPIVolumeSource
 items [DownwardAPIVolumeFile] list=atomic
 defaultMode int32
EmptyDirVolumeSource
 medium string
 sizeLimit quantity
EnvFromSource
 prefix string
 configMapRef ConfigMapEnvSource
 secretRef SecretEnvSource
EnvVar
 name! string
 value string
 valueFrom EnvVarSource
EnvVarSource
 fieldRef ObjectFieldSelector
 resourceFieldRef ResourceFieldSelector
 configMapKeyRef ConfigMapKeySelector
 secretKeyRef SecretKeySelector
 fileKeyRef FileKeySelector
EphemeralContainer
 name! string
 image string
 command [string] list=atomic
 args [string] list=atomic
 workingDir string
 ports [ContainerPort] list=map keys=containerPort,protocol patch=merge patchKey=containerPort
 envFrom [EnvFromSource] list=atomic
 env [EnvVar] list=map keys=name patch=merge patchKey=name
 resources ResourceRequirements
 resizePolicy [ContainerResizePolicy] list=atomic
 restartPolicy string
 restartPolicyRules [ContainerRestartRule] list=atomic
 volumeMounts [VolumeMount] list=map keys=mountPath patch=merge patchKey=mountPath
 volumeDevices [VolumeDevice] list=map keys=devicePath patch=merge patchKey=devicePath
 livenessProbe Probe
 readinessProbe Probe
 startupProbe Probe
 lifecycle Lifecycle
 terminationMessagePath string
 terminationMessagePolicy 'FallbackToLogsOnError'|'File'
 imagePullPolicy 'Always'|'IfNotPresent'|'Never'
 securityContext SecurityContext
 stdin boolean
 stdinOnce boolean
 tty boolean
 targetContainerName string
EphemeralVolumeSource
 volumeClaimTemplate PersistentVolumeClaimTemplate
ExecAction
 command [string] list=atomic
FCVolumeSource
 targetWWNs [string] list=atomic
 lun int32
 fsType string
 readOnly boolean
 wwids [string] list=atomic
FileKeySelector map=atomic
 volumeName! string
 path! string
 key! string
 optional boolean default=false
FlexVolumeSource
 driver! string
 fsType string
 secretRef LocalObjectReference
 readOnly boolean
 options {string}
FlockerVolumeSource
 datasetName string
 datasetUUID string
GCEPersistentDiskVolumeSource
 pdName! string
 fsType string
 partition int32
 readOnly boolean
GRPCAction
 port! int32
 service string default=""
GitRepoVolumeSource
 repository! string
 revision string
 directory string
GlusterfsVolumeSource
 endpoints! string
 path! string
 readOnly boolean
HTTPGetAction
 path string
 port! int-or-string
 host string
 scheme 'HTTP'|'HTTPS'
 httpHeaders [HTTPHeader] list=atomic
HTTPHeader
 name! string
 value! string
HostAlias
 ip! string
 hostnames [string] list=atomic
HostPathVolumeSource
 path! string
 type ''|'BlockDevice'|'CharDevice'|'Directory'|'DirectoryOrCreate'|'File'|'FileOrCreate'|'Socket'
ISCSIVolumeSource
 targetPortal! string
 iqn! string
 lun! int32
 iscsiInterface string default="default"
 fsType string
 readOnly boolean
 portals [string] list=atomic
 chapAuthDiscovery boolean
 chapAuthSession boolean
 secretRef LocalObjectReference
 initiatorName string
ImageVolumeSource
 reference string
 pullPolicy 'Always'|'IfNotPresent'|'Never'
KeyToPath
 key! string
 path! string
 mode int32
Lifecycle
 postStart LifecycleHandler
 preStop LifecycleHandler
 stopSignal 'SIGABRT'|'SIGALRM'|'SIGBUS'|'SIGCHLD'|'SIGCLD'|'SIGCONT'|'SIGFPE'|'SIGHUP'|'SIGILL'|'SIGINT'|'SIGIO'|'SIGIOT'|'SIGKILL'|'SIGPIPE'|'SIGPOLL'|'SIGPROF'|'SIGPWR'|'SIGQUIT'|'SIGRTMAX'|'SIGRTMAX-1'|'SIGRTMAX-10'|'SIGRTMAX-11'|'SIGRTMAX-12'|'SIGRTMAX-13'|'SIGRTMAX-14'|'SIGRTMAX-2'|'SIGRTMAX-3'|'SIGRTMAX-4'|'SIGRTMAX-5'|'SIGRTMAX-6'|'SIGRTMAX-7'|'SIGRTMAX-8'|'SIGRTMAX-9'|'SIGRTMIN'|'SIGRTMIN+1'|'SIGRTMIN+10'|'SIGRTMIN+11'|'SIGRTMIN+12'|'SIGRTMIN+13'|'SIGRTMIN+14'|'SIGRTMIN+15'|'SIGRTMIN+2'|'SIGRTMIN+3'|'SIGRTMIN+4'|'SIGRTMIN+5'|'SIGRTMIN+6'|'SIGRTMIN+7'|'SIGRTMIN+8'|'SIGRTMIN+9'|'SIGSEGV'|'SIGSTKFLT'|'SIGSTOP'|'SIGSYS'|'SIGTERM'|'SIGTRAP'|'SIGTSTP'|'SIGTTIN'|'SIGTTOU'|'SIGURG'|'SIGUSR1'|'SIGUSR2'|'SIGVTALRM'|'SIGWINCH'|'SIGXCPU'|'SIGXFSZ'
LifecycleHandler
 exec ExecAction
 httpGet HTTPGetAction
 tcpSocket TCPSocketAction
 sleep SleepAction
LocalObjectReference map=atomic
 name string
ModifyVolumeStatus
 targetVolumeAttributesClassName string
 status! 'InProgress'|'Infeasible'|'Pending'
NFSVolumeSource
 server! string
 path! string
 readOnly boolean
NodeAffinity
 requiredDuringSchedulingIgnoredDuringExecution NodeSelector
 preferredDuringSchedulingIgnoredDuringExecution [PreferredSchedulingTerm] list=atomic
NodeSelector map=atomic
 nodeSelectorTerms! [NodeSelectorTerm] list=atomic
NodeSelectorRequirement
 key! string
 operator! 'DoesNotExist'|'Exists'|'Gt'|'In'|'Lt'|'NotIn'
 values [string] list=atomic
NodeSelectorTerm map=atomic
 matchExpressions [NodeSelectorRequirement] list=atomic
 matchFields [NodeSelectorRequirement] list=atomic
ObjectFieldSelector map=atomic
 apiVersion string
 fieldPath! string
PersistentVolumeClaim
 kind string
 apiVersion string
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 spec PersistentVolumeClaimSpec
 status PersistentVolumeClaimStatus
PersistentVolumeClaimCondition
 type! string
 status! string
 lastProbeTime date-time
 lastTransitionTime date-time
 reason string
 message string
PersistentVolumeClaimSpec
 accessModes ['ReadOnlyMany'|'ReadWriteMany'|'ReadWriteOnce'|'ReadWriteOncePod'] list=atomic
 selector io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector
 resources VolumeResourceRequirements
 volumeName string
 storageClassName string
 volumeMode 'Block'|'Filesystem'
 dataSource TypedLocalObjectReference
 dataSourceRef TypedObjectReference
 volumeAttributesClassName string
PersistentVolumeClaimStatus
 phase 'Bound'|'Lost'|'Pending'
 accessModes ['ReadOnlyMany'|'ReadWriteMany'|'ReadWriteOnce'|'ReadWriteOncePod'] list=atomic
 capacity {quantity}
 conditions [PersistentVolumeClaimCondition] list=map keys=type patch=merge patchKey=type
 allocatedResources {quantity}
 allocatedResourceStatuses {'ControllerResizeInProgress'|'ControllerResizeInfeasible'|'NodeResizeInProgress'|'NodeResizeInfeasible'|'NodeResizePending'} map=granular
 currentVolumeAttributesClassName string
 modifyVolumeStatus ModifyVolumeStatus
PersistentVolumeClaimTemplate
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 spec! PersistentVolumeClaimSpec
PersistentVolumeClaimVolumeSource
 claimName! string
 readOnly boolean
PhotonPersistentDiskVolumeSource
 pdID! string
 fsType string
PodAffinity
 requiredDuringSchedulingIgnoredDuringExecution [PodAffinityTerm] list=atomic
 preferredDuringSchedulingIgnoredDuringExecution [WeightedPodAffinityTerm] list=atomic
PodAffinityTerm
 labelSelector io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector
 namespaces [string] list=atomic
 topologyKey! string
 namespaceSelector io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector
 matchLabelKeys [string] list=atomic
 mismatchLabelKeys [string] list=atomic
PodAntiAffinity
 requiredDuringSchedulingIgnoredDuringExecution [PodAffinityTerm] list=atomic
 preferredDuringSchedulingIgnoredDuringExecution [WeightedPodAffinityTerm] list=atomic
PodCertificateProjection
 signerName! string
 keyType! string
 maxExpirationSeconds int32
 credentialBundlePath string
 keyPath string
 certificateChainPath string
 userAnnotations {string}
PodDNSConfig
 nameservers [string] list=atomic
 searches [string] list=atomic
 options [PodDNSConfigOption] list=atomic
PodDNSConfigOption
 name string
 value string
PodOS
 name! string
PodReadinessGate
 conditionType! string
PodResourceClaim
 name! string
 resourceClaimName string
 resourceClaimTemplateName string
PodSchedulingGate
 name! string
PodSchedulingGroup
 podGroupName string
PodSecurityContext
 seLinuxOptions SELinuxOptions
 windowsOptions WindowsSecurityContextOptions
 runAsUser int64
 runAsGroup int64
 runAsNonRoot boolean
 supplementalGroups [int64] list=atomic
 supplementalGroupsPolicy 'Merge'|'Strict'
 fsGroup int64
 sysctls [Sysctl] list=atomic
 fsGroupChangePolicy 'Always'|'OnRootMismatch'
 seccompProfile SeccompProfile
 appArmorProfile AppArmorProfile
 seLinuxChangePolicy string
PodSpec
 volumes [Volume] list=map keys=name patch=merge,retainKeys patchKey=name
 initContainers [Container] list=map keys=name patch=merge patchKey=name
 containers! [Container] list=map keys=name patch=merge patchKey=name
 ephemeralContainers [EphemeralContainer] list=map keys=name patch=merge patchKey=name
 restartPolicy 'Always'|'Never'|'OnFailure'
 terminationGracePeriodSeconds int64
 activeDeadlineSeconds int64
 dnsPolicy 'ClusterFirst'|'ClusterFirstWithHostNet'|'Default'|'None'
 nodeSelector {string} map=atomic
 serviceAccountName string
 serviceAccount string
 automountServiceAccountToken boolean
 nodeName string
 hostNetwork boolean
 hostPID boolean
 hostIPC boolean
 shareProcessNamespace boolean
 securityContext PodSecurityContext
 imagePullSecrets [LocalObjectReference] list=map keys=name patch=merge patchKey=name
 hostname string
 subdomain string
 affinity Affinity
 schedulerName string
 tolerations [Toleration] list=atomic
 hostAliases [HostAlias] list=map keys=ip patch=merge patchKey=ip
 priorityClassName string
 priority int32
 dnsConfig PodDNSConfig
 readinessGates [PodReadinessGate] list=atomic
 runtimeClassName string
 enableServiceLinks boolean
 preemptionPolicy 'Never'|'PreemptLowerPriority'
 overhead {quantity}
 topologySpreadConstraints [TopologySpreadConstraint] list=map keys=topologyKey,whenUnsatisfiable patch=merge patchKey=topologyKey
 setHostnameAsFQDN boolean
 os PodOS
 hostUsers boolean
 schedulingGates [PodSchedulingGate] list=map keys=name patch=merge patchKey=name
 resourceClaims [PodResourceClaim] list=map keys=name patch=merge,retainKeys patchKey=name
 resources ResourceRequirements
 hostnameOverride string
 schedulingGroup PodSchedulingGroup
PodTemplateSpec
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 spec PodSpec
PortworxVolumeSource
 volumeID! string
 fsType string
 readOnly boolean
PreferredSchedulingTerm
 weight! int32
 preference! NodeSelectorTerm
Probe
 exec ExecAction
 httpGet HTTPGetAction
 tcpSocket TCPSocketAction
 grpc GRPCAction
 initialDelaySeconds int32
 timeoutSeconds int32
 periodSeconds int32
 successThreshold int32
 failureThreshold int32
 terminationGracePeriodSeconds int64
ProjectedVolumeSource
 sources [VolumeProjection] list=atomic
 defaultMode int32
QuobyteVolumeSource
 registry! string
 volume! string
 readOnly boolean
 user string
 group string
 tenant string
RBDVolumeSource
 monitors! [string] list=atomic
 image! string
 fsType string
 pool string default="rbd"
 user string default="admin"
 keyring string default="/etc/ceph/keyring"
 secretRef LocalObjectReference
 readOnly boolean
ResourceClaim
 name! string
 request string
ResourceFieldSelector map=atomic
 containerName string
 resource! string
 divisor quantity
ResourceRequirements
 limits {quantity}
 requests {quantity}
 claims [ResourceClaim] list=map keys=name
SELinuxOptions
 user string
 role string
 type string
 level string
ScaleIOVolumeSource
 gateway! string
 system! string
 secretRef! LocalObjectReference
 sslEnabled boolean
 protectionDomain string
 storagePool string
 storageMode string default="ThinProvisioned"
 volumeName string
 fsType string default="xfs"
 readOnly boolean
SeccompProfile
 type! 'Localhost'|'RuntimeDefault'|'Unconfined'
 localhostProfile string
SecretEnvSource
 name string
 optional boolean
SecretKeySelector map=atomic
 name string
 key! string
 optional boolean
SecretProjection
 name string
 items [KeyToPath] list=atomic
 optional boolean
SecretVolumeSource
 secretName string
 items [KeyToPath] list=atomic
 defaultMode int32
 optional boolean
SecurityContext
 capabilities Capabilities
 privileged boolean
 seLinuxOptions SELinuxOptions
 windowsOptions WindowsSecurityContextOptions
 runAsUser int64
 runAsGroup int64
 runAsNonRoot boolean
 readOnlyRootFilesystem boolean
 allowPrivilegeEscalation boolean
 procMount 'Default'|'Unmasked'
 seccompProfile SeccompProfile
 appArmorProfile AppArmorProfile
ServiceAccountTokenProjection
 audience string
 expirationSeconds int64
 path! string
SleepAction
 seconds! int64
StorageOSVolumeSource
 volumeName string
 volumeNamespace string
 fsType string
 readOnly boolean
 secretRef LocalObjectReference
Sysctl
 name! string
 value! string
TCPSocketAction
 port! int-or-string
 host string
Toleration
 key string
 operator 'Equal'|'Exists'|'Gt'|'Lt'
 value string
 effect 'NoExecute'|'NoSchedule'|'PreferNoSchedule'
 tolerationSeconds int64
TopologySpreadConstraint
 maxSkew! int32
 topologyKey! string
 whenUnsatisfiable! 'DoNotSchedule'|'ScheduleAnyway'
 labelSelector io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector
 minDomains int32
 nodeAffinityPolicy 'Honor'|'Ignore'
 nodeTaintsPolicy 'Honor'|'Ignore'
 matchLabelKeys [string] list=atomic
TypedLocalObjectReference map=atomic
 apiGroup string
 kind! string
 name! string
TypedObjectReference
 apiGroup string
 kind! string
 name! string
 namespace string
Volume
 name! string
 hostPath HostPathVolumeSource
 emptyDir EmptyDirVolumeSource
 gcePersistentDisk GCEPersistentDiskVolumeSource
 awsElasticBlockStore AWSElasticBlockStoreVolumeSource
 gitRepo GitRepoVolumeSource
 secret SecretVolumeSource
 nfs NFSVolumeSource
 iscsi ISCSIVolumeSource
 glusterfs GlusterfsVolumeSource
 persistentVolumeClaim PersistentVolumeClaimVolumeSource
 rbd RBDVolumeSource
 flexVolume FlexVolumeSource
 cinder CinderVolumeSource
 cephfs CephFSVolumeSource
 flocker FlockerVolumeSource
 downwardAPI DownwardAPIVolumeSource
 fc FCVolumeSource
 azureFile AzureFileVolumeSource
 configMap ConfigMapVolumeSource
 vsphereVolume VsphereVirtualDiskVolumeSource
 quobyte QuobyteVolumeSource
 azureDisk AzureDiskVolumeSource
 photonPersistentDisk PhotonPersistentDiskVolumeSource
 projected ProjectedVolumeSource
 portworxVolume PortworxVolumeSource
 scaleIO ScaleIOVolumeSource
 storageos StorageOSVolumeSource
 csi CSIVolumeSource
 ephemeral EphemeralVolumeSource
 image ImageVolumeSource
VolumeDevice
 name! string
 devicePath! string
VolumeMount
 name! string
 readOnly boolean
 recursiveReadOnly string
 mountPath! string
 subPath string
 mountPropagation 'Bidirectional'|'HostToContainer'|'None'
 subPathExpr string
VolumeProjection
 secret SecretProjection
 downwardAPI DownwardAPIProjection
 configMap ConfigMapProjection
 serviceAccountToken ServiceAccountTokenProjection
 clusterTrustBundle ClusterTrustBundleProjection
 podCertificate PodCertificateProjection
VolumeResourceRequirements
 limits {quantity}
 requests {quantity}
VsphereVirtualDiskVolumeSource
 volumePath! string
 fsType string
 storagePolicyName string
 storagePolicyID string
WeightedPodAffinityTerm
 weight! int32
 podAffinityTerm! PodAffinityTerm
WindowsSecurityContextOptions
 gmsaCredentialSpecName string
 gmsaCredentialSpec string
 runAsUserName string
 hostProcess boolean
`,
  'io.k8s.apimachinery.pkg.apis.meta.v1': `
Condition
 type! string
 status! string
 observedGeneration int64
 lastTransitionTime! date-time
 reason! string
 message! string
LabelSelector map=atomic
 matchLabels {string}
 matchExpressions [LabelSelectorRequirement] list=atomic
LabelSelectorRequirement
 key! string
 operator! string
 values [string] list=atomic
ManagedFieldsEntry
 manager string
 operation string
 apiVersion string
 time date-time
 fieldsType string
 fieldsV1 object
 subresource string
ObjectMeta
 name string
 generateName string
 namespace string
 selfLink string
 uid string
 resourceVersion string
 generation int64
 creationTimestamp date-time
 deletionTimestamp date-time
 deletionGracePeriodSeconds int64
 labels {string}
 annotations {string}
 ownerReferences [OwnerReference] list=map keys=uid patch=merge patchKey=uid
 finalizers [string] list=set patch=merge
 managedFields [ManagedFieldsEntry] list=atomic
OwnerReference map=atomic
 apiVersion! string
 kind! string
 name! string
 uid! string
 controller boolean
 blockOwnerDeletion boolean
`,
};
