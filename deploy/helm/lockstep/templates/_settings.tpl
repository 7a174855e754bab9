{{- /* Made by `npm run manifest`; change src/deploy or tools/helm, not this file. */ -}}

{{- define "lockstep.configuration" -}}
{{- $values := deepCopy $.Values.configuration -}}
{{- if ne (int64 $.Values.maxStreams) 32768 -}}
{{- $values = mergeOverwrite $values (dict "limits" (dict "maxStreams" (int64 $.Values.maxStreams))) -}}
{{- end -}}
{{- $image := include "lockstep.agentImage" $ -}}
{{- if ne $image "lockstep/agent:0.1.0" -}}
{{- $values = mergeOverwrite $values (dict "agent" (dict "image" $image)) -}}
{{- end -}}
apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
# What is not here has its default: docs/reference/configuration.md.
{{- with $values.webhook }}
webhook:
{{- if not (kindIs "invalid" $values.webhook.port) }}
  port: {{ toRawJson $values.webhook.port }}
{{- end }}
{{- if not (kindIs "invalid" $values.webhook.host) }}
  host: {{ toRawJson $values.webhook.host }}
{{- end }}
{{- if not (kindIs "invalid" $values.webhook.certDir) }}
  certDir: {{ toRawJson $values.webhook.certDir }}
{{- end }}
{{- end }}
{{- with $values.leaderElection }}
leaderElection:
{{- if not (kindIs "invalid" $values.leaderElection.leaderElect) }}
  leaderElect: {{ toRawJson $values.leaderElection.leaderElect }}
{{- end }}
{{- if not (kindIs "invalid" $values.leaderElection.leaseDuration) }}
  leaseDuration: {{ toRawJson $values.leaderElection.leaseDuration }}
{{- end }}
{{- if not (kindIs "invalid" $values.leaderElection.renewDeadline) }}
  renewDeadline: {{ toRawJson $values.leaderElection.renewDeadline }}
{{- end }}
{{- if not (kindIs "invalid" $values.leaderElection.retryPeriod) }}
  retryPeriod: {{ toRawJson $values.leaderElection.retryPeriod }}
{{- end }}
{{- if not (kindIs "invalid" $values.leaderElection.resourceLock) }}
  resourceLock: {{ toRawJson $values.leaderElection.resourceLock }}
{{- end }}
{{- if not (kindIs "invalid" $values.leaderElection.resourceName) }}
  resourceName: {{ toRawJson $values.leaderElection.resourceName }}
{{- end }}
{{- if not (kindIs "invalid" $values.leaderElection.resourceNamespace) }}
  resourceNamespace: {{ toRawJson $values.leaderElection.resourceNamespace }}
{{- end }}
{{- end }}
{{- with $values.metrics }}
metrics:
{{- if not (kindIs "invalid" $values.metrics.bindAddress) }}
  bindAddress: {{ toRawJson $values.metrics.bindAddress }}
{{- end }}
{{- if not (kindIs "invalid" $values.metrics.secure) }}
  secure: {{ toRawJson $values.metrics.secure }}
{{- end }}
{{- if not (kindIs "invalid" $values.metrics.certDir) }}
  certDir: {{ toRawJson $values.metrics.certDir }}
{{- end }}
{{- end }}
{{- with $values.health }}
health:
{{- if not (kindIs "invalid" $values.health.healthProbeBindAddress) }}
  healthProbeBindAddress: {{ toRawJson $values.health.healthProbeBindAddress }}
{{- end }}
{{- if not (kindIs "invalid" $values.health.readinessEndpointName) }}
  readinessEndpointName: {{ toRawJson $values.health.readinessEndpointName }}
{{- end }}
{{- if not (kindIs "invalid" $values.health.livenessEndpointName) }}
  livenessEndpointName: {{ toRawJson $values.health.livenessEndpointName }}
{{- end }}
{{- end }}
{{- with $values.internalCertManagement }}
internalCertManagement:
{{- if not (kindIs "invalid" $values.internalCertManagement.enable) }}
  enable: {{ toRawJson $values.internalCertManagement.enable }}
{{- end }}
{{- if not (kindIs "invalid" $values.internalCertManagement.webhookServiceName) }}
  webhookServiceName: {{ toRawJson $values.internalCertManagement.webhookServiceName }}
{{- end }}
{{- if not (kindIs "invalid" $values.internalCertManagement.webhookSecretName) }}
  webhookSecretName: {{ toRawJson $values.internalCertManagement.webhookSecretName }}
{{- end }}
{{- end }}
{{- with $values.clientConnection }}
clientConnection:
{{- if not (kindIs "invalid" $values.clientConnection.qps) }}
  qps: {{ toRawJson $values.clientConnection.qps }}
{{- end }}
{{- if not (kindIs "invalid" $values.clientConnection.burst) }}
  burst: {{ toRawJson $values.clientConnection.burst }}
{{- end }}
{{- end }}
{{- with $values.tls }}
tls:
{{- if not (kindIs "invalid" $values.tls.minVersion) }}
  minVersion: {{ toRawJson $values.tls.minVersion }}
{{- end }}
{{- if not (kindIs "invalid" $values.tls.cipherSuites) }}
  cipherSuites: {{ toRawJson $values.tls.cipherSuites }}
{{- end }}
{{- end }}
{{- if not (kindIs "invalid" $values.featureGates) }}
featureGates: {{ toRawJson $values.featureGates }}
{{- end }}
{{- with $values.limits }}
limits:
{{- if not (kindIs "invalid" $values.limits.maxJobs) }}
  maxJobs: {{ toRawJson $values.limits.maxJobs }}
{{- end }}
{{- if not (kindIs "invalid" $values.limits.maxPods) }}
  maxPods: {{ toRawJson $values.limits.maxPods }}
{{- end }}
{{- if not (kindIs "invalid" $values.limits.maxStreams) }}
  maxStreams: {{ toRawJson $values.limits.maxStreams }}
{{- end }}
{{- end }}
{{- if not (kindIs "invalid" $values.unknownAnnotations) }}
unknownAnnotations: {{ toRawJson $values.unknownAnnotations }}
{{- end }}
{{- if not (kindIs "invalid" $values.onlyManaged) }}
onlyManaged: {{ toRawJson $values.onlyManaged }}
{{- end }}
{{- with $values.agent }}
agent:
{{- if not (kindIs "invalid" $values.agent.image) }}
  image: {{ toRawJson $values.agent.image }}
{{- end }}
{{- if not (kindIs "invalid" $values.agent.mode) }}
  mode: {{ toRawJson $values.agent.mode }}
{{- end }}
{{- if not (kindIs "invalid" $values.agent.injection) }}
  injection: {{ toRawJson $values.agent.injection }}
{{- end }}
{{- if not (kindIs "invalid" $values.agent.delivery) }}
  delivery: {{ toRawJson $values.agent.delivery }}
{{- end }}
{{- with $values.agent.resources }}
  resources:
{{- if not (kindIs "invalid" $values.agent.resources.requests) }}
    requests: {{ toRawJson $values.agent.resources.requests }}
{{- end }}
{{- if not (kindIs "invalid" $values.agent.resources.limits) }}
    limits: {{ toRawJson $values.agent.resources.limits }}
{{- end }}
{{- end }}
{{- if not (kindIs "invalid" $values.agent.channel) }}
  channel: {{ toRawJson $values.agent.channel }}
{{- end }}
{{- if not (kindIs "invalid" $values.agent.rights) }}
  rights: {{ toRawJson $values.agent.rights }}
{{- end }}
{{- end }}
{{- printf "\n" }}
{{- end -}}

