/** Services, volume claims, Leases and Events. */
import { NAMESPACE, type ScriptedRequest } from './scripted-request.ts';

export const SMALL_KIND_REQUESTS: readonly ScriptedRequest[] = [
  {
    name: 'a headless Service',
    method: 'POST',
    path: `${NAMESPACE}/services`,
    body: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 's' },
      spec: { clusterIP: 'None', selector: { a: 'b' } },
    },
  },
  {
    name: 'a Service with mistakes',
    method: 'POST',
    path: `${NAMESPACE}/services`,
    body: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 't' },
      spec: { type: 'Headless', ports: [{ port: 0 }, { port: 80 }] },
    },
  },
  {
    name: 'a volume claim',
    method: 'POST',
    path: `${NAMESPACE}/persistentvolumeclaims`,
    body: {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'v' },
      spec: {
        storageClassName: 'none',
        accessModes: ['ReadWriteMany'],
        resources: { requests: { storage: '1Gi' } },
      },
    },
  },
  {
    name: 'a volume claim of nothing',
    method: 'POST',
    path: `${NAMESPACE}/persistentvolumeclaims`,
    body: {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'w' },
      spec: { accessModes: [] },
    },
  },
  {
    name: 'a Lease',
    method: 'POST',
    path: '/apis/coordination.k8s.io/v1/namespaces/conformance/leases',
    body: {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'l' },
      spec: { holderIdentity: 'me', leaseDurationSeconds: 0 },
    },
  },
  {
    name: 'an Event without what it needs',
    method: 'POST',
    path: '/apis/events.k8s.io/v1/namespaces/conformance/events',
    body: {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: 'e' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      regarding: { kind: 'Pod', namespace: 'conformance', name: 'p' },
      type: 'Fatal',
    },
  },
];
