/** Stands in the place of a run of which the server has sent nothing, and says why. */
import { shown } from '../elements/shown-text.ts';

export interface NothingToldProps {
  /** Sentences of the server. */
  readonly problems: readonly string[];
  readonly isGone: boolean;
  /** The server does not even begin to tell. */
  readonly isRefused: boolean;
}

export function NothingTold({ problems, isGone, isRefused }: NothingToldProps) {
  if (isGone) return <p class="quiet">There is no JobSet of this name.</p>;
  if (problems.length === 0 && !isRefused) {
    return <p class="quiet">Waiting for the server to tell of it.</p>;
  }
  return (
    <div class="card nothing-told" role="status">
      <h2>Nothing of it can be shown.</h2>
      {problems.map((problem) => (
        <p key={problem}>{shown(problem)}</p>
      ))}
      <p class="quiet">The page goes on by itself when that changes.</p>
      <p>
        <a href="#/">Show all JobSets</a>
      </p>
    </div>
  );
}
