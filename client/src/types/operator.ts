// Written by `npm run openapi` from docs/operator-openapi.json. Do not change it by hand.
// schemas f4823a5cf7fe983f505e63d348a527b7de9e0466397308068275af70251d23bc
// types   b1257d1b221202afb1edc6f101b835b0df619c39ae19afdb65edebfa3b26274c

export type NewAccount = {
    name: string;
    /**
     * Your own name for it, unique in the service.
     */
    external_id?: string;
    /**
     * USD, with at most 6 decimals.
     */
    opening_balance?: number;
    /**
     * USD, with at most 6 decimals.
     */
    credit_line?: number;
    limits?: SomeLimits;
    providers?: 'all' | Array<string>;
    hidden_models?: Array<string>;
    notice_url?: string;
    /**
     * USD, with at most 6 decimals.
     */
    low_balance?: number;
    /**
     * Addresses of new results. null: as the service has it. 400 if the service cannot keep it.
     */
    results?: 'unguessable' | 'signed';
    /**
     * How long a signed address opens its result. null: 60.
     */
    results_minutes?: number;
};

export type SomeLimits = {
    post_rate?: number;
    get_rate?: number;
    user_post_rate?: number;
    user_get_rate?: number;
    max_concurrent?: number;
    deadline?: number;
    max_unused_uploads?: number;
};

export type AccountChange = {
    name?: string;
    /**
     * Your own name for it, unique in the service.
     */
    external_id?: string | null;
    /**
     * USD, with at most 6 decimals.
     */
    credit_line?: number;
    limits?: SomeLimits;
    providers?: 'all' | Array<string>;
    hidden_models?: Array<string>;
    notice_url?: string | null;
    /**
     * USD, with at most 6 decimals.
     */
    low_balance?: number | null;
    /**
     * Addresses of new results. null: as the service has it. 400 if the service cannot keep it.
     */
    results?: 'unguessable' | 'signed' | null;
    /**
     * How long a signed address opens its result. null: 60.
     */
    results_minutes?: number | null;
    condition?: 'active' | 'suspended' | 'disabled';
    version?: string;
};

export type NewKey = {
    name: string;
    /**
     * USD, with at most 6 decimals.
     */
    daily_cap?: number | null;
    /**
     * USD, with at most 6 decimals.
     */
    monthly_cap?: number | null;
    /**
     * USD, with at most 6 decimals.
     */
    total_cap?: number | null;
    /**
     * USD, with at most 6 decimals.
     */
    per_user_monthly_cap?: number | null;
    models?: Array<string> | null;
    expires_at?: string | null;
};

export type KeyChange = {
    name?: string;
    /**
     * USD, with at most 6 decimals.
     */
    daily_cap?: number | null;
    /**
     * USD, with at most 6 decimals.
     */
    monthly_cap?: number | null;
    /**
     * USD, with at most 6 decimals.
     */
    total_cap?: number | null;
    /**
     * USD, with at most 6 decimals.
     */
    per_user_monthly_cap?: number | null;
    models?: Array<string> | null;
    expires_at?: string | null;
    version?: string;
};

export type KeyRoll = {
    ends_in: '1h' | '24h' | '7d';
};

export type NewPayment = {
    /**
     * USD, with at most 6 decimals.
     */
    amount: number;
    /**
     * Counts once for the account, for all kinds of movements.
     */
    reference: string;
    /**
     * The payment system, such as "adyen".
     */
    source?: string;
    note?: string;
};

export type NewReversal = {
    /**
     * Counts once for the account, for all kinds of movements.
     */
    reference: string;
    reason: string;
    /**
     * USD, with at most 6 decimals.
     */
    amount?: number;
};

export type NewAdjustment = {
    /**
     * USD, with at most 6 decimals. Not 0; below 0 it is taken from the balance.
     */
    amount: number;
    /**
     * Counts once for the account, for all kinds of movements.
     */
    reference: string;
    reason: string;
    allow_negative?: boolean;
};

