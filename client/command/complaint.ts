/** Turns every error into one sentence, a fix and an exit code. No text contains a key. */
import {
  AccessDenied,
  ApiError,
  AuthenticationFailed,
  ConnectionError,
  DarkroomError,
  GenerationFailed,
  InsufficientBalance,
  InvalidRequest,
  NotFound,
  RateLimited,
  TimeoutError,
} from '../src/errors.ts';
import { WebhookError } from '../src/webhooks/received.ts';

/** The exit codes of the command (docs/command.md), and the errors of its own that have one. */

export const exitCodes = { ok: 0, failed: 1, usage: 2, auth: 3, money: 4, rate: 5 } as const;

type Failure = Exclude<keyof typeof exitCodes, 'ok'>;

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

export interface Complaint {
  readonly failure: Failure;
  readonly message: string;
  readonly fix?: string | undefined;
  /** The code of the API, if it answered. */
  readonly code?: string;
  readonly requestId?: string | undefined;
  readonly creationId?: string | undefined;
  /** Why the creation failed. */
  readonly errorCode?: string;
}

export function complaintOf(error: unknown): Complaint {
  const complaint = rawComplaint(error);
  // A command may say more about an answer than the answer does.
  const answer = error instanceof CommandError ? error.cause : error;
  return {
    ...complaint,
    message: withoutKeys(complaint.message),
    ...(complaint.fix !== undefined && { fix: withoutKeys(complaint.fix) }),
    ...(answer instanceof ApiError && { code: answer.code, requestId: answer.requestId }),
    ...creationOf(error),
  };
}

function creationOf(error: unknown): Pick<Complaint, 'creationId' | 'errorCode'> {
  if (error instanceof GenerationFailed) return { creationId: error.creation.id, errorCode: error.errorCode };
  if (error instanceof TimeoutError) return { creationId: error.creationId };
  return error instanceof ApiError ? { creationId: error.details['creation_id'] as string | undefined } : {};
}

function rawComplaint(error: unknown): Complaint {
  if (error instanceof CommandError) {
    return { failure: error.failure, message: error.message, fix: error.fix };
  }
  if (error instanceof ApiError) return complaintOfAnswer(error);
  if (error instanceof GenerationFailed) {
    const fix = error.retryable
      ? 'The charge was refunded: run the command again.'
      : 'The charge was refunded: change the prompt or the source image, and run the command again.';
    return { failure: 'failed', message: error.message, fix };
  }
  if (error instanceof TimeoutError) {
    return { failure: 'failed', message: error.message, fix: afterSilence(error, error.creationId) };
  }
  if (error instanceof ConnectionError) {
    const cause = causeOf(error) ?? '';
    const message = error.message.includes(cause) ? error.message : `${error.message} (${cause})`;
    const address = 'Check the address: DARKROOM_BASE_URL, or `darkroom login --base-url URL`.';
    return { failure: 'failed', message, fix: error.idempotencyKey ? afterSilence(error) : address };
  }
  if (error instanceof WebhookError) {
    return { failure: error.reason === 'secret_invalid' ? 'usage' : 'failed', message: error.message };
  }
  // The client refuses an argument: an address, a key, a file.
  if (error instanceof DarkroomError) return { failure: 'usage', message: error.message };
  if (error instanceof Error && error.name === 'AbortError') {
    return { failure: 'failed', message: 'Interrupted.' };
  }
  const { code } = error as { code?: unknown };
  const text = error instanceof Error ? error.message : String(error);
  return typeof code === 'string' && /^E[A-Z]+$/.test(code)
    ? { failure: 'failed', message: `A file cannot be used: ${text}` }
    : {
        failure: 'failed',
        message: `Something unexpected happened: ${text}`,
        fix: 'Add --debug for details.',
      };
}

function complaintOfAnswer(error: ApiError): Complaint {
  const { message } = error;
  if (error instanceof AuthenticationFailed) {
    return { failure: 'auth', message, fix: 'Run `darkroom login`, or set DARKROOM_API_KEY.' };
  }
  if (error instanceof AccessDenied) {
    return { failure: 'auth', message, fix: 'Ask the operator of the service.' };
  }
  if (error instanceof InsufficientBalance) return { failure: 'money', message, fix: moneyFix(error) };
  if (error instanceof InvalidRequest) return complaintOfRequest(error);
  if (error instanceof RateLimited) {
    return { failure: 'rate', message, fix: `Wait ${error.retryAfter ?? 1} s, and run the command again.` };
  }
  if (error instanceof NotFound) {
    return error.code === 'ERR_MODEL_NOT_FOUND'
      ? { failure: 'usage', message, fix: '`darkroom models` lists the models of your account.' }
      : { failure: 'failed', message };
  }
  return { failure: 'failed', message, fix: afterSilence(error) };
}

function complaintOfRequest({ message, reason, errors, details }: InvalidRequest): Complaint {
  if (reason === 'max_cost_exceeded') {
    const fix = `Raise --max-cost to ${String(details['cost'])}, or choose another model or resolution.`;
    return { failure: 'money', message, fix };
  }
  if (reason === 'not_cancellable') return { failure: 'failed', message };
  const fields = errors.map((one) => `${one.field}: ${one.message}`);
  return { failure: 'usage', message: fields.length > 0 ? fields.join(' ') : message };
}

function moneyFix({ topUpUrl, resetsAt }: InsufficientBalance): string {
  if (topUpUrl !== undefined) return `Add money to your account: ${topUpUrl}`;
  if (resetsAt !== undefined) return `The budget of the key begins anew at ${resetsAt}.`;
  return '`darkroom balance` shows what is available.';
}

/** What to do when it is unknown whether a request was carried out. */
function afterSilence({ idempotencyKey }: DarkroomError, creationId?: string): string {
  if (creationId !== undefined) return `The creation goes on: \`darkroom creations wait ${creationId}\`.`;
  if (idempotencyKey === undefined) return 'Run the command again.';
  return repeatWith(idempotencyKey);
}

/** How to get the image of a request whose outcome is unknown. */
export function repeatWith(idempotencyKey: string): string {
  return `Run the command again with --idempotency-key ${idempotencyKey}: it is never charged twice.`;
}

/** The innermost code or message: fetch says "fetch failed" and hides the rest in its cause. */
function causeOf(error: Error): string | undefined {
  let cause: unknown = error.cause;
  while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause;
  if (!(cause instanceof Error)) return undefined;
  const { code } = cause as { code?: unknown };
  return typeof code === 'string' ? code : cause.message;
}

/** The last defence: no message should contain a key or a secret, and none shall. */
export function withoutKeys(text: string): string {
  return text.replace(/(dk_live_|whsec_)[\w+/=-]{8,}/g, '$1…');
}
