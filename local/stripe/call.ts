/** Answers one call: who asks, which version, which fault strikes, and whether it was answered before. */
import { type Fault, type StripeAccount, type StripeRequest } from './account.ts';
import { stripeVersion } from './objects.ts';
import { operations } from './operations.ts';
import { invalid, serverError, StripeRefusal } from './refusals.ts';

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly requestId: string;
  readonly isReplay?: boolean;
}

/** Without an answer, the connection ends (`lost`) or stays open (`hang`). */
type Outcome = Answer | 'lost' | 'hang';

export type StripeReply =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    }
  | { readonly kind: 'lost' | 'hang' };

export function answerCall(account: StripeAccount, request: StripeRequest): StripeReply {
  const requestId = account.newId('req', 14);
  const outcome = attempt(requestId, () => {
    const live = modeOf(request);
    checkVersion(request);
    const fault = strike(account, request);
    return fault ? struck(account, request, live, requestId, fault) : once(account, request, live, requestId);
  });
  if (outcome === 'lost' || outcome === 'hang') return { kind: outcome };
  const { 'idempotency-key': key } = request.headers;
  return {
    kind: 'answer',
    status: outcome.status,
    headers: {
      'content-type': 'application/json',
      'request-id': requestId,
      'stripe-version': stripeVersion,
      ...(key !== undefined && { 'idempotency-key': key }),
      ...(outcome.isReplay === true && {
        'idempotent-replayed': 'true',
        'original-request': outcome.requestId,
      }),
    },
    body: JSON.stringify(outcome.body, null, 2),
  };
}

/** A request whose effect was late takes it now. */
export function takeEffect(account: StripeAccount, request: StripeRequest): void {
  const live = modeOf(request);
  const key = storedKeyOf(request, live);
  forget(account, (one) => one === key);
  const requestId = account.newId('req', 14);
  attempt(requestId, () => once(account, request, live, requestId));
}

function attempt(requestId: string, work: () => Answer): Answer;
function attempt(requestId: string, work: () => Outcome): Outcome;
function attempt(requestId: string, work: () => Outcome): Outcome {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof StripeRefusal)) throw error;
    return { status: error.status, body: { error: error.error }, requestId };
  }
}

/** Restricted and secret keys, as a bearer or as the user of basic authentication. True: of the live mode. */
function modeOf({ headers: { authorization = '' } }: StripeRequest): boolean {
  const [scheme = '', credential = ''] = authorization.split(' ');
  const key = /^basic$/i.test(scheme)
    ? Buffer.from(credential, 'base64').toString('utf8').replace(/:.*$/, '')
    : credential;
  const mode = /^[rs]k_(test|live)_\w{3,}$/.exec(key)?.[1];
  if (mode === undefined) {
    const message =
      key === ''
        ? 'You did not provide an API key.'
        : `Invalid API Key provided: ${key.slice(0, 8)}${'*'.repeat(8)}`;
    throw new StripeRefusal(401, { type: 'invalid_request_error', message });
  }
  return mode === 'live';
}

function checkVersion({ headers }: StripeRequest): void {
  const version = headers['stripe-version'];
  if (version !== stripeVersion)
    throw invalid(
      `Invalid Stripe API version: ${version ?? '(none)'}. This fake of Stripe knows ${stripeVersion} only.`,
    );
}

function run(
  account: StripeAccount,
  request: StripeRequest,
  live: boolean,
  requestId: string,
  lagSeconds: number,
): unknown {
  const { method, path, query, body, headers } = request;
  const steps = path.split('/');
  const found = operations.find(
    (one) =>
      one.method === method &&
      one.steps.length === steps.length &&
      one.steps.every((step, index) => step === '*' || step === steps[index]),
  );
  if (!found)
    throw new StripeRefusal(404, {
      type: 'invalid_request_error',
      message: `Unrecognized request URL (${method}: ${path}).`,
    });
  const id = steps[found.steps.indexOf('*')] ?? '';
  account.cause = { id: requestId, idempotency_key: headers['idempotency-key'] ?? null };
  try {
    return found.run({ account, live, id, lagSeconds }, method === 'GET' ? query : body);
  } finally {
    account.cause = undefined;
  }
}

// Idempotency: docs.stripe.com/api/idempotent_requests

const storedMillis = 24 * 3_600_000;
const longestKey = 255;

function storedKeyOf({ method, headers }: StripeRequest, live: boolean): string | undefined {
  const key = headers['idempotency-key'];
  return method === 'POST' && key !== undefined ? `${live ? 'live' : 'test'}:${key}` : undefined;
}

