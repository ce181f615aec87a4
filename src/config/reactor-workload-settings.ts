import { parseNamespace, parseNamespaces } from './namespaces.ts';
import { SettingFault, settingName, type Settings } from './setting.ts';
import { parseHost, parsePort } from './values.ts';

/** Where and as what a cluster runs reactors. */
export interface ReactorWorkloadConfig {
  /** No reactor runs where it is undefined. */
  readonly reactorImage: string | undefined;
  /** The operator's own where it is undefined. */
  readonly reactorNamespace: string | undefined;
  /** Secrets of that namespace. */
  readonly reactorImagePullSecrets: readonly string[];
  /** What instances listen on: an address of the family that pods have. */
  readonly reactorHost: string;
  /** The operator's own where it is undefined. */
  readonly apiPodNamespace: string | undefined;
  readonly apiPodLabels: Readonly<Record<string, string>>;
  readonly apiPodPort: number;
  /** Whose pods may read the metrics of reactors. */
  readonly reactorMetricsNamespaces: readonly string[];
}

const NAME = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;
const LABEL_KEY = /^(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?$/;
const LABEL_VALUE = /^(?:[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?)?$/;
/** A reference as registries take it, with or without a tag and a digest. */
const IMAGE = /^[a-z0-9](?:[-a-z0-9._:/]*[a-z0-9])?(?::[\w][-\w.]{0,127})?(?:@sha256:[0-9a-f]{64})?$/i;

export const reactorWorkloadSettings: Settings<ReactorWorkloadConfig> = {
  reactorImage: {
    flag: 'reactor-image',
    placeholder: 'IMAGE',
    description: 'image of Tokenkeep that instances of reactors run; without it, none run',
    fallback: { value: undefined },
    parse: parseImage,
  },
  reactorNamespace: {
    flag: 'reactor-namespace',
    placeholder: 'NAME',
    description: "where instances of reactors run, if not in the pod's own namespace",
    fallback: { value: undefined },
    parse: parseNamespace,
  },
  reactorImagePullSecrets: {
    flag: 'reactor-image-pull-secrets',
    placeholder: 'LIST',
    description: 'Secrets of that namespace with which the image is pulled, comma-separated',
    fallback: { value: [] },
    parse: parseNames,
  },
  reactorHost: {
    flag: 'reactor-host',
    placeholder: 'HOST',
    description: 'address that instances of reactors listen on; :: where pods have IPv6 addresses',
    fallback: { text: '0.0.0.0' },
    parse: parseHost,
  },
  apiPodNamespace: {
    flag: 'api-pod-namespace',
    placeholder: 'NAME',
    description: "where the pods of the API are, if not in the pod's own namespace: instances let in no others",
    fallback: { value: undefined },
    parse: parseNamespace,
  },
  apiPodLabels: {
    flag: 'api-pod-labels',
    placeholder: 'LIST',
    description: 'labels that the pods of the API have and no others',
    fallback: { text: 'app.kubernetes.io/name=tokenkeep,app.kubernetes.io/component=api' },
    parse: parseLabels,
  },
  apiPodPort: {
    flag: 'api-pod-port',
    placeholder: 'PORT',
    description: "port that instances call in the API's pods for svc: its --svc-port",
    fallback: { text: '8444' },
    parse: parseApiPort,
  },
  reactorMetricsNamespaces: {
    flag: 'reactor-metrics-namespaces',
    placeholder: 'LIST',
    description: 'namespaces whose pods may read the metrics of reactors, such as monitoring; none by default',
    fallback: { value: [] },
    parse: parseNamespaces,
  },
};

/** What would have no effect is a mistake. */
export function reactorWorkloadFaults(config: Partial<ReactorWorkloadConfig>): string[] {
  if (config.reactorImage !== undefined) return [];
  const needless: [flag: string, isGiven: boolean][] = [
    ['reactor-namespace', config.reactorNamespace !== undefined],
    ['reactor-image-pull-secrets', (config.reactorImagePullSecrets ?? []).length > 0],
    ['api-pod-namespace', config.apiPodNamespace !== undefined],
    ['reactor-metrics-namespaces', (config.reactorMetricsNamespaces ?? []).length > 0],
  ];
  return needless.filter(([, isGiven]) => isGiven).map(([flag]) => `${settingName(flag)}: needs --reactor-image`);
}

function parseImage(text: string): string {
  if (text.length > 512 || !IMAGE.test(text))
    throw new SettingFault('must name an image, such as registry/tokenkeep:1');
  return text;
}

function parseNames(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  if (!names.every((name) => NAME.test(name))) throw new SettingFault('must be names of Secrets, comma-separated');
  return Object.freeze(names);
}

function parseLabels(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(',').map((pair) => pair.trim().split('='));
  const areLabels = pairs.every(
    ([key = '', value = '', ...rest]) => rest.length === 0 && LABEL_KEY.test(key) && LABEL_VALUE.test(value),
  );
  if (!areLabels) throw new SettingFault('must be labels, such as app=tokenkeep,component=api');
  const labels = Object.fromEntries(pairs.map(([key, value = '']) => [key, value] as const)) as Record<string, string>;
  return Object.freeze(labels);
}

function parseApiPort(text: string): number {
  const port = parsePort(text);
  if (port === 0) throw new SettingFault('must be a port from 1 to 65535');
  return port;
}
