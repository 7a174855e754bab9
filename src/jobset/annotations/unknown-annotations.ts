/**
 * Keys below our prefix that mean nothing. An unknown key is most likely a typing error, which would
 * go unnoticed for weeks: it is refused, or reported if it is stored. A known key that has no effect
 * where it stands only gets a warning, because wrappers copy annotations of a JobSet to its
 * templates.
 */
import { nearest } from '@lockstep/kube/edit-distance.ts';
import { forbiddenField } from '@lockstep/kube/field-error.ts';
import type { StringMap } from '@lockstep/kube/meta.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import type { DefaultedSpec } from '../defaults.ts';
import type { JobSet } from '../jobset.ts';
import { AGENT_STARTS, NOTICE, OWN_PREFIX } from '../names.ts';
import { annotationsOn, OWN_ANNOTATIONS } from './table.ts';

/** An API server shows a client only a limited part of all warnings, and a person reads few. */
const MAX_TOLD = 5;
/** An API server refuses longer keys, but it calls our webhook first. */
const MAX_KEY_CHARACTERS = OWN_PREFIX.length + 63;

const JOBSET_KEYS = annotationsOn('JobSet');
const POD_TEMPLATE_KEYS = annotationsOn('PodTemplate');
const KEYS: readonly string[] = OWN_ANNOTATIONS.map(({ key }) => key);
/** Includes the keys that agents write: a template that was copied from a Pod has them. */
const KNOWN: ReadonlySet<string> = new Set([...KEYS, AGENT_STARTS, NOTICE]);

/** Errors only for keys that `old` does not have at the same place. */
export function unknownAnnotationErrors(
  metadata: JobSet['metadata'],
  spec: DefaultedSpec,
  old: { readonly metadata?: JobSet['metadata']; readonly spec?: DefaultedSpec } = {},
): readonly FieldError[] {
  const before = new Set([...unknownKeys(old.metadata, old.spec)].map(fieldOf));
  const errors: FieldError[] = [];
  for (const unknown of unknownKeys(metadata, spec)) {
    if (before.has(fieldOf(unknown))) continue;
    if (errors.length === MAX_TOLD) break;
    const key = unknown.key.slice(0, MAX_KEY_CHARACTERS);
    errors.push(forbiddenField(fieldOf({ ...unknown, key }), adviceOn(unknown.key)));
  }
  return errors;
}

/** Warns of unknown keys that are not refused. */
export function unknownAnnotationWarnings(
  ...[metadata, spec, old]: Parameters<typeof unknownAnnotationErrors>
): readonly string[] {
  return unknownAnnotationErrors(metadata, spec, old).map(
    ({ field, detail }) => `${field} has no effect: ${detail}`,
  );
}

/** Warns of known keys in places where they have no effect. */
export function misplacedAnnotationWarnings(
  metadata: JobSet['metadata'],
  spec: DefaultedSpec,
): readonly string[] {
  const warnings: string[] = [];
  for (const { path, annotations, known } of places(metadata, spec)) {
    for (const key of KEYS) {
      if (annotations?.[key] === undefined || known.has(key)) continue;
      const place = JOBSET_KEYS.has(key) ? 'the metadata of the JobSet' : 'a Pod template';
      warnings.push(`${fieldOf({ path, key })} has no effect: it belongs in ${place}`);
      if (warnings.length === MAX_TOLD) return warnings;
    }
  }
  return warnings;
}

interface AnnotationKey {
  readonly path: string;
  readonly key: string;
}

interface AnnotationPosition {
  readonly path: string;
  readonly annotations: StringMap | undefined;
  readonly known: ReadonlySet<string>;
}

function* unknownKeys(
  metadata: JobSet['metadata'] | undefined,
  spec: DefaultedSpec | undefined,
): Generator<AnnotationKey> {
  for (const { path, annotations } of places(metadata, spec)) {
    for (const key in annotations) {
      if (key.startsWith(OWN_PREFIX) && !KNOWN.has(key)) yield { path, key };
    }
  }
}

function* places(
  metadata: JobSet['metadata'] | undefined,
  spec: DefaultedSpec | undefined,
): Generator<AnnotationPosition> {
  yield { path: 'metadata', annotations: metadata?.annotations, known: JOBSET_KEYS };
  for (const [index, { template }] of (spec?.replicatedJobs ?? []).entries()) {
    const path = `spec.replicatedJobs[${index}].template`;
    const { annotations } = template.metadata ?? {};
    yield { path: `${path}.metadata`, annotations, known: NONE };
    const pod = template.spec.template.metadata?.annotations;
    yield { path: `${path}.spec.template.metadata`, annotations: pod, known: POD_TEMPLATE_KEYS };
  }
}

const NONE: ReadonlySet<string> = new Set();

function fieldOf({ path, key }: AnnotationKey): string {
  return `${path}.annotations[${key}]`;
}

/** What to do about a key that no table knows. */
export function adviceOn(key: string): string {
  const known = nearest(key, KEYS, mistakesIn(key));
  const question = known === undefined ? '' : `; did you mean ${known}?`;
  return `no annotation of this version of Lockstep${question}`;
}

/** With more mistakes in a key, the nearest known one is only a guess. */
function mistakesIn(key: string): number {
  return Math.max(2, Math.floor((key.length - OWN_PREFIX.length) / 3));
}
