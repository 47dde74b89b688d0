/**
 * The answers of the portal's API, as its functions write them and its pages read them. Amounts are in USD, times
 * are RFC 3339 in UTC, days are "2026-11-21". This file has types only, so no bundle contains it. It is a list, so
 * it may be longer than 300 lines.
 */
import type { ResultAccess, ServiceAccess } from './limits.ts';
import type { Role } from './operations.ts';
import type { plainShown, Tier } from './request-fields.ts';

/** A list that is read in pages. `next_cursor` is null on the last page. */
export interface PageView<Row> {
  readonly data: readonly Row[];
  readonly next_cursor: string | null;
}

// Who is signed in

/** GET /me. */
export interface MeView {
  readonly person: { readonly id: string; readonly email: string; readonly signed_in_at: string };
  /** The account of the session. Null: the person belongs to no account. */
  readonly account: {
    readonly id: string;
    readonly name: string;
    readonly role: Role;
    readonly condition: 'active' | 'suspended' | 'disabled';
  } | null;
  /** All accounts of the person, for the switch. */
  readonly accounts: readonly { readonly id: string; readonly name: string; readonly role: Role }[];
  readonly is_operator: boolean;
  /** Until when the sign-in counts as fresh. */
  readonly fresh_until: string;
  readonly service: {
    /** http(s)://HOST/api/public/v1 */
    readonly api_url: string;
    /** The base URL of libraries for the OpenAI API: …/openai/v1 */
    readonly openai_url: string;
    /** The address of the MCP server for agents. */
    readonly mcp_url: string;
    /** The operator's own way to pay. Null: there is none. */
    readonly payment_url: string | null;
    /** Whether the wallet page takes payments through Stripe. */
    readonly takes_payments: boolean;
    /** The operator's contact for clients, as a text. Null: the operator names no contact. */
    readonly contact: string | null;
    /** Where the person manages passkeys and password. Null: the issuer has no such page. */
    readonly credentials_url: string | null;
    /** An address that every local service has for webhooks. Null: this service has none. */
    readonly inbox_url: string | null;
    /** The operator's message while the service takes no new creations. Null: it takes them. */
    readonly closed_message: string | null;
  };
}

/** POST /account: {account}. The answer sets a new cookie. */
export interface SwitchedView {
  readonly account: string;
}

// Home and account

/** GET /home. */
export interface HomeView {
  readonly available: number;
  readonly balance: number;
  readonly credit_line: number;
  readonly in_flight: number;
  readonly max_concurrent: number;
  readonly spent_today: number;
  readonly spent_this_month: number;
  /** Null: the account has no budget for a month. */
  readonly monthly_budget: number | null;
  readonly creations: readonly CreationRow[];
  /** Webhooks and notices that are failing now (service/webhooks/webhook.ts). */
  readonly failing_webhooks: number;
  /** Webhooks and notices that failed for good in the last 24 hours. */
  readonly failed_webhooks: number;
  /** Keys with at least 80 % of a cap spent. */
  readonly keys_near_cap: readonly KeyView[];
  readonly steps: {
    readonly has_key: boolean;
    readonly has_creation: boolean;
    readonly has_webhook_secret: boolean;
    readonly has_delivery: boolean;
  };
}

/** GET /account. */
export interface AccountView {
  readonly id: string;
  readonly name: string;
  readonly condition: 'active' | 'suspended' | 'disabled';
  readonly created_at: string;
  readonly limits: {
    readonly post_rate: number;
    readonly get_rate: number;
    readonly user_post_rate: number;
    readonly user_get_rate: number;
    readonly max_concurrent: number;
    readonly deadline_seconds: number;
    readonly max_unused_uploads: number;
  };
  readonly in_flight: number;
  /** Open creations of the whole service, as an estimate, and how many it takes. */
  readonly service: {
    readonly open_creations: number;
    readonly capacity: number;
    /** The operator has closed the service to new creations. */
    readonly is_closed: boolean;
  };
  readonly models: readonly ModelView[];
}

