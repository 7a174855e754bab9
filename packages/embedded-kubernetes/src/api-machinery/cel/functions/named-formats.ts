/** `format.dns1123Label().validate(text)`: reports what is wrong with a text. */
import {
  dns1035LabelErrors,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  labelValueErrors,
  qualifiedNameErrors,
} from '@lockstep/kube/name-rules.ts';
import { isOfFormat } from '@lockstep/kube/schema/formats.ts';
import { CHARACTER_COST } from '../limits.ts';
import { FORMAT, type Overload, overload, STRING } from '../overload.ts';
import { listOf, optionalOf, STRING_TYPE } from '../type.ts';
import { CelList, FormatValue, NONE, Optional } from '../value.ts';

const FORMATS: readonly FormatValue[] = [
  new FormatValue('dns1123Label', dns1123LabelErrors),
  new FormatValue('dns1123Subdomain', dns1123SubdomainErrors),
  new FormatValue('dns1035Label', dns1035LabelErrors),
  new FormatValue('qualifiedName', qualifiedNameErrors),
  new FormatValue('labelValue', labelValueErrors),
  new FormatValue('uuid', (text) => other('uuid', text, 'does not match the UUID format')),
  ...['uri', 'byte', 'date', 'datetime'].map(
    (name) => new FormatValue(name, (text) => other(name, text, `invalid ${name}`)),
  ),
];

const VALIDATED = optionalOf(listOf(STRING_TYPE));

export const FORMAT_FUNCTIONS: readonly Overload[] = [
  ...FORMATS.map((format) => overload(`format.${format.name}`, [], FORMAT.type, () => format)),
  overload('format.named', [STRING], optionalOf(FORMAT.type), ([name]) => {
    const format = FORMATS.find((one) => one.name === name);
    return format === undefined ? NONE : new Optional(format);
  }),
  overload(
    '.validate',
    [FORMAT, STRING],
    VALIDATED,
    ([format, text]) => {
      const errors = format.validate(text);
      return errors.length === 0 ? NONE : new Optional(CelList.of(errors));
    },
    { cost: ([, size = 0]) => 1 + size * CHARACTER_COST },
  ),
];

/** A format that schemas know too. */
function other(name: string, text: string, complaint: string): readonly string[] {
  return isOfFormat(name, text) ? [] : [complaint];
}
