/** Two rotations of the encryption secret. Secrets Manager keeps the previous version and nothing older. */
import { afterAll, describe, expect, it } from 'vitest';
import { issueSecret } from '../../../admin/commands/webhooks.ts';
import { resealSecrets } from '../../../admin/reseal.ts';
import type { OperatorServices } from '../../../admin/services.ts';
import { sendTestDelivery } from '../../../service/webhooks/redeliver.ts';
import { refusal } from '../../admin/admin-run.ts';
import { fakeClock, stub } from '../../api/fakes.ts';
import { anAccount } from '../../fixtures/records.ts';
import { type Client, startTestService } from '../../fixtures/service.ts';
import { settled, submit } from './creations.ts';

const service = await startTestService();
afterAll(() => service.end());

/** The functions hold a version of the secret in memory for five minutes. */
const heldSeconds = 301;

async function rotateEncryption(): Promise<void> {
  const SecretId = service.machine.template.outputs['EncryptionSecretArn'];
  await service.machine.aws({
    service: 'secretsmanager',
    operation: 'PutSecretValue',
    caller: 'operator',
    input: { SecretId, SecretString: crypto.randomUUID() },
  });
  service.jump(heldSeconds);
}

async function delivered({ key }: Client): Promise<string | undefined> {
  const id = await submit(service, key, { prompt: 'a lake', webhook_url: service.machine.inboxUrl });
  return (await settled(service, id)).webhook?.status;
}

const sealedBy = async ({ account }: Client): Promise<(string | undefined)[]> =>
  (await service.account(account.id)).webhookSecrets.map(({ sealed }) => sealed.split('.')[1]);

it('Secrets that are resealed between two rotations stay readable: webhooks are signed, and receivers keep their secrets', async () => {
  const client = await service.client();
  await issueSecret(service.operator, await service.account(client.account.id));
  const [first] = await sealedBy(client);

  await rotateEncryption();
  // One of the three secrets belongs to the demo account.
  expect(await resealSecrets(service.operator)).toMatchObject({
    resealed: 3,
    alreadyCurrent: 0,
    dropped: 0,
    lost: [],
    busy: [],
  });
  const versions = await sealedBy(client);
  expect(versions).toHaveLength(2);
  expect(versions).not.toContain(first);
  expect(await resealSecrets(service.operator)).toMatchObject({ resealed: 0, alreadyCurrent: 3 });

  await rotateEncryption();
  expect(await delivered(client)).toBe('delivered');
  const { webhookSecrets } = await service.account(client.account.id);
  const opened = await Promise.all(
    webhookSecrets.map(({ sealed }) => service.operator.secretBox.open(client.account.id, sealed)),
  );
  expect(opened[1]).toBe(client.webhookSecret);
});

it('Secrets that were replaced more than 24 h ago are dropped, whichever version sealed them', async () => {
  const client = await service.client();
  await issueSecret(service.operator, await service.account(client.account.id));
  await resealSecrets(service.operator);
  service.jump(86_401);
  await rotateEncryption();
  expect(await resealSecrets(service.operator)).toMatchObject({ dropped: 2, lost: [] });
  expect(await sealedBy(client)).toHaveLength(1);
});

describe('a second rotation of the encryption secret without a reseal', () => {
  it('The webhook secrets are lost, and the command names the account', async () => {
    const client = await service.client();
    await rotateEncryption();
    await rotateEncryption();
    const { lost, lostReplaced } = await resealSecrets(service.operator);
    expect(lost).toContain(client.account.id);
    expect(lostReplaced).not.toContain(client.account.id);
    expect(await refused('webhooks', 'secret', client.account.id)).toMatch(
      /cannot be opened any more\. `webhooks rotate \w+` issues a new secret/,
    );
    expect(await refused('webhooks', 'rotate', client.account.id, '--sign-from', '1h')).toMatch(
      /cannot be opened any more/,
    );
    expect(await refused('webhooks', 'test', client.account.id, '--url', service.machine.inboxUrl)).toMatch(
      /cannot be opened any more/,
    );
  });

  it('A rotation of the webhook secret is enough: webhooks are sent at once, with an alarm until the lost secret is removed', async () => {
    const client = await service.client();
    await rotateEncryption();
    await rotateEncryption();
    await issueSecret(service.operator, await service.account(client.account.id));
    expect(await delivered(client)).toBe('delivered');
    const alarms = (): string[] =>
      service.log.filter(
        (line) => line.includes('"webhook_secret_lost"') && line.includes(client.account.id),
      );
    await expect.poll(() => alarms().length).toBe(1);

    const outcome = await sendTestDelivery(
      await service.account(client.account.id),
      { url: service.machine.inboxUrl },
      service.operator,
    );
    expect(outcome).toMatchObject({ kind: 'sent', lost: 1, delivery: { outcome: 'delivered' } });

    expect(await resealSecrets(service.operator)).toMatchObject({ lostReplaced: [client.account.id] });
    expect(await sealedBy(client)).toHaveLength(1);
    expect((await resealSecrets(service.operator)).lostReplaced).toEqual([]);
    expect(await delivered(client)).toBe('delivered');
    expect(alarms()).toHaveLength(1);
  });
});

async function refused(...args: string[]): Promise<string> {
  return refusal(service.folder, ...args);
}

it('An account whose secrets keep changing is named and left to the next run', async () => {
  const account = anAccount({ webhookSecrets: [{ sealed: 'v1.old.nonce.body', issuedAt: 0 }] });
  let tries = 0;
  const accounts = stub<OperatorServices['accounts']>({
    async *pages() {
      yield await Promise.resolve([account]);
    },
    read: async () => Promise.resolve(account),
    replaceSecrets: async () => Promise.resolve(++tries > 10),
  });
  const secretBox = stub<OperatorServices['secretBox']>({
    reseal: async () => Promise.resolve({ kind: 'resealed', sealed: 'v1.new.nonce.body' }),
  });
  const report = await resealSecrets(stub<OperatorServices>({ accounts, secretBox, clock: fakeClock() }));
  expect(report).toEqual({
    accounts: 1,
    resealed: 0,
    alreadyCurrent: 0,
    dropped: 0,
    lost: [],
    lostReplaced: [],
    lostBuckets: [],
    busy: [account.id],
  });
  expect(tries).toBe(3);
});

it('The keys of a bucket are resealed with the webhook secrets, and are lost with them', async () => {
  const { account } = await service.client();
  const { secretBox, buckets } = service.operator;
  const place = { endpoint: 'https://s3.example.com', region: 'auto', bucket: 'pictures', prefix: '' };
  const sealedKeys = await secretBox.seal(account.id, '{}');
  await buckets.set(account.id, { ...place, sealedKeys, updatedAt: new Date(0).toISOString() });
  await rotateEncryption();
  expect((await resealSecrets(service.operator)).lostBuckets).toEqual([]);
  const resealed = (await buckets.read(account.id))?.sealedKeys ?? '';
  expect(resealed).not.toBe(sealedKeys);
  await rotateEncryption();
  expect(await secretBox.open(account.id, resealed)).toBe('{}');
  await rotateEncryption();
  expect((await resealSecrets(service.operator)).lostBuckets).toEqual([account.id]);
});
