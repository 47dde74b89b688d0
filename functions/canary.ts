import { runCanary } from '../service/canary/canary.ts';
import { openCanary } from '../service/canary/open.ts';
import { base, lambdaHandler } from '../service/platform/lambda-base.ts';
import { secrets } from '../service/platform/lambda.ts';

export const handler = lambdaHandler(
  () => openCanary({ ...base(), secrets: secrets() }),
  async (_event: unknown, services, requestId) => runCanary(services, requestId),
);
