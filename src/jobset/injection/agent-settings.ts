/**
 * Turns annotations of a JobSet into settings of its agents when a Job is made. Without an annotation
 * a template stays as it is.
 */
import { parseDuration } from '@lockstep/kube/duration.ts';
import { invalidValue, unknownValueErrors } from '@lockstep/kube/field-error.ts';
import type { StringMap } from '@lockstep/kube/meta.ts';
import type { Container, EnvVar } from '@lockstep/kube/objects/pod.ts';
import type { FieldError } from '@lockstep/kube/status.ts';
import { asked, OFF } from '../annotations/table.ts';
import type { RestartMode } from '../jobset-status.ts';
import {
  ENV_HANG_COMMAND,
  ENV_LAST_WORDS,
  ENV_PREFLIGHT,
  ENV_PROGRESS_PREFIX,
  ENV_STANDBY_MODE,
  ENV_STOP_GRACE_SECONDS,
  ENV_TERMINATION_MESSAGE_PATH,
  HANG_COMMAND,
  LAST_WORDS,
  LOG_PREFIX,
  PREFLIGHT,
  PROGRESS_PREFIX,
  STANDBY,
  STOP_GRACE,
} from '../names.ts';

/** 1 to 64 characters, none of which controls a terminal. */
const PREFIX = /^[^\p{C}\p{Zl}\p{Zp}]{1,64}$/u;
const MAX_COMMAND_BYTES = 4096;
const MAX_STOP_GRACE_SECONDS = 600;
const LAST_WORDS_VALUES = ['All', 'Files', OFF] as const;
const STANDBY_VALUES = [OFF, 'Warm'] as const;
const LOG_PREFIX_VALUES = ['On', OFF] as const;
/** Kubernetes' default, which agents know. */
const DEFAULT_TERMINATION_MESSAGE_PATH = '/dev/termination-log';

/** A sidecar neither stops its worker, nor sees what it prints, nor runs in its container. */
const SUPERVISOR_ONLY = [
  PROGRESS_PREFIX,
  STANDBY,
  HANG_COMMAND,
  PREFLIGHT,
  LAST_WORDS,
  STOP_GRACE,
] as const;

/** For a supervising agent. `worker` is the container that it supervises. */
export function settingsEnvironment(
  annotations: StringMap | undefined,
  worker: Container | undefined,
): readonly EnvVar[] {
  const stopGraceSeconds = parseStopGraceSeconds(annotations?.[STOP_GRACE] ?? '');
  const path = worker?.terminationMessagePath ?? DEFAULT_TERMINATION_MESSAGE_PATH;
  const settings: readonly (readonly [string, string | undefined])[] = [
    [ENV_HANG_COMMAND, asked(annotations, HANG_COMMAND)],
    [ENV_PREFLIGHT, asked(annotations, PREFLIGHT)],
    [ENV_PROGRESS_PREFIX, asked(annotations, PROGRESS_PREFIX)],
    [ENV_STANDBY_MODE, asked(annotations, STANDBY)],
    [ENV_LAST_WORDS, annotations?.[LAST_WORDS]],
    [ENV_STOP_GRACE_SECONDS, stopGraceSeconds?.toFixed(0)],
    [
      ENV_TERMINATION_MESSAGE_PATH,
      path === DEFAULT_TERMINATION_MESSAGE_PATH || path === '' ? undefined : path,
    ],
  ];
  return settings.flatMap(([name, value]) =>
    value === undefined ? [] : [{ name, value: literal(value) }],
  );
}

/** Invalid values of these annotations. */
export function settingsErrors(annotations: StringMap | undefined): readonly FieldError[] {
  const problem = (
    key: string,
    isValid: (value: string) => boolean,
    detail: string,
  ): readonly FieldError[] => {
    const value = asked(annotations, key);
    if (value === undefined || isValid(value)) return [];
    return [invalidValue(field(key), value, detail)];
  };
  return [
    ...problem(
      PROGRESS_PREFIX,
      (value) => PREFIX.test(value),
      'expected Off, or 1 to 64 printable characters on one line',
    ),
    ...[HANG_COMMAND, PREFLIGHT].flatMap((key) =>
      problem(
        key,
        isCommand,
        `expected Off, or a line of shell of 1 to ${MAX_COMMAND_BYTES} bytes, without NUL`,
      ),
    ),
    ...unknownValueErrors(field(STANDBY), annotations?.[STANDBY], STANDBY_VALUES),
    ...unknownValueErrors(field(LOG_PREFIX), annotations?.[LOG_PREFIX], LOG_PREFIX_VALUES),
    ...unknownValueErrors(field(LAST_WORDS), annotations?.[LAST_WORDS], LAST_WORDS_VALUES),
    ...problem(
      STOP_GRACE,
      (value) => parseStopGraceSeconds(value) !== undefined,
      'expected a duration in whole seconds such as "30s", from 0s to 10m',
    ),
  ];
}

/** Annotations without effect: on agents of a mode, or because there is no agent (`Recreate`). */
export function settingsWarnings(
  mode: RestartMode | 'Recreate' | undefined,
  annotations: StringMap | undefined,
): readonly string[] {
  if (mode === undefined || mode === 'Supervisor') return [];
  const why =
    mode === 'Sidecar'
      ? 'in Sidecar mode: only a supervising agent obeys it'
      : 'without restartStrategy InPlaceRestart: no agent would obey it';
  const given = SUPERVISOR_ONLY.filter((key) => asked(annotations, key) !== undefined);
  return given.map((key) => `${field(key)} has no effect ${why}`);
}

/** Undefined for an invalid one. */
export function parseStopGraceSeconds(text: string): number | undefined {
  const seconds = (parseDuration(text) ?? Number.NaN) / 1000;
  const isAllowed = Number.isInteger(seconds) && seconds >= 0 && seconds <= MAX_STOP_GRACE_SECONDS;
  return isAllowed ? seconds : undefined;
}

function isCommand(text: string): boolean {
  const bytes = new TextEncoder().encode(text).length;
  return text.trim() !== '' && bytes <= MAX_COMMAND_BYTES && !text.includes('\0');
}

function field(key: string): string {
  return `metadata.annotations[${key}]`;
}

/** Kubernetes expands `$(NAME)` in values of variables, and turns `$$` into `$`. */
function literal(value: string): string {
  return value.replace(/\$(?=[$(])/g, '$$$$');
}
