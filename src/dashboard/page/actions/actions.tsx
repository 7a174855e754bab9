/** What the user may do to a JobSet: a button, a list with what is refused and why, a confirmation. */
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { ActionOffer, RunView } from '../../messages/run.ts';
import { Dialog } from '../elements/dialog.tsx';
import { shown } from '../elements/shown-text.ts';
import { ACTION_WORDS, type ActionKind } from './action-words.ts';
import { Confirmation } from './confirmation.tsx';

export function Actions({ run }: { readonly run: RunView }) {
  const [isOpen, open] = useState(false);
  return (
    <>
      <button type="button" class="button" onClick={() => open(true)}>
        Actions
      </button>
      {isOpen && <ActionsDialog run={run} onClose={() => open(false)} />}
    </>
  );
}

/**
 * What is confirmed is about the JobSet as it was when it was chosen: the server refuses it for
 * another one, and a restart ends no later epoch.
 */
function ActionsDialog({ run, onClose }: { readonly run: RunView; readonly onClose: () => void }) {
  const [chosen, choose] = useState<{ kind: ActionKind; run: RunView } | null>(null);
  const title = chosen === null ? 'Actions' : ACTION_WORDS[chosen.kind].title;
  return (
    <Dialog title={`${title}: ${shown(run.jobSet.name)}`} onClose={onClose}>
      {chosen === null ? (
        <Offers offers={run.actions} onChoose={(kind) => choose({ kind, run })} />
      ) : (
        <Confirmation kind={chosen.kind} run={chosen.run} onBack={() => choose(null)} />
      )}
    </Dialog>
  );
}

interface OffersProps {
  readonly offers: readonly ActionOffer[];
  readonly onChoose: (kind: ActionKind) => void;
}

function Offers({ offers, onChoose }: OffersProps) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => list.current?.querySelector<HTMLElement>('button:enabled')?.focus(), []);
  return (
    <ul class="action-list" ref={list}>
      {offers.map((offer) => (
        <Offer key={offer.action} offer={offer} onChoose={() => onChoose(offer.action)} />
      ))}
    </ul>
  );
}

interface OfferProps {
  readonly offer: ActionOffer;
  readonly onChoose: () => void;
}

function Offer({ offer: { action, refusal }, onChoose }: OfferProps) {
  const { title, effects, isDangerous } = ACTION_WORDS[action];
  const text = useId();
  return (
    <li>
      <button
        type="button"
        class={`button ${isDangerous ? 'is-danger' : ''}`}
        disabled={refusal !== null}
        aria-describedby={text}
        onClick={onChoose}
      >
        {title}…
      </button>
      <p id={text} class="quiet">
        {refusal === null ? (
          effects[0]
        ) : (
          <>
            <b>Not now:</b> {shown(refusal)}
          </>
        )}
      </p>
    </li>
  );
}
