/** The steps of clients that manage the bucket of their account. */
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { bucketHost, bucketSecret } from '../network/client-buckets.ts';
import { keyAt } from './open-accounts.ts';
import { eventOf } from './requests.ts';
import type { BucketStep } from './scenario.ts';
import type { Stage } from './stage.ts';

const path = '/api/public/v1/results/bucket';
const methods = { set: 'PUT', again: 'POST', remove: 'DELETE' } as const;

export function createBucketSteps({ world, service, accountOf }: Stage) {
  /** Repeats the request until the service has answered it, as a client does. */
  return async (step: BucketStep): Promise<void> => {
    const account = accountOf(step);
    const newest = [...service.table.all()]
      .filter((item) => item['sk']?.S === 'CREATION' && item['accountId']?.S === account.id)
      .filter((item) => item['status']?.S === 'completed')
      .flatMap((item) => item['id']?.S ?? [])
      .sort()
      .at(-1);
    if (step.does === 'again' && newest === undefined) return;
    const body = {
      set: {
        endpoint: `https://${bucketHost}`,
        bucket: `b-${account.id}`,
        prefix: `${step.behaviour}/`,
        region: 'auto',
        credentials: { access_key_id: account.id, secret_access_key: bucketSecret },
      },
      again: { creation_id: newest },
      remove: {},
    }[step.does];
    const headers = { 'content-type': 'application/json' };
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const event = eventOf(methods[step.does], path, keyAt(account, 0), headers, JSON.stringify(body));
      const answer: APIGatewayProxyStructuredResultV2 | undefined = await service
        .request('webhook-endpoints', event)
        .catch(() => undefined);
      const status = answer?.statusCode ?? 0;
      world.note(`client ${step.name} ${step.does}, try ${attempt}: ${status}`);
      if (status >= 200 && status < 500 && status !== 429) return;
      await world.sleep(1_000);
    }
  };
}
