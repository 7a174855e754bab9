/**
 * Schemas of what a JobSet is made of: specifications of Jobs and Pods, templates of claims, conditions
 * and metadata. They are the generated texts with our amendments.
 */
import { Definitions } from '../schema/definitions.ts';
import { POD_AMENDMENTS } from './pod-amendments.ts';
import { POD_DEFINITION_TEXTS } from './pod-definitions.generated.ts';

export const POD_DEFINITIONS = new Definitions({
  texts: POD_DEFINITION_TEXTS,
  amendments: POD_AMENDMENTS,
});

export const CONDITION = POD_DEFINITIONS.get('io.k8s.apimachinery.pkg.apis.meta.v1.Condition');
export const JOB_SPEC = POD_DEFINITIONS.get('io.k8s.api.batch.v1.JobSpec');
export const OBJECT_META = POD_DEFINITIONS.get('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta');
export const PERSISTENT_VOLUME_CLAIM = POD_DEFINITIONS.get(
  'io.k8s.api.core.v1.PersistentVolumeClaim',
);
export const POD_SPEC = POD_DEFINITIONS.get('io.k8s.api.core.v1.PodSpec');
