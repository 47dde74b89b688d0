import { cancelCreation } from '../service/api/creations.ts';
import { openCancel } from '../service/api/open.ts';
import { serve } from '../service/api/serve.ts';
import { base } from '../service/platform/lambda-base.ts';
import { dynamodb, states, stoppingVendors } from '../service/platform/lambda.ts';
import { atFirstRequest } from '../service/platform/common.ts';

/** The operation as the API calls it, with a key. The portal calls it with a session. */
export const handler = serve(
  'post',
  cancelCreation,
  atFirstRequest(() =>
    openCancel({ ...base(), dynamodb: dynamodb(), states: states(), ...stoppingVendors() }),
  ),
);
