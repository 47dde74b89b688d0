import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import Provider, {
  type Adapter,
  type AdapterPayload,
  type Configuration,
  type KoaContextWithOIDC,
} from 'oidc-provider';
import { escape, titledPage } from '../control/page.ts';
import type { Handler } from '../http.ts';

/** The people of the local issuer. A subject holds everything that the issuer says of the person. */
const unverified = 'unverified:';

/** Letters outside ASCII stay as they are, as in the service. */
const asciiLower = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/** A person with an unverified address need not be the owner of that address. */
function subjectOf(email: string, isVerified: boolean): string {
  return `${isVerified ? '' : unverified}${asciiLower(email.trim())}`;
}

function addressOf(subject: string): { readonly email: string; readonly email_verified: boolean } {
  const isVerified = !subject.startsWith(unverified);
  return { email: isVerified ? subject : subject.slice(unverified.length), email_verified: isVerified };
}

/** The provider's sessions and codes, in memory. The provider itself checks when they expire. */
function createMemory(): (model: string) => Adapter {
  const items = new Map<string, AdapterPayload>();
  const done = Promise.resolve(undefined);
  return (model) => ({
    upsert: (id, payload) => {
      items.set(`${model}:${id}`, payload);
      return done;
    },
    find: (id) => Promise.resolve(items.get(`${model}:${id}`)),
    findByUid: (uid) =>
      Promise.resolve([...items.values()].find((payload) => payload.uid === uid && payload.kind === model)),
    findByUserCode: () => done,
    consume: (id) => {
      const payload = items.get(`${model}:${id}`);
      if (payload) payload.consumed = Math.floor(Date.now() / 1000);
      return done;
    },
    destroy: (id) => {
      items.delete(`${model}:${id}`);
      return done;
    },
    revokeByGrantId: (grantId) => {
      for (const [key, payload] of items) if (payload.grantId === grantId) items.delete(key);
      return done;
    },
  });
}

/** The pages of the local issuer, for a developer. They need no script. */
const style = `
  main { max-width: 30rem; margin: 0 auto; }
  h2 { margin: 2rem 0 .75rem; font-size: 1rem; }
  form { display: grid; gap: .75rem; margin: 0 0 .75rem; }
  button { padding: .7rem 1rem; border: 1px solid var(--edge); border-radius: .6rem; background: #1c1210; color: var(--paper); font: inherit; text-align: left; cursor: pointer; overflow-wrap: anywhere; }
  button:hover { background: #2a1915; }
  :focus-visible { outline: 2px solid var(--lamp); outline-offset: 2px; }
  input[type=email] { width: 100%; margin-top: .3rem; padding: .6rem .75rem; border: 1px solid #8a6f66; border-radius: .6rem; background: #0b0706; color: var(--paper); font: inherit; }
`;

const page = (title: string, main: string): string => titledPage(title, style, main);

/** @param people the addresses with a button of their own */
function signInPage(people: readonly string[]): string {
  const buttons = people.map(
    (email) => `<form method="post"><input type="hidden" name="verified" value="on">
<button name="email" value="${escape(email)}">Sign in as ${escape(email)}</button></form>`,
  );
  return page(
    'Who are you today?',
    `<p class="dim">This page stands in for a sign-in service. It believes everybody, and runs on this machine only.</p>
${buttons.join('\n')}
<h2>Somebody else</h2>
<form method="post">
<label>Address <input type="email" name="email" required autocomplete="off"></label>
<label><input type="checkbox" name="verified" checked> The address is verified</label>
<button>Sign in</button>
</form>`,
  );
}

/** @param form the form of the provider, which the button below belongs to */
function signOutPage(form: string): string {
  return page(
    'Sign out',
    `<p class="dim">You are signed out of the portal.</p>
${form}
<button form="op.logoutForm" name="logout" value="yes" autofocus>Sign out of the local sign-in service, too</button>`,
  );
}

