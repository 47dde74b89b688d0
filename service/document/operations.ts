/** What the document says of each operation: parameters, bodies and answers. */
import * as z from 'zod';
import { longestWaitSeconds, mostEvents } from '../contract/limits.ts';
import type { OperationName } from '../contract/operations.ts';
import { mostCount } from '../contract/request-fields.ts';
import { requestHeaders } from './headers.ts';
import type { Documented } from './responses.ts';
import { bucket, bucketRequest, copyRequest } from './schemas/bucket.ts';
import { creation, creationPage, creationStatus, userCreation } from './schemas/creation.ts';
import {
  endpoint,
  endpointChange,
  endpointList,
  endpointRequest,
  shownEndpointId,
} from './schemas/endpoints.ts';
import { imageRequest } from './schemas/image-request.ts';
import { modelList } from './schemas/models.ts';
import { problemCode, requestDoor, requestOutcome, requestPage } from './schemas/requests.ts';
import {
  balance,
  newUserToken,
  quote,
  upload,
  uploadRequest,
  user,
  userToken,
  userTokenId,
  userTokenRequest,
} from './schemas/values.ts';
import { eventPage } from './schemas/webhooks.ts';

const requests = {
  text: {
    model: 'sandbox-standard',
    prompt: 'a lighthouse at dusk',
    aspect_ratio: '16:9',
    metadata: { order: '4711' },
  },
  large: { model: 'sandbox-pro', prompt: 'a boat', resolution: '4K', aspect_ratio: '21:9' },
};

const shownCreation = z.union([creation, userCreation]);
const creationList = z.object({ data: z.array(shownCreation).min(1).max(mostCount) }).meta({
  id: 'CreationList',
  description: 'The creations of a request that names `count`, in the order of their seeds.',
});
const madeByRequest = z.union([creation, userCreation, creationList]);

const accepted = ['Location', 'Cost', 'IdempotentReplayed', 'PreferenceApplied'] as const;

const generateImage: Documented<'generateImage'> = {
  tag: 'Images',
  summary: 'Order an image',
  description:
    'Accepts a request, charges it, and answers at once, or with `Prefer: wait=N` once the creation has ended. Nothing is charged for a request that is refused. Send an `Idempotency-Key` with every request that you may have to repeat.',
  query: {},
  headers: { 'Idempotency-Key': requestHeaders.idempotencyKey, Prefer: requestHeaders.prefer },
  body: { schema: imageRequest, examples: requests },
  answers: {
    successes: [
      {
        status: 200,
        description:
          'Only with `Prefer: wait`: the creation has ended. It completed, or it failed through its own request. Of several, one at least did, and all have ended.',
        schema: madeByRequest,
        headers: accepted,
        examples: ['completed'],
      },
      {
        status: 202,
        description:
          'The creation is accepted and charged, now or by an earlier request with the same key. A list if the request names `count`.',
        schema: madeByRequest,
        headers: [...accepted, 'RetryAfter'],
        examples: ['accepted'],
      },
    ],
    refusals: [
      'noRoute',
      'maxCostExceeded',
      'idempotencyKeyMismatch',
      'accountCannotPay',
      'tokenBudgetExceeded',
      'tokenUsesExceeded',
      'overBalance',
      'overBudget',
      'overUserBudget',
      'modelNotFound',
      'tooManyOpen',
      'serviceIsFull',
      'inputFetchFailed',
      'generationFailed',
      'providerUnavailable',
      'noProviderEnabled',
    ],
    examples: {
      400: ['invalid-request'],
      402: ['over-balance', 'over-budget'],
      429: ['too-many-open', 'rate-used-up'],
      502: ['source-not-fetched', 'failed-while-waiting'],
      503: ['overloaded'],
    },
    concernsModel: true,
    takesBody: true,
  },
};

