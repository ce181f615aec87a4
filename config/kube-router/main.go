// What enforces network policies on the tests' node: the controller of kube-router that does that, without its routing
// and its proxy, as k3s runs it.
package main

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/cloudnativelabs/kube-router/v2/pkg/controllers/netpol"
	"github.com/cloudnativelabs/kube-router/v2/pkg/healthcheck"
	"github.com/cloudnativelabs/kube-router/v2/pkg/options"
	"github.com/spf13/pflag"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

func main() {
	config := options.NewKubeRouterConfig()
	config.AddFlags(pflag.CommandLine)
	pflag.Parse()

	connection, err := clientcmd.BuildConfigFromFlags("", config.Kubeconfig)
	demand(err)
	client, err := kubernetes.NewForConfig(connection)
	demand(err)

	stop := make(chan struct{})
	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods().Informer()
	namespaces := factory.Core().V1().Namespaces().Informer()
	policies := factory.Networking().V1().NetworkPolicies().Informer()
	factory.Start(stop)
	factory.WaitForCacheSync(stop)

	var ipsets sync.Mutex
	tables, sets, err := netpol.NewIPTablesHandlers(config)
	demand(err)
	controller, err := netpol.NewNetworkPolicyController(
		client, config, pods, policies, namespaces, &ipsets, nil, tables, sets)
	demand(err)
	_, err = pods.AddEventHandler(controller.PodEventHandler)
	demand(err)
	_, err = namespaces.AddEventHandler(controller.NamespaceEventHandler)
	demand(err)
	_, err = policies.AddEventHandler(controller.NetworkPolicyEventHandler)
	demand(err)

	// It tells that it is alive after each round; nobody else asks.
	beats := make(chan *healthcheck.ControllerHeartbeat, 1)
	go func() {
		for range beats {
		}
	}()
	var running sync.WaitGroup
	running.Add(1)
	go controller.Run(beats, stop, &running)

	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	<-signals
	close(stop)
	running.Wait()
}

func demand(err error) {
	if err != nil {
		klog.Fatal(err)
	}
}
