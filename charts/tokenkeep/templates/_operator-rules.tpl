{{/* What the operator does with declarations and what belongs to them, in each namespace that it works in. */}}
{{- define "tokenkeep.namespaceRules" -}}
- apiGroups: [tokenkeep.dev]
  resources: [applications, accessrules, reactors]
  verbs: [get, list, watch]
- apiGroups: [tokenkeep.dev]
  # For the finalizer and nothing else: the rest belongs to whoever declares them.
  resources: [applications, reactors]
  verbs: [patch]
- apiGroups: [tokenkeep.dev]
  resources: [applications/status, accessrules/status, reactors/status]
  verbs: [patch]
- apiGroups: ['']
  resources: [secrets]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: ['']
  resources: [configmaps]
  verbs: [get, list, watch]
{{ include "tokenkeep.eventRules" . }}
{{- end -}}

{{- define "tokenkeep.eventRules" -}}
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- end -}}
