/**
 * The limits and their defaults (decisions.md, Limits). Those of an account are
 * attributes of its item and can be set for each account.
 */

export interface AccountLimits {
  /** Authenticated POSTs a minute, refused ones included. */
  readonly postRate: number;
  /** GETs a minute. */
  readonly getRate: number;
  /** Creations that are not yet terminal. */
  readonly maxConcurrent: number;
  /** Seconds from acceptance to a terminal status. */
  readonly deadlineSeconds: number;
}

export const defaultLimits: AccountLimits = {
  postRate: 60,
  getRate: 600,
  maxConcurrent: 20,
  deadlineSeconds: 300,
};

/** What an operator may set; a deadline above 12 minutes would outlive the rendering function. */
export const limitRanges: { readonly [Name in keyof AccountLimits]: readonly [least: number, most: number] } =
  {
    postRate: [0, 1_000_000],
    getRate: [0, 1_000_000],
    maxConcurrent: [0, 100_000],
    deadlineSeconds: [1, 720],
  };

/** Open creations in the whole service; compared with the reconciler's last count, so approximate by design. */
export const serviceCapacity = 2_000;
/** The least time between two polls of one creation, in milliseconds. */
export const pollIntervalMillis = 1_000;
/** Retry-After of a creation that has not ended: a good pace to poll it. */
export const pollPaceSeconds = 2;
/** The window of both rates and of rejected authentications. */
export const rateWindowSeconds = 60;
/** Rejected authentications of one address in a minute, before it is blocked. */
export const rejectionsBeforeBlock = 20;
export const blockSeconds = 120;
export const idempotencySeconds = 24 * 60 * 60;
export const maxBodyBytes = 256 * 1024;
export const maxUrlLength = 2_048;
/** The creations of an answer of GET /creations, as Lambda sends them; it refuses an answer of more than 6 MB. */
export const mostPageBytes = 5_000_000;

/** How long the look-up of a host name may take. */
export const resolveMillis = 5_000;

/** Source images (decisions.md, Source images). */
export const sourcesAtOnce = 4;
export const sourceTimeoutMillis = 5_000;
export const allSourcesTimeoutMillis = 15_000;
export const sourceRedirects = 3;
export const maxSourceBytes = 10 * 1_000_000;
export const sourceSide = { least: 64, most: 8_192 } as const;
export const maxSourcePixels = 25_000_000;

/** Seconds that Prefer: wait may hold an answer, and the latest after a request's arrival. */
export const longestWaitSeconds = 20;
export const latestAnswerMillis = 25_000;

/**
 * The time of a request. API Gateway gives up after 30 s, and Lambda ends an API function after 29 s
 * (lib/service-stack.ts): the answer has to be out before.
 */
export const requestMillis = 26_000;
/** An answer that is later than this behind the end of its time is no longer waited for. */
export const overdueMillis = 1_500;
/** What charging and starting may take. A request with less time left is refused before the charge. */
export const chargeMillis = 5_000;
