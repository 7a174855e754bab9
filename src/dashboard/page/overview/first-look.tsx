/** Leads a newcomer through the example: a run, a kill, a hang, and the report of both. */
import type { OverviewRow } from '../../../jobset/view/overview.ts';
import type { FirstLook } from '../../messages/overview.ts';
import { Command } from '../elements/command.tsx';

const EXAMPLE = 'mnist';

/** Which step comes next, from 0; null: there are other JobSets, so the user is no newcomer. */
export function nextStep(rows: Iterable<OverviewRow>): number | null {
  const [first, ...others] = rows;
  if (first === undefined) return 0;
  if (others.length > 0 || first.name !== EXAMPLE) return null;
  return first.finishedMs !== null ? 3 : Math.min(3, 1 + first.restarts);
}

interface Step {
  readonly title: string;
  readonly text: string;
  readonly command: string;
}

function stepsOf({ apply, kill, stop, report }: FirstLook): readonly Step[] {
  return [
    {
      title: 'Run the example',
      text: 'Four workers train for about five minutes. The run appears in the list: open it in another tab.',
      command: apply,
    },
    {
      title: 'Kill a worker',
      text: 'All four restart in the same Pods, and go on from the last checkpoint within a second.',
      command: kill,
    },
    {
      title: 'Stop one',
      text: 'The others wait for it. After 10 s without a step the run restarts, and names the worker that was stopped.',
      command: stop,
    },
    {
      title: 'See what it cost',
      text: 'The report says for each restart who failed first, and what became of the time.',
      command: report,
    },
  ];
}

export function FirstLookCard({
  commands,
  next,
}: {
  readonly commands: FirstLook;
  readonly next: number;
}) {
  return (
    <section class="card first-look" aria-labelledby="first-look">
      <h2 id="first-look">A first look</h2>
      <ol>
        {stepsOf(commands).map(({ title, text, command }, i) => (
          <li aria-current={i === next ? 'step' : undefined}>
            <h3>{title}</h3>
            <p>{text}</p>
            <Command command={command} />
          </li>
        ))}
      </ol>
    </section>
  );
}
