// Written by `npm run openapi` from docs/openapi.json. Do not change it by hand.
// schemas d64d8e2ab62e04b6d14519ea0665bcf581e9666251ced79066c9f971331906f2
// types   82fe0085a0bcca19f388e563e6da6f335b9a25b1e4b07dde10ad7259f6b89f62

/**
 * A request for an image. null in an optional field means that the field is left out. Unknown fields are refused. Text is well-formed: half of a UTF-16 surrogate pair is refused.
 */
export type ImageRequest = {
    /**
     * The id of a model of GET /models.
     */
    model: string;
    /**
     * What the image shows. Spaces around it are removed; then it has at most as many characters (Unicode code points) as `max_prompt_length` of the model says. Required unless image_urls has an item.
     */
    prompt?: string | null;
    /**
     * One of those of the model, as GET /models lists them. The default is that of the model.
     */
    resolution?: Resolution | null;
    /**
     * One of those of the model, as GET /models lists them. The default is that of the model.
     */
    aspect_ratio?: AspectRatio | null;
    /**
     * One of those of the model, as GET /models lists them. The default is that of the model.
     */
    output_format?: OutputFormat | null;
    /**
     * Source images; at most `max_image_urls` of the model.
     */
    image_urls?: Array<string> | null;
    /**
     * A PNG of exactly the size of the first source image, for a model with `supports_mask`. What is see-through in it (opacity below 128) may change; of a mask that is opaque everywhere, what is white (128 or more). The rest of the image stays as in the source.
     */
    mask_url?: string | null;
    /**
     * An https address that gets one signed event when the creation has ended. Its port is 443 or at least 1024. It has no user name and no password, and its host has public addresses only.
     */
    webhook_url?: string | null;
    /**
     * Passed on if the provider supports it.
     */
    seed?: number | null;
    /**
     * What the image must not show, for a model with `supports_negative_prompt`. Some take fewer characters. Other models refuse it.
     */
    negative_prompt?: string | null;
    /**
     * One of the `qualities` of the model, or auto, as if it were left out. It may decide the price, and then the model of the creation is the one of this quality.
     */
    quality?: 'auto' | 'low' | 'medium' | 'high' | null;
    /**
     * transparent: at least 1 % of the pixels are see-through, in a png or webp of a model with `supports_background`. opaque: fewer are. auto, as if it were left out.
     */
    background?: 'auto' | 'opaque' | 'transparent' | null;
    /**
     * At most 16 texts of your own. A key has 1 to 40 characters (Unicode code points). Creation and webhook return the texts under exactly these keys, whatever they are (even `constructor` or `__proto__`).
     */
    metadata?: {
        [key: string]: string;
    } | null;
    /**
     * For whom you render, such as the id of your customer. Stored exactly as sent. A key with a budget for each user requires it.
     */
    user?: string | null;
    /**
     * How many images, each a creation of its own with the next seed. All are charged, or none. With it the answer is a list, also for 1. Without it, the answer is one creation.
     */
    count?: number | null;
    /**
     * The most that the request may cost, in USD with at most 6 decimals. A higher price is refused with the reason `max_cost_exceeded`, and nothing is charged.
     */
    max_cost?: number | null;
};

/**
 * The size of the image. GET /models lists what a model renders.
 */
export type Resolution = '1K' | '2K' | '4K';

/**
 * Width to height of the image.
 */
export type AspectRatio = '1:1' | '3:2' | '2:3' | '4:3' | '3:4' | '5:4' | '4:5' | '16:9' | '9:16' | '21:9';

/**
 * The format of the image file.
 */
export type OutputFormat = 'png' | 'jpeg' | 'webp';

/**
 * The type and the length of a file that will be put.
 */
export type UploadRequest = {
    content_type: 'image/png' | 'image/jpeg' | 'image/webp';
    /**
     * The length of the file.
     */
    bytes: number;
};

/**
 * `queued`, then `processing`, then finally `completed` or `failed`.
 */
export type CreationStatus = 'queued' | 'processing' | 'completed' | 'failed';

/**
 * Where a request came in: this API, the OpenAI-shaped endpoint, MCP or the portal.
 */
export type RequestDoor = 'api' | 'openai' | 'mcp' | 'portal';

/**
 * For whom a token is, and what it may do.
 */
export type UserTokenRequest = {
    /**
     * For whom the token acts. Every creation that it makes has this user.
     */
    user: string;
    /**
     * The most that the token may spend, in USD, with at most 6 decimals.
     */
    spend_limit: number;
    /**
     * In seconds. The default is 300. No token outlives its key.
     */
    expires_in?: number | null;
    /**
     * The default is 10.
     */
    max_uses?: number | null;
    /**
     * Models of the key. The default is all of them.
     */
    models?: Array<string> | null;
    /**
     * The origins of your pages: `https://host[:port]`, or `http://localhost[:port]`. Without them no page can use the token.
     */
    origins?: Array<string> | null;
    /**
     * Of every creation that the token makes.
     */
    webhook_url?: string | null;
    /**
     * Of every creation that the token makes.
     */
    metadata?: {
        [key: string]: string;
    } | null;
};

/**
 * A new endpoint.
 */
export type WebhookEndpointRequest = {
    /**
     * Where the events go, by the rules of `webhook_url`.
     */
    url: string;
    /**
     * The events and the notices that the endpoint gets.
     */
    events: Array<'creation.completed' | 'creation.failed' | 'wallet.low' | 'wallet.empty' | 'key.cap_reached' | 'webhook.failing' | 'endpoint.failing' | 'endpoint.disabled' | 'budget.reached' | 'payment.received' | 'payment.failed' | 'payment.reversed'>;
    /**
     * For people.
     */
    description?: string | null;
    /**
     * The default is true.
     */
    enabled?: boolean | null;
};

/**
 * What changes. Every other member stays.
 */
export type WebhookEndpointChange = {
    /**
     * Where the events go, by the rules of `webhook_url`.
     */
    url?: string;
    /**
     * The events and the notices that the endpoint gets.
     */
    events?: Array<'creation.completed' | 'creation.failed' | 'wallet.low' | 'wallet.empty' | 'key.cap_reached' | 'webhook.failing' | 'endpoint.failing' | 'endpoint.disabled' | 'budget.reached' | 'payment.received' | 'payment.failed' | 'payment.reversed'>;
    /**
     * For people.
     */
    description?: string;
    /**
     * Whether the endpoint gets anything.
     */
    enabled?: boolean;
};

/**
 * A bucket for copies of results.
 */
export type ResultsBucketRequest = {
    /**
     * The address of the service that speaks S3, without a path, by the rules of `webhook_url`.
     */
    endpoint: string;
    /**
     * It stands in the path of each request.
     */
    bucket: string;
    /**
     * The region that requests are signed for. Some services take `auto`.
     */
    region: string;
    /**
     * What stands before the name of each object, such as `darkroom/`.
     */
    prefix?: string | null;
    credentials: BucketCredentials;
};

/**
 * Keys that may put objects. They are stored sealed, and no answer has them.
 */
export type BucketCredentials = {
    access_key_id: string;
    secret_access_key: string;
};

/**
 * The picture that is copied again.
 */
export type CopyRequest = {
    /**
     * The id of the creation.
     */
    creation_id: string;
};

