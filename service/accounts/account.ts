import type { AccountLimits, ResultAccess } from '../contract/limits.ts';
import type { AccountId, CreationId, KeyId, NoticeId } from '../values/ids.ts';
import type { Micros } from '../values/money.ts';

export const conditions = ['active', 'suspended', 'disabled'] as const;
export type AccountCondition = (typeof conditions)[number];

/** A webhook secret as it is stored: encrypted, bound to its account. */
export interface SealedSecret {
  readonly sealed: string;
  /** Unix milliseconds. */
  readonly issuedAt: number;
  /** Unix milliseconds from which the secret signs X-Webhook-Signature-256. Absent: from its issue on. */
  readonly signsFrom?: number;
  /** Unix milliseconds at which a newer secret takes over, maybe in the future. Then it verifies for 24 h. */
  readonly replacedAt?: number;
}

/** Marks in the account's item that a notice was sent. Removed when the threshold is no longer crossed. */
export interface ToldWallet {
  readonly id: NoticeId;
  /** Of wallet.empty: the mark is removed when at least this is available. */
  readonly belowMicros?: Micros;
}

/** The mark of key.cap_reached for one period of a cap: in the key, or in the counter of the user. */
export interface ToldCap {
  readonly id: NoticeId;
  readonly level: number;
  /** A changed cap of the same kind and period gets its own notice. */
  readonly capMicros: Micros;
}

/** The mark of budget.reached. Only a later month, a higher level or another budget causes another notice. */
export interface ToldBudget {
  readonly id: NoticeId;
  /** "2026_11". */
  readonly month: string;
  readonly level: number;
  readonly budgetMicros: Micros;
}

export interface Account {
  readonly id: AccountId;
  readonly name: string;
  readonly condition: AccountCondition;
  /** Balance + credit line. One stored number, since a condition of DynamoDB cannot add two attributes. */
  readonly availableMicros: Micros;
  readonly creditLineMicros: Micros;
  readonly inFlight: number;
  readonly limits: AccountLimits;
  readonly policy: ModelPolicy;
  /** The operator has marked the account for the sandbox (service/catalog/sandbox.ts). */
  readonly sandbox?: true;
  /**
   * Who can open its results. Absent: the service's default. A service that signs all addresses signs these,
   * too.
   */
  readonly results?: ResultAccess;
  /** How long a signed address opens a result. Absent: an hour. */
  readonly resultsMinutes?: number;
  /** The newest first. service/webhooks/secrets.ts says which of them signs. */
  readonly webhookSecrets: readonly SealedSecret[];
  /** Where notices go, beside the endpoints that ask for them. Absent: only to those. */
  readonly noticeUrl?: string;
  /** `wallet.low` is sent when less than this is available. Absent: it is never sent. */
  readonly lowBalanceMicros?: Micros;
  /** The budget for a UTC month. Notices are sent from 80 % on. Absent: no notices. */
  readonly monthlyBudgetMicros?: Micros;
  /** The notices that were sent and whose threshold is still passed. */
  readonly toldLow?: ToldWallet;
  readonly toldEmpty?: ToldWallet;
  readonly toldFailing?: ToldWallet;
  readonly toldBudget?: ToldBudget;
  /** Attempts of webhooks that failed in a row. Counted only while the account gets notices. */
  readonly webhookFailures?: number;
  /** An enabled endpoint asks for an event of creations, so an accepted creation notes that it has webhooks. */
  readonly creationEndpoints?: true;
  /** An enabled endpoint asks for a notice. */
  readonly noticeEndpoints?: true;
  /** It has a bucket (service/copies), so an accepted creation notes that its picture is to be copied. */
  readonly copies?: true;
  /** How often people chose e-mails since nobody got any. Absent: nobody gets notices by e-mail. */
  readonly mailChoices?: number;
  /** The automatic top-up is switched on. */
  readonly hasAutoTopUp?: true;
  /** When a client first read events. Since then every end writes one. Absent: no client has a cursor. */
  readonly eventsSince?: string;
  readonly createdAt: string;
  /** The operator's own name for the account, unique in the service. */
  readonly externalId?: string;
  /** The id of the operator key that opened the account. Absent: a person or a command did. */
  readonly openedBy?: string;
}