export type SecretRotation = {
    sign_from?: 'now' | '1h' | '24h';
};

export type Problem = {
    error: {
        code: string;
        message: string;
        details: {
            [key: string]: unknown;
        };
    };
};

export type AccountPage = {
    data: Array<Account>;
    has_more: boolean;
    next_cursor: string | null;
};

export type Account = {
    id: string;
    external_id: string | null;
    name: string;
    condition: 'active' | 'suspended' | 'disabled';
    /**
     * Balance and credit line.
     */
    available: number;
    balance: number;
    credit_line: number;
    in_flight: number;
    limits: Limits;
    providers: 'all' | Array<string>;
    hidden_models: Array<string>;
    webhook_secret_issued: boolean;
    notice_url: string | null;
    low_balance: number | null;
    /**
     * Addresses of new results. null: as the service has it. 400 if the service cannot keep it.
     */
    results: 'unguessable' | 'signed' | null;
    /**
     * How long a signed address opens its result. null: 60.
     */
    results_minutes: number | null;
    created_at: string;
    /**
     * Changes with everything that a PATCH changes. Send it back to change only what you saw.
     */
    version: string;
};

export type Limits = {
    post_rate: number;
    get_rate: number;
    user_post_rate: number;
    user_get_rate: number;
    max_concurrent: number;
    deadline: number;
    max_unused_uploads: number;
};

export type KeyPage = {
    data: Array<Key>;
    has_more: boolean;
    next_cursor: string | null;
};

export type Key = {
    id: string;
    name: string;
    prefix: string;
    last4: string | null;
    created_at: string;
    last_used_at: string | null;
    revoked_at: string | null;
    daily_cap: number | null;
    monthly_cap: number | null;
    total_cap: number | null;
    per_user_monthly_cap: number | null;
    models: Array<string> | null;
    expires_at: string | null;
    spent_today: number;
    spent_this_month: number;
    spent_total: number;
    /**
     * Changes with everything that a PATCH changes. Send it back to change only what you saw.
     */
    version: string;
};

export type MadeKey = {
    id: string;
    name: string;
    prefix: string;
    last4: string | null;
    created_at: string;
    last_used_at: string | null;
    revoked_at: string | null;
    daily_cap: number | null;
    monthly_cap: number | null;
    total_cap: number | null;
    per_user_monthly_cap: number | null;
    models: Array<string> | null;
    expires_at: string | null;
    spent_today: number;
    spent_this_month: number;
    spent_total: number;
    /**
     * Changes with everything that a PATCH changes. Send it back to change only what you saw.
     */
    version: string;
    /**
     * Its text, this once. null when the answer is a replay.
     */
    key: string | null;
    replaced_until?: string;
};

export type Wallet = {
    available: number;
    balance: number;
    credit_line: number;
};

export type LedgerRowPage = {
    data: Array<LedgerRow>;
    has_more: boolean;
    next_cursor: string | null;
};

export type LedgerRow = {
    id: string;
    kind: 'charge' | 'refund' | 'top_up' | 'adjustment' | 'credit_line' | 'payment' | 'payment_reversed';
    /**
     * The change of what the account can spend.
     */
    amount: number;
    at: string;
    creation: string | null;
    key: string | null;
    user: string | null;
    reference: string | null;
    reason: string | null;
    payment: string | null;
    /**
     * The id of the operator key. null: a person or a command.
     */
    by: string | null;
};

export type PaymentPage = {
    data: Array<Payment>;
    has_more: boolean;
    next_cursor: string | null;
};

export type Payment = {
    id: string;
    account: string;
    /**
     * outside: another payment system than Stripe took it.
     */
    kind: 'outside' | 'checkout' | 'auto';
    state: 'open' | 'succeeded' | 'failed' | 'expired' | 'unknown' | 'held';
    /**
     * What was credited, or is to be.
     */
    amount: number;
    /**
     * What was given back of it.
     */
    reversed: number;
    reference: string | null;
    source: string | null;
    note: string | null;
    at: string;
    /**
     * The id of the operator key.
     */
    by: string | null;
};

