/** `backup verify`: a stack that is not protected, a restored table, the copies of another region, a folder. */
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  RestoreTableToPointInTimeCommand,
} from '@aws-sdk/client-dynamodb';
import { DescribeSecretCommand } from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { createAccount } from '../../admin/commands/accounts.ts';
import { issueSecret } from '../../admin/commands/webhooks.ts';
import { openRestored } from '../../admin/restore/old-items.ts';
import { verifyFolder, verifyRestored, verifyService } from '../../admin/restore/verify.ts';
import type { OperatorServices } from '../../admin/services.ts';
import { backUp } from '../../local/backup.ts';
import { listenOnLoopback } from '../../local/http.ts';
import { updateItem } from '../../service/aws/dynamodb/send.ts';
import { keys } from '../../service/aws/dynamodb/table.ts';
import { newFolder } from '../local/machine-fixture.ts';
import { type StandInStack, startStack } from '../serve/stand-in-stack.ts';

const folder = join(newFolder(afterAll), 'stack');
let stack: StandInStack;
beforeAll(async () => {
  stack = await startStack(folder, { recoverMillis: 3_600_000 });
});
afterAll(() => stack.end());

const rowsOf = (rows: readonly { what: string; found: string; ok: boolean }[]) =>
  Object.fromEntries(rows.map(({ what, found, ok }) => [what, [ok, found]]));

/** The service whose calls AWS answers so. */
function answering(answers: Readonly<Record<string, object>>): OperatorServices {
  const { operator } = stack;
  const over = <Client extends { send: (command: never) => Promise<object> }>(client: Client): Client =>
    new Proxy(client, {
      get: (target, name) =>
        name === 'send'
          ? async (command: never) => ({
              ...(answers[(command as object).constructor.name] ?? (await target.send(command))),
            })
          : (Reflect.get(target, name) as unknown),
    });
  const { raw } = operator;
  return {
    ...operator,
    raw: { ...raw, dynamo: over(raw.dynamo as never), secrets: over(raw.secrets as never) },
  };
}

const soundTable = {
  [DescribeTableCommand.name]: {
    Table: { DeletionProtectionEnabled: true, TableArn: 'arn:aws:dynamodb:us-east-1:1:table/T' },
  },
};

it('names each protection that is missing', async () => {
  const off = {
    ContinuousBackupsDescription: {
      PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: 'DISABLED' },
    },
  };
  const services = answering({
    [DescribeContinuousBackupsCommand.name]: off,
    [DescribeSecretCommand.name]: { DeletedDate: new Date(0) },
  });
  expect(rowsOf(await verifyService(services))).toEqual({
    restorable: [false, 'no: point-in-time recovery is off'],
    'deletion protection': [false, 'off'],
    'time to live': [true, 'enabled'],
    'encryption secret': [false, 'will be deleted'],
  });
  const sound = answering({ ...soundTable, [DescribeSecretCommand.name]: {} });
  const rows = await verifyService(sound);
  expect(rows.filter(({ ok }) => !ok)).toEqual([]);
  expect(rows[0]?.found).toMatch(/^20\d\d-.* to 20\d\d-/);
});

it('audits a restored table and opens its webhook secrets', async () => {
  const { operator } = stack;
  const account = await createAccount(operator, { name: 'sealed', balance: '5' });
  await issueSecret(operator, account);
  const restore = async (table: string): Promise<OperatorServices> => {
    const command = {
      SourceTableName: operator.table.name,
      TargetTableName: table,
      UseLatestRestorableTime: true,
    };
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await operator.raw.dynamo.send(new RestoreTableToPointInTimeCommand(command));
    return { ...operator, table: { ...operator.table, name: table } };
  };
  const good = rowsOf(await verifyRestored(await restore('Good')));
  expect(good['books']).toEqual([true, '1 accounts, 0 creations, 1 ledger rows, 0 differences']);
  expect(good['webhook secrets']).toEqual([true, '1 open, 0 do not']);
  expect(good['time to live']).toEqual([false, 'disabled']);
  const bad = await restore('Bad');
  await updateItem(bad.table, keys.account(account.id), {
    UpdateExpression: 'SET availableMicros = :wrong, webhookSecrets[0].sealed = :lost',
    ExpressionAttributeValues: { ':wrong': 1, ':lost': 'v1.x' },
  });
  const found = rowsOf(await verifyRestored(bad));
  expect(found['books']?.[0]).toBe(false);
  expect(found['webhook secrets']).toEqual([false, '0 open, 1 do not']);
  const { old, sinceMillis } = await openRestored(operator, { table: 'Good' });
  expect(sinceMillis).toBeLessThan(Date.now());
  expect((await old.get([{ pk: { S: `ACCOUNT#${account.id}` }, sk: { S: 'ACCOUNT' } }])).size).toBe(1);
  await expect(openRestored(operator, {})).rejects.toThrow('--from: ');
  await expect(openRestored(operator, { table: 'Good', since: 'noon' })).rejects.toThrow('--since: name');
});

