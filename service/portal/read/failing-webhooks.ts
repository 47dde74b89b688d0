/** Webhooks and notices of all accounts that are failing, for the operator. */
import type { FailingWebhook, PageView } from '../../contract/portal-views.ts';
import type { WebhookState } from '../../creations/creation.ts';
import { type AccountId, type CreationId, type NoticeId, parseNoticeId } from '../../values/ids.ts';
import { isFailing } from '../../webhooks/webhook.ts';
import type { ReadHandle, ReadServices } from './open.ts';

/** The most webhooks that are read. After an outage of a receiver thousands may wait. */
const mostRead = 200;

/** GET /operator/webhooks: the webhooks and notices that are failing, of all accounts. */
export const listFailingWebhooks: ReadHandle<'listFailingWebhooks'> = async (
  _request,
  { nowMillis },
  services,
) => {
  const failing = await failingWebhooks(nowMillis, services);
  const accounts = await services.operated.accountsOf(failing.map(({ accountId }) => accountId));
  const names = new Map(accounts.map(({ id, name }) => [id, name]));
  const view: PageView<FailingWebhook> = {
    data: failing.map(({ accountId, creation, webhook }) => ({
      account: accountId,
      account_name: names.get(accountId) ?? '',
      creation,
      host: URL.canParse(webhook.url) ? new URL(webhook.url).host : '',
      attempts: webhook.attempts,
      next_attempt_at: new Date(webhook.nextAt).toISOString(),
    })),
    next_cursor: null,
  };
  return { status: 200, body: view };
};

/** Of all accounts: webhooks and notices of which an attempt failed, and another one follows. */
export async function failingWebhooks(
  nowMillis: number,
  services: ReadServices,
): Promise<readonly Waiting[]> {
  const waiting = await read(await services.operated.waitingWebhooks(mostRead), services);
  return waiting.filter(({ webhook }) => isFailing(webhook, nowMillis));
}

interface Waiting {
  readonly accountId: AccountId;
  readonly creation: CreationId | null;
  readonly webhook: WebhookState;
}

async function read(
  ids: readonly (CreationId | NoticeId)[],
  { creations, notices }: ReadServices,
): Promise<Waiting[]> {
  const isNotice = (id: CreationId | NoticeId): id is NoticeId => parseNoticeId(id) !== undefined;
  const [ofCreations, ofNotices] = await Promise.all([
    creations.readAll(ids.filter((id): id is CreationId => !isNotice(id))),
    notices.readAll(ids.filter(isNotice)),
  ]);
  return [
    ...ofCreations.flatMap(({ accountId, id, webhook }) =>
      webhook ? [{ accountId, creation: id, webhook }] : [],
    ),
    ...ofNotices
      .filter(({ copyOf }) => copyOf === undefined)
      .map(({ accountId, webhook }) => ({ accountId, creation: null, webhook })),
  ];
}
