/**
 * Everything through which the service leaves its process. The openers beside this file build the service over it: in
 * Lambda over the parts of lambda.ts, and in the simulation over simulated parts. This file has types only, so that a
 * bundle carries no client that its entry does not hand in.
 */
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { SFNClient } from '@aws-sdk/client-sfn';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Topics } from '../aws/topics.ts';
import type { Catalog, ProviderCosts } from '../catalog/catalog-schema.ts';
import type { ProviderDefinition } from '../catalog/provider-definition.ts';
import type { ImageStore } from '../creations/image-store.ts';
import type { Measures } from '../creations/measures.ts';
import type { Signer } from '../creations/result-addresses.ts';
import type { Thumbnails } from '../creations/thumbnails.ts';
import type { Outbound } from '../outbound/outbound.ts';
import type { PaymentSystem } from '../payments/payment-system.ts';
import type { InvitationEmail } from '../portal/people-store.ts';
import type { UploadTargets } from '../uploads/upload-targets.ts';
import type { Clock, Log, RandomBytes, Schema } from '../values/runtime.ts';
import type { ImageProvider, Providers } from '../vendors/provider.ts';
import type { SecretBox } from '../webhooks/secret-box.ts';
import type { Variable } from './environment.ts';

export interface Platform {
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  /** Throws when the variable is not set. */
  readonly environment: (name: Variable) => string;
  /** @param component the function's name in its log */
  readonly log: (component: string) => Log;
  /** What the release that runs writes and understands. The simulation changes it between two requests. */
  readonly schema: () => Schema;
  /** An environment's memory between requests: Lambda makes one memory, the simulation several. */
  readonly remembered: <State>(name: string, make: () => State) => () => State;

  readonly dynamodb: DynamoDBDocumentClient;
  readonly states: SFNClient;
  readonly secrets: SecretsManagerClient;
  /** @param signal of the request's time, where there is a request */
  readonly images: (signal?: AbortSignal) => ImageStore;
  /** Makes the thumbnails of a picture. Throws when it cannot. */
  readonly thumbnails: (bytes: Uint8Array, signal: AbortSignal) => Promise<Thumbnails>;
  readonly measures: Measures;
  readonly uploadTargets: UploadTargets;
  readonly outbound: Outbound;
  readonly secretBox: SecretBox;
  /** What signs addresses of results. Undefined: the service signs none. */
  readonly resultSigner: Signer | undefined;
  /** What only the portal's distribution sends: one of these values, the newest or the one before it. */
  readonly originSecrets: () => Promise<readonly string[]>;
  /** Undefined: the service sends no e-mails of notices. */
  readonly topics: Topics | undefined;
  /** Deletes the topic of a person who is no longer a member of the account. */
  readonly removeTopic: Topics['remove'] | undefined;
  /** Stripe, where the operator takes payments. */
  readonly paymentSystem: PaymentSystem;
  readonly registration: (signal: AbortSignal) => Registration;
  readonly vendors: Providers;
  readonly configured: (definition: ProviderDefinition) => ImageProvider;

  readonly catalog: Catalog;
  readonly providerCosts: ProviderCosts;
}

export interface Registration {
  /** Makes the sign-in of an invited person possible in the stack's own user pool. Without a pool it does nothing. */
  readonly registerUser: (email: string) => Promise<InvitationEmail>;
  /** E-mails of the sender that all accounts share. Infinity: nobody sends e-mails. */
  readonly emailsADay: number;
}

type Base = 'clock' | 'randomBytes' | 'environment' | 'log' | 'schema' | 'remembered';

export type On<Parts extends keyof Platform = never> = Pick<Platform, Base | Parts>;

/** A function that never shows a result of a creation that completed hands in no signer. */
export type ResultsPlatform = Partial<On<'resultSigner'>>;
