/** The file of `lockstep install --config`: refused before anything is applied if it is wrong. */
import { readConfiguration } from '../../operator/configuration/configuration.ts';
import type { GivenSettings, SettingName } from '../../operator/configuration/setting-values.ts';
import { SETTINGS } from '../../operator/configuration/settings.ts';

/** Annotations, in which it is kept too, have a limit. */
const MAX_CHARACTERS = 64 * 1024;

/** What the file says, or one line for each mistake in it. */
export function readGiven(
  path: string,
  readFile: (path: string) => string,
): { readonly given: GivenSettings } | { readonly problems: readonly string[] } {
  let text: string;
  try {
    text = readFile(path);
  } catch (error) {
    return { problems: [`cannot be read: ${error instanceof Error ? error.message : error}`] };
  }
  if (text.length > MAX_CHARACTERS) {
    return { problems: [`has ${text.length} characters, allowed are ${MAX_CHARACTERS}`] };
  }
  const read = readConfiguration(text);
  if ('problems' in read) return read;
  const problems = IMPOSSIBLE.flatMap(([name, allowed]) => {
    const value = read.given[name];
    if (value === undefined || value === allowed) return [];
    const needs = allowed === undefined ? 'the default' : JSON.stringify(allowed);
    return [`${SETTINGS[name].path} is ${JSON.stringify(value)}: an installation has ${needs}`];
  });
  return problems.length > 0 ? { problems } : read;
}

/** What would need volumes, or rights elsewhere, and with what an installation works. */
const IMPOSSIBLE: readonly (readonly [SettingName, unknown])[] = [
  ['webhookHost', undefined],
  ['webhookCertDir', undefined],
  ['metricsCertDir', undefined],
  ['leaderElectionNamespace', undefined],
  ['leaderElect', true],
  ['makesCertificates', true],
  // Other objects follow from the flag --only-managed.
  ['onlyManaged', false],
];