/** Moves an ID token to the virtual clock, as the provider knows only real time. */
function atVirtualTime(answer: { body?: unknown }, now: () => number, key: KeyObject): void {
  const { body } = answer;
  if (typeof body !== 'object' || body === null || !('id_token' in body)) return;
  const [header = '', payload = ''] = String(body.id_token).split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { iat: number; exp: number };
  const iat = Math.floor(now() / 1000);
  const moved = JSON.stringify({ ...claims, iat, exp: iat + claims.exp - claims.iat });
  const signed = `${header}.${Buffer.from(moved).toString('base64url')}`;
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
  answer.body = { ...body, id_token: `${signed}.${signature.toString('base64url')}` };
}

/** A new provider with new keys. It remembers everything only until it ends. */
export function createProvider(options: IssuerOptions): Handler {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const provider = new Provider(options.url, configuration(options, keys.privateKey));
  provider.use(async (ctx, next) => {
    if (await answerSignIn(provider, ctx as KoaContextWithOIDC, options)) return;
    await next();
    atVirtualTime(ctx, options.now, keys.privateKey);
  });
  return provider.callback();
}

function configuration(
  { url, client, redirectUri, afterSignOut }: IssuerOptions,
  key: KeyObject,
): Configuration {
  const { pathname } = new URL(url);
  return {
    adapter: createMemory(),
    jwks: { keys: [{ ...key.export({ format: 'jwk' }), alg: 'ES256', use: 'sig' }] },
    cookies: { keys: [randomBytes(32).toString('hex')] },
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [redirectUri],
        post_logout_redirect_uris: [afterSignOut],
        response_types: ['code'],
        grant_types: ['authorization_code'],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    pkce: { required: () => true },
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    // The portal reads the address from the ID token.
    conformIdTokenClaims: false,
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (ctx, form) => {
          ctx.body = signOutPage(form);
        },
      },
    },
    interactions: { url: (_ctx, { uid }) => `${pathname}/sign-in/${uid}` },
    ttl: {
      AccessToken: 60,
      AuthorizationCode: 60,
      Grant: 86_400,
      IdToken: 600,
      Interaction: 3_600,
      Session: 86_400,
    },
    findAccount: (_ctx, subject) => ({
      accountId: subject,
      claims: () => ({ sub: subject, ...addressOf(subject) }),
    }),
    // No consent is asked for: portal and issuer are the same service.
    loadExistingGrant: async (ctx) => {
      const { client: asking, session, provider } = ctx.oidc;
      if (!asking || session?.accountId === undefined) return undefined;
      const grant = new provider.Grant({ clientId: asking.clientId, accountId: session.accountId });
      grant.addOIDCScope('openid email');
      await grant.save();
      return grant;
    },
  };
}

/** The page on which a developer chooses who to be. False: the request is for something else. */
async function answerSignIn(
  provider: Provider,
  ctx: KoaContextWithOIDC,
  { people, now }: IssuerOptions,
): Promise<boolean> {
  if (!/^\/sign-in\/[\w-]+$/.test(ctx.path)) return false;
  await provider.interactionDetails(ctx.req, ctx.res);
  if (ctx.method !== 'POST') {
    ctx.body = signInPage(await people());
    return true;
  }
  const form = new URLSearchParams((await buffer(ctx.req)).toString('utf8'));
  const accountId = subjectOf(form.get('email') ?? '', form.get('verified') === 'on');
  const ts = Math.floor(now() / 1000);
  const result = { login: { accountId, ts, remember: true } };
  ctx.redirect(await provider.interactionResult(ctx.req, ctx.res, result));
  ctx.status = 303;
  return true;
}

export interface IssuerOptions {
  /** The issuer's own address, without a slash at its end: http://127.0.0.1:8787/_local/issuer. */
  readonly url: string;
  readonly client: { readonly id: string; readonly secret: string };
  /** Where the browser comes back to after a sign-in. */
  readonly redirectUri: string;
  /** Where the browser comes back to after a sign-out. */
  readonly afterSignOut: string;
  /** The addresses that the page offers. */
  readonly people: () => Promise<readonly string[]>;
  /** Unix milliseconds of the virtual clock, by which the service reads the tokens. */
  readonly now: () => number;
}