/**
 * The event of a creation that has its images.
 */
export type CreationCompleted = {
    event: 'creation.completed';
    status: 'completed';
    /**
     * The addresses of the images. Signed ones end: read the creation again for new ones.
     */
    result_urls: Array<string>;
    /**
     * The id of the creation.
     */
    id: string;
    /**
     * What was charged, in USD. It stays after a refund.
     */
    cost: number;
    /**
     * The metadata of the request, under exactly its keys.
     */
    metadata: {
        [key: string]: string;
    };
    /**
     * When the request was accepted.
     */
    created_at: string;
    /**
     * When the creation ended.
     */
    completed_at: string;
};

/**
 * The event of a creation that failed and was refunded.
 */
export type CreationFailed = {
    event: 'creation.failed';
    status: 'failed';
    error: CreationFailure;
    error_code?: FailureCode;
    /**
     * The id of the creation.
     */
    id: string;
    /**
     * What was charged, in USD. It stays after a refund.
     */
    cost: number;
    /**
     * The metadata of the request, under exactly its keys.
     */
    metadata: {
        [key: string]: string;
    };
    /**
     * When the request was accepted.
     */
    created_at: string;
    /**
     * When the creation ended.
     */
    completed_at: string;
    /**
     * When the creation was cancelled. Missing when a release without this field made the first attempt.
     */
    cancelled_at?: string | null;
};

/**
 * Why a creation failed: exactly one of these messages. Every failed creation is refunded.
 */
export type CreationFailure = 'Prompt rejected by the safety filter. Make the scene more specific — abstract or generic prompts are declined more often.' | 'The source image was rejected. Try a different photo.' | 'Generation failed. Please try again.' | 'Nothing was rendered for this request. Describe the image you want in the prompt, or attach the source photo it refers to.' | 'Generation timed out.' | 'The service is temporarily unavailable. Please try again later.' | 'Generation failed.';

/**
 * Why a creation failed, for programs: the code of its message.
 */
export type FailureCode = 'prompt_rejected' | 'image_rejected' | 'generation_failed' | 'nothing_rendered' | 'timed_out' | 'provider_unavailable' | 'internal' | 'cancelled';

/**
 * Less than the threshold is available.
 */
export type WalletLow = {
    notice: 'wallet.low';
    /**
     * The same in every attempt.
     */
    id: string;
    /**
     * When the service noticed the crossing.
     */
    created_at: string;
    account: {
        /**
         * What the account can spend, in USD.
         */
        available: number;
        /**
         * The threshold of wallet.low, in USD.
         */
        low_balance: number | null;
        /**
         * All amounts are US dollars.
         */
        currency: 'USD';
    };
};

/**
 * Nothing is left, or a request was refused because the balance does not cover it.
 */
export type WalletEmpty = {
    notice: 'wallet.empty';
    /**
     * The same in every attempt.
     */
    id: string;
    /**
     * When the service noticed the crossing.
     */
    created_at: string;
    account: {
        /**
         * What the account can spend, in USD.
         */
        available: number;
        /**
         * The threshold of wallet.low, in USD.
         */
        low_balance: number | null;
        /**
         * All amounts are US dollars.
         */
        currency: 'USD';
        /**
         * With so much available the wallet would not be empty.
         */
        required: number;
    };
};

/**
 * A key has spent 80 % or 100 % of one of its caps.
 */
export type KeyCapReached = {
    notice: 'key.cap_reached';
    /**
     * The same in every attempt.
     */
    id: string;
    /**
     * When the service noticed the crossing.
     */
    created_at: string;
    account: {
        /**
         * What the account can spend, in USD.
         */
        available: number;
        /**
         * The threshold of wallet.low, in USD.
         */
        low_balance: number | null;
        /**
         * All amounts are US dollars.
         */
        currency: 'USD';
    };
    key: {
        id: string;
        name: string;
        cap: 'daily' | 'monthly' | 'total' | 'user';
        /**
         * Only for the cap `user`: whose budget (`per_user_monthly_cap`) is reached.
         */
        user?: string;
        /**
         * The period in which the cap was reached: the UTC day (`2026-11-21`) for `daily`, the UTC month (`2026-11`) for `monthly` and `user`, and `total` for `total`.
         */
        period: string;
        /**
         * In percent of the cap.
         */
        level: 80 | 100;
        /**
         * The cap, in USD.
         */
        limit: number;
        /**
         * In USD.
         */
        spent: number;
        /**
         * The end of the period. null for the cap `total`.
         */
        resets_at: string | null;
    };
};

/**
 * Ten attempts of webhooks have failed in a row.
 */
export type WebhookFailing = {
    notice: 'webhook.failing';
    /**
     * The same in every attempt.
     */
    id: string;
    /**
     * When the service noticed the crossing.
     */
    created_at: string;
    account: {
        /**
         * What the account can spend, in USD.
         */
        available: number;
        /**
         * The threshold of wallet.low, in USD.
         */
        low_balance: number | null;
        /**
         * All amounts are US dollars.
         */
        currency: 'USD';
    };
    webhooks: {
        failed_attempts: number;
    };
};

/**
 * Every attempt of four days has failed. After five days the endpoint is switched off.
 */
export type EndpointFailing = {
    notice: 'endpoint.failing';
    /**
     * The same in every attempt.
     */
    id: string;
    /**
     * When the service noticed the crossing.
     */
    created_at: string;
    account: {
        /**
         * What the account can spend, in USD.
         */
        available: number;
        /**
         * The threshold of wallet.low, in USD.
         */
        low_balance: number | null;
        /**
         * All amounts are US dollars.
         */
        currency: 'USD';
    };
    endpoint: {
        id: string;
        url: string;
        /**
         * When the first of these attempts began.
         */
        failing_since: string;
    };
};

/**
 * Every attempt of five days has failed, and the endpoint is switched off.
 */
export type EndpointDisabled = {
    notice: 'endpoint.disabled';
    /**
     * The same in every attempt.
     */
    id: string;
    /**
     * When the service noticed the crossing.
     */
    created_at: string;
    account: {
        /**
         * What the account can spend, in USD.
         */
        available: number;
        /**
         * The threshold of wallet.low, in USD.
         */
        low_balance: number | null;
        /**
         * All amounts are US dollars.
         */
        currency: 'USD';
    };
    endpoint: {
        id: string;
        url: string;
        /**
         * When the first of these attempts began.
         */
        failing_since: string;
    };
};

/**
 * The account has spent 80 % or 100 % of its budget of a month.
 */
export type BudgetReached = {
    notice: 'budget.reached';
    /**
     * The same in every attempt.
     */
    id: string;
    /**
     * When the service noticed the crossing.
     */
    created_at: string;
    account: {
        /**
         * What the account can spend, in USD.
         */
        available: number;
        /**
         * The threshold of wallet.low, in USD.
         */
        low_balance: number | null;
        /**
         * All amounts are US dollars.
         */
        currency: 'USD';
    };
    budget: {
        /**
         * The UTC month, such as `2026-11`.
         */
        month: string;
        /**
         * In percent of the budget.
         */
        level: 80 | 100;
        /**
         * The budget of the month, in USD.
         */
        limit: number;
        /**
         * What all keys and the portal spent in the month, in USD.
         */
        spent: number;
        /**
         * The end of the month.
         */
        resets_at: string;
    };
};

