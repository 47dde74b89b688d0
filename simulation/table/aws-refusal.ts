/** How the simulated services refuse a request. */

/** A refusal as the service words it. */
export class Refused extends Error {
  readonly code: string;
  readonly fields: Readonly<Record<string, unknown>>;
  constructor(code: string, message: string, fields: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.code = code;
    this.fields = fields;
  }
}

/** The error of a cancelled transaction, with a reason for each item. */
export function cancelled(reasons: readonly Readonly<Record<string, unknown>>[]): Refused {
  const codes = reasons.map((reason) => String(reason['Code'])).join(', ');
  const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`;
  return new Refused('TransactionCanceledException', message, { CancellationReasons: reasons });
}
