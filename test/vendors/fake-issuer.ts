/** An issuer that answers whatever a test wants: wrong claims, wrong keys, nonsense, or nothing at all. */
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listenOnLoopback } from '../../local/http.ts';

type Answer = (outgoing: ServerResponse) => void;

export interface FakeIssuer {
  readonly url: string;
  /** The paths that were asked, in order. */
  readonly asked: string[];
  /** The bodies that came to the token endpoint. */
  readonly redeemed: URLSearchParams[];
  /** What the test changes. Each is taken back by `reset`. */
  claims: Record<string, unknown>;
  description: Record<string, unknown>;
  /** Answers that replace those of the issuer, by path. */
  answers: Partial<Record<string, Answer>>;
  /** Signs with a key that the issuer does not publish. */
  hasForeignKey: boolean;
  reset(): void;
  end(): Promise<void>;
}

const json =
  (value: unknown, status = 200): Answer =>
  (outgoing) => {
    outgoing.writeHead(status, { 'content-type': 'application/json' });
    outgoing.end(JSON.stringify(value));
  };

export const rude = {
  hangs: () => undefined,
  'answers 500': json({ error: 'server_error' }, 500),
  'answers nonsense': ((outgoing) => outgoing.end('<html>')) satisfies Answer,
  'never stops': ((outgoing) => {
    outgoing.writeHead(200, { 'content-type': 'application/json' });
    for (let part = 0; part < 64; part += 1) outgoing.write(' '.repeat(65_536));
  }) satisfies Answer,
  'breaks off': ((outgoing) => outgoing.destroy()) satisfies Answer,
} as const satisfies Record<string, Answer>;

export async function startFakeIssuer(): Promise<FakeIssuer> {
  const [own, foreign] = [1, 2].map(() => generateKeyPairSync('ec', { namedCurve: 'P-256' }));
  if (!own || !foreign) throw new Error('no keys');
  const server = createServer();
  const url = `http://127.0.0.1:${await listenOnLoopback(server)}`;
  const issuer: FakeIssuer = {
    url,
    asked: [],
    redeemed: [],
    claims: {},
    description: {},
    answers: {},
    hasForeignKey: false,
    reset: () => {
      Object.assign(issuer, { claims: {}, description: {}, answers: {}, hasForeignKey: false });
      issuer.asked.length = 0;
      issuer.redeemed.length = 0;
    },
    end: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const idToken = (): string => {
    const at = Math.floor(Date.now() / 1000);
    const claims = {
      iss: url,
      sub: 'u1',
      aud: 'portal',
      iat: at,
      exp: at + 60,
      nonce: 'nonce',
      ...issuer.claims,
    };
    const head = { alg: 'ES256', kid: 'one' };
    const signed = [head, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    const key = issuer.hasForeignKey ? foreign.privateKey : own.privateKey;
    const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  };
  const answers: Record<string, () => Answer> = {
    '/.well-known/openid-configuration': () =>
      json({
        issuer: url,
        authorization_endpoint: `${url}/authorize`,
        token_endpoint: `${url}/token`,
        jwks_uri: `${url}/keys`,
        id_token_signing_alg_values_supported: ['ES256'],
        authorization_response_iss_parameter_supported: true,
        ...issuer.description,
      }),
    '/keys': () =>
      json({ keys: [{ ...own.publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'ES256', use: 'sig' }] }),
    '/token': () => json({ access_token: 'opaque', token_type: 'Bearer', id_token: idToken() }),
  };
  server.on('request', (incoming, outgoing) => {
    const path = incoming.url ?? '';
    issuer.asked.push(path);
    void text(incoming).then((body) => {
      if (path === '/token') issuer.redeemed.push(new URLSearchParams(body));
      const answer = issuer.answers[path] ?? answers[path]?.() ?? json({}, 404);
      answer(outgoing);
    });
  });
  return issuer;
}

/** The S256 challenge of a verifier (RFC 7636, 4.2). */
export function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
}
