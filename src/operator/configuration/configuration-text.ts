/** Writes the text of a Configuration file with the given settings only. */
import { isJsonObject } from '@lockstep/kube/json/json-value.ts';
import { CONFIGURATION_HEAD } from './configuration-schema.ts';
import { ALL_SETTINGS, type GivenSettings } from './setting-values.ts';

/** The beginning of every file that an installation writes. */
export const FILE_HEAD = `apiVersion: ${CONFIGURATION_HEAD.apiVersion}
kind: ${CONFIGURATION_HEAD.kind}
# What is not here has its default: docs/reference/configuration.md.
`;

/** In the order of the table. Values are JSON, which YAML contains. */
export function configurationText(given: GivenSettings): string {
  const lines = configurationLines(
    ALL_SETTINGS.flatMap(([name, { path }]) =>
      given[name] === undefined ? [] : [{ path, text: JSON.stringify(sorted(given[name])) }],
    ),
  );
  return `${FILE_HEAD}${lines.map((line) => `${line}\n`).join('')}`;
}

/** Names of maps in the order in which Helm writes them. */
function sorted(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries);
}

/** Each value below the keys on the way to it. */
function configurationLines(
  values: readonly { readonly path: string; readonly text: string }[],
): readonly string[] {
  let open: readonly string[] = [];
  return values.flatMap(({ path, text }) => {
    const steps = path.split('.');
    const known = steps.findIndex((step, depth) => open[depth] !== step);
    const lines = steps
      .slice(known)
      .map(
        (step, at, rest) =>
          `${'  '.repeat(known + at)}${step}:${at === rest.length - 1 ? ` ${text}` : ''}`,
      );
    open = steps;
    return lines;
  });
}
