/**
 * The fields of all messages by their numbers, in Kubernetes 1.36.3. Written by
 * `npm run kinds`: change what that reads, not this file.
 * `packages/embedded-kubernetes/src/api-machinery/protobuf/message-field.ts` explains the notation.
 */
export const MESSAGES: Readonly<Record<string, string>> = {
  'io.k8s.api.admissionregistration.v1': `
MatchCondition name expression
MutatingWebhook name clientConfig rules failurePolicy namespaceSelector sideEffects timeoutSeconds admissionReviewVersions matchPolicy reinvocationPolicy objectSelector matchConditions
MutatingWebhookConfiguration metadata webhooks
Rule apiGroups apiVersions resources scope
RuleWithOperations operations =Rule
ServiceReference namespace name path port
ValidatingWebhook name clientConfig rules failurePolicy namespaceSelector sideEffects timeoutSeconds admissionReviewVersions matchPolicy objectSelector matchConditions
ValidatingWebhookConfiguration metadata webhooks
WebhookClientConfig service caBundle:B url
`,
  'io.k8s.api.authentication.v1': `
BoundObjectReference kind? apiVersion? name? uid?
SelfSubjectReview metadata status
SelfSubjectReviewStatus userInfo
TokenRequest metadata spec status
TokenRequestSpec audiences 3>boundObjectRef expirationSeconds
TokenRequestStatus token expirationTimestamp:T
TokenReview metadata spec status
TokenReviewSpec token? audiences
TokenReviewStatus authenticated? user error? audiences
UserInfo username? uid? groups extra:E
`,
  'io.k8s.api.authorization.v1': `
FieldSelectorAttributes rawSelector? requirements
LabelSelectorAttributes rawSelector? requirements
NonResourceAttributes path? verb?
NonResourceRule verbs nonResourceURLs
ResourceAttributes namespace? verb? group? version? resource? subresource? name? fieldSelector labelSelector
ResourceRule verbs apiGroups resources resourceNames
SelfSubjectAccessReview metadata spec status
SelfSubjectAccessReviewSpec resourceAttributes nonResourceAttributes
SelfSubjectRulesReview metadata spec status
SelfSubjectRulesReviewSpec namespace?
SubjectAccessReview metadata spec status
SubjectAccessReviewSpec resourceAttributes nonResourceAttributes user? groups extra:E uid?
SubjectAccessReviewStatus allowed reason? evaluationError? denied?
SubjectRulesReviewStatus resourceRules nonResourceRules incomplete evaluationError?
`,
  'io.k8s.api.batch.v1': `
Job metadata spec status
JobCondition type status lastProbeTime?:T lastTransitionTime?:T reason? message?
JobSpec parallelism completions activeDeadlineSeconds selector manualSelector template backoffLimit ttlSecondsAfterFinished completionMode suspend podFailurePolicy backoffLimitPerIndex maxFailedIndexes podReplacementPolicy managedBy successPolicy
JobStatus conditions startTime:T completionTime:T active? succeeded? failed? completedIndexes? uncountedTerminatedPods ready failedIndexes terminating
PodFailurePolicy rules
PodFailurePolicyOnExitCodesRequirement containerName operator values
PodFailurePolicyOnPodConditionsPattern type status
PodFailurePolicyRule action onExitCodes onPodConditions
SuccessPolicy rules
SuccessPolicyRule succeededIndexes succeededCount
UncountedTerminatedPods succeeded failed
`,
  'io.k8s.api.coordination.v1': `
Lease metadata spec
LeaseSpec holderIdentity leaseDurationSeconds acquireTime:M renewTime:M leaseTransitions strategy preferredHolder
`,
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
Container name image? command args workingDir? ports env resources volumeMounts livenessProbe readinessProbe lifecycle terminationMessagePath? imagePullPolicy? securityContext stdin? stdinOnce? tty? envFrom terminationMessagePolicy? volumeDevices startupProbe resizePolicy restartPolicy restartPolicyRules
ContainerExtendedResourceRequest containerName resourceName requestName
ContainerImage names sizeBytes?
ContainerPort name? hostPort? containerPort protocol? hostIP?
ContainerResizePolicy resourceName restartPolicy
ContainerRestartRule action? exitCodes
ContainerRestartRuleOnExitCodes operator? values
ContainerState waiting running terminated
ContainerStateRunning startedAt?:T
ContainerStateTerminated exitCode signal? reason? message? startedAt?:T finishedAt?:T containerID?
ContainerStateWaiting reason? message?
ContainerStatus name state lastState ready restartCount image imageID containerID? started allocatedResources:Q resources volumeMounts user allocatedResourcesStatus stopSignal
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
EphemeralContainerCommon name image? command args workingDir? ports env resources volumeMounts livenessProbe readinessProbe lifecycle terminationMessagePath? imagePullPolicy? securityContext stdin? stdinOnce? tty? envFrom terminationMessagePolicy? volumeDevices startupProbe resizePolicy restartPolicy restartPolicyRules
EphemeralVolumeSource volumeClaimTemplate
Event metadata involvedObject reason? message? source firstTimestamp?:T lastTimestamp?:T count? type? eventTime?:M series action? related reportingComponent reportingInstance
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
ISCSIVolumeSource targetPortal iqn lun iscsiInterface? fsType? readOnly? portals chapAuthDiscovery? 10>secretRef chapAuthSession? initiatorName
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
NodeAffinity requiredDuringSchedulingIgnoredDuringExecution preferredDuringSchedulingIgnoredDuringExecution
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
NodeStatus capacity:Q allocatable:Q phase? conditions addresses daemonEndpoints nodeInfo images volumesInUse volumesAttached config runtimeHandlers features declaredFeatures
NodeSwapStatus capacity
NodeSystemInfo machineID systemUUID bootID kernelVersion osImage containerRuntimeVersion kubeletVersion kubeProxyVersion operatingSystem architecture swap
ObjectFieldSelector apiVersion? fieldPath
ObjectReference kind? namespace? name? uid? apiVersion? resourceVersion? fieldPath?
PersistentVolumeClaim metadata spec status
PersistentVolumeClaimCondition type status lastProbeTime?:T lastTransitionTime?:T reason? message?
PersistentVolumeClaimSpec accessModes resources volumeName? selector storageClassName volumeMode dataSource dataSourceRef volumeAttributesClassName
PersistentVolumeClaimStatus phase? accessModes capacity:Q conditions allocatedResources:Q 7>allocatedResourceStatuses currentVolumeAttributesClassName modifyVolumeStatus
PersistentVolumeClaimTemplate metadata spec
PersistentVolumeClaimVolumeSource claimName readOnly?
PhotonPersistentDiskVolumeSource pdID fsType?
Pod metadata spec status
PodAffinity requiredDuringSchedulingIgnoredDuringExecution preferredDuringSchedulingIgnoredDuringExecution
PodAffinityTerm labelSelector namespaces topologyKey namespaceSelector matchLabelKeys mismatchLabelKeys
PodAntiAffinity requiredDuringSchedulingIgnoredDuringExecution preferredDuringSchedulingIgnoredDuringExecution
PodCertificateProjection signerName? keyType? maxExpirationSeconds credentialBundlePath? keyPath? certificateChainPath? userAnnotations
PodCondition type status lastProbeTime?:T lastTransitionTime?:T reason? message? observedGeneration?
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
PodSecurityContext seLinuxOptions runAsUser runAsNonRoot supplementalGroups fsGroup runAsGroup sysctls windowsOptions fsGroupChangePolicy seccompProfile appArmorProfile supplementalGroupsPolicy seLinuxChangePolicy
PodSpec volumes containers restartPolicy? terminationGracePeriodSeconds activeDeadlineSeconds dnsPolicy? nodeSelector serviceAccountName? serviceAccount? nodeName? hostNetwork? hostPID? hostIPC? securityContext imagePullSecrets hostname? subdomain? affinity schedulerName? initContainers automountServiceAccountToken tolerations hostAliases priorityClassName? priority dnsConfig shareProcessNamespace readinessGates runtimeClassName enableServiceLinks preemptionPolicy overhead:Q topologySpreadConstraints ephemeralContainers setHostnameAsFQDN os hostUsers schedulingGates resourceClaims resources hostnameOverride 43>schedulingGroup
PodStatus phase? conditions message? reason? hostIP? podIP? startTime:T containerStatuses qosClass? initContainerStatuses nominatedNodeName? podIPs ephemeralContainerStatuses resize? resourceClaimStatuses hostIPs observedGeneration? extendedResourceClaimStatus allocatedResources:Q resources nodeAllocatableResourceClaimStatuses
PodTemplateSpec metadata spec
PortStatus port protocol error
PortworxVolumeSource volumeID fsType? readOnly?
PreferredSchedulingTerm weight preference
Probe =ProbeHandler initialDelaySeconds? timeoutSeconds? periodSeconds? successThreshold? failureThreshold? terminationGracePeriodSeconds
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
ScaleIOVolumeSource gateway system secretRef sslEnabled? protectionDomain? storagePool? storageMode? volumeName? fsType? readOnly?
SeccompProfile type localhostProfile
Secret metadata data:B type? stringData immutable
SecretEnvSource =LocalObjectReference optional
SecretKeySelector =LocalObjectReference key optional
SecretProjection =LocalObjectReference items 4>optional
SecretVolumeSource secretName? items defaultMode optional
SecurityContext capabilities privileged seLinuxOptions runAsUser runAsNonRoot readOnlyRootFilesystem allowPrivilegeEscalation runAsGroup procMount windowsOptions seccompProfile appArmorProfile
Service metadata spec status
ServiceAccount metadata secrets imagePullSecrets automountServiceAccountToken
ServiceAccountTokenProjection audience? expirationSeconds path
ServicePort name? protocol? port targetPort?:I nodePort? appProtocol
ServiceSpec ports selector clusterIP? type? externalIPs 7>sessionAffinity? loadBalancerIP? loadBalancerSourceRanges externalName? externalTrafficPolicy? healthCheckNodePort? publishNotReadyAddresses? sessionAffinityConfig 17>ipFamilyPolicy clusterIPs ipFamilies allocateLoadBalancerNodePorts loadBalancerClass internalTrafficPolicy trafficDistribution
ServiceStatus loadBalancer conditions
SessionAffinityConfig clientIP
SleepAction seconds
StorageOSVolumeSource volumeName? volumeNamespace? fsType? readOnly? secretRef
Sysctl name value
TCPSocketAction port:I host?
Taint key value? effect timeAdded:T
Toleration key? operator? value? effect? tolerationSeconds
TopologySpreadConstraint maxSkew topologyKey whenUnsatisfiable labelSelector minDomains nodeAffinityPolicy nodeTaintsPolicy matchLabelKeys
TypedLocalObjectReference apiGroup kind name
TypedObjectReference apiGroup kind name namespace
Volume name =VolumeSource
VolumeDevice name devicePath
VolumeMount name readOnly? mountPath subPath? mountPropagation subPathExpr? recursiveReadOnly
VolumeMountStatus name mountPath readOnly? recursiveReadOnly volumeStatus
VolumeProjection secret downwardAPI configMap serviceAccountToken clusterTrustBundle podCertificate
VolumeResourceRequirements limits:Q requests:Q
VolumeSource hostPath emptyDir gcePersistentDisk awsElasticBlockStore gitRepo secret nfs iscsi glusterfs persistentVolumeClaim rbd flexVolume cinder cephfs flocker downwardAPI fc azureFile configMap vsphereVolume quobyte azureDisk photonPersistentDisk portworxVolume scaleIO projected storageos csi ephemeral image
VolumeStatus image
VsphereVirtualDiskVolumeSource volumePath fsType? storagePolicyName? storagePolicyID?
WeightedPodAffinityTerm weight podAffinityTerm
WindowsSecurityContextOptions gmsaCredentialSpecName gmsaCredentialSpec runAsUserName hostProcess
`,
  'io.k8s.api.discovery.v1': `
Endpoint addresses conditions hostname targetRef deprecatedTopology nodeName zone hints
EndpointConditions ready serving terminating
EndpointHints forZones forNodes
EndpointPort name protocol port appProtocol
EndpointSlice metadata endpoints ports addressType
ForNode name
ForZone name
`,
  'io.k8s.api.events.v1': `
Event metadata eventTime:M series reportingController? reportingInstance? action? reason? regarding related note? type? deprecatedSource deprecatedFirstTimestamp?:T deprecatedLastTimestamp?:T deprecatedCount?
EventSeries count lastObservedTime:M
`,
  'io.k8s.api.policy.v1': `
Eviction metadata deleteOptions
`,
  'io.k8s.api.rbac.v1': `
AggregationRule clusterRoleSelectors
ClusterRole metadata rules aggregationRule
ClusterRoleBinding metadata subjects roleRef
PolicyRule verbs apiGroups resources resourceNames nonResourceURLs
Role metadata rules
RoleBinding metadata subjects roleRef
RoleRef apiGroup kind name
Subject kind apiGroup? name namespace?
`,
  'io.k8s.api.scheduling.v1alpha2': `
GangSchedulingPolicy minCount
PodGroup metadata spec status
PodGroupResourceClaim name resourceClaimName resourceClaimTemplateName
PodGroupResourceClaimStatus name resourceClaimName
PodGroupSchedulingConstraints topology
PodGroupSchedulingPolicy basic gang
PodGroupSpec podGroupTemplateRef schedulingPolicy schedulingConstraints resourceClaims disruptionMode priorityClassName? priority
PodGroupStatus conditions resourceClaimStatuses
PodGroupTemplate name schedulingPolicy schedulingConstraints resourceClaims disruptionMode priorityClassName? priority
PodGroupTemplateReference workload
TopologyConstraint key
TypedLocalObjectReference apiGroup? kind name
Workload metadata spec
WorkloadPodGroupTemplateReference workloadName podGroupTemplateName
WorkloadSpec controllerRef podGroupTemplates
`,
  'io.k8s.apimachinery.pkg.apis.meta.v1': `
Condition type status observedGeneration? lastTransitionTime:T reason message
DeleteOptions gracePeriodSeconds preconditions orphanDependents propagationPolicy dryRun ignoreStoreReadErrorWithClusterBreakingPotential
FieldSelectorRequirement key operator values
LabelSelector matchLabels matchExpressions
LabelSelectorRequirement key operator values
ListMeta selfLink? resourceVersion? continue? remainingItemCount shardInfo
ManagedFieldsEntry manager? operation? apiVersion? time:T 6>fieldsType? fieldsV1:R subresource?
ObjectMeta name? generateName? namespace? selfLink? uid? resourceVersion? generation? creationTimestamp?:T deletionTimestamp:T deletionGracePeriodSeconds labels annotations ownerReferences finalizers 17>managedFields
OwnerReference kind 3>name uid apiVersion controller blockOwnerDeletion
Preconditions uid resourceVersion
ShardInfo selector
`,
};
