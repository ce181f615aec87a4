import { settingName, type Settings } from './setting.ts';
import { parseHeaderPrefixes, parseHost, parseHostList, parseOrigins, parsePort } from './values.ts';

/** Where the API and the metrics listen, and whom the API answers how. */
export interface ServingConfig {
  readonly port: number;
  readonly host: string;
  readonly metricsPort: number;
  /** Of the program's headers (`<prefix>-API-KEY`), the preferred one first. Upper case, at least one. */
  readonly headerPrefixes: readonly string[];
  /** Whose pages may call the API: origins as browsers send them, or `*` alone. Nobody's where it is empty. */
  readonly corsOrigins: readonly string[];
  /** Where callbacks may go over plain HTTP, and to private addresses: `host` or `host:port`. Nowhere by default. */
  readonly callbackHttpHosts: readonly string[];
}

export const servingSettings: Settings<ServingConfig> = {
  port: {
    flag: 'port',
    placeholder: 'PORT',
    description: 'port of the API',
    fallback: { text: '8080' },
    parse: parsePort,
  },
  host: {
    flag: 'host',
    placeholder: 'HOST',
    description: 'address to listen on',
    fallback: { text: '127.0.0.1' },
    parse: parseHost,
  },
  metricsPort: {
    flag: 'metrics-port',
    placeholder: 'PORT',
    description: 'port of GET /metrics',
    fallback: { text: '9090' },
    parse: parsePort,
  },
  headerPrefixes: {
    flag: 'header-prefixes',
    placeholder: 'LIST',
    description: 'prefixes of the headers, comma-separated, the preferred one first',
    fallback: { text: 'SVC,BT' },
    parse: parseHeaderPrefixes,
  },
  corsOrigins: {
    flag: 'cors-origins',
    placeholder: 'LIST',
    description: 'origins whose pages may call the API, comma-separated, such as https://shop.example; * for any',
    fallback: { value: Object.freeze([]) },
    parse: parseOrigins,
  },
  callbackHttpHosts: {
    flag: 'callback-http-hosts',
    placeholder: 'LIST',
    description: 'hosts that results may be sent to by plain HTTP and at private addresses, such as receiver:8080',
    fallback: { value: Object.freeze([]) },
    parse: parseHostList,
  },
};

/** Ports by their flags, of which no two may be one. */
export function portFaults(ports: Readonly<Record<string, number | undefined>>): string[] {
  const given = Object.entries(ports);
  return given.flatMap(([flag, port], index) =>
    given
      .slice(0, index)
      // Free ports differ anyway, and a port that is not given or not one is no port at all.
      .filter(([, other]) => port !== undefined && port !== 0 && port === other)
      .map(([otherFlag]) => `${settingName(flag)}: must differ from --${otherFlag}, also ${port}`),
  );
}