/**
 * A payment came in, and the account is credited.
 */
export type PaymentReceived = {
    notice: 'payment.received';
    /**
     * The same in every attempt.
     */
    id: string;
    /**
     * When the service noticed the crossing.
     */
    created_at: string;
    account: {
        /**
         * What the account can spend, in USD.
         */
        available: number;
        /**
         * The threshold of wallet.low, in USD.
         */
        low_balance: number | null;
        /**
         * All amounts are US dollars.
         */
        currency: 'USD';
    };
    payment: {
        /**
         * The id of the payment.
         */
        id: string;
        /**
         * checkout: a person paid on the page of Stripe. auto: the automatic top-up.
         */
        kind: 'checkout' | 'auto';
        /**
         * What was credited, in USD.
         */
        amount: number;
    };
};

/**
 * An automatic top-up took no money.
 */
export type PaymentFailed = {
    notice: 'payment.failed';
    /**
     * The same in every attempt.
     */
    id: string;
    /**
     * When the service noticed the crossing.
     */
    created_at: string;
    account: {
        /**
         * What the account can spend, in USD.
         */
        available: number;
        /**
         * The threshold of wallet.low, in USD.
         */
        low_balance: number | null;
        /**
         * All amounts are US dollars.
         */
        currency: 'USD';
    };
    payment: {
        /**
         * null: no payment began, because of the cap.
         */
        id: string | null;
        kind: 'auto';
        /**
         * In USD. null: no payment began.
         */
        amount: number | null;
        /**
         * unknown: Stripe did not say for a day; a payment that succeeds later is credited. monthly_cap: another payment would exceed the cap of the UTC month; this is told once a month.
         */
        reason: 'authentication_required' | 'declined' | 'card_expired' | 'monthly_cap' | 'unknown';
        /**
         * paused: until a person acts.
         */
        auto_top_up: 'paused' | 'on';
        /**
         * The page on which an owner pays, or resumes.
         */
        pay_url: string;
    };
};

/**
 * A refund or a dispute has changed what a payment credited.
 */
export type PaymentReversed = {
    notice: 'payment.reversed';
    /**
     * The same in every attempt.
     */
    id: string;
    /**
     * When the service noticed the crossing.
     */
    created_at: string;
    account: {
        /**
         * What the account can spend, in USD.
         */
        available: number;
        /**
         * The threshold of wallet.low, in USD.
         */
        low_balance: number | null;
        /**
         * All amounts are US dollars.
         */
        currency: 'USD';
    };
    payment: {
        /**
         * The id of the payment.
         */
        id: string;
        reason: 'refund' | 'dispute' | 'dispute_won';
        /**
         * In USD. Below zero: the account has lost it. dispute_won gives it back.
         */
        amount: number;
    };
};

/**
 * Fields, headers or query parameters are wrong. `details.errors` names each.
 */
export type InvalidFieldsProblem = {
    error: {
        code: 'ERR_INVALID_REQUEST';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            errors: Array<FieldError>;
        };
    };
};

/**
 * One wrong field of a request.
 */
export type FieldError = {
    /**
     * The field of the body (`image_urls[0]`, `metadata.order`), `body` for the whole body, or the name of a header or query parameter.
     */
    field: string;
    /**
     * - `required`: the field is missing.
     * - `unknown_field`: the request has no such field.
     * - `unknown_parameter`: the request has no such query parameter.
     * - `invalid_type`: a text instead of a number, a list instead of an object, or a number that is not whole, for example.
     * - `invalid_value`: the value is not allowed, or a header, limit or cursor is malformed.
     * - `invalid_json`: the body is not JSON.
     * - `invalid_encoding`: the body is not UTF-8, or a text holds half of a surrogate pair.
     * - `too_deep`: the body has more than 32 lists and objects inside each other.
     * - `too_short`: a text, an address or a metadata key is too short.
     * - `too_long`: a text, an address or a metadata key is too long, or the body has more than 256 KiB.
     * - `too_small`: a number is below its range.
     * - `too_big`: a number is above its range.
     * - `too_many`: there are too many items, source images for the model, metadata keys, or more than 1,000 members and items in the body.
     * - `refused_target`: the service may not call this address.
     * - `bucket_refused`: the bucket did not take a small object; the message says what it answered.
     * - `mismatch`: the Idempotency-Key was used for another request.
     * - `exceeded`: the price is above `max_cost`.
     * - `too_large`: the source image has too many bytes.
     * - `too_many_pixels`: the source image has too many pixels.
     * - `invalid_size`: a side of the source image is too short or too long.
     * - `unsupported_type`: the source image is not JPEG, PNG or WebP.
     * - `upload_not_usable`: no upload of this account was filled under this id and has not expired.
     * - `unsupported_parameter`: the model does not take the field; the message names models that do.
     * - `unsupported_value`: the model does not take this value of the field, or not with this output_format; the message says what would be right.
     * - `not_taken`: no enabled provider takes this source image.
     */
    code: 'required' | 'unknown_field' | 'unknown_parameter' | 'invalid_type' | 'invalid_value' | 'invalid_json' | 'invalid_encoding' | 'too_deep' | 'too_short' | 'too_long' | 'too_small' | 'too_big' | 'too_many' | 'refused_target' | 'bucket_refused' | 'mismatch' | 'exceeded' | 'too_large' | 'too_many_pixels' | 'invalid_size' | 'unsupported_type' | 'upload_not_usable' | 'unsupported_parameter' | 'unsupported_value' | 'not_taken';
    /**
     * For people. Do not branch on it.
     */
    message: string;
};

/**
 * No provider that is enabled for the account renders the request: use another resolution, aspect ratio or format. Or none takes one of its images, which `details.errors` names (`not_taken`): use an image of another type or size.
 */
export type NoRouteProblem = {
    error: {
        code: 'ERR_INVALID_REQUEST';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            reason: 'provider_policy_no_route';
            errors: Array<FieldError>;
        };
    };
};

/**
 * The price is above `max_cost`. Nothing was charged: raise it, or ask for less.
 */
export type MaxCostExceededProblem = {
    error: {
        code: 'ERR_INVALID_REQUEST';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            reason: 'max_cost_exceeded';
            /**
             * The price, in USD.
             */
            cost: number;
            /**
             * As the request named it.
             */
            max_cost: number;
            errors: Array<FieldError>;
        };
    };
};

/**
 * The Idempotency-Key was used for another request. Use a new key, or send the same request.
 */
export type IdempotencyKeyMismatchProblem = {
    error: {
        code: 'ERR_INVALID_REQUEST';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            reason: 'idempotency_key_mismatch';
            errors: Array<FieldError>;
        };
    };
};

/**
 * The creation has ended, or its provider did not confirm that it stopped. The creation goes on.
 */
export type NotCancellableProblem = {
    error: {
        code: 'ERR_INVALID_REQUEST';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            reason: 'not_cancellable';
            status: CreationStatus;
            errors: Array<FieldError>;
        };
    };
};

/**
 * The creation has not ended. Cancel it, or wait for its end.
 */
export type NotDeletableProblem = {
    error: {
        code: 'ERR_INVALID_REQUEST';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            reason: 'not_deletable';
            status: CreationStatus;
            errors: Array<FieldError>;
        };
    };
};

