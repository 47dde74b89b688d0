import type { OperationName } from '../../core/contract.ts';
import type * as generateImage from '../operations/generate-image.ts';
import type * as getBalance from '../operations/get-balance.ts';
import type * as getCreation from '../operations/get-creation.ts';
import type * as listCreations from '../operations/list-creations.ts';
import type * as listModels from '../operations/list-models.ts';
import type * as quoteImage from '../operations/quote-image.ts';
import type { ApiHandler } from './serve.ts';

type Complete<Handlers extends Record<OperationName, ApiHandler>> = Handlers;

/** Every operation of the contract has a handler: one that is missing does not compile. */
export type OperationHandlers = Complete<{
  listModels: typeof listModels.handler;
  generateImage: typeof generateImage.handler;
  quoteImage: typeof quoteImage.handler;
  listCreations: typeof listCreations.handler;
  getBalance: typeof getBalance.handler;
  getCreation: typeof getCreation.handler;
}>;
