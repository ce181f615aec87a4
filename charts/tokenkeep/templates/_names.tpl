{{/*
Prefix of every name: the release's name, with the chart's where that is not part of it. The longest one that begins
with it, `…-operator-metrics`, is a Service's, which has 63 characters at most.
*/}}
{{- define "tokenkeep.name" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 46 | trimSuffix "-" -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 46 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 46 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels of every object. */}}
{{- define "tokenkeep.labels" -}}
{{- with .Values.commonLabels }}
{{- toYaml . }}
{{ end -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* By which the pods of a component are found: labels that never change. Takes (list . "api"). */}}
{{- define "tokenkeep.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ $root.Chart.Name }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{/* The ServiceAccount of a component, as the one subject of a binding. Takes (list . "operator"). */}}
{{- define "tokenkeep.subject" -}}
{{- $root := index . 0 -}}
- kind: ServiceAccount
  name: {{ include "tokenkeep.name" $root }}-{{ index . 1 }}
  namespace: {{ $root.Release.Namespace }}
{{- end -}}

{{/* Where the workloads of reactors are. */}}
{{- define "tokenkeep.reactorNamespace" -}}
{{- .Values.reactors.namespace | default .Release.Namespace -}}
{{- end -}}

{{/* Binds the operator to a Role of the same name. Takes (list . <name> <namespace>). */}}
{{- define "tokenkeep.operatorRoleBinding" -}}
{{- $root := index . 0 }}
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ index . 1 }}
  namespace: {{ index . 2 }}
  labels:
    {{- include "tokenkeep.labels" $root | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ index . 1 }}
subjects:
  {{- include "tokenkeep.subject" (list $root "operator") | nindent 2 }}
{{- end -}}

{{/* The image of Tokenkeep. */}}
{{- define "tokenkeep.image" -}}
{{- $image := .Values.image -}}
{{- with $image.registry }}{{ . }}/{{ end }}{{ $image.repository }}:{{ $image.tag | default .Chart.AppVersion }}{{ with $image.digest }}@{{ . }}{{ end }}
{{- end -}}

{{/* Where workloads call the API. */}}
{{- define "tokenkeep.publicUrl" -}}
{{- if .Values.publicUrl -}}
{{- .Values.publicUrl -}}
{{- else -}}
{{- $port := .Values.api.service.port | int -}}
http://{{ include "tokenkeep.name" . }}.{{ .Release.Namespace }}.svc{{ if ne $port 80 }}:{{ $port }}{{ end }}
{{- end -}}
{{- end -}}

{{/* The Secret of the certificate of the internal API. */}}
{{- define "tokenkeep.internalTlsSecret" -}}
{{- if eq .Values.internalTls.mode "ExistingSecret" -}}
{{- .Values.internalTls.existingSecret -}}
{{- else -}}
{{- include "tokenkeep.name" . }}-internal-tls
{{- end -}}
{{- end -}}

{{/* The names that the internal API is called by, the first one by the operator. */}}
{{- define "tokenkeep.internalNames" -}}
{{- $name := printf "%s-internal.%s.svc" (include "tokenkeep.name" .) .Release.Namespace -}}
{{- list $name (printf "%s.cluster.local" $name) (trimSuffix ".svc" $name) | toJson -}}
{{- end -}}

{{/* How many pods of a component there are without an autoscaler. Takes (list . "api"). */}}
{{- define "tokenkeep.replicas" -}}
{{- $root := index . 0 -}}
{{- $replicas := (index $root.Values (index . 1)).replicas -}}
{{- if kindIs "invalid" $replicas }}{{ ternary 1 2 $root.Values.dev.enabled }}{{ else }}{{ $replicas | int }}{{ end -}}
{{- end -}}

{{/* What programs listen on, to be reached from other pods. */}}
{{- define "tokenkeep.anyAddress" -}}
{{ ternary "::" "0.0.0.0" (eq .Values.ipFamily "IPv6") }}
{{- end -}}
