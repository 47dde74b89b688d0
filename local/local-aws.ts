import { generateKeyPairSync } from 'node:crypto';
import path from 'node:path';
import * as z from 'zod';
import type { AwsService } from './aws/aws-call.ts';
import { createDynamo, type Dynamo } from './aws/dynamodb-service.ts';
import { type AwsEndpoint, createAwsEndpoint } from './aws/endpoint.ts';
import { createFaults, type Faults } from './aws/faults.ts';
import { createAuthorizer, operator } from './aws/iam.ts';
import { createObjectStore, type ObjectStore } from './aws/object-store.ts';
import { type KeyGroups, openKeyGroups } from './aws/key-groups.ts';
import { createSecrets, generateSecretString } from './aws/secrets.ts';
import { openTopics, type Topics } from './aws/topics.ts';
import { FolderRefused, type OnWriteFailed } from './disk.ts';
import { createFolderStorage } from './dynamodb/journal/folder-storage.ts';
import type { LocalTable, LocalTemplate } from './template.ts';

/** The local AWS: all services of one data folder behind one address. */
export interface LocalAws extends Pick<AwsEndpoint, 'handle' | 'intercept' | 'uploads'> {
  readonly url: string;
  readonly objects: ObjectStore;
  /** The keys that sign addresses of results. */
  readonly keyGroups: KeyGroups;
  /** Absent on a machine that serves others: it sends no e-mails. */
  readonly topics?: Topics;
  readonly faults: Faults;
  /** The grants that calls of the functions have used so far, as `role action resource`. */
  readonly usedGrants: () => ReadonlySet<string>;
  /** Deletes the items whose time to live is over, and the objects that a bucket's lifecycle rules expire. */
  readonly expire: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface LocalAwsOptions {
  readonly template: LocalTemplate;
  readonly folder: string;
  readonly now: () => number;
  /** How long a transaction of DynamoDB holds its items. The default is 0. */
  readonly transactionHoldMillis?: number;
  /** How far back a table can be restored. The default is 0: not at all. */
  readonly recoverMillis?: number;
  /** Of all callers. Absent: a test machine, which checks no signature of a header. */
  readonly secretKey?: string | undefined;
  readonly states: AwsService;
  readonly lambda: AwsService;
  readonly onWriteFailed: OnWriteFailed;
}

/** Opens tables, objects and secrets of the folder, creates those that are missing, and listens. */
export async function startLocalAws({
  template,
  folder,
  now,
  states,
  lambda,
  transactionHoldMillis = 0,
  recoverMillis = 0,
  secretKey,
  onWriteFailed,
}: LocalAwsOptions): Promise<LocalAws> {
  const dynamo = createDynamo({
    now,
    storage: createFolderStorage({
      folder: path.join(folder, 'tables'),
      // Nothing is lost, but the journal grows until a later snapshot succeeds.
      onSnapshot: (ended) => {
        if (ended.outcome === 'failed')
          console.error('a snapshot of the tables could not be written:', ended.cause);
      },
      onWriteFailed,
    }),
    transactionHoldMillis,
    recoverMillis,
  });
  const objects = createObjectStore(path.join(folder, 'objects'), { now, onWriteFailed });
  const secrets = createSecrets(path.join(folder, 'secrets'), { now });
  const topics =
    secretKey === undefined
      ? openTopics({ file: path.join(folder, 'mails.jsonl'), now, onWriteFailed })
      : undefined;
  const keyGroups = openKeyGroups(path.join(folder, 'cloudfront.json'), { now });
  const faults = createFaults();
  try {
    await refuseStrangeTables(dynamo, template.tables);
    for (const table of template.tables) await ensureTable(dynamo, table);
    for (const { arn, name, generate } of template.secrets) {
      const isKey = template.keyPairs.some(({ secretArn }) => secretArn === arn);
      secrets.ensure(arn, name, isKey ? JSON.stringify(newKeyPair()) : generateSecretString(generate ?? {}));
    }
    for (const { secretArn, publicKeyId, keyGroupId } of template.keyPairs)
      keyGroups.ensure(keyGroupId, publicKeyId, publicKeySchema.parse(JSON.parse(secrets.read(secretArn))));
    const authorize = createAuthorizer(template.policies);
    const endpoint = createAwsEndpoint({
      dynamodb: dynamo.service,
      secretsmanager: secrets.service,
      states,
      lambda,
      ...(topics && { sns: topics.service }),
      objectStore: objects,
      keyGroups,
      faults,
      authorize,
      now,
      ...(secretKey !== undefined && { secretKey }),
      corsRules: (bucket) => template.buckets.find(({ name }) => name === bucket)?.cors ?? [],
    });
    const { url, close } = await endpoint.listen();
    return {
      ...endpoint,
      url,
      objects,
      keyGroups,
      ...(topics && { topics }),
      faults,
      usedGrants: authorize.usedGrants,
      expire: async () => {
        await dynamo.expireItems();
        for (const { name, expirations } of template.buckets)
          for (const { prefix, days } of expirations) await objects.expire(name, prefix, days);
      },
      close: async () => {
        await close();
        await dynamo.close();
        objects.close();
        topics?.close();
      },
    };
  } catch (error) {
    await dynamo.close();
    objects.close();
    topics?.close();
    throw error;
  }
}

async function ensureTable(
  { service, ensureTable: ensure }: Dynamo,
  { name, create, ttlAttribute }: LocalTable,
): Promise<void> {
  await ensure(create);
  if (ttlAttribute === undefined) return;
  const call = (operation: string, input: Record<string, unknown>): ReturnType<AwsService> =>
    service({ service: 'dynamodb', operation, caller: operator, input });
  // DynamoDB refuses a setting that is on already.
  const { TimeToLiveDescription } = await call('DescribeTimeToLive', { TableName: name });
  if (timeToLiveSchema.parse(TimeToLiveDescription).TimeToLiveStatus === 'ENABLED') return;
  await call('UpdateTimeToLive', {
    TableName: name,
    TimeToLiveSpecification: { AttributeName: ttlAttribute, Enabled: true },
  });
}

/** A table under another name would begin empty beside the full one, without an error. */
async function refuseStrangeTables({ tableNames }: Dynamo, tables: readonly LocalTable[]): Promise<void> {
  const known = new Set(tables.map(({ name }) => name));
  const strange = (await tableNames()).filter((name) => !known.has(name));
  if (strange.length > 0)
    throw new FolderRefused(
      'FOLDER_UNUSABLE',
      `The folder has the table ${strange.join(', ')}, which this release does not know: start the release that wrote it, or choose another folder with --data.`,
    );
}

/** As the function of the template makes it. */
function newKeyPair(): { readonly public_key: string; readonly private_key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'prime256v1',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return { public_key: publicKey, private_key: privateKey };
}

const publicKeySchema = z.object({ public_key: z.string() }).transform((secret) => secret.public_key);
const timeToLiveSchema = z.object({ TimeToLiveStatus: z.string() });
