/** The bodies of webhooks and notices, by their types in the document of the API. */
import type {
  CreationCompleted,
  CreationFailed,
  KeyCapReached,
  WalletEmpty,
  WalletLow,
  WebhookFailing,
} from '../types/generated.ts';

export type { CreationCompleted, CreationFailed, KeyCapReached, WalletEmpty, WalletLow, WebhookFailing };

/** What happened to a creation. */
export type CreationEvent = CreationCompleted | CreationFailed;

/** What the service tells about the account and its keys. */
export type Notice = WalletLow | WalletEmpty | KeyCapReached | WebhookFailing;

/** A verified body. `'notice' in event` tells a notice from the event of a creation. */
export type WebhookEvent = CreationEvent | Notice;
