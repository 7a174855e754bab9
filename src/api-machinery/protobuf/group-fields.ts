/**
 * Field numbers of the messages of the other groups that are served, from the Go types of
 * Kubernetes 1.36. A message begins its line: its name, then its fields in the order of their
 * numbers, which count up from 1 unless `NUMBER>` says otherwise. `=` is a message whose fields
 * are members of the outer object, `?` a scalar that is absent when it is zero. Types that the
 * schema does not tell follow a colon: see `message-field.ts`.
 */
export const GROUP_FIELDS: Readonly<Record<string, string>> = {
  'io.k8s.api.admissionregistration.v1': `
MatchCondition name expression
MutatingWebhook name clientConfig rules failurePolicy namespaceSelector sideEffects
  timeoutSeconds admissionReviewVersions matchPolicy reinvocationPolicy objectSelector
  matchConditions
MutatingWebhookConfiguration metadata webhooks
Rule apiGroups apiVersions resources scope
RuleWithOperations operations =Rule
ServiceReference namespace name path port
ValidatingWebhook name clientConfig rules failurePolicy namespaceSelector sideEffects
  timeoutSeconds admissionReviewVersions matchPolicy objectSelector matchConditions
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
ResourceAttributes namespace? verb? group? version? resource? subresource? name? fieldSelector
  labelSelector
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
JobSpec parallelism completions activeDeadlineSeconds selector manualSelector template
  backoffLimit ttlSecondsAfterFinished completionMode suspend podFailurePolicy
  backoffLimitPerIndex maxFailedIndexes podReplacementPolicy managedBy successPolicy
JobStatus conditions startTime:T completionTime:T active? succeeded? failed? completedIndexes?
  uncountedTerminatedPods ready failedIndexes terminating
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
LeaseSpec holderIdentity leaseDurationSeconds acquireTime:M renewTime:M leaseTransitions
  strategy preferredHolder
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
Event metadata eventTime:M series reportingController? reportingInstance? action? reason?
  regarding related note? type? deprecatedSource deprecatedFirstTimestamp?:T
  deprecatedLastTimestamp?:T deprecatedCount?
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
  'io.k8s.apimachinery.pkg.apis.meta.v1': `
Condition type status observedGeneration? lastTransitionTime:T reason message
DeleteOptions gracePeriodSeconds preconditions orphanDependents propagationPolicy dryRun
  ignoreStoreReadErrorWithClusterBreakingPotential
FieldSelectorRequirement key operator values
LabelSelector matchLabels matchExpressions
LabelSelectorRequirement key operator values
ManagedFieldsEntry manager? operation? apiVersion? time:T 6>fieldsType? fieldsV1:R subresource?
ObjectMeta name? generateName? namespace? selfLink? uid? resourceVersion? generation?
  creationTimestamp?:T deletionTimestamp:T deletionGracePeriodSeconds labels annotations
  ownerReferences finalizers 17>managedFields
OwnerReference kind 3>name uid apiVersion controller blockOwnerDeletion
Preconditions uid resourceVersion
`,
};
