/**
 * The operations of the API behind a session. The playground charges the account through a key of its own, so that
 * rates, limits, budgets and figures hold for it as for every other key.
 */
import type { ApiKey } from '../../../core/account.ts';
import { playgroundKey, playgroundKeyId } from '../../../core/api-keys.ts';
import { counted } from '../../http/admit.ts';
import type { ApiAnswer } from '../../http/answer.ts';
import { userOfBody, type ApiRequest } from '../../http/request.ts';
import type { Caller } from '../../http/caller.ts';
import type { Handle } from '../../http/serve.ts';
import type { GenerateServices } from '../../services/portal-generate.ts';
import { isUser, userHash } from '../../../core/user.ts';
import type { AnswerOf } from '../../../core/portal/calls.ts';
import type { MemberCaller, PortalAnswer } from '../http/caller.ts';
import type { OperationsOf } from '../http/serve-portal.ts';

/**
 * The answer of the API's operation, as the operation of the portal with this name documents it. It counts against the
 * account's rate of POST requests, refused or not.
 */
export async function throughTheApi<Name extends OperationsOf<'generate'>, Services>(
  handle: Handle<Services>,
  request: ApiRequest,
  { account, clientAddress }: MemberCaller,
  services: GenerateServices & Services,
): Promise<PortalAnswer<AnswerOf<Name>>> {
  const nowMillis = services.clock.now();
  const { idempotencyKey } = request;
  const user = userOfBody(request);
  const question = {
    clientAddress,
    key: { accountId: account.id, keyId: playgroundKeyId },
    rate: 'post',
    nowMillis,
    ...(idempotencyKey.kind === 'valid' && { idempotencyHash: idempotencyKey.hash }),
    ...(isUser(user) && { userHash: userHash(user) }),
  } as const;
  const state = await services.requests.read(question);
  const apiKey = state.apiKey ?? (await makeKey(account, nowMillis, services));
  const known = { account: state.account ?? account, apiKey, state, nowMillis };
  const door = { rate: 'post', known, run: (caller: Caller) => handle(request, caller, services) } as const;
  return withoutLocation<Name>(await counted(door, services));
}

/** At the first use of the playground. Of two first uses both get the key that is stored. */
async function makeKey(
  account: MemberCaller['account'],
  nowMillis: number,
  { keys }: GenerateServices,
): Promise<ApiKey> {
  const key = playgroundKey(account, nowMillis);
  await keys.create(key);
  return key;
}

/** The address in the public API is of no use behind a session. */
function withoutLocation<Name extends OperationsOf<'generate'>>({
  headers = {},
  ...answer
}: ApiAnswer): PortalAnswer<AnswerOf<Name>> {
  const { location: _location, ...rest } = headers;
  // The document of the API holds these bodies to their form.
  return { ...answer, body: answer.body as AnswerOf<Name>, headers: rest };
}
