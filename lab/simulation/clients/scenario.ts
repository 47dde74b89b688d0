/**
 * A scenario: its accounts, and the steps of clients, of the operator and of mishaps. A scenario is plain
 * data, so that a failing one can be shrunk.
 */
import type { KeyCaps } from '../../../service/accounts/account.ts';
import type { RouteOrder } from '../../../service/catalog/provider-store.ts';
import type { Release } from '../aws/releases.ts';
import type { Behaviour } from '../network/peer-behaviours.ts';
import type { OpenaiCalls } from './openai-step.ts';
import type { PortalStep } from './portal-step.ts';

export interface KeyPlan {
  /** Of a month. */
  readonly capMicros?: number;
  readonly dailyMicros?: number;
  readonly totalMicros?: number;
  /** What the key spent months ago, when there were no days and no totals yet. */
  readonly earlierMicros?: number;
  /** Of a month, for each user. */
  readonly perUserMicros?: number;
}

export interface AccountPlan {
  readonly balanceMicros: number;
  readonly creditMicros: number;
  readonly maxConcurrent: number;
  readonly deadlineSeconds: number;
  readonly postRate: number;
  /** Absent: the default. */
  readonly getRate?: number;
  readonly maxUnusedUploads: number;
  readonly secret: boolean;
  readonly keys: readonly [KeyPlan, ...KeyPlan[]];
  /** Absent: the account begins without an address for notices. */
  readonly notices?: { readonly lowMicros: number; readonly receiver: Behaviour };
}

interface Placed {
  /** Milliseconds from the start of the scenario. */
  readonly at: number;
  readonly account: number;
}

export interface Submit extends Placed {
  readonly kind: 'submit';
  readonly name: string;
  readonly key: number;
  readonly model: string;
  readonly resolution: '1K' | '2K';
  readonly directives: string;
  readonly idempotencyKey?: string;
  readonly webhook?: Behaviour;
  readonly wait?: number;
  readonly images: readonly string[];
  readonly polls: number;
  readonly user?: string;
  /** Milliseconds after the acceptance at which the client cancels the creation. Absent: never. */
  readonly cancelAfter?: number;
}

/** A client that follows the events of its account. */
export interface FollowEvents extends Placed {
  readonly kind: 'events';
  readonly name: string;
  readonly key: number;
  /** How many answers the client wants. */
  readonly reads: number;
  readonly limit: number;
  /** Seconds. */
  readonly wait: number;
  /** The longest pause between two reads, in milliseconds. */
  readonly pauseMillis: number;
  /** The client learns of each event in another way, such as a webhook, and then reads at once. */
  readonly isTold: boolean;
  readonly notices: boolean;
}

/** Somebody signs in at the portal, and takes up the invitations to the address. */
export interface SignIn extends Placed {
  readonly kind: 'sign_in';
  readonly name: string;
  /** A place among the addresses that are invited. */
  readonly address: number;
  /** Tells apart the people who show the same address. */
  readonly who: number;
}

export type Step =
  | Submit
  | FollowEvents
  | OpenaiCalls
  | PortalStep
  | SignIn
  | (Placed & { readonly kind: 'top_up'; readonly amountMicros: number; readonly reference: string })
  | (Placed & { readonly kind: 'adjust' | 'credit_line'; readonly amountMicros: number })
  | (Placed & {
      readonly kind: 'suspend' | 'activate' | 'rotate_secret' | 'redeliver' | 'foreign_poll' | 'stranger';
    })
  | (Placed & { readonly kind: 'revoke'; readonly key: number })
  | (Placed & {
      readonly kind: 'cap';
      readonly key: number;
      readonly cap: keyof KeyCaps;
      readonly capMicros: number;
    })
  | (Placed & {
      readonly kind: 'abort' | 'restart' | 'redrive' | 'reconcile_again' | 'rotate_encryption' | 'expire';
    })
  | (Placed & { readonly kind: 'list' | 'balance' | 'quote' | 'models'; readonly key: number })
  /** Announces an upload. A request names it as `upload:NAME` in its images. */
  | (Placed & {
      readonly kind: 'upload';
      readonly name: string;
      readonly key: number;
      /** The bytes as they were announced, one byte less, or nothing. */
      readonly fill: 'right' | 'wrong_length' | 'never';
    })
  /** The operator stores a catalog in which every model costs so much more. */
  | (Placed & { readonly kind: 'catalog'; readonly addedMicros: number })
  /** The operator turns the switch of the service. */
  | (Placed & { readonly kind: 'close_service' | 'open_service' })
  | (Placed & { readonly kind: 'deploy'; readonly release: Release })
  /** An operator's mistake: for so long the release `before` is current, whatever was written meanwhile. */
  | (Placed & { readonly kind: 'roll_back_by_two'; readonly forMillis: number })
  /** The operator cancels a creation of the account. */
  | (Placed & { readonly kind: 'operator_cancel' })
  | (Placed & { readonly kind: 'test_delivery'; readonly webhook: Behaviour })
  /** A new threshold, and an address or none. */
  | (Placed & { readonly kind: 'notices'; readonly lowMicros: number; readonly receiver?: Behaviour })
  | (Placed & { readonly kind: 'clock'; readonly byMillis: number })
  /** Moves the clocks of one function only. */
  | (Placed & { readonly kind: 'clock_of'; readonly name: string; readonly byMillis: number });

export interface Scenario {
  readonly seed: number;
  /** Epoch milliseconds. */
  readonly startAt: number;
  readonly accounts: readonly AccountPlan[];
  readonly steps: readonly Step[];
  /** The operator's setting. Absent: as the catalog lists the routes. */
  readonly routeOrder?: RouteOrder;
  /** The probability that a fault strikes a call. */
  readonly faultProbability: number;
  /** The probability that a single write meets a conflict. When it is present, nothing else goes wrong. */
  readonly conflictProbability?: number;
  /** Milliseconds after the start of each day from which on no fault strikes. */
  readonly calmAfter: number;
  /** How wrong each environment's clock may be, in milliseconds, in either direction. */
  readonly clockSpreadMillis: number;
  /** How long a transaction holds its items at least and at most, in milliseconds. */
  readonly holdMillis: readonly [least: number, most: number];
  /**
   * The additional time of each call of the image bucket, in milliseconds: 0, or more than a request may
   * take.
   */
  readonly slowBucketMillis: number;
}

/** The turn of a month. A third of the scenarios take place around it. */
export const monthsEnd = Date.UTC(2026, 11, 1);
