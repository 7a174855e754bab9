/** What the generated tables contain: these definitions and all that they refer to. */

/** What a JobSet is made of; part of what is installed in clusters, so nothing else belongs here. */
export const POD_ROOTS = [
  'io.k8s.api.batch.v1.JobSpec',
  'io.k8s.api.core.v1.PersistentVolumeClaim',
  'io.k8s.apimachinery.pkg.apis.meta.v1.Condition',
] as const;

/** What the embedded API server serves besides. */
export const SERVED_ROOTS = [
  'io.k8s.api.admissionregistration.v1.MutatingWebhookConfiguration',
  'io.k8s.api.admissionregistration.v1.ValidatingWebhookConfiguration',
  'io.k8s.api.authentication.v1.SelfSubjectReview',
  'io.k8s.api.authentication.v1.TokenRequest',
  'io.k8s.api.authentication.v1.TokenReview',
  'io.k8s.api.authorization.v1.SelfSubjectAccessReview',
  'io.k8s.api.authorization.v1.SelfSubjectRulesReview',
  'io.k8s.api.authorization.v1.SubjectAccessReview',
  'io.k8s.api.batch.v1.Job',
  'io.k8s.api.coordination.v1.Lease',
  'io.k8s.api.core.v1.Binding',
  'io.k8s.api.core.v1.ConfigMap',
  'io.k8s.api.core.v1.Event',
  'io.k8s.api.core.v1.Namespace',
  'io.k8s.api.core.v1.Node',
  'io.k8s.api.core.v1.Pod',
  'io.k8s.api.core.v1.Secret',
  'io.k8s.api.core.v1.Service',
  'io.k8s.api.core.v1.ServiceAccount',
  'io.k8s.api.discovery.v1.EndpointSlice',
  'io.k8s.api.events.v1.Event',
  'io.k8s.api.policy.v1.Eviction',
  'io.k8s.api.rbac.v1.ClusterRole',
  'io.k8s.api.rbac.v1.ClusterRoleBinding',
  'io.k8s.api.rbac.v1.Role',
  'io.k8s.api.rbac.v1.RoleBinding',
  'io.k8s.api.scheduling.v1alpha2.PodGroup',
  'io.k8s.api.scheduling.v1alpha2.Workload',
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition',
  'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions',
  'io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta',
] as const;
