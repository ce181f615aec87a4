{{/*
Whether a kind of the Prometheus operator is rendered. Empty: no. Takes (list . "ServiceMonitor" <enabled>).
*/}}
{{- define "tokenkeep.rendersMonitoring" -}}
{{- $root := index . 0 -}}
{{- if index . 2 -}}
{{- $mode := $root.Values.metrics.renderMode -}}
{{- $isThere := $root.Capabilities.APIVersions.Has (printf "monitoring.coreos.com/v1/%s" (index . 1)) -}}
{{- if and (eq $mode "failIfMissing") (not $isThere) -}}
{{- fail (printf "\n\nThe cluster knows no %s (monitoring.coreos.com/v1): install the Prometheus operator, or set metrics.renderMode=skipIfMissing\n" (index . 1)) -}}
{{- end -}}
{{- if or $isThere (eq $mode "alwaysRender") -}}
yes
{{- end -}}
{{- end -}}
{{- end -}}

{{/* How a Prometheus reads one port. Takes (list <block of the monitor> <name of the port>). */}}
{{- define "tokenkeep.metricsEndpoint" -}}
{{- $monitor := index . 0 -}}
- port: {{ index . 1 }}
  path: /metrics
  interval: {{ $monitor.interval }}
  scrapeTimeout: {{ $monitor.scrapeTimeout }}
  {{- with $monitor.relabelings }}
  relabelings:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $monitor.metricRelabelings }}
  metricRelabelings:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
