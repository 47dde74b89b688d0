import { serve } from '../http/serve.ts';
import { atFirstRequest } from '../services/open.ts';
import { openCancel } from '../services/cancel.ts';
import { base, stoppingVendors, dynamodb, states } from '../services/lambda.ts';
import { cancelCreation } from './cancel/cancel-creation.ts';

/** The operation as the API calls it, with a key. The portal calls it with a session. */
export const handler = serve(
  'post',
  cancelCreation,
  atFirstRequest(() =>
    openCancel({ ...base(), dynamodb: dynamodb(), states: states(), ...stoppingVendors() }),
  ),
);