/**
 * The creation is not completed, so it has no images.
 */
export type NoResultsProblem = {
    error: {
        code: 'ERR_INVALID_REQUEST';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            reason: 'not_deletable';
            status: CreationStatus;
            errors: Array<FieldError>;
        };
    };
};

/**
 * The request has no key. Or the key is unknown, mistyped, revoked or expired, or `Authorization` has no `Bearer`.
 */
export type KeyRefusedProblem = {
    error: {
        code: 'ERR_API_KEY_INVALID';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            reason: 'api_key_missing' | 'api_key_invalid';
            /**
             * Only for a token of an end user, whose server can mint another.
             */
            token?: 'expired' | 'revoked';
        };
    };
};

/**
 * The balance does not cover the price.
 */
export type OverBalanceProblem = {
    error: {
        code: 'ERR_INSUFFICIENT_BALANCE';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            /**
             * The price, in USD.
             */
            required: number;
            /**
             * What the account can spend, in USD.
             */
            available: number;
            /**
             * All amounts are US dollars.
             */
            currency: 'USD';
            top_up_url: string;
            /**
             * The automatic top-up. open: money is on its way. paused: a person must act. Absent: it is off.
             */
            auto_top_up?: 'on' | 'open' | 'paused';
        };
    };
};

/**
 * A budget of the key does not cover the price. If several do not, the first is named in the order daily, monthly, total, user.
 */
export type OverBudgetProblem = {
    error: {
        code: 'ERR_INSUFFICIENT_BALANCE';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            reason: 'daily_budget_exceeded' | 'monthly_budget_exceeded' | 'total_budget_exceeded';
            /**
             * The cap, in USD.
             */
            cap: number;
            /**
             * What is spent of it, in USD.
             */
            spent: number;
            /**
             * null for the total budget.
             */
            resets_at: string | null;
        };
    };
};

/**
 * The budget of the key for this user does not cover the price.
 */
export type OverUserBudgetProblem = {
    error: {
        code: 'ERR_INSUFFICIENT_BALANCE';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            reason: 'user_budget_exceeded';
            /**
             * The cap, in USD.
             */
            cap: number;
            /**
             * What is spent of it, in USD.
             */
            spent: number;
            /**
             * The begin of the next month.
             */
            resets_at: string;
            user: string;
        };
    };
};

/**
 * Only for a token: the balance of the account does not cover the price.
 */
export type AccountCannotPayProblem = {
    error: {
        code: 'ERR_INSUFFICIENT_BALANCE';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            reason: 'account_balance';
        };
    };
};

/**
 * The spend limit of the token does not cover the price. Mint another.
 */
export type TokenBudgetExceededProblem = {
    error: {
        code: 'ERR_INSUFFICIENT_BALANCE';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            reason: 'token_budget_exceeded';
            /**
             * The cap, in USD.
             */
            cap: number;
            /**
             * What is spent of it, in USD.
             */
            spent: number;
        };
    };
};

/**
 * The token has no use left. Mint another.
 */
export type TokenUsesExceededProblem = {
    error: {
        code: 'ERR_INSUFFICIENT_BALANCE';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            reason: 'token_uses_exceeded';
            limit: number;
            used: number;
        };
    };
};

/**
 * A token of an end user may not call this operation, or does not name the origin of the page.
 */
export type TokenRefusedProblem = {
    error: {
        code: 'ERR_FORBIDDEN';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            reason: 'operation_not_allowed' | 'origin_not_allowed';
        };
    };
};

/**
 * The account is disabled.
 */
export type AccountDisabledProblem = {
    error: {
        code: 'ERR_ACCOUNT_DISABLED';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            reason: 'account_disabled';
        };
    };
};

/**
 * API access of the account is paused.
 */
export type ApiSuspendedProblem = {
    error: {
        code: 'ERR_API_SUSPENDED';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            reason: 'api_suspended';
        };
    };
};

/**
 * The model is not available to this account. `Sunset` says since when a model is gone.
 */
export type ModelNotFoundProblem = {
    error: {
        code: 'ERR_MODEL_NOT_FOUND';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            [key: string]: unknown;
        };
    };
};

/**
 * There is no token with this id, it is malformed, its day is over, or another account or key minted it.
 */
export type TokenNotFoundProblem = {
    error: {
        code: 'ERR_NOT_FOUND';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            [key: string]: unknown;
        };
    };
};

/**
 * There is no endpoint with this id, it is malformed, or it belongs to another account.
 */
export type EndpointNotFoundProblem = {
    error: {
        code: 'ERR_NOT_FOUND';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            [key: string]: unknown;
        };
    };
};

/**
 * The account has no bucket for results.
 */
export type BucketNotFoundProblem = {
    error: {
        code: 'ERR_NOT_FOUND';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            [key: string]: unknown;
        };
    };
};

/**
 * The creation is not completed, has no picture any more, or its copy waits for an attempt already.
 */
export type NotCopiedProblem = {
    error: {
        code: 'ERR_INVALID_REQUEST';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            reason: 'not_completed' | 'no_results' | 'still_pending';
            status: CreationStatus;
        };
    };
};

/**
 * There is no creation with this id, it is malformed, or it belongs to another account. There is nothing at this path.
 */
export type NotFoundProblem = {
    error: {
        code: 'ERR_NOT_FOUND';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            [key: string]: unknown;
        };
    };
};

/**
 * The account has sent too many requests in this minute.
 */
export type RateUsedUpProblem = {
    error: {
        code: 'ERR_RATE_LIMIT';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            reason: 'account_rate';
            limit: number;
            window_seconds: number;
        };
    };
};

/**
 * The creation was polled less than `interval_seconds` ago.
 */
export type PolledTooSoonProblem = {
    error: {
        code: 'ERR_RATE_LIMIT';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            reason: 'poll_interval';
            interval_seconds: number;
        };
    };
};

/**
 * Too many rejected authentications came from this address.
 */
export type AddressBlockedProblem = {
    error: {
        code: 'ERR_RATE_LIMIT';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            reason: 'burst_block';
        };
    };
};

/**
 * The account has too many open creations.
 */
export type TooManyOpenProblem = {
    error: {
        code: 'ERR_QUOTA_EXCEEDED';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            reason: 'concurrent_creations';
            scope: 'account';
            limit: number;
            current: number;
        };
    };
};

/**
 * The service has no room for another creation.
 */
export type ServiceIsFullProblem = {
    error: {
        code: 'ERR_QUOTA_EXCEEDED';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            reason: 'capacity';
            scope: 'service';
            limit: number;
            current: number;
        };
    };
};

/**
 * The account has too many uploads that no creation has used. Use them, or wait until they expire.
 */
export type TooManyUploadsProblem = {
    error: {
        code: 'ERR_QUOTA_EXCEEDED';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            reason: 'unused_uploads';
            scope: 'account';
            limit: number;
            current: number;
        };
    };
};

/**
 * Something unexpected happened. Send the request again with the same Idempotency-Key.
 */
export type InternalProblem = {
    error: {
        code: 'ERR_INTERNAL';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            [key: string]: unknown;
        };
    };
};

/**
 * A source image could not be downloaded. Nothing was started and nothing was charged.
 */
