/**
 * Each statement of the interface and of the decisions beside it, and the tests that prove
 * it. A proof is a test file and the title of a test or of a group in it, as it is written
 * there; conformance.test.ts fails when one of them is gone.
 */

export interface Row {
  readonly states: string;
  /** "file: title"; files below test/, without their ending. */
  readonly provenBy: readonly [string, ...string[]];
}

export interface Part {
  readonly part: string;
  readonly rows: readonly Row[];
}

const row = (states: string, ...provenBy: [string, ...string[]]): Row => ({ states, provenBy });

export const parts: readonly Part[] = [
  {
    part: 'Creation (parts 2 and 3)',
    rows: [
      row(
        'A submitted request is answered 202 and is a creation, with Location and Retry-After: 2',
        'api/creations: queued, as the 202 shows it, with Location and Retry-After: 2',
      ),
      row(
        'Fields of a creation, queued',
        'api/creations: queued, as the 202 shows it, with Location and Retry-After: 2',
        'core/creation: queued, has no result and no error',
      ),
      row('Fields of a creation, processing', 'api/creations: processing'),
      row(
        'Fields of a creation, completed: result_urls, results, result_expires_at',
        'api/creations: completed, with results that can be fetched as they are described',
      ),
      row(
        'Fields of a creation, failed: error is one of the fixed messages, retryable, amount_refunded',
        'api/creations: failed (%s), with the fixed message, retryable, the cost as charged and refunded in full',
      ),
      row(
        'id is a UUIDv7',
        'api/creations: its id sorts by its time',
        'api/creations: queued, as the 202 shows it, with Location and Retry-After: 2',
      ),
      row(
        'A failed creation is refunded automatically and in full, once',
        'api/quote-and-balance: is whole again after a failure: charged up front, refunded in full',
        'workflow/busy-table: that conflicts at the refund is made later, once',
      ),
      row(
        'No provider name, job id or cost is shown to a client',
        'api/creations: and no provider name, provider job id or provider cost',
        'api/provider-policy: names no provider, no provider model and no provider cost',
      ),
      row(
        'Results are kept 30 days; afterwards the lists are empty and the date lies in the past',
        'api/creations: afterwards result_urls and results are empty, result_expires_at lies in the past, and the file is gone',
      ),
      row(
        'Every accepted creation ends: in time, or refunded after its deadline with message 5',
        'workflow/reconciler: whose execution is stuck is refunded by the reconciler with message 5, and announced once',
        'workflow/kill: between charge and start: the reconciler starts it, and the client that lost its answer gets that creation',
      ),
    ],
  },
  {
    part: 'GET /models (parts 2 and 4)',
    rows: [
      row(
        'Lists the catalog with the fields of the decisions',
        'api/provider-policy: with all providers: every model, with everything that it can do',
      ),
      row(
        "Resolutions, ratios, formats and prices are those of the account's enabled providers",
        'api/provider-policy: with one provider: resolutions, ratios and prices that this one renders',
      ),
      row(
        'A model without an enabled provider is listed as unavailable, with the reason',
        'api/provider-policy: a model without an enabled provider is listed as unavailable, and why',
      ),
      row('A hidden model is absent', 'api/provider-policy: a hidden model is absent'),
      row(
        'The defaults are what the account can render, and a request without them renders so',
        'functions/list-models: a model that is available renders the least request with exactly the defaults and the price that are listed',
        'api/provider-policy: with the second sandbox alone: the defaults that this one renders, and the least request is rendered so',
      ),
    ],
  },
  {
    part: 'POST /images/generate: the request (part 4)',
    rows: [
      row(
        'Every field: type, length, allowed values',
        'api/request: a field of POST /images/generate that may be so',
        'api/request: a field of POST /images/generate that may not: 400 ERR_INVALID_REQUEST, named in details.errors',
      ),
      row('Unknown fields are refused, one item each', 'api/request: two unknown fields, one item each'),
      row(
        'null for an optional field means left out',
        'api/request: null in every optional field',
        'api/idempotency: null in an optional field and the field left out are the same request',
      ),
      row(
        'metadata keeps any key faithfully; an empty key or a lone surrogate is refused',
        'adapters/dynamodb/metadata: Metadata comes back as it was sent, whatever its names and values are',
        'api/creations: with metadata under whatever names the client chose',
        'api/request: an empty metadata key',
        'api/request: half a surrogate pair in a metadata key',
      ),
      row(
        'image_urls: http or https, at most 2048 characters, no userinfo; told with the body, for a quote too',
        'core/client-url: %s for a %s is %s where only public addresses are allowed',
        'api/webhook-target: a quote refuses an address by the same rules as far as they need no network',
      ),
      row(
        'A prompt is required unless image_urls has an item',
        'api/request: no prompt and no source image',
        'api/source-images: may stand for the prompt',
      ),
      row(
        'Body: UTF-8 JSON object, at most 256 KiB, application/json',
        'api/request: the body',
        'api/request: of exactly 256 KiB is read',
      ),
      row("output_format is one of the model's", 'api/request: an output_format that the model has not'),
      row(
        'Prices depend on model, resolution and number of source images alone',
        'api/quote-and-balance: quotes what is then charged: by model, resolution and number of source images, and nothing else',
      ),
      row(
        '404 ERR_MODEL_NOT_FOUND: absent and hidden alike',
        'api/provider-policy: for a model that does not exist and for one that is hidden from the account: the same but for its name',
      ),
      row(
        '400 provider_policy_no_route: by resolution',
        'api/provider-policy: when no enabled provider renders the model at the resolution',
      ),
      row(
        '400 provider_policy_no_route: by aspect ratio',
        'api/provider-policy: when no enabled provider renders the model at the aspect ratio',
      ),
      row(
        '400 provider_policy_no_route: what the model never renders',
        'api/provider-policy: when the model never renders the resolution or the ratio',
      ),
      row(
        '503 no_provider_enabled: nothing charged, clears when switched back on',
        'api/provider-policy: when no provider of the model is enabled; nothing is charged; clears when one is switched back on',
      ),
      row(
        '402 when wallet plus credit line does not cover the cost',
        'api/quote-and-balance: the wallet plus credit line does not cover the cost: required, available, currency and top_up_url',
      ),
      row(
        'Order of checks: nothing is fetched for a request that will be refused',
        'api/source-images: are not fetched for a request that will be refused',
        'api/limits: is budget, balance, quota',
        'api/idempotency: is replayed even when the wallet is empty, the model hidden and its provider off by now',
      ),
      row(
        'No generated body is ERR_INTERNAL, and none that is refused moves money',
        'api/properties: no generated request is answered ERR_INTERNAL, and what it pays is its cost when accepted and nothing when refused',
        'api/properties: no generated bytes are answered ERR_INTERNAL, and none of them moves money',
      ),
    ],
  },
  {
    part: 'webhook_url at submission (parts 4 and 8)',
    rows: [
      row(
        'HTTPS, port 443 or 1024 and above, at most 2048 characters, no userinfo, public addresses only; nothing charged',
        'api/webhook-target: a webhook_url that is refused fails the request with 400 ERR_INVALID_REQUEST, and nothing is charged',
        'api/webhook-target: a webhook_url that may be used is accepted and shown as pending',
      ),
      row(
        'Hostile forms of an address are refused, ordinary public ones accepted',
        'api/hostile-address: is refused as a webhook target, at submission and at every attempt, and as a source image',
        'api/hostile-address: ordinary public addresses',
      ),
      row(
        'Checked again and pinned at every attempt',
        'api/hostile-address: a name that turns private between submission and delivery is not connected to',
        'api/hostile-address: a connection goes to the address that was checked, though the name would now say another',
      ),
    ],
  },
  {
    part: 'Source images (part 4)',
    rows: [
      row(
        'Address not allowed: 400, image_urls[i]',
        'api/source-images: %s: refused_target',
        'api/source-images: a redirect to an address that is not allowed: refused_target',
      ),
      row(
        'DNS, connection, TLS: 502, retryable',
        'api/source-images: a name that does not resolve: retryable',
        'api/source-images: a connection that is refused: retryable',
        'api/source-images: no TLS where TLS was promised: retryable',
        'api/source-images: a connection that breaks off in the middle: retryable',
      ),
      row(
        'Time-out of 5 s, a drip included: 502, retryable',
        'api/source-images: a server that never answers, and one that drips: each ended after 5 s, retryable',
      ),
      row('5xx and 429: 502, retryable', 'api/source-images: origin answers %i: retryable'),
      row('Other 4xx: 502, not retryable', 'api/source-images: origin answers %i: not retryable'),
      row(
        'At most 3 redirects: a fourth is 502, not retryable',
        'api/source-images: three redirects are followed, relative ones too; a fourth is too many: not retryable',
      ),
      row(
        'Not JPEG, PNG or WebP by its bytes; over 10 MB; sides; megapixels: 400',
        'api/source-images: a source image that cannot be used: 400 with its field, nothing charged',
        'api/source-images: %s is accepted, by its bytes',
      ),
      row(
        'A decompression bomb is told by its header',
        'api/source-images: a decompression bomb, by what its header claims',
      ),
      row(
        'details.input_index is the zero-based place; no address in details',
        'api/source-images: input_index is the zero-based place of the image in image_urls',
        'api/source-images: the answer names no address and no credential',
      ),
      row(
        'At most four at a time, order kept',
        "api/source-images: ten are fetched at most four at a time, and kept in the request's order",
      ),
      row(
        "Copied into the service's own bucket",
        "api/source-images: are copied byte for byte into the service's own bucket, under a name that cannot be guessed, with their true type",
      ),
      row('Gone within 48 h', 'api/source-images: are gone within 48 hours'),
    ],
  },
  {
    part: 'Idempotency (parts 4 and 7)',
    rows: [
      row(
        'Same key, same request: 202 with the creation in its current state, Idempotent-Replayed: true, one charge',
        'api/idempotency: is answered 202 with the same creation, Idempotent-Replayed: true, and charged once',
        'api/idempotency: shows the creation in its current state',
      ),
      row(
        'Also when both arrive at once',
        'api/idempotency: sent at once, makes one creation and one charge',
        'api/concurrency-money: make one creation and one charge, and all are answered 202 with it',
      ),
      row(
        'Same key, other request: 400 idempotency_key_mismatch',
        'api/idempotency: %s: 400 idempotency_key_mismatch, nothing charged',
      ),
      row('A key belongs to one account', 'api/idempotency: of another account is a request of its own'),
      row(
        'After a refusal: a new request',
        'api/idempotency: after a refusal, for the same or for another request',
      ),
      row(
        'After 24 h: a new request',
        'api/idempotency: after 24 hours is a new request, and not a moment before',
      ),
      row(
        'After its creation failed: at most one unrefunded charge a key',
        'api/idempotency: after its creation failed and was refunded: at most one unrefunded charge a key',
        'api/idempotency: and of many who come at once after a failure, one is new',
      ),
      row(
        '1 to 255 printable ASCII characters, bare or quoted',
        'api/idempotency: is the same bare and quoted',
        'api/idempotency: %s is refused with 400 and names the header',
      ),
    ],
  },
  {
    part: 'GET /creations/{id} (part 4)',
    rows: [
      row(
        'A non-terminal GET carries Retry-After',
        'functions/get-creation: of a creation that is %s says %j in Retry-After',
        'api/creations: processing',
      ),
      row(
        'Absent, foreign and malformed ids: 404 ERR_NOT_FOUND, byte-identical but for the request id',
        'api/creations: a foreign, an absent and a malformed creation id are byte-identical but for the request id',
      ),
      row(
        'Faster than the minimum interval: 429 poll_interval',
        'api/limits: of one second, for each creation: 429 ERR_RATE_LIMIT, poll_interval, Retry-After 1',
      ),
    ],
  },
  {
    part: 'Authentication (part 5)',
    rows: [
      row('Authorization: Bearer, or X-API-Key', 'api/authentication: is taken from %s'),
      row(
        'Authorization wins over X-API-Key',
        'api/authentication: in Authorization wins over one in X-API-Key, whatever it holds',
      ),
      row(
        '401 api_key_missing',
        'api/authentication: api_key_missing: neither header',
        'api/authentication: api_key_missing: Authorization without a key',
      ),
      row('401 api_key_invalid', 'api/authentication: api_key_invalid: a key that is not recognised'),
      row(
        'Authorization without Bearer is 401 api_key_invalid, and counted',
        'functions/authenticate: with a key that has no scheme before it',
      ),
      row(
        'A bad checksum costs no look-up',
        'api/authentication: api_key_invalid: a bad checksum, which costs no look-up of account or key',
      ),
      row(
        'Revocation holds from the next request on',
        'api/authentication: api_key_invalid: a revoked key, from the very next request on',
      ),
      row(
        '403 ERR_ACCOUNT_DISABLED',
        'api/authentication: ERR_ACCOUNT_DISABLED, account_disabled: its account is disabled',
      ),
      row(
        '403 ERR_API_SUSPENDED',
        'api/authentication: ERR_API_SUSPENDED, api_suspended: its API access is paused',
      ),
      row(
        'A 401 carries WWW-Authenticate: Bearer',
        'api/authentication: 401 ERR_API_KEY_INVALID with WWW-Authenticate: Bearer',
      ),
      row(
        'The plain form, as a setting',
        'api/authentication: a deployment with the plain form',
        'api/authentication: answers {detail: %s}, %i',
        'api/authentication: answers {detail: %s}, 403',
      ),
      row(
        'Every endpoint requires a key; authentication comes before 404',
        'api/authentication: every operation requires a key',
        'api/authentication: authentication comes before 404: %s',
      ),
      row(
        'The prefix and 40 characters; only a hash is kept',
        'api/authentication: is the live prefix and 40 characters',
        'api/authentication: is kept as its hash only',
      ),
      row(
        '20 rejections of one address a minute: 429 burst_block, Retry-After of at most 120; a valid key does not pass',
        'api/burst-block: are answered as such; from then on everything is 429 burst_block with a Retry-After of at most 120 s, for a valid key too',
        'api/burst-block: leave every other address alone',
      ),
      row('A 401 loop blocks all API traffic', 'api/burst-block: of 401 block all API traffic from there'),
      row(
        'A 403 loop blocks the public API only',
        'api/burst-block: of 403, %s, block the public API only',
        'api/burst-block: of both kinds at once: a 403 loop never narrows the block of a 401 loop',
      ),
      row(
        'The block ends after 120 s',
        'api/burst-block: a block ends by itself 120 seconds after the last rejection, and requests meanwhile do not lengthen it',
      ),
      row(
        'IPv6 addresses count by their /64',
        'core/client-address: is the same for a whole /64 and another for its neighbour',
      ),
    ],
  },
  {
    part: 'Webhooks (part 6)',
    rows: [
      row(
        'The headers and the payload of a delivery',
        'workflow/webhook-signature: comes with the headers and the payload that the interface lists',
        'core/webhook: are the five of the interface, the ones on top and the trio of Standard Webhooks',
      ),
      row(
        'The signature: HMAC-SHA-256 over timestamp, dot and raw body',
        'workflow/webhook-signature: is the one that openssl makes of timestamp, dot and raw body',
      ),
      row(
        'A replaced secret verifies for 24 h, each one of several',
        'workflow/webhook-signature: goes on verifying in webhook-signature for 24 h; X-Webhook-Signature-256 is made with the new one at once',
        'workflow/webhook-signature: that was replaced twice within a day leaves three that verify, the current one first',
      ),
      row(
        'X-Webhook-Signature-256-Previous is made with the newest replaced secret while one is valid',
        'workflow/webhook-signature: goes on verifying in webhook-signature for 24 h; X-Webhook-Signature-256 is made with the new one at once',
        'core/webhook-secrets: the newest of two replaced secrets makes the previous signature',
      ),
      row(
        'A rotation may sign from 1 h or 24 h later: the old secret signs until then, and its 24 h begin then',
        'workflow/webhook-signature: that signs from later on leaves no gap: the old one signs until then, and verifies for 24 h after that',
        'core/webhook-secrets: while a rotation is pending, a secret that was replaced before it keeps its previous signature',
      ),
      row(
        'Rotation is never refused; each replaced secret is valid until 24 h after its own replacement took effect',
        'core/webhook-secrets: each of two replaced secrets has 24 h of its own',
        'core/webhook-secrets: two pending rotations take over one after the other: between them',
        'core/webhook-secrets: a second rotation may overtake a pending one',
      ),
      row(
        'A replaced secret that cannot be opened any more never stops a delivery',
        'functions/deliver-webhook: is sent without the signature of a replaced secret that nobody can open, and an operator is told',
        'workflow/webhook-reseal: a rotation of the webhook secret is enough: webhooks are sent at once, with an alarm until the lost secret is removed',
      ),
      row(
        'No secret issued: skipped, for good',
        'workflow/webhook-schedule: gets no webhook: the delivery is skipped, for good',
      ),
      row('Any 2xx is success', 'workflow/webhook-schedule: is sent no more after the first 2xx'),
      row(
        'Five attempts, 60, 120, 240, 480 s apart, the same bytes',
        'workflow/webhook-schedule: is sent at 0, 60, 180, 420 and 900 s, each time signed afresh over the same bytes, and then no more',
      ),
      row(
        '10 s an attempt',
        'workflow/webhook-schedule: is given 10 s, and has its next attempt 60 s after they are over',
      ),
      row(
        '410 ends the attempts; a redirect is a failed attempt',
        'workflow/webhook-schedule: is sent no more after a 410',
        'workflow/webhook-schedule: counts a redirect as a failure and does not follow it',
      ),
      row(
        'Redelivery: a new round of the same bytes',
        'workflow/webhook-operations: opens a new round of attempts: the same bytes, a delivery of its own, signed anew',
        'workflow/webhook-operations: is refused while the webhook is still pending, and for a delivery of another account',
      ),
      row(
        'A one-shot signed test delivery, at most one in 30 s',
        'workflow/webhook-operations: is one signed attempt: creation.completed, the nil UUID, cost 0, metadata {test: "true"}; it is logged and never repeated',
        'workflow/webhook-operations: may be sent once in 30 s for an account; a second one says when',
      ),
      row(
        'A log of deliveries, the newest first',
        'workflow/webhook-schedule: has a row an attempt in the delivery log, the newest first',
      ),
    ],
  },
  {
    part: 'Errors (part 7)',
    rows: [
      row(
        'Every error fits the envelope',
        'api/every-answer: every error fits the envelope: code, message and details and nothing else, with the status of its code',
        'api/errors: %s comes with the status that the interface gives it',
      ),
      row(
        'Every 429 and 503 carries Retry-After',
        'api/every-answer: every 429 and 503 carries Retry-After, in whole seconds of at least 1',
      ),
      row(
        'Every response carries X-Request-Id',
        'api/every-answer: every answer carries X-Request-Id',
        "api/request: is another for every request, and the one in the gateway's own header",
      ),
      row(
        'RateLimit headers on every authenticated answer',
        'api/every-answer: every authenticated answer carries RateLimit and RateLimit-Policy',
      ),
      row(
        'details.errors items are {field, code, message}',
        'api/request: a field of POST /images/generate that may not: 400 ERR_INVALID_REQUEST, named in details.errors',
      ),
      row(
        'ERR_CONTENT_POLICY is not returned in practice',
        'api/errors: is not returned: a prompt declined by the safety filter fails the creation with a full refund',
      ),
      row(
        'ERR_INTERNAL says nothing of its cause',
        'api/errors: says nothing of its cause, which the log has under the request id',
      ),
      row(
        "An unknown path names the API's root",
        'api/request: that is unknown is 404 ERR_NOT_FOUND, after authentication: GET %s',
      ),
      row(
        'An unknown path is 404, a wrong method the same with Allow',
        'api/request: that is unknown is 404 ERR_NOT_FOUND, after authentication: GET %s',
        'api/request: with a wrong method is the same, with Allow: %s %s',
      ),
      row(
        'Answers that API Gateway makes by itself have no envelope',
        'api/request: over 10 MB is answered by the gateway itself: 413, without the envelope',
        'local/gateway: answers by itself for no route and for a body over 10 MB, announced or not',
      ),
      row(
        '503 overloaded: nothing charged',
        'api/unavailable: 503 ERR_PROVIDER_UNAVAILABLE, overloaded: nothing charged',
        'api/busy-single-writes: for good makes each of these requests 503 overloaded, with Retry-After',
      ),
      row(
        'Conflicts and throttles that end are not seen by the client',
        'api/busy-single-writes: three times leaves %s as it would be',
      ),
      row(
        'Behind the charge, a look that fails is 202 with the creation and its Location',
        'api/busy-single-writes: behind the charge is 202 with the creation and its Location',
      ),
      row(
        "The charge's outcome stays unknown: 500, and the reconciler finds out",
        'api/unavailable: says nothing of the cause; the reconciler finds that it was made, and renders it',
      ),
      row(
        'The execution is definitely refused: reversed in full, message 6, no webhook, 503 provider_unavailable',
        'api/unavailable: %s: charge reversed in full, creation failed with message 6, no webhook',
      ),
      row(
        'Starting it is throttled or unclear: 202, the reconciler starts it',
        'api/unavailable: %s: the reconciler starts it',
      ),
      row(
        'The seven messages, word for word',
        'core/failure: are the seven of the interface, word for word',
        'workflow/messages: by [sandbox:$directive] says so word for word and gives everything back',
      ),
    ],
  },
  {
    part: 'Limits (part 8)',
    rows: [
      row(
        'POST rate, refused requests included: 429 account_rate',
        'api/limits: over the rate: 429 ERR_RATE_LIMIT, account_rate, to be tried again when the window ends',
        'api/limits: count those that are refused, and accepted submissions once',
        'api/limits: are 60 by default, and each account has its own',
      ),
      row(
        'Nothing is fetched or waited for by a request that its rate refuses',
        'api/rate-before-work: downloads one source image for each request within the rate, and none for the others',
        'api/rate-before-work: holds one answer for each replay within the rate, and none for the others',
      ),
      row(
        'GET rate',
        'api/limits: over the rate: 429 account_rate, and apart from POST',
        'api/limits: are 600 by default',
      ),
      row(
        'Concurrent creations: 429 with scope account',
        'api/limits: account, concurrent_creations: as many open as the account may have; room again when one ends',
        'api/limits: account: 20 by default',
      ),
      row(
        'Capacity of the service: 429 with scope service',
        'api/limits: service, capacity: 2,000 open creations by the last count',
      ),
      row(
        'Monthly budget of a key: 402 with cap, spent, resets_at',
        'api/limits: with cap, spent and resets_at; another key of the account is not concerned',
      ),
      row(
        'The month is UTC; a refund goes back to its own month',
        'api/limits: turns with the UTC month, and a refund goes back to the month of its charge',
        'core/creation: is that of UTC',
      ),
      row(
        'A wallet for three, 200 at once: three accepted, the others 402 with the right numbers; twenty times; with conflicts',
        'api/concurrency-money: a wallet that covers exactly three',
      ),
      row('The same for a monthly cap', 'api/concurrency-money: a monthly cap that covers exactly three'),
      row(
        'The same for a limit of five concurrent creations',
        'api/concurrency-limits: a limit of five concurrent creations',
      ),
      row('The same for a rate of sixty', 'api/concurrency-limits: a rate of sixty a minute'),
    ],
  },
  {
    part: 'Versions (part 9)',
    rows: [
      row('The root path has the segment v1', 'api/authentication: the API root carries the version v1'),
      row(
        'Deprecation, Sunset and Link for what goes away',
        'core/deprecation: a model that goes away says since when, until when and where to look, as the RFCs write it',
        'functions/model-sunset: before its sunset, a model that goes away is announced',
      ),
      row(
        'After its sunset a model is unavailable, and 404 on submit',
        'functions/model-sunset: from its sunset on, a model',
      ),
      row(
        'Six months ahead: the catalog refuses a shorter notice',
        'core/catalog: a sunset a day less than six months behind its deprecation',
      ),
    ],
  },
  {
    part: 'Money',
    rows: [
      row(
        'Integer micro-dollars inside, at most 6 decimals at the edge',
        'core/money: has at most six decimals as a JSON number',
        'api/quote-and-balance: and prices never show more than 6 decimals',
      ),
      row(
        'Every movement is a ledger row; the books balance',
        'core/ledger: finds nothing in books that balance',
        'workflow/messages: balance after all of it',
      ),
      row(
        'A top-up or adjustment repeats a reference only with the same amount; otherwise it is refused and says which amount stands',
        'admin/commands: takes a reference once, and refuses it with another amount',
        'admin/commands: is adjusted once for a reference, and each time without one',
      ),
      row(
        'A movement is made once, also when an answer is lost',
        'admin/wallet-lost-answers: a top-up is made once and told as made',
        'admin/wallet-lost-answers: an adjustment is made once, with one ledger row',
        'admin/wallet-lost-answers: a credit line is changed once and told as changed',
      ),
    ],
  },
  {
    part: 'Beyond the interface',
    rows: [
      row(
        'Prefer: wait: 200 when terminal in time',
        'api/prefer-wait: completed: 200 with the creation, its Location, and no Retry-After',
        'api/prefer-wait: failed with message %s: 200 with the creation',
      ),
      row(
        'Prefer: wait: 502 ERR_GENERATION_FAILED for messages 3, 4, 5 and 7',
        'api/prefer-wait: failed with message %s: 502 ERR_GENERATION_FAILED with creation_id, error and retryable; refunded in full',
      ),
      row(
        'Prefer: wait: 503 provider_unavailable for message 6',
        'api/prefer-wait: failed with message 6: 503 ERR_PROVIDER_UNAVAILABLE, provider_unavailable, with Retry-After',
      ),
      row(
        'Prefer: wait: 202 when it is not terminal in time',
        'api/prefer-wait: 202 as without it, after N seconds',
      ),
      row('Prefer: wait: N is at most 20', 'api/prefer-wait: %s waits at most %i s'),
      row(
        'POST /images/quote: price and route, nothing fetched, nothing charged',
        'api/quote-and-balance: names price, what would be rendered and whether the wallet covers it',
        'api/quote-and-balance: fetches nothing and charges nothing',
      ),
      row(
        'GET /creations: the newest first, by cursor',
        "api/creations: lists the account's creations, the newest first, each as GET /creations/{id} shows it",
        'api/creations: pages by limit and cursor without gap or repeat',
      ),
      row(
        'GET /creations by status and by model',
        'api/creations: shows the creations of one status or one model alone',
        'adapters/dynamodb/creation-page: A page of the creations that a filter wants',
      ),
      row(
        'A page never exceeds 5 MB: it ends earlier and says has_more',
        'functions/list-creations: ends before it has more than 5 MB as Lambda sends it, and its cursor goes on behind the last one shown',
      ),
      row(
        'An unknown query parameter is refused, on every operation',
        'api/request: that %s does not take is refused with 400 and its name',
      ),
      row(
        'GET /balance',
        'api/quote-and-balance: shows what can be spent, what is open, and what this key may still spend this month',
      ),
    ],
  },
];
