/**
 * The CustomResourceDefinition of JobSet. It is generated from the one schema; every cluster,
 * embedded or real, learns JobSet only from it.
 */
import type {
  CustomResourceDefinition,
  PrinterColumn,
} from '@lockstep/kube/objects/custom-resource-definition.ts';
import { JOBSETS } from '../jobset.ts';
import { JOBSET_SCHEMA } from './schema.ts';

/** The columns of the original JobSet, and after its restarts the restarts in place and the epoch. */
const PRINTER_COLUMNS: readonly PrinterColumn[] = [
  {
    name: 'TerminalState',
    type: 'string',
    jsonPath: '.status.terminalState',
    description: 'Completed or Failed, once the JobSet has ended',
  },
  {
    name: 'Restarts',
    type: 'string',
    jsonPath: '.status.restarts',
    description: 'How often all Jobs were recreated',
  },
  {
    name: 'InPlace',
    type: 'string',
    jsonPath: '.status.inPlaceRestarts',
    description: 'How often the group was restarted in place',
  },
  {
    name: 'Epoch',
    type: 'integer',
    jsonPath: '.status.syncedEpoch',
    description: 'The epoch that runs; it grows with every restart in place',
  },
  {
    name: 'Mode',
    type: 'string',
    jsonPath: '.status.restartMode',
    description: 'Sidecar or Supervisor: who restarts the workers of a group in place',
    priority: 1,
  },
  {
    name: 'Completed',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Completed")].status',
  },
  {
    name: 'Suspended',
    type: 'string',
    jsonPath: '.spec.suspend',
    description: 'Whether the JobSet is suspended',
  },
  {
    name: 'StartTime',
    type: 'date',
    jsonPath: '.status.startTime',
    description: 'Time since the JobSet became active',
  },
  {
    name: 'Age',
    type: 'date',
    jsonPath: '.metadata.creationTimestamp',
    description: 'Time since the JobSet was created',
  },
];

export const JOBSET_CRD: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${JOBSETS.plural}.${JOBSETS.group}` },
  spec: {
    group: JOBSETS.group,
    scope: 'Namespaced',
    names: {
      plural: JOBSETS.plural,
      singular: 'jobset',
      kind: JOBSETS.kind,
      listKind: 'JobSetList',
    },
    versions: [
      {
        name: JOBSETS.version,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: JOBSET_SCHEMA },
        subresources: { status: {} },
        additionalPrinterColumns: PRINTER_COLUMNS,
      },
    ],
  },
};
