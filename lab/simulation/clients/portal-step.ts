/** What people do in the portal, as plain data. */
import type { KeyCaps } from '../../../service/accounts/account.ts';
import type { RollTime } from '../../../service/accounts/key-changes.ts';
import type { Role } from '../../../service/contract/operations.ts';
import type { SignFrom } from '../../../service/webhooks/secrets.ts';
import type { Behaviour } from '../network/peer-behaviours.ts';

/** Two owners and a developer, by their places in an account. */
export const peopleAtStart = ['owner', 'owner', 'developer'] as const satisfies readonly Role[];

/** A key is a place among those of the plan and those that people made since. */
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
  | { readonly does: 'invite'; readonly address: number; readonly role: Role }
  | { readonly does: 'withdraw'; readonly address: number }
  /** A person is a place in `peopleAtStart`. */
  | { readonly does: 'change_person'; readonly target: number; readonly role: Role }
  | { readonly does: 'remove_person' | 'end_sessions'; readonly target: number };

export interface PortalStep {
  readonly kind: 'portal';
  readonly name: string;
  /** Milliseconds from the start of the scenario. */
  readonly at: number;
  readonly account: number;
  /** Who does it: a place in `peopleAtStart`. */
  readonly person: number;
  /** Between the look at the page and the press of the button, in milliseconds. */
  readonly thinkMillis: number;
  readonly act: PortalAct;
}
