/** All that is known of one member, and its log. */
import type { MemberState } from '../../../../jobset/view/member-state.ts';
import type { RunMember } from '../../../messages/run.ts';
import { shown } from '../../elements/shown-text.ts';
import { Log } from './log.tsx';
import { STATES } from './states.ts';
import { factsOf, memberName } from './words.ts';

export interface MemberProps {
  readonly namespace: string;
  readonly name: string;
  readonly member: RunMember;
  readonly state: MemberState;
  readonly nowMs: number;
  readonly close: () => void;
}

export function Member({ namespace, name, member, state, nowMs, close }: MemberProps) {
  const { pod } = member;
  return (
    <section class="member" aria-labelledby="member-title">
      <div class="member-head">
        <h3 id="member-title">{shown(memberName(member), 200)}</h3>
        <span class="badge">{STATES[state].label}</span>
        <button type="button" class="button is-plain" onClick={close}>
          Close
        </button>
      </div>
      <dl class="member-facts">
        {factsOf(member, nowMs).map(([fact, text]) => (
          <div key={fact}>
            <dt>{fact}</dt>
            <dd>{shown(text ?? '', 500)}</dd>
          </div>
        ))}
      </dl>
      <Log key={pod} namespace={namespace} name={name} pod={pod} />
    </section>
  );
}
