/** The cookie of a sign-in that has begun. Anybody can send a cookie, so a forged one must cost nothing. */
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { describe, expect, it } from 'vitest';
import { createLoginBox } from '../../../service/portal/sign-in/open.ts';
import { fakeClock, stub } from '../../api/fakes.ts';
import { seededBytes } from '../../fixtures/records.ts';

type Which = { readonly VersionId?: string; readonly VersionStage?: string };

/** A secret with its versions, the newest first, and a box of each function that reads it. */
function stage() {
  const clock = fakeClock();
  const versions = ['version-1'];
  const asked: Which[] = [];
  const send = ({ input: { VersionId, VersionStage } }: { readonly input: Which }): Promise<object> => {
    asked.push({
      ...(VersionId !== undefined && { VersionId }),
      ...(VersionStage !== undefined && { VersionStage }),
    });
    const found = VersionStage === 'AWSPREVIOUS' ? versions[1] : (VersionId ?? versions[0]);
    if (found === undefined || !versions.includes(found))
      return Promise.reject(Object.assign(new Error('no'), { name: 'ResourceNotFoundException' }));
    return Promise.resolve({ VersionId: found, SecretString: found.padEnd(32, '-') });
  };
  const client = stub<SecretsManagerClient>({ send: send as never });
  return {
    clock,
    asked,
    newBox: () => createLoginBox({ client, secretArn: 'arn', clock, randomBytes: seededBytes }),
    rotate: () => void versions.unshift(`version-${versions.length + 1}`),
    pass: (millis: number) => clock.set(clock.now() + millis),
  };
}

const forged = (version: string): string => `v1.${version}.${'A'.repeat(16)}.${'A'.repeat(60)}`;

describe('the cookie of a sign-in', () => {
  it('A hundred forged cookies, each with a version of its own, cost two calls of Secrets Manager', async () => {
    const { newBox, asked } = stage();
    const box = newBox();
    for (let one = 0; one < 100; one += 1)
      expect(
        await box.open(forged(`11111111-1111-4111-8111-${String(one).padStart(12, '0')}`)),
      ).toBeUndefined();
    expect(asked).toEqual([{}, { VersionStage: 'AWSPREVIOUS' }]);
  });

  it('Ten minutes of forged cookies cost at most two calls of Secrets Manager a minute', async () => {
    const { newBox, asked, pass } = stage();
    const box = newBox();
    for (let second = 0; second < 600; second += 1) {
      await box.open(forged(`version-of-${second}`));
      pass(1_000);
    }
    expect(asked.length).toBeLessThanOrEqual(20);
  });

  it.each([
    '',
    'nonsense',
    'v1..AAAA.AAAA',
    `v2.version-1.${'A'.repeat(16)}.${'A'.repeat(60)}`,
    forged('../x'),
  ])('The forged cookie %j, whose form is wrong, costs no call', async (cookie) => {
    const { newBox, asked } = stage();
    expect(await newBox().open(cookie)).toBeUndefined();
    expect(asked).toEqual([]);
  });

  it('A cookie opens after a rotation of the secret, also in a function that reads the secret for the first time', async () => {
    const { newBox, rotate } = stage();
    const box = newBox();
    const cookie = await box.seal('begun');
    rotate();
    expect(await box.open(cookie)).toBe('begun');
    expect(await newBox().open(cookie)).toBe('begun');
  });

  it('A cookie that another function sealed after a rotation opens while this function still holds the old secret', async () => {
    const { newBox, rotate, pass } = stage();
    const box = newBox();
    await box.seal('begun');
    rotate();
    pass(60_000);
    expect(await box.open(await newBox().seal('begun'))).toBe('begun');
  });

  it('A cookie from before the last two rotations opens no more', async () => {
    const { newBox, rotate } = stage();
    const cookie = await newBox().seal('begun');
    rotate();
    rotate();
    expect(await newBox().open(cookie)).toBeUndefined();
  });
});
