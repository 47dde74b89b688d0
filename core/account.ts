import type { ModelPolicy } from './catalog.ts';
import type { AccountId, KeyId } from './ids.ts';
import type { AccountLimits } from './limits.ts';
import type { Micros } from './money.ts';

export const conditions = ['active', 'suspended', 'disabled'] as const;
export type AccountCondition = (typeof conditions)[number];

/** A webhook secret as it is stored: encrypted, bound to its account. */
export interface SealedSecret {
  readonly sealed: string;
  /** Unix milliseconds. */
  readonly issuedAt: number;
  /** Unix milliseconds from which it signs X-Webhook-Signature-256; absent: from its issue on. */
  readonly signsFrom?: number;
  /** Unix milliseconds at which its replacement takes effect, which may lie ahead. It verifies for 24 h more. */
  readonly replacedAt?: number;
}

export interface Account {
  readonly id: AccountId;
  readonly name: string;
  readonly condition: AccountCondition;
  /** What can be spent: balance + credit line. Stored as one number, since a condition cannot add. */
  readonly availableMicros: Micros;
  readonly creditLineMicros: Micros;
  readonly inFlight: number;
  readonly limits: AccountLimits;
  readonly policy: ModelPolicy;
  /** The one issued last first; core/webhook-secrets.ts says which of them signs. */
  readonly webhookSecrets: readonly SealedSecret[];
  readonly createdAt: string;
}

/** The hour of a time, as ApiKey.lastUsedAt keeps it. */
export function hourOf(millis: number): string {
  return `${new Date(millis).toISOString().slice(0, 13)}:00:00.000Z`;
}

export interface ApiKey {
  readonly id: KeyId;
  readonly accountId: AccountId;
  readonly name: string;
  readonly hash: string;
  readonly createdAt: string;
  /** To the hour. */
  readonly lastUsedAt?: string;
  readonly revokedAt?: string;
  readonly monthlyCapMicros?: Micros;
  /** Spend of each UTC month, by its name "2026_11". */
  readonly spent: Readonly<Record<string, Micros>>;
}