// Models, for the playground

/** A model that this account may use, with what its enabled providers render. */
export interface ModelView {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** The price for each resolution, without source images. */
  readonly prices: Readonly<Record<string, number>>;
  /** What each source image adds. */
  readonly price_per_source_image: number;
  readonly resolutions: readonly string[];
  readonly aspect_ratios: readonly string[];
  readonly output_formats: readonly string[];
  readonly max_source_images: number;
  readonly takes_seed: boolean;
  readonly takes_negative_prompt: boolean;
  readonly takes_background: boolean;
  readonly takes_mask: boolean;
  readonly takes_quality: boolean;
  readonly qualities: readonly Tier[];
  readonly sunset_at: string | null;
}

// Keys

/** A key. The key itself is shown only once, in CreatedKeyView. */
export interface KeyView {
  readonly id: string;
  readonly name: string;
  /** "dk_live_AbC…" with the part that names account and key. */
  readonly prefix: string;
  /** The last four characters. Null for a key of an earlier release, which did not keep them. */
  readonly last4: string | null;
  readonly created_at: string;
  /** To the hour. Null: never used. */
  readonly last_used_at: string | null;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly models: readonly string[] | null;
  readonly daily_cap: number | null;
  readonly monthly_cap: number | null;
  readonly total_cap: number | null;
  readonly per_user_monthly_cap: number | null;
  readonly spent_today: number;
  readonly spent_this_month: number;
  readonly spent_total: number;
  /** Sent back with a change, so that no one overwrites another person's change. */
  readonly version: string;
}

/** GET /keys/{id}: the key, and the tokens of end users that it minted in the last day. */
export interface KeyDetail {
  readonly key: KeyView;
  /** The first hundred of them, the latest end first. */
  readonly tokens: readonly TokenRow[];
  readonly token_count: number;
  /** What all of them spent together. */
  readonly tokens_spent: number;
  /** False: the key minted more tokens than the service counts here. */
  readonly has_all_tokens: boolean;
}

export interface TokenRow {
  readonly id: string;
  readonly user: string;
  readonly spend_limit: number;
  readonly spent: number;
  readonly max_uses: number;
  readonly uses: number;
  readonly expires_at: string;
  readonly revoked_at: string | null;
}

/** POST /keys and POST /keys/{id}/roll. */
export interface CreatedKeyView {
  readonly key: string;
  readonly record: KeyView;
  /** Of a roll: until when the replaced key still works. */
  readonly replaced_until?: string;
}

/** The body of POST /keys, and with `version` of PATCH /keys/{id}. Null removes a limit. */
export interface KeyBody {
  readonly name?: string;
  readonly daily_cap?: number | null;
  readonly monthly_cap?: number | null;
  readonly total_cap?: number | null;
  readonly per_user_monthly_cap?: number | null;
  readonly models?: readonly string[] | null;
  readonly expires_at?: string | null;
  readonly version?: string;
}

/** The body of POST /keys/{id}/roll. */
export interface RollBody {
  readonly old_key_ends_in: '1h' | '24h' | '7d';
}

// Creations

/** A result, with its thumbnails. */
export interface PictureView {
  readonly url: string;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  readonly content_type: string;
  /** A WebP of at most 96 by 96 pixels, and one of at most 480 by 480. Null: none was made. */
  readonly small_url: string | null;
  readonly large_url: string | null;
  /** Nine colours of the picture, row by row, "#rrggbb". Empty: none are known. */
  readonly colours: readonly string[];
}