export type InputFetchFailedProblem = {
    error: {
        code: 'ERR_INPUT_FETCH_FAILED';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            reason: 'input_fetch_failed';
            /**
             * true for network failures, time-outs, and answers 5xx or 429 of the origin.
             */
            retryable: boolean;
            /**
             * The place in `image_urls`. Missing when it was the mask.
             */
            input_index?: number;
        };
    };
};

/**
 * Only with `Prefer: wait`: the creation failed. Its charge was refunded in full.
 */
export type GenerationFailedProblem = {
    error: {
        code: 'ERR_GENERATION_FAILED';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            /**
             * The creation, whose charge was refunded in full.
             */
            creation_id: string;
            error: CreationFailure;
            error_code: FailureCode;
            retryable: boolean;
        };
    };
};

/**
 * The creation could not be started, or no provider was available. Its charge was refunded in full.
 */
export type ProviderUnavailableProblem = {
    error: {
        code: 'ERR_PROVIDER_UNAVAILABLE';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            reason: 'provider_unavailable';
            /**
             * The creation, whose charge was refunded in full.
             */
            creation_id: string;
            /**
             * Only with `Prefer: wait`.
             */
            error?: CreationFailure;
            /**
             * Only with `Prefer: wait`.
             */
            error_code?: FailureCode;
            /**
             * Only with `Prefer: wait`.
             */
            retryable?: boolean;
        };
    };
};

/**
 * The service is busy. Nothing was charged: send the request again.
 */
export type OverloadedProblem = {
    error: {
        code: 'ERR_PROVIDER_UNAVAILABLE';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            reason: 'overloaded';
        };
    };
};

/**
 * No provider of the model is enabled for the account. Nothing was charged. The message names the models that are available.
 */
export type NoProviderEnabledProblem = {
    error: {
        code: 'ERR_PROVIDER_UNAVAILABLE';
        /**
         * For people. Do not branch on it.
         */
        message: string;
        details: {
            reason: 'no_provider_enabled';
        };
    };
};

/**
 * The models that this key may use. A hidden model is absent.
 */
export type ModelList = {
    data: Array<Model>;
};

/**
 * A model, with what the providers of this account can render. A request that names none of resolution, aspect ratio and format is rendered with exactly the three defaults. Some combinations of a resolution and an aspect ratio have no provider: POST /images/quote tells.
 */
export type Model = {
    id: string;
    name: string;
    description: string;
    /**
     * Whether this account can use the model now.
     */
    available: boolean;
    /**
     * `no_provider_enabled`: no provider of the model is enabled for the account; a submission or a quote is answered 503 with this reason. `sunset`: the day of `sunset_at` has come; the answer is 404 `ERR_MODEL_NOT_FOUND`. null when the model is available.
     */
    unavailable_reason: 'no_provider_enabled' | 'sunset' | null;
    supports_image_input: boolean;
    max_image_urls: number;
    /**
     * In Unicode code points.
     */
    max_prompt_length: number;
    /**
     * Whether it takes `negative_prompt`.
     */
    supports_negative_prompt: boolean;
    /**
     * The most that `count` may be.
     */
    max_count: number;
    /**
     * Whether it renders `background` transparent. Every model renders opaque ones.
     */
    supports_background: boolean;
    /**
     * Whether it takes `mask_url`.
     */
    supports_mask: boolean;
    resolutions: Array<Resolution>;
    aspect_ratios: Array<AspectRatio>;
    output_formats: Array<OutputFormat>;
    default_resolution: Resolution;
    default_aspect_ratio: AspectRatio;
    default_output_format: OutputFormat;
    pricing: Array<ModelPrice>;
    /**
     * What `quality` may be, beside auto. Empty for a model of one quality that it does not tell.
     */
    qualities: Array<Quality>;
    quality_pricing: Array<QualityPrice>;
    /**
     * Since when the model is deprecated.
     */
    deprecated_at: string | null;
    /**
     * From this day on, 00:00 UTC, the model is no longer available.
     */
    sunset_at: string | null;
    /**
     * The model to use instead of a deprecated one. null when there is none, or when this key may not use it.
     */
    successor: string | null;
};

/**
 * The price of a model at one resolution.
 */
export type ModelPrice = {
    resolution: Resolution;
    /**
     * The price of one image, in USD.
     */
    usd: number;
    /**
     * Added for each source image, in USD.
     */
    usd_per_input_image: number;
};

/**
 * A quality that the model renders.
 */
export type Quality = 'low' | 'medium' | 'high';

/**
 * The price of a model at one quality and resolution.
 */
export type QualityPrice = {
    quality: Quality;
    resolution: Resolution;
    /**
     * The price of one image, in USD.
     */
    usd: number;
    /**
     * Added for each source image, in USD.
     */
    usd_per_input_image: number;
};

/**
 * API Gateway answered instead of the service. Such an answer has no X-Request-Id.
 */
export type GatewayAnswer = {
    message: string;
};

/**
 * A creation. `status` tells which of the three it is.
 */
export type Creation = ({
    status: 'queued' | 'processing';
} & OpenCreation) | ({
    status: 'completed';
} & CompletedCreation) | ({
    status: 'failed';
} & FailedCreation);

/**
 * A creation that has not ended.
 */
export type OpenCreation = {
    /**
     * The id of the creation, a UUID of version 7.
     */
    id: string;
    model: string;
    prompt: string | null;
    resolution: Resolution;
    aspect_ratio: AspectRatio;
    output_format: OutputFormat;
    seed: number | null;
    /**
     * As in the request. Missing when the request left it out.
     */
    negative_prompt?: string;
    /**
     * As in the request. Missing when the request left it out.
     */
    quality?: 'auto' | 'low' | 'medium' | 'high';
    /**
     * As in the request. Missing when the request left it out.
     */
    background?: 'auto' | 'opaque' | 'transparent';
    /**
     * What was charged, in USD. It stays after a refund.
     */
    cost: number;
    /**
     * What was refunded, in USD: 0 or the cost.
     */
    amount_refunded: number;
    /**
     * All amounts are US dollars.
     */
    currency: 'USD';
    /**
     * null when the request named no webhook_url, and after erased_at.
     */
    webhook: CreationWebhook | null;
    /**
     * The metadata of the request, under exactly its keys.
     */
    metadata: {
        [key: string]: string;
    };
    /**
     * For whom the client renders, as the request named it. null when it named nobody.
     */
    user: string | null;
    /**
     * When the request was accepted.
     */
    created_at: string;
    /**
     * When the rendering began.
     */
    started_at: string | null;
    status: 'queued' | 'processing';
    completed_at: null;
    cancelled_at: null;
};

/**
 * The webhook of a creation, and how its delivery stands.
 */
export type CreationWebhook = {
    url: string;
    status: 'pending' | 'delivered' | 'failed' | 'skipped';
    /**
     * Attempts of the current round.
     */
    attempts: number;
};

/**
 * A creation that has its images.
 */
