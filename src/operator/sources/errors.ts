/** The namespace is on its way out: nothing can be made in it any more, and what is in it goes with it. */
export class NamespaceTerminatingError extends Error {
  override readonly name = 'NamespaceTerminatingError';

  constructor(namespace: string) {
    super(`Namespace ${namespace} is being deleted`);
  }
}
