/** The two adapters that read Secrets Manager: what they cache, for how long, and what they refuse. */
import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AccountId } from '../../service/values/ids.ts';
import { createCredentialEditor, createProviderCredentials } from '../../service/vendors/credentials.ts';
import { callbackAccountOf } from '../../service/vendors/provider.ts';
import { createSecretBox, type ResealingBox } from '../../service/webhooks/secret-box.ts';
import { fakeClock, type FakeClock } from '../api/fakes.ts';
import { accountId, now, seededBytes } from '../fixtures/records.ts';

const minute = 60_000;
const [first, second] = ['a'.repeat(32), 'b'.repeat(40)];

let manager: ReturnType<typeof mockManager>;
const mockManager = () => mockClient(SecretsManagerClient);
const client = new SecretsManagerClient({ region: 'us-east-1' });
beforeAll(() => {
  manager = mockManager();
});
beforeEach(() => {
  manager.reset();
});
afterAll(() => {
  manager.restore();
});
const reads = (): (string | undefined)[] =>
  manager.commandCalls(GetSecretValueCommand).map(({ args: [{ input }] }) => input.VersionId);

/** Secrets Manager holds these versions and no other ones. */
function holds(versions: Readonly<Record<string, string>>, current: string): void {
  manager.on(GetSecretValueCommand).callsFake(({ VersionId: version = current }: { VersionId?: string }) => {
    const SecretString = versions[version];
    if (SecretString === undefined)
      throw Object.assign(new Error('no such version'), { name: 'ResourceNotFoundException' });
    return { VersionId: version, SecretString };
  });
}

const open = (clock: FakeClock = fakeClock()): ResealingBox =>
  createSecretBox({ client, secretArn: 'arn', clock, randomBytes: seededBytes });

describe('A sealed text', () => {
  it('A sealed text names its form and its version, and only its account can open it', async () => {
    holds({ one: first }, 'one');
    const sealed = await open().seal(accountId, 'whsec_secret');
    expect(sealed).toMatch(/^v1\.one\.AAECAwQFBgcICQoL\.[\w-]+$/);
    expect(sealed).not.toContain('secret');
    expect(await open().open(accountId, sealed)).toBe('whsec_secret');
    await expect(open().open('Acc0unt002' as AccountId, sealed)).rejects.toThrow();
  });

  it('A text is sealed again after a rotation, is current then, and is lost once its version is gone', async () => {
    holds({ one: first }, 'one');
    const sealed = await open().seal(accountId, 'whsec_secret');
    holds({ one: first, two: second }, 'two');
    const resealed = await open().reseal(accountId, sealed);
    if (resealed.kind !== 'resealed') throw new Error(resealed.kind);
    expect(resealed.sealed).toMatch(/^v1\.two\./);
    expect(await open().open(accountId, resealed.sealed)).toBe('whsec_secret');
    expect(await open().reseal(accountId, resealed.sealed)).toEqual({ kind: 'already_current' });
    holds({ two: second }, 'two');
    expect(await open().reseal(accountId, sealed)).toEqual({ kind: 'lost' });
  });

  it.each([{ SecretString: 'a'.repeat(31) }, {}])(
    'Sealing needs an encryption secret of at least 32 characters; %j holds none',
    async (answer) => {
      manager.on(GetSecretValueCommand).resolves({ VersionId: 'one', ...answer });
      await expect(open().seal(accountId, 'text')).rejects.toThrow(
        'the encryption secret is shorter than 32 characters',
      );
    },
  );

  it('The box asks for the secret by its name, and for the version that the text names', async () => {
    holds({ one: first, two: second }, 'two');
    const box = open();
    const sealed = await createSecretBox({
      client,
      secretArn: 'arn',
      clock: fakeClock(),
      randomBytes: seededBytes,
    }).seal(accountId, 'text');
    manager.resetHistory();
    holds({ one: first, two: second }, 'one');
    expect(await box.open(accountId, sealed)).toBe('text');
    await box.seal(accountId, 'text');
    expect(manager.commandCalls(GetSecretValueCommand).map(({ args: [{ input }] }) => input)).toEqual([
      { SecretId: 'arn', VersionId: 'two' },
      { SecretId: 'arn' },
    ]);
  });

  it('The key of an old version is read once in five minutes', async () => {
    holds({ one: first }, 'one');
    const sealed = await open().seal(accountId, 'text');
    const clock = fakeClock();
    const box = open(clock);
    manager.resetHistory();
    await box.open(accountId, sealed);
    clock.set(now + 5 * minute - 1);
    await box.open(accountId, sealed);
    expect(reads()).toEqual(['one']);
    clock.set(now + 5 * minute);
    await box.open(accountId, sealed);
    expect(reads()).toEqual(['one', 'one']);
  });

  it('The current key is read once in five minutes, and not again by its version', async () => {
    holds({ one: first }, 'one');
    const clock = fakeClock();
    const box = open(clock);
    const sealed = await box.seal(accountId, 'text');
    await box.open(accountId, sealed);
    clock.set(now + 5 * minute - 1);
    await box.seal(accountId, 'text');
    expect(reads()).toEqual([undefined]);
    clock.set(now + 5 * minute);
    await box.seal(accountId, 'text');
    expect(reads()).toEqual([undefined, undefined]);
  });
});

