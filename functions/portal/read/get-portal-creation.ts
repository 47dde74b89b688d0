import { parseCreationId } from '../../../core/ids.ts';
import { creationDetail } from '../../../core/portal/creation-view.ts';
import { creationNotFound } from '../../http/problems.ts';
import type { ReadServices } from '../../services/portal-read.ts';
import type { PortalHandle } from '../http/caller.ts';

/** GET /creations/{id}: the creation with its timeline. */
export const getPortalCreation: PortalHandle<'getPortalCreation', ReadServices> = async (
  { pathId },
  { account, nowMillis },
  { creations, deliveries, reads, settings },
) => {
  const id = parseCreationId(pathId);
  const creation = id && (await creations.read(id));
  if (creation?.accountId !== account.id) throw creationNotFound();
  const [attempts, keys] = await Promise.all([deliveries.ofCreation(creation), reads.keys(account.id)]);
  const keyNames = new Map(keys.map(({ id: key, name }) => [key, name]));
  const showing = { keyNames, resultsBaseUrl: settings.resultsBaseUrl, nowMillis };
  return { status: 200, body: creationDetail(creation, attempts, showing) };
};
