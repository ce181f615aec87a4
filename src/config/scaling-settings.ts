import { parseNamespace } from './namespaces.ts';
import { SettingFault, type Settings } from './setting.ts';

/** Where the operator, and KEDA, find the single replicas of the API. */
export interface ScalingConfig {
  /** What `--internal-url` names is the only replica where it is undefined. */
  readonly internalService: { readonly namespace: string; readonly name: string } | undefined;
  /** KEDA can scale no reactor where it is undefined. */
  readonly apiMetricsUrl: string | undefined;
}

/** KEDA finds the pods of a Service by its name in Kubernetes' DNS. */
const SERVICE_URL = /^http:\/\/[a-z0-9][-a-z0-9]*\.[a-z0-9][-a-z0-9]*(\.svc(\.[-a-z0-9.]+)?)?:\d{1,5}$/;

export const scalingSettings: Settings<ScalingConfig> = {
  internalService: {
    flag: 'internal-service',
    placeholder: 'NAMESPACE/NAME',
    description:
      'Service of the internal API, whose pods are each told of instances; without it, --internal-url is one',
    fallback: { value: undefined },
    parse: parseService,
  },
  apiMetricsUrl: {
    flag: 'api-metrics-url',
    placeholder: 'URL',
    description:
      'metrics of the API, where KEDA reads demand: http://SERVICE.NAMESPACE.svc:PORT, with the port of pods',
    fallback: { value: undefined },
    parse: parseServiceUrl,
  },
};

function parseService(text: string): { namespace: string; name: string } {
  const [namespace = '', name = '', ...rest] = text.split('/');
  if (rest.length > 0 || name === '') throw new SettingFault('must be NAMESPACE/NAME of a Service');
  // Names of Services follow the rules of namespaces.
  return Object.freeze({ namespace: parseNamespace(namespace), name: parseNamespace(name) });
}

function parseServiceUrl(text: string): string {
  if (!SERVICE_URL.test(text)) throw new SettingFault('must be http://SERVICE.NAMESPACE.svc:PORT');
  return text;
}
