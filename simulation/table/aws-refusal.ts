/** The refusals of the simulated AWS services. */

/** A refusal with the error code and the fields that AWS sends. */
export class Refused extends Error {
  readonly code: string;
  readonly fields: Readonly<Record<string, unknown>>;
  constructor(code: string, message: string, fields: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.code = code;
    this.fields = fields;
  }
}

/** The refusal of a cancelled transaction, with one reason for each of its items. */
export function cancelled(reasons: readonly Readonly<Record<string, unknown>>[]): Refused {
  const codes = reasons.map((reason) => String(reason['Code'])).join(', ');
  const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`;
  return new Refused('TransactionCanceledException', message, { CancellationReasons: reasons });
}