export interface CreationRow {
  readonly id: string;
  readonly status: 'queued' | 'processing' | 'completed' | 'failed';
  readonly model: string;
  readonly prompt: string | null;
  readonly resolution: string;
  readonly aspect_ratio: string;
  readonly cost: number;
  readonly amount_refunded: number;
  readonly error: string | null;
  readonly error_code: string | null;
  readonly user: string | null;
  /** The id and the name of the key. "portal" is the playground. */
  readonly key: { readonly id: string; readonly name: string };
  readonly result_urls: readonly string[];
  /** The first result. Null: there is none, or it has expired. */
  readonly picture: PictureView | null;
  readonly result_expires_at: string | null;
  readonly webhook: { readonly status: string; readonly attempts: number } | null;
  readonly created_at: string;
  readonly completed_at: string | null;
  readonly cancelled_at: string | null;
  /** When the page should poll again, as Retry-After of the public API. Null once the creation has ended. */
  readonly look_after_seconds: number | null;
}

export interface TimelineStep {
  readonly at: string;
  readonly kind:
    | 'accepted'
    | 'charged'
    | 'rendering'
    | 'attempt'
    | 'stored'
    | 'completed'
    | 'failed'
    | 'cancelled'
    | 'refunded'
    | 'webhook';
  /** In words, without the names of providers. */
  readonly text: string;
  /** Milliseconds since the step before. */
  readonly ms: number | null;
  readonly amount?: number;
  readonly delivery?: DeliveryRow;
}

/** GET /creations/{id}. */
export interface CreationDetail extends CreationRow, Readonly<ReturnType<typeof plainShown>> {
  readonly output_format: string;
  readonly seed: number | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly source_images: number;
  readonly results: readonly {
    readonly url: string;
    readonly width: number;
    readonly height: number;
    readonly content_type: string;
    readonly bytes: number;
  }[];
  readonly retryable: boolean | null;
  readonly webhook_url: string | null;
  /** The copy of the image in the account's bucket. Absent: none was owed. */
  readonly copy?: {
    readonly status: 'pending' | 'copied' | 'failed';
    readonly attempts: number;
    readonly url: string | null;
    readonly error: string | null;
  };
  readonly timeline: readonly TimelineStep[];
  readonly can_cancel: boolean;
  readonly can_redeliver: boolean;
  /** The body of POST /images/generate that makes the same request. */
  readonly request: Readonly<Record<string, unknown>>;
}

/** POST /quote. */
export interface QuoteView {
  readonly cost: number;
  readonly available: number;
  readonly sufficient: boolean;
}

/** POST /uploads. */
export interface UploadView {
  readonly id: string;
  readonly image_url: string;
  readonly upload_url: string;
  readonly upload_headers: Readonly<Record<string, string>>;
  readonly expires_at: string;
}

// Webhooks

/** GET /webhooks/endpoints. */
export interface EndpointsView {
  /** The oldest first. */
  readonly data: readonly EndpointRow[];
  /** The kinds of events that an endpoint may get, each with the body of a sample. */
  readonly samples: Readonly<Record<string, string>>;
  /** The most endpoints of an account. */
  readonly limit: number;
}

export interface EndpointRow extends EndpointBody {
  readonly id: string;
  readonly disabled_reason: 'failing' | null;
  readonly created_at: string;
  /** Every attempt since then has failed. Null: the last one was delivered, or there was none. */
  readonly failing_since: string | null;
  /** Attempts of the last 24 hours. */
  readonly delivered: number;
  readonly failed: number;
  /** Of the last 24 hours. */
  readonly last_failure: { readonly at: string; readonly reason: string } | null;
}

/** The body of POST /webhooks/endpoints, and the members of PATCH /webhooks/endpoints/{id}. */
export interface EndpointBody {
  readonly url: string;
  readonly description: string;
  readonly events: readonly string[];
  readonly enabled: boolean;
}

/** GET /webhooks. */
export interface WebhooksView {
  /** The newest first. Empty: no secret is issued, and no webhook is sent. */
  readonly secrets: readonly {
    /** Only when the secret was issued: neither "whsec_…" nor its last four characters are shown. */
    readonly issued_at: string;
    readonly state: 'signs' | 'signs_later' | 'replaced';
    readonly signs_from: string;
    /** The time until which it verifies. Null: it has not been replaced. */
    readonly valid_until: string | null;
  }[];
  /** Seconds until the next test delivery is possible. 0: now. */
  readonly test_after_seconds: number;
}

