/** The stand-in of CloudFront opens an address that the service signed, and no other. */
import { createPublicKey } from 'node:crypto';
import { createServer, request, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createResults } from '../../local/front/objects.ts';
import { listenOnLoopback } from '../../local/http.ts';
import type { AddressOf } from '../../service/creations/result-addresses.ts';
import { signedBy } from '../../service/creations/result-signer.ts';
import { newKeyPair } from '../../service/release/result-keys.ts';
import { seededBytes } from '../fixtures/records.ts';

const now = Date.parse('2026-11-27T12:00:00Z');
const pair = newKeyPair();
const stranger = newKeyPair();
const ours = 'results/signed/ourOurOurOurOurOurOurOurOurOurOur.png';
const theirs = 'results/signed/theirTheirTheirTheirTheirTheirTh.png';
const plain = 'results/plainPlainPlainPlainPlainPlainPla.png';
const creation = { signedMinutes: 60 };

let server: Server;
let base: string;
let addressOf: AddressOf;
let clock = now;
beforeAll(async () => {
  server = createServer((incoming, outgoing) => void handle(incoming, outgoing));
  const origin = `http://127.0.0.1:${await listenOnLoopback(server)}`;
  base = `${origin}/_results`;
  addressOf = signedBy(JSON.stringify(pair), 'KFIRST', base);
  const found = {
    body: Buffer.from('png'),
    contentType: 'image/png',
    etag: '"e"',
    lastModified: new Date(0),
  };
  const handle = createResults(
    { read: (_bucket, key) => Promise.resolve([ours, theirs, plain].includes(key) ? found : undefined) },
    {
      ...{ bucket: 'images', added: {}, readable: ['arn:aws:s3:::images/results/*'] },
      pages: [{ pathPattern: 'results/signed/*', added: {}, keyGroups: ['group'] }],
    },
    {
      url: origin,
      keyGroups: { keyIn: (_groups, id) => (id === 'KFIRST' ? createPublicKey(pair.public_key) : undefined) },
      now: () => clock,
    },
  );
});
afterAll(() => server.close());

/** The path goes out as it is: a client such as fetch would write it anew. */
async function opened(address: string): Promise<number> {
  const path = address.slice(new URL(base).origin.length);
  return new Promise((resolve, reject) => {
    const { port } = new URL(base);
    request({ host: '127.0.0.1', port, path }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    })
      .on('error', reject)
      .end();
  });
}

/** Numbers that are the same in each run. */
const dice = ((): ((below: number) => number) => {
  const bytes = Buffer.from(seededBytes(60_000));
  let at = 0;
  return (below) => bytes.readUInt32BE((at = (at + 4) % (bytes.length - 4))) % below;
})();
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_~';

function withAnother(text: string, at = dice(text.length)): string {
  const letter = letters[dice(letters.length)] ?? 'A';
  return text.slice(0, at) + (letter === text[at] ? '*' : letter) + text.slice(at + 1);
}

interface Parts {
  readonly path: string;
  readonly Expires: string;
  readonly Signature: string;
  readonly 'Key-Pair-Id': string;
}
function partsOf(address: string): Parts {
  const { searchParams } = new URL(address);
  const part = (name: string): string => searchParams.get(name) ?? '';
  return {
    path: address.slice(0, address.indexOf('?')),
    ...{ Expires: part('Expires'), Signature: part('Signature'), 'Key-Pair-Id': part('Key-Pair-Id') },
  };
}
const joined = ({ path, ...query }: Parts): string =>
  `${path}?${Object.entries(query)
    .map((pair) => pair.join('='))
    .join('&')}`;

