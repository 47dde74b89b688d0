/** The steps of clients that manage the endpoints of their account. */
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { endpointsKey } from '../../../service/aws/dynamodb/table.ts';
import { type AccountHeld, endpointAddress, keyAt } from './open-accounts.ts';
import { eventOf } from './requests.ts';
import type { EndpointStep } from './scenario.ts';
import type { Stage } from './stage.ts';

const path = '/api/public/v1/webhooks/endpoints';

export function createEndpointSteps({ world, service, accountOf }: Stage) {
  /** Repeats the request until the service has answered it, as a client does. */
  async function send(
    step: EndpointStep,
    account: AccountHeld,
    method: 'POST' | 'PATCH' | 'DELETE',
    body: object,
    id?: string,
  ): Promise<void> {
    const headers = { 'content-type': 'application/json', 'idempotency-key': step.name };
    const at = id === undefined ? path : `${path}/${id}`;
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const event = eventOf(method, at, keyAt(account, 0), headers, JSON.stringify(body), id);
      const answer: APIGatewayProxyStructuredResultV2 | undefined = await service
        .request('webhook-endpoints', event)
        .catch(() => undefined);
      const status = answer?.statusCode ?? 0;
      world.note(`client ${step.name} ${step.does}, try ${attempt}: ${status}`);
      if (status >= 200 && status < 500 && status !== 429) return;
      await world.sleep(1_000);
    }
  }

  return async (step: EndpointStep): Promise<void> => {
    const account = accountOf(step);
    const url = endpointAddress(step.receiver, account.id, step.name);
    if (step.does === 'add') return send(step, account, 'POST', { url, events: step.events });
    const { pk, sk } = endpointsKey(account.id);
    const list = service.table.get(pk, sk)?.['endpoints']?.L ?? [];
    const id = list[step.place % Math.max(1, list.length)]?.M?.['id']?.S;
    if (id === undefined) return;
    switch (step.does) {
      case 'switch_off':
        return send(step, account, 'PATCH', { enabled: false }, id);
      case 'switch_on':
        return send(step, account, 'PATCH', { enabled: true }, id);
      case 'move':
        return send(step, account, 'PATCH', { url }, id);
      case 'ask':
        return send(step, account, 'PATCH', { events: step.events }, id);
      case 'delete':
        return send(step, account, 'DELETE', {}, id);
    }
  };
}
