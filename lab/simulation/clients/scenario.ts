/**
 * A scenario: its accounts, the steps of clients and of the operator, and incidents outside the service. A scenario is
 * plain data, so that a failing one can be shrunk.
 */
import type { CardName } from '../../../local/stripe/cards.ts';
import type { DisputeStep } from '../../../local/stripe/reversals.ts';
import type { KeyCaps } from '../../../service/accounts/account.ts';
import type { RollTime } from '../../../service/accounts/key-changes.ts';
import type { RouteOrder } from '../../../service/catalog/provider-store.ts';
import type { Role } from '../../../service/contract/operations.ts';
import type { Tier } from '../../../service/contract/request-fields.ts';
import type { OperatorScope } from '../../../service/contract/operator-operations.ts';
import type { NoticeType } from '../../../service/notices/notice.ts';
import type { EndpointEvent } from '../../../service/webhooks/endpoint.ts';
import type { SignFrom } from '../../../service/webhooks/secrets.ts';
import type { PaymentHabits } from '../aws/payments.ts';
import type { Release } from '../aws/lambda-environments.ts';
import type { MailHabits } from '../network/mails.ts';
import type { BucketBehaviour } from '../network/client-buckets.ts';
import type { Behaviour } from '../network/peers.ts';

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
  readonly notices?: {
    readonly lowMicros: number;
    readonly receiver: Behaviour;
    /** Absent: no budget of a month. */
    readonly budgetMicros?: number;
  };
  /** Absent: the addresses of its results are not signed. */
  readonly signedMinutes?: number;
  /** Absent: the account begins without endpoints. */
  readonly endpoints?: readonly EndpointPlan[];
  /** Absent: the account begins without a saved card. */
  readonly topUp?: TopUpPlan;
}

export interface TopUpPlan {
  readonly card: CardName;
  readonly thresholdCents: number;
  readonly amountCents: number;
  readonly capCents: number;
}

export interface EndpointPlan {
  readonly receiver: Behaviour;
  readonly events: readonly EndpointEvent[];
  readonly enabled: boolean;
  /** How long every attempt had failed before the scenario began. */
  readonly failedForMillis?: number;
  /** How long before the scenario endpoint.failing was sent. */
  readonly noticeAgoMillis?: number;
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
  readonly quality?: Tier;
  /** Absent: one creation, which the answer holds itself. */
  readonly count?: number;
  readonly idempotencyKey?: string;
  readonly webhook?: Behaviour;
  readonly wait?: number;
  readonly images: readonly string[];
  readonly polls: number;
  readonly user?: string;
  /** Milliseconds after the acceptance at which the client cancels the creation. Absent: never. */
  readonly cancelAfter?: number;
  /** Milliseconds after the acceptance at which the client begins to ask for its deletion. Absent: never. */
  readonly deleteAfter?: number;
  /** It asks for the deletion of the results alone. */
  readonly keepsTexts?: true;
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
  readonly isNotified: boolean;
  readonly notices: boolean;
}

/** Somebody signs in at the portal, and takes up the invitations to the address. */
export interface SignIn extends Placed {
  readonly kind: 'sign_in';
  readonly name: string;
  /** An index of the invited addresses. */
  readonly address: number;
  /** Distinguishes the people who show the same address. */
  readonly who: number;
}

/** The page of an end user, with a token of its own. */
export interface UserTokenStep extends Placed {
  readonly kind: 'user_token';
  readonly name: string;
  readonly key: number;
  readonly user: string;
  readonly limitMicros: number;
  readonly uses: number;
  readonly orders: number;
  /** Milliseconds after the mint. Absent: the token ends by itself. */
  readonly revokeAfter?: number;
}

/** A client manages the endpoints of its account. */
export interface EndpointStep extends Placed {
  readonly kind: 'endpoint';
  readonly name: string;
  readonly does: 'add' | 'switch_off' | 'switch_on' | 'move' | 'ask' | 'delete';
  /** Of the endpoint among those that the account has then. */
  readonly place: number;
  readonly receiver: Behaviour;
  readonly events: readonly EndpointEvent[];
}

/** A client sets or removes the bucket of its account, or has the newest picture copied again. */
export interface BucketStep extends Placed {
  readonly kind: 'bucket';
  readonly name: string;
  readonly does: 'set' | 'remove' | 'again';
  readonly behaviour: BucketBehaviour;
}

/** A key of the operator API, with which a back end of the operator works. */
export interface OperatorKeyPlan {
  readonly scopes: readonly OperatorScope[];
  readonly dailyCapMicros?: number;
  readonly postRate?: number;
}