const quoteImage: Documented<'quoteImage'> = {
  tag: 'Images',
  summary: 'Ask for the price of an image',
  description:
    'Takes the body of an order, checks it, finds a route and names the price. It fetches nothing, charges nothing, and looks up no host name.',
  query: {},
  body: { schema: imageRequest, examples: requests },
  answers: {
    successes: [
      {
        status: 200,
        description: 'The price, and the image that the request would give.',
        schema: quote,
        headers: ['Cost'],
        examples: ['quote'],
      },
    ],
    refusals: ['noRoute', 'maxCostExceeded', 'modelNotFound', 'noProviderEnabled'],
    examples: { 400: ['invalid-request'] },
    concernsModel: true,
    takesBody: true,
  },
};

const listModels: Documented<'listModels'> = {
  tag: 'Account',
  summary: 'List the models',
  description:
    'The catalog as this account can use it. A model that cannot be used has `available` false, empty lists and a reason.',
  query: {},
  answers: {
    successes: [
      { status: 200, description: 'The catalog of this account.', schema: modelList, examples: ['models'] },
    ],
  },
};

const getBalance: Documented<'getBalance'> = {
  tag: 'Account',
  summary: 'Read the balance',
  description: 'What the account can spend, and the limits of the key of this request.',
  query: { user: user('Also tells what the key has spent for this user.').optional() },
  answers: {
    successes: [
      {
        status: 200,
        description: 'The balance of the account and the budgets of the key.',
        schema: balance,
        examples: ['balance'],
      },
    ],
  },
};

const createUpload: Documented<'createUpload'> = {
  tag: 'Uploads',
  summary: 'Announce an upload',
  description:
    'Gives a signed address. PUT the file there with the headers of `upload_headers`, and name the upload in `image_urls`. Nothing is charged.',
  query: {},
  body: { schema: uploadRequest, examples: { png: { content_type: 'image/png', bytes: 123_456 } } },
  answers: {
    successes: [
      { status: 201, description: 'The upload is announced.', schema: upload, examples: ['upload'] },
    ],
    refusals: ['tooManyUploads', 'tokenUsesExceeded'],
    takesBody: true,
  },
};

const listCreations: Documented<'listCreations'> = {
  tag: 'Creations',
  summary: 'List creations',
  description:
    'The creations of the account, the newest first. A creation that was just accepted may be missing for a moment. Continue as long as `has_more` is true: a page may be short, or even empty. A page never has more than 5 MB, and with `status`, `model` or `user` one request looks at 500 creations at most.',
  query: {
    limit: z
      .int()
      .min(1)
      .max(100)
      .optional()
      .meta({ description: 'The default is 20.', examples: [20] }),
    cursor: z.string().min(1).optional().meta({ description: 'The `next_cursor` of the answer before.' }),
    status: creationStatus.optional().meta({ description: 'Only creations of this status.' }),
    model: z.string().min(1).optional().meta({ description: 'Only creations of this model.' }),
    user: user('Only creations for this user, exactly as it was sent.').optional(),
  },
  answers: {
    successes: [
      { status: 200, description: 'A page of creations.', schema: creationPage, examples: ['creations'] },
    ],
  },
};

const listRequests: Documented<'listRequests'> = {
  tag: 'Account',
  summary: 'List requests',
  description:
    'The accepted and the refused requests of the account in the last 7 days, the newest first, from every door. A refused request is there if its key is genuine, even if the key has ended. After ten refusals with the same door, status and code in a minute, the further ones share one entry with their `count`. The count is at least what happened: a write that the table refuses is not repeated. Continue as long as `has_more` is true.',
  query: {
    limit: z
      .int()
      .min(1)
      .max(100)
      .optional()
      .meta({ description: 'The default is 20.', examples: [20] }),
    cursor: z.string().min(1).optional().meta({ description: 'The `next_cursor` of the answer before.' }),
    outcome: requestOutcome.optional().meta({ description: 'Only accepted or only refused requests.' }),
    status: z
      .string()
      .regex(/^[45](xx|\d\d)$/)
      .optional()
      .meta({ description: 'Only refusals with this status, or with `4xx` or `5xx`.', examples: ['429'] }),
    code: problemCode.optional().meta({ description: 'Only refusals with this code.' }),
    key: z
      .string()
      .regex(/^[0-9A-Za-z]{6}$/)
      .optional()
      .meta({ description: 'Only requests of the key with this id.' }),
    door: requestDoor.optional().meta({
      description: 'Only requests of this door. Accepted requests are shown for `portal` alone.',
    }),
    from: z.iso
      .datetime({ offset: true })
      .optional()
      .meta({ description: 'Only requests from this time on.' }),
    to: z.iso.datetime({ offset: true }).optional().meta({ description: 'Only requests until this time.' }),
  },
  answers: {
    successes: [
      { status: 200, description: 'A page of requests.', schema: requestPage, examples: ['requests'] },
    ],
  },
};

