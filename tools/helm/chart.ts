/** All files of the Helm chart, by path in the chart. */
import { stringify } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { OLDEST_MINOR } from '../../src/cli/kubernetes-versions.ts';
import { CONFIGURATION_FILE } from '../../src/deploy/operator-deployment.ts';
import { OPERATOR_NAME } from '../../src/deploy/permissions.ts';
import { CONFIGURATION_NAME } from '../../src/operator/configuration/object-names.ts';
import { FIXED_MIB, STEP_MIB, STREAM_KIB } from '../../src/operator/configuration/stream-memory.ts';
import { settingTemplates } from './configuration-template.ts';
import { CONFIGURATION_HASH, objectTemplates } from './templates.ts';
import { valuesSchema, valuesTable, valuesYaml } from './values.ts';

export const CHART_NAME = 'lockstep';

const HEADER = '# Made by `npm run manifest`; change src/deploy or tools/helm, not this file.\n';
const KIB_PER_MIB = 1024;

export function chartFiles(): ReadonlyMap<string, string> {
  const templates = [...objectTemplates()].map(
    ([path, text]) => [path, `{{- /* Made by \`npm run manifest\` */ -}}\n${text}`] as const,
  );
  return new Map([
    ['Chart.yaml', HEADER + chart()],
    ['values.yaml', HEADER + valuesYaml()],
    ['values.schema.json', valuesSchema()],
    ['README.md', readme()],
    ['templates/_settings.tpl', settingsTemplate()],
    ['templates/NOTES.txt', NOTES],
    ...templates,
  ]);
}

function chart(): string {
  return stringify(
    {
      apiVersion: 'v2',
      name: CHART_NAME,
      type: 'application',
      description: packageJson.description,
      version: packageJson.version,
      appVersion: packageJson.version,
      // With the suffix it includes versions of vendors, such as 1.36.1-gke.2.
      kubeVersion: `>=1.${OLDEST_MINOR}.0-0`,
      keywords: ['jobset', 'training', 'restart'],
      annotations: { licenses: packageJson.license },
    },
    { lineWidth: 0 },
  );
}

/** What several templates need. Amounts of memory are counted in MiB, and rounded up as in code. */
function settingsTemplate(): string {
  const stepKiB = STEP_MIB * KIB_PER_MIB;
  const fixedKiB = FIXED_MIB * KIB_PER_MIB;
  return `{{- /* Made by \`npm run manifest\`; change src/deploy or tools/helm, not this file. */ -}}

${settingTemplates()}
{{- define "lockstep.operatorImage" -}}
{{ include "lockstep.image" (list .Values.operatorImage .Chart.AppVersion .Values.registry) }}
{{- end -}}

{{- define "lockstep.agentImage" -}}
{{ include "lockstep.image" (list .Values.agentImage .Chart.AppVersion .Values.registry) }}
{{- end -}}

{{- define "lockstep.image" -}}
{{- $image := index . 0 -}}
{{- $tag := $image.tag | default (ternary "" (index . 1) (ne $image.digest "")) -}}
{{ with index . 2 }}{{ . }}/{{ end }}{{ $image.repository }}{{ with $tag }}:{{ . }}{{ end }}{{ with $image.digest }}@{{ . }}{{ end }}
{{- end -}}

{{- define "lockstep.operatorMemory" -}}
{{- if and .Values.onlyManaged (not .Values.webhooks) -}}
{{- fail "onlyManaged needs webhooks: without them nothing keeps the restart mode" -}}
{{- end -}}
{{- $streams := int64 .Values.maxStreams -}}
{{- $kib := add ${fixedKiB} (mul $streams ${STREAM_KIB}) -}}
{{- $least := mul ${STEP_MIB} (div (add $kib ${stepKiB - 1}) ${stepKiB}) -}}
{{- $given := .Values.operatorMemory -}}
{{- if not $given -}}
{{ $least }}Mi
{{- else -}}
{{- $mib := $given | trimSuffix "Mi" | trimSuffix "Gi" | int64 -}}
{{- if hasSuffix "Gi" $given }}{{ $mib = mul $mib ${KIB_PER_MIB} }}{{ end -}}
{{- if lt $mib $least -}}
{{- fail (printf "operatorMemory is %q, allowed is %dMi or more with %d streams" $given $least $streams) -}}
{{- end -}}
{{ $given }}
{{- end -}}
{{- end -}}
`;
}

const NOTES = `Lockstep {{ .Chart.AppVersion }} is installed in namespace {{ .Release.Namespace }}.

See whether all of it is ready:

  npx lockstep doctor

{{- if not .Values.webhooks }}

API servers do not ask the operator about JobSets: webhooks are off.
{{- end }}
{{- /* Templates are rendered before anything is applied. */ -}}
{{- $map := lookup "v1" "ConfigMap" .Release.Namespace "${CONFIGURATION_NAME}" }}
{{- $operator := lookup "apps/v1" "Deployment" .Release.Namespace "${OPERATOR_NAME}" }}
{{- if and .Release.IsUpgrade $map $operator }}
{{- $file := dig "data" "${CONFIGURATION_FILE}" "" $map }}
{{- if ne ($file | sha1sum) (dig "spec" "template" "metadata" "annotations" "${CONFIGURATION_HASH}" "" $operator) }}

ConfigMap ${CONFIGURATION_NAME} was edited by hand, and this upgrade has replaced that. What is to stay belongs into the
value "configuration". The file was:

{{ $file | indent 2 }}
{{- end }}
{{- end }}
{{- with .Values.watchNamespaces }}

The operator acts only on JobSets in {{ join ", " . }}.
{{- end }}

"helm uninstall {{ .Release.Name }} --namespace {{ .Release.Namespace }}" keeps the JobSets and their definition.
`;

function readme(): string {
  return `# Helm chart of Lockstep

\`npm run manifest\` makes this chart from the code that \`lockstep install\` runs.
[Install Lockstep](../../../docs/install.md#with-helm) says how to use it.

${VALUES_SECTION}
`;
}

const VALUES_SECTION = `## Values

A value means what the flag of \`lockstep install\` means. The chart refuses unknown values, and values of a
wrong type or out of bounds. The command refuses more, such as files of certificates that no volume brings.

${valuesTable()}`;

/** The page about the chart's values. */
export function valuesReference(): string {
  return `# Values of the Helm chart

\`npm run manifest\` writes this page and the chart from the code that \`lockstep install\` runs.
[Install Lockstep](../install.md#with-helm) says how to use the chart.

${VALUES_SECTION}

The namespace is the namespace of the release.

Amounts of memory in \`operatorMemory\` are whole numbers of \`Mi\` or \`Gi\`. The least depends on \`maxStreams\`, as
[Memory of the operator](configuration.md#memory-of-the-operator) says.

\`configuration\` takes every key of the [Configuration file](configuration.md#keys) but \`limits.maxStreams\` and
\`agent.image\`, which have values of their own. The chart refuses unknown keys, and values of a wrong
type or out of bounds. The operator judges the forms of addresses, durations and quantities
([what it does with a wrong file](configuration.md#when-the-file-changes)). Ports, probes, names and the NetworkPolicy
follow:

\`\`\`yaml
configuration:
  agent:
    mode: Supervisor
  limits:
    maxPods: 500000
\`\`\`
`;
}
