/**
 * Records what a store asks of DynamoDB. The tests beside this file state each request whole: a table of
 * today must be readable by the service of tomorrow, so that no name of an attribute or a key may change.
 */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import type { Table } from '../../../../adapters/dynamodb/table.ts';
import type { SealedSecret } from '../../../../core/account.ts';
import type { WebhookState } from '../../../../core/creation.ts';
import type { Delivery } from '../../../../core/ports/deliveries.ts';
import { accountId, creationId, now, seededBytes } from '../../../fixtures/records.ts';
import { fakeClock, stub } from '../../../functions/fakes.ts';

export const nowSeconds = Math.floor(now / 1_000);

export const webhook: WebhookState = {
  url: 'https://receiver.test/ok',
  status: 'pending',
  attempts: 0,
  nextAt: now,
};

export const delivery: Delivery = {
  id: '019aa5a0-1000-7000-8000-000000000001',
  accountId,
  creationId,
  event: 'creation.completed',
  url: 'https://receiver.test/ok',
  attempt: 1,
  startedAt: new Date(now).toISOString(),
};

export const secret = (sealed: string): SealedSecret => ({ sealed, issuedAt: now });

type Request = readonly [command: string, input: object];

/**
 * What is done, the work, the requests that the work sends, and the answers to them; further answers are
 * empty.
 */
export type Row = readonly [
  title: string,
  work: (table: Table) => Promise<unknown>,
  requests: readonly Request[],
  answers?: readonly object[],
];

async function requestsOf(
  work: (table: Table) => Promise<unknown>,
  answers: readonly object[],
): Promise<Request[]> {
  const sent: Request[] = [];
  const client = stub<DynamoDBDocumentClient>({
    send: (command: { readonly input: object }) => {
      sent.push([command.constructor.name, command.input]);
      return Promise.resolve(answers[sent.length - 1] ?? {});
    },
  });
  await work({ client, name: 'table', clock: fakeClock(), randomBytes: seededBytes });
  return sent;
}

/** One test for each row. */
export function describeRequests(subject: string, rows: readonly Row[]): void {
  describe(subject, () => {
    const cases = rows.map(([title, work, requests, answers = []]) => ({ title, work, requests, answers }));
    it.each(cases)('$title sends exactly these requests', async ({ work, requests, answers }) => {
      expect(await requestsOf(work, answers)).toEqual(requests);
    });
  });
}
