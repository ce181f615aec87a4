/**
 * Why an expression cannot be parsed or evaluated. Its message reaches the caller under the property path of the
 * expression's string, so it holds neither data nor template text: both may be plaintext.
 */
export class ExpressionFault extends Error {
  override readonly name = 'ExpressionFault';
}

/** The message of our own faults; for what a library threw, `otherwise`, because libraries quote their input. */
export function faultMessage(error: unknown, otherwise: string): string {
  return error instanceof ExpressionFault ? error.message : otherwise;
}
