import type { PresentedPage } from './render-in-slices.ts';

/** One page of a list that is addressed by number. */
export interface OffsetPage<T> {
  items: T[];
  totalItems: number;
}

export interface OffsetQuery {
  page: number;
  size: number;
}

export interface CursorQuery {
  start?: string;
  size: number;
}

/** The offset envelope (interface, section 2.8). */
export function presentOffsetPage<T>(
  page: OffsetPage<T>,
  query: OffsetQuery,
  present: (item: T) => object,
): PresentedPage {
  return {
    pagination: {
      total_items: page.totalItems,
      page_number: query.page,
      page_size: query.size,
      total_pages: Math.ceil(page.totalItems / query.size),
    },
    data: page.items.map(present),
  };
}

/** One page of a list that is followed by cursors; `next` is null on the last one. */
export interface CursorPage<T> {
  items: T[];
  next: string | null;
}

/** The cursor envelope (interface, section 2.8). */
export function presentCursorPage<T>(
  page: CursorPage<T>,
  query: CursorQuery,
  present: (item: T) => object,
): PresentedPage {
  return {
    pagination: { ...(page.next === null ? {} : { next: page.next }), page_size: query.size },
    data: page.items.map(present),
  };
}
