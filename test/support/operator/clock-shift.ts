// Loaded before the program itself: its wall clock goes by so many milliseconds ahead of the machine's, or behind.

const shiftMs = Number(process.env['TEST_CLOCK_SHIFT_MS'] ?? 0);
const RealDate = Date;

class ShiftedDate extends RealDate {
  constructor(...values: [] | [string | number | Date]) {
    if (values.length === 0) super(ShiftedDate.now());
    else super(...(values as [number]));
  }

  static override now(): number {
    return RealDate.now() + shiftMs;
  }
}

globalThis.Date = ShiftedDate as DateConstructor;
