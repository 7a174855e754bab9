/** Schemas of where a Pod may run: affinity, tolerations, spreading, gates. */
import {
  atomic,
  atomicList,
  definitions,
  int32,
  int64,
  oneOf,
  string,
} from '../schema/builders.ts';
import { LABEL_SELECTOR } from './meta-schema.ts';

const core = definitions('io.k8s.api.core.v1');

const NODE_SELECTOR_REQUIREMENT = core(
  'NodeSelectorRequirement',
  {
    key: string(),
    operator: oneOf(['DoesNotExist', 'Exists', 'Gt', 'In', 'Lt', 'NotIn']),
    values: atomicList(string()),
  },
  { required: ['key', 'operator'] },
);

const NODE_SELECTOR_TERM = atomic(
  core('NodeSelectorTerm', {
    matchExpressions: atomicList(NODE_SELECTOR_REQUIREMENT),
    matchFields: atomicList(NODE_SELECTOR_REQUIREMENT),
  }),
);

const NODE_SELECTOR = atomic(
  core(
    'NodeSelector',
    { nodeSelectorTerms: atomicList(NODE_SELECTOR_TERM) },
    { required: ['nodeSelectorTerms'] },
  ),
);

const PREFERRED_SCHEDULING_TERM = core(
  'PreferredSchedulingTerm',
  { weight: int32(), preference: NODE_SELECTOR_TERM },
  { required: ['weight', 'preference'] },
);

const NODE_AFFINITY = core('NodeAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: NODE_SELECTOR,
  preferredDuringSchedulingIgnoredDuringExecution: atomicList(PREFERRED_SCHEDULING_TERM),
});

const POD_AFFINITY_TERM = core(
  'PodAffinityTerm',
  {
    labelSelector: LABEL_SELECTOR,
    namespaces: atomicList(string()),
    topologyKey: string(),
    namespaceSelector: LABEL_SELECTOR,
    matchLabelKeys: atomicList(string()),
    mismatchLabelKeys: atomicList(string()),
  },
  { required: ['topologyKey'] },
);

const WEIGHTED_POD_AFFINITY_TERM = core(
  'WeightedPodAffinityTerm',
  { weight: int32(), podAffinityTerm: POD_AFFINITY_TERM },
  { required: ['weight', 'podAffinityTerm'] },
);

const POD_AFFINITY = core('PodAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: atomicList(POD_AFFINITY_TERM),
  preferredDuringSchedulingIgnoredDuringExecution: atomicList(WEIGHTED_POD_AFFINITY_TERM),
});

const POD_ANTI_AFFINITY = core('PodAntiAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: atomicList(POD_AFFINITY_TERM),
  preferredDuringSchedulingIgnoredDuringExecution: atomicList(WEIGHTED_POD_AFFINITY_TERM),
});

export const AFFINITY = core('Affinity', {
  nodeAffinity: NODE_AFFINITY,
  podAffinity: POD_AFFINITY,
  podAntiAffinity: POD_ANTI_AFFINITY,
});

export const TOLERATION = core('Toleration', {
  key: string(),
  operator: oneOf(['', 'Equal', 'Exists', 'Gt', 'Lt']),
  value: string(),
  effect: oneOf(['', 'NoExecute', 'NoSchedule', 'PreferNoSchedule']),
  tolerationSeconds: int64(),
});

export const TOPOLOGY_SPREAD_CONSTRAINT = core(
  'TopologySpreadConstraint',
  {
    maxSkew: int32(),
    topologyKey: string(),
    whenUnsatisfiable: oneOf(['DoNotSchedule', 'ScheduleAnyway']),
    labelSelector: LABEL_SELECTOR,
    minDomains: int32(),
    nodeAffinityPolicy: oneOf(['Honor', 'Ignore']),
    nodeTaintsPolicy: oneOf(['Honor', 'Ignore']),
    matchLabelKeys: atomicList(string()),
  },
  { required: ['maxSkew', 'topologyKey', 'whenUnsatisfiable'] },
);

export const POD_SCHEDULING_GATE = core(
  'PodSchedulingGate',
  { name: string() },
  { required: ['name'] },
);

export const POD_SCHEDULING_GROUP = core('PodSchedulingGroup', { podGroupName: string() });