/** A back end asks for something through the operator API, until it has an answer. */
export interface BackEndStep extends Placed {
  readonly kind: 'back_end';
  readonly name: string;
  /** An index of the scenario's keys. */
  readonly operatorKey: number;
  readonly act: BackEndAct;
  /** Steps with the same key and the same act send the same request. */
  readonly idempotencyKey?: string;
}

export type BackEndAct =
  | { readonly does: 'credit'; readonly amountMicros: number; readonly reference: string }
  /** Gives back from the payment with this reference. Absent amount: what is left. */
  | {
      readonly does: 'reverse';
      readonly payment: string;
      readonly reference: string;
      readonly amountMicros?: number;
    }
  | {
      readonly does: 'adjust';
      readonly amountMicros: number;
      readonly reference: string;
      readonly mayGoBelow: boolean;
    }
  | { readonly does: 'credit_line'; readonly amountMicros: number }
  /** Opens an account unless another step has, and then credits the account once. */
  | { readonly does: 'open'; readonly externalId: string; readonly balanceMicros: number }
  /** Changes the name in the same request, and sometimes the external id. */
  | { readonly does: 'suspend' | 'activate'; readonly externalId?: string }
  | { readonly does: 'issue_key'; readonly isRevoked: boolean }
  | { readonly does: 'read'; readonly what: 'getWallet' | 'listLedger' | 'listPayments' | 'listActions' };

export type Step =
  | Submit
  | UserTokenStep
  | BackEndStep
  | EndpointStep
  | BucketStep
  /** The operator's commands about a key of the operator API, by its index among the scenario's keys. */
  | (Placed & { readonly kind: 'revoke_operator_key'; readonly operatorKey: number })
  | (Placed & {
      readonly kind: 'cap_operator_key';
      readonly operatorKey: number;
      readonly capMicros: number;
    })
  | FollowEvents
  | OpenaiCalls
  | PortalStep
  /** Somebody deletes the topic of a person at AWS, or the person uses the link that each e-mail has. */
  | (Placed & { readonly kind: 'mail_topic'; readonly does: 'lose' | 'unsubscribe'; readonly person: number })
  | SignIn
  | PaymentStep
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
  /** An operator's mistake: the release `before` becomes current for a time, whatever was written meanwhile. */
  | (Placed & { readonly kind: 'roll_back_by_two'; readonly forMillis: number })
  /** The operator erases a creation of the account, or the whole account. */
  | (Placed & { readonly kind: 'erase_creation' | 'erase_account' })
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
  /** Absent: nobody pays. */
  readonly payments?: PaymentHabits;
  /** Absent: no back end uses the operator API. */
  readonly operatorKeys?: readonly OperatorKeyPlan[];
  /** Absent: the service sends no e-mails. */
  readonly mails?: MailHabits;
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

/** An account that never meets one of its limits. */
export const rich: AccountPlan = {
  balanceMicros: 1_000_000_000,
  creditMicros: 0,
  maxConcurrent: 1_000,
  deadlineSeconds: 40,
  postRate: 10_000,
  maxUnusedUploads: 100,
  secret: true,
  keys: [{}],
};
/** Exact clocks and a quick network. */
export const undisturbed = {
  startAt: Date.UTC(2026, 10, 21, 12, 0, 5),
  faultProbability: 0,
  clockSpreadMillis: 0,
  holdMillis: [3, 25],
  slowBucketMillis: 0,
} as const;

/** The turn of a month. A third of the scenarios run across it. */
export const monthsEnd = Date.UTC(2026, 11, 1);

// The step of a program that uses an openai library.

/**
 * What happens to a try on its way. `lost`: the request never arrives. `late`: it arrives after the client has given
 * up. `cut`: the connection breaks while the function works on. `unheard`: the answer does not arrive.
 */
export type TryFate = 'whole' | 'lost' | 'late' | 'cut' | 'unheard';

/** Equal calls of one program: the same key and the same body. The library repeats each of them by itself. */
export interface OpenaiCalls {
  readonly kind: 'openai';
  /** Milliseconds from the start of the scenario. */
  readonly at: number;
  readonly account: number;
  readonly key: number;
  /** Stands in the body, so that each step has a body of its own. */
  readonly name: string;
  readonly calls: number;
  /** Milliseconds between the beginnings of two calls. 0: all begin at once. */
  readonly apart: number;
  /** Pictures of each call. */
  readonly count: number;
  readonly model: string;
  readonly directives: string;
  readonly form: 'b64_json' | 'url' | 'stream';
  readonly user?: string;
  /** The probability that something happens to a try. */
  readonly trouble: number;
}

