/**
 * The rule that a request to the outside broke, or what became of it.
 *
 * - `url`, `userinfo`, `method`, `header`: the request itself is not one that is sent.
 * - `scheme`, `host`, `port`, `address`: the policy does not let it go there.
 * - `unresolved`: the host has no address.
 * - `redirect`: an answer leads elsewhere, and that is not followed.
 * - `unreachable`, `certificate`, `timed-out`, `aborted`: no answer came.
 * - `answer`: it is not one of HTTP; `too-large`: it is over the limit, also after decompression.
 */
export type EgressRule =
  | 'url'
  | 'userinfo'
  | 'method'
  | 'header'
  | 'scheme'
  | 'host'
  | 'port'
  | 'address'
  | 'unresolved'
  | 'redirect'
  | 'unreachable'
  | 'certificate'
  | 'timed-out'
  | 'aborted'
  | 'answer'
  | 'too-large';

/** No answer is given. The message may be shown to who asked: it never holds an address that a name resolved to. */
export class EgressError extends Error {
  override readonly name = 'EgressError';
  readonly rule: EgressRule;
  /** The other side may have begun to act. */
  readonly sent: boolean;

  constructor(rule: EgressRule, message: string, sent = false) {
    super(message);
    this.rule = rule;
    this.sent = sent;
  }
}