export type CompletedCreation = {
    /**
     * The id of the creation, a UUID of version 7.
     */
    id: string;
    model: string;
    prompt: string | null;
    resolution: Resolution;
    aspect_ratio: AspectRatio;
    output_format: OutputFormat;
    seed: number | null;
    /**
     * As in the request. Missing when the request left it out.
     */
    negative_prompt?: string;
    /**
     * As in the request. Missing when the request left it out.
     */
    quality?: 'auto' | 'low' | 'medium' | 'high';
    /**
     * As in the request. Missing when the request left it out.
     */
    background?: 'auto' | 'opaque' | 'transparent';
    /**
     * What was charged, in USD. It stays after a refund.
     */
    cost: number;
    /**
     * What was refunded, in USD: 0 or the cost.
     */
    amount_refunded: number;
    /**
     * All amounts are US dollars.
     */
    currency: 'USD';
    /**
     * null when the request named no webhook_url, and after erased_at.
     */
    webhook: CreationWebhook | null;
    /**
     * The metadata of the request, under exactly its keys.
     */
    metadata: {
        [key: string]: string;
    };
    /**
     * For whom the client renders, as the request named it. null when it named nobody.
     */
    user: string | null;
    /**
     * When the request was accepted.
     */
    created_at: string;
    /**
     * When the rendering began.
     */
    started_at: string | null;
    status: 'completed';
    /**
     * The addresses of the images. Empty after result_expires_at. Where addresses are signed, each reading gives new ones, which open the images for an hour or as the operator chose; afterwards they are 403.
     */
    result_urls: Array<string>;
    /**
     * The images. Empty after result_expires_at.
     */
    results: Array<CreationResult>;
    /**
     * Until when the images can be fetched.
     */
    result_expires_at: string;
    /**
     * Missing when the account had no bucket for results.
     */
    copy?: CreationCopy;
    /**
     * When the creation ended.
     */
    completed_at: string;
    cancelled_at: null;
    /**
     * When prompt, metadata, user and webhook were erased, by a DELETE or by age. Missing as long as they are there.
     */
    erased_at?: string;
};

/**
 * One rendered image.
 */
export type CreationResult = {
    /**
     * Anyone who has the address can fetch the image until result_expires_at; a signed address until its Expires, in Unix seconds.
     */
    url: string;
    /**
     * In pixels.
     */
    width: number;
    /**
     * In pixels.
     */
    height: number;
    content_type: 'image/png' | 'image/jpeg' | 'image/webp';
    /**
     * The length of the file.
     */
    bytes: number;
    /**
     * `present` when the file carries content credentials, a C2PA manifest that says who made the picture and with which tool; otherwise `absent`. Read from the bytes that the provider sent, which are never changed. The signature is not checked. Missing on results of a release that did not look.
     */
    content_credentials?: 'present' | 'absent';
};

/**
 * The copy of the picture in the bucket of the account.
 */
export type CreationCopy = {
    status: 'pending' | 'copied' | 'failed';
    /**
     * Attempts of the current round that have ended.
     */
    attempts: number;
    /**
     * The address of the object in your bucket. null until it is there.
     */
    url: string | null;
    /**
     * Why the last attempt failed, or why no attempt is made any more.
     */
    error: string | null;
};

/**
 * A creation that failed. Its charge was refunded in full.
 */
export type FailedCreation = {
    /**
     * The id of the creation, a UUID of version 7.
     */
    id: string;
    model: string;
    prompt: string | null;
    resolution: Resolution;
    aspect_ratio: AspectRatio;
    output_format: OutputFormat;
    seed: number | null;
    /**
     * As in the request. Missing when the request left it out.
     */
    negative_prompt?: string;
    /**
     * As in the request. Missing when the request left it out.
     */
    quality?: 'auto' | 'low' | 'medium' | 'high';
    /**
     * As in the request. Missing when the request left it out.
     */
    background?: 'auto' | 'opaque' | 'transparent';
    /**
     * What was charged, in USD. It stays after a refund.
     */
    cost: number;
    /**
     * What was refunded, in USD: 0 or the cost.
     */
    amount_refunded: number;
    /**
     * All amounts are US dollars.
     */
    currency: 'USD';
    /**
     * null when the request named no webhook_url, and after erased_at.
     */
    webhook: CreationWebhook | null;
    /**
     * The metadata of the request, under exactly its keys.
     */
    metadata: {
        [key: string]: string;
    };
    /**
     * For whom the client renders, as the request named it. null when it named nobody.
     */
    user: string | null;
    /**
     * When the request was accepted.
     */
    created_at: string;
    /**
     * When the rendering began.
     */
    started_at: string | null;
    status: 'failed';
    error: CreationFailure;
    error_code: FailureCode;
    /**
     * Whether the same request may succeed when sent again.
     */
    retryable: boolean;
    /**
     * When the creation ended.
     */
    completed_at: string;
    /**
     * When the creation was cancelled.
     */
    cancelled_at: string | null;
    /**
     * When prompt, metadata, user and webhook were erased, by a DELETE or by age. Missing as long as they are there.
     */
    erased_at?: string;
};

/**
 * A creation as a token of its user gets it: without webhook and metadata.
 */
export type UserCreation = {
    /**
     * The id of the creation, a UUID of version 7.
     */
    id: string;
    model: string;
    prompt: string | null;
    resolution: Resolution;
    aspect_ratio: AspectRatio;
    output_format: OutputFormat;
    seed: number | null;
    /**
     * As in the request. Missing when the request left it out.
     */
    negative_prompt?: string;
    /**
     * As in the request. Missing when the request left it out.
     */
    quality?: 'auto' | 'low' | 'medium' | 'high';
    /**
     * As in the request. Missing when the request left it out.
     */
    background?: 'auto' | 'opaque' | 'transparent';
    /**
     * What was charged, in USD. It stays after a refund.
     */
    cost: number;
    /**
     * What was refunded, in USD: 0 or the cost.
     */
    amount_refunded: number;
    /**
     * All amounts are US dollars.
     */
    currency: 'USD';
    /**
     * For whom the client renders, as the request named it. null when it named nobody.
     */
    user: string | null;
    /**
     * When the request was accepted.
     */
    created_at: string;
    /**
     * When the rendering began.
     */
    started_at: string | null;
    status: 'queued' | 'processing';
    completed_at: null;
    cancelled_at: null;
} | {
    /**
     * The id of the creation, a UUID of version 7.
     */
    id: string;
    model: string;
    prompt: string | null;
    resolution: Resolution;
    aspect_ratio: AspectRatio;
    output_format: OutputFormat;
    seed: number | null;
    /**
     * As in the request. Missing when the request left it out.
     */
    negative_prompt?: string;
    /**
     * As in the request. Missing when the request left it out.
     */
    quality?: 'auto' | 'low' | 'medium' | 'high';
    /**
     * As in the request. Missing when the request left it out.
     */
    background?: 'auto' | 'opaque' | 'transparent';
    /**
     * What was charged, in USD. It stays after a refund.
     */
    cost: number;
    /**
     * What was refunded, in USD: 0 or the cost.
     */
    amount_refunded: number;
    /**
     * All amounts are US dollars.
     */
    currency: 'USD';
    /**
     * For whom the client renders, as the request named it. null when it named nobody.
     */
    user: string | null;
    /**
     * When the request was accepted.
     */
    created_at: string;
    /**
     * When the rendering began.
     */
    started_at: string | null;
    status: 'completed';
    /**
     * The addresses of the images. Empty after result_expires_at. Where addresses are signed, each reading gives new ones, which open the images for an hour or as the operator chose; afterwards they are 403.
     */
    result_urls: Array<string>;
    /**
     * The images. Empty after result_expires_at.
     */
    results: Array<CreationResult>;
    /**
     * Until when the images can be fetched.
     */
    result_expires_at: string;
    /**
     * Missing when the account had no bucket for results.
     */
    copy?: CreationCopy;
    /**
     * When the creation ended.
     */
    completed_at: string;
    cancelled_at: null;
    /**
     * When prompt, metadata, user and webhook were erased, by a DELETE or by age. Missing as long as they are there.
     */
    erased_at?: string;
} | {
    /**
     * The id of the creation, a UUID of version 7.
     */
    id: string;
    model: string;
    prompt: string | null;
    resolution: Resolution;
    aspect_ratio: AspectRatio;
    output_format: OutputFormat;
    seed: number | null;
    /**
     * As in the request. Missing when the request left it out.
     */
    negative_prompt?: string;
    /**
     * As in the request. Missing when the request left it out.
     */
    quality?: 'auto' | 'low' | 'medium' | 'high';
    /**
     * As in the request. Missing when the request left it out.
     */
    background?: 'auto' | 'opaque' | 'transparent';
    /**
     * What was charged, in USD. It stays after a refund.
     */
    cost: number;
    /**
     * What was refunded, in USD: 0 or the cost.
     */
    amount_refunded: number;
    /**
     * All amounts are US dollars.
     */
    currency: 'USD';
    /**
     * For whom the client renders, as the request named it. null when it named nobody.
     */
    user: string | null;
    /**
     * When the request was accepted.
     */
    created_at: string;
    /**
     * When the rendering began.
     */
    started_at: string | null;
    status: 'failed';
    error: CreationFailure;
    error_code: FailureCode;
    /**
     * Whether the same request may succeed when sent again.
     */
    retryable: boolean;
    /**
     * When the creation ended.
     */
    completed_at: string;
    /**
     * When the creation was cancelled.
     */
    cancelled_at: string | null;
    /**
     * When prompt, metadata, user and webhook were erased, by a DELETE or by age. Missing as long as they are there.
     */
    erased_at?: string;
};

