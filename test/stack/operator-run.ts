/** The part of the whole run that goes through the operator API. */
import { expect } from 'vitest';
import { operatorRoot, operatorScopes } from '../../service/contract/operator-operations.ts';
import { createOperatorKeyStore } from '../../service/operated/operator-key-store.ts';
import { newOperatorKey } from '../../service/operated/operator-key.ts';
import type { TestService } from '../fixtures/service.ts';

/** Opens an account whose balance is low, so that its notice is sent, and changes and reads everything of it. */
export async function useOperatorApi(service: TestService): Promise<void> {
  const { record, key } = newOperatorKey({ name: 'whole run', scopes: operatorScopes }, service.operator);
  await createOperatorKeyStore(service.operator.table).create(record);
  const ask = async (path: string, body?: object, method?: string): Promise<{ readonly id: string }> => {
    const answer = await fetch(`${new URL(service.machine.apiUrl).origin}${operatorRoot}${path}`, {
      method: method ?? (body ? 'POST' : 'GET'),
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    expect(answer.status, text).toBeLessThan(300);
    return JSON.parse(text) as { readonly id: string };
  };
  // The metric of refused keys.
  const refused = await fetch(`${new URL(service.machine.apiUrl).origin}${operatorRoot}/accounts`, {
    headers: { authorization: `Bearer ${key.slice(0, -1)}-` },
  });
  expect(refused.status).toBe(401);
  const { id } = await ask('/accounts', {
    name: 'whole run',
    external_id: 'whole run',
    opening_balance: 1,
    notice_url: service.machine.inboxUrl,
    low_balance: 2,
  });
  await ask(`/accounts/${id}`, { external_id: null }, 'PATCH');
  await ask(`/accounts/${id}/payments`, { amount: 1, reference: 'whole run' });
  await ask(`/accounts/${id}/webhook-secret`, {});
  await ask(`/accounts/${id}/keys`, { name: 'whole run' });
  for (const path of ['/accounts', `/accounts/${id}/ledger`, '/actions', '/models', '/providers'])
    await ask(path);
}
