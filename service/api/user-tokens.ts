/** The tokens of end users: a key mints, reads and revokes them. */
import * as z from 'zod/mini';
import { userProblems } from '../accounts/end-user.ts';
import { newUserToken, usedTokenView, type UserToken, userTokenView } from '../accounts/user-token.ts';
import {
  mostTokenModels,
  mostTokenOrigins,
  mostTokenSpend,
  tokenSeconds,
  tokenUses,
} from '../contract/limits.ts';
import {
  checkedBy,
  type Findings,
  integerProblems,
  type Metadata,
  metadataProblems,
  usdProblems,
} from '../creations/image-request.ts';
import { type OutboundRules, readClientUrl } from '../outbound/client-url.ts';
import { parseTokenId, type TokenId } from '../values/ids.ts';
import { fromUsd } from '../values/money.ts';
import { type FieldError, fieldErrors, invalidRequest, onePerField, Problem } from '../values/problem.ts';
import type { Caller } from './admit.ts';
import type { ApiAnswer } from './answer.ts';
import type { UserTokenServices } from './open.ts';
import { overloaded } from './problems.ts';
import { type ApiRequest, checkQuery, jsonBody, unknownParameters } from './request.ts';
import type { Handle } from './serve.ts';

/** One function serves the three operations, by method and path. */
export const userTokens: Handle<UserTokenServices> = async (request, caller, services) => {
  if (request.pathId === '') return mint(request, caller, services);
  return request.method === 'GET' ? show(request, caller, services) : revoke(request, caller, services);
};

/** POST /user-tokens. The text of the token is in this answer only. */
async function mint(
  request: ApiRequest,
  { account, apiKey, rateSlot }: Caller,
  { userTokens: store, outboundRules: rules, clock, randomBytes }: UserTokenServices,
): Promise<ApiAnswer> {
  const asked = parseToken(request, apiKey.models, rules);
  // Before the first write, so that a request that the rate refuses writes nothing.
  await rateSlot.take();
  const nowMillis = clock.now();
  const { user, spend_limit: limit, max_uses: uses, models, webhook_url: webhookUrl, metadata } = asked;
  const ownEnd = nowMillis + (asked.expires_in ?? tokenSeconds.usual) * 1000;
  const keyEnd = apiKey.expiresAt === undefined ? Infinity : Date.parse(apiKey.expiresAt);
  for (let tries = 1; tries <= mostTries; tries += 1) {
    const { text, ...identity } = newUserToken(apiKey, user, randomBytes);
    const token: UserToken = {
      ...identity,
      accountId: account.id,
      keyId: apiKey.id,
      user,
      limitMicros: fromUsd(limit),
      leftMicros: fromUsd(limit),
      maxUses: uses ?? tokenUses.usual,
      usesLeft: uses ?? tokenUses.usual,
      uploadsLeft: uses ?? tokenUses.usual,
      ...(models && { models }),
      origins: asked.origins ?? [],
      ...(webhookUrl !== undefined && webhookUrl !== null && { webhookUrl }),
      ...(metadata && { metadata }),
      expiresAt: new Date(Math.min(ownEnd, keyEnd)).toISOString(),
    };
    if (await store.create(token)) return { status: 201, body: { ...userTokenView(token), token: text } };
  }
  throw overloaded();
}

/** Ids have three random digits for each user, so two tokens of a day may draw the same one. */
const mostTries = 5;

/** GET /user-tokens/{id}, for the key that minted the token. */
async function show(
  request: ApiRequest,
  { account, apiKey }: Caller,
  { userTokens: store }: UserTokenServices,
): Promise<ApiAnswer> {
  checkQuery(request, 'getUserToken');
  const token = await store.read(account.id, idIn(request));
  if (token?.keyId !== apiKey.id) throw tokenNotFound();
  return { status: 200, body: usedTokenView(token) };
}

/** POST /user-tokens/{id}/revoke, for every key of the account. Holds from the next request on. */
async function revoke(
  request: ApiRequest,
  { account, rateSlot }: Caller,
  { userTokens: store, clock }: UserTokenServices,
): Promise<ApiAnswer> {
  checkQuery(request, 'revokeUserToken');
  const id = idIn(request);
  await rateSlot.take();
  const isThere = await store.revoke(account.id, id, new Date(clock.now()).toISOString());
  const token = isThere ? await store.read(account.id, id) : undefined;
  if (!token) throw tokenNotFound();
  return { status: 200, body: usedTokenView(token) };
}

