import { setImmediate } from 'node:timers/promises';

/** One page of a list, in either envelope. */
export interface PresentedPage {
  readonly pagination: object;
  readonly data: readonly object[];
}

/** Characters that are written out in one go: some ms of the event loop. */
const SLICE_LENGTH = 2 ** 20;

/**
 * A page as JSON: one text, as most are, or where it is long its pieces in UTF-8. A page of large tokens, up to 100 MB,
 * does not hold the event loop until its last item is written out.
 */
export async function renderInSlices({ pagination, data }: PresentedPage): Promise<string | Buffer[]> {
  const pieces: Buffer[] = [];
  let text = `{"pagination":${JSON.stringify(pagination)},"data":[`;
  for (const [index, item] of data.entries()) {
    text += `${index === 0 ? '' : ','}${JSON.stringify(item)}`;
    if (text.length < SLICE_LENGTH) continue;
    pieces.push(Buffer.from(text));
    text = '';
    // Others go first.
    await setImmediate();
  }
  text += ']}';
  return pieces.length === 0 ? text : [...pieces, Buffer.from(text)];
}