const getCreation: Documented<'getCreation'> = {
  tag: 'Creations',
  summary: 'Read a creation',
  description:
    'Poll a creation at most once a second. `Retry-After` says when the next poll makes sense. An id that does not exist, is malformed, or belongs to another account gets the same 404.',
  query: {},
  answers: {
    successes: [
      {
        status: 200,
        description: 'The creation as it is now.',
        schema: shownCreation,
        headers: ['RetryAfterWhileOpen'],
        examples: ['completed', 'accepted'],
      },
    ],
    refusals: ['notFound', 'polledTooSoon'],
    concernsModel: true,
  },
};

const cancelCreation: Documented<'cancelCreation'> = {
  tag: 'Creations',
  summary: 'Cancel a creation',
  description:
    'Cancels a creation while nothing was sent to a provider, and later when the provider confirms that it has stopped, so the answer can take some seconds. The creation fails with its full refund. A repetition gets the same answer, so the request needs no `Idempotency-Key`. It needs no body either.',
  query: {},
  answers: {
    successes: [
      {
        status: 200,
        description: 'The creation is cancelled, by this request or by an earlier one.',
        schema: shownCreation,
        examples: ['cancelled'],
      },
    ],
    refusals: ['notCancellable', 'notFound'],
    examples: { 400: ['not-cancellable'] },
    takesBody: true,
  },
};

const deleteCreation: Documented<'deleteCreation'> = {
  tag: 'Creations',
  summary: 'Delete the content of a creation',
  description:
    'Erases prompt, metadata, user, address and body of the webhook, images and rows of the delivery log of a creation that has ended. Its id, status, cost and times stay for the books, with `erased_at`. The texts are gone with the answer, the images within a minute, and everything within 32. A webhook that is still owed is not sent any more. A repetition gets the same answer.',
  query: {},
  answers: {
    successes: [{ status: 204, description: 'The content is erased, by this request or by an earlier one.' }],
    refusals: ['notDeletable', 'notFound'],
    examples: { 400: ['not-deletable'] },
  },
};

const deleteResults: Documented<'deleteResults'> = {
  tag: 'Creations',
  summary: 'Delete the images of a creation',
  description:
    'Deletes the images of a completed creation, with their thumbnails. No address of theirs gives anything any more, after a minute at the latest. The creation keeps its texts, its webhook and its delivery log, and shows no results, as after `result_expires_at`. A webhook that is still owed keeps the body that was signed first. A repetition gets the same answer.',
  query: {},
  answers: {
    successes: [
      { status: 204, description: 'The images are deleted, by this request or by an earlier one.' },
    ],
    refusals: ['noResults', 'notFound'],
    examples: { 400: ['no-results'] },
  },
};

