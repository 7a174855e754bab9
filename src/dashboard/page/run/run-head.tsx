/** What stands above both tabs of a JobSet: its name, its state, and what can be done to it. */
import type { RunView } from '../../messages/run.ts';
import { Actions } from '../actions/actions.tsx';
import { Age } from '../elements/age.tsx';
import { shown } from '../elements/shown-text.ts';
import { StateBadge } from '../elements/state-badge.tsx';
import { addressOf, type RunTab } from '../route.ts';
import type { RunLook } from './look.ts';

const TABS: readonly (readonly [tab: RunTab, name: string])[] = [
  ['run', 'Run'],
  ['spec', 'Spec'],
];

export interface RunHeadProps {
  readonly namespace: string;
  readonly name: string;
  readonly tab: RunTab;
  readonly look: RunLook;
  /** Null: the server has sent nothing yet. */
  readonly run: RunView | null;
  readonly isGone: boolean;
}

export function RunHead({ namespace, name, tab, look, run, isGone }: RunHeadProps) {
  return (
    <div class="run-head">
      <p class="run-path">
        <a href="#/">JobSets</a> <span aria-hidden="true">/</span> {shown(namespace)}
      </p>
      <div class="run-title">
        <h1 tabindex={-1}>{shown(name)}</h1>
        {run !== null && !isGone && <StateBadge shown={run.jobSet.shown} />}
        {isGone && <span class="badge is-bad">Deleted</span>}
        {run !== null && (
          <span class="quiet">
            created <Age sinceMs={run.createdMs} /> ago
          </span>
        )}
        {run !== null && !isGone && <Actions run={run} />}
      </div>
      <nav class="tabs" aria-label="Views of this JobSet">
        {TABS.map(([each, text]) => {
          const address = addressOf({ view: 'Run', namespace, name, tab: each, look });
          const current = each === tab ? 'page' : undefined;
          return (
            <a key={each} href={address} aria-current={current}>
              {text}
            </a>
          );
        })}
      </nav>
    </div>
  );
}
