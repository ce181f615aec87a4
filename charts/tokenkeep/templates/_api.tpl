{{/* Arguments of `tokenkeep api`: docs/commands.md has their meaning. */}}
{{- define "tokenkeep.apiArgs" -}}
{{- $name := include "tokenkeep.name" . -}}
{{- $api := .Values.api -}}
- api
- "--host={{ include "tokenkeep.anyAddress" . }}"
- --port=8080
- --metrics-port=9090
- "--internal-host={{ include "tokenkeep.anyAddress" . }}"
- --internal-port=8443
- --internal-tls-cert-file=/etc/tokenkeep/internal-tls/tls.crt
- --internal-tls-key-file=/etc/tokenkeep/internal-tls/tls.key
- --control-plane-service-accounts={{ .Release.Namespace }}/{{ $name }}-operator
{{- if .Values.dev.enabled }}
- --database-url=postgres://api@127.0.0.1:5432/vault
- --maintenance-database-url=postgres://sweeper@127.0.0.1:5432/vault
- --keyring-dir=/var/lib/tokenkeep/keys
{{- else }}
{{- with include "tokenkeep.urlArgs" (list . "database" "database") }}
{{ . }}
{{- end }}
{{- with include "tokenkeep.urlArgs" (list . "maintenance-database" "maintenance-database") }}
{{ . }}
{{- end }}
{{ include "tokenkeep.vaultArgs" .Values.vault }}
{{- end }}
{{- if ne $api.keyRotation "off" }}
- --key-rotation={{ $api.keyRotation }}
{{- end }}
{{- with include "tokenkeep.urlArgs" (list . "redis" "redis") }}
{{ . }}
{{- end }}
{{- with $api.headerPrefixes }}
- --header-prefixes={{ join "," . }}
{{- end }}
{{- with $api.corsOrigins }}
- {{ printf "--cors-origins=%s" (join "," .) | quote }}
{{- end }}
{{- with $api.callbackHttpHosts }}
- {{ printf "--callback-http-hosts=%s" (join "," .) | quote }}
{{- end }}
- --trusted-proxies={{ $api.trustedProxies | int }}
- --ip-rate-limits={{ ternary "on" "off" $api.ipRateLimits }}
{{- if .Values.reactors.enabled }}
- --reactor-tls-dir=/etc/tokenkeep/reactor-tls
- --svc-port=8444
- {{ printf "--svc-url=https://%s:8444" (ternary "[$(POD_IP)]" "$(POD_IP)" (eq .Values.ipFamily "IPv6")) | quote }}
{{- end }}
- --drain-seconds={{ $api.drainSeconds | int }}
- --grace-seconds={{ $api.graceSeconds | int }}
- --log-level={{ $api.logLevel }}
{{- range $api.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end -}}

{{- define "tokenkeep.vaultArgs" -}}
- --vault-addr={{ .address }}
- --vault-auth={{ .auth }}
{{- with .authMount }}
- --vault-auth-mount={{ . }}
{{- end }}
{{- if eq .auth "kubernetes" }}
- --vault-kubernetes-role={{ .kubernetes.role }}
- --vault-kubernetes-token-file=/var/run/secrets/tokenkeep.dev/vault/token
{{- else if eq .auth "approle" }}
- --vault-role-id={{ .approle.roleId }}
- --vault-secret-id-file=/etc/tokenkeep/vault-approle/secret-id
{{- else }}
- --vault-token-file={{ .token.file | default "/etc/tokenkeep/vault-token/token" }}
{{- end }}
{{- with .namespace }}
- --vault-namespace={{ . }}
{{- end }}
{{- if .ca.existingSecret.name }}
- --vault-ca-file=/etc/tokenkeep/vault-ca/ca.crt
{{- end }}
- --vault-timeout={{ .timeout }}
{{- if .allowHttp }}
- --vault-allow-http
{{- end }}
- --transit-mount={{ .transitMount }}
- --transit-key={{ .transitKey }}
{{- end -}}

