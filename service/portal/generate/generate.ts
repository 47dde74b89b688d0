/** The API's operations behind a session. The playground charges through a key of its own. */
import type { ApiKey } from '../../accounts/account.ts';
import { isUser, userHash } from '../../accounts/end-user.ts';
import { playgroundKey, playgroundKeyId } from '../../accounts/key-changes.ts';
import { type Caller, callerOf, counted, withCatalog } from '../../api/admit.ts';
import type { ApiAnswer } from '../../api/answer.ts';
import { problemOf } from '../../api/framed.ts';
import { withAccount } from '../../api/request-id.ts';
import { type ApiRequest, userOfBody } from '../../api/request.ts';
import type { Handle } from '../../api/serve.ts';
import type { AnswerOf } from '../../contract/portal-calls.ts';
import { createUpload } from '../../generate/create-upload.ts';
import { generateImage } from '../../generate/generate-image.ts';
import { quoteImage } from '../../generate/quote-image.ts';
import type { MemberCaller, PortalAnswer } from '../http/caller.ts';
import type { OperationsOf, PortalHandlers } from '../http/serve-portal.ts';
import type { GenerateHandle, GenerateServices } from './open.ts';

/** The API's answer, as the portal documents its operation. It counts as a POST of the account. */
async function throughTheApi<Name extends OperationsOf<'generate'>, Services>(
  handle: Handle<Services>,
  sent: ApiRequest,
  { account, clientAddress }: MemberCaller,
  services: GenerateServices & Services,
): Promise<PortalAnswer<AnswerOf<Name>>> {
  const nowMillis = services.clock.now();
  const request = { ...sent, requestId: withAccount(sent.requestId, account.id, nowMillis) };
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
  try {
    return withoutLocation<Name>(await counted(door, services));
  } catch (error) {
    const problem = problemOf(error, request.requestId, services);
    await services.refusals.note(request, callerOf(known), problem);
    throw problem;
  }
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

function withoutLocation<Name extends OperationsOf<'generate'>>({
  headers = {},
  ...answer
}: ApiAnswer): PortalAnswer<AnswerOf<Name>> {
  const { location: _location, ...rest } = headers;
  // The document of the API holds these bodies to their form.
  return { ...answer, body: answer.body as AnswerOf<Name>, headers: rest };
}

/** POST /creations: the body, the charge and the answer of POST /images/generate. */
const createCreation: GenerateHandle<'createCreation'> = async (request, caller, services) => {
  const answer = await throughTheApi<'createCreation', GenerateServices>(
    withCatalog(generateImage),
    request,
    caller,
    services,
  );
  const [{ id }] = 'data' in answer.body ? answer.body.data : [answer.body];
  return { ...answer, logged: { target: id } };
};

const createPortalUpload: GenerateHandle<'createPortalUpload'> = (request, caller, services) =>
  throughTheApi<'createPortalUpload', GenerateServices>(createUpload, request, caller, services);

const quoteCreation: GenerateHandle<'quoteCreation'> = (request, caller, services) =>
  throughTheApi<'quoteCreation', GenerateServices>(withCatalog(quoteImage), request, caller, services);

export const generateHandlers: PortalHandlers<'generate', GenerateServices> = {
  createCreation,
  quoteCreation,
  createPortalUpload,
};