/** Whether anybody gets notices: the address for notices, an endpoint, or a person by e-mail. */
export function getsNotices({
  noticeUrl,
  noticeEndpoints,
  mailChoices,
}: Pick<Account, 'noticeUrl' | 'noticeEndpoints' | 'mailChoices'>): boolean {
  return noticeUrl !== undefined || noticeEndpoints === true || mailChoices !== undefined;
}

/** The UTC hour in which a time lies, in the form of ApiKey.lastUsedAt. */
export function hourOf(millis: number): string {
  return `${new Date(millis).toISOString().slice(0, 13)}:00:00.000Z`;
}

/** The caps that an operator can set. An absent cap is no limit. */
export interface KeyCaps {
  readonly dailyCapMicros?: Micros;
  readonly monthlyCapMicros?: Micros;
  readonly totalCapMicros?: Micros;
  /** For each user of the client. A request of such a key must name its user. */
  readonly perUserMonthlyCapMicros?: Micros;
}

export interface ApiKey extends KeyCaps {
  readonly id: KeyId;
  readonly accountId: AccountId;
  readonly name: string;
  readonly hash: string;
  /** The last four characters of the key, by which a person recognises it. Absent in older records. */
  readonly last4?: string;
  readonly createdAt: string;
  /** Rounded down to the hour. */
  readonly lastUsedAt?: string;
  readonly revokedAt?: string;
  /** RFC 3339 in UTC with milliseconds, so that two such texts compare as their times do. */
  readonly expiresAt?: string;
  /** Set by a roll, which gave the key its `expiresAt`. This is the end that people had chosen before. */
  readonly rolled?: { readonly expiresAt?: string };
  /** The only models that the key may see and order. Absent: all models of the account. */
  readonly models?: readonly string[];
  /** Micro-dollars spent in each UTC month. The name of a month is "2026_11". */
  readonly spent: Readonly<Record<string, Micros>>;
  /** The caps for which a notice was sent, by kind and period: "monthly_2026_11", "total_total". */
  readonly told?: Readonly<Record<string, ToldCap>>;
  /** The same by UTC day, for the last days with charges. The name of a day is "2026_11_21". */
  readonly spentByDay: Readonly<Record<string, Micros>>;
}

/** The providers that an account may use, 'all' or a list, and the models that it must not see. */
export interface ModelPolicy {
  readonly providers: 'all' | readonly string[];
  readonly hiddenModels: readonly string[];
  /** The deployment does not offer the sandbox to the account (service/catalog/sandbox.ts). */
  readonly withoutSandbox?: true;
}

/** The ledger: rows that are only added, one for every movement of an account's money. */
export type LedgerKind =
  | 'charge'
  | 'refund'
  | 'top_up'
  | 'adjustment'
  | 'credit_line'
  /** Money that a payment system took, and what went back to the payer. */
  | 'payment'
  | 'payment_reversed';

export interface LedgerRow {
  readonly kind: LedgerKind;
  /** The change of what the account can spend. Negative for a charge. */
  readonly amountMicros: Micros;
  /** RFC 3339. */
  readonly at: string;
  readonly creationId?: CreationId;
  readonly keyId?: KeyId;
  /** Of a charge: X-Request-Id of the request. Absent in rows of older releases. */
  readonly requestId?: string;
  /** Of a charge or refund: the UTC month in which it counts as spend of the key. */
  readonly month?: string;
  /** The UTC day of a key's spend: of the charge, or to which a refund gave back. Absent in old rows. */
  readonly day?: string;
  readonly countedForUser?: true;
  /** Of a charge or refund: whom the client renders for. Absent when the request named no user. */
  readonly user?: string;
  /** Of a charge or refund: the model of its creation. Absent in rows of older releases. */
  readonly model?: string;
  /** Of a refund: the UTC day of its charge, by which usage counts it. Absent in rows of older releases. */
  readonly chargedOn?: string;
  /** Of a top-up or adjustment: the operator's text. */
  readonly reference?: string;
  readonly reason?: string;
  /** Of a payment or its reversal: the id of the payment. */
  readonly payment?: string;
  /** The id of the operator key whose request made the row. Absent: a person or a command did. */
  readonly by?: string;
}

export interface UserCounter {
  readonly keyId: KeyId;
  readonly month: string;
  readonly userHash: string;
  readonly spentMicros: Micros;
}
