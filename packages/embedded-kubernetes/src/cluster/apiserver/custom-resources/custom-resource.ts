/** Custom resources as the server offers them. */

import type {
  CustomResourceDefinition,
  CustomResourceVersion,
} from '@lockstep/kube/objects/custom-resource-definition.ts';
import { OBJECT_META } from '@lockstep/kube/pod-schema/pod-definitions.ts';
import { string } from '@lockstep/kube/schema/builders.ts';
import type { JsonSchema } from '@lockstep/kube/schema/json-schema.ts';
import { findAll, parseJsonPath } from '../../../api-machinery/definitions/json-path.ts';
import { ruleTree } from '../../../api-machinery/definitions/rule-evaluation.ts';
import { type ApiObject, withMembers } from '../resources/api-object.ts';
import { STATUS } from '../resources/built-in-kind.ts';
import type { Collection } from '../resources/collection.ts';
import { ALL_VERBS, type ServedResource, type View } from '../resources/served-resource.ts';
import { PLAIN_STRATEGY, type Strategy } from '../resources/strategy.ts';
import { printerTable, textOf } from './printer-columns.ts';

/** The served versions of a custom resource, all over one collection. */
export function customResources(
  definition: CustomResourceDefinition,
  collection: Collection,
): readonly ServedResource[] {
  const { spec } = definition;
  const { names, group } = spec;
  const storage = spec.versions.find((version) => version.storage)?.name ?? '';
  return spec.versions
    .filter((version) => version.served)
    .map((version) => ({
      group,
      version: version.name,
      plural: names.plural,
      kind: names.kind,
      namespaced: spec.scope === 'Namespaced',
      singular: names.singular ?? names.kind.toLowerCase(),
      listKind: names.listKind ?? `${names.kind}List`,
      shortNames: names.shortNames ?? [],
      categories: names.categories ?? [],
      verbs: ALL_VERBS,
      subresources: hasStatus(version) ? [STATUS] : [],
      schema: wholeSchema(version),
      ...rulesOf(version),
      strategy: customStrategy(definition, hasStatus(version)),
      table: printerTable(version.additionalPrinterColumns ?? []),
      fieldLabels: selectableFields(version),
      collection,
      view: conversion(`${group}/${version.name}`, `${group}/${storage}`),
      custom: true,
    }));
}

function hasStatus(version: CustomResourceVersion): boolean {
  return version.subresources?.status !== undefined;
}

/** The definition's schema says nothing about metadata, which is the same for every object. */
function wholeSchema(version: CustomResourceVersion): JsonSchema {
  const schema = version.schema?.openAPIV3Schema ?? {
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
  };
  const properties = { ...schema.properties, apiVersion: string(), kind: string() };
  return { ...schema, type: 'object', properties: { ...properties, metadata: OBJECT_META } };
}

function rulesOf({ schema }: CustomResourceVersion): Pick<ServedResource, 'rules'> {
  const rules = schema?.openAPIV3Schema && ruleTree(schema.openAPIV3Schema);
  return rules === undefined ? {} : { rules };
}

function customStrategy(definition: CustomResourceDefinition, splitsStatus: boolean): Strategy {
  const isGoing = definition.metadata.deletionTimestamp !== undefined;
  return {
    ...PLAIN_STRATEGY,
    countsGeneration: true,
    requiresRevision: true,
    prepareForCreate: (object) =>
      splitsStatus ? withMembers(object, { status: undefined }) : object,
    forbidsCreate: isGoing
      ? 'create not allowed while custom resource definition is terminating'
      : undefined,
  };
}

/** Versions differ in their name only: the conversion strategy `None`. */
function conversion(apiVersion: string, stored: string): View {
  const named = <T extends ApiObject>(object: T, name: string): T =>
    object.apiVersion === name ? object : { ...object, apiVersion: name };
  return {
    show: (object) => named(object, apiVersion),
    store: (object) => named(object, stored),
  };
}

function selectableFields(version: CustomResourceVersion): ServedResource['fieldLabels'] {
  const labels: Record<string, (object: ApiObject) => string> = {};
  for (const { jsonPath } of version.selectableFields ?? []) {
    const parsed = parseJsonPath(jsonPath);
    if (!('path' in parsed)) continue;
    const { path } = parsed;
    labels[jsonPath.replace(/^\./, '')] = (object) => textOf(findAll(object, path)[0] ?? '');
  }
  return labels;
}
