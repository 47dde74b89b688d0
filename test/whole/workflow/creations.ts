import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import * as z from 'zod/mini';
import type { OperatorServices } from '../../../admin/services.ts';
import type { LedgerKind } from '../../../service/accounts/account.ts';
import { getItem } from '../../../service/aws/dynamodb/send.ts';
import { type Door, heldKey } from '../../../service/aws/dynamodb/table.ts';
import { apiRoot } from '../../../service/contract/operations.ts';
import { type CreationRecord, isTerminal } from '../../../service/creations/creation.ts';
import { type Exchange, undocumented } from '../../../service/document/check/undocumented.ts';
import type { AccountId } from '../../../service/values/ids.ts';
import type { Answer } from '../../fixtures/service.ts';
import { creationIdIn, idOf } from '../../fixtures/values.ts';

/**
 * The first answer to a request with `Prefer: wait` whose creation ended in time. On a slow machine a
 * creation may take longer than a request can wait. In that case the request is sent again.
 */
export async function inTime(send: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await send();
    if (answer.status !== 202) return answer;
  }
}

// Submits creations and waits for what becomes of them.

/** A running service, in this process or another. */
export interface Place {
  readonly machine: { readonly apiUrl: string };
  readonly operator: OperatorServices;
}

/**
 * Submits a request for the cheapest model, unless the body names another, and returns the id of the
 * creation.
 */
export async function submit(
  place: Place,
  key: string,
  body: Readonly<Record<string, unknown>>,
): Promise<string> {
  const exchange = await generate(place, key, body);
  expect(undocumented(exchange)).toEqual([]);
  return idOf({ body: JSON.parse(exchange.text) });
}

/** As submit(), but the answer may come from another release, which the document does not describe. */
export async function submitToAnyRelease(...order: Parameters<typeof submit>): Promise<string> {
  return idOf({ body: JSON.parse((await generate(...order)).text) });
}

async function generate(
  place: Place,
  key: string,
  body: Readonly<Record<string, unknown>>,
): Promise<Exchange> {
  const response = await fetch(`${place.machine.apiUrl}/images/generate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox-sketch', ...body }),
  });
  const text = await response.text();
  const { status, headers } = response;
  expect(status, text).toBe(202);
  return { method: 'POST', path: `${apiRoot}/images/generate`, status, headers: headers.entries(), text };
}

export async function recordOf({ operator }: Place, id: string): Promise<CreationRecord> {
  const creation = await operator.creations.read(creationIdIn(id));
  if (!creation) throw new Error(`there is no creation ${id}`);
  return creation;
}

/** Reads the record again and again until it is as wanted. */
export async function recordWhen(
  place: Place,
  id: string,
  wanted: (creation: CreationRecord) => boolean,
): Promise<CreationRecord> {
  for (let looks = 1; ; looks += 1) {
    const creation = await recordOf(place, id);
    if (wanted(creation)) return creation;
    // The pauses grow, because each read costs the service some milliseconds of the processor.
    await sleep(Math.min(250, 20 * looks));
  }
}

/** The record once it is terminal and its webhook is no longer pending. */
export function settled(place: Place, id: string): Promise<CreationRecord> {
  return recordWhen(
    place,
    id,
    (creation) => isTerminal(creation.status) && creation.webhook?.status !== 'pending',
  );
}

/** The kinds of the ledger rows of a creation, the oldest first. */
export async function movementsOf(
  { operator }: Place,
  creation: { readonly id: string; readonly accountId: AccountId },
): Promise<LedgerKind[]> {
  const rows = await operator.wallet.ledger(creation.accountId);
  return rows.filter((row) => row.creationId === creation.id).map((row) => row.kind);
}

/** What all keys of an account have spent, in micro-dollars, over all months. */
export async function spentBy({ operator }: Place, accountId: AccountId): Promise<number> {
  const months = (await operator.accounts.listKeys(accountId)).flatMap((key) => Object.values(key.spent));
  return months.reduce<number>((sum, spent) => sum + spent, 0);
}

const slotSchema = z.optional(z.object({ until: z.number() }));
const slotsSchema = z.object({ p0: slotSchema, p1: slotSchema });

/** How many of the first two slots of a door the held requests of an account take now. */
export async function heldSlots({ operator }: Place, accountId: AccountId, door: Door): Promise<number> {
  const { p0, p1 } = slotsSchema.parse((await getItem(operator.table, heldKey(accountId, door))) ?? {});
  const now = operator.clock.now();
  return [p0, p1].filter((place) => place !== undefined && place.until > now).length;
}