/** The body of POST /webhooks/test: to an address, or to an endpoint of the account. */
export interface TestBody {
  readonly url?: string;
  readonly endpoint?: string;
  /** Absent: creation.completed. */
  readonly event?: string;
}

/** POST /webhooks/secret/reveal, which issues the first secret, and POST /webhooks/secret/rotate. */
export interface SecretView {
  readonly secret: string;
  readonly issued_at: string;
  readonly signs_from: string;
  /** The secret that signs until then. */
  readonly signing_until_then?: string;
}

/** The body of POST /webhooks/secret/rotate. */
export interface RotateBody {
  readonly sign_from: 'now' | '1h' | '24h';
}

/** One attempt to deliver a webhook, a notice or a test. */
export interface DeliveryRow {
  readonly id: string;
  readonly at: string;
  readonly event: string;
  readonly creation: string | null;
  readonly is_test: boolean;
  /** Null: sent to the address of a request, or to the address for notices. */
  readonly endpoint: string | null;
  readonly host: string;
  readonly attempt: number;
  readonly of: number;
  readonly outcome: 'delivered' | 'failed' | 'unknown';
  readonly status: number | null;
  readonly ms: number | null;
  readonly next_attempt_at: string | null;
  /** Why it failed, in one sentence. Null when it did not. */
  readonly reason: string | null;
}

/** GET /deliveries/{id}. */
export interface DeliveryDetail extends DeliveryRow {
  readonly url: string;
  readonly request: {
    readonly headers: Readonly<Record<string, string>>;
    /** Null: the body of a test or a notice that is gone. */
    readonly body: string | null;
  };
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    /** At most 1 KiB. */
    readonly body: string;
  } | null;
  readonly can_redeliver: boolean;
}

/** A request of the last days. A refused one has all members; of an accepted one only its creation is known. */
export interface RequestRow {
  readonly id: string;
  readonly at: string;
  readonly outcome: 'accepted' | 'refused';
  readonly door: 'api' | 'openai' | 'mcp' | 'portal' | null;
  readonly method: string | null;
  /** With its query. */
  readonly path: string | null;
  readonly status: number | null;
  readonly code: string | null;
  readonly reason: string | null;
  /** The first field that is wrong. */
  readonly field: string | null;
  readonly message: string | null;
  readonly key: { readonly id: string; readonly name: string };
  /** The id of the token of an end user. */
  readonly token: string | null;
  readonly request_id: string | null;
  readonly ms: number | null;
  /** The network of the client: 203.0.113.0/24. */
  readonly address: string | null;
  /** The beginning of the body, without secrets and pictures. Null: no body, or no text. */
  readonly body: string | null;
  /** The minimum number of refusals of one kind. This row is the last of them. */
  readonly count: number;
  readonly creation: string | null;
}

/** POST /deliveries/redeliver: {since, endpoint?}. `since` is RFC 3339. */
export interface RedeliveredView {
  readonly redelivered: number;
  /** True: there are more, so the page sends the same request again. */
  readonly has_more: boolean;
}

/** POST /webhooks/test: {url}. */
export interface TestedView {
  readonly delivery: DeliveryDetail;
}

// Money

/** A movement of money with the balance after it. */
export interface LedgerView {
  readonly at: string;
  readonly kind:
    | 'charge'
    | 'refund'
    | 'top_up'
    | 'adjustment'
    | 'credit_line'
    | 'payment'
    | 'payment_reversed';
  readonly amount: number;
  /** What the account could spend after this row: balance and credit line. */
  readonly available: number;
  readonly creation: string | null;
  readonly key: string | null;
  readonly key_name: string | null;
  readonly model: string | null;
  readonly user: string | null;
  readonly note: string | null;
}

/** GET /ledger. */
export interface LedgerPage extends PageView<LedgerView> {
  readonly available: number;
  readonly balance: number;
  readonly credit_line: number;
  /** Months since the account was opened, "2026-11", the newest first, for the export. */
  readonly months: readonly string[];
}