describe('The keys of the vendors', () => {
  const secret = (text: string): void => {
    manager.on(GetSecretValueCommand).resolves({ SecretString: text });
  };

  it('The keys are read once in five minutes, and again after a vendor has refused one', async () => {
    secret('{"bfl":"key-1","fal":"","other":7}');
    const clock = fakeClock();
    const credentials = createProviderCredentials({ client, secretArn: 'arn', clock });
    expect([
      await credentials.read('bfl'),
      await credentials.read('fal'),
      await credentials.read('other'),
      await credentials.read('none'),
    ]).toEqual(['key-1', undefined, undefined, undefined]);
    const before = reads().length;
    clock.set(now + 5 * minute - 1);
    await credentials.read('bfl');
    expect(reads()).toHaveLength(before);
    clock.set(now + 5 * minute);
    await credentials.read('bfl');
    expect(reads()).toHaveLength(before + 1);
    credentials.forget('bfl');
    await credentials.read('bfl');
    expect(reads()).toHaveLength(before + 2);
  });

  it('A key that was set after the last read is found at once', async () => {
    secret('{"bfl":"key-1"}');
    const credentials = createProviderCredentials({ client, secretArn: 'arn', clock: fakeClock() });
    await credentials.read('bfl');
    secret('{"bfl":"key-1","fal":"key-2"}');
    expect(await credentials.read('fal')).toBe('key-2');
  });

  it('An absent key is looked up at most once a second, however many ask for it', async () => {
    secret('{"bfl":"key-1"}');
    const clock = fakeClock();
    const credentials = createProviderCredentials({ client, secretArn: 'arn', clock });
    await credentials.read('bfl');
    const ask = () => Promise.all(Array.from({ length: 5 }, () => credentials.read('fal')));
    expect(await ask()).toEqual(Array.from({ length: 5 }));
    clock.set(now + 999);
    await ask();
    expect(reads()).toHaveLength(2);
    clock.set(now + 1_000);
    await ask();
    expect(reads()).toHaveLength(3);
  });

  it('The keys are kept when the secret cannot be read for an absent key', async () => {
    secret('{"bfl":"key-1"}');
    const credentials = createProviderCredentials({ client, secretArn: 'arn', clock: fakeClock() });
    await credentials.read('bfl');
    manager.on(GetSecretValueCommand).rejects(new Error('busy'));
    await expect(credentials.read('fal')).rejects.toThrow('the secret of the providers cannot be read');
    expect(await credentials.read('bfl')).toBe('key-1');
  });

  it.each(['null', '7', 'no JSON'])('A secret that holds %s cannot be read', async (text) => {
    secret(text);
    await expect(
      createProviderCredentials({ client, secretArn: 'arn', clock: fakeClock() }).read('bfl'),
    ).rejects.toMatchObject({
      name: 'CredentialsUnreadable',
      message: 'the secret of the providers cannot be read',
      cause: expect.any(Error) as Error,
    });
  });

  it('There are no keys while the secret holds no text', async () => {
    manager.on(GetSecretValueCommand).resolves({});
    expect(await createCredentialEditor(client, 'arn').names()).toEqual([]);
  });

  it('The keys are read and written by the name of the secret', async () => {
    secret('{}');
    await createCredentialEditor(client, 'arn').set('bfl', 'key');
    expect(manager.calls().map(({ args: [{ input }] }) => input)).toEqual([
      { SecretId: 'arn' },
      { SecretId: 'arn', SecretString: '{"bfl":"key"}' },
    ]);
  });

  it('A change of one key keeps the others', async () => {
    secret('{"bfl":"key-1","fal":"key-2"}');
    const editor = createCredentialEditor(client, 'arn');
    expect(await editor.names()).toEqual(['bfl', 'fal']);
    await editor.set('bfl', 'key-3');
    await editor.remove('fal');
    const written = manager
      .commandCalls(PutSecretValueCommand)
      .map(({ args: [{ input }] }) => JSON.parse(input.SecretString ?? '') as unknown);
    expect(written).toEqual([{ fal: 'key-2', bfl: 'key-3' }, { bfl: 'key-1' }]);
  });

  it('The account whose callbacks count is held beside the key, and leaves with it', async () => {
    let text = '{"fal":"key-1","bfl":"key-2"}';
    manager.on(GetSecretValueCommand).callsFake(() => ({ SecretString: text }));
    manager.on(PutSecretValueCommand).callsFake(({ SecretString }) => {
      text = String(SecretString);
      return {};
    });
    const editor = createCredentialEditor(client, 'arn');
    const read = (): Promise<string | undefined> =>
      createProviderCredentials({ client, secretArn: 'arn', clock: fakeClock() }).read(
        callbackAccountOf('fal'),
      );
    expect(await read()).toBeUndefined();
    await editor.setCallbackAccount('fal', 'github|1');
    expect(await read()).toBe('github|1');
    await editor.set('fal', 'key-3');
    expect(JSON.parse(text)).toEqual({ bfl: 'key-2', 'fal.callback-account': 'github|1', fal: 'key-3' });
    await editor.setCallbackAccount('fal', undefined);
    expect(JSON.parse(text)).toEqual({ bfl: 'key-2', fal: 'key-3' });
    await editor.setCallbackAccount('fal', 'github|2');
    await editor.remove('fal');
    expect(JSON.parse(text)).toEqual({ bfl: 'key-2' });
  });
});
