import { describe, expect, it } from 'vitest';
import type { SealedSecret } from '../../service/accounts/account.ts';
import { type SecretBox, SecretLost } from '../../service/webhooks/secret-box.ts';
import {
  openSecrets,
  rotated,
  secretsAt,
  type SignFrom,
  type SigningSecrets,
} from '../../service/webhooks/secrets.ts';
import { stub } from '../api/fakes.ts';
import { accountId, now, olderWebhookSecrets } from '../fixtures/records.ts';

const hour = 3_600_000;
const day = 24 * hour;

/** A box whose sealed text is the plain one; these texts are lost. */
function box(...lost: readonly string[]): SecretBox {
  return stub<SecretBox>({
    open: async (_account, sealed) => {
      if (lost.includes(sealed)) throw new SecretLost('gone');
      return Promise.resolve(sealed);
    },
  });
}

/** The new secret's name, --sign-from, and when it was issued. */
type Rotation = readonly [string, SignFrom, number];

/** Rotations of an account that has the secret "a" since day 0. */
function after(...rotations: readonly Rotation[]): readonly SealedSecret[] {
  return rotations.reduce<readonly SealedSecret[]>(
    (stored, [name, from, at]) => rotated(stored, name, from, at),
    [{ sealed: 'a', issuedAt: 0 }],
  );
}

async function signedAt(stored: readonly SealedSecret[], at: number): Promise<SigningSecrets | undefined> {
  return openSecrets(accountId, stored, box(), at);
}

describe('the secrets of an account, sorted by what they do', () => {
  const secret = (sealed: string, times: Partial<SealedSecret> = {}): SealedSecret => ({
    sealed,
    issuedAt: 0,
    ...times,
  });
  const sorted = (...stored: SealedSecret[]) => {
    const { signing, pending, replaced, over } = secretsAt(stored, now);
    const names = (list: readonly SealedSecret[]) => list.map(({ sealed }) => sealed);
    return [signing?.sealed, names(pending), names(replaced), names(over)];
  };

  it('An account without an issued secret has no secrets', () => {
    expect(sorted()).toEqual([undefined, [], [], []]);
  });

  it('The oldest secret signs when all secrets are pending by a clock that runs behind', () => {
    const later = { signsFrom: now + 1 };
    expect(sorted(secret('c', later), secret('b', later), secret('a', later))).toEqual([
      'a',
      ['c', 'b'],
      [],
      [],
    ]);
  });

  it('Secrets that were replaced 24 h ago are kept apart from those that still verify', () => {
    expect(
      sorted(
        secret('d', { signsFrom: now + 1 }),
        secret('c', { signsFrom: now }),
        secret('b', { replacedAt: now - day + 1 }),
        secret('a', { replacedAt: now - day }),
      ),
    ).toEqual(['c', ['d'], ['b'], ['a']]);
  });

  it('A secret that was replaced when its time to sign came makes no previous signature', async () => {
    const stored = [
      secret('c', { signsFrom: now }),
      secret('b', { signsFrom: now, replacedAt: now }),
      secret('a', { replacedAt: now }),
    ];
    expect(await openSecrets(accountId, stored, box(), now)).toMatchObject({
      current: 'c',
      previous: 'a',
      valid: ['c', 'b', 'a'],
    });
  });
});

