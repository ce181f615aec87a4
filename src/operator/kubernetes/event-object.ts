import { randomBytes } from 'node:crypto';
import type { ResourcePath } from '../../platform/kubernetes/paths.ts';
import { microTime } from './lease.ts';

/** The object that an event is about. `namespace` is the empty string for a cluster-scoped one. */
export interface Regarding {
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
  uid: string;
  resourceVersion?: string;
}

export interface EventToRecord {
  type: 'Normal' | 'Warning';
  /** CamelCase: what happened. */
  reason: string;
  /** For people; beyond 1 kB it is cut. Never holds values. */
  message: string;
  /** CamelCase: what was being done. Default `Reconcile`. */
  action?: string;
}

/** How often the same was seen, and when last. */
export interface EventSeries {
  count: number;
  lastAtMs: number;
}

/** An Event that stands for everything of one kind that happens to one object for a while. */
export interface EventIdentity {
  namespace: string;
  name: string;
}

const CONTROLLER = 'tokenkeep.dev/operator';
// What the API takes at most: bytes of a note, characters of other fields and of a name.
const NOTE_BYTES = 1024;
const FIELD_LENGTH = 128;
const NAME_LENGTH = 253;

export function eventPath(namespace: string, name?: string): ResourcePath {
  const events = { group: 'events.k8s.io', version: 'v1', plural: 'events', namespace };
  return name === undefined ? events : { ...events, name };
}

/** Where an event about the object is kept, under a name of its own; about a cluster-scoped one, in `default`. */
export function identify({ namespace, name }: Regarding): EventIdentity {
  const suffix = `.${randomBytes(8).toString('hex')}`;
  const stem = name.slice(0, NAME_LENGTH - suffix.length).replace(/[-.]+$/, '');
  return { namespace: namespace === '' ? 'default' : namespace, name: stem + suffix };
}

/** An Event of events.k8s.io/v1. */
export function buildEvent(
  identity: EventIdentity,
  regarding: Regarding,
  { type, reason, message, action = 'Reconcile' }: EventToRecord,
  { instance, firstAtMs, series }: { instance: string; firstAtMs: number; series: EventSeries },
): object {
  const { namespace, ...reference } = regarding;
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: identity,
    eventTime: microTime(firstAtMs),
    regarding: namespace === '' ? reference : regarding,
    ...{ type, reason, action: action.slice(0, FIELD_LENGTH), note: cutToBytes(message, NOTE_BYTES) },
    reportingController: CONTROLLER,
    reportingInstance: instance.slice(0, FIELD_LENGTH),
    ...buildSeries(series),
  };
}

/** A first occurrence is no series. */
export function buildSeries({ count, lastAtMs }: EventSeries): object {
  return count < 2 ? {} : { series: { count, lastObservedTime: microTime(lastAtMs) } };
}

function cutToBytes(text: string, limit: number): string {
  if (Buffer.byteLength(text) <= limit) return text;
  const ellipsis = '…';
  let kept = text.slice(0, limit);
  while (Buffer.byteLength(kept) + Buffer.byteLength(ellipsis) > limit) kept = [...kept].slice(0, -1).join('');
  return kept + ellipsis;
}
