/**
 * Field numbers of the messages of `core/v1`, from the Go types of
 * Kubernetes 1.36. A message begins its line: its name, then its fields in the order of their
 * numbers, which count up from 1 unless `NUMBER>` says otherwise. `=` is a message whose fields
 * are members of the outer object, `?` a scalar that is absent when it is zero. Types that the
 * schema does not tell follow a colon: see `message-field.ts`.
 */
export const CORE_FIELDS: Readonly<Record<string, string>> = {
  'io.k8s.api.core.v1': `
AWSElasticBlockStoreVolumeSource volumeID fsType? partition? readOnly?
Affinity nodeAffinity podAffinity podAntiAffinity
AppArmorProfile type localhostProfile
AttachedVolume name devicePath
AzureDiskVolumeSource diskName diskURI cachingMode fsType readOnly kind
AzureFileVolumeSource secretName shareName readOnly?
Binding metadata target
CSIVolumeSource driver readOnly fsType volumeAttributes nodePublishSecretRef
Capabilities add drop
CephFSVolumeSource monitors path? user? secretFile? secretRef readOnly?
CinderVolumeSource volumeID fsType? readOnly? secretRef
ClientIPConfig timeoutSeconds
ClusterTrustBundleProjection name signerName labelSelector path optional
ConfigMap metadata data binaryData:B immutable
ConfigMapEnvSource =LocalObjectReference optional
ConfigMapKeySelector =LocalObjectReference key optional
ConfigMapNodeConfigSource namespace name uid? resourceVersion? kubeletConfigKey
ConfigMapProjection =LocalObjectReference items 4>optional
ConfigMapVolumeSource =LocalObjectReference items defaultMode optional
Container name image? command args workingDir? ports env resources volumeMounts livenessProbe
  readinessProbe lifecycle terminationMessagePath? imagePullPolicy? securityContext stdin?
  stdinOnce? tty? envFrom terminationMessagePolicy? volumeDevices startupProbe resizePolicy
  restartPolicy restartPolicyRules
ContainerExtendedResourceRequest containerName resourceName requestName
ContainerImage names sizeBytes?
ContainerPort name? hostPort? containerPort protocol? hostIP?
ContainerResizePolicy resourceName restartPolicy
ContainerRestartRule action? exitCodes
ContainerRestartRuleOnExitCodes operator? values
ContainerState waiting running terminated
ContainerStateRunning startedAt?:T
ContainerStateTerminated exitCode signal? reason? message? startedAt?:T finishedAt?:T
  containerID?
ContainerStateWaiting reason? message?
ContainerStatus name state lastState ready restartCount image imageID containerID? started
  allocatedResources:Q resources volumeMounts user allocatedResourcesStatus stopSignal
ContainerUser linux
DaemonEndpoint Port
DownwardAPIProjection items
DownwardAPIVolumeFile path fieldRef resourceFieldRef mode
DownwardAPIVolumeSource items defaultMode
EmptyDirVolumeSource medium? sizeLimit:Q
EnvFromSource prefix? configMapRef secretRef
EnvVar name value? valueFrom
EnvVarSource fieldRef resourceFieldRef configMapKeyRef secretKeyRef fileKeyRef
EphemeralContainer =EphemeralContainerCommon targetContainerName?
EphemeralContainerCommon name image? command args workingDir? ports env resources volumeMounts
  livenessProbe readinessProbe lifecycle terminationMessagePath? imagePullPolicy?
  securityContext stdin? stdinOnce? tty? envFrom terminationMessagePolicy? volumeDevices
  startupProbe resizePolicy restartPolicy restartPolicyRules
EphemeralVolumeSource volumeClaimTemplate
Event metadata involvedObject reason? message? source firstTimestamp?:T lastTimestamp?:T count?
  type? eventTime?:M series action? related reportingComponent reportingInstance
EventSeries count? lastObservedTime?:M
EventSource component? host?
ExecAction command
FCVolumeSource targetWWNs lun fsType? readOnly? wwids
FileKeySelector volumeName path key optional
FlexVolumeSource driver fsType? secretRef readOnly? options
FlockerVolumeSource datasetName? datasetUUID?
GCEPersistentDiskVolumeSource pdName fsType? partition? readOnly?
GRPCAction port service
GitRepoVolumeSource repository revision? directory?
GlusterfsVolumeSource endpoints path readOnly?
HTTPGetAction path? port:I host? scheme? httpHeaders
HTTPHeader name value
HostAlias ip hostnames
HostIP ip
HostPathVolumeSource path type
ISCSIVolumeSource targetPortal iqn lun iscsiInterface? fsType? readOnly? portals
  chapAuthDiscovery? 10>secretRef chapAuthSession? initiatorName
ImageVolumeSource reference? pullPolicy?
ImageVolumeStatus imageRef?
KeyToPath key path mode
Lifecycle postStart preStop stopSignal
LifecycleHandler exec httpGet tcpSocket sleep
LinuxContainerUser uid gid supplementalGroups
LoadBalancerIngress ip? hostname? ipMode ports
LoadBalancerStatus ingress
LocalObjectReference name?
ModifyVolumeStatus targetVolumeAttributesClassName? status
NFSVolumeSource server path readOnly?
Namespace metadata spec status
NamespaceCondition type status 4>lastTransitionTime?:T reason? message?
NamespaceSpec finalizers
NamespaceStatus phase? conditions
Node metadata spec status
NodeAddress type address
NodeAffinity requiredDuringSchedulingIgnoredDuringExecution
  preferredDuringSchedulingIgnoredDuringExecution
NodeAllocatableResourceClaimStatus resourceClaimName containers resources:Q
NodeCondition type status lastHeartbeatTime?:T lastTransitionTime?:T reason? message?
NodeConfigSource 2>configMap
NodeConfigStatus assigned active lastKnownGood error?
NodeDaemonEndpoints kubeletEndpoint
NodeFeatures supplementalGroupsPolicy
NodeRuntimeHandler name features
NodeRuntimeHandlerFeatures recursiveReadOnlyMounts userNamespaces
NodeSelector nodeSelectorTerms
NodeSelectorRequirement key operator values
NodeSelectorTerm matchExpressions matchFields
NodeSpec podCIDR? externalID? providerID? unschedulable? taints configSource podCIDRs
NodeStatus capacity:Q allocatable:Q phase? conditions addresses daemonEndpoints nodeInfo images
  volumesInUse volumesAttached config runtimeHandlers features declaredFeatures
NodeSwapStatus capacity
NodeSystemInfo machineID systemUUID bootID kernelVersion osImage containerRuntimeVersion
  kubeletVersion kubeProxyVersion operatingSystem architecture swap
ObjectFieldSelector apiVersion? fieldPath
ObjectReference kind? namespace? name? uid? apiVersion? resourceVersion? fieldPath?
PersistentVolumeClaim metadata spec status
PersistentVolumeClaimCondition type status lastProbeTime?:T lastTransitionTime?:T reason?
  message?
PersistentVolumeClaimSpec accessModes resources volumeName? selector storageClassName volumeMode
  dataSource dataSourceRef volumeAttributesClassName
PersistentVolumeClaimStatus phase? accessModes capacity:Q conditions allocatedResources:Q
  7>allocatedResourceStatuses currentVolumeAttributesClassName modifyVolumeStatus
PersistentVolumeClaimTemplate metadata spec
PersistentVolumeClaimVolumeSource claimName readOnly?
PhotonPersistentDiskVolumeSource pdID fsType?
Pod metadata spec status
PodAffinity requiredDuringSchedulingIgnoredDuringExecution
  preferredDuringSchedulingIgnoredDuringExecution
PodAffinityTerm labelSelector namespaces topologyKey namespaceSelector matchLabelKeys
  mismatchLabelKeys
PodAntiAffinity requiredDuringSchedulingIgnoredDuringExecution
  preferredDuringSchedulingIgnoredDuringExecution
PodCertificateProjection signerName? keyType? maxExpirationSeconds credentialBundlePath?
  keyPath? certificateChainPath? userAnnotations
PodCondition type status lastProbeTime?:T lastTransitionTime?:T reason? message?
  observedGeneration?
PodDNSConfig nameservers searches options
PodDNSConfigOption name? value
PodExtendedResourceClaimStatus requestMappings resourceClaimName
PodIP ip
PodOS name
PodReadinessGate conditionType
PodResourceClaim name 3>resourceClaimName resourceClaimTemplateName
PodResourceClaimStatus name resourceClaimName
PodSchedulingGate name
PodSchedulingGroup podGroupName
PodSecurityContext seLinuxOptions runAsUser runAsNonRoot supplementalGroups fsGroup runAsGroup
  sysctls windowsOptions fsGroupChangePolicy seccompProfile appArmorProfile
  supplementalGroupsPolicy seLinuxChangePolicy
PodSpec volumes containers restartPolicy? terminationGracePeriodSeconds activeDeadlineSeconds
  dnsPolicy? nodeSelector serviceAccountName? serviceAccount? nodeName? hostNetwork? hostPID?
  hostIPC? securityContext imagePullSecrets hostname? subdomain? affinity schedulerName?
  initContainers automountServiceAccountToken tolerations hostAliases priorityClassName?
  priority dnsConfig shareProcessNamespace readinessGates runtimeClassName enableServiceLinks
  preemptionPolicy overhead:Q topologySpreadConstraints ephemeralContainers setHostnameAsFQDN os
  hostUsers schedulingGates resourceClaims resources hostnameOverride 43>schedulingGroup
PodStatus phase? conditions message? reason? hostIP? podIP? startTime:T containerStatuses
  qosClass? initContainerStatuses nominatedNodeName? podIPs ephemeralContainerStatuses resize?
  resourceClaimStatuses hostIPs observedGeneration? extendedResourceClaimStatus
  allocatedResources:Q resources nodeAllocatableResourceClaimStatuses
PodTemplateSpec metadata spec
PortStatus port protocol error
PortworxVolumeSource volumeID fsType? readOnly?
PreferredSchedulingTerm weight preference
Probe =ProbeHandler initialDelaySeconds? timeoutSeconds? periodSeconds? successThreshold?
  failureThreshold? terminationGracePeriodSeconds
ProbeHandler exec httpGet tcpSocket grpc
ProjectedVolumeSource sources defaultMode
QuobyteVolumeSource registry volume readOnly? user? group? tenant?
RBDVolumeSource monitors image fsType? pool? user? keyring? secretRef readOnly?
ResourceClaim name request?
ResourceFieldSelector containerName? resource divisor:Q
ResourceHealth resourceID health? 6>message
ResourceRequirements limits:Q requests:Q claims
ResourceStatus name resources
SELinuxOptions user? role? type? level?
ScaleIOVolumeSource gateway system secretRef sslEnabled? protectionDomain? storagePool?
  storageMode? volumeName? fsType? readOnly?
SeccompProfile type localhostProfile
Secret metadata data:B type? stringData immutable
SecretEnvSource =LocalObjectReference optional
SecretKeySelector =LocalObjectReference key optional
SecretProjection =LocalObjectReference items 4>optional
SecretVolumeSource secretName? items defaultMode optional
SecurityContext capabilities privileged seLinuxOptions runAsUser runAsNonRoot
  readOnlyRootFilesystem allowPrivilegeEscalation runAsGroup procMount windowsOptions
  seccompProfile appArmorProfile
Service metadata spec status
ServiceAccount metadata secrets imagePullSecrets automountServiceAccountToken
ServiceAccountTokenProjection audience? expirationSeconds path
ServicePort name? protocol? port targetPort?:I nodePort? appProtocol
ServiceSpec ports selector clusterIP? type? externalIPs 7>sessionAffinity? loadBalancerIP?
  loadBalancerSourceRanges externalName? externalTrafficPolicy? healthCheckNodePort?
  publishNotReadyAddresses? sessionAffinityConfig 17>ipFamilyPolicy clusterIPs ipFamilies
  allocateLoadBalancerNodePorts loadBalancerClass internalTrafficPolicy trafficDistribution
ServiceStatus loadBalancer conditions
SessionAffinityConfig clientIP
SleepAction seconds
StorageOSVolumeSource volumeName? volumeNamespace? fsType? readOnly? secretRef
Sysctl name value
TCPSocketAction port:I host?
Taint key value? effect timeAdded:T
Toleration key? operator? value? effect? tolerationSeconds
TopologySpreadConstraint maxSkew topologyKey whenUnsatisfiable labelSelector minDomains
  nodeAffinityPolicy nodeTaintsPolicy matchLabelKeys
TypedLocalObjectReference apiGroup kind name
TypedObjectReference apiGroup kind name namespace
Volume name =VolumeSource
VolumeDevice name devicePath
VolumeMount name readOnly? mountPath subPath? mountPropagation subPathExpr? recursiveReadOnly
VolumeMountStatus name mountPath readOnly? recursiveReadOnly volumeStatus
VolumeProjection secret downwardAPI configMap serviceAccountToken clusterTrustBundle
  podCertificate
VolumeResourceRequirements limits:Q requests:Q
VolumeSource hostPath emptyDir gcePersistentDisk awsElasticBlockStore gitRepo secret nfs iscsi
  glusterfs persistentVolumeClaim rbd flexVolume cinder cephfs flocker downwardAPI fc azureFile
  configMap vsphereVolume quobyte azureDisk photonPersistentDisk portworxVolume scaleIO
  projected storageos csi ephemeral image
VolumeStatus image
VsphereVirtualDiskVolumeSource volumePath fsType? storagePolicyName? storagePolicyID?
WeightedPodAffinityTerm weight podAffinityTerm
WindowsSecurityContextOptions gmsaCredentialSpecName gmsaCredentialSpec runAsUserName
  hostProcess
`,
};
