/** The webhook secret of an account in the operator API. A secret can be read again, unlike a key. */
import * as z from 'zod/mini';
import type { Account } from '../accounts/account.ts';
import { parseBody } from '../operated/body.ts';
import { parseAccountId } from '../values/ids.ts';
import { Problem } from '../values/problem.ts';
import { issueSecret, newestSecret } from '../webhooks/issue-secret.ts';
import { SecretLost } from '../webhooks/secret-box.ts';
import { type SignFrom, signFromSeconds } from '../webhooks/secrets.ts';
import { accountOf, changing, conflict, notFound, type OperatorContext, reading } from './context.ts';

const rotateSchema = z.strictObject({
  sign_from: z.optional(z.enum(Object.keys(signFromSeconds) as [SignFrom, ...SignFrom[]])),
});

async function secretView(account: Account, { services }: OperatorContext): Promise<object> {
  const shown = await orLost(() => newestSecret(account, services));
  if (!shown) throw notFound();
  return {
    account: account.id,
    secret: shown.secret,
    issued_at: shown.issuedAt,
    signs_from: shown.signsFrom,
    signing_until_then: shown.signingUntilThen ?? null,
    replaced_valid_until: shown.replacedValidUntil,
  };
}

/** A secret that nobody can open any more needs a new one. */
async function orLost<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SecretLost)) throw error;
    const message = 'The webhook secret cannot be opened any more: rotate it with sign_from "now".';
    throw new Problem('ERR_CONFLICT', message, { reason: 'secret_lost' });
  }
}

async function issued(account: Account, signFrom: SignFrom, context: OperatorContext): Promise<object> {
  const { services } = context;
  await context.noteIn(account.id, `signs from ${signFrom}`);
  const beside = context.remembers(account.id, 201);
  const accounts = {
    replaceSecrets: (...given: Parameters<typeof services.accounts.replaceSecrets>) =>
      services.accounts.replaceSecrets(given[0], given[1], given[2], beside),
  };
  const outcome = await orLost(() => issueSecret(account, signFrom, { ...services, accounts }));
  if (outcome.kind === 'issued') return secretView(outcome.account, context);
  await context.throwIfRepeated();
  throw conflict('changed_meanwhile', 'Somebody replaced the secret meanwhile: look at it.');
}

async function shownSecret(made: string, context: OperatorContext): Promise<object> {
  const id = parseAccountId(made);
  const account = id && (await context.services.accounts.read(id));
  if (!account) throw notFound();
  return secretView(account, context);
}

export const getWebhookSecret = reading(async (context) => ({
  status: 200,
  body: await secretView(await accountOf(context), context),
}));

/** Issues the first secret. An account that has one keeps it. */
export const issueWebhookSecret = changing({
  body: () => null,
  run: async (_body, context) => {
    const account = await accountOf(context);
    if (account.webhookSecrets.length > 0) return { status: 200, body: await secretView(account, context) };
    return { status: 201, body: await issued(account, 'now', context) };
  },
  show: shownSecret,
});

export const rotateWebhookSecret = changing({
  body: ({ request }) => parseBody(request, rotateSchema),
  run: async ({ sign_from: signFrom = 'now' }, context) => ({
    status: 201,
    body: await issued(await accountOf(context), signFrom, context),
  }),
  show: shownSecret,
});
