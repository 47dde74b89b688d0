/** The errors of Stripe, in its own form and words (docs.stripe.com/api/errors, docs.stripe.com/error-codes). */
interface StripeError {
  readonly type: 'api_error' | 'card_error' | 'idempotency_error' | 'invalid_request_error';
  readonly message: string;
  readonly code?: string;
  readonly decline_code?: string;
  readonly param?: string;
  readonly payment_intent?: object;
  readonly [other: string]: unknown;
}

/** A request that Stripe answers with an error. */
export class StripeRefusal extends Error {
  readonly status: number;
  readonly error: StripeError;
  constructor(status: number, error: StripeError) {
    super(error.message);
    this.name = 'StripeRefusal';
    this.status = status;
    this.error = error;
  }
}

/** 400 about one parameter, or about the state of an object. */
export function invalid(
  message: string,
  more: { readonly code?: string; readonly param?: string } = {},
): StripeRefusal {
  return new StripeRefusal(400, { type: 'invalid_request_error', message, ...more });
}

/** An id in the path is 404, an id in a parameter 400. */
export function missing(what: string, id: string, param: string): StripeRefusal {
  const error = { code: 'resource_missing', message: `No such ${what}: '${id}'`, param };
  return new StripeRefusal(param === 'id' ? 404 : 400, { type: 'invalid_request_error', ...error });
}

export function serverError(): StripeRefusal {
  return new StripeRefusal(500, {
    type: 'api_error',
    message: 'An unknown error occurred with the Stripe API. Please retry your request.',
  });
}