const listEvents: Documented<'listEvents'> = {
  tag: 'Creations',
  summary: 'List events',
  description:
    'What happened behind a cursor, the oldest first: an event for every creation that ended, with or without `webhook_url`, and one more for every redelivery of its webhook. Keep `next_cursor` and ask with it again. No event is skipped, and the same cursor gives the same events again, with newer ones behind them. Events are shown for 30 days. A cursor has no end of its own, and it belongs to its account. At most two answers of an account are held at once; a third one comes at once.',
  query: {
    after: z.string().min(1).optional().meta({
      description:
        'The `next_cursor` of an earlier answer. Without it, the answer begins now: it has no event, but a cursor.',
    }),
    limit: z
      .int()
      .min(1)
      .max(mostEvents)
      .optional()
      .meta({ description: 'The default is 20.', examples: [20] }),
    wait: z
      .int()
      .min(0)
      .max(longestWaitSeconds)
      .optional()
      .meta({
        description: 'Holds the answer until there is an event, or for so many seconds. The default is 0.',
        examples: [0],
      }),
    include: z.literal('notices').optional().meta({ description: 'Also shows the notices of the account.' }),
  },
  answers: {
    successes: [
      {
        status: 200,
        description: 'The events behind the cursor.',
        schema: eventPage,
        examples: ['events'],
      },
    ],
  },
};

const createUserToken: Documented<'createUserToken'> = {
  tag: 'User tokens',
  summary: 'Mint a token for a user',
  description:
    'Mints a token that the browser or the app of one user may have: for minutes, up to a spend limit. A token acts for the key that minted it, so it ends with the key, and every budget of the key counts. It may list models, ask for prices, order images, announce uploads, and read and cancel creations of its user. A repetition mints another token.',
  query: {},
  body: {
    schema: userTokenRequest,
    examples: {
      page: { user: 'alice', spend_limit: 0.4, origins: ['https://app.example.com'] },
    },
  },
  answers: {
    successes: [
      { status: 201, description: 'The token is minted.', schema: newUserToken, examples: ['minted'] },
    ],
    takesBody: true,
  },
};

const getUserToken: Documented<'getUserToken'> = {
  tag: 'User tokens',
  summary: 'Read a token',
  description: 'What a token may do and has done, for the key that minted it, until a day after its end.',
  id: userTokenId,
  query: {},
  answers: {
    successes: [
      { status: 200, description: 'The token as it is now.', schema: userToken, examples: ['user-token'] },
    ],
    refusals: ['tokenNotFound'],
  },
};

const revokeUserToken: Documented<'revokeUserToken'> = {
  tag: 'User tokens',
  summary: 'Revoke a token',
  description:
    'Ends a token at once, with any key of the account. Creations that it has made go on. A repetition gets the same answer.',
  id: userTokenId,
  query: {},
  answers: {
    successes: [
      {
        status: 200,
        description: 'The token is revoked, by this request or by an earlier one.',
        schema: userToken,
        examples: ['revoked-token'],
      },
    ],
    refusals: ['tokenNotFound'],
    takesBody: true,
  },
};

const endpointBody = {
  url: 'https://example.com/hooks/darkroom',
  events: ['creation.completed', 'creation.failed'],
};

const listEndpoints: Documented<'listEndpoints'> = {
  tag: 'Webhook endpoints',
  summary: 'List the endpoints',
  description:
    'The endpoints of the account. They get the events of every creation whose request names no `webhook_url`, and the notices that they ask for.',
  query: {},
  answers: {
    successes: [
      { status: 200, description: 'All endpoints.', schema: endpointList, examples: ['endpoints'] },
    ],
  },
};

const createEndpoint: Documented<'createEndpoint'> = {
  tag: 'Webhook endpoints',
  summary: 'Add an endpoint',
  description:
    'Adds an address that gets events from now on, signed with the secret of the account. An account has at most ten.',
  query: {},
  headers: { 'Idempotency-Key': requestHeaders.idempotencyKey },
  body: { schema: endpointRequest, examples: { backend: endpointBody } },
  answers: {
    successes: [
      {
        status: 201,
        description: 'The endpoint is added, now or by an earlier request with the same key.',
        schema: endpoint,
        headers: ['IdempotentReplayed'],
        examples: ['endpoint'],
      },
    ],
    refusals: ['idempotencyKeyMismatch'],
    takesBody: true,
  },
};

