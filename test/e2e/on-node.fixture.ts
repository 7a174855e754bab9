/**
 * Lets Pods that are written for the embedded cluster run in containers of a real node. There their
 * programs are in an image, and of this machine they see what a node mounts for them.
 */
import { HOST_ROOT } from '@lockstep/embedded-kubernetes';
import type { KubeObject } from '@lockstep/kube/meta.ts';
import { type Container, PODS, type Pod, type PodSpec } from '@lockstep/kube/objects/pod.ts';
import type { Transport } from '@lockstep/kube/runtime/ports/transport.ts';
import { JOBSETS, type JobSet } from '../../src/jobset/jobset.ts';

const IMAGE = 'lockstep-test/busybox:1';
/** What suites write as the image of a program of the machine. */
const LOCAL = ['sh', 'busybox', 'none'];

/** What is created through it sees `directory` of this machine, under the same path. */
export function onNode(transport: Transport, directory: string): Transport {
  return {
    send: (request) => {
      const { method, body } = request;
      if (method !== 'POST' || body === undefined) return transport.send(request);
      const object = adapt(JSON.parse(Buffer.from(body).toString()) as KubeObject, directory);
      return transport.send({ ...request, body: Buffer.from(JSON.stringify(object)) });
    },
  };
}

function adapt(object: KubeObject, directory: string): KubeObject {
  if (object.kind === PODS.kind) {
    const pod = object as Pod;
    return { ...pod, spec: adaptPod(pod.spec, directory) } as KubeObject;
  }
  if (object.kind !== JOBSETS.kind) return object;
  const jobSet = object as JobSet;
  const replicatedJobs = (jobSet.spec.replicatedJobs ?? []).map((job) => {
    const { spec } = job.template;
    const pod = adaptPod(spec.template.spec, directory);
    return {
      ...job,
      template: { ...job.template, spec: { ...spec, template: { ...spec.template, spec: pod } } },
    };
  });
  return { ...jobSet, spec: { ...jobSet.spec, replicatedJobs } } as KubeObject;
}

function adaptPod(spec: PodSpec, directory: string): PodSpec {
  const places = [
    { name: 'shared', path: directory, mountPath: directory },
    // Here a process reads its number on the machine.
    { name: 'processes', path: '/proc', mountPath: `${HOST_ROOT}/proc` },
  ];
  const mounts = places.map(({ name, mountPath }) => ({ name, mountPath }));
  const volumes = places.map(({ name, path }) => ({ name, hostPath: { path } }));
  const adapted = (container: Container): Container => ({
    ...container,
    ...(LOCAL.includes(container.image ?? '') && { image: IMAGE }),
    volumeMounts: [...(container.volumeMounts ?? []), ...mounts],
  });
  return {
    ...spec,
    ...(spec.initContainers && { initContainers: spec.initContainers.map(adapted) }),
    containers: spec.containers.map(adapted),
    volumes: [...(spec.volumes ?? []), ...volumes],
  };
}
