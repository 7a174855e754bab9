/**
 * The port of Linux namespaces: runs a container's command in a mount namespace, where volumes are
 * at their paths, and in a pid namespace. Implementation: `adapters/linux-namespaces.ts`. If a
 * machine has none, volumes are symbolic links below `LOCKSTEP_ROOT` (`container-root.ts`).
 */
import type { ProcessCommand } from '@lockstep/kube/runtime/ports/process-runner.ts';

export type Argv = ProcessCommand['argv'];

export type PodNamespacesState =
  | { readonly type: 'available'; readonly namespaces: PodNamespaces }
  /** `reason`: part of a sentence, such as `they are switched off`. */
  | { readonly type: 'unavailable'; readonly reason: string };

export interface PodNamespaces {
  /**
   * The command line that makes the place and runs the command in it; start it in the place's
   * directory. Rejects with `ProcessStartError` if there is no such program, or no such place.
   */
  enter(place: ContainerPlace, command: Pick<ProcessCommand, 'argv' | 'env'>): Promise<Argv>;
  /**
   * The command line of a process that holds a pid namespace for others, writes a line when it is
   * ready, and does nothing more.
   */
  hold(): Argv;
  /**
   * The command line that runs a command beside one that `enter` has made. Throws
   * `ProcessStartError` if there is no such program.
   */
  join(entry: PlaceEntry, command: Pick<ProcessCommand, 'argv' | 'env'>): Argv;
}

/** What differs for a container from the machine. All paths are absolute, without `.` and `..`. */
export interface ContainerPlace {
  /** For this run of the container, with an empty directory `mountpoint` in it. */
  readonly directory: string;
  /** Outer mounts come first; the mount points of inner ones exist in them. */
  readonly mounts: readonly PlaceMount[];
  readonly links: readonly PlaceLink[];
  /** Created if the machine does not have it. */
  readonly cwd: string;
  /** If false, it sees the processes of the machine. */
  readonly hasOwnProcesses: boolean;
  /** The host name; undefined: the machine's. */
  readonly hostname: string | undefined;
  /**
   * The process that holds its pid namespace, if it shares one; it has its own processes then too.
   */
  readonly holderPid?: number | undefined;
}

export interface PlaceMount {
  /** A directory or file of the machine. */
  readonly source: string;
  readonly at: string;
  readonly isFile: boolean;
  readonly isReadOnly: boolean;
}

/** A symbolic link: its target may be replaced, which a mount would not show. */
export interface PlaceLink {
  readonly target: string;
  readonly at: string;
}

/** A place whose command runs. */
export interface PlaceEntry {
  /** The process of `enter`'s command line. */
  readonly pid: number;
  readonly directory: string;
  readonly cwd: string;
  readonly hasOwnProcesses: boolean;
  readonly hasOwnHostname: boolean;
}

/** `Auto`: if the machine has them. */
export type PodNamespacesMode = (typeof POD_NAMESPACES_MODES)[number];
export const POD_NAMESPACES_MODES = ['Auto', 'Off'] as const;
export const DEFAULT_POD_NAMESPACES: PodNamespacesMode = 'Auto';

/** The label of a Node that says whether its containers have them: `true` or `false`. */
export const POD_NAMESPACES_LABEL = 'lockstep/pod-namespaces';
