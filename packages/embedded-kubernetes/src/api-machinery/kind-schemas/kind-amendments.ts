/**
 * What holds of the other kinds that the API server serves beside what the published documents say: what
 * else a real server checks or fills in, and descriptions in our own words.
 */
import type {
  Amendment,
  Amendments,
  DefinitionAmendments,
} from '@lockstep/kube/schema/definitions.ts';

/** Real servers take no other values, though the documents call the field a text. */
function only(...values: readonly string[]): Amendment {
  return { enum: values };
}

/** Real servers take any value here, or refuse one in words of their own that validation has. */
const ANY: Amendment = { enum: undefined };

/** Where a client says nothing, Go has an empty object, and then misses what should be in it. */
const EMPTY: Amendment = { default: {} };

/** Where a client says nothing, Go has this, and that counts as said. */
function zero(value: boolean | number | string): Amendment {
  return { default: value };
}

/** Go writes null where nothing is in it, and clients expect the member. */
const NULLABLE: Amendment = { nullable: true };

/** Real servers fill it in; documents tell defaults only where they are written beside the type. */
function defaulted(value: unknown, description: string): Amendment {
  return { default: value, enum: undefined, description };
}

const WEBHOOK: DefinitionAmendments = {
  name: 'A domain of at least three segments, once in the configuration.',
  rules: 'The requests that the webhook is asked about.',
  admissionReviewVersions: 'Of AdmissionReview, preferred ones first.',
  failurePolicy: defaulted('Fail', 'What a call that fails means: Fail or Ignore.'),
  matchPolicy: defaulted(
    'Equivalent',
    'Whether other versions of a resource match: Exact or Equivalent.',
  ),
  namespaceSelector: EMPTY,
  objectSelector: EMPTY,
  sideEffects: { enum: undefined, description: 'None or NoneOnDryRun.' },
  timeoutSeconds: defaulted(10, 'From 1 to 30.'),
};