/** GET /statement: the opening balance and all movements are the closing balance. The credit line is no part of it. */
export interface StatementView {
  /** "2026-11", in UTC. */
  readonly month: string;
  /** Months since the account was opened, the newest first. */
  readonly months: readonly string[];
  readonly account: { readonly id: string; readonly name: string };
  /** False: rows of the month may still come. */
  readonly is_final: boolean;
  /** The end of the rows that count. */
  readonly until: string;
  readonly opening_balance: number;
  /** By model, the largest first. Amounts are negative. */
  readonly charges: readonly StatementLine[];
  readonly charged: number;
  readonly refunds: readonly StatementLine[];
  readonly refunded: number;
  /** Top-ups, payments and adjustments: the sum of each kind. */
  readonly others: readonly { readonly kind: LedgerView['kind']; readonly amount: number }[];
  /** The first 500 of them. */
  readonly movements: readonly Pick<LedgerView, 'at' | 'kind' | 'amount' | 'note'>[];
  readonly closing_balance: number;
}

export interface StatementLine {
  readonly model: string | null;
  readonly count: number;
  readonly amount: number;
}

export interface UsageLine {
  /** The day, or the id of the key, the model or the user. Null: rows that name none. */
  readonly group: string | null;
  readonly name?: string | null;
  readonly creations: number;
  readonly failed: number;
  readonly charged: number;
  readonly refunded: number;
  readonly spent: number;
}

/** GET /usage. */
export interface UsageView {
  readonly from: string;
  readonly to: string;
  readonly by: 'day' | 'key' | 'model' | 'user';
  /** The days in their order; other groups by what they spent, the largest 1,000. */
  readonly lines: readonly UsageLine[];
  /** The number of lines that only the file has. Absent: none. */
  readonly lines_left_out?: number;
  /** Spend of each day by group, for the chart: the largest seven, and "other". '' has no name. */
  readonly days: readonly { readonly day: string; readonly spent: Readonly<Record<string, number>> }[];
  readonly total: Omit<UsageLine, 'group' | 'name'>;
  /** Of this month, for any requested days. `at_end` is null until the account has a whole day. */
  readonly month: { readonly spent: number; readonly at_end: number | null; readonly budget: BudgetView };
  /** Of the newest 300 creations of these days that ended: the share that completed, 0 to 1. Null when none did. */
  readonly success_rate: number | null;
  /** Seconds from acceptance to the image, of the completed ones among the newest 300. `of`: how many these are. */
  readonly seconds: { readonly p50: number; readonly p95: number; readonly of: number } | null;
}

/** A payment that came in: through Stripe, or through another payment system of the operator. */
export interface PaymentView {
  readonly id: string;
  /** 'auto': an automatic top-up. 'outside': another payment system took it. */
  readonly kind: 'checkout' | 'auto' | 'outside';
  /**
   * 'open': nobody has paid yet. 'processing': the money is on its way. 'unknown': Stripe did not say for a day. 'held':
   * the operator must check it, and nothing was credited.
   */
  readonly state: 'open' | 'processing' | 'succeeded' | 'failed' | 'expired' | 'unknown' | 'held';
  readonly amount: number;
  /** The credited amount. Null: nothing yet. */
  readonly credited: number | null;
  /** The part that refunds and disputes took back. */
  readonly reversed: number;
  readonly at: string;
  readonly has_receipt: boolean;
}

/** GET /payments, the newest first. */
export interface PaymentsView extends PageView<PaymentView> {
  /** True: no money is real. */
  readonly test_mode: boolean;
  /** True: after a dispute nobody can pay until the operator allows it again. */
  readonly is_closed: boolean;
  /** The least and the largest payment, in whole cents. */
  readonly least: number;
  readonly largest: number;
}

/** POST /payments. */
export interface PaymentBody {
  readonly amount: number;
  /** True: the card stays with Stripe for the automatic top-up. */
  readonly save_card: boolean;
}

