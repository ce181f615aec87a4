const ISO_DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|z|[+-]\d{2}:?\d{2})?$/;
const ISO_DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const US_DATE_TIME =
  /^(\d{1,2})\/(\d{1,2})\/(\d{4}),? (\d{1,2}):(\d{2})(?::(\d{2}))? ?([AaPp][Mm])(?: ?([+-]\d{2}:\d{2}))?$/;
const US_DATE = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/;

/** What a caller is told about an instant that cannot be read. */
export const INSTANT_FORMATS =
  'must be ISO 8601 (2030-01-31T23:59:59Z), month/day/year with time (1/31/2030 11:59:59 PM +00:00) or month/day/year';

interface Parts {
  year: number;
  month: number;
  day: number;
  hour?: number;
  minute?: number;
  second?: number;
  millisecond?: number;
  offset?: string;
}

function offsetMinutes(offset: string | undefined): number | undefined {
  if (offset === undefined || offset.toUpperCase() === 'Z') return 0;
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(-2));
  if (hours > 14 || minutes > 59) return undefined;
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

// Date.UTC rolls 31 February over to March; an instant that does not read back as it was written is refused instead.
function toInstant(parts: Parts): Date | undefined {
  const { year, month, day, hour = 0, minute = 0, second = 0, millisecond = 0 } = parts;
  const offset = offsetMinutes(parts.offset);
  if (offset === undefined) return undefined;
  const local = new Date(Date.UTC(year, month - 1, day, hour, minute, second, millisecond));
  const readsBack =
    local.getUTCFullYear() === year &&
    local.getUTCMonth() === month - 1 &&
    local.getUTCDate() === day &&
    local.getUTCHours() === hour &&
    local.getUTCMinutes() === minute &&
    local.getUTCSeconds() === second;
  const instant = new Date(local.getTime() - offset * 60_000);
  // Answers write four digits of a year.
  return readsBack && instant.getUTCFullYear() <= 9999 ? instant : undefined;
}

function hour24(hour: number, half: string): number | undefined {
  if (hour < 1 || hour > 12) return undefined;
  return (hour % 12) + (half.toLowerCase() === 'pm' ? 12 : 0);
}

/**
 * Reads an instant in every format that `expires_at` takes (interface, section 4.1): ISO 8601, month/day/year with
 * time, AM or PM and offset, or month/day/year alone. Without an offset it is UTC; without a time, 00:00 UTC.
 *
 * Undefined where the text has none of these formats or names a day or time that does not exist.
 */
export function parseInstant(text: string): Date | undefined {
  const iso = ISO_DATE_TIME.exec(text);
  if (iso) {
    const millisecond = Number((iso[7] ?? '').padEnd(3, '0').slice(0, 3));
    return toInstant({
      year: Number(iso[1]),
      month: Number(iso[2]),
      day: Number(iso[3]),
      hour: Number(iso[4]),
      minute: Number(iso[5]),
      second: Number(iso[6] ?? 0),
      millisecond,
      offset: iso[8],
    });
  }
  const isoDate = ISO_DATE.exec(text);
  if (isoDate) return toInstant({ year: Number(isoDate[1]), month: Number(isoDate[2]), day: Number(isoDate[3]) });
  const us = US_DATE_TIME.exec(text);
  if (us) {
    const hour = hour24(Number(us[4]), us[7]!);
    if (hour === undefined) return undefined;
    return toInstant({
      month: Number(us[1]),
      day: Number(us[2]),
      year: Number(us[3]),
      hour,
      minute: Number(us[5]),
      second: Number(us[6] ?? 0),
      offset: us[8],
    });
  }
  const usDate = US_DATE.exec(text);
  if (usDate) return toInstant({ month: Number(usDate[1]), day: Number(usDate[2]), year: Number(usDate[3]) });
  return undefined;
}
