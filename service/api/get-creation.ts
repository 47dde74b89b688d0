import { deprecationHeadersOf } from '../catalog/deprecation.ts';
import { pollIntervalMillis } from '../contract/limits.ts';
import { creationView, isTerminal } from '../creations/creation.ts';
import { nextPollSeconds } from '../creations/poll-pace.ts';
import type { CatalogServices } from './open.ts';
import { creationNotFound, pollTooSoon } from './problems.ts';
import { checkQuery } from './request.ts';
import type { Handle } from './serve.ts';

/**
 * GET /creations/{id}: the creation, which was read together with the caller. Each may be polled once a
 * second.
 */
export const getCreation: Handle<CatalogServices> = async (request, caller, services) => {
  checkQuery(request, 'getCreation');
  const { creation } = caller.state;
  // Another account's creation and an absent one are the same answer, byte for byte.
  if (creation?.accountId !== caller.account.id) throw creationNotFound();
  const mayPoll = await services.requests.stampPoll(creation.id, pollIntervalMillis, caller.nowMillis);
  if (!mayPoll) throw pollTooSoon();
  return {
    status: 200,
    headers: {
      ...deprecationHeadersOf(services.catalog, creation.model),
      ...(!isTerminal(creation.status) && {
        'retry-after': String(nextPollSeconds(creation, caller.nowMillis)),
      }),
    },
    body: creationView(creation, services.resultsBaseUrl, caller.nowMillis),
  };
};
