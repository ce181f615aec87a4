import { isJsonObject } from '../../../src/domain/json.ts';
import type { Json, JsonObject } from '../../../src/domain/json.ts';
import { childSchema } from '../../../src/operator/schema/structural-schema.ts';
import type { StructuralSchema } from '../../../src/operator/schema/structural-schema.ts';

/** A document that differs from another in one place. */
export interface Mutation {
  /** What was done to which field: `spec.quotas.tokenize is 1001, over its maximum`. */
  title: string;
  document: JsonObject;
}

const GARBLED: Json[] = [true, 7, 1.5, 'text', [null], {}, { member: null }];

type Change = [what: string, value: Json | undefined];

/** Every bound of a schema that a document touches, met and passed by one, and every field of it left out or garbled. */
export function mutationsOf(schema: StructuralSchema, document: JsonObject): Mutation[] {
  const found: Mutation[] = [];
  const visit = (at: StructuralSchema, value: Json, path: string[]) => {
    for (const [what, changed] of changesOf(at, value)) {
      found.push({ title: `${path.join('.')} ${what}`, document: withChange(document, path, changed) as JsonObject });
    }
    if (Array.isArray(value)) value.forEach((item, index) => visit(at.items!, item, [...path, String(index)]));
    else if (isJsonObject(value)) {
      for (const [member, content] of Object.entries(value)) {
        const child = childSchema(at, member);
        if (child !== undefined) visit(child, content, [...path, member]);
      }
    }
  };
  visit(schema.properties!['spec']!, document['spec']!, ['spec']);
  return found;
}

function changesOf(schema: StructuralSchema, value: Json): Change[] {
  const garbled: Change[] = [
    ['is left out', undefined],
    ['is null', null],
    ...GARBLED.map((other): Change => [`is ${JSON.stringify(other)}`, other]),
  ];
  return [...garbled, ...boundsOf(schema, value)];
}

function boundsOf(schema: StructuralSchema, value: Json): Change[] {
  const { minimum, maximum } = schema;
  if (typeof value === 'number') {
    const limits = [minimum, maximum].filter((limit) => limit !== undefined);
    return limits.flatMap((limit) => [limit - 1, limit, limit + 1].map((near): Change => [`is ${near}`, near]));
  }
  if (typeof value === 'string') return textBoundsOf(schema, value);
  if (Array.isArray(value)) {
    const { minItems = 0, maxItems = 0 } = schema;
    const sizes = [minItems - 1, minItems, maxItems, maxItems + 1].filter((size) => size >= 0 && value.length > 0);
    return [
      ['repeats its first entry', [...value, ...value.slice(0, 1)]],
      ...sizes.map((size): Change => [
        `has ${size} entries`,
        Array.from({ length: size }, (_, at) => vary(value[0]!, at)),
      ]),
    ];
  }
  if (!isJsonObject(value)) return [];
  const changes: Change[] = [['has an unknown member', { ...value, unknownMember: 1 }]];
  const { maxProperties, additionalProperties } = schema;
  if (additionalProperties === undefined || maxProperties === undefined) return changes;
  const content = Object.values(value)[0] ?? 'a';
  for (const size of [0, maxProperties, maxProperties + 1]) {
    const members = Array.from({ length: size }, (_, at): [string, Json] => [`member-${at}`, content]);
    changes.push([`has ${size} members`, Object.fromEntries(members)]);
  }
  const named = MEMBERS.map((name): Change => [
    `has a member ${name.slice(0, 20)} (${name.length})`,
    { ...value, [name]: content },
  ]);
  return [...changes, ...named, ['has a null member', { ...value, absent: null }]];
}

const MEMBERS = [
  ...['a.b-c_D', 'a--b.c/d', 'a/b/c', '/a', 'a/', 'A/b', 'a..b/c', 'a.-b/c', '-a', 'a_', 'a b', 'a\n', 'é'],
  ...['constructor', 'a'.repeat(63), 'a'.repeat(64)],
  ...[253, 254].map((length) => `${'a'.repeat(length)}/${'a'.repeat(63)}`),
];

function textBoundsOf({ enum: choices, maxLength }: StructuralSchema, value: string): Change[] {
  const odd = ['', ' ', `${value} `, `${value}\n`, `x${value}`, value.toUpperCase(), value.slice(0, -1), 'é😀'];
  const others = (choices ?? []) as string[];
  const lengths = maxLength === undefined ? [] : [maxLength, maxLength + 1];
  const fills = lengths.flatMap((length) => ['a'.repeat(length), '😀'.repeat(length), stretch(value, length)]);
  const dates = value.includes('T00:00:00Z') ? DATES : [];
  return [...odd, ...others, ...fills, ...dates].map((text): Change => [
    `is ${JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}… (${text.length})` : text)}`,
    text,
  ]);
}

const DATES = [
  ...['2030-02-29T00:00:00Z', '2028-02-29T00:00:00Z', '1900-02-29T00:00:00Z', '2030-13-01T00:00:00Z'],
  ...['2030-01-31 00:00:00Z', '2030-01-31t00:00:00z', '2030-01-31T24:00:00Z', '2030-01-31T23:60:00Z'],
  ...['2016-12-31T23:59:60Z', '2030-01-31T00:00:00', '2030-01-31', '2030-01-31T00:00Z', '2030-1-31T00:00:00Z'],
  ...[
    '2030-01-31T00:00:00.123456789Z',
    '2030-01-31T00:00:00.Z',
    '2030-01-31T00:00:00+02:00',
    '2030-01-31T00:00:00+0200',
  ],
  ...['2030-01-31T00:00:00+24:00', '2030-01-31T00:00:00+23:60', '2030-01-31T00:00:00-00:00', '0000-01-01T00:00:00Z'],
];

/** A longer text that may well meet the same pattern. */
function stretch(value: string, length: number): string {
  const middle = value.slice(1, -1) || value || 'a';
  const filled = value.slice(0, 1) + middle.repeat(Math.ceil(length / middle.length)).slice(0, length - 2);
  return filled + value.slice(-1);
}

/** Another entry of the same shape, told apart by whatever may be told apart. */
function vary(item: Json, at: number): Json {
  if (typeof item === 'number') return item + at;
  if (typeof item === 'string') return at === 0 ? item : `${item}${at}`;
  if (!isJsonObject(item)) return item;
  const varied = ['priority', 'name', 'value'].find((member) => Object.hasOwn(item, member));
  return varied === undefined ? item : { ...item, [varied]: vary(item[varied]!, at) };
}

function withChange(value: Json, [step, ...rest]: string[], changed: Json | undefined): Json | undefined {
  if (step === undefined) return changed;
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => {
      const next = String(index) === step ? withChange(item, rest, changed) : item;
      return next === undefined ? [] : [next];
    });
  }
  const entries = Object.entries(value as JsonObject).map(([member, content]): [string, Json | undefined] => [
    member,
    member === step ? withChange(content, rest, changed) : content,
  ]);
  return Object.fromEntries(entries.filter((entry): entry is [string, Json] => entry[1] !== undefined));
}
