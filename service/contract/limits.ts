/** The limits and their defaults (docs/api.md). Those in AccountLimits can differ by account. */

export interface AccountLimits {
  /** Authenticated POSTs per minute. Refused ones count. */
  readonly postRate: number;
  /** GETs per minute. */
  readonly getRate: number;
  /** Requests a minute by each token of an end user. They do not count as requests of the account. */
  readonly userPostRate: number;
  readonly userGetRate: number;
  readonly maxConcurrent: number;
  /** Seconds in which a creation has to become terminal, from its acceptance on. */
  readonly deadlineSeconds: number;
  /** Uploads that no accepted creation has used and that have not expired. */
  readonly maxUnusedUploads: number;
}

export const defaultLimits: AccountLimits = {
  postRate: 60,
  getRate: 600,
  userPostRate: 20,
  userGetRate: 120,
  maxConcurrent: 20,
  deadlineSeconds: 300,
  maxUnusedUploads: 100,
};

/** The limits of POST /user-tokens, and the defaults of its members. */
export const tokenSeconds = { least: 60, usual: 300, most: 900 } as const;
export const tokenUses = { least: 1, usual: 10, most: 100 } as const;
export const mostTokenOrigins = 10;
export const mostTokenModels = 100;
/** In USD. */
export const mostTokenSpend = 1_000_000;

/** The values that an operator may set. A deadline above 12 minutes would outlive the rendering function. */
export const limitRanges: { readonly [Name in keyof AccountLimits]: readonly [least: number, most: number] } =
  {
    postRate: [0, 1_000_000],
    getRate: [0, 1_000_000],
    userPostRate: [0, 1_000_000],
    userGetRate: [0, 1_000_000],
    maxConcurrent: [0, 100_000],
    deadlineSeconds: [1, 720],
    // The item that counts them must stay far below the 400 KB of DynamoDB.
    maxUnusedUploads: [0, 1_000],
  };

/** Default of serviceCapacity: open creations of the whole service, by an estimate (decision 3). */
export const defaultServiceCapacity = 2_000;
/** The values of the setting. */
export const serviceCapacityRange = [1, 1_000_000] as const;
/** The reconciler checks a creation that no execution has taken up after this time. */
export const startGraceMillis = 60_000;
/** The attempts of a webhook: 60, 120, 240 and 480 s apart. The state machine gets the same figures. */
export const webhookSchedule = { firstWaitSeconds: 60, backoffRate: 2, retries: 4 } as const;
/** The least time between two polls of one creation, in milliseconds. */
export const pollIntervalMillis = 1_000;
/** Retry-After of a 202: when a client should poll the creation for the first time. */
export const firstPollSeconds = 2;
/** Retry-After of a GET, in seconds: the least, around the usual time, after it, and long before it. */
export const pollPace = { least: 1, usual: 2, late: 5, most: 10, shortMillis: 5_000 } as const;
/** How often a renderer renews its lease of 6 s, by a write. After a lost renewal 1.2 s are left. */
export const leaseRenewMillis = 2_400;
/** The length of the window in which requests and rejected authentications are counted. */
export const rateWindowSeconds = 60;
/** Rejected authentications of one address in a window before the address is blocked. */
export const rejectionsBeforeBlock = 20;
export const blockSeconds = 120;
export const idempotencySeconds = 24 * 60 * 60;
/** How long an entry of a call lives: after its last try, and at most. */
export const retryMillis = { afterTry: 15 * 60_000, longest: 30 * 60_000 } as const;
/** How long after a retry its own first try may still arrive. */
export const lateFirstTryMillis = 60_000;
export const maxBodyBytes = 256 * 1024;
/** A body of JSON: the depth of lists and objects, and the number of all members and items. */
export const maxJsonDepth = 32;
export const maxJsonValues = 1_000;
/** The fields and files of a form. */
export const maxFormParts = 32;
export const maxUrlLength = 2_048;
/** Bytes of the creations in one answer of GET /creations. Lambda refuses an answer of more than 6 MB. */
export const mostPageBytes = 5_000_000;

export const resolveMillis = 5_000;

/** Source images: how many are fetched at once, and their limits (docs/api.md). */
export const sourcesAtOnce = 4;
export const sourceTimeoutMillis = 5_000;
export const allSourcesTimeoutMillis = 15_000;
export const sourceRedirects = 3;
export const maxSourceBytes = 10 * 1_000_000;
export const sourceSide = { least: 64, most: 8_192 } as const;
export const maxSourcePixels = 25_000_000;