export type MadePayment = {
    id: string;
    account: string;
    /**
     * outside: another payment system than Stripe took it.
     */
    kind: 'outside' | 'checkout' | 'auto';
    state: 'open' | 'succeeded' | 'failed' | 'expired' | 'unknown' | 'held';
    /**
     * What was credited, or is to be.
     */
    amount: number;
    /**
     * What was given back of it.
     */
    reversed: number;
    reference: string | null;
    source: string | null;
    note: string | null;
    at: string;
    /**
     * The id of the operator key.
     */
    by: string | null;
    /**
     * An earlier request made it.
     */
    already_applied: boolean;
};

export type AdjustedWallet = {
    available: number;
    balance: number;
    credit_line: number;
    /**
     * An earlier request made it.
     */
    already_applied: boolean;
};

export type WebhookSecret = {
    account: string;
    secret: string;
    /**
     * When it was issued.
     */
    issued_at: string;
    /**
     * From when it signs.
     */
    signs_from: string;
    /**
     * The secret that signs until then.
     */
    signing_until_then: string | null;
    replaced_valid_until: Array<string>;
};

export type Usage = {
    account: string;
    from: string;
    to: string;
    by: 'day' | 'key' | 'model' | 'user';
    data: Array<UsageRow>;
    total: UsageFigures;
};

export type UsageRow = {
    creations: number;
    completed: number;
    failed: number;
    charged: number;
    refunded: number;
    spent: number;
    /**
     * null: what names none.
     */
    group: string | null;
};

export type UsageFigures = {
    creations: number;
    completed: number;
    failed: number;
    charged: number;
    refunded: number;
    spent: number;
};

export type UsageReport = {
    from: string;
    to: string;
    by: 'day' | 'key' | 'model' | 'user';
    data: Array<UsageRow>;
    total: UsageFigures;
};

export type MarginReport = {
    from: string;
    to: string;
    by: 'account' | 'model' | 'provider' | 'day';
    data: Array<MarginRow>;
    total: MarginFigures;
    money_in: {
        /**
         * What payment systems took.
         */
        payments: number;
        /**
         * What the operator entered.
         */
        top_ups: number;
        /**
         * What refunds and disputes took back.
         */
        reversed: number;
    };
};

export type MarginRow = {
    creations: number;
    failed: number;
    revenue: number;
    provider_cost: number;
    margin: number;
    margin_percent: number | null;
    cost_unknown: number;
    revenue_cost_unknown: number;
    unclear: number;
    unclear_cost: number;
    billed: number;
    billed_cost: number;
    billed_catalog_cost: number;
    billed_difference: number;
    billed_difference_percent: number | null;
    /**
     * null: what names none.
     */
    group: string | null;
    /**
     * By account: its name.
     */
    name?: string | null;
};

export type MarginFigures = {
    creations: number;
    failed: number;
    revenue: number;
    provider_cost: number;
    margin: number;
    margin_percent: number | null;
    cost_unknown: number;
    revenue_cost_unknown: number;
    unclear: number;
    unclear_cost: number;
    billed: number;
    billed_cost: number;
    billed_catalog_cost: number;
    billed_difference: number;
    billed_difference_percent: number | null;
};

export type ModelList = {
    data: Array<Model>;
};

export type Model = {
    id: string;
    name: string;
    prices: Array<Price>;
    routes: Array<{
        provider: string;
        resolutions: Array<string>;
        enabled: boolean;
        costs: Array<Price> | null;
    }>;
    deprecated_at: string | null;
    sunset_at: string | null;
};

export type Price = {
    resolution: string;
    usd: number;
    usd_per_input_image: number;
};

export type ProviderList = {
    data: Array<Provider>;
};