export const KIND_AMENDMENTS: Amendments = {
  'io.k8s.api.admissionregistration.v1': {
    MutatingWebhook: {
      ...WEBHOOK,
      reinvocationPolicy: defaulted(
        'Never',
        'Whether it is asked again after others changed the object: Never or IfNeeded.',
      ),
    },
    MutatingWebhookConfiguration: {
      '': 'Webhooks that may change objects, and refuse requests.',
      webhooks: 'Asked one after the other.',
    },
    MatchCondition: {
      expression: 'CEL over object, oldObject and request; all must be true.',
    },
    RuleWithOperations: {
      operations: {
        items: { type: 'string' },
        description: 'CREATE, UPDATE, DELETE, CONNECT, or * for all of them.',
      },
      resources: 'Such as pods, pods/status, pods/*, * or */*.',
      scope: defaulted('*', 'Cluster, Namespaced, or * for both.'),
    },
    ServiceReference: {
      path: 'The path below which the webhook answers.',
      port: { default: 443 },
    },
    ValidatingWebhook: WEBHOOK,
    ValidatingWebhookConfiguration: {
      '': 'Webhooks that may refuse requests.',
      webhooks: 'Asked together.',
    },
    WebhookClientConfig: {
      '': 'How the webhook is reached: exactly one of url and service.',
      url: 'Where the webhook is, as https://host:port/path; instead of service.',
      caBundle: 'Authorities, in PEM, of which one signed the certificate of the webhook.',
    },
  },
  'io.k8s.api.authorization.v1': {
    SubjectAccessReviewStatus: { allowed: zero(false) },
  },
  'io.k8s.api.batch.v1': {
    Job: { '': 'Runs Pods until enough of them have succeeded.', spec: EMPTY },
    JobStatus: {
      active: 'Pods that are pending or running, and not being deleted.',
      succeeded: 'Pods that succeeded.',
      failed: 'Pods that failed.',
      terminating: 'Pods that are being deleted.',
      completedIndexes: 'Indexes that succeeded, such as 0,2-5.',
      failedIndexes: 'Indexes that failed for good.',
      uncountedTerminatedPods: 'UIDs of Pods that ended and are not counted yet.',
      ready: 'Active Pods that are ready.',
    },
  },
  'io.k8s.api.coordination.v1': {
    Lease: { '': 'Who holds something, and until when.' },
  },
  'io.k8s.api.core.v1': {
    ConfigMap: { '': 'Configuration for Pods.' },
    ContainerStateTerminated: { exitCode: zero(0) },
    ContainerStatus: {
      ready: zero(false),
      restartCount: zero(0),
      image: zero(''),
      imageID: zero(''),
      stopSignal: ANY,
    },
    DaemonEndpoint: { Port: zero(0) },
    Event: {
      '': 'Something that happened to an object.',
      firstTimestamp: NULLABLE,
      lastTimestamp: NULLABLE,
      eventTime: NULLABLE,
      reportingComponent: zero(''),
      reportingInstance: zero(''),
    },
    Namespace: { '': 'A space of names for objects.' },
    NamespaceStatus: { phase: ANY },
    Node: { '': 'A machine that runs Pods.' },
    NodeStatus: { phase: ANY },
    NodeSystemInfo: {
      machineID: zero(''),
      systemUUID: zero(''),
      bootID: zero(''),
      kernelVersion: zero(''),
      osImage: zero(''),
      containerRuntimeVersion: zero(''),
      kubeletVersion: zero(''),
      kubeProxyVersion: zero(''),
      operatingSystem: zero(''),
      architecture: zero(''),
    },
    Pod: {
      '': 'A group of containers that run together on one node and share an address and volumes.',
      spec: EMPTY,
    },
    PodCondition: { lastProbeTime: NULLABLE },
    PodStatus: { qosClass: ANY },
    PortStatus: { protocol: ANY },
    Secret: { '': 'Confidential data for Pods, in base64.' },
    Service: {
      '': 'A name, and where wanted an address, for a group of Pods.',
      spec: EMPTY,
    },
    ServiceAccount: { '': 'An identity under which Pods speak to the API.' },
    // The documents list the empty text too, which real servers refuse.
    ServiceSpec: { ipFamilies: { items: { type: 'string', enum: ['IPv4', 'IPv6'] } } },
  },
  'io.k8s.api.discovery.v1': {
    EndpointSlice: { addressType: only('FQDN', 'IPv4', 'IPv6') },
  },
  'io.k8s.api.events.v1': {
    Event: {
      '': 'Something that happened to an object.',
      eventTime: NULLABLE,
      deprecatedFirstTimestamp: NULLABLE,
      deprecatedLastTimestamp: NULLABLE,
    },
  },
  'io.k8s.api.rbac.v1': {
    ClusterRole: { rules: NULLABLE },
    Role: { rules: NULLABLE },
  },
  'io.k8s.api.scheduling.v1alpha2': {
    PodGroup: { '': 'Pods that are scheduled as a whole.', spec: EMPTY },
    PodGroupSpec: {
      podGroupTemplateRef: NULLABLE,
      schedulingConstraints: NULLABLE,
      priority: zero(0),
    },
    PodGroupTemplate: { schedulingConstraints: NULLABLE },
    Workload: { '': 'Which groups of Pods a workload consists of.', spec: EMPTY },
  },
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1': {
    CustomResourceConversion: { strategy: only('None', 'Webhook') },
    CustomResourceDefinition: {
      '': 'A kind of objects that the cluster serves besides its own.',
    },
    CustomResourceDefinitionSpec: { scope: only('Cluster', 'Namespaced') },
    CustomResourceDefinitionStatus: { conditions: NULLABLE },
    JSONSchemaProps: {
      'x-kubernetes-list-type': only('atomic', 'set', 'map'),
      'x-kubernetes-map-type': only('atomic', 'granular'),
    },
    // Whether a rule's reason is one of those is said with the rule, in other words.
    ValidationRule: { reason: ANY },
  },
  'io.k8s.apimachinery.pkg.apis.meta.v1': {
    ListMeta: {
      continue: 'Passed back by the client, it leads to the next page.',
      resourceVersion: 'The state of the server that the list shows.',
    },
  },
};
