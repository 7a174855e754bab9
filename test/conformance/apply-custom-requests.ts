/** Server-side apply of custom resources, whose definitions say how lists and maps are merged. */
import { applied, changed, of, RESET } from './apply-request.ts';
import { JSON_PATCH, MERGE, type ScriptedRequest } from './scripted-request.ts';

const WIDGETS = '/apis/conformance.example.com/v1/namespaces/conformance/widgets';
const JOBSETS = '/apis/jobset.x-k8s.io/v1alpha2/namespaces/conformance/jobsets';

const widget = (spec: object, name = 'applied'): object =>
  of('conformance.example.com/v1', 'Widget', name, { spec });
const WIDGET = `${WIDGETS}/applied`;

/** Applies of a custom resource. */
export const WIDGET_APPLY_REQUESTS: readonly ScriptedRequest[] = [
  applied('a Widget is applied', WIDGET, widget({ size: 1, parts: [{ name: 'a', count: 1 }] })),
  applied('a part of a Widget', WIDGET, widget({ parts: [{ name: 'b' }] }), { by: 'bob' }),
  applied('a Widget in conflict', WIDGET, widget({ size: 2, parts: [{ name: 'a', count: 2 }] }), {
    by: 'bob',
  }),
  applied('a Widget without parts', WIDGET, widget({ size: 1 })),
  applied('a Widget with an unknown field', WIDGET, widget({ size: 1, szie: 2 })),
  applied('a Widget with an unknown field, strictly', WIDGET, widget({ size: 1, szie: 2 }), {
    query: '&fieldValidation=Strict',
  }),
  applied('a Widget that is invalid', WIDGET, widget({ size: 100 })),
  applied('the status of a Widget by apply', `${WIDGET}/status`, {
    ...of('conformance.example.com/v1', 'Widget', 'applied', {
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    }),
  }),
  changed('a Widget by a patch', WIDGET, { spec: { size: 3, labels: { a: 'b' } } }, MERGE),
  changed('a Widget that nobody manages', WIDGET, RESET, JSON_PATCH),
  applied('a Widget that was not applied', WIDGET, widget({ size: 3 }), { by: 'bob' }),
  applied('a Widget that lacks a field', `${WIDGETS}/new`, {
    ...of('conformance.example.com/v1', 'Widget', 'new', { spec: {} }),
  }),
  applied('a Widget with a map', `${WIDGETS}/map`, widget({ size: 3, labels: { x: 'y' } }, 'map')),
  applied('a Widget with an empty map', `${WIDGETS}/map`, widget({ size: 3, labels: {} }, 'map')),
];

const jobSet = (spec: object): object =>
  of('jobset.x-k8s.io/v1alpha2', 'JobSet', 'applied', { spec });
const replicated = (name: string, more: object = {}): object => ({
  name,
  replicas: 1,
  template: {
    spec: {
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'none' }] } },
    },
  },
  ...more,
});

/** Applies of JobSets. */
export const JOBSET_APPLY_REQUESTS: readonly ScriptedRequest[] = [
  applied('a JobSet is applied', `${JOBSETS}/applied`, {
    ...jobSet({ replicatedJobs: [replicated('a'), replicated('b')], suspend: true }),
  }),
  applied('a JobSet that is resumed by another', `${JOBSETS}/applied`, jobSet({ suspend: false }), {
    by: 'bob',
  }),
  applied('a JobSet that is resumed by force', `${JOBSETS}/applied`, jobSet({ suspend: false }), {
    by: 'bob',
    query: '&force=true',
  }),
  applied('the status of a JobSet by apply', `${JOBSETS}/applied/status`, {
    ...of('jobset.x-k8s.io/v1alpha2', 'JobSet', 'applied', {
      status: {
        restarts: 1,
        conditions: [
          {
            type: 'Suspended',
            status: 'False',
            reason: 'Resumed',
            message: 'm',
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
        ],
      },
    }),
  }),
];
