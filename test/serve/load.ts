/** Clients that load a service for others, and what must be true of their creations afterwards. */
import { expect } from 'vitest';
import { createAccount } from '../../admin/commands/accounts.ts';
import { issueKey } from '../../admin/commands/keys.ts';
import { connect } from '../../admin/connect.ts';
import type { CreationId } from '../../service/values/ids.ts';
import { settled } from '../../start/creations.ts';
import { differencesIn } from '../fixtures/books.ts';
import { ask, type Served } from './serve-child.ts';

export async function newKey(folder: string): Promise<string> {
  const operator = await connect({ data: folder });
  const account = await createAccount(operator, {
    name: 'load',
    balance: '1000',
    sandbox: 'yes',
    postRate: '100000',
    maxConcurrent: '1000',
  });
  return (await issueKey(operator, account, { name: 'load' })).key;
}

export function generate(
  port: number,
  key: string,
  prompt = 'a lake',
  headers = {},
  more = {},
): ReturnType<typeof ask> {
  return ask(port, '/api/public/v1/images/generate', {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'sandbox-sketch', prompt, ...more }),
  });
}

/** Three clients send until the service ends or `isOver`, and add the ids of the creations that were answered. */
export async function load(
  port: number,
  key: string,
  ids: CreationId[],
  isOver: () => boolean = () => false,
): Promise<void> {
  const client = async (): Promise<void> => {
    while (!isOver()) {
      const { status, text } = await generate(port, key);
      if (status === 202) ids.push((JSON.parse(text) as { id: CreationId }).id);
    }
  };
  // A connection that breaks is the end of the service.
  await Promise.all([client(), client(), client()].map((one) => one.catch(() => undefined)));
}

/** Whether the picture is there, to its last bytes. */
async function isWhole(port: number, key: string): Promise<boolean> {
  const { status, bytes } = await ask(port, `/_results/${key}`);
  return status === 200 && bytes.subarray(-8, -4).toString() === 'IEND';
}

/** Every answered creation ends, completed ones have their picture, and the books are equal. */
export async function checkWhole(folder: string, served: Served, ids: readonly CreationId[]): Promise<void> {
  const operator = await connect({ data: folder });
  for (const id of ids) {
    const creation = await settled({ operator }, id);
    // A call of a provider that was broken off may have rendered, and a kill may outlast the deadline: neither is
    // tried again, and the creation is refunded.
    const isRefunded = creation.status === 'failed' && creation.refundedMicros === creation.costMicros;
    expect(creation.status === 'completed' || isRefunded, JSON.stringify(creation)).toBe(true);
    for (const { key } of creation.results) expect(await isWhole(served.port, key), key).toBe(true);
  }
  expect(await differencesIn(operator.table)).toEqual([]);
}