export interface BegunPaymentView {
  readonly id: string;
  /** The page of Stripe on which the person pays. It comes back to /wallet?payment=ID. */
  readonly url: string;
}

/** GET and PUT /auto-top-up. */
export interface AutoTopUpView {
  readonly is_on: boolean;
  /** Null: nobody has chosen yet. */
  readonly threshold: number | null;
  readonly amount: number | null;
  readonly monthly_cap: number | null;
  /** What the payments that began in this UTC month took or may still take. */
  readonly used: number;
  /** The saved card. Null: there is none, so nothing can be taken. */
  readonly card: {
    readonly brand: string;
    readonly last4: string;
    readonly expiry_month: number;
    readonly expiry_year: number;
  } | null;
  /** Why the top-up is paused until a person acts. Null: it runs. */
  readonly paused:
    | 'authentication_required'
    | 'declined'
    | 'card_expired'
    | 'unknown'
    | 'dispute'
    | 'operator'
    | null;
  /** The pending payment. */
  readonly open_payment: string | null;
  readonly test_mode: boolean;
  readonly version: number;
}

/** PUT /auto-top-up. */
export interface AutoTopUpBody {
  readonly is_on: boolean;
  readonly threshold: number;
  readonly amount: number;
  readonly monthly_cap: number;
  /** As read. 0: nobody has chosen yet. */
  readonly version: number;
}

/** PUT /budget. A monthly budget only sends notices. It refuses no request. */
export interface BudgetView {
  /** Null: there is none. */
  readonly monthly_budget: number | null;
  readonly version: string;
}

/** GET and PUT /alerts. */
export interface AlertsView {
  /** Where notices go. Null: nowhere. */
  readonly notice_url: string | null;
  /** wallet.low is sent below this. Null: never. */
  readonly low_balance: number | null;
  readonly version: string;
}

/** GET and PUT /emails: only of the person. */
export interface EmailsView {
  /**
   * "none": this service sends no e-mails. "waiting": not yet confirmed. "gone": ended by the link of an
   * e-mail.
   */
  readonly state: 'none' | 'off' | 'waiting' | 'on' | 'gone';
  /** The state in a sentence, with the address. */
  readonly words: string;
  readonly choices: readonly {
    readonly notice: string;
    readonly label: string;
    readonly is_chosen: boolean;
  }[];
}

// People

/** GET /people. */
export interface PeopleView {
  readonly people: readonly {
    readonly id: string;
    readonly email: string;
    readonly role: Role;
    readonly since: string;
    readonly last_sign_in_at: string | null;
    readonly is_you: boolean;
    /** The most that a key of this person may spend in a month. Null: no limit. Only for developers. */
    readonly key_cap: number | null;
    readonly version: string;
  }[];
  readonly invitations: readonly {
    readonly id: string;
    readonly email: string;
    readonly role: Role;
    readonly invited_at: string;
    readonly invited_by: string;
    readonly expires_at: string;
  }[];
}

/** What POST /people answers, beside the invitation. */
export type InvitedView = PeopleView['invitations'][number] & {
  /** "none": no e-mail was sent. "refused": the user pool does not send one to this address now. */
  readonly mail: 'sent' | 'none' | 'refused';
  /** The address at which the person signs in. */
  readonly sign_in_at: string;
};

/** The body of POST /people, and of PATCH /people/{id} with `version` and without `email`. */
export interface PersonBody {
  readonly email?: string;
  readonly role?: Role;
  readonly key_cap?: number | null;
  readonly version?: string;
}

/** GET /audit. */
export interface ActionView {
  readonly id: string;
  readonly at: string;
  readonly email: string;
  /** The name of the operation, such as "createKey". */
  readonly action: string;
  /** The id of what was changed: a key, a person, a creation. */
  readonly target: string | null;
  /** 'begun': the outcome is unknown. */
  readonly outcome: 'done' | 'refused' | 'begun';
  readonly note: string | null;
}

