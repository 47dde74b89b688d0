/**
 * Imports an export into an empty service. Everything but the doors is written first: without its account no key works,
 * and without an invitation nobody signs in. So a repetition after a kill overwrites nothing that others changed, and the
 * doors are written only once, where they are absent. The service item comes closed out of the export.
 */
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { PutSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { getItem, putItem, updateItem } from '../../service/aws/dynamodb/send.ts';
import type { ItemKey } from '../../service/aws/dynamodb/table.ts';
import { createAgeStore } from '../../service/erase/age-store.ts';
import { formatUsd, type Micros } from '../../service/values/money.ts';
import { inLanes } from '../../service/values/lanes.ts';
import { OperatorError } from '../operator-error.ts';
import type { OperatorServices } from '../services.ts';
import { atOnce, itemsOf, patiently, putAbsent, writeItems } from './busy-table.ts';
import { booksOf } from './export-service.ts';
import {
  type Books,
  type CarriedImage,
  checkFiles,
  imageSchema,
  type Manifest,
  readManifest,
  secretsSchema,
} from './folder.ts';
import {
  createCount,
  invitationsOf,
  kindOf,
  moved,
  numberOf,
  parseItem,
  type RawItem,
  roleOf,
  textOf,
} from './items.ts';

/** In the table of the new service: which export comes in, and how far it is. */
interface Mark {
  readonly export: string;
  readonly startedAt: string;
  readonly phase: 'filling' | 'opening' | 'done';
  readonly images: number;
  readonly items: number;
  readonly emails: number;
}

const markKey: ItemKey = { pk: 'IMPORT', sk: 'IMPORT' };
/** The number of items after which the progress is stored, so that a repetition continues there. */
const itemsInStep = 1_000;
const imagesInStep = 64;
/** Reading a table back takes less. */
const longestReadMillis = 6 * 3_600_000;

export interface Imported {
  readonly books: Books;
  readonly isRepeated: boolean;
  /** The people who are invited, and those of them whom no e-mail reached. */
  readonly invited: readonly string[];
  readonly unreached: readonly string[];
}

/** Throws OperatorError when the service holds something else, or differs from the export at the end. */
export async function importService(
  services: OperatorServices,
  from: string,
  onProgress: (line: () => string) => void,
): Promise<Imported> {
  const { manifest, id } = await readManifest(from);
  await checkFiles(from, manifest.files, (done) =>
    onProgress(() => `${done} of ${manifest.files.length} files checked`),
  );
  let mark = await begin(services, id);
  const note = async (change: Partial<Mark>): Promise<void> => {
    mark = { ...mark, ...change };
    await patiently(services, () => writeMark(services, change));
  };
  const isRepeated = mark.phase === 'done';
  const age = createAgeStore(services.table);
  // While accounts come in, no run of the erasure by age may pass them over.
  if (!isRepeated) await patiently(services, () => age.save({ doneUntil: '9999-12-31' }));
  if (mark.phase === 'filling') {
    await putSecrets(services, from);
    await putImages(services, from, manifest, mark.images, async (images) => {
      onProgress(() => `${images} of ${manifest.images} images`);
      await note({ images });
    });
    await fill(services, from, manifest, mark.items, async (items) => {
      onProgress(() => `${items} items`);
      await note({ items });
    });
    await compareItems(services, from, manifest, onProgress, () => note({ items: 0 }));
    await note({ phase: 'opening' });
  }
  const invitations = await openDoors(services, from, manifest, Date.parse(mark.startedAt), isRepeated);
  const books = isRepeated ? manifest.books : await booksOf(services, onProgress);
  compareBooks(books, manifest.books);
  const invited = [...new Set(invitations.map((item) => textOf(item, 'email')))].sort();
  const unreached = isRepeated
    ? []
    : await tell(services, invited, mark.emails, (emails) => note({ emails }));
  if (!isRepeated) {
    // The days of this service hold for all texts that came in.
    await patiently(services, () => age.save({ doneUntil: '1970-01-01' }));
    await note({ phase: 'done' });
  }
  return { books, isRepeated, invited, unreached };
}

/** Takes the empty service for this export, or finds how far an earlier run came. */
async function begin(services: OperatorServices, id: string): Promise<Mark> {
  const { table, clock } = services;
  const found = await getItem(table, markKey);
  if (found) {
    if (found['export'] === id) return found as unknown as Mark;
    throw new OperatorError('Another export was imported into this service: deploy a new stack.');
  }
  for await (const item of itemsOf(services))
    if (!['none', 'service'].includes(roleOf(item)))
      throw new OperatorError(
        `The service is not empty: its table has ${kindOf(item)} in ${textOf(item, 'pk')}. Import into a newly deployed stack.`,
      );
  const mark: Mark = {
    export: id,
    startedAt: new Date(clock.now()).toISOString(),
    phase: 'filling',
    images: 0,
    items: 0,
    emails: 0,
  };
  await putItem(table, { ...markKey, ...mark });
  return mark;
}

async function writeMark({ table }: OperatorServices, change: Partial<Mark>): Promise<void> {
  const names = Object.keys(change);
  await updateItem(table, markKey, {
    UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join(', ')}`,
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: Object.fromEntries(
      Object.entries(change).map(([name, value]) => [`:${name}`, value]),
    ),
  });
}

/** The ids of the versions go along, because sealed texts name them. The same id with the same text changes nothing. */
async function putSecrets(services: OperatorServices, from: string): Promise<void> {
  const { secrets, secretArns } = services.raw;
  const carried = secretsSchema.parse(JSON.parse(await readFile(path.join(from, 'secrets.json'), 'utf8')));
  for (const name of ['encryption', 'providers'] as const)
    for (const { id, text } of carried[name])
      await patiently(services, () =>
        secrets.send(
          new PutSecretValueCommand({
            SecretId: secretArns[name],
            ClientRequestToken: id,
            SecretString: text,
          }),
        ),
      );
}

async function putImages(
  services: OperatorServices,
  from: string,
  manifest: Manifest,
  done: number,
  note: (done: number) => Promise<void>,
): Promise<void> {
  const images: CarriedImage[] = [];
  for await (const line of linesOf(path.join(from, 'objects.jsonl')))
    images.push(imageSchema.parse(JSON.parse(line)));
  for (let start = done; start < manifest.images; start += imagesInStep) {
    const step = images.slice(start, start + imagesInStep);
    await inLanes(atOnce, step, async ({ expiresAt, ...image }) => {
      const bytes = await readFile(path.join(from, 'objects', image.key));
      await patiently(services, () => services.raw.images.put(image, bytes, expiresAt));
    });
    await note(start + step.length);
  }
}

/** Writes all items but the doors and the people. @param done the items that an earlier run wrote */
async function fill(
  services: OperatorServices,
  from: string,
  manifest: Manifest,
  done: number,
  note: (done: number) => Promise<void>,
): Promise<void> {
  let seen = 0;
  let step: RawItem[] = [];
  const write = async (): Promise<void> => {
    await writeItems(services, step);
    step = [];
    await note(seen);
  };
  for await (const item of itemsIn(from, manifest, services)) {
    if (!['filling', 'service'].includes(roleOf(item))) continue;
    seen += 1;
    if (seen > done) step.push(item);
    if (step.length === itemsInStep) await write();
  }
  if (step.length > 0) await write();
}

/**
 * No client has access yet, so the table holds exactly what was written. The service item has its own
 * counters.
 */
async function compareItems(
  services: OperatorServices,
  from: string,
  manifest: Manifest,
  onProgress: (line: () => string) => void,
  beginAgain: () => Promise<void>,
): Promise<void> {
  const [wanted, found] = [createCount(), createCount()];
  // DynamoDB may delete an item as soon as its time to live is over.
  const lastsUntil = services.clock.now() + longestReadMillis;
  const isLasting = (item: RawItem): boolean =>
    item['expiresAtSeconds'] === undefined || numberOf(item, 'expiresAtSeconds') * 1000 > lastsUntil;
  for await (const item of itemsIn(from, manifest, services))
    if (roleOf(item) === 'filling' && isLasting(item)) wanted.add(item);
  let scanned = 0;
  for await (const item of itemsOf(services)) {
    scanned += 1;
    onProgress(() => `${scanned} items read back`);
    if (!['none', 'service'].includes(roleOf(item)) && isLasting(item)) found.add(item);
  }
  if (wanted.sum() === found.sum()) return;
  await beginAgain();
  throw new OperatorError(
    'The items in the table differ from the export: run the import again, and let nobody else write.',
    { exported: wanted.kinds(), found: found.kinds() },
  );
}

/** @returns the invitations of the people */
async function openDoors(
  services: OperatorServices,
  from: string,
  manifest: Manifest,
  startedAtMillis: number,
  isOpen: boolean,
): Promise<RawItem[]> {
  const accounts: RawItem[] = [];
  const people: RawItem[] = [];
  const put = (): Promise<void> => inLanes(atOnce, accounts.splice(0), (item) => putAbsent(services, item));
  for await (const item of itemsIn(from, manifest, services)) {
    if (roleOf(item) === 'people') people.push(item);
    if (roleOf(item) === 'door' && !isOpen) accounts.push(item);
    if (accounts.length === itemsInStep) await put();
  }
  await put();
  const invitations = invitationsOf(people, startedAtMillis);
  if (!isOpen) await inLanes(atOnce, invitations, (item) => putAbsent(services, item));
  return invitations;
}

function compareBooks(found: Books, wanted: Books): void {
  if (JSON.stringify(found) === JSON.stringify(wanted)) return;
  throw new OperatorError(
    `The books differ from the export: ${booksText(found)} in place of ${booksText(wanted)}.`,
    { exported: wanted, found },
  );
}

export function booksText({ accounts, creations, ledger_rows, available_micros }: Books): string {
  return `${accounts} accounts, ${creations} creations, ${ledger_rows} ledger rows, ${formatUsd(available_micros as Micros)} to spend`;
}

/** A user pool sends invited people a first password, and limits such e-mails per day. */
async function tell(
  { registerUser, emailsADay }: OperatorServices,
  invited: readonly string[],
  done: number,
  note: (done: number) => Promise<void>,
): Promise<string[]> {
  const unreached = invited.slice(emailsADay);
  for (const [place, email] of invited.slice(done, emailsADay).entries()) {
    const sent = await registerUser(email).catch(() => 'refused' as const);
    if (sent === 'refused') unreached.push(email);
    await note(done + place + 1);
  }
  return unreached;
}

async function* itemsIn(
  from: string,
  { results_base_url: old }: Manifest,
  { raw }: OperatorServices,
): AsyncGenerator<RawItem> {
  for await (const line of linesOf(path.join(from, 'items.jsonl')))
    yield moved(parseItem(line), old, raw.resultsBaseUrl);
}

function linesOf(file: string): AsyncIterable<string> {
  return createInterface({ input: createReadStream(file), crlfDelay: Infinity });
}
