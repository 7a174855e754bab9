import type { Condition, KubeObject } from '../meta.ts';
import { type Resource, resource } from '../resource.ts';
import type { JsonSchema } from '../schema/json-schema.ts';

/** `apiextensions.k8s.io/v1 CustomResourceDefinition`. */
export interface CustomResourceDefinition extends KubeObject {
  readonly spec: {
    readonly group: string;
    readonly scope: 'Namespaced' | 'Cluster';
    readonly names: CustomResourceNames;
    readonly versions: readonly CustomResourceVersion[];
    readonly conversion?: { readonly strategy: string };
  };
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly acceptedNames?: CustomResourceNames;
    readonly storedVersions?: readonly string[];
  };
}
export const CUSTOM_RESOURCE_DEFINITIONS: Resource<CustomResourceDefinition> = resource(
  'apiextensions.k8s.io/v1',
  'customresourcedefinitions',
  'CustomResourceDefinition',
  'Cluster',
);

export interface CustomResourceNames {
  readonly plural: string;
  readonly singular?: string;
  readonly kind: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

export interface CustomResourceVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly schema?: { readonly openAPIV3Schema?: JsonSchema };
  readonly subresources?: { readonly status?: object; readonly scale?: object };
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
  /** Fields by which lists and watches can select. */
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

export interface PrinterColumn {
  readonly name: string;
  readonly type: 'integer' | 'number' | 'string' | 'boolean' | 'date';
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
}