const changeEndpoint: Documented<'changeEndpoint'> = {
  tag: 'Webhook endpoints',
  summary: 'Change an endpoint',
  description:
    'Changes the members that the body names. An endpoint that is switched off gets no further attempt, also of events that are under way.',
  id: shownEndpointId,
  query: {},
  body: { schema: endpointChange, examples: { off: { enabled: false } } },
  answers: {
    successes: [
      {
        status: 200,
        description: 'The endpoint as it is now.',
        schema: endpoint,
        examples: ['endpoint-off'],
      },
    ],
    refusals: ['endpointNotFound'],
    takesBody: true,
  },
};

const deleteEndpoint: Documented<'deleteEndpoint'> = {
  tag: 'Webhook endpoints',
  summary: 'Delete an endpoint',
  description: 'The endpoint gets no further attempt. Its deliveries stay in the log.',
  id: shownEndpointId,
  query: {},
  answers: {
    successes: [{ status: 204, description: 'The endpoint is deleted.' }],
    refusals: ['endpointNotFound'],
    takesBody: true,
  },
};

const bucketBody = {
  endpoint: 'https://s3.example.com',
  bucket: 'our-pictures',
  prefix: 'darkroom/',
  region: 'eu-central-1',
  credentials: { access_key_id: 'AKIAIOSFODNN7EXAMPLE', secret_access_key: 'wJalrXUtnFEMI-EXAMPLEKEY' },
};

const getBucket: Documented<'getBucket'> = {
  tag: 'Results',
  summary: 'Read the bucket for results',
  description: 'Where a copy of each picture goes. The keys are never shown.',
  query: {},
  answers: {
    successes: [{ status: 200, description: 'The bucket.', schema: bucket, examples: ['bucket'] }],
    refusals: ['bucketNotFound'],
  },
};

const setBucket: Documented<'setBucket'> = {
  tag: 'Results',
  summary: 'Set the bucket for results',
  description:
    'From now on the picture of each accepted request is copied into this bucket when it is completed. First the bucket has to take a small object, `darkroom-test.txt`, which is deleted if the keys allow that.',
  query: {},
  body: { schema: bucketRequest, examples: { aws: bucketBody } },
  answers: {
    successes: [{ status: 200, description: 'The bucket is set.', schema: bucket, examples: ['bucket'] }],
    takesBody: true,
  },
};

const copyAgain: Documented<'copyAgain'> = {
  tag: 'Results',
  summary: 'Copy a picture again',
  description:
    'Begins a new round of five attempts for one completed creation, also for one that is older than the bucket.',
  query: {},
  body: { schema: copyRequest, examples: { one: { creation_id: '01a1fea2-9323-7379-9194-0829ec068a25' } } },
  answers: {
    successes: [
      { status: 202, description: 'The copy is owed.', schema: creation, examples: ['copied-again'] },
    ],
    refusals: ['bucketNotFound', 'notCopied', 'notFound'],
    takesBody: true,
  },
};

const removeBucket: Documented<'removeBucket'> = {
  tag: 'Results',
  summary: 'Remove the bucket for results',
  description:
    'Nothing is copied any more, also what is owed. What lies in the bucket stays. A repetition gets the same answer.',
  query: {},
  answers: {
    successes: [{ status: 204, description: 'The account has no bucket.' }],
    takesBody: true,
  },
};

/** The documentation of every operation. An operation without one does not compile. */
export const documentation: { readonly [Name in OperationName]: Documented<Name> } = {
  listModels,
  generateImage,
  quoteImage,
  createUpload,
  listCreations,
  listRequests,
  listEvents,
  getBalance,
  getCreation,
  cancelCreation,
  deleteCreation,
  deleteResults,
  createUserToken,
  getUserToken,
  revokeUserToken,
  listEndpoints,
  createEndpoint,
  changeEndpoint,
  deleteEndpoint,
  getBucket,
  setBucket,
  copyAgain,
  removeBucket,
};