export type Provider = {
    name: string;
    enabled: boolean;
    paused_since: string | null;
};

export type ActionPage = {
    data: Array<Action>;
    has_more: boolean;
    next_cursor: string | null;
};

export type Action = {
    id: string;
    at: string;
    action: string;
    target: string | null;
    outcome: 'begun' | 'done' | 'refused';
    note: string | null;
    operator_key: {
        id: string;
        name: string;
    } | null;
    person: string | null;
};

export type Operations = {
    'GET /accounts': {
        takes: {
            external_id?: string;
            condition?: 'active' | 'suspended' | 'disabled';
            limit?: number;
            /**
             * The `next_cursor` of the answer before.
             */
            cursor?: string;
        };
        gives: AccountPage;
    };
    'POST /accounts': {
        takes: NewAccount;
        gives: Account;
    };
    'GET /accounts/{account}': {
        gives: Account;
    };
    'PATCH /accounts/{account}': {
        takes: AccountChange;
        gives: Account;
    };
    'GET /accounts/{account}/keys': {
        takes: {
            limit?: number;
            /**
             * The `next_cursor` of the answer before.
             */
            cursor?: string;
        };
        gives: KeyPage;
    };
    'POST /accounts/{account}/keys': {
        takes: NewKey;
        gives: MadeKey;
    };
    'GET /accounts/{account}/keys/{key}': {
        gives: Key;
    };
    'PATCH /accounts/{account}/keys/{key}': {
        takes: KeyChange;
        gives: Key;
    };
    'POST /accounts/{account}/keys/{key}/roll': {
        takes: KeyRoll;
        gives: MadeKey;
    };
    'POST /accounts/{account}/keys/{key}/revoke': {
        gives: Key;
    };
    'GET /accounts/{account}/wallet': {
        gives: Wallet;
    };
    'GET /accounts/{account}/ledger': {
        takes: {
            from?: string;
            to?: string;
            limit?: number;
            /**
             * The `next_cursor` of the answer before.
             */
            cursor?: string;
        };
        gives: LedgerRowPage;
    };
    'GET /accounts/{account}/payments': {
        takes: {
            limit?: number;
            /**
             * The `next_cursor` of the answer before.
             */
            cursor?: string;
        };
        gives: PaymentPage;
    };
    'POST /accounts/{account}/payments': {
        takes: NewPayment;
        gives: MadePayment;
    };
    'GET /payments/{payment}': {
        gives: Payment;
    };
    'POST /payments/{payment}/reversals': {
        takes: NewReversal;
        gives: MadePayment;
    };
    'POST /accounts/{account}/adjustments': {
        takes: NewAdjustment;
        gives: AdjustedWallet;
    };
    'GET /accounts/{account}/webhook-secret': {
        gives: WebhookSecret;
    };
    'POST /accounts/{account}/webhook-secret': {
        gives: WebhookSecret;
    };
    'POST /accounts/{account}/webhook-secret/rotate': {
        takes: SecretRotation;
        gives: WebhookSecret;
    };
    'GET /accounts/{account}/usage': {
        takes: {
            from?: string;
            to?: string;
            by?: 'day' | 'key' | 'model' | 'user';
        };
        gives: Usage;
    };
    'GET /reports/usage': {
        takes: {
            from?: string;
            to?: string;
            by?: 'day' | 'key' | 'model' | 'user';
        };
        gives: UsageReport;
    };
    'GET /reports/margin': {
        takes: {
            from?: string;
            to?: string;
            by?: 'account' | 'model' | 'provider' | 'day';
        };
        gives: MarginReport;
    };
    'GET /models': {
        gives: ModelList;
    };
    'GET /providers': {
        gives: ProviderList;
    };
    'GET /actions': {
        takes: {
            account?: string;
            from?: string;
            to?: string;
            limit?: number;
            /**
             * The `next_cursor` of the answer before.
             */
            cursor?: string;
        };
        gives: ActionPage;
    };
};
