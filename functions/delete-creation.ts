import { deletion } from '../service/api/creations.ts';
import { openDelete } from '../service/api/open.ts';
import { serve } from '../service/api/serve.ts';
import { base } from '../service/platform/lambda-base.ts';
import { dynamodb, images } from '../service/platform/lambda.ts';
import { atFirstRequest } from '../service/platform/common.ts';

/** Deletes a creation or its results: two rare operations, one function. */
export const handler = serve(
  'post',
  deletion,
  atFirstRequest(() => openDelete({ ...base(), dynamodb: dynamodb(), images })),
);
