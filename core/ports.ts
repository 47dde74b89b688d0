/**
 * What Darkroom needs of the outside world, one interface a purpose. adapters/ has an
 * implementation of each; handlers know only these.
 */
import type { Account, AccountCondition, ApiKey, SealedSecret } from './account.ts';
import type { CreationRecord, RouteAttempt, StoredImage } from './creation.ts';
import type { FailureName } from './failure.ts';
import type { AccountId, CreationId, KeyId } from './ids.ts';
import type { Micros } from './money.ts';

/** Time, dice and waiting; the only place where a handler gets them. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Milliseconds of a clock that is never set: for how long something took. */
  elapsed(): number;
  sleep(millis: number, signal?: AbortSignal): Promise<void>;
  /** Aborts at the given Unix milliseconds. `release` ends the watch. */
  deadline(atMillis: number): { readonly signal: AbortSignal; release(): void };
  /** Runs a task again and again until the returned function is called. */
  every(millis: number, task: () => void): () => void;
}

export type RandomBytes = (count: number) => Uint8Array;

/** Structured logging: fields only, never a prompt, key, secret or signed address. */
export interface Log {
  info(event: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Something an operator has to look at. */
  alarm(event: string, fields?: Readonly<Record<string, unknown>>): void;
}

/* ── Requests ─────────────────────────────────────────────────────────────── */

export interface RequestQuestion {
  readonly clientAddress: string;
  /** Absent when the request carries no well-formed key. */
  readonly key?: { readonly accountId: AccountId; readonly keyId: KeyId };
  readonly rate: 'get' | 'post';
  readonly nowMillis: number;
  readonly idempotencyHash?: string;
  readonly creationId?: CreationId;
}

export interface IdempotencyRecord {
  readonly creationId: CreationId;
  readonly requestHash: string;
  readonly expiresAt: number;
}

/** Everything that one consistent read says about a request. */
export interface RequestState {
  readonly block?: { readonly untilMillis: number; readonly scope: 'all' | 'public' };
  readonly account?: Account;
  readonly apiKey?: ApiKey;
  /** Requests already counted in this minute. */
  readonly rateCount: number;
  readonly idempotency?: IdempotencyRecord;
  readonly openCreations: number;
  /** Providers that have a credential, or were switched on; read where no creation is asked for. */
  readonly enabledProviders: readonly string[];
  readonly creation?: CreationRecord;
}

export interface RequestStore {
  /** One consistent BatchGetItem. Throws Overloaded when not all of it could be read. */
  read(question: RequestQuestion): Promise<RequestState>;
  /** Counts one request; false when the window's limit is used up. */
  countRequest(accountId: AccountId, rate: 'get' | 'post', limit: number, nowMillis: number): Promise<boolean>;
  /** Notes when a key was last used, to the hour. */
  noteKeyUse(accountId: AccountId, keyId: KeyId, hour: string): Promise<void>;
  /** Stamps a poll; false when the last one is less than the interval ago. */
  stampPoll(creationId: CreationId, intervalMillis: number, nowMillis: number): Promise<boolean>;
  /** Counts a rejected authentication and blocks the address when there were too many. */
  countRejection(clientAddress: string, kind: '401' | '403', nowMillis: number): Promise<void>;
}

/** DynamoDB shed the load, and the retries are used up: nothing was written. */
export class Overloaded extends Error {
  override readonly name = 'Overloaded';
}

/* ── Money ────────────────────────────────────────────────────────────────── */

export interface ChargeOrder {
  readonly creation: CreationRecord;
  readonly postRate: number;
  readonly monthlyCapMicros?: Micros;
  readonly nowMillis: number;
  readonly idempotency?: { readonly hash: string; readonly requestHash: string; readonly replaces?: CreationId };
}

/** What became of a charge. Everything but 'charged' left nothing behind. */
export type ChargeOutcome =
  | { readonly kind: 'charged' }
  | { readonly kind: 'account_not_active'; readonly condition: AccountCondition | 'gone' }
  | { readonly kind: 'key_revoked' }
  | { readonly kind: 'key_changed'; readonly apiKey: ApiKey }
  | { readonly kind: 'rate_used_up' }
  | { readonly kind: 'idempotency_taken'; readonly record: IdempotencyRecord }
  | { readonly kind: 'over_budget'; readonly spentMicros: Micros }
  | { readonly kind: 'over_balance'; readonly availableMicros: Micros }
  | { readonly kind: 'too_many_open'; readonly limit: number; readonly current: number }
  | { readonly kind: 'overloaded' };

export interface ChargeStore {
  /** The only place where money is taken: one conditional transaction. Throws when its outcome stays unknown. */
  charge(order: ChargeOrder): Promise<ChargeOutcome>;
  /**
   * Fails the creation and gives its charge back, once however often it is called.
   * 'busy': a conflict outlasted the retries, to be called again.
   */
  refund(creation: CreationRecord, refund: Refund): Promise<'refunded' | 'already_terminal' | 'busy'>;
}

export interface Refund {
  readonly failure: FailureName;
  readonly nowMillis: number;
  /** False when the client is told at once and no webhook is sent. */
  readonly announce: boolean;
}

/* ── Creations ────────────────────────────────────────────────────────────── */

export type LeaseOutcome =
  | { readonly kind: 'leased'; readonly creation: CreationRecord }
  | { readonly kind: 'terminal' }
  | { readonly kind: 'leased_by_another' }
  | { readonly kind: 'absent' };

export interface CreationStore {
  read(id: CreationId): Promise<CreationRecord | undefined>;
  /** An account's creations, the newest first, from behind the given one; one more than the limit tells that there are more. */
  list(accountId: AccountId, limit: number, before?: CreationId): Promise<readonly CreationRecord[]>;
  lease(id: CreationId, holder: string, untilMillis: number, nowMillis: number): Promise<LeaseOutcome>;
  /** False when the lease is no longer the holder's. */
  renewLease(id: CreationId, holder: string, untilMillis: number): Promise<boolean>;
  /** Writes the list of attempts; false when the lease is no longer the holder's. */
  saveAttempts(id: CreationId, holder: string, attempts: readonly RouteAttempt[]): Promise<boolean>;
  /** 'busy': a conflict outlasted the retries, to be called again. */
  complete(creation: CreationRecord, done: Completion): Promise<'completed' | 'already_terminal' | 'busy'>;
}

export interface Completion {
  readonly results: readonly StoredImage[];
  readonly resultsExpireAt: number;
  readonly attempts: readonly RouteAttempt[];
  readonly nowMillis: number;
}

/* ── Webhooks ─────────────────────────────────────────────────────────────── */

export type DeliveryOutcome = 'delivered' | 'failed' | 'unknown';

/** One attempt as the delivery log shows it. */
export interface Delivery {
  readonly id: string;
  readonly accountId: AccountId;
  readonly creationId: CreationId;
  readonly event: string;
  readonly url: string;
  readonly attempt: number;
  readonly startedAt: string;
  readonly outcome?: DeliveryOutcome;
  /** HTTP status of the answer; absent when there was none. */
  readonly status?: number;
  /** Why there was no answer: "timeout", "refused address", "connection". */
  readonly reason?: string;
  readonly millis?: number;
  readonly responseExcerpt?: string;
  /** When the next attempt is due, RFC 3339; absent when there is none. */
  readonly nextAttemptAt?: string;
}

export interface DeliveryClaim {
  readonly delivery: Delivery;
  readonly body: string;
  /** Before this nobody else may send the next attempt. */
  readonly nextAt: number;
  readonly nowMillis: number;
}

export interface DeliveryStore {
  accountSecrets(accountId: AccountId): Promise<readonly SealedSecret[]>;
  /** Takes attempt n before anything is sent, with its row in the log; false when it is not due or another has it. */
  claim(claim: DeliveryClaim): Promise<boolean>;
  /** Completes the attempt's row; undefined as next: the webhook is settled with the given status. */
  settle(delivery: Delivery, next: { readonly at: number } | { readonly status: 'delivered' | 'failed' }): Promise<void>;
  skip(id: CreationId): Promise<void>;
  /** Fails a webhook whose last attempt was begun and never settled; does nothing when it was settled meanwhile. */
  giveUp(id: CreationId): Promise<void>;
  /** Takes the account's turn for a test delivery; milliseconds to wait when it is too soon, else 0. */
  claimTest(accountId: AccountId, intervalMillis: number, nowMillis: number): Promise<number>;
  /** Logs a delivery that belongs to no creation. */
  record(delivery: Delivery): Promise<void>;
  find(accountId: AccountId, deliveryId: string): Promise<Delivery | undefined>;
  /** The last attempts, the newest first. */
  log(accountId: AccountId, limit: number): Promise<readonly Delivery[]>;
  /** Opens a new round of attempts, with one execution more noted; false when the webhook is still pending. */
  reopen(creation: CreationRecord, nowMillis: number): Promise<boolean>;
}

/* ── Open work ────────────────────────────────────────────────────────────── */

export interface OpenWorkStore {
  /** Ids of creations whose due time has passed, the most overdue first. */
  overdue(nowMillis: number): Promise<readonly CreationId[]>;
  /** Due again later, or not any more (undefined). False when it changed meanwhile. */
  postpone(creation: CreationRecord, dueAt: number | undefined): Promise<boolean>;
  /** Notes that the nth execution is about to be started, and when to look again. False when it changed meanwhile. */
  noteStart(creation: CreationRecord, dueAt: number, execution: number): Promise<boolean>;
  /** Counts what is open and not terminal, into the service item. */
  recordOpenCount(): Promise<number>;
}

/** What starting an execution told us. */
export type StartOutcome = 'started' | 'refused' | 'unclear';

export interface Executions {
  start(id: CreationId, number: number): Promise<StartOutcome>;
  /** Whether the nth execution of a creation runs, ended, or never was. */
  state(id: CreationId, number: number): Promise<'running' | 'ended' | 'absent'>;
}

/* ── Images, secrets, outbound ─────────────────────────────────── */

export interface ImageStore {
  put(image: StoredImage, bytes: Uint8Array): Promise<void>;
  /** The bytes under the key. Throws when there are none. */
  get(key: string): Promise<Uint8Array>;
  /** The image stored under the key, with what was noted of it; undefined when there is none. */
  find(key: string): Promise<StoredImage | undefined>;
}

/** Encrypts webhook secrets; a text sealed for one account opens for no other. */
export interface SecretBox {
  seal(accountId: AccountId, plain: string): Promise<string>;
  open(accountId: AccountId, sealed: string): Promise<string>;
}

export type AddressVerdict = { readonly kind: 'allowed' } | { readonly kind: 'refused'; readonly why: string };

export type PostResult =
  | { readonly kind: 'answered'; readonly status: number; readonly excerpt: string }
  | { readonly kind: 'unanswered'; readonly reason: string };

/** What became of one source image's address. */
export type SourceResult =
  | { readonly kind: 'fetched'; readonly bytes: Uint8Array }
  /** Not an address that may be fetched. */
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'failed'; readonly retryable: boolean };

/** The one way out to addresses that clients give. */
export interface Outbound {
  /** Whether a webhook may be sent there now; asked at submission. */
  check(url: string): Promise<AddressVerdict>;
  /** One POST, its address checked again and pinned; never follows a redirect. */
  post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<PostResult>;
  /** One source image, its redirects followed as far as they are allowed, each hop checked and pinned. */
  fetchSource(url: string, signal: AbortSignal): Promise<SourceResult>;
}
