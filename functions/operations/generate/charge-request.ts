/** From a plan to charged creations: what the means allow, the source images, the charge. */
import type { Caller } from '../../http/caller.ts';
import type { SubmitServices } from '../../services/submit.ts';
import { chargeCreations, checkMeans, demandOf, type Charged, type Submission } from './charge.ts';
import { narrowToSources } from './plan.ts';
import { copySources } from './sources.ts';
import { tellRefusal } from './tell-refusal.ts';

export interface ChargeRequest extends Omit<Submission, 'sources' | 'topUpUrl'> {
  readonly caller: Caller;
  /** The bytes of source images that the request itself holds, by their items in image_urls. */
  readonly inline?: ReadonlyMap<string, Uint8Array>;
}

/**
 * Charges the creations. A request that is refused for money may be the one by which its account learns that the
 * money has ended.
 */
export async function chargeRequest(asked: ChargeRequest, services: SubmitServices): Promise<Charged> {
  const { inline, ...request } = asked;
  const { caller, plan } = request;
  const { topUpUrl } = services;
  const demand = demandOf(request);
  try {
    checkMeans(caller, demand, topUpUrl);
    const sources = await copySources(plan, caller, services, inline);
    return await chargeCreations(
      { ...request, plan: narrowToSources(plan, sources), sources, topUpUrl },
      services,
    );
  } catch (error) {
    await tellRefusal(error, caller, demand, services);
    throw error;
  }
}