{{- define "tokenkeep.apiMounts" -}}
{{- $vault := .Values.vault -}}
- {name: kubernetes-access, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}
- {name: internal-tls, mountPath: /etc/tokenkeep/internal-tls, readOnly: true}
{{- if .Values.reactors.enabled }}
- {name: reactor-tls, mountPath: /etc/tokenkeep/reactor-tls, readOnly: true}
{{- end }}
{{- if .Values.dev.enabled }}
- {name: dev, mountPath: /var/lib/tokenkeep/keys, subPath: keys}
{{- else }}
{{- range list "database" "maintenance-database" "redis" }}
{{- with include "tokenkeep.urlMount" (list $ . .) }}
{{ . }}
{{- end }}
{{- end }}
{{- with include "tokenkeep.databaseCaMount" . }}
{{ . }}
{{- end }}
{{- if eq $vault.auth "kubernetes" }}
- {name: vault-login, mountPath: /var/run/secrets/tokenkeep.dev/vault, readOnly: true}
{{- else if eq $vault.auth "approle" }}
- {name: vault-login, mountPath: /etc/tokenkeep/vault-approle, readOnly: true}
{{- else if $vault.token.existingSecret.name }}
- {name: vault-login, mountPath: /etc/tokenkeep/vault-token, readOnly: true}
{{- end }}
{{- if $vault.ca.existingSecret.name }}
- {name: vault-ca, mountPath: /etc/tokenkeep/vault-ca, readOnly: true}
{{- end }}
{{- end }}
{{- with .Values.api.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "tokenkeep.apiVolumes" -}}
{{- $vault := .Values.vault -}}
{{ include "tokenkeep.kubernetesAccess" . }}
- name: internal-tls
  secret:
    secretName: {{ include "tokenkeep.internalTlsSecret" . }}
    defaultMode: 0440
    items:
      - {key: tls.crt, path: tls.crt}
      - {key: tls.key, path: tls.key}
{{- if .Values.reactors.enabled }}
# Filled and renewed by the operator: at the first installation, pods wait here for what is in it.
- name: reactor-tls
  secret:
    secretName: tokenkeep-reactor-client
    defaultMode: 0440
    items:
      {{- range list "tls.crt" "tls.key" "ca.crt" "svc.crt" "svc.key" }}
      - {key: {{ . }}, path: {{ . }}}
      {{- end }}
{{- end }}
{{- if .Values.dev.enabled }}
- name: dev
  {{- if .Values.dev.persistence.enabled }}
  persistentVolumeClaim: {claimName: {{ include "tokenkeep.name" . }}-dev}
  {{- else }}
  emptyDir: {sizeLimit: {{ .Values.dev.persistence.size }}}
  {{- end }}
- name: dev-users
  configMap: {name: {{ include "tokenkeep.name" . }}-dev-users}
- name: dev-run
  emptyDir: {sizeLimit: 16Mi}
{{- else }}
{{- range list "database" "maintenance-database" "redis" }}
{{- with include "tokenkeep.urlVolume" (list $ . .) }}
{{ . }}
{{- end }}
{{- end }}
{{- if eq .Values.migrations.mode "InitContainer" }}
{{- with include "tokenkeep.urlVolume" (list . "migration-database" "database") }}
{{ . }}
{{- end }}
{{- end }}
{{- with include "tokenkeep.databaseCaVolume" . }}
{{ . }}
{{- end }}
{{- if eq $vault.auth "kubernetes" }}
- name: vault-login
  projected:
    defaultMode: 0440
    sources:
      - serviceAccountToken: {path: token, audience: {{ $vault.kubernetes.audience | quote }}, expirationSeconds: 3600}
{{- else if eq $vault.auth "approle" }}
{{- with $vault.approle.existingSecret }}
- name: vault-login
  secret: {secretName: {{ .name }}, defaultMode: 0440, items: [{key: {{ .key | quote }}, path: secret-id}]}
{{- end }}
{{- else if $vault.token.existingSecret.name }}
{{- with $vault.token.existingSecret }}
- name: vault-login
  secret: {secretName: {{ .name }}, defaultMode: 0440, items: [{key: {{ .key | quote }}, path: token}]}
{{- end }}
{{- end }}
{{- with $vault.ca.existingSecret }}
{{- if .name }}
- name: vault-ca
  secret: {secretName: {{ .name }}, defaultMode: 0440, items: [{key: {{ .key | quote }}, path: ca.crt}]}
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.api.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}