/**
 * The creations of a request that names `count`, in the order of their seeds.
 */
export type CreationList = {
    data: Array<Creation | UserCreation>;
};

/**
 * The price of a request, and the image that it would give.
 */
export type Quote = {
    /**
     * What the request would cost, in USD.
     */
    cost: number;
    /**
     * All amounts are US dollars.
     */
    currency: 'USD';
    model: string;
    resolution: Resolution;
    aspect_ratio: AspectRatio;
    output_format: OutputFormat;
    /**
     * The number of source images.
     */
    input_images: number;
    /**
     * What the account can spend, in USD.
     */
    available: number;
    /**
     * Whether the account can pay the request.
     */
    sufficient: boolean;
};

/**
 * An announced upload.
 */
export type Upload = {
    id: string;
    /**
     * The item of `image_urls` that names this upload.
     */
    image_url: string;
    /**
     * PUT the bytes there within 15 minutes, without an API key.
     */
    upload_url: string;
    /**
     * Headers of the PUT. They are signed: send exactly these.
     */
    upload_headers: {
        [key: string]: string;
    };
    /**
     * Until when the upload can be named in `image_urls`.
     */
    expires_at: string;
};

/**
 * A page of creations. It may be short, or empty, with has_more.
 */
export type CreationPage = {
    /**
     * The newest first.
     */
    data: Array<Creation>;
    has_more: boolean;
    /**
     * The `cursor` of the next request. null when has_more is false.
     */
    next_cursor: string | null;
};

/**
 * A page of requests. It may be short, or empty, with has_more.
 */
export type RequestPage = {
    /**
     * The newest first.
     */
    data: Array<LoggedRequest>;
    has_more: boolean;
    /**
     * The `cursor` of the next request. null when has_more is false.
     */
    next_cursor: string | null;
};

/**
 * An accepted or a refused request.
 */
export type LoggedRequest = {
    /**
     * When the request was accepted or refused.
     */
    created_at: string;
    outcome: 'accepted' | 'refused';
    /**
     * null for an accepted request of another door than the portal.
     */
    door: RequestDoor | null;
    /**
     * null for an accepted request, as all members until message.
     */
    method: string | null;
    /**
     * With the query. Long words are cut.
     */
    path: string | null;
    /**
     * Of the answer.
     */
    status: number | null;
    code: 'ERR_INVALID_REQUEST' | 'ERR_CONTENT_POLICY' | 'ERR_API_KEY_INVALID' | 'ERR_INSUFFICIENT_BALANCE' | 'ERR_ACCOUNT_DISABLED' | 'ERR_API_SUSPENDED' | 'ERR_FORBIDDEN' | 'ERR_MODEL_NOT_FOUND' | 'ERR_NOT_FOUND' | 'ERR_RATE_LIMIT' | 'ERR_QUOTA_EXCEEDED' | 'ERR_INTERNAL' | 'ERR_INPUT_FETCH_FAILED' | 'ERR_GENERATION_FAILED' | 'ERR_PROVIDER_UNAVAILABLE' | null;
    /**
     * details.reason of the refusal.
     */
    reason: string | null;
    /**
     * The first field that is wrong.
     */
    field: string | null;
    /**
     * The message of the refusal.
     */
    message: string | null;
    /**
     * The id of the key.
     */
    key: string;
    /**
     * The id of the token of an end user that sent the request.
     */
    token: string | null;
    /**
     * X-Request-Id of the answer. null for an accepted request.
     */
    request_id: string | null;
    /**
     * From the arrival to the refusal.
     */
    duration_ms: number | null;
    /**
     * The network of the client: /24 of IPv4, /48 of IPv6.
     */
    address: string | null;
    /**
     * The body without secrets and pictures: the beginning of a refused one, at most 1 KB.
     */
    body: string | null;
    /**
     * How many refusals this entry stands for. It shows the last of them when they are more than 1.
     */
    count: number;
    /**
     * The creation of an accepted request, the first of several. null for a refused one.
     */
    creation_id: string | null;
};

/**
 * The events behind a cursor. An empty page says that there is none.
 */
export type EventPage = {
    /**
     * The oldest first.
     */
    data: Array<Event>;
    /**
     * The `after` of the next request, also without events.
     */
    next_cursor: string;
};

/**
 * A creation has ended, its webhook is sent again, or a notice was told.
 */
export type Event = {
    /**
     * New for each redelivery.
     */
    id: string;
    /**
     * The `event` or the `notice` of the payload.
     */
    event: 'creation.completed' | 'creation.failed' | 'wallet.low' | 'wallet.empty' | 'key.cap_reached' | 'webhook.failing' | 'endpoint.failing' | 'endpoint.disabled' | 'budget.reached' | 'payment.received' | 'payment.failed' | 'payment.reversed';
    /**
     * When it happened.
     */
    created_at: string;
    /**
     * The body of the webhook or of the notice. As JSON without spaces it has the same bytes.
     */
    payload: CreationEvent | Notice;
    /**
     * The id of the first event of the creation; null on every other event.
     */
    redelivery_of: string | null;
};

/**
 * The end of a creation. `event` tells which of the two it is.
 */
export type CreationEvent = ({
    event: 'creation.completed';
} & CreationCompleted) | ({
    event: 'creation.failed';
} & CreationFailed);

/**
 * Something that concerns no single creation. `notice` tells which of the ten it is.
 */
