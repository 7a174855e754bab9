import { dns1035LabelErrors } from '@lockstep/kube/name-rules.ts';

/** Names that become host names must be DNS-1035 labels of limited length. */
export const LABEL_LIMIT = 63;

/** The problems of a label, with `whenTooLong` in place of the general text about its length. */
export function labelErrors(value: string, whenTooLong: string): readonly string[] {
  return dns1035LabelErrors(value).map((detail) => (detail === TOO_LONG ? whenTooLong : detail));
}

const TOO_LONG = `must be no more than ${LABEL_LIMIT} characters`;
