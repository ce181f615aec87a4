{{/*
What the schema cannot say, as it takes several values together: all faults at once, each with what to do. `helm lint`
does not fail for it.
*/}}
{{- define "tokenkeep.validate" -}}
{{- $faults := list -}}
{{- $values := .Values -}}
{{- $database := $values.database -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" (include "tokenkeep.name" .)) -}}
  {{- $faults = append $faults (printf "fullnameOverride: must be given for a release `%s`, since no Service can have such a name" .Release.Name) -}}
{{- end -}}
{{- if $values.dev.enabled -}}
  {{- $production := dict
    "database.url" $database.url
    "database.existingSecret.name" $database.existingSecret.name
    "database.maintenance" (or $database.maintenance.url $database.maintenance.existingSecret.name)
    "database.migration" (or $database.migration.url $database.migration.existingSecret.name)
    "database.urlParameters" $database.urlParameters
    "database.ca" $database.ca.existingSecret.name
    "migrations.mode" (ne $values.migrations.mode "Hook")
    "vault.address" $values.vault.address
    "vault.auth" (ne $values.vault.auth "kubernetes")
    "vault.approle" (or $values.vault.approle.roleId $values.vault.approle.existingSecret.name)
    "vault.token" (or $values.vault.token.existingSecret.name $values.vault.token.file)
    "vault.namespace" $values.vault.namespace
    "vault.ca" $values.vault.ca.existingSecret.name
    "redis" (or $values.redis.url $values.redis.existingSecret.name)
    "api.autoscaling.enabled" $values.api.autoscaling.enabled
    "api.ingress.enabled" $values.api.ingress.enabled -}}
  {{- range $name, $value := $production -}}
    {{- if $value -}}
      {{- $faults = append $faults (printf "dev.enabled: keeps data and keys in one pod, for a first look alone; it cannot be given together with %s" $name) -}}
    {{- end -}}
  {{- end -}}
  {{- if gt (include "tokenkeep.replicas" (list . "api") | int) 1 -}}
    {{- $faults = append $faults "dev.enabled: has one pod of the API, with a database and keys of its own; leave out api.replicas" -}}
  {{- end -}}
{{- else -}}
  {{- if not (or $database.url $database.existingSecret.name) -}}
    {{- $faults = append $faults "database.existingSecret.name: name a Secret with the URL of a Postgres (or give database.url); for a first look without one: dev.enabled=true" -}}
  {{- end -}}
  {{- if not $values.vault.address -}}
    {{- $faults = append $faults "vault.address: name the Vault or OpenBao that holds the master keys, such as https://vault.example:8200; for a first look without one: dev.enabled=true" -}}
  {{- else -}}
    {{- if and (hasPrefix "http:" $values.vault.address) (not $values.vault.allowHttp) -}}
      {{- $faults = append $faults "vault.address: must be https, since data keys travel on it; vault.allowHttp=true allows http, for tests" -}}
    {{- end -}}
    {{- if eq $values.vault.auth "approle" -}}
      {{- if not (and $values.vault.approle.roleId $values.vault.approle.existingSecret.name) -}}
        {{- $faults = append $faults "vault.auth: approle needs vault.approle.roleId and vault.approle.existingSecret.name" -}}
      {{- end -}}
    {{- else if eq $values.vault.auth "token" -}}
      {{- if eq (empty $values.vault.token.existingSecret.name) (empty $values.vault.token.file) -}}
        {{- $faults = append $faults "vault.auth: token needs vault.token.existingSecret.name or vault.token.file, one of them" -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- range $name, $block := dict "database" $database "database.maintenance" $database.maintenance "database.migration" $database.migration "redis" $values.redis -}}
  {{- if and $block.url $block.existingSecret.name -}}
    {{- $faults = append $faults (printf "%s.url: cannot be given together with %s.existingSecret.name" $name $name) -}}
  {{- end -}}
  {{- $schemes := ternary "rediss?" "postgres(ql)?" (eq $name "redis") -}}
  {{- /* Not quoted: it may hold a password. */ -}}
  {{- if and $block.url (not (regexMatch (printf "^%s://[^\\s?]+(\\?\\S*)?$" $schemes) $block.url)) -}}
    {{- $faults = append $faults (printf "%s.url: must be a URL such as %s" $name (ternary "rediss://user:password@host:6379" "postgres://user:password@host:5432/database" (eq $name "redis"))) -}}
  {{- end -}}
  {{- if and $database.urlParameters (contains "?" $block.url) (ne $name "redis") -}}
    {{- $faults = append $faults (printf "%s.url: has parameters of its own; leave out database.urlParameters" $name) -}}
  {{- end -}}
{{- end -}}
{{- with $values.api.autoscaling -}}
  {{- if and .enabled (gt (.minReplicas | int) (.maxReplicas | int)) -}}
    {{- $faults = append $faults "api.autoscaling.minReplicas: must not be more than maxReplicas" -}}
  {{- end -}}
  {{- if and .enabled (not (kindIs "invalid" $values.api.replicas)) -}}
    {{- $faults = append $faults "api.replicas: cannot be given together with api.autoscaling.enabled" -}}
  {{- end -}}
{{- end -}}
{{- if and $values.api.ingress.enabled (not $values.api.ingress.hosts) -}}
  {{- $faults = append $faults "api.ingress.hosts: name one at least" -}}
{{- end -}}
{{- if and (eq $values.internalTls.mode "ExistingSecret") (not $values.internalTls.existingSecret) -}}
  {{- $faults = append $faults "internalTls.existingSecret: must be given with internalTls.mode=ExistingSecret" -}}
{{- end -}}
{{- if and (ne $values.internalTls.mode "ExistingSecret") $values.internalTls.existingSecret -}}
  {{- $faults = append $faults "internalTls.existingSecret: needs internalTls.mode=ExistingSecret" -}}
{{- end -}}
{{- if and $values.reactors.createNamespace (eq (include "tokenkeep.reactorNamespace" .) .Release.Namespace) -}}
  {{- $faults = append $faults "reactors.createNamespace: needs reactors.namespace, other than the release's own" -}}
{{- end -}}
{{- with $values.internalTls -}}
  {{- if and (eq .mode "Generated") (ge (.generated.renewAfterDays | int) (.generated.validDays | int)) -}}
    {{- $faults = append $faults "internalTls.generated.renewAfterDays: must be less than validDays, or upgrades keep a certificate that has expired" -}}
  {{- end -}}
{{- end -}}
{{- with $values.operator.leaderElection -}}
  {{- range $pair := list (list "leaseDuration" .leaseDuration "renewDeadline" .renewDeadline) (list "renewDeadline" .renewDeadline "retryPeriod" .retryPeriod) -}}
    {{- if le (include "tokenkeep.milliseconds" (index $pair 1) | int64) (include "tokenkeep.milliseconds" (index $pair 3) | int64) -}}
      {{- $faults = append $faults (printf "operator.leaderElection.%s: must be longer than %s" (index $pair 0) (index $pair 2)) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- range $name := list "serviceMonitor" "podMonitor" "reactorMonitor" -}}
  {{- with get $values.metrics $name -}}
    {{- if and .enabled (gt (include "tokenkeep.milliseconds" .scrapeTimeout | int64) (include "tokenkeep.milliseconds" .interval | int64)) -}}
      {{- $faults = append $faults (printf "metrics.%s.scrapeTimeout: must not be longer than interval, or the Prometheus operator drops the monitor" $name) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- if and $values.metrics.serviceMonitor.enabled $values.metrics.podMonitor.enabled -}}
  {{- $faults = append $faults "metrics.podMonitor.enabled: cannot be given together with metrics.serviceMonitor.enabled, or all is counted twice" -}}
{{- end -}}
{{- if and $values.metrics.reactorMonitor.enabled $values.reactors.enabled (not $values.reactors.metricsNamespaces) -}}
  {{- $faults = append $faults "metrics.reactorMonitor.enabled: needs reactors.metricsNamespaces, such as [monitoring], or nobody gets in" -}}
{{- end -}}
{{- if $faults -}}
  {{- fail (printf "\n\nThese values do not go together:\n- %s\n" (join "\n- " ($faults | uniq))) -}}
{{- end -}}
{{- end -}}

{{/* How long `90s`, `1m30s` or `500ms` is. */}}
{{- define "tokenkeep.milliseconds" -}}
{{- $units := dict "ms" 1 "s" 1000 "m" 60000 "h" 3600000 "d" 86400000 "w" 604800000 "y" 31536000000 -}}
{{- $sum := 0 -}}
{{- range regexFindAll "[0-9]+(ms|[smhdwy])" . -1 -}}
{{- $sum = add $sum (mul (regexFind "^[0-9]+" . | int64) (get $units (regexFind "[a-z]+$" .))) -}}
{{- end -}}
{{- $sum -}}
{{- end -}}
