import type { CreationId } from '../values/ids.ts';

export interface IdempotencyRecord {
  /** The creations that one charge made. */
  readonly creationIds: readonly [CreationId, ...CreationId[]];
  readonly requestHash: string;
  readonly expiresAt: number;
}
