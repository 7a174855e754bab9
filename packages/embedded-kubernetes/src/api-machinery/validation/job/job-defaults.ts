/** Defaults of `batch/v1 Job`. The default of each number depends on which others are set. */
import { isJsonObject, type JsonObject, ownMember } from '@lockstep/kube/json/json-value.ts';
import { withDefaults, withItems, withMember } from '../members.ts';
import { defaultPodTemplate } from '../pod/pod-defaults.ts';

/** Fills in a whole Job. A Job without labels of its own takes the labels of its template. */
export function defaultJob<T extends JsonObject>(job: T): T {
  const { metadata, spec } = job;
  const filled = withMember(job, 'spec', defaultJobSpec);
  const template = isJsonObject(spec) ? spec['template'] : undefined;
  const templateMetadata = isJsonObject(template) ? template['metadata'] : undefined;
  const labels = isJsonObject(templateMetadata) ? templateMetadata['labels'] : undefined;
  if (!isJsonObject(labels) || !isJsonObject(metadata)) return filled;
  const own = ownMember(metadata, 'labels');
  if (isJsonObject(own) && Object.keys(own).length > 0) return filled;
  return { ...filled, metadata: { ...metadata, labels } };
}

const BACKOFF_LIMIT = 6;
const INT32_MAX = 2_147_483_647;

function defaultJobSpec(spec: JsonObject): JsonObject {
  const isWorkQueue = spec['parallelism'] !== undefined;
  const filled = withDefaults(spec, {
    ...(isWorkQueue ? {} : { completions: spec['completions'] ?? 1 }),
    parallelism: 1,
    backoffLimit: spec['backoffLimitPerIndex'] === undefined ? BACKOFF_LIMIT : INT32_MAX,
    completionMode: 'NonIndexed',
    suspend: false,
    podReplacementPolicy: spec['podFailurePolicy'] === undefined ? 'TerminatingOrFailed' : 'Failed',
    manualSelector: false,
  });
  const policed = withMember(filled, 'podFailurePolicy', (policy) =>
    withItems(policy, 'rules', defaultRule),
  );
  return withMember(policed, 'template', defaultPodTemplate);
}

/**
 * Fills missing members of a rule with empty values, so that validation can say what is allowed.
 */
function defaultRule(rule: JsonObject): JsonObject {
  const exits = withMember(rule, 'onExitCodes', (codes) => withDefaults(codes, { operator: '' }));
  const patterns = withItems(exits, 'onPodConditions', (pattern) =>
    withDefaults(pattern, { type: '', status: 'True' }),
  );
  return withDefaults(patterns, { action: '' });
}