// The operator

/** GET /operator/accounts and /operator/accounts/{id}. */
export interface OperatedAccount {
  readonly id: string;
  readonly name: string;
  readonly condition: 'active' | 'suspended' | 'disabled';
  readonly available: number;
  readonly balance: number;
  readonly credit_line: number;
  readonly in_flight: number;
  readonly limits: AccountView['limits'];
  /** Attempts of webhooks that failed in a row. Null: they are not counted, as there are no notices. */
  readonly webhook_failures: number | null;
  /** Addresses of new results. Null: the default of the service. */
  readonly results: ResultAccess | null;
  /** How long a signed address opens its result. Null: the usual time. */
  readonly results_minutes: number | null;
  readonly results_of_service: ServiceAccess;
  readonly created_at: string;
  readonly version: string;
}

/** The body of PATCH /operator/accounts/{id}, and with `name` and `balance` of POST /operator/accounts. */
export interface OperatedAccountBody {
  readonly name?: string;
  readonly balance?: number;
  readonly credit_line?: number;
  readonly condition?: 'active' | 'suspended' | 'disabled';
  readonly limits?: Partial<AccountView['limits']>;
  readonly results?: ResultAccess | null;
  readonly results_minutes?: number | null;
  readonly version?: string;
}

/** The body of POST /operator/accounts/{id}/top-up. A reference counts once. */
export interface TopUpBody {
  readonly amount: number;
  readonly reference: string;
}

/** GET /operator/webhooks. */
export interface FailingWebhook {
  readonly account: string;
  readonly account_name: string;
  readonly creation: string | null;
  readonly host: string;
  readonly attempts: number;
  readonly next_attempt_at: string;
}

/** GET /operator/search. */
export interface FoundView {
  readonly data: readonly FoundThing[];
  /** False: the names of some accounts were not searched. */
  readonly has_all: boolean;
}

export interface FoundThing {
  readonly kind: 'creation' | 'account' | 'key' | 'notice' | 'person' | 'invitation' | 'payment' | 'request';
  readonly id: string;
  readonly name: string;
  readonly account: string | null;
  readonly account_name: string | null;
}

/** GET /operator/service: what fails now, and the creations that are open. */
export interface ServiceView {
  /** Routes that failed so often that others are asked first. */
  readonly open_circuits: readonly (RouteName & { readonly since: string })[];
  /** What the operator paused for everybody, the oldest first. */
  readonly pauses: readonly PauseView[];
  readonly failing_webhooks: number;
  readonly open: {
    readonly count: number;
    /** False: there are more open creations than the service reads at once, so the counts are too low. */
    readonly has_all: boolean;
    /** By their age, the youngest first. The last band has no upper limit: `to_seconds` is null. */
    readonly bands: readonly {
      readonly from_seconds: number;
      readonly to_seconds: number | null;
      readonly count: number;
    }[];
    /** The oldest fifty, or the oldest fifty of the band that the request names by its `from_seconds`. */
    readonly oldest: readonly OpenCreation[];
    /** How many of the hundred oldest creations are past their time limit. */
    readonly overdue: number;
  };
}

export interface OpenCreation {
  readonly id: string;
  readonly account: string;
  readonly account_name: string;
  readonly model: string;
  readonly status: CreationRow['status'];
  readonly created_at: string;
  readonly is_overdue: boolean;
  /** The provider that was asked last. Null: none was asked. */
  readonly provider: string | null;
}

export interface RouteName {
  readonly provider: string;
  readonly model: string;
  readonly quality: string | null;
}

/** A provider that is paused for all accounts, or one of its routes. */
export interface PauseView {
  readonly provider: string;
  /** Null: the whole provider. */
  readonly model: string | null;
  readonly quality: string | null;
  readonly since: string;
  readonly reason: string | null;
}

/** The body of PUT /operator/pauses. */
export interface PauseBody {
  readonly provider: string;
  readonly model?: string | null;
  readonly quality?: string | null;
  readonly paused: boolean;
  readonly reason?: string;
}

