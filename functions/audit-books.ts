import { auditBooks } from '../service/audit/audit-books.ts';
import { openAudit } from '../service/audit/open.ts';
import { base, lambdaHandler } from '../service/platform/lambda-base.ts';
import { dynamodb } from '../service/platform/lambda.ts';

export const handler = lambdaHandler(
  () => openAudit({ ...base(), dynamodb: dynamodb() }),
  async (_event: unknown, services, requestId, context) =>
    auditBooks(services, requestId, () => context.getRemainingTimeInMillis()),
);
