/** The built-in kinds Service and EndpointSlice. */

import { dns1123LabelErrors } from '@lockstep/kube/name-rules.ts';
import { SERVICES } from '@lockstep/kube/objects/core.ts';
import { resource } from '@lockstep/kube/resource.ts';
import { serviceErrors, serviceUpdateErrors } from '../../../api-machinery/validation/service.ts';
import { defaultService } from '../../../api-machinery/validation/service-defaults.ts';
import {
  type ApiObject,
  listAt,
  numberAt,
  objectAt,
  type StoredObject,
  textAt,
  typed,
} from '../resources/api-object.ts';
import type { BuiltInKind } from '../resources/built-in-kind.ts';
import { ageOf } from '../resources/table-layout.ts';

const NONE = '<none>';

/** There is no service network, so a Service never has a virtual address. */
export const SERVICE_KIND: BuiltInKind = {
  resource: SERVICES,
  shortNames: ['svc'],
  categories: ['all'],
  hasStatus: true,
  fieldLabels: {
    'spec.clusterIP': (service) => textAt(service, 'spec', 'clusterIP'),
    'spec.type': (service) => textAt(service, 'spec', 'type'),
  },
  table: {
    columns: [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'Type', type: 'string' },
      { name: 'Cluster-IP', type: 'string' },
      { name: 'External-IP', type: 'string' },
      { name: 'Port(s)', type: 'string' },
      { name: 'Age', type: 'string' },
      { name: 'Selector', type: 'string', priority: 1 },
    ],
    cells: (service, nowMs) => [
      service.metadata.name,
      textAt(service, 'spec', 'type'),
      textAt(service, 'spec', 'clusterIP') || NONE,
      listAt(service, 'spec', 'externalIPs').join(',') || NONE,
      portsOf(service),
      ageOf(service, nowMs),
      selectorOf(service),
    ],
  },
  strategy: {
    returnsDeleted: true,
    nameRule: dns1123LabelErrors,
    defaults: defaultService,
    prepareForCreate: (service) => prepared({ ...service, status: { loadBalancer: {} } }),
    prepareForUpdate: (service) => prepared(service),
    validate: (service) => serviceErrors(typed(service)),
    validateUpdate: (service, old) => serviceUpdateErrors(typed(service), typed(old)),
  },
};

export const ENDPOINT_SLICE_KIND: BuiltInKind = {
  resource: resource('discovery.k8s.io/v1', 'endpointslices', 'EndpointSlice'),
  strategy: { countsGeneration: true },
  table: {
    columns: [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'AddressType', type: 'string' },
      { name: 'Ports', type: 'string' },
      { name: 'Endpoints', type: 'string' },
      { name: 'Age', type: 'string' },
    ],
    cells: (slice, nowMs) => [
      slice.metadata.name,
      textAt(slice, 'addressType'),
      listAt(slice, 'ports')
        .map((port) => numberAt(port, 'port'))
        .join(',') || '<unset>',
      listAt(slice, 'endpoints')
        .flatMap((each) => listAt(each, 'addresses'))
        .join(',') || '<unset>',
      ageOf(slice, nowMs),
    ],
  },
};

const SINGLE_STACK = { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' };

function prepared(service: ApiObject): ApiObject {
  const complete = defaultService(service);
  const spec = objectAt(complete, 'spec');
  if (textAt(spec, 'type') === 'ExternalName') return complete;
  const clusterIP = textAt(spec, 'clusterIP');
  const addresses = clusterIP === '' ? {} : { clusterIPs: [clusterIP] };
  return { ...complete, spec: { ...SINGLE_STACK, ...spec, ...addresses } };
}

function portsOf(service: StoredObject): string {
  const ports = listAt(service, 'spec', 'ports').map((port) => {
    const nodePort = numberAt(port, 'nodePort');
    const node = nodePort > 0 ? `:${nodePort}` : '';
    return `${numberAt(port, 'port')}${node}/${textAt(port, 'protocol')}`;
  });
  return ports.join(',') || NONE;
}

function selectorOf(service: StoredObject): string {
  const labels = Object.entries(objectAt(service, 'spec', 'selector'));
  return (
    labels
      .map(([key, value]) => `${key}=${String(value)}`)
      .sort()
      .join(',') || NONE
  );
}
