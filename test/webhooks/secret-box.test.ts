/** The sealing of webhook secrets, with the answers of Secrets Manager. */
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { describe, expect, it } from 'vitest';
import type { AccountId } from '../../service/values/ids.ts';
import { createSecretBox, type ResealingBox, SecretLost } from '../../service/webhooks/secret-box.ts';
import { fakeClock, stub } from '../api/fakes.ts';
import { accountId, seededBytes } from '../fixtures/records.ts';

interface Stage {
  readonly box: ResealingBox;
  /** From now on every read of a version ends with this error. */
  readonly fail: (name: string) => void;
  readonly forget: () => void;
}

function stage(): Stage {
  const clock = fakeClock();
  let failure: string | undefined;
  const send = async ({ input }: { readonly input: { readonly VersionId?: string } }): Promise<object> => {
    if (failure !== undefined) throw Object.assign(new Error(failure), { name: failure });
    return Promise.resolve({ VersionId: input.VersionId ?? 'version-1', SecretString: 'x'.repeat(32) });
  };
  const client = stub<SecretsManagerClient>({ send: send as never });
  return {
    box: createSecretBox({ client, secretArn: 'arn', clock, randomBytes: seededBytes }),
    fail: (name) => (failure = name),
    forget: () => clock.set(clock.now() + 300_001),
  };
}

describe('A sealed secret', () => {
  it('A secret that an earlier release sealed still opens', async () => {
    expect(
      await stage().box.open(accountId, 'v1.version-1.AAECAwQFBgcICQoL.ntCWBVFvXUqJfdw_NNpWZAWS3HVxGR8'),
    ).toBe('whsec_x');
  });

  it('A secret is lost when it belongs to another account, was altered, or has another form', async () => {
    const { box } = stage();
    const sealed = await box.seal(accountId, 'whsec_x');
    await expect(box.open('Acc0unt002' as AccountId, sealed)).rejects.toThrow(SecretLost);
    await expect(box.open(accountId, `${sealed.slice(0, -4)}AAAA`)).rejects.toThrow(SecretLost);
    await expect(box.open(accountId, 'v1.version-1.AAAA.AAAA')).rejects.toThrow(SecretLost);
    await expect(box.open(accountId, 'nonsense')).rejects.toThrow(SecretLost);
    expect(await box.reseal(accountId, `${sealed.slice(0, -4)}AAAA`)).toEqual({ kind: 'lost' });
  });

  it('A secret that was altered is lost, with the error of the decryption as the cause', async () => {
    const { box } = stage();
    const sealed = await box.seal(accountId, 'whsec_x');
    await expect(box.open(accountId, `${sealed.slice(0, -4)}AAAA`)).rejects.toMatchObject({
      message: 'the sealed secret was altered, or sealed for another account',
      cause: expect.any(Error) as Error,
    });
  });

  it('A secret whose tag was cut short is lost, so that nobody can guess a short tag', async () => {
    const { box } = stage();
    const [form, version, nonce, body = ''] = (await box.seal(accountId, '')).split('.');
    for (const bytes of [4, 8, 12, 13, 14, 15]) {
      const cut = Buffer.from(body, 'base64url').subarray(0, bytes).toString('base64url');
      // Base64url of this form reads as the same bytes with any text behind the padding.
      const long = `${cut}${'='.repeat(24)}`;
      for (const text of [cut, long])
        await expect(box.open(accountId, [form, version, nonce, text].join('.'))).rejects.toThrow(SecretLost);
    }
  });

  it.each(['ResourceNotFoundException', 'InvalidParameterException', 'ValidationException'])(
    'A secret is lost when Secrets Manager answers %s, because its version is gone',
    async (name) => {
      const { box, fail, forget } = stage();
      const sealed = await box.seal(accountId, 'whsec_x');
      forget();
      fail(name);
      const lost: unknown = await box.open(accountId, sealed).catch((error: unknown) => error);
      expect(lost).toBeInstanceOf(SecretLost);
      expect(lost).toMatchObject({ message: 'the version that sealed the secret is gone', cause: { name } });
      expect(await box.reseal(accountId, sealed)).toEqual({ kind: 'lost' });
    },
  );

  it.each(['InternalServiceError', 'TimeoutError', 'AccessDeniedException'])(
    'A secret is not lost when Secrets Manager answers %s',
    async (name) => {
      const { box, fail, forget } = stage();
      const sealed = await box.seal(accountId, 'whsec_x');
      forget();
      fail(name);
      await expect(box.open(accountId, sealed)).rejects.toMatchObject({ name });
      await expect(box.reseal(accountId, sealed)).rejects.toMatchObject({ name });
    },
  );

  it('A secret is not lost when Secrets Manager answers ThrottlingException: the same request may succeed later', async () => {
    const { box, fail, forget } = stage();
    const sealed = await box.seal(accountId, 'whsec_x');
    forget();
    fail('ThrottlingException');
    const busy = { name: 'Overloaded', cause: { name: 'ThrottlingException' } };
    await expect(box.open(accountId, sealed)).rejects.toMatchObject(busy);
    await expect(box.reseal(accountId, sealed)).rejects.toMatchObject(busy);
    await expect(box.seal(accountId, 'whsec_y')).rejects.toMatchObject(busy);
  });
});
