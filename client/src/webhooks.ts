/** `darkroom-client/webhooks`: verifies the webhooks and notices of a Darkroom service. */
export { verifyWebhook, type VerifyOptions } from './webhooks/verify.ts';
export { signWebhook, type SignOptions } from './webhooks/sign.ts';
export { WebhookError, type WebhookErrorReason } from './webhooks/received.ts';
export type { HeaderFields, ReceivedParts, WebRequest } from './webhooks/received.ts';
export type {
  CreationCompleted,
  CreationEvent,
  CreationFailed,
  KeyCapReached,
  Notice,
  WalletEmpty,
  WalletLow,
  WebhookEvent,
  WebhookFailing,
} from './webhooks/verify.ts';
