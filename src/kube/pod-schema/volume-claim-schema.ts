/** Schemas of PersistentVolumeClaims, alone and as templates in Pods. */
import { atomicList, definitions, map, mergeMap, oneOf, string, time } from '../schema/builders.ts';
import { kind, LABEL_SELECTOR, OBJECT_META, QUANTITY } from './meta-schema.ts';
import { TYPED_LOCAL_OBJECT_REFERENCE, TYPED_OBJECT_REFERENCE } from './reference-schema.ts';

const core = definitions('io.k8s.api.core.v1');

const VOLUME_RESOURCE_REQUIREMENTS = core('VolumeResourceRequirements', {
  limits: map(QUANTITY),
  requests: map(QUANTITY),
});

const PERSISTENT_VOLUME_CLAIM_SPEC = core('PersistentVolumeClaimSpec', {
  accessModes: atomicList(
    oneOf(['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']),
  ),
  selector: LABEL_SELECTOR,
  resources: VOLUME_RESOURCE_REQUIREMENTS,
  volumeName: string(),
  storageClassName: string(),
  volumeMode: oneOf(['Block', 'Filesystem']),
  dataSource: TYPED_LOCAL_OBJECT_REFERENCE,
  dataSourceRef: TYPED_OBJECT_REFERENCE,
  volumeAttributesClassName: string(),
});

const PERSISTENT_VOLUME_CLAIM_CONDITION = core(
  'PersistentVolumeClaimCondition',
  {
    type: string(),
    status: string(),
    lastProbeTime: time(),
    lastTransitionTime: time(),
    reason: string(),
    message: string(),
  },
  { required: ['type', 'status'] },
);

const MODIFY_VOLUME_STATUS = core(
  'ModifyVolumeStatus',
  { targetVolumeAttributesClassName: string(), status: string() },
  { required: ['status'] },
);

const PERSISTENT_VOLUME_CLAIM_STATUS = core('PersistentVolumeClaimStatus', {
  phase: string(),
  accessModes: atomicList(string()),
  capacity: map(QUANTITY),
  conditions: mergeMap(['type'], PERSISTENT_VOLUME_CLAIM_CONDITION),
  allocatedResources: map(QUANTITY),
  allocatedResourceStatuses: map(string()),
  currentVolumeAttributesClassName: string(),
  modifyVolumeStatus: MODIFY_VOLUME_STATUS,
});

export const PERSISTENT_VOLUME_CLAIM = kind(
  core(
    'PersistentVolumeClaim',
    {
      spec: PERSISTENT_VOLUME_CLAIM_SPEC,
      status: PERSISTENT_VOLUME_CLAIM_STATUS,
    },
    { description: 'Storage that a user asks for.' },
  ),
);

export const PERSISTENT_VOLUME_CLAIM_TEMPLATE = core(
  'PersistentVolumeClaimTemplate',
  { metadata: OBJECT_META, spec: PERSISTENT_VOLUME_CLAIM_SPEC },
  { required: ['spec'] },
);