export type Notice = ({
    notice: 'wallet.low';
} & WalletLow) | ({
    notice: 'wallet.empty';
} & WalletEmpty) | ({
    notice: 'key.cap_reached';
} & KeyCapReached) | ({
    notice: 'webhook.failing';
} & WebhookFailing) | ({
    notice: 'endpoint.failing';
} & EndpointFailing) | ({
    notice: 'endpoint.disabled';
} & EndpointDisabled) | ({
    notice: 'budget.reached';
} & BudgetReached) | ({
    notice: 'payment.received';
} & PaymentReceived) | ({
    notice: 'payment.failed';
} & PaymentFailed) | ({
    notice: 'payment.reversed';
} & PaymentReversed);

/**
 * What the account and this key can spend.
 */
export type Balance = {
    /**
     * The balance plus the credit line, in USD.
     */
    available: number;
    /**
     * In USD. Below zero while the credit line is in use.
     */
    balance: number;
    /**
     * In USD.
     */
    credit_line: number;
    /**
     * All amounts are US dollars.
     */
    currency: 'USD';
    /**
     * The automatic top-up. open: money is on its way. paused: a person must act. Absent: it is off.
     */
    auto_top_up?: 'on' | 'open' | 'paused';
    /**
     * Creations of the account that have not ended.
     */
    in_flight: number;
    /**
     * The most creations that may be open at once.
     */
    max_concurrent: number;
    key: KeyBudget;
};

/**
 * The limits of the key of this request, and what it has spent. A refund is credited to the day, the month and the user of its charge.
 */
export type KeyBudget = {
    /**
     * The most that the key may spend in a UTC month, in USD. null is no limit.
     */
    monthly_cap: number | null;
    /**
     * What the key has spent in this UTC month.
     */
    spent: number;
    /**
     * The begin of the next month.
     */
    resets_at: string;
    /**
     * The most that the key may spend on a UTC day, in USD. null is no limit.
     */
    daily_cap: number | null;
    /**
     * What the key has spent on this UTC day.
     */
    spent_today: number;
    /**
     * The begin of the next day.
     */
    day_resets_at: string;
    /**
     * The most that the key may spend in all, in USD. null is no limit.
     */
    total_cap: number | null;
    /**
     * What the key has spent in all.
     */
    spent_total: number;
    /**
     * The most that the key may spend in a UTC month for each user, in USD. null is no limit.
     */
    per_user_monthly_cap: number | null;
    /**
     * The only models that the key may use. null for all models of the account.
     */
    models: Array<string> | null;
    /**
     * When the key stops working. null for never.
     */
    expires_at: string | null;
    /**
     * null unless the request names a user.
     */
    user: UserBudget | null;
};

/**
 * What a key has spent for one user of the client.
 */
export type UserBudget = {
    id: string;
    /**
     * What the key has spent for this user in this UTC month, while it had a cap for each user.
     */
    spent: number;
    /**
     * The begin of the next month.
     */
    resets_at: string;
};

/**
 * A token, as it was minted.
 */
export type NewUserToken = {
    id: string;
    /**
     * For whom the token acts. Every creation that it makes has this user.
     */
    user: string;
    /**
     * The most that the token may spend, in USD.
     */
    spend_limit: number;
    /**
     * How many creations it may make, and announce how many uploads.
     */
    max_uses: number;
    /**
     * The only models that the token may use. null for all models of the key.
     */
    models: Array<string> | null;
    /**
     * The origins of the pages that may send the token. Requests without `Origin` may always.
     */
    origins: Array<string>;
    /**
     * From when on the token is refused.
     */
    expires_at: string;
    /**
     * The token itself, in this answer only. Give it to the page of the user.
     */
    token: string;
};

/**
 * A token, and what it has done.
 */
export type UserToken = {
    id: string;
    /**
     * For whom the token acts. Every creation that it makes has this user.
     */
    user: string;
    /**
     * The most that the token may spend, in USD.
     */
    spend_limit: number;
    /**
     * How many creations it may make, and announce how many uploads.
     */
    max_uses: number;
    /**
     * The only models that the token may use. null for all models of the key.
     */
    models: Array<string> | null;
    /**
     * The origins of the pages that may send the token. Requests without `Origin` may always.
     */
    origins: Array<string>;
    /**
     * From when on the token is refused.
     */
    expires_at: string;
    /**
     * What the token has spent, less refunds, in USD.
     */
    spent: number;
    /**
     * How many creations it has made. A refund gives none back.
     */
    uses: number;
    /**
     * null unless it was revoked.
     */
    revoked_at: string | null;
};

/**
 * All endpoints of the account.
 */
export type WebhookEndpointList = {
    /**
     * The oldest first.
     */
    data: Array<WebhookEndpoint>;
};

/**
 * An address that gets events of its account.
 */
export type WebhookEndpoint = {
    id: string;
    /**
     * Where the events go, by the rules of `webhook_url`.
     */
    url: string;
    /**
     * For people.
     */
    description: string;
    /**
     * The events and the notices that the endpoint gets.
     */
    events: Array<'creation.completed' | 'creation.failed' | 'wallet.low' | 'wallet.empty' | 'key.cap_reached' | 'webhook.failing' | 'endpoint.failing' | 'endpoint.disabled' | 'budget.reached' | 'payment.received' | 'payment.failed' | 'payment.reversed'>;
    /**
     * Whether the endpoint gets anything.
     */
    enabled: boolean;
    /**
     * `failing`: the service switched the endpoint off, because every attempt of five days failed.
     */
    disabled_reason: 'failing' | null;
    /**
     * When the endpoint was added.
     */
    created_at: string;
};

/**
 * The bucket that gets a copy of each picture.
 */
export type ResultsBucket = {
    /**
     * The address of the service that speaks S3, without a path, by the rules of `webhook_url`.
     */
    endpoint: string;
    /**
     * It stands in the path of each request.
     */
    bucket: string;
    /**
     * The region that requests are signed for. Some services take `auto`.
     */
    region: string;
    /**
     * What stands before the name of each object. It may be empty.
     */
    prefix: string;
    /**
     * When the bucket was set.
     */
    updated_at: string;
};

/**
 * Every refusal in one type. Branch on `error.code` and `error.details.reason`, never on `error.message`.
 */
export type Problem = InvalidFieldsProblem | NoRouteProblem | MaxCostExceededProblem | IdempotencyKeyMismatchProblem | NotCancellableProblem | NotDeletableProblem | NoResultsProblem | KeyRefusedProblem | OverBalanceProblem | OverBudgetProblem | OverUserBudgetProblem | AccountCannotPayProblem | TokenBudgetExceededProblem | TokenUsesExceededProblem | TokenRefusedProblem | AccountDisabledProblem | ApiSuspendedProblem | ModelNotFoundProblem | TokenNotFoundProblem | EndpointNotFoundProblem | BucketNotFoundProblem | NotCopiedProblem | NotFoundProblem | RateUsedUpProblem | PolledTooSoonProblem | AddressBlockedProblem | TooManyOpenProblem | ServiceIsFullProblem | TooManyUploadsProblem | InternalProblem | InputFetchFailedProblem | GenerationFailedProblem | ProviderUnavailableProblem | OverloadedProblem | NoProviderEnabledProblem;
