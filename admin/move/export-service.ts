/** Exports a service of one machine into a folder, as it is at one moment in which nothing is open. */
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { itemsInCopy } from '../../local/copied-items.ts';
import { noSuchVersion, readSecretValue, type Stage } from '../../service/aws/secrets.ts';
import { requestMillis } from '../../service/contract/limits.ts';
import { thumbnailKey } from '../../service/creations/thumbnails.ts';
import { inLanes } from '../../service/values/lanes.ts';
import { auditTable } from '../audit-table.ts';
import { OperatorError } from '../operator-error.ts';
import type { OperatorServices } from '../services.ts';
import { atOnce } from './busy-table.ts';
import {
  type Books,
  type CarriedImage,
  type CarriedSecrets,
  type ExportedFile,
  imageSchema,
  type Manifest,
  manifestName,
  manifestText,
  writeParts,
} from './folder.ts';
import { createCount, exported, isOpenWork, kindOf, numberOf, type RawItem, textOf } from './items.ts';

/** A request that began before the service was closed has ended after this time. */
const longestRequestMillis = requestMillis + 2_000;

/** Throws OperatorError when something is open or moves. The folder has no manifest then. */
export async function exportService(
  services: OperatorServices,
  to: string,
  onProgress: (line: () => string) => void,
): Promise<Pick<Manifest, 'books' | 'images' | 'images_missing'>> {
  const { owned, clock, table, raw } = services;
  if (!owned) throw new OperatorError('Only a service that `darkroom serve` runs can be exported.');
  if (existsSync(to) && readdirSync(to).length > 0)
    throw new OperatorError(`--to: ${to} is not empty: name a new folder.`);
  await requireClosed(services);
  await mkdir(to, { recursive: true, mode: 0o700 });
  const copy = path.join(to, 'copy');
  await owned.backup(copy, () => undefined, true);
  const all = (await itemsInCopy(copy, table.name)) as unknown as RawItem[];
  await rm(copy, { recursive: true });
  requireNothingOpen(all);
  const nowMillis = clock.now();
  const items = all.map((item) => exported(item, nowMillis)).filter((item) => item !== undefined);
  const books = await checkedBooks(services, items);

  const count = createCount();
  items.forEach(count.add);
  const files: ExportedFile[] = [await writeParts(to, 'items.jsonl', linesOf(items))];
  const wanted = imagesIn(items, nowMillis);
  const present: CarriedImage[] = [];
  await inLanes(atOnce, wanted, async (image) => {
    // The store limits the time of each call.
    const bytes = await raw.images.upload(image.key, new AbortController().signal);
    if (bytes) {
      files.push(await writeParts(to, `objects/${image.key}`, [bytes]));
      present.push(image);
    }
    onProgress(() => `${present.length} of ${wanted.length} images`);
  });
  files.push(await writeParts(to, 'objects.jsonl', linesOf(present)));
  files.push(await writeParts(to, 'secrets.json', [JSON.stringify(await readSecrets(services))]));
  const manifest = {
    made_at: new Date(nowMillis).toISOString(),
    results_base_url: raw.resultsBaseUrl,
    items: count.kinds(),
    books,
    images: present.length,
    images_missing: wanted.length - present.length,
    files,
  };
  // Without this file the folder is no export.
  await writeParts(to, manifestName, [manifestText(manifest)]);
  return manifest;
}

function* linesOf(values: readonly object[]): Generator<string> {
  for (const value of values) yield `${JSON.stringify(value)}\n`;
}

async function requireClosed({ serviceSwitch, clock }: OperatorServices): Promise<void> {
  const { closed } = await serviceSwitch.read();
  if (!closed)
    throw new OperatorError(
      'The service is open, so money moves: close it first (`service close`), and it stays closed.',
    );
  const millis = Date.parse(closed.since) + longestRequestMillis - clock.now();
  if (millis > 0) await clock.sleep(millis);
}

function requireNothingOpen(items: readonly RawItem[]): void {
  const open = items.filter(isOpenWork);
  if (open.length === 0) return;
  const creations = open.filter((item) => textOf(item, 'openShard').startsWith('OPEN')).length;
  throw new OperatorError(
    `${creations} creations are open, and ${open.length - creations} webhooks, notices or erasures are under way: wait until they have ended, half an hour at most, and export again.`,
    { open_creations: creations, others: open.length - creations },
  );
}

