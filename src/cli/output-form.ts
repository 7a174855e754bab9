/** The forms in which commands print, under kubectl's names. */

import { printable } from '@lockstep/kube/quote.ts';
import { stringify } from 'yaml';

export const OUTPUT_FORMS = ['json', 'yaml', 'wide', 'name'] as const;
/** `table`: none is asked for. */
export type OutputForm = (typeof OUTPUT_FORMS)[number] | 'table';

export const NAMES_DO_NOT_CHANGE = '--watch and --output name: a name does not change';

/** One document, with its last line break. */
export function documentOf(value: unknown, form: 'json' | 'yaml'): string {
  if (form === 'json') return `${JSON.stringify(value, undefined, 2)}\n`;
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** One of many documents: a line of JSON, or YAML after a separator. */
export function nextDocument(value: unknown, form: 'json' | 'yaml'): string {
  return form === 'json' ? `${JSON.stringify(value)}\n` : `---\n${documentOf(value, form)}`;
}

/** As `kubectl get -o name` names it, and takes it. */
export function jobSetReference(name: string): string {
  return printable(`jobset.jobset.x-k8s.io/${name}`);
}
