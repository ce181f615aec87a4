import { SettingFault } from './setting.ts';

/** The name of a Kubernetes namespace (RFC 1123 label). */
export function parseNamespace(text: string): string {
  if (!/^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(text)) throw new SettingFault('must be the name of a namespace');
  return text;
}

export function parseNamespaces(text: string): readonly string[] {
  const names = text.split(',').map((name) => parseNamespace(name.trim()));
  if (new Set(names).size < names.length) throw new SettingFault('must name each namespace once');
  return Object.freeze(names);
}
