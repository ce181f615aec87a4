/**
 * The format in which values are sealed. A row says in which one its own are, so that none of an older format, which
 * binds less, is taken in their place. Format 1 binds no version of the row: rows that nobody has written since.
 */
export const SEALED_FORMAT = 2;
