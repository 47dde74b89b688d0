import { creationView, isTerminal } from '../../core/creation.ts';
import { deprecationHeadersOf } from '../../core/deprecation.ts';
import { pollIntervalMillis } from '../../core/limits.ts';
import { nextPollSeconds } from '../../core/poll-pace.ts';
import { creationNotFound, pollTooSoon } from '../http/problems.ts';
import { openCatalog, type CatalogServices } from '../services/api.ts';
import { base, catalog, dynamodb } from '../services/lambda.ts';
import { atFirstRequest } from '../services/open.ts';
import { checkQuery } from '../http/request.ts';
import { serve, type Handle } from '../http/serve.ts';
import { withCatalog } from '../http/with-catalog.ts';

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

export const handler = serve(
  'get',
  withCatalog(getCreation),
  atFirstRequest(() => openCatalog({ ...base(), dynamodb: dynamodb(), catalog })),
);
