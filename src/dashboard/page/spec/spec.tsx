/** What was asked for: in words, and as it stands. */
import type { RunView } from '../../messages/run.ts';
import { CopyButton } from '../elements/copy-button.tsx';
import { shown, shownLines } from '../elements/shown-text.ts';

/** UTF-16 code units; a JobSet may have more than a megabyte. */
const YAML_SHOWN = 200_000;

export function Spec({ run }: { readonly run: RunView }) {
  const { policies, injected, timeouts, yaml } = run.spec;
  return (
    <div class="spec">
      <div class="spec-column">
        <Sentences title="Policies" sentences={policies} />
        {timeouts.length > 0 && (
          <section class="card spec-part">
            <h2>Time-outs that can be changed</h2>
            <dl class="spec-timeouts">
              {timeouts.map(({ annotation, value, meaning }) => (
                <div key={annotation}>
                  <dt>
                    <code>{shown(annotation)}</code>:
                    {value === null ? (
                      <span class="is-unset"> not set</span>
                    ) : (
                      <code> {shown(value)}</code>
                    )}
                  </dt>
                  <dd class="quiet">{shown(meaning)}</dd>
                </div>
              ))}
            </dl>
          </section>
        )}
      </div>
      <Sentences title="What is added to the Pods" sentences={injected} />
      <section class="card spec-part spec-yaml-part">
        <div class="spec-head">
          <h2>YAML</h2>
          <CopyButton text={yaml} what="the YAML" />
        </div>
        <pre class="spec-yaml" tabindex={0} role="region" aria-label="YAML">
          {shownLines(yaml, YAML_SHOWN)}
        </pre>
      </section>
    </div>
  );
}

interface SentencesProps {
  readonly title: string;
  readonly sentences: readonly string[];
}

function Sentences({ title, sentences }: SentencesProps) {
  return (
    <section class="card spec-part">
      <h2>{title}</h2>
      <ul class="spec-sentences">
        {sentences.map((sentence) => (
          <li key={sentence}>{shown(sentence)}</li>
        ))}
      </ul>
    </section>
  );
}