// What people do in the portal, as plain data.

/** Two owners and a developer. */
export const peopleAtStart = ['owner', 'owner', 'developer'] as const satisfies readonly Role[];

/** A key is an index of the keys of the plan and of those that people made since. */
export type PortalAct =
  | { readonly does: 'create_key'; readonly capMicros?: number }
  | {
      readonly does: 'change_key';
      readonly key: number;
      readonly cap: keyof KeyCaps;
      /** null removes the cap. */
      readonly capMicros: number | null;
    }
  | { readonly does: 'revoke_key'; readonly key: number }
  | { readonly does: 'roll_key'; readonly key: number; readonly endsIn: RollTime }
  | { readonly does: 'reveal_secret' | 'redeliver_one' | 'redeliver_failed' | 'cancel' }
  /** In the playground. Steps with the same idempotency key send the same request. */
  | {
      readonly does: 'create';
      readonly directives: string;
      readonly idempotencyKey?: string;
      readonly webhook?: Behaviour;
    }
  | { readonly does: 'rotate_secret'; readonly signFrom: SignFrom }
  | { readonly does: 'set_alerts'; readonly lowMicros: number | null; readonly receiver?: Behaviour }
  | { readonly does: 'test_webhook'; readonly webhook: Behaviour }
  | {
      readonly does: 'choose_emails';
      readonly kinds: readonly NoticeType[];
      /** Milliseconds after the answer at which the person confirms the address. Absent: never. */
      readonly confirmAfter?: number;
    }
  | { readonly does: 'invite'; readonly address: number; readonly role: Role }
  | { readonly does: 'withdraw'; readonly address: number }
  /** `target` is an index of `peopleAtStart`. */
  | { readonly does: 'change_person'; readonly target: number; readonly role: Role }
  | { readonly does: 'remove_person' | 'end_sessions'; readonly target: number };

// What people, the operator and Stripe do about payments.

export type PaymentAct =
  /** Begins a payment. Then the person pays, or leaves the page. */
  | {
      readonly does: 'begin';
      readonly cents: number;
      readonly savesCard: boolean;
      /** Absent: the person never pays. */
      readonly card?: CardName;
      /** Milliseconds between the page and the payment. */
      readonly paysAfter: number;
      /** In a second tab, or after a decline, the person pays again with this card. */
      readonly again?: CardName;
      /** What the operator, or Stripe, spoils at the PaymentIntent before anybody has seen it. */
      readonly spoilt?: 'metadata' | 'currency' | 'amount';
      /** The browser comes back to the page of the portal, which asks. */
      readonly returns: boolean;
    }
  | {
      readonly does: 'choose';
      readonly isOn: boolean;
      readonly thresholdCents: number;
      readonly amountCents: number;
      readonly capCents: number;
    }
  | { readonly does: 'resume' | 'remove_card' | 'look' }
  /** At Stripe. `place` is the index of the payment among those of the account that succeeded. */
  | {
      readonly does: 'refund';
      readonly place: number;
      /** Absent: all that is left. */
      readonly share?: number;
      readonly as?: 'pending' | 'succeeded' | 'failed';
    }
  | {
      readonly does: 'dispute';
      readonly place: number;
      readonly step: DisputeStep;
      readonly share?: number;
    }
  | { readonly does: 'lose_metadata'; readonly place: number }
  /** The operator gives the service the new secret, and later takes the old one away. */
  | { readonly does: 'roll_secret'; readonly keepsMillis: number; readonly stripeFirst: boolean }
  | { readonly does: 'refuse_key'; readonly forMillis: number }
  /** The operator restores the table to this time since the start. */
  | { readonly does: 'restore'; readonly toMillis: number };

export interface PaymentStep extends Placed {
  readonly kind: 'payment';
  readonly name: string;
  /** Who does it in the portal: an index of `peopleAtStart`. */
  readonly person: number;
  readonly act: PaymentAct;
}

export interface PortalStep {
  readonly kind: 'portal';
  readonly name: string;
  /** Milliseconds from the start of the scenario. */
  readonly at: number;
  readonly account: number;
  /** Who does it: an index of `peopleAtStart`. */
  readonly person: number;
  /** Milliseconds between reading the page and pressing the button. */
  readonly thinkMillis: number;
  readonly act: PortalAct;
}
