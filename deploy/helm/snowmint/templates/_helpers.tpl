{{/* The name of every object: the release's. */}}
{{- define "snowmint.name" -}}
{{ .Release.Name | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "snowmint.selector" -}}
app.kubernetes.io/name: snowmint
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "snowmint.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ with .Values.image.digest }}@{{ . }}{{ end }}
{{- end }}

{{/* The scheme of all ports but that of the Redis protocol. */}}
{{- define "snowmint.scheme" -}}
{{ if .Values.tls.secret }}https{{ else }}http{{ end }}
{{- end }}

{{- define "snowmint.labels" -}}
{{ include "snowmint.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* The resources of a pod. Its memory has the users, and 192 MiB for connections, names and the rest of the program. */}}
{{- define "snowmint.resources" -}}
{{- $memory := printf "%dMi" (trimSuffix "Mi" .Values.usersMemory | int | add 192) -}}
{{- toYaml (mergeOverwrite (dict "limits" (dict "memory" $memory)) (deepCopy .Values.resources)) }}
{{- end }}
