import type { ApiHandler } from '../service/api/framed.ts';
import type { OperationName } from '../service/contract/operations.ts';
import type * as cancelCreation from './cancel-creation.ts';
import type * as createUpload from './create-upload.ts';
import type * as deleteCreation from './delete-creation.ts';
import type * as generateImage from './generate-image.ts';
import type * as getBalance from './get-balance.ts';
import type * as getCreation from './get-creation.ts';
import type * as listCreations from './list-creations.ts';
import type * as listEvents from './list-events.ts';
import type * as listModels from './list-models.ts';
import type * as quoteImage from './quote-image.ts';
import type * as userTokens from './user-tokens.ts';
import type * as webhookEndpoints from './webhook-endpoints.ts';

type Complete<Handlers extends Record<OperationName, ApiHandler>> = Handlers;

/** Every operation of the contract has a handler. The compiler refuses an operation without one. */
export type OperationHandlers = Complete<{
  listModels: typeof listModels.handler;
  generateImage: typeof generateImage.handler;
  quoteImage: typeof quoteImage.handler;
  createUpload: typeof createUpload.handler;
  listCreations: typeof listCreations.handler;
  listRequests: typeof listCreations.handler;
  listEvents: typeof listEvents.handler;
  getBalance: typeof getBalance.handler;
  getCreation: typeof getCreation.handler;
  cancelCreation: typeof cancelCreation.handler;
  deleteCreation: typeof deleteCreation.handler;
  deleteResults: typeof deleteCreation.handler;
  createUserToken: typeof userTokens.handler;
  getUserToken: typeof userTokens.handler;
  revokeUserToken: typeof userTokens.handler;
  listEndpoints: typeof webhookEndpoints.handler;
  createEndpoint: typeof webhookEndpoints.handler;
  changeEndpoint: typeof webhookEndpoints.handler;
  deleteEndpoint: typeof webhookEndpoints.handler;
  getBucket: typeof webhookEndpoints.handler;
  setBucket: typeof webhookEndpoints.handler;
  copyAgain: typeof webhookEndpoints.handler;
  removeBucket: typeof webhookEndpoints.handler;
}>;
