/** The exit codes of the command (docs/command.md), and the errors of its own that have one. */

export const exitCodes = { ok: 0, failed: 1, usage: 2, auth: 3, money: 4, rate: 5 } as const;

export type Failure = Exclude<keyof typeof exitCodes, 'ok'>;

/** Why a command ends, and what to do about it. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly failure: Failure;
  /** One sentence. */
  readonly fix: string | undefined;

  constructor(failure: Failure, message: string, fix?: string, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
    this.fix = fix;
  }
}
