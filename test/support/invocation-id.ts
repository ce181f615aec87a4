/** The id of an invocation that was accepted: the last part of where its result is read. */
export function invocationIdOf({ headers }: { headers: Headers }): string {
  const id = headers.get('location')?.split('/').at(-1);
  if (!id) throw new Error('the answer says nothing of where the result is read');
  return id;
}
