// Modules whose files tests read: the definitions of resources of others that the chart makes.
module tokenkeep.dev/definitions

go 1.26.0

require (
	github.com/cert-manager/cert-manager v1.21.2
	github.com/kedacore/keda/v2 v2.21.0
	github.com/prometheus-operator/prometheus-operator v0.85.0
)