function contentOf({ method, path, body }: StripeRequest): string {
  const parameters = new URLSearchParams(body);
  parameters.sort();
  return `${method} ${path} ${parameters.toString()}`;
}

/** Answers what was stored under the key, or does the work and stores its answer. */
function once(
  account: StripeAccount,
  request: StripeRequest,
  live: boolean,
  requestId: string,
  work = (): unknown => run(account, request, live, requestId, 0),
): Answer {
  const answer = (): Answer => attempt(requestId, () => ({ status: 200, body: work(), requestId }));
  const key = storedKeyOf(request, live);
  if (key === undefined) return answer();
  const now = account.world.now();
  forget(account, (_key, at) => now - at > storedMillis);
  const { answers } = account.state;
  const content = contentOf(request);
  const known = knownAnswer(answers[key], content, request.headers['idempotency-key'] ?? '');
  if (known) return { ...known, isReplay: true };
  const made = answer();
  if (isStored(made)) answers[key] = { request: content, at: now, answer: made };
  return made;
}

function forget({ state }: StripeAccount, isGone: (key: string, at: number) => boolean): void {
  const left = Object.entries(state.answers).filter(([key, { at }]) => !isGone(key, at));
  state.answers = Object.fromEntries(left);
}

function knownAnswer(
  known: StripeAccount['state']['answers'][string] | undefined,
  content: string,
  key: string,
): Answer | undefined {
  if (key.length > longestKey) throw invalid(`Idempotency keys can have up to ${longestKey} characters.`);
  if (!known) return undefined;
  if (known.request !== content)
    throw new StripeRefusal(400, {
      type: 'idempotency_error',
      message: `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`,
    });
  if (!known.answer) throw inFlight();
  return known.answer;
}

function inFlight(): StripeRefusal {
  return new StripeRefusal(409, {
    type: 'idempotency_error',
    code: 'idempotency_key_in_use',
    message: 'There is currently another in-progress request using this idempotency key.',
  });
}

/** A request whose parameters are wrong never began, so that the same key serves the corrected one. */
function isStored({ status, body }: Answer): boolean {
  if (status === 400) return !('param' in (body as { error: object }).error);
  return status === 200 || status === 402 || status >= 500;
}

// Faults

function strike({ state }: StripeAccount, { method, path, query, body }: StripeRequest): Fault | undefined {
  const found = state.faults.find(
    (one) =>
      one.left !== 0 &&
      `${method} ${path}`.includes(one.call) &&
      `${query}${body}`.includes(one.match) &&
      (one.fault !== 'broken_page' || query.includes('starting_after=')),
  );
  if (found?.left) found.left -= 1;
  return found;
}

function struck(
  account: StripeAccount,
  request: StripeRequest,
  live: boolean,
  requestId: string,
  { fault, seconds }: Fault,
): Outcome {
  const effect = (): unknown => run(account, request, live, requestId, 0);
  switch (fault) {
    case 'error':
    case 'broken_page':
      throw serverError();
    case 'stored_error':
      return once(account, request, live, requestId, () => {
        throw serverError();
      });
    case 'stored_error_after_effect':
      return once(account, request, live, requestId, () => {
        effect();
        throw serverError();
      });
    case 'lost_answer':
      once(account, request, live, requestId);
      return 'lost';
    case 'late_effect':
      return late(account, request, live, seconds);
    case 'hang':
      return 'hang';
    case 'conflict':
      throw inFlight();
    case 'rate_limit':
      throw new StripeRefusal(429, {
        type: 'invalid_request_error',
        code: 'rate_limit',
        message: 'Request rate limit exceeded.',
      });
    case 'revoked':
      throw new StripeRefusal(401, {
        type: 'invalid_request_error',
        code: 'api_key_expired',
        message: 'Expired API Key provided.',
      });
    case 'forbidden':
      throw new StripeRefusal(403, {
        type: 'invalid_request_error',
        message: 'The provided key does not have the required permissions for this endpoint.',
      });
    case 'lag':
      return once(account, request, live, requestId, () => run(account, request, live, requestId, seconds));
  }
}

/** Until the effect, the same key is in flight. */
function late(account: StripeAccount, request: StripeRequest, live: boolean, seconds: number): 'lost' {
  const key = storedKeyOf(request, live);
  const { answers } = account.state;
  if (key !== undefined && answers[key]) throw inFlight();
  if (key !== undefined) answers[key] = { request: contentOf(request), at: account.world.now() };
  account.later(seconds, { kind: 'take_effect', request });
  return 'lost';
}
