/**
 * The webhooks of Pods. Two are for exclusive placement: the mutating one places the Pods that it can
 * and lets others pass; the validating one refuses a follower that could not be placed. The Job
 * controller tries a refused Pod again, so followers come once their leader has a node. A third one
 * keeps Pods away from nodes. It has a path of its own, because not all of its Pods are exclusive.
 */

import { invalid } from '@lockstep/kube/field-error.ts';
import { namespaceOf } from '@lockstep/kube/meta.ts';
import type { AdmissionRequest } from '@lockstep/kube/objects/admission-webhooks.ts';
import { NODES } from '@lockstep/kube/objects/node.ts';
import { PODS, type Pod } from '@lockstep/kube/objects/pod.ts';
import { failure } from '@lockstep/kube/status.ts';
import { notFound } from '@lockstep/kube/status-errors.ts';
import {
  followerProblem,
  nodeNameOf,
  placedFollower,
  placedLeader,
  placementRole,
  topologyOf,
  withPriorityLabel,
} from '../../jobset/exclusive-placement.ts';
import { avoiding } from '../../jobset/injection/node-avoidance.ts';
import type { PodLookups } from '../pod-placement/pod-lookups.ts';
import type { AdmissionAnswer, AdmissionHandler } from './admission-handler.ts';
import { podShapeErrors } from './review-shape.ts';

export function podMutator(lookups: PodLookups): AdmissionHandler {
  return async (request) => {
    const original = createdPod(request);
    if (original === undefined) return ALLOWED;
    const pod = withPriorityLabel(original);
    const role = placementRole(pod);
    switch (role.kind) {
      case 'Free':
        return changed(original, pod);
      case 'Leader':
        return changed(original, placedLeader(pod, role.topologyKey));
      case 'Follower':
        return placeFollower(
          original,
          pod,
          role.topologyKey,
          targetNamespace(request, pod),
          lookups,
        );
    }
  };
}

/** Lets a Pod of a group prefer nodes that no replaced member has left. */
export function nodeAvoider(lookups: PodLookups): AdmissionHandler {
  return async (request) => {
    const pod = createdPod(request);
    if (pod === undefined) return ALLOWED;
    return changed(
      pod,
      avoiding(pod, await lookups.avoidedNodes(pod, targetNamespace(request, pod))),
    );
  };
}

export function podValidator(lookups: PodLookups): AdmissionHandler {
  return async (request) => {
    const pod = createdPod(request);
    if (pod === undefined) return ALLOWED;
    const role = placementRole(pod);
    if (role.kind !== 'Follower') return ALLOWED;
    const finding = await lookups.leaderOf(pod, targetNamespace(request, pod));
    const problem = followerProblem(pod, role.topologyKey, finding);
    return problem === undefined ? ALLOWED : denied(problem);
  };
}

const ALLOWED: AdmissionAnswer = { kind: 'Allowed' };

async function placeFollower(
  original: Pod,
  pod: Pod,
  topologyKey: string,
  namespace: string,
  lookups: PodLookups,
): Promise<AdmissionAnswer> {
  const finding = await lookups.leaderOf(pod, namespace);
  if (finding.kind === 'NoLeader') return changed(original, pod);
  const nodeName = nodeNameOf(finding.leader);
  if (nodeName === undefined) return changed(original, pod);
  const node = await lookups.node(nodeName);
  if (node === undefined) return denied(notFound(NODES, nodeName).message);
  const found = topologyOf(node, topologyKey);
  if ('problem' in found) return denied(found.problem);
  return changed(original, placedFollower(pod, topologyKey, found.topology));
}

/** The Pod of a request to create one; webhook rules may let other requests through. */
function createdPod({ operation, resource, subResource, object }: AdmissionRequest) {
  const isPod = resource.group === PODS.group && resource.resource === PODS.plural;
  if (operation !== 'CREATE' || !isPod || (subResource ?? '') !== '') return undefined;
  if (object === undefined) return undefined;
  const errors = podShapeErrors(object);
  if (errors.length > 0) throw invalid(PODS, '', errors);
  return object as Pod;
}

function targetNamespace({ namespace }: AdmissionRequest, pod: Pod): string {
  return namespace ?? namespaceOf(pod.metadata);
}

function changed(original: Pod, pod: Pod): AdmissionAnswer {
  return pod === original ? ALLOWED : { kind: 'Allowed', object: pod };
}

function denied(message: string): AdmissionAnswer {
  const { reason = 'Forbidden', code } = failure('Forbidden', message).status;
  return { kind: 'Denied', status: { message, reason, code } };
}
