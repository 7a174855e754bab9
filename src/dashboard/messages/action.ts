/** What a user can do to a JobSet from the page, and the command that does the same. */
import { shellWord } from '@lockstep/kube/quote.ts';

export type Action =
  /** Ends this epoch, and no later one. */
  | { readonly kind: 'Restart'; readonly epoch: number }
  | { readonly kind: 'Suspend' }
  | { readonly kind: 'Resume' }
  /** Null removes the annotation. */
  | { readonly kind: 'SetTimeout'; readonly annotation: string; readonly value: string | null }
  | { readonly kind: 'Delete' };

/** The body of a request. The server refuses it if another JobSet has the name by now. */
export interface ActionRequest {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly action: Action;
}

/** The answer to it: done, or why not, as a sentence. */
export interface ActionAnswer {
  readonly problem: string | null;
}

/**
 * The command that does what the action does, for a shell. `clusterFlags` lead it to the cluster that
 * the page shows, which need not be the one that the shell would choose.
 */
export function commandOf(
  { namespace, name, action }: Omit<ActionRequest, 'uid'>,
  clusterFlags: readonly string[],
): string {
  return [...wordsOf(namespace, name, action), ...clusterFlags].map(shellWord).join(' ');
}

function wordsOf(namespace: string, name: string, action: Action): readonly string[] {
  const jobSet = ['-n', namespace, 'jobset', name];
  switch (action.kind) {
    case 'Restart':
      return ['lockstep', 'restart', name, '-n', namespace];
    case 'Suspend':
    case 'Resume': {
      const patch = JSON.stringify({ spec: { suspend: action.kind === 'Suspend' } });
      return ['kubectl', 'patch', ...jobSet, '--type', 'merge', '-p', patch];
    }
    case 'SetTimeout':
      return action.value === null
        ? ['kubectl', 'annotate', ...jobSet, `${action.annotation}-`]
        : ['kubectl', 'annotate', ...jobSet, '--overwrite', `${action.annotation}=${action.value}`];
    case 'Delete':
      return ['kubectl', 'delete', ...jobSet];
  }
}
