/**
 * Whether a service could be restored: each row says what was checked, what was found, and whether it
 * suffices.
 */
import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { DescribeSecretCommand } from '@aws-sdk/client-secrets-manager';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { checkBackup } from '../../local/backup.ts';
import { itemsInCopy } from '../../local/copied-items.ts';
import { secretsFromItem } from '../../service/accounts/account-items.ts';
import { serviceUrl } from '../../service/aws/aws-place.ts';
import { createSignedFetch } from '../../service/aws/signed-fetch.ts';
import { ttlAttribute } from '../../service/aws/dynamodb/table.ts';
import type { AccountId } from '../../service/values/ids.ts';
import { SecretLost } from '../../service/webhooks/secret-box.ts';
import { auditTable } from '../audit-table.ts';
import { itemsOf, patiently } from '../move/busy-table.ts';
import { kindOf } from '../move/items.ts';
import { OperatorError } from '../operator-error.ts';
import type { OperatorServices } from '../services.ts';

export interface Verified {
  readonly what: string;
  readonly found: string;
  readonly ok: boolean;
}

const callMillis = 10_000;
/** A backup is made each night. */
const oldestCopyMillis = 2 * 86_400_000;

/** The protections of the table in use. */
export async function verifyService(services: OperatorServices): Promise<Verified[]> {
  const { raw } = services;
  const rows = [...(await verifyTable(services)), await verifySecret(services)];
  return raw.backupRegion === '' ? rows : [...rows, await verifyCopies(services, raw.backupRegion)];
}

/** A restored table, before anybody uses it: also its books, and its sealed secrets. */
export async function verifyRestored(services: OperatorServices): Promise<Verified[]> {
  const { counted, differences } = await auditTable(services);
  const { accounts, creations, rows } = counted;
  const found = `${accounts} accounts, ${creations} creations, ${rows} ledger rows, ${differences.length} differences`;
  const books = { what: 'books', found, ok: differences.length === 0 };
  return [...(await verifyTable(services)), books, await verifySealed(services)];
}

/** A folder that `backup --to` has made. */
export async function verifyFolder(folder: string, table: string): Promise<Verified[]> {
  const manifest = await checkBackup(folder);
  if (!manifest)
    throw new OperatorError(
      `--from: ${folder} is no backup that nobody has started on: backup.json is missing.`,
    );
  const items = await itemsInCopy(folder, table);
  return [
    { what: 'moment', found: manifest.made_at, ok: true },
    { what: 'files', found: `${manifest.files.length} as they were copied`, ok: true },
    { what: 'items', found: String(items.length), ok: items.length > 0 },
  ];
}

async function verifyTable(services: OperatorServices): Promise<Verified[]> {
  const { dynamo } = services.raw;
  const TableName = services.table.name;
  const backups = await patiently(services, () =>
    dynamo.send(new DescribeContinuousBackupsCommand({ TableName })),
  );
  const { Table } = await patiently(services, () => dynamo.send(new DescribeTableCommand({ TableName })));
  const ttl = await patiently(services, () => dynamo.send(new DescribeTimeToLiveCommand({ TableName })));
  const recovery = backups.ContinuousBackupsDescription?.PointInTimeRecoveryDescription ?? {};
  const { EarliestRestorableDateTime: from, LatestRestorableDateTime: to } = recovery;
  const { TimeToLiveStatus, AttributeName } = ttl.TimeToLiveDescription ?? {};
  const isProtected = Table?.DeletionProtectionEnabled === true;
  return [
    {
      what: 'restorable',
      found:
        from && to ? `${from.toISOString()} to ${to.toISOString()}` : 'no: point-in-time recovery is off',
      ok: recovery.PointInTimeRecoveryStatus === 'ENABLED',
    },
    { what: 'deletion protection', found: isProtected ? 'on' : 'off', ok: isProtected },
    {
      what: 'time to live',
      found: TimeToLiveStatus?.toLowerCase() ?? 'disabled',
      ok: TimeToLiveStatus === 'ENABLED' && AttributeName === ttlAttribute,
    },
  ];
}

async function verifySecret(services: OperatorServices): Promise<Verified> {
  const { secrets, secretArns, backupRegion } = services.raw;
  const SecretId = secretArns.encryption;
  const { DeletedDate, ReplicationStatus = [] } = await patiently(services, () =>
    secrets.send(new DescribeSecretCommand({ SecretId })),
  );
  const replica = ReplicationStatus.find(({ Region }) => Region === backupRegion);
  const copy = backupRegion === '' ? '' : `, in ${backupRegion}: ${replica?.Status ?? 'missing'}`;
  return {
    what: 'encryption secret',
    found: (DeletedDate ? 'will be deleted' : 'there') + copy,
    ok: !DeletedDate && (backupRegion === '' || replica?.Status === 'InSync'),
  };
}

async function verifySealed(services: OperatorServices): Promise<Verified> {
  let [opened, lost] = [0, 0];
  for await (const item of itemsOf(services)) {
    const kind = kindOf(item);
    if (kind !== 'ACCOUNT' && kind !== 'BUCKET') continue;
    const row = unmarshall(item);
    const account = String(row['pk']).slice('ACCOUNT#'.length) as AccountId;
    const all =
      kind === 'BUCKET' ? [String(row['sealedKeys'])] : secretsFromItem(row).map(({ sealed }) => sealed);
    for (const sealed of all)
      try {
        await services.secretBox.open(account, sealed);
        opened += 1;
      } catch (error) {
        if (!(error instanceof SecretLost)) throw error;
        lost += 1;
      }
  }
  return { what: 'webhook secrets', found: `${opened} open, ${lost} do not`, ok: lost === 0 };
}

/** The newest copy in the vault of the other region. A signer serves this one call. */
async function verifyCopies(services: OperatorServices, region: string): Promise<Verified> {
  const { raw, clock, table } = services;
  const what = `copies in ${region}`;
  const { Table } = await patiently(services, () =>
    raw.dynamo.send(new DescribeTableCommand({ TableName: table.name })),
  );
  const { AWS_ENDPOINT_URL_BACKUP: endpoint } = process.env;
  const { sessionToken, ...keys } = await raw.dynamo.config.credentials();
  const send = createSignedFetch({
    ...{ accessKeyId: keys.accessKeyId, secretAccessKey: keys.secretAccessKey },
    ...(sessionToken !== undefined && { sessionToken }),
    ...{ service: 'backup', region, retries: 3, clock },
  });
  const place = { region, urlSuffix: await raw.urlSuffix(), ...(endpoint !== undefined && { endpoint }) };
  const path = `/resources/${encodeURIComponent(Table?.TableArn ?? '')}/recovery-points/`;
  const limit = clock.timeout(callMillis);
  try {
    const answer = await send(serviceUrl('backup', place) + path, { signal: limit.signal });
    if (!answer.ok) return { what, found: `AWS Backup answered ${answer.status}`, ok: false };
    const { RecoveryPoints = [] } = (await answer.json()) as {
      RecoveryPoints?: readonly { readonly Status: string; readonly CreationDate: number }[];
    };
    const whole = RecoveryPoints.filter(({ Status }) => Status === 'COMPLETED');
    const newest = Math.max(0, ...whole.map(({ CreationDate }) => CreationDate * 1000));
    const found =
      newest === 0
        ? 'none: is there a vault with the name of the stack?'
        : `${whole.length}, the newest of ${new Date(newest).toISOString()}`;
    return { what, found, ok: clock.now() - newest < oldestCopyMillis };
  } finally {
    limit.release();
  }
}