describe('the secrets of a delivery', () => {
  it('The secrets of a delivery are undefined when no secret was issued', async () => {
    expect(await signedAt([], now)).toBeUndefined();
  });

  it('The secrets in a record of an older release are the current secret and, for 24 h, the replaced one', async () => {
    const stored = olderWebhookSecrets;
    const both = { current: 'b', previous: 'a', valid: ['b', 'a'], lost: [] };
    expect(await signedAt(stored, now)).toEqual(both);
    expect(await signedAt(stored, now + day - 1)).toEqual(both);
    expect(await signedAt(stored, now + day)).toEqual({ current: 'b', valid: ['b'], lost: [] });
  });

  const shown = ({ current, previous, valid }: SigningSecrets): string =>
    `${current}${previous === undefined ? '' : `, before ${previous}`}, valid ${valid.join('')}`;

  const atOnce: readonly Rotation[] = [['b', 'now', now]];
  const inAnHour: readonly Rotation[] = [['b', '1h', now]];
  const inADay: readonly Rotation[] = [['b', '24h', now]];
  const second = (from: SignFrom, at: number): Rotation => ['c', from, at];
  const ended = [...inADay, second('now', now + hour)];
  const pending = [...inAnHour, second('24h', now + 5)];
  const hourly = [...atOnce, second('now', now + hour)];

  // Each row: the fact, the rotations, the time asked about, and which secrets sign there.
  it.each<[string, readonly Rotation[], number, string]>([
    ['After a rotation from now on, the new secret signs at once', atOnce, now, 'b, before a, valid ba'],
    ['A clock that runs behind also signs with the new secret', atOnce, now - 5_000, 'b, before a, valid ba'],
    ['Until a rotation for later, the old secret signs', inAnHour, now + hour - 1, 'a, valid ab'],
    ['From a rotation for later on, the new secret signs', inAnHour, now + hour, 'b, before a, valid ba'],
    ['The old secret verifies for 24 h after it signed', inADay, now + 2 * day - 1, 'b, before a, valid ba'],
    ['The old secret verifies nothing 24 h after the new one took over', inADay, now + 2 * day, 'b, valid b'],
    ['The newest replaced secret makes the previous signature', hourly, now + hour, 'c, before b, valid cba'],
    ['Each of two replaced secrets has 24 h of its own', hourly, now + day, 'c, before b, valid cb'],
    ['A rotation ends a pending one, which never signs', ended, now + hour, 'c, before a, valid cba'],
    ['Both older secrets end 24 h after a pending one was ended', ended, now + hour + day, 'c, valid c'],
    ['Before two pending rotations, the old secret signs', pending, now + hour - 1, 'a, valid acb'],
    ['Between two pending rotations, the first one signs', pending, now + hour, 'b, before a, valid bca'],
    ['After two pending rotations, the second one signs', pending, now + day + 5, 'c, before b, valid cba'],
    [
      'A second rotation may overtake a pending one',
      [...inADay, second('1h', now)],
      now + hour,
      'c, before a, valid cba',
    ],
    [
      'While a rotation is pending, a secret that was replaced before it keeps its previous signature',
      [...atOnce, second('1h', now + 5)],
      now + 5,
      'b, before a, valid bca',
    ],
  ])('%s', async (_fact, rotations, at, expected) => {
    const secrets = await signedAt(after(...rotations), at);
    expect([secrets && shown(secrets), secrets?.lost]).toEqual([expected, []]);
  });

  it('A rotation drops a secret that had ended before the rotation', () => {
    expect(after(['b', 'now', now], ['c', 'now', now + day]).map(({ sealed }) => sealed)).toEqual(['c', 'b']);
  });

  it('A first secret signs at once, even when it was issued for later', () => {
    expect(rotated([], 'a', '24h', now)).toEqual([{ sealed: 'a', issuedAt: now }]);
  });
});

describe('a secret that nobody can open', () => {
  const stored = after(['b', 'now', now], ['c', 'now', now + 1], ['d', '1h', now + 2]);

  it('A replaced secret that nobody can open signs nothing, and an older secret makes the previous signature', async () => {
    const secrets = await openSecrets(accountId, stored, box('b'), now + 3);
    expect(secrets).toMatchObject({ current: 'c', previous: 'a', valid: ['c', 'd', 'a'] });
    expect(secrets?.lost.map(({ sealed }) => sealed)).toEqual(['b']);
  });

  it('A pending secret that nobody can open signs nothing', async () => {
    const secrets = await openSecrets(accountId, stored, box('d'), now + 3);
    expect(secrets).toMatchObject({ current: 'c', valid: ['c', 'b', 'a'] });
    expect(secrets?.lost.map(({ sealed }) => sealed)).toEqual(['d']);
  });

  it('A signing secret that nobody can open throws SecretLost', async () => {
    await expect(openSecrets(accountId, stored, box('c'), now + 3)).rejects.toThrow(SecretLost);
  });

  it('A secret that cannot be opened for the moment makes the whole delivery fail for now', async () => {
    const throttled = new Error('slow down');
    const open: SecretBox['open'] = async (_account, sealed) =>
      sealed === 'b' ? Promise.reject(throttled) : Promise.resolve(sealed);
    await expect(openSecrets(accountId, stored, stub<SecretBox>({ open }), now + 3)).rejects.toBe(throttled);
  });
});
