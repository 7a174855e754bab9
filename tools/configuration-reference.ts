/** The table of settings in docs/reference/configuration.md, between two marks; `npm run manifest` writes it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Setting } from '../src/operator/configuration/setting-types.ts';
import { SETTINGS } from '../src/operator/configuration/settings.ts';

export const CONFIGURATION_PAGE = 'docs/reference/configuration.md';

const BEGIN =
  '<!-- Made by `npm run manifest`; change src/operator/configuration/settings.ts. -->\n';
const END = '<!-- The end of what is made. -->\n';

/** The page with the table of today. */
export function configurationReference(): string {
  const page = readFileSync(join(import.meta.dirname, '..', CONFIGURATION_PAGE), 'utf8');
  const [before = '', , after] = page.split(
    new RegExp(`(?<=${escaped(BEGIN)})(.*)(?=${escaped(END)})`, 's'),
  );
  if (after === undefined) throw new Error(`${CONFIGURATION_PAGE} lacks its marks`);
  return `${before}\n${settingsTable()}\n\n${after}`;
}

function settingsTable(): string {
  const rows = Object.values<Setting>(SETTINGS).map((setting) => {
    const { path, own, type, help, see, flag } = setting;
    const more = see === undefined ? '' : ` ([more](${see}))`;
    const cells = [
      `\`${path}\`${own === true ? '*' : ''}`,
      shownDefault(setting),
      type.expected,
      flag === undefined ? '' : `\`${flag}\``,
      `${help}${more}`,
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return ['| key | default | value | flag | meaning |', '|---|---|---|---|---|', ...rows].join(
    '\n',
  );
}

function shownDefault({ default: initial, defaultInWords }: Setting): string {
  return defaultInWords ?? `\`${String(initial)}\``;
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