/** How long an event is shown. */
export const eventMillis = 30 * 86_400_000;
export const mostEvents = 100;

export const mostHeldReads = 2;
/** The share of a door's slots that one account may hold, and the least and the most slots of an account. */
export const heldShare = { percent: 25, least: 2, most: 500 } as const;

/** The pause before each poll of a held read. The last pause repeats. docs/cost.md has the cost of a poll. */
export const eventPausesMillis = [1_000, 1_500, 2_000] as const;

/** How long the signed address of an upload takes the bytes. */
export const uploadAddressSeconds = 15 * 60;
/** How long an upload can be used, from its announcement on. The bucket deletes the bytes a day later. */
export const uploadMillis = 24 * 60 * 60 * 1_000;

/** The longest wait of Prefer: wait, and the latest answer after such a wait, from the arrival on. */
export const longestWaitSeconds = 20;
export const latestAnswerMillis = 25_000;

/** The time of a request, before Lambda ends the function (29 s) and the gateway gives up (30 s). */
export const requestMillis = 26_000;
/** How long the frame waits for an answer after the end of the request's time. Then it answers with 500. */
export const overdueMillis = 1_500;
/** The time that charge and start may take. A request with less time left is refused before the charge. */
export const chargeMillis = 5_000;

/** How long a request of the OpenAI-shaped endpoint is held: a silent stream ends after 5 minutes. */
export const heldMillis = 285_000;
/** For the bytes of the pictures: the gateway streams 10 MB at once, then 2 MB a second. */
export const sendingMillis = 65_000;
/** The time of a held request, to its last byte. Lambda ends the function after 360 s. */
export const heldRequestMillis = heldMillis + sendingMillis;
/** The bytes of all images of one edit. Lambda takes an event of 6 MB, with a form in base64. */
export const maxEditBytes = 4_400_000;
/** The bytes of the body of such an edit. */
export const maxEditBodyBytes = 6_000_000;
/** A held request answers this long before its client gives up, or at half of a shorter time. */
export const answerBeforeTimeoutMillis = 5_000;
export const keepAliveMillis = 15_000;

/** How long an MCP tool waits for an image by default, and at most: hosts end a call after 60 s. */
export const toolWaitSeconds = { usual: 45, most: 50 } as const;
/** The time of a request of the MCP endpoint. Lambda ends the function after 90 s. */
export const mcpRequestMillis = 80_000;
/** The largest picture, in bytes, that a tool shows in its result. A larger one is only linked. */
export const mostInlineBytes = 1_000_000;
/** A call that is repeated within this time gets the creation of the first call. */
export const repeatedCallSeconds = 60;

/** The time limit of one whole attempt, with the body of the response. */
export const webhookAttemptMillis = 10_000;
/**
 * The time of each step of a copy: reading the picture, putting it into the client's bucket, and a further request
 * there. A picture has up to 30 MB, and the function of an attempt 30 s.
 */
export const bucketMillis = { read: 5_000, put: 12_000, other: 7_000 } as const;
/** The time of each request by which a new setting is tried out. */
export const bucketProbeMillis = { put: 5_000, other: 5_000 } as const;
export const webhookResponseBytes = 16 * 1024;
/**
 * The execution makes the first attempt at once. The attempt takes at most 10 s, and the second one is due
 * 60 s after it. The reconciler checks the webhook later than that. So the first attempt need not move the
 * entry in the index of open work.
 */
export const webhookGraceMillis = 110_000;

/** How long a shared cache, such as CloudFront's, may serve a result without asking the bucket. */
export const sharedCacheSeconds = 30;

/** How long a signed address of a result opens it: at least, without a choice of the account, and at most. */
export const resultMinutes = { least: 1, usual: 60, most: 7 * 24 * 60 } as const;
/** Who can open a result: everybody who has its address, or everybody who has an unexpired signed address. */
export const resultAccesses = ['unguessable', 'signed'] as const;
export type ResultAccess = (typeof resultAccesses)[number];
/** The setting of a service. "off": it has no keys that sign addresses. */
export type ServiceAccess = ResultAccess | 'off';

/** The prefix of results whose addresses are signed. CloudFront requires a signature only below it. */
export const signedPrefix = 'results/signed/';

/** The longest side in pixels of each thumbnail of a result. */
export const thumbnailSides = { small: 96, large: 480 } as const;
