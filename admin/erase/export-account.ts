/** `accounts export`: everything that the service holds of one account, as lines of JSON, and its images. */
import { mkdir, open, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Account } from '../../service/accounts/account.ts';
import { queryPages } from '../../service/aws/dynamodb/query.ts';
import { type Item, keys, refusalPartition } from '../../service/aws/dynamodb/table.ts';
import { creationView } from '../../service/creations/creation.ts';
import { originalKeysOf } from '../../service/creations/erase.ts';
import type { AccountId, CreationId } from '../../service/values/ids.ts';
import { OperatorError } from '../operator-error.ts';
import type { OperatorServices } from '../services.ts';

export interface Exported {
  readonly rows: number;
  readonly creations: number;
  readonly images: number;
}

const creationsAtOnce = 40;

/** A repetition writes the lines anew, and fetches only images that are not there yet. Throws OperatorError. */
export async function exportAccount(
  { id }: Account,
  to: string,
  services: OperatorServices,
): Promise<Exported> {
  await claimFolder(to, id);
  const rows = await writeLines(join(to, 'account.jsonl'), rowsOf(id, services));
  let images = 0;
  const creations = await writeLines(join(to, 'creations.jsonl'), async function* () {
    let before: CreationId | undefined;
    for (;;) {
      const page = await services.creations.list(id, creationsAtOnce, before);
      if (page.length === 0) return;
      const addressOf = await services.results.of(page);
      for (const creation of page) {
        for (const key of creation.erasedBy === undefined ? originalKeysOf(creation) : [])
          if (await fetchImage(key, to, services)) images += 1;
        yield creationView(creation, addressOf, services.clock.now());
      }
      before = page.at(-1)?.id;
    }
  });
  return { rows, creations, images };
}

/** A folder of another account is not mixed with this one. */
async function claimFolder(to: string, id: AccountId): Promise<void> {
  await mkdir(join(to, 'images'), { recursive: true });
  const file = join(to, 'account.txt');
  const known = await readFile(file, 'utf8').catch(() => undefined);
  if (known !== undefined && known.trim() !== id)
    throw new OperatorError(`--to: ${to} has the export of the account ${known.trim()}.`);
  await writeFile(file, `${id}\n`);
}

async function writeLines(file: string, read: () => AsyncIterable<object>): Promise<number> {
  const handle = await open(file, 'w');
  let count = 0;
  try {
    for await (const line of read()) {
      await handle.write(`${JSON.stringify(line)}\n`);
      count += 1;
    }
  } finally {
    await handle.close();
  }
  return count;
}

/** What opens something stays: secrets of webhooks, keys of a bucket, and hashes of keys. */
const leftOut = new Set(['pk', 'listing', 'listed', 'webhookSecrets', 'sealedKeys', 'hash', 'requestHash']);

function rowsOf(id: AccountId, { table }: OperatorServices): () => AsyncGenerator<Item> {
  return async function* () {
    for (const pk of [keys.account(id).pk, refusalPartition(id)]) {
      const query = { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': pk } };
      for await (const { Items } of queryPages(table, query))
        for (const item of Items ?? [])
          yield Object.fromEntries(
            Object.entries(item)
              .filter(([name]) => !leftOut.has(name))
              .map(([name, value]) => [name, value instanceof Set ? [...value] : value]),
          );
    }
  };
}

/** False when the bucket has the image no longer, or never had it. */
async function fetchImage(key: string, to: string, { raw }: OperatorServices): Promise<boolean> {
  const file = join(to, 'images', basename(key));
  const isThere = await readFile(file).then(
    () => true,
    () => false,
  );
  if (isThere) return true;
  const { images } = raw;
  if (!(await images.find(key))) return false;
  // A file that was cut off has another name.
  await writeFile(`${file}.part`, await images.get(key));
  await rename(`${file}.part`, file);
  return true;
}
