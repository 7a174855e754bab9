/** All that is known of one member, and its log. */
import { useContext } from 'preact/hooks';
import { MAX_RANKS_OF_POD } from '../../../../jobset/reported-number.ts';
import type { MemberState } from '../../../../jobset/view/member-state.ts';
import type { RunMember } from '../../../messages/run.ts';
import { PlayedAt } from '../../elements/age.tsx';
import { shown } from '../../elements/shown-text.ts';
import { processesOf } from './cells.ts';
import { Log } from './log.tsx';
import { STATES } from './states.ts';
import { factsOf, memberName, processName } from './words.ts';

export interface MemberProps {
  readonly namespace: string;
  readonly name: string;
  readonly member: RunMember;
  readonly state: MemberState;
  readonly nowMs: number;
  /** The local rank whose log is shown; null: the log of the Pod. */
  readonly process: number | null;
  readonly choose: (process: number | null) => void;
  readonly close: () => void;
}

export function Member(props: MemberProps) {
  const { namespace, name, member, state, nowMs, process, choose, close } = props;
  const { pod } = member;
  const isLive = useContext(PlayedAt) === null;
  const processes = processesOf(member);
  // An address may name a process that the member does not have.
  const shownProcess = processes > 1 && process !== null && process < processes ? process : null;
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
      {isLive && (
        <>
          {processes > 1 && (
            <label class="inline-field">
              Log of
              <select
                class="input"
                onChange={({ currentTarget: { value } }) =>
                  choose(value === '' ? null : Number(value))
                }
              >
                <option value="" selected={shownProcess === null}>
                  the whole Pod
                </option>
                {Array.from({ length: Math.min(processes, MAX_RANKS_OF_POD) }, (_, local) => (
                  <option key={local} value={local} selected={local === shownProcess}>
                    {processName(member, local)}
                  </option>
                ))}
              </select>
            </label>
          )}
          <Log
            key={`${pod} ${shownProcess} ${member.ranks?.first}`}
            namespace={namespace}
            name={name}
            pod={pod}
            process={shownProcess}
          />
        </>
      )}
    </section>
  );
}
