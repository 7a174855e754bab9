import type { KubeObject } from '../meta.ts';
import { type Resource, resource } from '../resource.ts';

/** `events.k8s.io/v1 Event`. The API server also shows these objects as core/v1 Events. */
export interface Event extends KubeObject {
  /** `metav1.MicroTime`. */
  readonly eventTime: string | null;
  readonly series?: { readonly count: number; readonly lastObservedTime: string };
  readonly reportingController: string;
  readonly reportingInstance: string;
  readonly action: string;
  readonly reason: string;
  readonly regarding: ObjectReference;
  readonly note: string;
  readonly type: 'Normal' | 'Warning';
}
export const EVENTS: Resource<Event> = resource('events.k8s.io/v1', 'events', 'Event');

export interface ObjectReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly fieldPath?: string;
}

/** `core/v1 Event`, another form of these objects, which more roles may read; its optional parts. */
export interface CoreEvent extends KubeObject {
  readonly involvedObject: ObjectReference;
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string } | null;
  readonly eventTime?: string | null;
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
}
export const CORE_EVENTS: Resource<CoreEvent> = resource('v1', 'events', 'Event');
