/** What the user may do to a JobSet: a button, a list with what is refused and why, a confirmation. */
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { ActionOffer, RunView } from '../../messages/run.ts';
import { Dialog } from '../elements/dialog.ts';
import { shown } from '../elements/shown-text.ts';
import { ACTION_WORDS, type ActionKind } from './action-words.ts';
import { Confirmation } from './confirmation.ts';

export function Actions({ run }: { readonly run: RunView }): VNode {
  const [isOpen, open] = useState(false);
  return html`<button type="button" class="button" onClick=${() => open(true)}>Actions</button>
    ${isOpen && html`<${ActionsDialog} run=${run} onClose=${() => open(false)} />`}`;
}

interface ActionsDialogProps {
  readonly run: RunView;
  readonly onClose: () => void;
}

/**
 * What is confirmed is about the JobSet as it was when it was chosen: the server refuses it for
 * another one, and a restart ends no later epoch.
 */
function ActionsDialog({ run, onClose }: ActionsDialogProps): VNode {
  const [chosen, choose] = useState<{ kind: ActionKind; run: RunView } | null>(null);
  const title = chosen === null ? 'Actions' : ACTION_WORDS[chosen.kind].title;
  return html`<${Dialog} title=${`${title}: ${shown(run.jobSet.name)}`} onClose=${onClose}>
    ${
      chosen === null
        ? html`<${Offers} offers=${run.actions} onChoose=${(kind: ActionKind) => choose({ kind, run })} />`
        : html`<${Confirmation}
            kind=${chosen.kind}
            run=${chosen.run}
            onBack=${() => choose(null)}
          />`
    }
  </${Dialog}>`;
}

interface OffersProps {
  readonly offers: readonly ActionOffer[];
  readonly onChoose: (kind: ActionKind) => void;
}

function Offers({ offers, onChoose }: OffersProps): VNode {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => list.current?.querySelector<HTMLElement>('button:enabled')?.focus(), []);
  return html`<ul class="action-list" ref=${list}>
    ${offers.map(
      (offer) =>
        html`<${Offer}
          key=${offer.action}
          offer=${offer}
          onChoose=${() => onChoose(offer.action)}
        />`,
    )}
  </ul>`;
}

interface OfferProps {
  readonly offer: ActionOffer;
  readonly onChoose: () => void;
}

function Offer({ offer: { action, refusal }, onChoose }: OfferProps): VNode {
  const { title, effects, isDangerous } = ACTION_WORDS[action];
  const text = useId();
  return html`<li>
    <button
      type="button"
      class=${`button ${isDangerous ? 'is-danger' : ''}`}
      disabled=${refusal !== null}
      aria-describedby=${text}
      onClick=${onChoose}
    >
      ${title}…
    </button>
    <p id=${text} class="quiet">
      ${refusal === null ? effects[0] : html`<b>Not now:</b> ${shown(refusal)}`}
    </p>
  </li>`;
}
