/** The delivery log as people read it. */
import type { CreationRecord } from '../creation.ts';
import type { AccountId, CreationId } from '../ids.ts';
import type { Delivery, DeliveryOutcome } from './deliveries.ts';

export interface DeliveryQuery {
  readonly limit: number;
  /** The id of the last delivery of the page before. */
  readonly after?: string;
  readonly outcome?: DeliveryOutcome;
  readonly creationId?: CreationId;
}

export interface DeliveryPage {
  /** The newest first. */
  readonly deliveries: readonly Delivery[];
  /** The id after which the next page begins. With a filter, a page may be short and not the last. */
  readonly next?: string;
}

export interface DeliveryReads {
  page(accountId: AccountId, query: DeliveryQuery): Promise<DeliveryPage>;
  find(accountId: AccountId, deliveryId: string): Promise<Delivery | undefined>;
  /** The attempts of a creation, the oldest first: those after its end, and those of its last round. */
  ofCreation(creation: CreationRecord): Promise<readonly Delivery[]>;
  /** The attempts since this time, the newest first. Of a very long log, only the newest thousands. */
  since(accountId: AccountId, sinceMillis: number): Promise<readonly Delivery[]>;
}
