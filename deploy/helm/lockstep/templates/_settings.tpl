{{- /* Made by `npm run manifest`; change src/deploy or tools/helm, not this file. */ -}}

{{- define "lockstep.configuration" -}}
apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
webhook:
  port: 9443
leaderElection:
  leaderElect: true
metrics:
  bindAddress: ":8443"
  secure: true         # over HTTPS, to accounts with ClusterRole lockstep-metrics-reader
health:
  healthProbeBindAddress: ":8081"
internalCertManagement:
  enable: true
  webhookServiceName: lockstep-webhook-service
clientConnection:
  qps: 500
  burst: 500
limits:
  maxStreams: {{ int64 $.Values.maxStreams }}    # agents that the hub serves; change the memory limit of the Deployment with it
agent:
  image: {{ include "lockstep.agentImage" $ }}
  mode: Sidecar        # of JobSets without an annotation; or Auto, Supervisor
  injection: Enabled   # or Disabled: templates bring agents of their own
  channel: {{ $.Values.agentChannel }}         # needs no rights; Auto and API use those of the Pods' own accounts
  rights: {{ $.Values.agentRights }}        # or true: gives them to accounts that templates name
{{- printf "\n" }}
{{- end -}}

{{- define "lockstep.operatorImage" -}}
{{ include "lockstep.image" (list .Values.operatorImage .Chart.AppVersion) }}
{{- end -}}

{{- define "lockstep.agentImage" -}}
{{ include "lockstep.image" (list .Values.agentImage .Chart.AppVersion) }}
{{- end -}}

{{- define "lockstep.image" -}}
{{- $image := index . 0 -}}
{{- $tag := $image.tag | default (ternary "" (index . 1) (ne $image.digest "")) -}}
{{ $image.repository }}{{ with $tag }}:{{ . }}{{ end }}{{ with $image.digest }}@{{ . }}{{ end }}
{{- end -}}

{{- define "lockstep.operatorMemory" -}}
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
