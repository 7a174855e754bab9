/**
 * The port of Linux namespaces: a container's command as one that runs in a mount namespace of its
 * own, where volumes are at their paths, and in a pid namespace. Its real end is
 * `adapters/linux-namespaces.ts`. Where a machine has none, volumes are symbolic links below
 * `LOCKSTEP_ROOT` (`container-root.ts`).
 */
import type { ProcessCommand } from '../../../runtime/ports/process-runner.ts';

export type Argv = ProcessCommand['argv'];

export type PodNamespacesState =
  | { readonly type: 'available'; readonly namespaces: PodNamespaces }
  /** `reason`: part of a sentence, such as `they are switched off`. */
  | { readonly type: 'unavailable'; readonly reason: string };

export interface PodNamespaces {
  /**
   * The command line that makes the place and runs the command in it; to be started in the place's
   * directory. Rejects with `ProcessStartError` if there is no such program, or no such place.
   */
  enter(place: ContainerPlace, command: Pick<ProcessCommand, 'argv' | 'env'>): Promise<Argv>;
  /**
   * The command line of a process that holds a pid namespace for others, writes a line as soon as it
   * is there, and does nothing more.
   */
  hold(): Argv;
  /**
   * The command line that runs a command beside one that `enter` has made. Throws `ProcessStartError`
   * if there is no such program.
   */
  join(entry: PlaceEntry, command: Pick<ProcessCommand, 'argv' | 'env'>): Argv;
}

/** What a container sees that is not the machine's. All paths are absolute, without `.` and `..`. */
export interface ContainerPlace {
  /** Of this run of the container, with an empty directory `mountpoint` in it. */
  readonly directory: string;
  /** Those that lie in others come after them; their mount points there exist. */
  readonly mounts: readonly PlaceMount[];
  readonly links: readonly PlaceLink[];
  /** Made where the machine does not have it. */
  readonly cwd: string;
  /** Without, it sees the processes of the machine. */
  readonly hasOwnProcesses: boolean;
  /** What the machine is called there; undefined: as it is. */
  readonly hostname: string | undefined;
  /** Who holds its pid namespace, where it shares one; it has its own processes then too. */
  readonly holderPid?: number | undefined;
}

export interface PlaceMount {
  /** A directory of the machine, or a file. */
  readonly source: string;
  readonly at: string;
  readonly isFile: boolean;
  readonly isReadOnly: boolean;
}

/** A symbolic link: what it leads to may be replaced, which a mount would not show. */
export interface PlaceLink {
  readonly target: string;
  readonly at: string;
}

/** A place whose command runs. */
export interface PlaceEntry {
  /** Of the process that `enter`'s command line has become. */
  readonly pid: number;
  readonly directory: string;
  readonly cwd: string;
  readonly hasOwnProcesses: boolean;
  readonly hasOwnHostname: boolean;
}

/** `Auto`: wherever the machine has them. */
export type PodNamespacesMode = (typeof POD_NAMESPACES_MODES)[number];
export const POD_NAMESPACES_MODES = ['Auto', 'Off'] as const;
export const DEFAULT_POD_NAMESPACES: PodNamespacesMode = 'Auto';

/** The label of a Node that says whether its containers have them: `true` or `false`. */
export const POD_NAMESPACES_LABEL = 'lockstep/pod-namespaces';
