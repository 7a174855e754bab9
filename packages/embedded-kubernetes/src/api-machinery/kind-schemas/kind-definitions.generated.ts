/**
 * The schemas of built-in kinds other than those in Job and Pod templates, in Kubernetes 1.36.3. Written by
 * `npm run kinds`: change what that reads, not this file.
 * `packages/kube/src/schema/definitions.ts` explains the notation.
 */
export const KIND_DEFINITION_TEXTS: Readonly<Record<string, string>> = {
  'io.k8s.api.admissionregistration.v1': `
MatchCondition
 name! string
 expression! string
MutatingWebhook
 name! string
 clientConfig! WebhookClientConfig
 rules [RuleWithOperations] list=atomic
 failurePolicy 'Fail'|'Ignore'
 matchPolicy 'Equivalent'|'Exact'
 namespaceSelector io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector
 objectSelector io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector
 sideEffects! 'None'|'NoneOnDryRun'|'Some'|'Unknown'
 timeoutSeconds int32
 admissionReviewVersions! [string] list=atomic
 reinvocationPolicy 'IfNeeded'|'Never'
 matchConditions [MatchCondition] list=map keys=name patch=merge patchKey=name
MutatingWebhookConfiguration
 kind string
 apiVersion string
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 webhooks [MutatingWebhook] list=map keys=name patch=merge patchKey=name
RuleWithOperations
 operations ['*'|'CONNECT'|'CREATE'|'DELETE'|'UPDATE'] list=atomic
 apiGroups [string] list=atomic
 apiVersions [string] list=atomic
 resources [string] list=atomic
 scope '*'|'Cluster'|'Namespaced'
ServiceReference
 namespace! string
 name! string
 path string
 port int32
ValidatingWebhook
 name! string
 clientConfig! WebhookClientConfig
 rules [RuleWithOperations] list=atomic
 failurePolicy 'Fail'|'Ignore'
 matchPolicy 'Equivalent'|'Exact'
 namespaceSelector io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector
 objectSelector io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector
 sideEffects! 'None'|'NoneOnDryRun'|'Some'|'Unknown'
 timeoutSeconds int32
 admissionReviewVersions! [string] list=atomic
 matchConditions [MatchCondition] list=map keys=name patch=merge patchKey=name
ValidatingWebhookConfiguration
 kind string
 apiVersion string
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 webhooks [ValidatingWebhook] list=map keys=name patch=merge patchKey=name
WebhookClientConfig
 url string
 service ServiceReference
 caBundle byte
`,
  'io.k8s.api.authentication.v1': `
BoundObjectReference
 kind string
 apiVersion string
 name string
 uid string
SelfSubjectReview
 kind string
 apiVersion string
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 status SelfSubjectReviewStatus
SelfSubjectReviewStatus
 userInfo UserInfo
TokenRequest
 kind string
 apiVersion string
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 spec TokenRequestSpec
 status TokenRequestStatus
TokenRequestSpec
 audiences [string] list=atomic
 expirationSeconds int64
 boundObjectRef BoundObjectReference
TokenRequestStatus
 token string
 expirationTimestamp date-time
TokenReview
 kind string
 apiVersion string
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 spec! TokenReviewSpec
 status TokenReviewStatus
TokenReviewSpec
 token! string
 audiences [string] list=atomic
TokenReviewStatus
 authenticated boolean
 user UserInfo
 audiences [string] list=atomic
 error string
UserInfo
 username string
 uid string
 groups [string] list=atomic
 extra {[string]}
`,
  'io.k8s.api.authorization.v1': `
FieldSelectorAttributes
 rawSelector string
 requirements [io.k8s.apimachinery.pkg.apis.meta.v1.FieldSelectorRequirement] list=atomic
LabelSelectorAttributes
 rawSelector string
 requirements [io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement] list=atomic
NonResourceAttributes
 path string
 verb string
NonResourceRule
 verbs! [string] list=atomic
 nonResourceURLs [string] list=atomic
ResourceAttributes
 namespace string
 verb string
 group string
 version string
 resource string
 subresource string
 name string
 fieldSelector FieldSelectorAttributes
 labelSelector LabelSelectorAttributes
ResourceRule
 verbs! [string] list=atomic
 apiGroups [string] list=atomic
 resources [string] list=atomic
 resourceNames [string] list=atomic
SelfSubjectAccessReview
 kind string
 apiVersion string
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 spec! SelfSubjectAccessReviewSpec
 status SubjectAccessReviewStatus
SelfSubjectAccessReviewSpec
 resourceAttributes ResourceAttributes
 nonResourceAttributes NonResourceAttributes
SelfSubjectRulesReview
 kind string
 apiVersion string
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 spec! SelfSubjectRulesReviewSpec
 status SubjectRulesReviewStatus
SelfSubjectRulesReviewSpec
 namespace string
SubjectAccessReview
 kind string
 apiVersion string
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 spec! SubjectAccessReviewSpec
 status SubjectAccessReviewStatus
SubjectAccessReviewSpec
 resourceAttributes ResourceAttributes
 nonResourceAttributes NonResourceAttributes
 user string
 groups [string] list=atomic
 extra {[string]}
 uid string
SubjectAccessReviewStatus
 allowed! boolean
 denied boolean
 reason string
 evaluationError string
SubjectRulesReviewStatus
 resourceRules! [ResourceRule] list=atomic
 nonResourceRules! [NonResourceRule] list=atomic
 incomplete! boolean
 evaluationError string
`,
  'io.k8s.api.batch.v1': `
Job
 kind string
 apiVersion string
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 spec JobSpec
 status JobStatus
JobCondition
 type! string
 status! string
 lastProbeTime date-time
 lastTransitionTime date-time
 reason string
 message string
JobStatus
 conditions [JobCondition] list=atomic patch=merge patchKey=type
 startTime date-time
 completionTime date-time
 active int32
 succeeded int32
 failed int32
 terminating int32
 completedIndexes string
 failedIndexes string
 uncountedTerminatedPods UncountedTerminatedPods
 ready int32
UncountedTerminatedPods
 succeeded [string] list=set
 failed [string] list=set
`,
  'io.k8s.api.coordination.v1': `
Lease
 kind string
 apiVersion string
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 spec LeaseSpec
LeaseSpec
 holderIdentity string
 leaseDurationSeconds int32
 acquireTime date-time
 renewTime date-time
 leaseTransitions int32
 strategy string
 preferredHolder string
`,
  'io.k8s.api.core.v1': `
AttachedVolume
 name! string
 devicePath! string
Binding
 kind string
 apiVersion string
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 target! ObjectReference
ClientIPConfig
 timeoutSeconds int32
ConfigMap
 kind string
 apiVersion string
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 immutable boolean
 data {string}
 binaryData {byte}
ConfigMapNodeConfigSource
 namespace! string
 name! string
 uid string
 resourceVersion string
 kubeletConfigKey! string
ContainerExtendedResourceRequest
 containerName! string
 resourceName! string
 requestName! string
ContainerImage
 names [string] list=atomic
 sizeBytes int64
ContainerState
 waiting ContainerStateWaiting
 running ContainerStateRunning
 terminated ContainerStateTerminated
ContainerStateRunning
 startedAt date-time
ContainerStateTerminated
 exitCode! int32
 signal int32
 reason string
 message string
 startedAt date-time
 finishedAt date-time
 containerID string
ContainerStateWaiting
 reason string
 message string
ContainerStatus
 name! string
 state ContainerState
 lastState ContainerState
 ready! boolean
 restartCount! int32
 image! string
 imageID! string
 containerID string
 started boolean
 allocatedResources {quantity}
 resources ResourceRequirements
 volumeMounts [VolumeMountStatus] list=map keys=mountPath patch=merge patchKey=mountPath
 user ContainerUser
 allocatedResourcesStatus [ResourceStatus] list=map keys=name patch=merge patchKey=name
 stopSignal 'SIGABRT'|'SIGALRM'|'SIGBUS'|'SIGCHLD'|'SIGCLD'|'SIGCONT'|'SIGFPE'|'SIGHUP'|'SIGILL'|'SIGINT'|'SIGIO'|'SIGIOT'|'SIGKILL'|'SIGPIPE'|'SIGPOLL'|'SIGPROF'|'SIGPWR'|'SIGQUIT'|'SIGRTMAX'|'SIGRTMAX-1'|'SIGRTMAX-10'|'SIGRTMAX-11'|'SIGRTMAX-12'|'SIGRTMAX-13'|'SIGRTMAX-14'|'SIGRTMAX-2'|'SIGRTMAX-3'|'SIGRTMAX-4'|'SIGRTMAX-5'|'SIGRTMAX-6'|'SIGRTMAX-7'|'SIGRTMAX-8'|'SIGRTMAX-9'|'SIGRTMIN'|'SIGRTMIN+1'|'SIGRTMIN+10'|'SIGRTMIN+11'|'SIGRTMIN+12'|'SIGRTMIN+13'|'SIGRTMIN+14'|'SIGRTMIN+15'|'SIGRTMIN+2'|'SIGRTMIN+3'|'SIGRTMIN+4'|'SIGRTMIN+5'|'SIGRTMIN+6'|'SIGRTMIN+7'|'SIGRTMIN+8'|'SIGRTMIN+9'|'SIGSEGV'|'SIGSTKFLT'|'SIGSTOP'|'SIGSYS'|'SIGTERM'|'SIGTRAP'|'SIGTSTP'|'SIGTTIN'|'SIGTTOU'|'SIGURG'|'SIGUSR1'|'SIGUSR2'|'SIGVTALRM'|'SIGWINCH'|'SIGXCPU'|'SIGXFSZ'
ContainerUser
 linux LinuxContainerUser
DaemonEndpoint
 Port! int32
Event
 kind string
 apiVersion string
 metadata! io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 involvedObject! ObjectReference
 reason string
 message string
 source EventSource
 firstTimestamp date-time
 lastTimestamp date-time
 count int32
 type string
 eventTime date-time
 series EventSeries
 action string
 related ObjectReference
 reportingComponent string
 reportingInstance string
EventSeries
 count int32
 lastObservedTime date-time
EventSource
 component string
 host string
HostIP
 ip! string
ImageVolumeStatus
 imageRef! string
LinuxContainerUser
 uid! int64
 gid! int64
 supplementalGroups [int64] list=atomic
LoadBalancerIngress
 ip string
 hostname string
 ipMode string
 ports [PortStatus] list=atomic
LoadBalancerStatus
 ingress [LoadBalancerIngress] list=atomic
Namespace
 kind string
 apiVersion string
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 spec NamespaceSpec
 status NamespaceStatus
NamespaceCondition
 type! string
 status! string
 lastTransitionTime date-time
 reason string
 message string
NamespaceSpec
 finalizers [string] list=atomic
NamespaceStatus
 phase 'Active'|'Terminating'
 conditions [NamespaceCondition] list=map keys=type patch=merge patchKey=type
Node
 kind string
 apiVersion string
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 spec NodeSpec
 status NodeStatus
NodeAddress
 type! string
 address! string
NodeAllocatableResourceClaimStatus
 resourceClaimName! string
 containers [string] list=set
 resources! {quantity}
NodeCondition
 type! string
 status! string
 lastHeartbeatTime date-time
 lastTransitionTime date-time
 reason string
 message string
NodeConfigSource
 configMap ConfigMapNodeConfigSource
NodeConfigStatus
 assigned NodeConfigSource
 active NodeConfigSource
 lastKnownGood NodeConfigSource
 error string
NodeDaemonEndpoints
 kubeletEndpoint DaemonEndpoint
NodeFeatures
 supplementalGroupsPolicy boolean
NodeRuntimeHandler
 name string
 features NodeRuntimeHandlerFeatures
NodeRuntimeHandlerFeatures
 recursiveReadOnlyMounts boolean
 userNamespaces boolean
NodeSpec
 podCIDR string
 podCIDRs [string] list=set patch=merge
 providerID string
 unschedulable boolean
 taints [Taint] list=atomic
 configSource NodeConfigSource
 externalID string
NodeStatus
 capacity {quantity}
 allocatable {quantity}
 phase 'Pending'|'Running'|'Terminated'
 conditions [NodeCondition] list=map keys=type patch=merge patchKey=type
 addresses [NodeAddress] list=map keys=type patch=merge patchKey=type
 daemonEndpoints NodeDaemonEndpoints
 nodeInfo NodeSystemInfo
 images [ContainerImage] list=atomic
 volumesInUse [string] list=atomic
 volumesAttached [AttachedVolume] list=atomic
 config NodeConfigStatus
 runtimeHandlers [NodeRuntimeHandler] list=atomic
 features NodeFeatures
 declaredFeatures [string] list=atomic
NodeSwapStatus
 capacity int64
NodeSystemInfo
 machineID! string
 systemUUID! string
 bootID! string
 kernelVersion! string
 osImage! string
 containerRuntimeVersion! string
 kubeletVersion! string
 kubeProxyVersion! string
 operatingSystem! string
 architecture! string
 swap NodeSwapStatus
ObjectReference map=atomic
 kind string
 namespace string
 name string
 uid string
 apiVersion string
 resourceVersion string
 fieldPath string
Pod
 kind string
 apiVersion string
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 spec PodSpec
 status PodStatus
PodCondition
 type! string
 observedGeneration int64
 status! string
 lastProbeTime date-time
 lastTransitionTime date-time
 reason string
 message string
PodExtendedResourceClaimStatus
 requestMappings! [ContainerExtendedResourceRequest] list=atomic
 resourceClaimName! string
PodIP
 ip! string
PodResourceClaimStatus
 name! string
 resourceClaimName string
PodStatus
 observedGeneration int64
 phase 'Failed'|'Pending'|'Running'|'Succeeded'|'Unknown'
 conditions [PodCondition] list=map keys=type patch=merge patchKey=type
 message string
 reason string
 nominatedNodeName string
 hostIP string
 hostIPs [HostIP] list=atomic patch=merge patchKey=ip
 podIP string
 podIPs [PodIP] list=map keys=ip patch=merge patchKey=ip
 startTime date-time
 initContainerStatuses [ContainerStatus] list=atomic
 containerStatuses [ContainerStatus] list=atomic
 qosClass 'BestEffort'|'Burstable'|'Guaranteed'
 ephemeralContainerStatuses [ContainerStatus] list=atomic
 resize string
 resourceClaimStatuses [PodResourceClaimStatus] list=map keys=name patch=merge,retainKeys patchKey=name
 extendedResourceClaimStatus PodExtendedResourceClaimStatus
 allocatedResources {quantity}
 resources ResourceRequirements
 nodeAllocatableResourceClaimStatuses [NodeAllocatableResourceClaimStatus] list=atomic
PortStatus
 port! int32
 protocol! 'SCTP'|'TCP'|'UDP'
 error string
ResourceHealth
 resourceID! string
 health string
 message string
ResourceStatus
 name! string
 resources [ResourceHealth] list=map keys=resourceID
Secret
 kind string
 apiVersion string
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 immutable boolean
 data {byte}
 stringData {string}
 type string
Service
 kind string
 apiVersion string
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 spec ServiceSpec
 status ServiceStatus
ServiceAccount
 kind string
 apiVersion string
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 secrets [ObjectReference] list=map keys=name patch=merge patchKey=name
 imagePullSecrets [LocalObjectReference] list=atomic
 automountServiceAccountToken boolean
ServicePort
 name string
 protocol 'SCTP'|'TCP'|'UDP' default="TCP"
 appProtocol string
 port! int32
 targetPort int-or-string
 nodePort int32
ServiceSpec
 ports [ServicePort] list=map keys=port,protocol patch=merge patchKey=port
 selector {string} map=atomic
 clusterIP string
 clusterIPs [string] list=atomic
 type 'ClusterIP'|'ExternalName'|'LoadBalancer'|'NodePort'
 externalIPs [string] list=atomic
 sessionAffinity 'ClientIP'|'None'
 loadBalancerIP string
 loadBalancerSourceRanges [string] list=atomic
 externalName string
 externalTrafficPolicy 'Cluster'|'Local'
 healthCheckNodePort int32
 publishNotReadyAddresses boolean
 sessionAffinityConfig SessionAffinityConfig
 ipFamilies [''|'IPv4'|'IPv6'] list=atomic
 ipFamilyPolicy 'PreferDualStack'|'RequireDualStack'|'SingleStack'
 allocateLoadBalancerNodePorts boolean
 loadBalancerClass string
 internalTrafficPolicy 'Cluster'|'Local'
 trafficDistribution string
ServiceStatus
 loadBalancer LoadBalancerStatus
 conditions [io.k8s.apimachinery.pkg.apis.meta.v1.Condition] list=map keys=type patch=merge patchKey=type
SessionAffinityConfig
 clientIP ClientIPConfig
Taint
 key! string
 value string
 effect! 'NoExecute'|'NoSchedule'|'PreferNoSchedule'
 timeAdded date-time
VolumeMountStatus
 name! string
 mountPath! string
 readOnly boolean
 recursiveReadOnly string
 volumeStatus VolumeStatus
VolumeStatus
 image ImageVolumeStatus
`,
  'io.k8s.api.discovery.v1': `
Endpoint
 addresses! [string] list=set
 conditions EndpointConditions
 hostname string
 targetRef io.k8s.api.core.v1.ObjectReference
 deprecatedTopology {string}
 nodeName string
 zone string
 hints EndpointHints
EndpointConditions
 ready boolean
 serving boolean
 terminating boolean
EndpointHints
 forZones [ForZone] list=atomic
 forNodes [ForNode] list=atomic
EndpointPort map=atomic
 name string
 protocol 'SCTP'|'TCP'|'UDP'
 port int32
 appProtocol string
EndpointSlice
 kind string
 apiVersion string
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 addressType! string
 endpoints [Endpoint] list=atomic
 ports [EndpointPort] list=atomic
ForNode
 name! string
ForZone
 name! string
`,
  'io.k8s.api.events.v1': `
Event
 kind string
 apiVersion string
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 eventTime! date-time
 series EventSeries
 reportingController string
 reportingInstance string
 action string
 reason string
 regarding io.k8s.api.core.v1.ObjectReference
 related io.k8s.api.core.v1.ObjectReference
 note string
 type string
 deprecatedSource io.k8s.api.core.v1.EventSource
 deprecatedFirstTimestamp date-time
 deprecatedLastTimestamp date-time
 deprecatedCount int32
EventSeries
 count! int32
 lastObservedTime! date-time
`,
  'io.k8s.api.policy.v1': `
Eviction
 kind string
 apiVersion string
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 deleteOptions io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions
`,
  'io.k8s.api.rbac.v1': `
AggregationRule
 clusterRoleSelectors [io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector] list=atomic
ClusterRole
 kind string
 apiVersion string
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 rules [PolicyRule] list=atomic
 aggregationRule AggregationRule
ClusterRoleBinding
 kind string
 apiVersion string
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 subjects [Subject] list=atomic
 roleRef! RoleRef
PolicyRule
 verbs! [string] list=atomic
 apiGroups [string] list=atomic
 resources [string] list=atomic
 resourceNames [string] list=atomic
 nonResourceURLs [string] list=atomic
Role
 kind string
 apiVersion string
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 rules [PolicyRule] list=atomic
RoleBinding
 kind string
 apiVersion string
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 subjects [Subject] list=atomic
 roleRef! RoleRef
RoleRef map=atomic
 apiGroup string
 kind! string
 name! string
Subject map=atomic
 kind! string
 apiGroup string
 name! string
 namespace string
`,
  'io.k8s.api.scheduling.v1alpha2': `
GangSchedulingPolicy
 minCount! int32
PodGroup
 kind string
 apiVersion string
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 spec! PodGroupSpec
 status PodGroupStatus
PodGroupResourceClaim
 name! string
 resourceClaimName string
 resourceClaimTemplateName string
PodGroupResourceClaimStatus
 name! string
 resourceClaimName string
PodGroupSchedulingConstraints
 topology [TopologyConstraint] list=atomic
PodGroupSchedulingPolicy
 basic object
 gang GangSchedulingPolicy
PodGroupSpec
 podGroupTemplateRef PodGroupTemplateReference
 schedulingPolicy! PodGroupSchedulingPolicy
 schedulingConstraints PodGroupSchedulingConstraints
 resourceClaims [PodGroupResourceClaim] list=map keys=name patch=merge,retainKeys patchKey=name
 disruptionMode 'Pod'|'PodGroup' default="Pod"
 priorityClassName string
 priority int32
PodGroupStatus
 conditions [io.k8s.apimachinery.pkg.apis.meta.v1.Condition] list=map keys=type patch=merge patchKey=type
 resourceClaimStatuses [PodGroupResourceClaimStatus] list=map keys=name patch=merge,retainKeys patchKey=name
PodGroupTemplate
 name! string
 schedulingPolicy! PodGroupSchedulingPolicy
 schedulingConstraints PodGroupSchedulingConstraints
 resourceClaims [PodGroupResourceClaim] list=map keys=name patch=merge,retainKeys patchKey=name
 disruptionMode 'Pod'|'PodGroup'
 priorityClassName string
 priority int32
PodGroupTemplateReference
 workload WorkloadPodGroupTemplateReference
TopologyConstraint
 key! string
TypedLocalObjectReference
 apiGroup string
 kind! string
 name! string
Workload
 kind string
 apiVersion string
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 spec! WorkloadSpec
WorkloadPodGroupTemplateReference
 workloadName! string
 podGroupTemplateName! string
WorkloadSpec
 controllerRef TypedLocalObjectReference
 podGroupTemplates! [PodGroupTemplate] list=map keys=name
`,
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1': `
CustomResourceColumnDefinition
 name! string
 type! string
 format string
 description string
 priority int32
 jsonPath! string
CustomResourceConversion
 strategy! string
 webhook WebhookConversion
CustomResourceDefinition
 kind string
 apiVersion string
 metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
 spec! CustomResourceDefinitionSpec
 status CustomResourceDefinitionStatus
CustomResourceDefinitionCondition
 type! string
 status! string
 lastTransitionTime date-time
 reason string
 message string
 observedGeneration int64
CustomResourceDefinitionNames
 plural! string
 singular string
 shortNames [string] list=atomic
 kind! string
 listKind string
 categories [string] list=atomic
CustomResourceDefinitionSpec
 group! string
 names! CustomResourceDefinitionNames
 scope! string
 versions! [CustomResourceDefinitionVersion] list=atomic
 conversion CustomResourceConversion
 preserveUnknownFields boolean
CustomResourceDefinitionStatus
 conditions [CustomResourceDefinitionCondition] list=map keys=type
 acceptedNames CustomResourceDefinitionNames
 storedVersions [string] list=atomic
 observedGeneration int64
CustomResourceDefinitionVersion
 name! string
 served! boolean
 storage! boolean
 deprecated boolean
 deprecationWarning string
 schema CustomResourceValidation
 subresources CustomResourceSubresources
 additionalPrinterColumns [CustomResourceColumnDefinition] list=atomic
 selectableFields [SelectableField] list=atomic
CustomResourceSubresourceScale
 specReplicasPath! string
 statusReplicasPath! string
 labelSelectorPath string
CustomResourceSubresources
 status object
 scale CustomResourceSubresourceScale
CustomResourceValidation
 openAPIV3Schema JSONSchemaProps
ExternalDocumentation
 description string
 url string
JSONSchemaProps
 id string
 $schema string
 $ref string
 description string
 type string
 format string
 title string
 default JSON
 maximum double
 exclusiveMaximum boolean
 minimum double
 exclusiveMinimum boolean
 maxLength int64
 minLength int64
 pattern string
 maxItems int64
 minItems int64
 uniqueItems boolean
 multipleOf double
 enum [JSON] list=atomic
 maxProperties int64
 minProperties int64
 required [string] list=atomic
 items JSONSchemaPropsOrArray
 allOf [JSONSchemaProps] list=atomic
 oneOf [JSONSchemaProps] list=atomic
 anyOf [JSONSchemaProps] list=atomic
 not JSONSchemaProps
 properties {JSONSchemaProps}
 additionalProperties JSONSchemaPropsOrBool
 patternProperties {JSONSchemaProps}
 dependencies {JSONSchemaPropsOrStringArray}
 additionalItems JSONSchemaPropsOrBool
 definitions {JSONSchemaProps}
 externalDocs ExternalDocumentation
 example JSON
 nullable boolean
 x-kubernetes-preserve-unknown-fields boolean
 x-kubernetes-embedded-resource boolean
 x-kubernetes-int-or-string boolean
 x-kubernetes-list-map-keys [string] list=atomic
 x-kubernetes-list-type string
 x-kubernetes-map-type string
 x-kubernetes-validations [ValidationRule] list=map keys=rule patch=merge patchKey=rule
SelectableField
 jsonPath! string
ServiceReference
 namespace! string
 name! string
 path string
 port int32
ValidationRule
 rule! string
 message string
 messageExpression string
 reason 'FieldValueDuplicate'|'FieldValueForbidden'|'FieldValueInvalid'|'FieldValueRequired'
 fieldPath string
 optionalOldSelf boolean
WebhookClientConfig
 url string
 service ServiceReference
 caBundle byte
WebhookConversion
 clientConfig WebhookClientConfig
 conversionReviewVersions! [string] list=atomic
`,
  'io.k8s.apimachinery.pkg.apis.meta.v1': `
DeleteOptions
 kind string
 apiVersion string
 gracePeriodSeconds int64
 preconditions Preconditions
 orphanDependents boolean
 propagationPolicy string
 dryRun [string] list=atomic
 ignoreStoreReadErrorWithClusterBreakingPotential boolean
FieldSelectorRequirement
 key! string
 operator! string
 values [string] list=atomic
ListMeta
 selfLink string
 resourceVersion string
 continue string
 remainingItemCount int64
 shardInfo ShardInfo
Preconditions
 uid string
 resourceVersion string
ShardInfo
 selector! string
`,
};