/** The answer to PUT /operator/pauses: the pause, or null after a resumption. */
export interface PausedView {
  readonly pause: PauseView | null;
}

/** GET /operator/creations/{id}: the view of the client, and the members that only the operator may see. */
export interface OperatedCreation extends CreationDetail {
  readonly account: string;
  readonly account_name: string;
  readonly request_id: string | null;
  readonly deadline_at: string;
  readonly attempts: readonly {
    readonly provider: string;
    readonly model: string;
    readonly started_at: string;
    readonly ms: number | null;
    readonly outcome: string;
    /** Status and code of the vendor's answer. */
    readonly detail: string | null;
    readonly cost: number | null;
  }[];
}

/** GET /operator/providers: how the attempts of the newest creations of the last day went. */
export interface ProvidersView {
  readonly data: readonly ProviderView[];
  /**
   * The oldest creation that was read. Later than a day ago: there were more than the service reads at once.
   */
  readonly since: string;
  readonly creations: number;
}

export interface ProviderView {
  readonly name: string;
  readonly enabled: boolean;
  /** When it was paused for all accounts. Null: it is not paused. */
  readonly paused_since: string | null;
  readonly pause_reason: string | null;
  readonly hour: ProviderSpan;
  readonly day: ProviderSpan;
  /** The failures of the day by name, without those that the client caused. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly routes: readonly RouteView[];
}

export interface AttemptFigures {
  readonly succeeded: number;
  /** Attempts that failed by the provider's fault. */
  readonly failed: number;
  readonly p50_seconds: number | null;
  /** The median of what the provider bills for an image. */
  readonly p50_cost: number | null;
}

export interface ProviderSpan extends AttemptFigures {
  /** Refusals that the client caused, by a prompt or a source image. */
  readonly declined: number;
  /** Parts of equal length, the oldest first. */
  readonly parts: readonly AttemptFigures[];
}

export interface RouteView {
  readonly model: string;
  readonly quality: string | null;
  /** Since when other routes are tried first. Null: the route is healthy. */
  readonly open_since: string | null;
  readonly paused_since: string | null;
  readonly usual_seconds: number | null;
}

/** GET /operator/keys: a key of the operator API, which the command makes and changes. */
export interface OperatorKeyView {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  /** The networks from which the key works. Null: every address. */
  readonly from: readonly string[] | null;
  readonly daily_credit_cap: number | null;
  readonly credited_today: number;
  readonly post_rate: number;
  readonly get_rate: number;
  readonly expires_at: string;
  readonly created_at: string;
  /** To the hour. Null: never used. */
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
}

/** The figures of a line of the margin, by `report` of the command as well. */
export type MarginFigure =
  | 'creations'
  | 'failed'
  | 'revenue'
  | 'provider_cost'
  | 'margin'
  | 'margin_percent'
  | 'cost_unknown'
  | 'revenue_cost_unknown'
  | 'unclear'
  | 'unclear_cost'
  | 'billed'
  | 'billed_cost'
  | 'billed_catalog_cost'
  | 'billed_difference'
  | 'billed_difference_percent';

/** Amounts are in USD. Null: the figure is not known. */
export type MarginFigures = Readonly<Record<MarginFigure, number | null>>;

/** GET /operator/margin. */
export interface MarginView {
  readonly from: string;
  readonly to: string;
  readonly by: string;
  /** `name`: of an account. */
  readonly lines: readonly (MarginFigures & {
    readonly group: string | null;
    readonly name?: string | null;
  })[];
  readonly total: MarginFigures;
  /** The payments of these days, and what refunds and disputes took back. */
  readonly money_in: { readonly payments: number; readonly top_ups: number; readonly reversed: number };
}

/** GET /operator/payments: the payments that the operator must check. */
export interface HeldPaymentView extends PaymentView {
  readonly account: string;
  readonly account_name: string | null;
}
