import { generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { IncomingMessage, ServerResponse } from 'node:http';
import Provider, { type Configuration, type KoaContextWithOIDC } from 'oidc-provider';
import type { IssuerOptions } from './options.ts';
import { addressOf, subjectOf } from './local-person.ts';
import { atVirtualTime } from './virtual-time.ts';
import { createMemory } from './memory.ts';
import { signInPage, signOutPage } from './pages.ts';

type Handler = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

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
