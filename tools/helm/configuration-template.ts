/** The operator's Configuration file as a template, and values of settings as expressions. */
import packageJson from '../../package.json' with { type: 'json' };
import { FILE_HEAD } from '../../src/operator/configuration/configuration-text.ts';
import { defaultAgentImage } from '../../src/operator/configuration/object-names.ts';
import type { Setting } from '../../src/operator/configuration/setting-types.ts';
import { SETTINGS } from '../../src/operator/configuration/settings.ts';

/** What the value `configuration` holds. */
export const CHART_SETTINGS: readonly Setting[] = Object.values<Setting>(SETTINGS).filter(
  ({ helm }) => helm === undefined,
);

/** A Go template expression for a setting below `configuration`; an empty text is its default. */
export function settingExpression(name: keyof typeof SETTINGS): string {
  const { path, default: initial }: Setting = SETTINGS[name];
  const keys = path.split('.').map((step) => JSON.stringify(step));
  const value = `dig ${keys.join(' ')} ${JSON.stringify(initial)} $.Values.configuration`;
  return typeof initial === 'string' ? `${value} | default ${JSON.stringify(initial)}` : value;
}

/** Definitions of what several templates need of the settings. */
export function settingTemplates(): string {
  const portOf = (name: 'metricsBindAddress' | 'healthProbeBindAddress') =>
    `${settingExpression(name)} | regexFind "[0-9]+$" | int64`;
  const ports = {
    webhookPort: `${settingExpression('webhookPort')} | int64`,
    metricsPort: portOf('metricsBindAddress'),
    healthPort: portOf('healthProbeBindAddress'),
  };
  const definitions = Object.entries(ports).map(
    ([name, expression]) => `{{- define "lockstep.${name}" -}}\n{{ ${expression} }}\n{{- end -}}\n`,
  );
  return [configurationTemplate(), ...definitions].join('\n');
}

/** The text that `configurationText` gives for the same values. */
function configurationTemplate(): string {
  const image = defaultAgentImage(packageJson.version);
  return `{{- define "lockstep.configuration" -}}
{{- $values := deepCopy $.Values.configuration -}}
{{- if ne (int64 $.Values.maxStreams) ${SETTINGS.maxStreams.default} -}}
{{- $values = mergeOverwrite $values (dict "limits" (dict "maxStreams" (int64 $.Values.maxStreams))) -}}
{{- end -}}
{{- $image := include "lockstep.agentImage" $ -}}
{{- if ne $image ${JSON.stringify(image)} -}}
{{- $values = mergeOverwrite $values (dict "agent" (dict "image" $image)) -}}
{{- end -}}
${FILE_HEAD}${level(Object.values<Setting>(SETTINGS), 0)}{{- printf "\\n" }}
{{- end -}}
`;
}

/** The keys of one depth, each with what is below it. */
function level(settings: readonly Setting[], depth: number): string {
  const stepsOf = ({ path }: Setting) => path.split('.').slice(0, depth + 1);
  const paths = new Set(settings.map((one) => stepsOf(one).join('.')));
  const parts = [...paths].map((path) => {
    const below = settings.filter((one) => stepsOf(one).join('.') === path);
    const key = `${'  '.repeat(depth)}${path.split('.').at(-1)}:`;
    const value = `$values.${path}`;
    return below.some((one) => one.path === path)
      ? `{{- if not (kindIs "invalid" ${value}) }}\n${key} {{ toRawJson ${value} }}\n{{- end }}\n`
      : `{{- with ${value} }}\n${key}\n${level(below, depth + 1)}{{- end }}\n`;
  });
  return parts.join('');
}