/** Each changes an address so that nobody signed what comes out. */
const mutations: Readonly<Record<string, (ours: Parts, theirs: Parts) => string>> = {
  'another letter of the path': (one) =>
    joined({
      ...one,
      path: withAnother(one.path, base.length + 1 + dice(one.path.length - base.length - 1)),
    }),
  'another end': (one) => joined({ ...one, Expires: String(Number(one.Expires) + 1 + dice(1_000_000)) }),
  'the same end in another form': (one) =>
    joined({ ...one, Expires: [`0${one.Expires}`, `${one.Expires}.0`, `+${one.Expires}`][dice(3)] ?? '' }),
  'another letter of the signature': (one) => joined({ ...one, Signature: withAnother(one.Signature) }),
  'another key': (one) => joined({ ...one, 'Key-Pair-Id': withAnother(one['Key-Pair-Id']) }),
  'the signature of another image': (one, other) => joined({ ...one, Signature: other.Signature }),
  'the image of another account': (one, other) => joined({ ...one, path: other.path }),
  'a part of the address': (one) =>
    joined(one).slice(0, one.path.length + dice(joined(one).length - one.path.length)),
  'a letter of the path written as its number': (one) => {
    const at = base.length + 1 + dice(one.path.length - base.length - 1);
    const code = one.path.charCodeAt(at).toString(16).toUpperCase();
    return joined({ ...one, path: `${one.path.slice(0, at)}%${code}${one.path.slice(at + 1)}` });
  },
  'the signature in plain base64': (one) =>
    joined({
      ...one,
      Signature: `${one.Signature.replaceAll('_', '=').replaceAll('-', '+').replaceAll('~', '/')}=`,
    }),
  'a parameter twice': (one) => {
    const name = (['Expires', 'Signature', 'Key-Pair-Id'] as const)[dice(3)] ?? 'Expires';
    const wrong = `${name}=${withAnother(one[name])}`;
    return dice(2) === 0 ? `${joined(one)}&${wrong}` : joined(one).replace('?', `?${wrong}&`);
  },
  'a parameter more': (one) => `${joined(one)}&${withAnother('Policy')}=${dice(1_000)}`,
  'a parameter less': (one) => {
    const [head = '', query = ''] = joined(one).split('?');
    const left = query.split('&').toSpliced(dice(3), 1);
    return `${head}?${left.join('&')}`;
  },
  'a signature by another key': (one) =>
    signedBy(JSON.stringify(stranger), 'KFIRST', base)(
      one.path.slice(base.length + 1),
      { signedMinutes: 1 + dice(10_080) },
      now,
    ),
};

describe('2,000 mutations of signed addresses', () => {
  it('Both addresses open, also with their parameters in another order, and the plain one without any', async () => {
    const { path, ...query } = partsOf(addressOf(ours, creation, now));
    const reversed = Object.entries(query)
      .toReversed()
      .map((pair) => pair.join('='))
      .join('&');
    for (const address of [
      addressOf(ours, creation, now),
      addressOf(theirs, creation, now),
      `${path}?${reversed}`,
      addressOf(plain, creation, now),
    ])
      expect(await opened(address), address).toBe(200);
    expect(addressOf(plain, creation, now)).toBe(`${base}/${plain}`);
  });

  it.each(Object.entries(mutations))('%s opens nothing', async (_what, mutate) => {
    const tries = Math.ceil(2_000 / Object.keys(mutations).length);
    for (let count = 0; count < tries; count += 1) {
      const at = now + count;
      const mutated = mutate(
        partsOf(addressOf(ours, creation, at)),
        partsOf(addressOf(theirs, { signedMinutes: 61 }, at)),
      );
      expect(await opened(mutated), mutated).toBe(403);
    }
  });

  it('An address opens until 60 s after its end, and no longer than its image lives', async () => {
    const address = addressOf(ours, creation, now);
    const short = addressOf(ours, { ...creation, resultsExpireAt: now + 60_000 }, now);
    for (const [seconds, ofHour, ofMinute] of [
      [119, 200, 200],
      [120, 200, 403],
      [3_659, 200, 403],
      [3_660, 403, 403],
    ] as const) {
      clock = now + seconds * 1_000;
      expect([await opened(address), await opened(short)], String(seconds)).toEqual([ofHour, ofMinute]);
    }
    clock = now;
  });
});