/** 404: the same answer for an absent token, one of another account, and one that another key minted. */
function tokenNotFound(): Problem {
  return new Problem('ERR_NOT_FOUND', 'There is no token with this id.');
}

function idIn({ pathId }: ApiRequest): TokenId {
  const id = parseTokenId(pathId);
  if (id === undefined) throw tokenNotFound();
  return id;
}

function spendProblems(value: unknown): Findings {
  if (typeof value === 'number' && value <= 0) return [{ code: 'too_small', message: 'more than 0' }];
  return typeof value === 'number' && value > mostTokenSpend
    ? [{ code: 'too_big', message: `at most ${mostTokenSpend}` }]
    : usdProblems(value);
}

const range = ({ least, most }: { least: number; most: number }) =>
  z.nullish(checkedBy<number>((value) => integerProblems(value, least, most)));

function originProblems(value: unknown): Findings {
  const message = 'must be the origin of a page, such as https://app.example.com or http://localhost:3000';
  return isOrigin(value) ? [] : [{ code: 'invalid_value', message }];
}

/** As browsers write it: no path, no default port, no pattern. */
function isOrigin(value: unknown): boolean {
  if (typeof value !== 'string' || value.includes('*') || !URL.canParse(value)) return false;
  const { origin, protocol, hostname } = new URL(value);
  return origin === value && (protocol === 'https:' || (protocol === 'http:' && hostname === 'localhost'));
}

/** As GET /models names it. Whether the account has the model shows when the token is used. */
function modelProblems(value: unknown): Findings {
  return typeof value === 'string' && value !== ''
    ? []
    : [{ code: 'invalid_type', message: 'must be the id of a model' }];
}

const tokenSchema = z.strictObject({
  user: checkedBy<string>(required(userProblems)),
  spend_limit: checkedBy<number>(required(spendProblems)),
  expires_in: range(tokenSeconds),
  max_uses: range(tokenUses),
  models: z.nullish(
    z.array(checkedBy<string>(modelProblems)).check(z.minLength(1), z.maxLength(mostTokenModels)),
  ),
  origins: z.nullish(z.array(checkedBy<string>(originProblems)).check(z.maxLength(mostTokenOrigins))),
  webhook_url: z.nullish(z.string()),
  metadata: z.nullish(checkedBy<Metadata>(metadataProblems)),
});

function required(find: (value: unknown) => Findings): (value: unknown) => Findings {
  return (value) =>
    value === undefined || value === null ? [{ code: 'required', message: 'required' }] : find(value);
}

/** Throws 400 that names every wrong field. @param allowed the models of the key; undefined: all */
function parseToken(
  request: ApiRequest,
  allowed: readonly string[] | undefined,
  rules: OutboundRules,
): z.infer<typeof tokenSchema> {
  const body = jsonBody(request);
  const result = tokenSchema.safeParse(body, { reportInput: true });
  const errors = onePerField([
    ...unknownParameters(request, 'createUserToken'),
    ...fieldErrors(result.error?.issues ?? []),
    ...foreignModels(body['models'], allowed),
    ...webhookErrors(body['webhook_url'], rules),
  ]);
  if (!result.success || errors.length > 0) throw invalidRequest(errors);
  return result.data;
}

function foreignModels(models: unknown, allowed: readonly string[] | undefined): FieldError[] {
  const listed: readonly unknown[] = allowed && Array.isArray(models) ? models : [];
  return listed.flatMap((model, index) =>
    typeof model === 'string' && !allowed?.includes(model)
      ? [{ field: `models[${index}]`, code: 'invalid_value', message: 'must be a model of this key' }]
      : [],
  );
}

function webhookErrors(address: unknown, rules: OutboundRules): FieldError[] {
  if (typeof address !== 'string') return [];
  const read = readClientUrl(address, 'webhook', rules);
  return read.kind === 'refused' ? [{ field: 'webhook_url', code: read.code, message: read.why }] : [];
}
