/**
 * Records what a store asks of DynamoDB. The tests beside this file state each request whole: a table of
 * today must be readable by the service of tomorrow, so that no name of an attribute or a key may change.
 */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import type { Table } from '../../../service/aws/dynamodb/table.ts';
import type { WebhookState } from '../../../service/creations/creation.ts';
import type { Delivery } from '../../../service/webhooks/delivery.ts';
import { fakeClock, stub } from '../../api/fakes.ts';
import { accountId, creationId, now, seededBytes } from '../../fixtures/records.ts';

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

/**
 * What is done, the work, the requests that the work sends as `shown` writes them, and the answers to them;
 * further answers are empty.
 */
export type Row = readonly [
  title: string,
  work: (table: Table) => Promise<unknown>,
  requests: string,
  answers?: readonly object[],
];

type Fields = Readonly<Record<string, unknown>>;

const given = (fields: Fields): [string, unknown][] =>
  Object.entries(fields).filter(([, value]) => value !== undefined);

/** Each field of an object as a text, in lines of about a hundred characters. */
function wrapped(fields: Fields, indent: string): string {
  const texts = given(fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  const lines: string[] = [];
  for (const text of texts) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + text.length < 100) lines[lines.length - 1] = `${last}, ${text}`;
    else lines.push(text);
  }
  return lines.map((line) => `${indent}${line}`).join('\n');
}

/**
 * A request as a text: its name, the table and the key, then a line for each expression, and lines for what
 * they name. The name of an attribute begins with #, and a value begins with a colon.
 */
function shown(command: string, { TableName, Key, Item, TransactItems, ...others }: Fields): string {
  const words = given(others).filter(([, value]) => typeof value !== 'object');
  const lists = given(others).filter(([, value]) => typeof value === 'object');
  return [
    [command, TableName, wrapped((Key ?? {}) as Fields, '')].filter(Boolean).join(' '),
    ...words.map(([name, value]) => `  ${name.replace(/Expression$/, '')}: ${String(value)}`),
    ...lists.map(([, value]) => wrapped(value as Fields, '  ')),
    ...(Item === undefined ? [] : [wrapped(Item as Fields, '  ')]),
    ...((TransactItems ?? []) as readonly Fields[]).flatMap((item) =>
      Object.entries(item).map(([name, input]) => shown(name, input as Fields)),
    ),
  ].join('\n');
}

async function requestsOf(
  work: (table: Table) => Promise<unknown>,
  answers: readonly object[],
): Promise<string> {
  const sent: string[] = [];
  const client = stub<DynamoDBDocumentClient>({
    send: (command: { readonly input: Fields }) => {
      sent.push(shown(command.constructor.name.replace('Command', ''), command.input));
      return Promise.resolve(answers[sent.length - 1] ?? {});
    },
  });
  await work({ client, name: 'table', clock: fakeClock(), randomBytes: seededBytes });
  return sent.join('\n');
}

/** One test for each row. */
export function describeRequests(subject: string, rows: readonly Row[]): void {
  describe(subject, () => {
    const cases = rows.map(([title, work, requests, answers = []]) => ({ title, work, requests, answers }));
    it.each(cases)('$title sends exactly these requests', async ({ work, requests, answers }) => {
      expect(await requestsOf(work, answers)).toBe(requests.trim());
    });
  });
}
