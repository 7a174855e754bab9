/** Validates `core/v1 Service` after defaults were applied. */

import { duplicate, forbiddenField, invalidValue, required } from '@lockstep/kube/field-error.ts';
import { deepEqual } from '@lockstep/kube/json/deep-equal.ts';
import {
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  portNumberErrors,
} from '@lockstep/kube/name-rules.ts';
import type { Service } from '@lockstep/kube/objects/core.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { labelsErrors, objectMetaErrors, objectMetaUpdateErrors } from './object-meta.ts';
import { portErrors } from './pod/probe.ts';

/** The cluster IP of a Service that only gives its Pods DNS names. */
const HEADLESS = 'None';

const SERVICE_METADATA = {
  namespaced: true,
  nameRule: dns1123LabelErrors,
  qualifiedFinalizers: true,
} as const;

export function serviceErrors(service: Service): FieldError[] {
  return [...objectMetaErrors(service.metadata, SERVICE_METADATA), ...specErrors(service)];
}

export function serviceUpdateErrors(service: Service, before: Service): FieldError[] {
  const errors = objectMetaUpdateErrors(service.metadata, before.metadata, SERVICE_METADATA);
  const { clusterIP = '', type } = service.spec ?? {};
  const { clusterIP: old = '', type: oldType } = before.spec ?? {};
  const isFixed = old !== '' && type !== 'ExternalName' && oldType !== 'ExternalName';
  if (isFixed && clusterIP !== old) {
    errors.push(
      invalidValue(
        'spec.clusterIPs[0]',
        clusterIP === '' ? [] : clusterIP,
        'may not change once set',
      ),
    );
  }
  return deepEqual(service.spec, before.spec) ? errors : [...errors, ...specErrors(service)];
}

type ServiceSpec = NonNullable<Service['spec']>;

function specErrors({ spec = {} }: Service): FieldError[] {
  const { ports = [], clusterIP, type = 'ClusterIP', selector } = spec;
  const errors: FieldError[] = [];
  const isHeadless = clusterIP === HEADLESS;
  if (ports.length === 0 && !isHeadless && type !== 'ExternalName') {
    errors.push(required('spec.ports'));
  }
  if (isHeadless && (type === 'LoadBalancer' || type === 'NodePort')) {
    const detail = `may not be set to 'None' for ${type} services`;
    errors.push(invalidValue('spec.clusterIPs[0]', clusterIP, detail));
  }
  if (type === 'ExternalName') errors.push(...externalNameErrors(spec));
  return [...errors, ...portsErrors(spec), ...labelsErrors(selector, 'spec.selector')];
}

function externalNameErrors({ externalName = '', clusterIP = '' }: ServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  if (clusterIP !== '') {
    errors.push(forbiddenField('spec.clusterIPs', 'may not be set for ExternalName services'));
  }
  const name = externalName.replace(/\.$/, '');
  if (name === '') return [...errors, required('spec.externalName')];
  const complaints = dns1123SubdomainErrors(name);
  return [...errors, ...complaints.map((text) => invalidValue('spec.externalName', name, text))];
}

function portsErrors({ ports = [], type }: ServiceSpec): FieldError[] {
  const names = new Set<string>();
  const numbers = new Set<string>();
  return ports.flatMap((port, index) => {
    const path = `spec.ports[${index}]`;
    const { name = '', protocol = 'TCP', nodePort = 0, targetPort } = port;
    const errors: FieldError[] = [];
    if (name === '' && ports.length > 1) errors.push(required(`${path}.name`));
    if (name !== '') {
      for (const text of dns1123LabelErrors(name)) {
        errors.push(invalidValue(`${path}.name`, name, text));
      }
      if (names.has(name)) errors.push(duplicate(`${path}.name`, name));
      names.add(name);
    }
    for (const text of portNumberErrors(port.port)) {
      errors.push(invalidValue(`${path}.port`, port.port, text));
    }
    if (targetPort !== undefined) errors.push(...portErrors(targetPort, `${path}.targetPort`));
    if (nodePort !== 0 && type === 'ClusterIP') {
      const detail = "may not be used when `type` is 'ClusterIP'";
      errors.push(forbiddenField(`${path}.nodePort`, detail));
    }
    const key = `${protocol}/${port.port}`;
    if (numbers.has(key)) errors.push(duplicate(path, { port: port.port, protocol }));
    numbers.add(key);
    return errors;
  });
}
