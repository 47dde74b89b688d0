/** The documentation of every operation. An operation without one does not compile. */
import type { OperationName } from '../../core/contract.ts';
import type { Documented } from '../operation.ts';
import { createUpload, getBalance, listModels } from './account.ts';
import { cancelCreation, getCreation, listCreations } from './creations.ts';
import { listEvents } from './events.ts';
import { generateImage, quoteImage } from './images.ts';

export const documentation: { readonly [Name in OperationName]: Documented<Name> } = {
  listModels,
  generateImage,
  quoteImage,
  createUpload,
  listCreations,
  listEvents,
  getBalance,
  getCreation,
  cancelCreation,
};
