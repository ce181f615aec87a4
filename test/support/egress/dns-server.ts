import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { Resolver } from 'node:dns/promises';

/** What a name answers with: addresses, or the name that it stands for. */
export type Answer = readonly string[] | { readonly cname: string };

export interface DnsServer {
  /** As an egress client asks for addresses: of both families. */
  resolve(host: string): Promise<string[]>;
  /** Names that were asked for, once for each look-up of either family. */
  readonly asked: string[];
  stop(): Promise<void>;
}

const TYPES = { A: 1, CNAME: 5, AAAA: 28 } as const;

/**
 * A name server on a loopback port, whose records are told to live for 0 seconds. A name with several answers gives
 * the next one at each look-up, and the last one from then on; names without any do not exist.
 */
export async function startDnsServer(zone: Readonly<Record<string, readonly Answer[]>>): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  /** Look-ups are counted by their address family: each resolution asks for both. */
  const lookups = new Map<string, number>();
  const answerOf = (name: string, type: number): Answer | undefined => {
    const key = `${name} ${type}`;
    const turn = lookups.get(key) ?? 0;
    lookups.set(key, turn + 1);
    return zone[name]?.[Math.min(turn, zone[name].length - 1)];
  };
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = questionOf(query);
    asked.push(name);
    const records = recordsFor(name, type, answerOf);
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(records === undefined ? 0x8183 : 0x8180, 2);
    header.writeUInt16BE(records?.length ?? 0, 6);
    header.fill(0, 8);
    socket.send(Buffer.concat([header, query.subarray(12, end), ...(records ?? [])]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const resolver = new Resolver({ timeout: 2_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  return {
    asked,
    async resolve(host) {
      const families = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
      return families.flatMap((family) => (family.status === 'fulfilled' ? family.value : []));
    },
    async stop() {
      socket.close();
      await once(socket, 'close');
    },
  };
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** Undefined for a name that does not exist. */
function recordsFor(
  asked: string,
  type: number,
  answerOf: (name: string, type: number) => Answer | undefined,
): Buffer[] | undefined {
  const records: Buffer[] = [];
  for (let name = asked; ;) {
    const answer = answerOf(name, type);
    if (answer === undefined) return records.length > 0 ? records : undefined;
    if (!('cname' in answer)) {
      const addresses = answer.filter((address) => (isIPv6(address) ? TYPES.AAAA : TYPES.A) === type);
      return [...records, ...addresses.map((address) => record(name, type, addressBytes(address)))];
    }
    records.push(record(name, TYPES.CNAME, nameBytes(answer.cname)));
    name = answer.cname;
  }
}

function record(name: string, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([nameBytes(name), fixed, data]);
}

function nameBytes(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

function addressBytes(address: string): Buffer {
  if (!isIPv6(address)) return Buffer.from(address.split('.').map(Number));
  // The URL parser writes the IPv4 tail of an address in hexadecimal.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = (text: string | undefined): number[] =>
    text ? text.split(':').map((group) => parseInt(group, 16)) : [];
  const [left, right] = [groups(head), groups(tail)];
  const bytes = Buffer.alloc(16);
  [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right].forEach((group, index) =>
    bytes.writeUInt16BE(group, 2 * index),
  );
  return bytes;
}
