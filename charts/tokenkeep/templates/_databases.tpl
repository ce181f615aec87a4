{{/*
Which Secret holds a URL, and where: {secret, key} as JSON, {} where none is given. A Secret of the user's, else one of
the chart's own, where the value is given as text. Takes (list . <use>): database, maintenance-database,
migration-database or redis.
*/}}
{{- define "tokenkeep.urlSource" -}}
{{- $root := index . 0 -}}
{{- $use := index . 1 -}}
{{- $database := $root.Values.database -}}
{{- $block := get (dict "database" $database "maintenance-database" $database.maintenance "migration-database" $database.migration "redis" $root.Values.redis) $use -}}
{{- if and (eq $use "migration-database") (not $block.url) (not $block.existingSecret.name) -}}
{{- $block = $database -}}
{{- end -}}
{{- if $block.existingSecret.name -}}
{{- dict "secret" $block.existingSecret.name "key" $block.existingSecret.key | toJson -}}
{{- else if $block.url -}}
{{- dict "secret" (printf "%s-%s" (include "tokenkeep.name" $root) $use) "key" "url" "text" $block.url | toJson -}}
{{- else -}}
{}
{{- end -}}
{{- end -}}

{{/*
What a container is told of a URL that holds a password: a file, or the environment where something is appended to it.
Take (list . <use> <flag without -url>); each is empty where no Secret holds one.
*/}}
{{- define "tokenkeep.urlArgs" -}}
{{- $root := index . 0 -}}
{{- if and (include "tokenkeep.urlSource" . | fromJson) (not (include "tokenkeep.urlParameters" .)) -}}
- --{{ index . 2 }}-url-file=/etc/tokenkeep/{{ index . 1 }}/url
{{- end -}}
{{- end -}}

{{- define "tokenkeep.urlEnv" -}}
{{- $source := include "tokenkeep.urlSource" . | fromJson -}}
{{- $parameters := include "tokenkeep.urlParameters" . -}}
{{- if and $source $parameters -}}
{{- $variable := printf "%s_URL" (index . 2 | upper | replace "-" "_") -}}
- name: SECRET_{{ $variable }}
  valueFrom:
    secretKeyRef: {name: {{ $source.secret }}, key: {{ $source.key }}}
- name: TOKENKEEP_{{ $variable }}
  value: {{ printf "$(SECRET_%s)?%s" $variable $parameters | quote }}
{{- end -}}
{{- end -}}

{{- define "tokenkeep.urlVolume" -}}
{{- $source := include "tokenkeep.urlSource" . | fromJson -}}
{{- if and $source (not (include "tokenkeep.urlParameters" .)) -}}
- name: {{ index . 1 }}
  secret:
    secretName: {{ $source.secret }}
    defaultMode: 0440
    items:
      - {key: {{ $source.key | quote }}, path: url}
{{- end -}}
{{- end -}}

{{- define "tokenkeep.urlMount" -}}
{{- if include "tokenkeep.urlVolume" . -}}
- {name: {{ index . 1 }}, mountPath: /etc/tokenkeep/{{ index . 1 }}, readOnly: true}
{{- end -}}
{{- end -}}

{{- define "tokenkeep.urlParameters" -}}
{{- if ne (index . 1) "redis" -}}
{{- (index . 0).Values.database.urlParameters -}}
{{- end -}}
{{- end -}}

{{/* The authority of Postgres. */}}
{{- define "tokenkeep.databaseCaVolume" -}}
{{- with .Values.database.ca.existingSecret }}
{{- if .name -}}
- name: database-ca
  secret:
    secretName: {{ .name }}
    defaultMode: 0440
    items:
      - {key: {{ .key | quote }}, path: ca.crt}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "tokenkeep.databaseCaMount" -}}
{{- if .Values.database.ca.existingSecret.name -}}
- {name: database-ca, mountPath: /etc/tokenkeep/database-ca, readOnly: true}
{{- end -}}
{{- end -}}

{{/* The container that migrates: the only one that is given the owner of the tables. */}}
{{- define "tokenkeep.migrateContainer" -}}
{{- $owner := list . "migration-database" "database" -}}
- name: migrate
  image: {{ include "tokenkeep.image" . }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  args:
    - migrate
    {{- if .Values.dev.enabled }}
    - --database-url=postgres://postgres@127.0.0.1:5432/vault
    {{- end }}
    {{- with include "tokenkeep.urlArgs" $owner }}
    {{- . | nindent 4 }}
    {{- end }}
  {{- with include "tokenkeep.urlEnv" $owner }}
  env:
    {{- . | nindent 4 }}
  {{- end }}
  securityContext:
    {{- toYaml .Values.securityContext | nindent 4 }}
  resources:
    {{- toYaml .Values.migrations.resources | nindent 4 }}
  {{- with compact (list (include "tokenkeep.urlMount" $owner) (include "tokenkeep.databaseCaMount" .)) }}
  volumeMounts:
    {{- join "\n" . | nindent 4 }}
  {{- end }}
{{- end -}}