/** The copy is older than the audit, so equal sums show that no money moved in between. */
async function checkedBooks(services: OperatorServices, items: readonly RawItem[]): Promise<Books> {
  const books = await booksOf(services);
  const accounts = items.filter((item) => kindOf(item) === 'ACCOUNT');
  const rows = items.filter((item) => kindOf(item) === 'LEDGER').length;
  const available = accounts.reduce((sum, item) => sum + numberOf(item, 'availableMicros'), 0);
  const isSame =
    books.accounts === accounts.length && books.ledger_rows === rows && books.available_micros === available;
  if (!isSame)
    throw new OperatorError('Money moved during the export: repeat it when no operator works on wallets.');
  return books;
}

/** The books of a whole service. Throws OperatorError when they do not balance. */
export async function booksOf(
  services: OperatorServices,
  onProgress?: (line: () => string) => void,
): Promise<Books> {
  const { counted, differences } = await auditTable(services, {
    onProgress: ({ accounts, rows }) =>
      onProgress?.(() => `audit: ${accounts} accounts, ${rows} ledger rows`),
  });
  if (differences.length > 0)
    throw new OperatorError(`The books do not balance: \`audit\` shows ${differences.length} differences.`, {
      differences,
    });
  const books = { accounts: counted.accounts, creations: counted.creations, ledger_rows: counted.rows };
  const money = { available_micros: 0, credit_line_micros: 0 };
  for await (const page of services.accounts.pages())
    for (const { availableMicros, creditLineMicros } of page) {
      money.available_micros += availableMicros;
      money.credit_line_micros += creditLineMicros;
    }
  return { ...books, ...money };
}

/**
 * The images that records still name: results until they expire, and uploads that can be used. The new bucket counts
 * their days from the import on.
 */
function imagesIn(items: readonly RawItem[], nowMillis: number): CarriedImage[] {
  const images: CarriedImage[] = [];
  for (const item of items) {
    const expiresAt = numberOf(item, 'resultsExpireAt');
    if (kindOf(item) === 'CREATION' && expiresAt > nowMillis)
      for (const { M: result = {} } of item['results']?.L ?? []) {
        images.push(imageOf(result, { expiresAt }));
        if (item['colours']) images.push(...formsOf(textOf(result, 'key'), expiresAt));
      }
    if (kindOf(item) === 'UPLOAD') images.push(imageOf(item, { width: 0, height: 0 }));
  }
  return images;
}

/** The thumbnails of a result. Nobody reads their sizes. */
function formsOf(resultKey: string, expiresAt: number): CarriedImage[] {
  return (['small', 'large'] as const).map((form) => ({
    ...{ key: thumbnailKey(resultKey, form), contentType: 'image/webp', expiresAt },
    ...{ width: 0, height: 0, bytes: 0 },
  }));
}

function imageOf(item: RawItem, more: Partial<CarriedImage>): CarriedImage {
  const credentials = item['contentCredentials']?.S;
  return imageSchema.parse({
    key: textOf(item, 'key'),
    width: numberOf(item, 'width'),
    height: numberOf(item, 'height'),
    contentType: textOf(item, 'contentType'),
    bytes: numberOf(item, 'bytes'),
    ...(credentials !== undefined && { contentCredentials: credentials }),
    ...more,
  });
}

/** Sealed texts name the version that sealed them: the current one, or one before a rotation. */
async function readSecrets({ raw }: OperatorServices): Promise<CarriedSecrets> {
  const valuesOf = async (SecretId: string): Promise<CarriedSecrets['encryption']> => {
    const values = [];
    for (const VersionStage of ['AWSPREVIOUS', 'AWSCURRENT'] satisfies Stage[]) {
      const found = await readSecretValue(raw.secrets, { SecretId, VersionStage }).catch((error: unknown) => {
        if (VersionStage === 'AWSPREVIOUS' && error instanceof Error && error.name === noSuchVersion)
          return undefined;
        throw error;
      });
      if (found) values.push({ id: found.VersionId ?? '', text: found.SecretString ?? '' });
    }
    return values;
  };
  return {
    encryption: await valuesOf(raw.secretArns.encryption),
    providers: await valuesOf(raw.secretArns.providers),
  };
}
