/** How an API server judges objects, without a server: schemas, checks and rules of definitions. */
export {
  customResourceDefinitionErrors,
  defaultCustomResourceDefinition,
} from '../../api-machinery/definitions/custom-resource-definition.ts';
export { ruleTree, violations } from '../../api-machinery/definitions/rule-evaluation.ts';
export { kindSchema } from '../../api-machinery/kind-schemas/kind-definitions.ts';
export { objectMetaErrors } from '../../api-machinery/validation/object-meta.ts';
export { JOB_KIND } from '../apiserver/kinds/jobs.ts';
export { PLAIN_STRATEGY } from '../apiserver/resources/strategy.ts';
