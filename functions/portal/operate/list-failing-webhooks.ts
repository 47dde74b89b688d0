import type { WebhookState } from '../../../core/creation.ts';
import { isFailing } from '../../../core/failing-webhook.ts';
import { parseNoticeId, type AccountId, type CreationId, type NoticeId } from '../../../core/ids.ts';
import type { FailingWebhook, PageView } from '../../../core/portal/views.ts';
import type { OperateServices } from '../../services/portal-operate.ts';
import type { PortalHandle } from '../http/caller.ts';

/** The most webhooks that are looked at. Behind an outage of a receiver thousands may wait. */
const mostRead = 200;

/** GET /operator/webhooks: the webhooks and notices that are failing, of all accounts. */
export const listFailingWebhooks: PortalHandle<'listFailingWebhooks', OperateServices> = async (
  _request,
  { nowMillis },
  services,
) => {
  const waiting = await read(await services.operated.waitingWebhooks(mostRead), services);
  const failing = waiting.filter(({ webhook }) => isFailing(webhook, nowMillis));
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

interface Waiting {
  readonly accountId: AccountId;
  readonly creation: CreationId | null;
  readonly webhook: WebhookState;
}

async function read(
  ids: readonly (CreationId | NoticeId)[],
  { creations, notices }: OperateServices,
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
    ...ofNotices.map(({ accountId, webhook }) => ({ accountId, creation: null, webhook })),
  ];
}
