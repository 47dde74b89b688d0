/**
 * Each statement of the contract with its clients, and the tests that prove the statement. A proof is a test
 * file and the title of a test or of a group in this file. conformance.test.ts fails when a file or a title is
 * gone.
 *
 * This file has more than 300 lines because it is one table. The parts of the table stand in the order of
 * docs/conformance.md.
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
    part: 'Creation',
    rows: [
      row(
        'A submitted request is answered 202 and is a creation, with Location and Retry-After: 2',
        'api/creations: A queued creation has exactly these fields, and its 202 has Location and Retry-After: 2',
      ),
      row(
        'Fields of a creation, queued',
        'api/creations: A queued creation has exactly these fields, and its 202 has Location and Retry-After: 2',
        'core/creation: A queued creation has no result and no error',
      ),
      row(
        'Fields of a creation, processing',
        'api/creations: A processing creation has exactly these fields',
      ),
      row(
        'Its Retry-After follows from the usual time of the route: long before it up to 10 s, around it 1 or 2 s',
        'functions/get-creation: The Retry-After of a running creation follows from the usual time of its route, without a further read',
        'core/poll-pace: A rendering of usually 60 s has %s (%i s) the pace %i s',
        'functions/walk-health: An attempt keeps the usual time of its route, from before the call on',
        'client/waits: A pace beyond the end of the wait costs no last look',
      ),
      row(
        'Fields of a creation, completed: result_urls, results, result_expires_at',
        'api/creations: A completed creation has exactly these fields, and its results can be fetched as they are described',
      ),
      row(
        'Fields of a creation, failed: error is one of the fixed messages, retryable, amount_refunded',
        'api/creations: A failed creation (%s) has the fixed message, retryable, the cost as charged and the full refund',
      ),
      row(
        'id is a UUIDv7',
        'api/creations: The ids of creations sort by time',
        'api/creations: A queued creation has exactly these fields, and its 202 has Location and Retry-After: 2',
      ),
      row(
        'A failed creation is refunded automatically and in full, once',
        'api/quote-and-balance: The balance is whole again after a failure: the charge came first and was refunded in full',
        'workflow/busy-table: A refund that meets conflicts is made later, and only once',
      ),
      row(
        'Open creations of the whole service stay within ±10 % of the setting serviceCapacity, for two write units a creation',
        'simulation/crowds: A full service has as many creations open as the setting says, within ten percent',
        'adapters/dynamodb/open-count: A change that fails does not fail its caller',
        'adapters/dynamodb/open-count: A creation whose end cannot be counted has ended',
        'stack/every-setting: The setting serviceCapacity is known to the functions that compare it, and to the alarm',
      ),
      row(
        'A closed service charges nothing, tells why, and goes on with everything else',
        'admin/service: A closed service refuses a new creation with the message of the operator, and charges nothing',
        'admin/service: An Idempotency-Key of an accepted creation still gets it, and an opened service accepts again',
      ),
      row(
        'No provider name, job id or cost is shown to a client',
        'api/creations: A creation shows no provider name, provider job id or provider cost',
        'api/provider-policy: The list names no provider, no provider model and no provider cost',
        'admin/figures: A creation, its quote and its webhook show no cost of a provider',
        'admin/figures: Usage has no figure of a provider',
      ),
      row(
        'results[].content_credentials is present or absent, read from the bytes, which are never changed',
        'vendors/content-credentials: An image of %s has exactly the bytes that the vendor sent',
        'core/content-credentials: A %s without a manifest has none',
        'core/content-credentials: A %s with a manifest has them',
        'core/content-credentials: A hostile %s costs a bounded number of reads, all inside the file',
        'core/creation: A result of a release that did not look for credentials says nothing about them',
      ),
      row(
        'Results are kept 30 days; afterwards the lists are empty and the date lies in the past',
        'api/creations: The lists result_urls and results are empty, result_expires_at lies in the past, and the file is gone',
      ),
      row(
        'Every accepted creation ends: in time, or refunded after its deadline as GenerationTimedOut',
        'workflow/reconciler: A creation whose execution is stuck is refunded as GenerationTimedOut by the reconciler, and announced once',
        'workflow/kill: After a kill between charge and start, the reconciler starts the creation, and the client that lost its answer gets that creation',
      ),
    ],
  },
  {
    part: 'GET /models',
    rows: [
      row(
        'Lists the catalog with the fields of the decisions',
        'api/provider-policy: With all providers, the list has every model with everything that the model can do',
      ),
      row(
        "Resolutions, ratios, formats and prices are those of the account's enabled providers",
        'api/provider-policy: With one provider, the list has the resolutions, ratios and prices that this provider renders',
      ),
      row(
        'A model without an enabled provider is listed as unavailable, with the reason',
        'api/provider-policy: A model without an enabled provider is listed as unavailable, with the reason',
      ),
      row(
        'Prices, models and providers that an operator sets hold from the next request on, in every endpoint',
        'vendors/own-gpu: renders its first picture after three commands, at its price',
        'vendors/own-comfyui: renders its first picture after three commands, by the workflow of the file, at its price',
        'vendors/own-gpu: is sold by every endpoint',
        'vendors/own-gpu: sells at the price of the moment, and nothing while it cannot be read',
        'core/sold-catalog: is refused when the item is older than the revision, is not there, or cannot be read',
      ),
      row(
        'The creations of a withdrawn model stay; a new request for the model is answered 404',
        'vendors/own-gpu: announces and withdraws a model, whose creations stay',
      ),
      row('A hidden model is absent', 'api/provider-policy: A hidden model is absent'),
      row(
        'The defaults are what the account can render, and a request without them renders so',
        'functions/list-models: An available model renders the least request with exactly the listed defaults and price',
        'api/provider-policy: With the second sandbox alone, the list has the defaults of that provider, and the least request is rendered with them',
      ),
    ],
  },
  {
    part: 'POST /images/generate: the request',
    rows: [
      row(
        'Every field: type, length, allowed values',
        'api/request-fields: the fields of POST /images/generate that are accepted',
        'api/request-fields: the fields of POST /images/generate that are refused',
      ),
      row(
        'Unknown fields are refused, one item each',
        'api/request-fields: two unknown fields, one item each',
      ),
      row(
        'null for an optional field means left out',
        'api/request-fields: null in every optional field',
        'api/idempotency: A null in an optional field and an absent field make the same request',
      ),
      row(
        'metadata keeps any key faithfully; an empty key or a lone surrogate is refused',
        'adapters/dynamodb/metadata: Metadata comes back as it was sent, whatever its names and values are',
        'api/creations: The metadata may have any names that the client chooses',
        'api/request-fields: an empty metadata key',
        'api/request-fields: half a surrogate pair in a metadata key',
      ),
      row(
        'image_urls: http or https, at most 2048 characters, no userinfo; told with the body, for a quote too',
        'core/client-url: The address %s for a %s is judged as %s where only public addresses are allowed',
        'api/webhook-target: the addresses of a quote, checked as far as this needs no network',
      ),
      row(
        'A prompt is required unless image_urls has an item',
        'api/request-fields: no prompt and no source image',
        'api/source-images: A source image may replace the prompt',
      ),
      row(
        'Body: UTF-8 JSON object, at most 256 KiB, application/json',
        'api/request: the body of POST /images/generate',
        'api/request: A body of exactly 256 KiB is read',
      ),
      row(
        "output_format is one of the model's",
        'api/request-fields: an output_format that the model has not',
      ),
      row(
        'Prices depend on model, resolution and number of source images alone',
        'api/quote-and-balance: The quoted price is charged later, and depends only on model, resolution and number of source images',
      ),
      row(
        '404 ERR_MODEL_NOT_FOUND: absent and hidden alike',
        'api/provider-policy: A model that does not exist and a model that is hidden from the account get the same answer apart from the name',
      ),
      row(
        '400 provider_policy_no_route: by resolution',
        'api/provider-policy: The code comes when no enabled provider renders the model at the resolution',
      ),
      row(
        '400 provider_policy_no_route: by aspect ratio',
        'api/provider-policy: The code comes when no enabled provider renders the model at the aspect ratio',
      ),
      row(
        '400 provider_policy_no_route: what the model never renders',
        'api/provider-policy: The code comes when the model never renders the resolution or the ratio',
      ),
      row(
        '503 no_provider_enabled: nothing charged, clears when switched back on',
        'api/provider-policy: The code comes when no provider of the model is enabled, nothing is charged, and enabling one clears the refusal',
      ),
      row(
        '402 when wallet plus credit line does not cover the cost',
        'api/quote-and-balance: The refusal of a wallet and credit line below the cost has required, available, currency and top_up_url',
      ),
      row(
        'Order of checks: nothing is fetched for a request that will be refused',
        'api/source-images: Source images are not fetched for a request that will be refused',
        'api/limits: The budget is checked first, then the balance, then the quota',
        'api/idempotency: The request is replayed even if the wallet is empty, the model hidden and its provider disabled by then',
      ),
      row(
        'No generated body is ERR_INTERNAL, and none that is refused moves money',
        'api/properties: No generated request is answered ERR_INTERNAL, an accepted request pays its cost, and a refused request pays nothing',
        'api/properties: No generated bytes are answered ERR_INTERNAL, and none of them moves money',
      ),
    ],
  },
  {
    part: 'webhook_url at submission',
    rows: [
      row(
        'HTTPS, port 443 or 1024 and above, at most 2048 characters, no userinfo, public addresses only; nothing charged',
        'api/webhook-target: a webhook_url that is refused fails the request with 400 ERR_INVALID_REQUEST, and nothing is charged',
        'api/webhook-target: a webhook_url that may be used',
      ),
      row(
        'Hostile forms of an address are refused, ordinary public ones accepted',
        'api/hostile-address: The address is refused as a webhook target, at submission and at every attempt, and as a source image',
        'api/hostile-address: ordinary public addresses',
      ),
      row(
        'Checked again and pinned at every attempt',
        'api/hostile-address: No connection is made to a name that turns private between submission and delivery',
        'api/hostile-address: The connection goes to the address that was checked, even if the name has another address by then',
      ),
    ],
  },
  {
    part: 'Source images',
    rows: [
      row(
        'Address not allowed: 400, image_urls[i]',
        'api/source-images: An image_url with %s is answered refused_target',
        'api/source-images: A redirect to an address that is not allowed is answered refused_target',
      ),
      row(
        'DNS, connection, TLS: 502, retryable',
        'api/source-images: A name that does not resolve is retryable',
        'api/source-images: A connection that is refused is retryable',
        'api/source-images: A host without TLS at an https address is retryable',
        'api/source-images: A connection that breaks off in the middle is retryable',
      ),
      row(
        'Time-out of 5 s, a drip included: 502, retryable',
        'api/source-images: A server that never answers and a server that drips are each ended after 5 s and are retryable',
      ),
      row('5xx and 429: 502, retryable', 'api/source-images: A host that answers %i is retryable'),
      row('Other 4xx: 502, not retryable', 'api/source-images: A host that answers %i is not retryable'),
      row(
        'At most 3 redirects: a fourth is 502, not retryable',
        'api/source-images: Three redirects are followed, also relative ones, and a fourth one is not retryable',
      ),
      row(
        'Not JPEG, PNG or WebP by its bytes; over 10 MB; sides; megapixels: 400',
        'api/source-images: a source image that cannot be used: 400 with its field, nothing charged',
        'api/source-images: The service accepts %s, judged by the bytes alone',
      ),
      row(
        'A decompression bomb is told by its header',
        'api/source-images: a decompression bomb, by what its header claims',
      ),
      row(
        'details.input_index is the zero-based place; no address in details',
        'api/source-images: The field input_index is the zero-based place of the image in image_urls',
        'api/source-images: The answer names no address and no credential',
      ),
      row(
        'At most four at a time, order kept',
        'api/source-images: Ten source images are fetched at most four at a time and keep the order of the request',
      ),
      row(
        "Copied into the service's own bucket",
        "api/source-images: A source image is copied byte for byte into the service's own bucket, under a name that cannot be guessed, with its true type",
      ),
      row('Gone within 48 h', 'api/source-images: The copies are gone within 48 hours'),
    ],
  },
  {
    part: 'Uploads',
    rows: [
      row(
        'POST /uploads answers 201 with id, image_url, upload_url, upload_headers and expires_at',
        'api/uploads: The answer has exactly these fields, and its address takes the announced bytes',
        'api/uploads: A body with %s is refused with its field',
        'docs/api-examples: The commands of an upload work as they are shown',
      ),
      row(
        'The PUT takes exactly the type and length that were announced',
        'api/uploads: The address refuses %s, and nothing is stored',
        'adapters/s3-uploads: The signature covers host, length and type, and holds for 15 minutes from the given time',
      ),
      row(
        'The PUT is possible for 15 minutes',
        'api/uploads: The address takes no bytes after 15 minutes, and a second time within them',
      ),
      row(
        'image_url can be used for 24 h, also by several creations, and mixed with addresses',
        'api/uploads: An upload can be used until 24 hours are over; then it is refused, and its place is free',
        'api/uploads: The bytes are copied like a fetched image, and may be used by several creations',
        'api/uploads: Addresses and uploads may be mixed, and keep the order of the request',
      ),
      row('The bytes are gone within 48 h', 'api/uploads: The bytes are gone within 48 hours'),
      row(
        "Another account's id, an expired or never filled one: 400, field image_urls[i], all alike",
        'api/uploads: An upload of another account, an unknown one and one that was never filled are answered alike',
        'api/uploads: The first item that cannot be used is named by its place',
      ),
      row(
        'The same checks as for source images, by the bytes',
        'api/uploads: An upload of %s is refused by its bytes',
      ),
      row(
        'At most 100 unused uploads an account, exact under concurrency',
        'api/uploads: Of two hundred requests at once exactly a hundred are accepted',
        'api/uploads: A creation that is accepted frees the place of its upload, and a refused one does not',
      ),
      row(
        'The bytes of a client are never served under our address',
        'api/uploads: The bytes of an upload are never served under an address of ours',
        'stack/resources: The policy of the bucket lets the distribution read results/* and nothing else',
      ),
    ],
  },
  {
    part: 'Idempotency',
    rows: [
      row(
        'Same key, same request: 202 with the creation in its current state, Idempotent-Replayed: true, one charge',
        'api/idempotency: The second request is answered 202 with the same creation and Idempotent-Replayed: true, and is charged once',
        'api/idempotency: The second request gets the creation in its current state',
      ),
      row(
        'Also when both arrive at once',
        'api/idempotency: Requests sent at once make one creation and one charge',
        'api/concurrency-money: The requests make one creation and one charge, and all are answered 202 with that creation',
      ),
      row(
        'Same key, other request: 400 idempotency_key_mismatch',
        'api/idempotency: A request with %s is answered 400 idempotency_key_mismatch, and nothing is charged',
      ),
      row(
        'A key belongs to one account',
        'api/idempotency: The same key of another account is a request of its own',
      ),
      row(
        'After a refusal: a new request',
        'api/idempotency: The key is free after a refusal, for the same request or another one',
      ),
      row(
        'After 24 h: a new request',
        'api/idempotency: After 24 hours the key is free for a new request, and not a moment earlier',
      ),
      row(
        'After its creation failed: at most one unrefunded charge a key',
        'api/idempotency: The key is free after its creation failed and was refunded, so a key has at most one charge that is not refunded',
        'api/idempotency: Of many requests at once after a failure, one makes a new creation',
      ),
      row(
        '1 to 255 printable ASCII characters, bare or quoted',
        'api/idempotency: The key is the same key bare and in quotes',
        'api/idempotency: A key that is %s is refused with 400, and the refusal names the header',
      ),
    ],
  },
  {
    part: 'GET /creations/{id}',
    rows: [
      row(
        'A non-terminal GET carries Retry-After',
        'functions/get-creation: The answer for a creation that is %s has the Retry-After %j',
        'api/creations: A processing creation has exactly these fields',
      ),
      row(
        'Absent, foreign and malformed ids: 404 ERR_NOT_FOUND, byte-identical but for the request id',
        'api/creations: A foreign, an absent and a malformed id get byte-identical answers, apart from the request id',
      ),
      row(
        'Faster than the minimum interval: 429 poll_interval',
        'api/limits: A second poll of a creation within a second is answered 429 ERR_RATE_LIMIT, poll_interval, with Retry-After 1',
      ),
    ],
  },
  {
    part: 'Authentication',
    rows: [
      row('Authorization: Bearer, or X-API-Key', 'api/authentication: A key is taken from %s'),
      row(
        'Authorization wins over X-API-Key',
        'api/authentication: A key in Authorization wins over a key in X-API-Key, whatever Authorization holds',
      ),
      row(
        '401 api_key_missing',
        'api/authentication: api_key_missing for a request without either header',
        'api/authentication: api_key_missing for Authorization without a key',
      ),
      row('401 api_key_invalid', 'api/authentication: api_key_invalid for a key that is not recognised'),
      row(
        'Authorization without Bearer is 401 api_key_invalid, and counted',
        'functions/authenticate: with a key that has no scheme before it',
      ),
      row(
        'A bad checksum costs no look-up',
        'api/authentication: A key with a bad checksum is answered api_key_invalid without a look-up of account or key',
      ),
      row(
        'Revocation holds from the next request on',
        'api/authentication: A revoked key is answered api_key_invalid from the very next request on',
      ),
      row(
        '403 ERR_ACCOUNT_DISABLED',
        'api/authentication: ERR_ACCOUNT_DISABLED, account_disabled, for a disabled account',
      ),
      row(
        '403 ERR_API_SUSPENDED',
        'api/authentication: ERR_API_SUSPENDED, api_suspended, for a suspended account',
      ),
      row(
        'A 401 carries WWW-Authenticate: Bearer',
        'api/authentication: 401 ERR_API_KEY_INVALID with WWW-Authenticate: Bearer',
      ),
      row(
        'The plain form, as a setting',
        'api/authentication: a deployment with the plain form of authentication failures',
        'api/authentication: The deployment answers {detail: %s} with %i',
        'api/authentication: The deployment answers {detail: %s} with 403',
      ),
      row(
        'Every endpoint requires a key; authentication comes before 404',
        'api/authentication: every operation requires a key',
        'api/authentication: Authentication comes before 404 for the path "%s"',
      ),
      row(
        'The prefix and 40 characters; only a hash is kept',
        'api/authentication: A key is the live prefix and 40 characters',
        'api/authentication: Only the hash of a key is stored',
      ),
      row(
        '20 rejections of one address a minute: 429 burst_block, Retry-After of at most 120; a valid key does not pass',
        'api/burst-block: After twenty rejections every request of the address is answered 429 burst_block with a Retry-After of at most 120 s, also with a valid key',
        'api/burst-block: Twenty rejections leave every other address alone',
      ),
      row(
        'A 401 loop blocks all API traffic',
        'api/burst-block: Twenty answers 401 block all API traffic of the address',
      ),
      row(
        'A 403 loop blocks the public API only',
        'api/burst-block: Twenty answers 403 of a %s account block the public API only',
        'api/burst-block: A loop of 403 never narrows the block of a loop of 401 that ends at the same time',
      ),
      row(
        'The block ends after 120 s',
        'api/burst-block: A block ends by itself 120 seconds after the last rejection, and requests during the block do not lengthen it',
      ),
      row(
        'IPv6 addresses count by their /64',
        'core/client-address: The counted address is the same for all hosts of a /64, and differs for the next /64',
      ),
    ],
  },
  {
    part: 'Webhooks',
    rows: [
      row(
        'The headers and the payload of a delivery',
        'workflow/webhook-signature: The webhook has the documented headers and payload',
        'core/webhook: The headers of an attempt are the documented ones and the three of Standard Webhooks',
      ),
      row(
        'The signature: HMAC-SHA-256 over timestamp, dot and raw body',
        'workflow/webhook-signature: The signature is what openssl makes of timestamp, dot and raw body',
        'docs/worked-signature: The headers are those that the service sends with the secret of the page',
      ),
      row(
        'A replaced secret verifies for 24 h, each one of several',
        'workflow/webhook-signature: The replaced secret verifies in webhook-signature for 24 h, and X-Webhook-Signature-256 is made with the new secret at once',
        'workflow/webhook-signature: Two rotations within a day leave three secrets that verify, the current one first',
      ),
      row(
        'X-Webhook-Signature-256-Previous is made with the newest replaced secret while one is valid',
        'workflow/webhook-signature: The replaced secret verifies in webhook-signature for 24 h, and X-Webhook-Signature-256 is made with the new secret at once',
        'core/webhook-secrets: The newest of two replaced secrets makes the previous signature',
      ),
      row(
        'A rotation may sign from 1 h or 24 h later: the old secret signs until then, and its 24 h begin then',
        'workflow/webhook-signature: A new secret that signs later leaves no gap: the old secret signs until then, and verifies for 24 h more',
        'core/webhook-secrets: While a rotation is pending, a secret that was replaced before it keeps its previous signature',
      ),
      row(
        'Rotation is never refused; each replaced secret is valid until 24 h after its own replacement took effect',
        'core/webhook-secrets: Each of two replaced secrets has 24 h of its own',
        'core/webhook-secrets: Two pending rotations take over one after the other: between them',
        'core/webhook-secrets: A second rotation may overtake a pending one',
      ),
      row(
        'A replaced secret that cannot be opened any more never stops a delivery',
        'functions/deliver-webhook-attempt: A replaced secret that nobody can open is left out of the signatures, and an operator is told',
        'workflow/webhook-reseal: A rotation of the webhook secret is enough: webhooks are sent at once, with an alarm until the lost secret is removed',
      ),
      row(
        'No secret issued: skipped, for good',
        'workflow/webhook-schedule: The delivery of an account without a secret is skipped for good',
      ),
      row(
        'Any 2xx is success',
        'workflow/webhook-schedule: The webhook is not sent again after the first 2xx',
      ),
      row(
        'Five attempts, 60, 120, 240, 480 s apart, the same bytes',
        'workflow/webhook-schedule: The webhook is sent at 0, 60, 180, 420 and 900 s, each time with a new signature over the same bytes, and then no more',
      ),
      row(
        '10 s an attempt',
        'workflow/webhook-schedule: An attempt may take 10 s, and the next attempt comes 60 s after these are over',
      ),
      row(
        '410 ends the attempts; a redirect is a failed attempt',
        'workflow/webhook-schedule: The webhook is not sent again after a 410',
        'workflow/webhook-schedule: A redirect counts as a failure and is not followed',
      ),
      row(
        'Redelivery: a new round of the same bytes',
        'workflow/webhook-operations: A redelivery opens a new round of attempts with the same bytes, a delivery of its own and a new signature',
        'workflow/webhook-operations: A redelivery is refused while the webhook is still pending, and for a delivery of another account',
      ),
      row(
        'A one-shot signed test delivery, at most one in 30 s',
        'workflow/webhook-operations: A test delivery is one signed attempt with the nil UUID, cost 0 and metadata {test: "true"}, which is logged and never repeated',
        'workflow/webhook-operations: An account may send a test delivery once in 30 s, and a refusal says when the next one may be sent',
      ),
      row(
        'A log of deliveries, the newest first',
        'workflow/webhook-schedule: The delivery log has one row for each attempt, the newest first',
      ),
    ],
  },
  {
    part: 'Notices',
    rows: [
      row(
        'X-Darkroom-Notice and never X-Webhook-Event; the signatures of webhooks',
        'workflow/notices: A notice is signed like a webhook, and its headers never look like the webhook of a creation',
        'workflow/notices: After a rotation a notice carries the signature of the previous secret, too',
      ),
      row(
        'Five attempts as for webhooks; none before a secret is issued',
        'workflow/notices: A notice whose receiver fails is sent at 0, 60, 180, 420 and 900 s, the same bytes each time, and then no more',
        'workflow/notices: The notice of an account without a secret is skipped for good',
      ),
      row(
        'The address has the rules of a webhook_url',
        'api/webhook-target: The address for notices is refused by the rules of a webhook_url: %s',
      ),
      row(
        'wallet.low: below the threshold, once a crossing',
        'workflow/notices: The account is told once that its wallet is low, and again after it was topped up',
        'workflow/notices: A refund that brings the wallet back takes the mark back',
      ),
      row(
        'wallet.empty: nothing left, or refused for balance',
        'workflow/notices: Nothing left is told with the last creation, and the refusals after it tell nothing more',
        'workflow/notices: The first request that the balance refuses tells that the wallet is empty, with what it needed',
      ),
      row(
        'key.cap_reached: 80 and 100 %',
        'workflow/notices: The cap is told at 80 and at 100 percent, once each, and anew when it changes',
        'workflow/notices: A request that the cap refuses tells 100 percent before the cap is spent',
      ),
      row(
        'key.cap_reached: daily, total and per user, too',
        'workflow/notices: One creation tells the daily and the total cap, and further creations and refusals tell neither again',
        'workflow/notices: The cap of a user is told with the user, at 80 percent and when it refuses a request',
      ),
      row(
        'webhook.failing: ten attempts in a row',
        'workflow/notices: Ten failed attempts in a row are told once, and again after a webhook was delivered',
      ),
      row(
        'Each crossing is told once, however many look',
        'workflow/notices: Two hundred creations at once tell each crossing of the wallet and of the cap once',
      ),
    ],
  },
  {
    part: 'Errors',
    rows: [
      row(
        'Every error fits the envelope',
        'api/every-answer: every error fits the envelope: code, message and details and nothing else, with the status of its code',
        'api/errors: The code %s comes with its documented status',
      ),
      row(
        'Every 429 and 503 carries Retry-After',
        'api/every-answer: every 429 and 503 carries Retry-After, in whole seconds of at least 1',
      ),
      row(
        'Every response carries X-Request-Id',
        'api/every-answer: every answer carries X-Request-Id',
        "api/request: Each request has its own id, which equals the gateway's own header",
      ),
      row(
        'RateLimit headers on every authenticated answer',
        'api/every-answer: every authenticated answer carries RateLimit and RateLimit-Policy',
      ),
      row(
        'details.errors items are {field, code, message}',
        'api/request-fields: the fields of POST /images/generate that are refused',
      ),
      row(
        'ERR_CONTENT_POLICY is not returned in practice',
        'api/errors: The code is never returned: a prompt that the safety filter rejects fails the creation with a full refund',
      ),
      row(
        'ERR_INTERNAL says nothing of its cause',
        'api/errors: The answer says nothing of its cause, and the log has the cause under the request id',
      ),
      row(
        "An unknown path names the API's root",
        'api/request: An unknown path is answered 404 ERR_NOT_FOUND after the authentication: GET %s',
      ),
      row(
        'An unknown path is 404, a wrong method the same with Allow',
        'api/request: An unknown path is answered 404 ERR_NOT_FOUND after the authentication: GET %s',
        'api/request: A wrong method is answered 404 with Allow: %s %s',
      ),
      row(
        'Answers that API Gateway makes by itself have no envelope',
        'api/request: A body over 10 MB is answered by the gateway itself with 413, without the envelope',
        'local/gateway: The gateway itself refuses an unknown route and a body over 10 MB, with or without a Content-Length',
      ),
      row(
        '503 overloaded: nothing charged',
        'api/unavailable: 503 ERR_PROVIDER_UNAVAILABLE, overloaded: nothing charged',
        'api/busy-single-writes: Conflicts without end make each of these requests 503 overloaded, with Retry-After',
      ),
      row(
        'Conflicts and throttles that end are not seen by the client',
        'api/busy-single-writes: Three conflicts do not change the answer of %s',
      ),
      row(
        'Behind the charge, a look that fails is 202 with the creation and its Location',
        'api/busy-single-writes: A throttled read after the charge is answered 202 with the creation and its Location',
      ),
      row(
        "The charge's outcome stays unknown: 500, and the reconciler finds out",
        'api/unavailable: The answer says nothing of the cause, and the reconciler finds the charge and renders the creation',
      ),
      row(
        'The execution is definitely refused: reversed in full as ServiceUnavailable, no webhook, 503 provider_unavailable',
        'api/unavailable: After %s the charge is reversed in full, the creation fails as ServiceUnavailable, and no webhook is sent',
      ),
      row(
        'Starting it is throttled or unclear: 202, the reconciler starts it',
        'api/unavailable: After %s the reconciler starts the creation',
      ),
      row(
        'The seven messages, word for word',
        'core/failure: The failures have the seven documented messages, word for word',
        'workflow/messages: A creation with [sandbox:$directive] has its documented message word for word and is refunded in full',
      ),
    ],
  },
  {
    part: 'Limits',
    rows: [
      row(
        'POST rate, refused requests included: 429 account_rate',
        'api/limits: A request above the rate is answered 429 ERR_RATE_LIMIT, account_rate, and succeeds when the window ends',
        'api/limits: A refused request counts, and an accepted submission counts once',
        'api/limits: The rate is 60 a minute by default, and each account has its own',
      ),
      row(
        'Nothing is fetched or waited for by a request that its rate refuses',
        'api/rate-before-work: The service downloads one source image for each request within the rate, and none for the others',
        'api/rate-before-work: The service holds one answer for each replay within the rate, and none for the others',
      ),
      row(
        'GET rate',
        'api/limits: A request above the rate is answered 429 account_rate, apart from the rate of POST requests',
        'api/limits: The rate is 600 a minute by default',
      ),
      row(
        'Concurrent creations: 429 with scope account',
        'api/limits: An account with as many open creations as it may have is refused, and accepted again when one of them ends',
        'api/limits: An account may have 20 open creations by default',
      ),
      row(
        'Capacity of the service: 429 with scope service',
        'api/limits: The service is full at 2,000 open creations by the last count',
      ),
      row(
        'Monthly budget of a key: 402 with cap, spent, resets_at',
        'api/limits: The refusal has cap, spent and resets_at, and another key of the account is not affected',
      ),
      row(
        'The month is UTC; a refund goes back to its own month',
        'api/limits: The budget starts anew with each UTC month, and a refund goes back to the month of its charge',
        'core/creation: The month of an instant is the month in UTC',
      ),
      row(
        'A wallet for three, 200 at once: three accepted, the others 402 with the right numbers; twenty times; with conflicts',
        'api/concurrency-money: a wallet that covers exactly three',
      ),
      row('The same for a monthly cap', 'api/concurrency-money: a monthly cap that covers exactly three'),
      row('The same for a daily cap', 'api/concurrency-money: a daily cap that covers exactly three'),
      row('The same for a total cap', 'api/concurrency-money: a total cap that covers exactly three'),
      row(
        'The same for a cap for each user',
        'api/concurrency-money: a cap for each user that covers exactly three',
      ),
      row(
        'Daily budget of a key: 402 daily_budget_exceeded; the day is UTC, and a refund goes back to its own day',
        'api/key-limits: The refusal has cap, spent and resets_at, and a refund gives room again',
        'core/caps: The day of an instant is the day in UTC, and the next day begins at midnight',
      ),
      row(
        'Total budget of a key: 402 total_budget_exceeded, which counts what was spent before it was set',
        'api/key-limits: The budget counts what was spent before it was set, and gets a refund back',
      ),
      row(
        'Budget for each user: 402 user_budget_exceeded with user; the key requires user',
        'api/key-limits: Each user has a budget of its own, which gets a refund back',
        'api/key-limits: A key with such a cap requires a user, in a submission and in a quote, but a replay gets its creation',
      ),
      row(
        'Of several exceeded budgets the refusal names the first: daily, monthly, total, user',
        'api/key-limits: The refusal names the first exceeded budget: daily, monthly, total, user',
      ),
      row(
        'A model that a key does not allow is absent from GET /models, and 404 on submission',
        'api/key-limits: A model that the key does not allow is absent from GET /models, and 404 on submission and quote',
      ),
      row(
        'An expired key is 401 api_key_invalid',
        'api/key-limits: A key works until it expires, and is answered 401 api_key_invalid from that moment on',
      ),
      row(
        'max_cost: 400 max_cost_exceeded with cost and max_cost, nothing charged; a replay returns the first creation',
        'api/key-limits: A price above max_cost is refused with both amounts, and nothing is charged; an equal price is accepted',
        'api/key-limits: A replay returns the first creation, and another max_cost is another request',
      ),
      row(
        'user: 1 to 64 characters, in creation, ledger row and the filter of GET /creations',
        'api/key-limits: The creation, its ledger row and the filter of GET /creations have the user as it was sent',
        'api/key-limits: The user takes part in the comparison of requests with one Idempotency-Key',
      ),
      row(
        'Usage by day, key, model and user, whose total is that of the ledger for each of them',
        'core/usage: Every grouping has the same total, which is that of the ledger',
        'admin/figures: The usage by %s is that of one account, and its total is the spend by the ledger',
        'admin/figures: Each line names its day, key, model or user',
      ),
      row(
        'X-Darkroom-Cost on every answer that charges or quotes',
        'api/key-limits: The header tells the price in USD on a 202, a replay, a 200 after a wait and a quote, and on nothing else',
      ),
      row(
        'The same for a limit of five concurrent creations',
        'api/concurrency-limits: a limit of five concurrent creations',
      ),
      row('The same for a rate of sixty', 'api/concurrency-limits: a rate of sixty a minute'),
      row(
        'The same over sockets, while every second transaction meets a conflict',
        'api/concurrency-conflicts: With conflicts in half of the transactions against $name, some may get 503 overloaded, but the count is never wrong',
      ),
    ],
  },
  {
    part: 'Versions',
    rows: [
      row(
        'The root path has the segment v1',
        'api/authentication: The root path of the API has the segment v1',
      ),
      row(
        'Deprecation, Sunset and Link for what goes away',
        'core/deprecation: A model that goes away has the headers Deprecation, Sunset and Link in the form of their RFCs',
        'functions/model-sunset: a model with a deprecation date, before its sunset',
      ),
      row(
        'After its sunset a model is unavailable, and 404 on submit',
        'functions/model-sunset: a model from its sunset on',
      ),
      row(
        'Six months ahead: the catalog refuses a shorter notice',
        'core/catalog-schema: a sunset one day less than six months after its deprecation',
      ),
      row(
        'The successor of a deprecated model is named, unless it is hidden from the caller',
        'core/catalog-schema: the successor of a model',
        'functions/model-sunset: The catalog names as successor %s',
      ),
      row(
        'Where a vendor tells what a picture costs, the operator sees it beside the cost by the catalog, and clients never see it',
        'adapters/providers/billed: A picture of %s for %j costs %d micro-dollars by its answer',
        'admin/figures: The report names each route whose vendor bills more than 5 % more or less than the catalog says',
        'core/creation: A creation never shows a provider, a job, a lease, a key or the body of a webhook',
      ),
      row(
        'A ComfyUI of the operator renders by workflows with named places, and no prompt changes the workflow',
        'adapters/providers/comfyui: Each answer of ComfyUI',
        'core/comfyui-workflow: The prompt %j stays text, whatever it contains',
        'vendors/every-row: whose vendor $vendor answers "$row" ($says) ends as $ends',
      ),
      row(
        'Every vendor shows every way to fail, or says why it cannot fail so',
        'vendors/ways: $vendor shows "$way" by a row, or says why it cannot fail so',
        'vendors/ways: every adapter',
      ),
      row(
        'A bill that makes no sense harms no creation',
        'adapters/providers/billed: An answer that makes no sense gives its picture without a bill',
        'vendors/every-row: whose vendor $vendor answers "$row" ($says) ends as $ends',
      ),
      row(
        'Prices follow a written margin rule',
        'core/catalog-file: The model %s is sold for at least 140 %% of the cost of its dearest route, rounded up to a half cent',
        'admin/margin-rule: the margin rule',
      ),
    ],
  },
  {
    part: 'Money',
    rows: [
      row(
        'Integer micro-dollars inside, at most 6 decimals at the edge',
        'core/money: An amount has at most six decimals as a JSON number',
        'api/quote-and-balance: Amounts and prices never show more than 6 decimals',
      ),
      row(
        'Every movement is a ledger row; the books balance',
        'core/audit/differences: The audit finds nothing when the books balance',
        'workflow/messages: The books balance after all of these creations',
      ),
      row(
        'The daily audit passes over no account, however often it is interrupted, and its memory does not grow with the books',
        'functions/audit-books: Every account is audited when the time is up after %i questions each time',
        'core/audit/audit-account: The parts together count what one audit counts',
        'tools/audit-bench: The audit counts every account, creation and row, and finds the one wrong cent',
      ),
      row(
        'The audit tells no difference that a movement between its reads made, and finds a wrong cent in a busy account',
        'core/audit/audit-account: A %s between any two reads is no difference',
        'core/audit/audit-account: One wrong cent is found in an account that is busy for sixty reads',
      ),
      row(
        'A top-up or adjustment repeats a reference only with the same amount; otherwise it is refused and says which amount stands',
        'admin/wallet: is topped up once for a reference, and a second amount with the same reference is refused',
        'admin/wallet: is adjusted once for a reference, and every time without a reference',
      ),
      row(
        'A movement is made once, also when an answer is lost',
        'admin/wallet-lost-answers: a top-up is made once and reported as made',
        'admin/wallet-lost-answers: an adjustment is made once, with one ledger row',
        'admin/wallet-lost-answers: a credit line is changed once and reported as changed',
      ),
    ],
  },
  {
    part: 'POST /creations/{id}/cancel',
    rows: [
      row(
        'While nothing was sent to a vendor: 200 and the creation, failed with message 7, cancelled_at and its full refund; retryable is true',
        'api/cancel: The answer is 200 and the creation: failed, cancelled, refunded in full and retryable',
        'core/creation: A cancelled creation is a failed one with the time of its cancel',
      ),
      row(
        'cancelled_at is null on every other creation',
        'api/creations: A queued creation has exactly these fields, and its 202 has Location and Retry-After: 2',
        'api/creations: A failed creation (%s) has the fixed message, retryable, the cost as charged and the full refund',
      ),
      row(
        'Cancelling a cancelled one is 200 again; it is refunded once and never completes; event creation.failed with the same field',
        'api/cancel: A cancelled creation stays cancelled: a repetition is 200 again, and its execution renders nothing',
        'api/cancel: Cancels that come at once all get 200, and the charge is given back once',
        'simulation/cancels: A thousand cancels meet a thousand renderings at random moments: the books are clean, each is told the truth, and no creation has two events',
      ),
      row(
        'Later, when the vendor confirms that it stopped (fal, Replicate)',
        'vendors/cancel: A cancel that the vendor confirms ends the creation, refunds it and sends one event at once',
        'vendors/cancel: The renderer learns of the cancel, tries no other route and goes on to the webhook',
      ),
      row(
        'Otherwise 400 ERR_INVALID_REQUEST, details {reason: "not_cancellable", status}',
        'api/cancel: A completed creation is answered 400 not_cancellable with its status',
        'api/cancel: A creation whose vendor answers in one call goes on',
        'vendors/cancel: A cancel that the vendor only noted is refused, and the creation completes',
      ),
      row(
        'The id of another account, an absent and a malformed id: the same 404',
        "api/cancel: An absent, a malformed and another account's id get the same 404, and nothing is cancelled",
      ),
      row(
        'A cancel counts as a POST',
        'api/cancel: A cancel counts as a POST, and a cancel over the rate cancels nothing',
      ),
      row(
        'The Idempotency-Key of a cancelled creation is free',
        'api/cancel: The Idempotency-Key of a cancelled creation is free, and a cancel reads none',
      ),
    ],
  },
  {
    part: 'Beyond the first edition of the API',
    rows: [
      row(
        'docs/openapi.json describes every operation; no answer, delivery or accepted request differs from it',
        'document/openapi-file: The file is current; npm run openapi writes it',
        'document/openapi-file: The file has every operation of the contract, with its method and its path',
        'document/undocumented: It is as documented: %s',
        'document/undocumented: It is not as documented: %s',
        'document/requests: The schema refuses what the API refuses, but for the rules that it cannot say',
        'simulation/simulation: No invariant breaks in ${seeds} seeds, and every kind of fault strikes',
      ),
      row(
        'Prefer: wait: 200 when terminal in time',
        'api/prefer-wait: A completed creation is answered 200 with its Location and without Retry-After',
        'api/prefer-wait: A creation that failed because %s is answered 200',
      ),
      row(
        'Prefer: wait: 502 ERR_GENERATION_FAILED for messages 3, 4, 5 and 7',
        'api/prefer-wait: A creation that failed as %s is answered 502 ERR_GENERATION_FAILED with creation_id, error and retryable, and is refunded in full',
      ),
      row(
        'Prefer: wait: 503 provider_unavailable for ServiceUnavailable',
        'api/prefer-wait: A creation that failed as ServiceUnavailable is answered 503 ERR_PROVIDER_UNAVAILABLE, provider_unavailable, with Retry-After',
      ),
      row(
        'Prefer: wait: 202 when it is not terminal in time',
        'api/prefer-wait: The answer is the ordinary 202 after the seconds of the header',
      ),
      row('Prefer: wait: N is at most 20', 'api/prefer-wait: The header %s waits at most %i s'),
      row(
        'POST /images/quote: price and route, nothing fetched, nothing charged',
        'api/quote-and-balance: A quote has the price, what would be rendered and whether the wallet covers the price',
        'api/quote-and-balance: A quote fetches nothing and charges nothing',
      ),
      row(
        'GET /creations: the newest first, by cursor',
        "api/creation-list: The list has the account's creations, the newest first, each as GET /creations/{id} shows it",
        'api/creation-list: The pages by limit and cursor have no gap and no repeat',
      ),
      row(
        'GET /creations by status and by model',
        'api/creation-list: The list can be narrowed to one status or one model',
        'adapters/dynamodb/creation-page: A page of the creations that a filter wants',
      ),
      row(
        'A page never exceeds 5 MB: it ends earlier and says has_more',
        'functions/list-creations: The answer stays below 5 MB as Lambda sends it, and its cursor continues behind the last creation shown',
      ),
      row(
        'An unknown query parameter is refused, on every operation',
        'api/request: A parameter that %s does not take is refused with 400 and its name',
      ),
      row(
        'GET /events: each end and each redelivery, oldest first, the exact webhook body, from the cursor on',
        'api/events: An account sees each end behind its cursor once and in order, with the exact webhook body',
        'api/events: A redelivery is one more event that names the first one',
        'api/events: Pages of one event follow each other, oldest first, without a gap',
      ),
      row(
        'GET /events: notices with include=notices only',
        'api/events: Notices are shown only if they are asked for, and keep no other event back',
      ),
      row(
        'GET /events: a foreign or broken cursor is 400 with the field after',
        'api/events: A foreign or broken cursor and wrong parameters are refused with their fields',
      ),
      row(
        'GET /events: wait holds the answer, at most two an account',
        'api/events: A held read answers when a creation ends, also without a cursor',
        'api/events: Two reads of an account are held, and a third one answers at once',
      ),
      row(
        'An account holds only its share of the requests of each door; beyond it, the answer comes at once, or 429 held_requests before the charge',
        'api/held-share: Of many tries of one call two are held, the others are told at once, and another account gets its picture',
        'api/held-share: Two calls of an account wait, the others give id and state at once, and another account gets its picture',
        'api/held-share: Two requests of an account wait, the others are answered 202 at once, and another account gets its picture',
        'api/held-share: Two reads of an account wait, the others are answered at once, and a read of another account waits',
      ),
      row(
        'A body is at most 32 deep, and a form has at most 32 parts; otherwise 400 names the bound',
        'api/strange-bodies: A form of 33 parts is 400 that names the bound, and one of 32 parts is read',
        'api/strange-bodies: Without a key, a deep body is 401 at every door of the API',
        'api/strange-bodies-long: many drawn bodies',
      ),
      row(
        'A deployment offers the sandbox to marked accounts only; others may not stop a renderer by a directive',
        'api/sandbox: The lists of models have the sandbox for a marked account, and for no other account',
        'api/sandbox: A marked account may use every directive',
      ),
      row(
        'GET /creations/{id} shows a change of the end of its model within 60 seconds, in both directions',
        'api/deprecation: GET /creations/{id} shows Deprecation a minute after the catalog says so, and no longer a minute after it was taken back',
      ),
      row(
        'GET /balance',
        'api/quote-and-balance: The answer shows what can be spent, what is open and what this key may still spend this month',
      ),
    ],
  },
  {
    part: 'Under load',
    rows: [
      row(
        'What a limit of AWS refuses is not charged, or waits and is rendered: nothing is lost, and the books are clean',
        'simulation/crowd: What Lambda throttles is refused before the charge, or waits in its execution, and nothing is lost',
        'simulation/crowd: What StartExecution throttles is charged once, and the reconciler starts it',
        'simulation/crowd: What the gateway refuses of the callbacks comes later, and nothing is lost',
        'simulation/crowd-archive: The audit of a crowd reads the whole archive, and finds right books right',
        'simulation/crowd-archive: The audit of a crowd finds a row that the archive has lost',
        'simulation/crowds: A crowd of 100 a second with the quotas of docs/deploying.md is served as a whole',
      ),
      row(
        'One account with 20 creations a second hears 503 for fewer than one in a hundred of its requests',
        'simulation/crowds: One account makes 20 creations a second, and fewer than one in a hundred hears 503',
      ),
      row(
        'A full service keeps within 10 % as many creations open as its setting says',
        'simulation/crowds: A full service has as many creations open as the setting says, within ten percent',
      ),
    ],
  },
  {
    part: 'Routes that learn',
    rows: [
      row(
        'A route that fails too often is asked after the others, and is never left out',
        'core/route-order: Whatever is known of the routes, the order has each of them once',
        'core/route-health: It is %s that the circuit opens when %s',
        'functions/walk-health: A creation fails only after it has asked the route whose circuit is open, too',
        'simulation/flapping: No invariant breaks in ${seeds.length} seeds in which providers go down and come back',
        'admin/route-health: A route that fails three times is asked last, is probed once, and is well after an image',
      ),
      row(
        'Of the creations that are accepted later than 30 s after a provider went down, one in a hundred asks it; the provider has its traffic again within two minutes',
        'simulation/provider-down: Ten minutes without a provider (%s): one creation in a hundred feels it after 30 s, and the traffic is back in two minutes',
        'simulation/load: Creations leave a provider that hangs, come back to it, and all of them end',
      ),
      row(
        'One creation at a time probes an open route',
        'adapters/dynamodb/health-store: Of all creations that saw the same circuit, one gets the probe',
        'functions/walk-health: The creation that claims the probe asks the open route first, and the others do not',
        'simulation/flapping: No invariant breaks in ${seeds.length} seeds in which providers go down and come back',
      ),
      row(
        'Health never overrides the record: what was begun is looked at first, and no call is repeated',
        'functions/walk-health: A job that was begun is looked at first, whatever is known of its route',
        'functions/walk-health: A call that was begun is never repeated, even when its route is the best one',
        'simulation/flapping: No invariant breaks in ${seeds.length} seeds in which providers go down and come back',
      ),
      row(
        "A vendor's Retry-After is honoured within the deadline, and a crash during the wait loses nothing",
        'adapters/providers/retry-after: An answer with %s tells %o as %s',
        'functions/walk-later: The vendor is asked again at its time, and the refusal is saved before the wait',
        'functions/walk-later: After a crash during the wait, the walk waits for the rest of the time and asks again',
        'functions/walk-later: After a crash during the second call, the vendor is not asked a third time',
        'simulation/flapping: No invariant breaks in ${seeds.length} seeds in which providers go down and come back',
      ),
      row(
        'The operator sets the order of the routes: as given, the cheapest first, the fastest first',
        'core/route-order: The cheapest route comes first, and a route without a known cost last',
        'core/route-order: The fastest route comes first, and a route that nobody measured after the measured ones',
        'admin/route-health: The routes are asked in the order that the operator sets',
      ),
      row(
        'A note never fails a creation, and a busy route takes few of them',
        'functions/walk-health: A note that fails is a line of the log, and the image is there',
        'functions/walk-health: A read that hangs ends after a second',
        'core/route-health: No route takes more than 20 notes of a kind in a second, up to 1,000 creations a second',
      ),
    ],
  },
  {
    part: 'Sign-in to the portal',
    rows: [
      row(
        'A sign-in uses the code flow with PKCE, state and nonce, and refuses an answer of another issuer',
        'adapters/openid: the way to the issuer',
        'adapters/openid: the way back',
        'functions/portal/sign-in: a callback',
      ),
      row(
        'No token or cookie is stored or logged',
        'functions/portal/sign-in: gives a cookie that no script reads, and keeps only a hash of the cookie',
        'portal/sign-in: leaves no cookie in a log',
      ),
      row(
        'An invitation binds once, and only to a verified address',
        'functions/portal/sign-in: ends at the page it was begun for, with a session in the account of the invitation',
        'functions/portal/sign-in: with an unverified address takes up no invitation to that address',
      ),
      row(
        'A session that ended, and a person who was removed, is dead at the next request',
        'functions/portal/serve-portal: ends for a person whose sessions were ended, and for one who was removed, at the next request',
        'functions/portal/sign-in: gives a new session each time, and ends the one before',
      ),
      row(
        'Each operation is open to a role exactly as the contract says, and to no foreign page',
        'functions/portal/serve-portal: every operation of the contract',
      ),
      row(
        'Dangerous actions need a sign-in of the last 15 minutes',
        'functions/portal/serve-portal: asks for a fresh sign-in exactly where the contract says so',
        'functions/portal/sign-in-settings: a fresh sign-in',
      ),
      row(
        'A 401 loop blocks the portal, a 403 loop does not, and an ended session never counts',
        'functions/portal/serve-portal: an address',
      ),
      row(
        'A suspended account keeps its portal, apart from the playground',
        'functions/portal/serve-portal: keeps its portal when it is suspended, apart from the playground',
      ),
      row(
        'An account keeps an owner, also when two owners demote each other at once',
        'functions/portal/serve-portal: an account keeps an owner when two owners demote each other at once',
      ),
      row(
        'The log of actions has a row before each action begins, and how the action ended',
        'functions/portal/note-action: the log of actions',
      ),
    ],
  },
  {
    part: 'The package for clients',
    rows: [
      row(
        'verifyWebhook accepts both signatures, several secrets and raw bytes alone',
        'client/verify-webhook: verifyWebhook',
        'client/webhook-deliveries: deliveries of the service',
      ),
      row(
        'Libraries of Standard Webhooks verify the same deliveries',
        'client/webhook-deliveries: A completed and a failed creation are verified by verifyWebhook and by the library of Standard Webhooks',
        'client/webhook-deliveries: After a rotation, receivers with the old secret, the new one or both verify the same delivery',
      ),
      row(
        'Receivers of twelve lines for Express, Hono, Next.js and AWS Lambda',
        'client/webhook-deliveries: The receiver for %s takes a delivery, and refuses a forged one',
      ),
      row(
        'From a key to an image in three lines, with the package as it is published',
        'command/three-lines: npm install, the two variables and npx darkroom generate give an image',
      ),
      row(
        'A listener that was killed and slept brings every event in order, signed, none missing',
        'command/listen: is killed, sleeps through five events and a redelivery, and brings all six in order',
        'command/listener: brings every event at least once and in order, however often it is killed',
      ),
      row(
        'The exit codes of the command: failed, usage, auth, money and rate',
        'command/commands: the exit codes',
      ),
      row(
        'No key is printed, and a stored key is readable by its owner alone',
        'command/commands: No key is ever printed, also when an error would repeat it',
        'command/login: stores a key that works, so that only its owner can read it, and never prints it',
      ),
    ],
  },
  {
    part: 'The portal',
    rows: [
      row(
        'Keys are shown once, changed, rolled and revoked, also by two people at once',
        'functions/portal/manage-keys: Only the answer has the key, and the table has its hash and its last four characters',
        'functions/portal/manage-keys: Of two people who change a key at once, one is refused, and nothing of the other is lost',
        'functions/portal/manage-keys: The new key has the name and the limits of the old one, which ends at the chosen time',
      ),
      row(
        'The webhook secret is issued at the first look and rotated at any time',
        'functions/portal/manage-webhooks: The first look issues the secret, and every later look shows the same one',
        'functions/portal/manage-webhooks: Of two who rotate at once one is refused, and the secret of the other one stays',
      ),
      row(
        'A signed test delivery to any https address, one in 30 seconds',
        'functions/portal/manage-webhooks: One signed attempt goes out in 30 seconds, and its row is in the log',
      ),
      row(
        'All webhooks that failed since a moment are sent again, each creation once',
        'functions/portal/manage-webhooks: All webhooks that failed for good since the moment are sent again, each creation once',
      ),
      row(
        'A suspended account keeps its portal, without the playground',
        'functions/portal/playground: Refusals are those of the API: fields, money, rate, room and suspension',
      ),
      row(
        'Every operation × every role, every origin, and two accounts',
        'functions/portal/every-operation: %s answers who may call it, and refuses everybody else',
        'functions/portal/every-operation: %s refuses requests that do not come from the pages of the portal',
        'functions/portal/every-operation: %s answers another account’s id byte for byte like an absent one',
      ),
    ],
  },
  {
    part: 'The portal: numbers and deliveries',
    rows: [
      row(
        'Home, wallet, usage, the files and the audit of the operator tell the same sums',
        'portal/smaller-year: Home, wallet, usage, the files and the audit tell the same sums of 5,000 rows',
        'portal/whole-year: Home, wallet, usage, the files and the audit tell the same sums of 100,000 rows',
      ),
      row(
        'A year of 100,000 ledger rows: at most sixty reads at the first visit, and ten at every later one',
        'portal/generated-year: The first visit reads at most sixty times, and every later one at most ten',
        'portal/year-in-browser: %s is there within its reads',
      ),
      row(
        'A refund counts on the day of its charge, however late it is, in the portal, usage and report',
        'functions/portal/usage: A refund after midnight counts on the day of its charge, in the ledger and in the sums',
        'functions/portal/usage: A refund that comes weeks after the day was summed still counts there, by every dimension',
        'core/usage: A refund after midnight counts on the day of the charge, and the day of the refund has nothing',
      ),
      row(
        'Every row of the ledger has the balance after it, also while rows are written',
        'functions/portal/ledger: Pages continue the balance, also when rows are written between them',
        'functions/portal/ledger: Movements between the reads of a page (after %s) spoil no balance',
      ),
      row(
        'Files have every row once, in parts below 5 MB, and no formula of a client',
        'functions/portal/ledger: A long month comes in parts below 5 MB, whose amounts are all there once',
        'functions/portal/ledger: It has a header, six decimals, and no formula of a client',
        'functions/portal/usage: The file has every line, and no formula of a client',
      ),
      row(
        'A delivery shows the exact body, the headers with cut signatures, the answer, and the reason in words',
        'functions/portal/creations-and-deliveries: A delivery has the exact body, and that of another account is absent',
        'core/portal/delivery-view: The headers are those that were sent, with cut signatures',
        'core/portal/delivery-view: the reason in words',
        'adapters/failed-webhooks: a webhook that does not arrive',
      ),
      row(
        'The log keeps no signature and no secret, and a delivered attempt costs one write unit',
        'functions/deliver-webhook: The delivery log keeps the beginnings of the signatures and their time, and never a signature or a secret',
        'adapters/dynamodb/delivery-row: A delivered attempt is one write unit, whatever the receiver answers',
      ),
      row(
        'The timeline of a creation names no provider',
        'functions/portal/creations-and-deliveries: The timeline has money, renderers without names, the end and every attempt of the webhook',
      ),
    ],
  },
  {
    part: 'The pages of the portal',
    rows: [
      row(
        'The full key is displayed once, at creation, and is in no storage of the browser',
        'portal/pages: is created, shown once and put away by the keyboard alone',
        'portal/pages: is finished after the sign-in with what was entered, and leaves nothing in the storage',
      ),
      row(
        'A test delivery is possible once in 30 seconds, and the page counts down to it',
        'portal/pages: shows what was sent and counts down to the next one',
        'portal/pages: that comes too early says when the next one is possible',
      ),
      row(
        'All webhooks that failed since a moment are delivered again',
        'portal/pages: repeats the request until the service has taken all portions',
      ),
      row(
        'A change of somebody else is never undone unseen',
        'portal/pages: that somebody else changed meanwhile shows what is stored, and sends nothing of it back',
      ),
      row(
        'One person goes the whole way in a browser, by the keyboard alone: invitation, key, curl, timeline, secret, test delivery',
        'portal/whole-walk: An operator invites a person, who signs in',
        'portal/whole-walk: The person creates a key, and the shown curl works as it stands',
        'portal/whole-walk: The person sees the timeline of the creation',
        'portal/whole-walk: The person opens the secret, and the receiver verifies a test delivery',
      ),
      row(
        'A broken receiver is explained in words, mended and served again; a rotation needs a fresh sign-in',
        'portal/whole-walk: The receiver breaks, and the portal says why in words',
        'portal/whole-walk: The receiver is mended, and the person redelivers',
        'portal/whole-walk: A rotation asks for a fresh sign-in, and is finished after it',
      ),
      row(
        'The ledger as a file adds up to the balance',
        'portal/whole-walk: The ledger as CSV adds up to the balance',
      ),
      row(
        'No key, secret or session is in the storage of the pages or in a log',
        'portal/whole-walk: No key, secret or session is in the storage of the pages or in a log',
      ),
      row(
        'The reference of the API is shown, and asks nobody but the portal',
        'portal/whole-walk: The reference shows the operations of the API, and asks nobody but the portal',
        'local/portal-front: The reference page has its own policy, and its document names this API',
      ),
      row(
        'A browser for the tests is found or installed, and a machine without one is told loudly',
        'tools/browser: a browser starts here and renders a page',
        'tools/browser: a machine without a packaged browser is told in a loud line',
      ),
      row(
        'The price is shown before a press, and a repeated press is paid once',
        'portal/pages: shows the price first, and a press that is repeated after a broken connection has the same key',
      ),
      row(
        'Text of clients and receivers never runs as script, and nothing is loaded from elsewhere',
        'portal/every-page: $name has one heading, no violation of axe in both themes, and fits a phone',
        'portal/build: never set HTML from text',
        'portal/build: load nothing from elsewhere, and hold no script or style in the page',
      ),
      row(
        'At most 60 KB of script and 12 KB of styles, and three requests before the API',
        'portal/build: keep to their budget of script and styles',
        'portal/pages: takes three requests before the API',
      ),
    ],
  },
  {
    part: 'The portal in the stack and on one machine',
    rows: [
      row(
        'A distribution of its own serves the pages and leads to their API, with an origin secret',
        'stack/portal: The API and the sign-in go to the HTTP API, without a cache, and all other paths are pages',
        'stack/portal: The distribution proves itself to the API by a secret that the template only refers to',
        'functions/portal/serve-portal: is closed with the secret %j, before anything is read',
      ),
      row(
        'A strict content security policy, and no cache keeps an answer of the API',
        'stack/portal: A page may run only scripts of the portal, and talk only to the portal and to the bucket of uploads',
        'local/portal-front: The answers of the API have the headers of the distribution, and no cache keeps them',
        'functions/portal/serve-portal: is never kept by a cache',
      ),
      row(
        'What the portal does not know is answered 404 in its own name, and counted nowhere',
        'functions/portal/serve-portal: is answered 404 by the portal, kept by no cache, and counted nowhere',
        'local/portal-front: What the portal does not know is answered 404 by the portal, however often it is asked for',
      ),
      row(
        'A user pool by default, for invited people alone, with passkeys and passwords; their e-mail names the portal',
        'stack/portal: Only invited people have a user, with a passkey or a password',
        'stack/portal: The e-mail to an invited person names the product and the address of the portal',
      ),
      row(
        'The address of a person is that which the distribution says, and nobody can forge it',
        'local/portal-front: The functions get the address of the connection and the secret of the template, whatever a viewer sends',
      ),
      row(
        'The person of the demo account signs in by one press',
        'portal/sign-in: has a button on the page of the issuer, and is an owner and an operator',
      ),
      row(
        'People are invited, listed, signed out and removed by a command, which prints the address of the portal',
        'admin/people: are invited, listed, given another role, signed out and removed',
      ),
    ],
  },
  {
    part: 'The streaming APIs',
    rows: [
      row(
        'The OpenAI-shaped endpoint and MCP answer as streams, beside the HTTP API and on the same host name',
        'stack/streaming-apis: Every method streams the answer of its function, and asks for no credential of AWS',
        'stack/every-setting: The setting apiDomain gives the API its name, its certificate and an output for DNS',
        "local/start-output: The command npm start prints the id of the demo account, which the operator's commands need, and the addresses of the OpenAI-shaped endpoint and of MCP",
      ),
      row(
        'Status and headers go out with the first part of the answer, and each part as it is written',
        'local/rest-api: Status and headers come before the body, and each part comes when the function writes it',
        'local/rest-api: An answer of 20 MB arrives byte by byte as it was written',
        'local/rest-api: A function waits while its client takes nothing',
      ),
      row(
        'A client can tell a broken answer from a whole one',
        'local/rest-api: A function that ends by %s after its head cuts the connection',
        'local/rest-api: A function that ends by %s before its head is answered by API Gateway',
      ),
      row(
        'Requests are held at once up to the reserved concurrency; beyond it the answer is 503 with Retry-After',
        'stack/every-setting: The settings heldRequests and concurrency reserve concurrency, or share that of the account',
        'local/rest-api: A request beyond the reserved concurrency is refused, and the next one is served once there is room',
      ),
      row(
        'What API Gateway answers by itself has the form of the API and says whether to repeat the request',
        'stack/streaming-apis: The API %s says of each answer of API Gateway whether to repeat the request, and when',
        'stack/streaming-apis: The API openai refuses in the form of OpenAI',
        'stack/streaming-apis: The API mcp refuses as JSON-RPC does',
      ),
      row(
        'Bodies that API Gateway or Lambda cannot take are answered 413',
        'local/rest-api: A body of more than 10 MB is refused',
        'local/rest-api: A body that Lambda cannot take is refused: 6 MB as text, or as the base64 of a form',
      ),
      row(
        'The access log has every request and no header, query or path of a client; there is no execution log',
        'stack/streaming-apis: The stage %s writes the fields of the access log, and no header, no query and no path that a client sent',
        'stack/streaming-apis: The stage %s has the throttle of the whole API, and no execution log, which would hold keys',
      ),
      row(
        'An advance of the simulated clock does not wait for a request that is held',
        'local/advance: An advance does not wait for a held request, which waits itself for what the advance brings',
      ),
    ],
  },
  {
    part: 'Retries without a second charge',
    rows: [
      row(
        'One to four creations are charged together or not at all: balance, each cap, places, rate, uploads, key',
        'adapters/dynamodb/store-suite: The balance covers all creations of a charge, or none is charged',
        'adapters/dynamodb/store-suite: Each cap of a key covers all creations of a charge, or none is charged',
        'adapters/dynamodb/store-suite: The account has places for all creations of a charge, or none is charged',
        'adapters/dynamodb/store-suite: A charge of several counts as one request of the rate, and is refused with all creations above the rate',
        'adapters/dynamodb/store-suite: An Idempotency-Key names all creations of its charge, for as long as the order says',
        'adapters/dynamodb/store-suite: A refund of one of three gives back exactly its part',
      ),
      row(
        'Whatever tries of equal calls arrive, in whatever order, there are never more unrefunded charges than calls',
        'core/retries: There are never more unrefunded charges than calls, whatever arrives, in whatever order',
        'simulation/simulation: No invariant breaks in ${seeds} seeds, and every kind of fault strikes',
        'adapters/dynamodb/store-suite: A first try and its own retry at once make one charge, whichever is first',
        'adapters/dynamodb/store-suite: A repeated attach, whose first answer was lost, attaches once more, and another request does not',
      ),
      row(
        'Equal calls in parallel make as many pictures, and do not refuse one another',
        'core/retries: Calls whose first tries all arrive get an entry each',
        'adapters/dynamodb/store-suite: Twelve identical first tries at once are twelve charges: none is refused because of another',
      ),
      row(
        'A retry attaches for 15 minutes, to the entry without an answer first, and after a refund it is charged',
        'core/retries: A retry takes an entry that told it to come back, then an open one, a failed one, and one with pictures',
        'adapters/dynamodb/store-suite: An entry lives fifteen minutes after its last try, and thirty minutes at most',
        'adapters/dynamodb/store-suite: A retry after a failure is charged in the place of the failed creation, and later tries attach to it',
      ),
      row(
        'A first try takes what its own retry has made, once and within 60 seconds',
        'core/retries: A first try takes an entry that a retry made within the last 60 seconds',
        'adapters/dynamodb/store-suite: A first try that arrives after its retry takes what the retry has made, within a minute and once',
      ),
    ],
  },
  {
    part: 'The OpenAI-shaped endpoint',
    rows: [
      row(
        'A cancelled creation is 409 cancelled, and is not to be retried',
        'functions/openai/outcomes: When all have failed, the answer is that of the first failure: %s, x-should-retry %s',
      ),
      row(
        'Every error of the API has a row: status, type, code, param, x-should-retry, Retry-After',
        'functions/openai/refusal: a refusal in the form of the OpenAI API',
        'functions/openai/outcomes: When all have failed, the answer is that of the first failure: %s, x-should-retry %s',
        'docs/openai-page: The table of errors has status, type, code and retry of every error',
      ),
      row(
        'Every field is taken, refused, or ignored by name',
        'core/openai/fields: Every field that is taken is read',
        'core/openai/fields: Fields that change nothing are ignored by name, also those that nobody knows',
        'functions/openai/generations: %j is 400 for its field',
        'functions/openai/generations: Fields that change nothing are named in a header',
      ),
      row(
        'Sizes become a resolution and a ratio, and qualities a model of the catalog',
        'core/openai/size: %s is %s',
        'core/openai/plan-body: %s in %s is %s',
        'functions/openai/generations: Size, quality and an alias choose model, resolution and ratio, and the format goes to the provider',
      ),
      row(
        'n images are charged together or not at all, and 402 comes before any charge',
        'functions/openai/generations: n creations are charged in one order and all started, and a seed is another one for each',
        'functions/openai/generations: All pictures must be paid for, or none is charged',
      ),
      row(
        'Some of n failed: 200 with the others, and the failed ones are refunded and listed',
        'functions/openai/outcomes: The answer has the pictures that are there, and says which creation failed and was refunded',
      ),
      row(
        'A request is held for 285 s at most, and answered before its library gives up; then 504 with the creations',
        'functions/openai/outcomes: After 285 s the answer is 504 with the creations, and a library sends the request again',
        'functions/openai/outcomes: With %j the answer comes before the library gives up',
      ),
      row(
        'A stream has an event for each image, says something every 15 s, and ends with an error event when there is none',
        'functions/openai/stream: The stream begins with a comment, and has one event for each picture',
        'functions/openai/stream: The stream is never silent for more than 15 s',
        'functions/openai/stream: When all creations have failed, the stream ends with the first failure',
      ),
      row(
        'Edits take files and JSON through the checks of source images; a mask is refused; more than 4.4 MB are 413',
        'functions/openai/edits: Files become source images in their order, after the same checks, and each is paid for',
        'functions/openai/edits: An address is fetched, and a data: address holds the picture itself',
        'functions/openai/edits: %s is 400 and nothing is charged',
        'functions/openai/edits: Images of more than 4.4 MB together are 413 with the way to send them',
      ),
      row(
        'A retry gets the creations of its first try; an Idempotency-Key wins',
        'functions/openai/tries: A retry gets the pictures of the first try, and is not charged',
        'functions/openai/tries: An Idempotency-Key wins: the request has no place among the tries',
        'functions/openai/again: The same request again gets the same pictures, is not charged, and takes its place in the rate',
      ),
      row(
        'GET /models shows what the account and the key may use',
        'functions/openai/models: The list has the models that a provider renders for the account, in the form of the OpenAI API',
        'functions/openai/models: A model that the key may not order is 404, as one that does not exist',
      ),
    ],
  },
  {
    part: 'Tools for agents (MCP)',
    rows: [
      row(
        'Seven tools with annotations, and results in the form that they promise',
        'functions/mcp/tools: are those of the page, with the annotations by which a host asks a person first',
        'functions/mcp/tools: answer %s with %j in the form that they promise',
        'docs/mcp-page: lists the tools with their arguments',
      ),
      row(
        'Unmodified clients of both generations of the protocol are served',
        'functions/mcp/clients: finds the tools, and gets a picture',
        'functions/mcp/clients: cannot connect without a key',
        'mcp/service: finds a model, asks for the price, and gets the picture',
      ),
      row(
        'A wait is bounded, and the id always comes back',
        'functions/mcp/generate-image-tool: waits %s, and then gives the id',
        'functions/mcp/generate-image-tool: gives the id when the creation cannot be read any more',
        'functions/mcp/generate-image-tool: tells of a creation that failed as an error, with its id and its refund',
        'functions/mcp/generate-image-tool: of the start gives the id, and says that the charge was given back',
      ),
      row(
        'A picture of at most 1 MB is shown, and every picture is linked',
        'functions/mcp/generate-image-tool: only links %s',
        'functions/mcp/generate-image-tool: shows a picture of exactly 1 MB',
      ),
      row(
        'A refusal is an error of the tool with what to do, and never tells its cause',
        'functions/mcp/generate-image-tool: for %s is an error of the tool, and charges nothing',
        'functions/mcp/generate-image-tool: that nobody expected says nothing of its cause, and wakes an operator',
      ),
      row(
        'A call that is sent again pays nothing, and every other call is its own',
        'functions/mcp/attach: gets the creation of the first one, and charges nothing',
        'functions/mcp/attach: with %s is a call of its own',
        'mcp/service: pays once, also when both come at the same time; another call with its id is its own',
        'mcp/service: pays once when the answer of a charge is lost on its way',
      ),
      row(
        'Keys, blocks and rates are those of the API',
        'functions/mcp/frame: answers %s with 401 in the form of JSON-RPC, and counts the rejection',
        'functions/mcp/frame: of %s counts as what it does, once',
        'functions/mcp/frame: answers a used-up rate of reads with 429',
      ),
      row(
        'A page of the web cannot send requests through a browser of the machine',
        'functions/mcp/frame: from %s must name this machine',
      ),
      row(
        'darkroom mcp passes the messages of both generations on, and says in one sentence why it cannot start',
        'command/mcp: passes the messages of 2026 on, each with its headers',
        'command/mcp: passes the messages of 2025 on, which come back as a stream',
        'command/mcp: cannot start with %j, and says what to do',
      ),
    ],
  },
  {
    part: 'Unmodified clients',
    rows: [
      row(
        'The openai library generates, edits, streams and lists, and each error is its own class with no useless retry',
        'clients/openai-library: A picture arrives as base64, with its size, its creation and its price',
        'clients/openai-library: Three pictures are three creations, charged together',
        'clients/openai-library: Two files are source images in their order',
        'clients/openai-library: A stream gives the picture as one event',
        'clients/openai-errors: Every row of the table is tested, or is not the service in this state',
      ),
      row(
        'A render of 40 s is one request, and a library that gives up earlier gets the same picture by its retry',
        'clients/openai-library: A render of 40 s is one request and one creation',
        'clients/openai-library: The library is told before the time limit of its request, and its retry gets the same picture',
        'clients/openai-library: A library that does not tell its time limit breaks off, and its retry gets the same picture',
      ),
      row(
        'A picture of 15 MB arrives whole as base64 and through a stream',
        'clients/openai-library: The picture arrives whole as base64',
        'clients/openai-library: The picture arrives whole through the stream',
      ),
      row(
        'Over connections that break, a call is paid at most once for each picture, and every paid picture can be had',
        'clients/sixty-requests: Sixty calls are paid at most once each, and every paid picture can be had',
        'clients/thousand-requests: A thousand calls are paid at most once each, and every paid picture can be had',
      ),
      row(
        "Vercel's ai works with the packages of its SDK",
        'clients/ai-library: A picture is one request and one creation',
        'clients/ai-library: A call that comes again with its Idempotency-Key is paid once',
        'clients/ai-library: An empty wallet is an APICallError with the message of the service, and is not repeated',
      ),
      row(
        'darkroom-client/ai-sdk gives ai an image model that pays once, whatever ai repeats',
        'client/ai-sdk: A call gives the picture, its creation and its cost',
        'client/ai-sdk: A connection that breaks leaves the payment open: only a call with a key is repeated',
        'client/ai-sdk: A failed and refunded creation is repeated by ai, and costs nothing',
      ),
      row(
        'The recipes of docs/recipes.md do what they promise',
        'clients/recipes: Every recipe of the page is tested',
        'clients/recipes: The recipe %s prints what it promises',
      ),
    ],
  },
  {
    part: 'A crowd, and the first deployment',
    rows: [
      row(
        'A creation that finds no room in Lambda waits until its deadline, and is not refunded before',
        'simulation/outage: ten minutes in which Lambda has no room for any Task',
        'local/creation-machine: A rendering that never gets room is left to the reconciler, and not refunded',
        'stack/state-machine: The waits for a renderer for which Lambda has no room last longer than the longest deadline, with the half of them that jitter leaves',
      ),
      row(
        'The setting concurrency sets executions of Lambda apart for each kind of work',
        'stack/concurrency-settings: the setting concurrency',
        'stack/every-setting: The settings heldRequests and concurrency reserve concurrency, or share that of the account',
      ),
      row(
        'A first deployment that fails leaves nothing that keeps state; what has been deployed is retained',
        'stack/first-deployment: what stays',
        'stack/first-deployment: CloudFormation can delete the table and the user pool of a deployment that failed, because the template protects nothing',
        'functions/publish-pages: The deletion of the stack removes every page, because S3 deletes only an empty bucket',
      ),
      row(
        'The table is protected from deletion once a deployment has succeeded',
        'stack/first-deployment: the order of a deployment',
        'functions/protect-table: A refusal fails the deployment with its reason, so that no deployment waits for its time limit',
        'adapters/table-protection: the protection of a table',
      ),
      row(
        'A stack of the same name works in a second region of the account',
        'stack/first-deployment: the names of a stack',
      ),
    ],
  },
];
