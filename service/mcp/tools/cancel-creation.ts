import { countedPost } from '../../api/admit.ts';
import { cancelCreation as cancel } from '../../api/cancel-creation.ts';
import { creationResult } from './creation-result.ts';
import { creationId, creationOutput, objectOf } from './schemas.ts';
import type { CreationBody } from './seen-creation.ts';
import { checkArguments, type Tool } from './tool.ts';

const input = objectOf({ id: creationId });

export const cancelCreation: Tool = {
  name: 'cancel_creation',
  title: 'Cancel a creation',
  description:
    'Cancels a creation that has not ended, and gives its charge back. It is refused when the creation has ended, ' +
    'or when the provider cannot stop it any more.',
  rate: 'post',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  input,
  output: creationOutput,
  requestOf: ({ id }) => ({ method: 'POST', pathId: typeof id === 'string' ? id : '' }),
  run: ({ args, request, caller, services }) =>
    countedPost(caller.place, async () => {
      checkArguments(args, input);
      const { body } = await cancel(request, caller, services);
      return creationResult(body as CreationBody);
    }),
};