{{- define "lockstep.webhookPort" -}}
{{ dig "webhook" "port" 9443 $.Values.configuration | int64 }}
{{- end -}}

{{- define "lockstep.metricsPort" -}}
{{ dig "metrics" "bindAddress" ":8443" $.Values.configuration | default ":8443" | regexFind "[0-9]+$" | int64 }}
{{- end -}}

{{- define "lockstep.healthPort" -}}
{{ dig "health" "healthProbeBindAddress" ":8081" $.Values.configuration | default ":8081" | regexFind "[0-9]+$" | int64 }}
{{- end -}}

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
{{- $kib := add 425984 (mul $streams 50) -}}
{{- $least := mul 256 (div (add $kib 262143) 262144) -}}
{{- $given := .Values.operatorMemory -}}
{{- if not $given -}}
{{ $least }}Mi
{{- else -}}
{{- $mib := $given | trimSuffix "Mi" | trimSuffix "Gi" | int64 -}}
{{- if hasSuffix "Gi" $given }}{{ $mib = mul $mib 1024 }}{{ end -}}
{{- if lt $mib $least -}}
{{- fail (printf "operatorMemory is %q, allowed is %dMi or more with %d streams" $given $least $streams) -}}
{{- end -}}
{{ $given }}
{{- end -}}
{{- end -}}
