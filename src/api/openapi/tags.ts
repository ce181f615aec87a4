/** What the operations under each tag are about, in the order of the document. */
export const TAGS: Readonly<Record<string, string>> = {
  Tokens: 'Secrets under ids. What of them is shown, the access rules of the key decide.',
  Applications: 'Calling systems, and what each may do.',
  'Application keys':
    'Credentials of applications. An application has up to three, so that they can be replaced one by one.',
  'Application templates': 'Access for common kinds of applications, to begin with.',
  Permissions: 'What can be granted.',
  Sessions: 'Keys for one browser and a few minutes, which a private application grants a part of its own access.',
  Tenants: 'The tenant that the key belongs to. Every other resource belongs to one, and is seen in no other.',
  Reactors: 'Code of your own that the service runs over the plaintext of tokens.',
  Logs: 'Who did what to which entity, without its data.',
  Service: 'What needs no key: whether the service is alive, and what it offers.',
  'Not served':
    'What clients of such services know, and is gone (410) or not available in this release (501). Any method, on ' +
    'these paths and below them, is answered alike.',
};
