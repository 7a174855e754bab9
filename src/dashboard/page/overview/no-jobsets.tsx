/** What the list says when it has no rows. */
import { Command } from '../elements/command.tsx';

export interface NoJobSetsProps {
  /** The server has sent all that there is. */
  readonly isComplete: boolean;
  /** There are some, and the filter matches none. */
  readonly isFiltered: boolean;
  /** Something may not be read. */
  readonly isRefused: boolean;
  /** Another card says what to apply. */
  readonly hasFirstLook: boolean;
  /** Empties the filter. */
  readonly onAll: () => void;
}

const APPLY = 'kubectl apply -f jobset.yaml';

export function NoJobSets(props: NoJobSetsProps) {
  const { isComplete, isFiltered, isRefused, hasFirstLook, onAll } = props;
  if (!isComplete && !isRefused) return <p class="quiet">Waiting for the list of JobSets.</p>;
  if (isFiltered) {
    return (
      <div class="card no-jobsets">
        <h2>No JobSet matches the filter.</h2>
        <p>
          <button type="button" class="button" onClick={onAll}>
            Show all
          </button>
        </p>
      </div>
    );
  }
  if (hasFirstLook) return <p class="quiet">There is no JobSet yet.</p>;
  return (
    <div class="card no-jobsets">
      <h2>{isRefused ? 'There is no JobSet that you may see.' : 'There is no JobSet yet.'}</h2>
      <p>Apply one, and it appears here:</p>
      <Command command={APPLY} />
    </div>
  );
}
