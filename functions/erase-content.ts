import { eraseContent } from '../service/erase/erase-content.ts';
import { openEraseContent } from '../service/erase/open.ts';
import { base, lambdaHandler } from '../service/platform/lambda-base.ts';
import { dynamodb, images } from '../service/platform/lambda.ts';

export const handler = lambdaHandler(
  () => openEraseContent({ ...base(), dynamodb: dynamodb(), images }),
  async (_event: unknown, services, _requestId, context) =>
    eraseContent(services, () => context.getRemainingTimeInMillis()),
);