it('checks that the other region has fresh copies and the replica of the secret', async () => {
  const points: object[] = [];
  const asked: string[] = [];
  const backup = createServer((incoming, outgoing) => {
    asked.push(incoming.url ?? '');
    outgoing.end(JSON.stringify({ RecoveryPoints: points }));
  });
  const port = await listenOnLoopback(backup);
  onTestFinished(async () => {
    backup.close();
    backup.closeAllConnections();
    await once(backup, 'close');
    vi.unstubAllEnvs();
  });
  vi.stubEnv('AWS_ENDPOINT_URL_BACKUP', `http://127.0.0.1:${port}`);
  const replica = (Status: string): object => ({ ReplicationStatus: [{ Region: 'eu-north-1', Status }] });
  const look = async (status: string) => {
    const services = answering({ ...soundTable, [DescribeSecretCommand.name]: replica(status) });
    const rows = await verifyService({ ...services, raw: { ...services.raw, backupRegion: 'eu-north-1' } });
    return rowsOf(rows);
  };
  const none = await look('Failed');
  expect(none['copies in eu-north-1']).toEqual([false, 'none: is there a vault with the name of the stack?']);
  expect(none['encryption secret']).toEqual([false, 'there, in eu-north-1: Failed']);
  expect(asked).toEqual(['/resources/arn%3Aaws%3Adynamodb%3Aus-east-1%3A1%3Atable%2FT/recovery-points/']);
  const seconds = Date.now() / 1000;
  points.push(
    { Status: 'COMPLETED', CreationDate: seconds - 3 * 86_400 },
    { Status: 'FAILED', CreationDate: seconds },
  );
  expect((await look('InSync'))['copies in eu-north-1']?.[0], 'too old').toBe(false);
  points.push({ Status: 'COMPLETED', CreationDate: seconds - 3_600 });
  const fresh = await look('InSync');
  expect(fresh['copies in eu-north-1']).toMatchObject([true, expect.stringMatching(/^2, the newest of 20/)]);
  expect(fresh['encryption secret']).toEqual([true, 'there, in eu-north-1: InSync']);
});

it('checks a folder that was copied, and leaves it as it is', async () => {
  const copy = join(newFolder(), 'copy');
  const objects = { holdFiles: () => () => Promise.resolve() };
  await backUp(folder, copy, { objects, now: () => Date.now(), tell: () => undefined });
  const { table } = stack.operator;
  for (const _again of [1, 2])
    expect((await verifyFolder(copy, table.name)).filter(({ ok }) => !ok)).toEqual([]);
  appendFileSync(join(copy, 'objects.jsonl'), '\n');
  await expect(verifyFolder(copy, table.name)).rejects.toThrow('objects.jsonl differs');
  await expect(verifyFolder(folder, table.name)).rejects.toThrow('backup.json is missing');
});

it('says what the deletion of the stack breaks before it allows the deletion', async () => {
  const { code, complaint } = await stack.admin('service', 'unprotect').ended;
  expect(code).toBe(1);
  expect(complaint).toMatch(/ends every address below .*_results .*Nothing was changed: add --yes/s);
  expect(stack.unprotected.count).toBe(0);
  const { out } = await stack.admin('service', 'unprotect', '--yes').ended;
  expect(JSON.parse(out)).toMatchObject({ protected: false, table: stack.operator.table.name });
  expect(stack.unprotected.count).toBe(1);
});
