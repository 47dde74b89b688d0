/** Sends creations to a running service, and reads them until they end. */
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import type { OperatorServices } from '../admin/services.ts';
import { isTerminal, type CreationRecord } from '../service/creations/creation.ts';
import { parseCreationId, type CreationId } from '../service/values/ids.ts';

/** A running service, in this process or in another one. */
export interface Place {
  readonly machine: { readonly apiUrl: string };
  readonly operator: Pick<OperatorServices, 'creations'>;
}

/** The longest pause between two reads of a record, as each costs CPU time. */
const longestPauseMillis = 250;
const firstPauseMillis = 20;

const acceptedSchema = z.object({ id: z.string() });

/** Sends one creation and returns its id. Throws when the answer is not 202. */
export async function submit(
  { machine }: Pick<Place, 'machine'>,
  key: string,
  body: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<CreationId> {
  const response = await fetch(`${machine.apiUrl}/images/generate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (response.status !== 202) throw new Error(`a creation was answered ${response.status}: ${text}`);
  const id = parseCreationId(acceptedSchema.parse(JSON.parse(text)).id);
  if (id === undefined) throw new Error(`a creation has no valid id: ${text}`);
  return id;
}

/** Waits until the creation has ended and its webhook, if it has one, is no longer pending. */
export async function settled(
  { operator }: Pick<Place, 'operator'>,
  id: CreationId,
): Promise<CreationRecord> {
  for (let looks = 1; ; looks += 1) {
    const creation = await operator.creations.read(id);
    if (!creation) throw new Error(`there is no creation ${id}`);
    if (isTerminal(creation.status) && creation.webhook?.status !== 'pending') return creation;
    await sleep(Math.min(longestPauseMillis, firstPauseMillis * looks));
  }
}
