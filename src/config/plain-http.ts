import { switchSetting, type Setting } from './setting.ts';

/** Whether what is sent to this host never leaves the machine. */
export function isLoopback(hostname: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]|::1)$/.test(hostname);
}

/** Whether nobody else can read what is sent to this URL. */
export function isPrivate({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || isLoopback(hostname);
}

export const internalAllowHttp: Setting<boolean> = switchSetting(
  'internal-allow-http',
  "let tokens and reactors' code travel between operator and API without TLS beyond loopback",
);
