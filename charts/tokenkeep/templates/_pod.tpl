{{/* What the pods of API, operator and migrations have in common. Takes (list . <settings of the component> "api"). */}}
{{- define "tokenkeep.podBasics" -}}
{{- $root := index . 0 -}}
# Tokens are mounted one by one, each for one audience.
automountServiceAccountToken: false
# The Service `tokenkeep` would set TOKENKEEP_PORT, which the program reads as its --port.
enableServiceLinks: false
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  {{- toYaml $root.Values.podSecurityContext | nindent 2 }}
{{- end -}}

{{/* Where pods are put. Takes (list . <settings of the component> "api"). */}}
{{- define "tokenkeep.placement" -}}
{{- $settings := index . 1 -}}
{{- with $settings.priorityClassName -}}
priorityClassName: {{ . }}
{{ end -}}
topologySpreadConstraints:
{{- if $settings.topologySpreadConstraints }}
  {{- toYaml $settings.topologySpreadConstraints | nindent 2 }}
{{- else }}
  {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "tokenkeep.selector" (list (index $ 0) (index $ 2)) | nindent 8 }}
    # Each revision by itself: else a rollout leaves them where the former ones were not.
    matchLabelKeys: [pod-template-hash]
  {{- end }}
{{- end }}
{{- with $settings.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $settings.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $settings.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Labels and annotations of a pod template. Takes (list . <settings of the component> "api"). */}}
{{- define "tokenkeep.podMetadata" -}}
{{- $root := index . 0 -}}
{{- $settings := index . 1 -}}
{{- $component := index . 2 -}}
labels:
  {{- with $root.Values.commonLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- with $settings.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- include "tokenkeep.selector" (list $root $component) | nindent 2 }}
  app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
  tokenkeep.dev/job: tokenkeep-{{ $component }}
{{- end -}}

{{/*
The pod's own ServiceAccount, as the API server knows it: where client libraries look, and where nothing is mounted by
itself.
*/}}
{{- define "tokenkeep.kubernetesAccess" -}}
- name: kubernetes-access
  projected:
    defaultMode: 0440
    sources:
      - serviceAccountToken: {path: token, expirationSeconds: 3607}
      - configMap: {name: kube-root-ca.crt, items: [{key: ca.crt, path: ca.crt}]}
      - downwardAPI: {items: [{path: namespace, fieldRef: {apiVersion: v1, fieldPath: metadata.namespace}}]}
{{- end -}}

