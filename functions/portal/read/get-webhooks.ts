import type { SealedSecret } from '../../../core/account.ts';
import { noticeTypes } from '../../../core/notice.ts';
import type { WebhooksView } from '../../../core/portal/views.ts';
import { endedEvents, testDeliverySeconds } from '../../../core/webhook.ts';
import { replacedSecretSeconds, secretsAt } from '../../../core/webhook-secrets.ts';
import type { ReadServices } from '../../services/portal-read.ts';
import type { PortalHandle } from '../http/caller.ts';

type SecretState = WebhooksView['secrets'][number]['state'];

/** GET /webhooks: which secrets sign and verify, without the secrets. */
export const getWebhooks: PortalHandle<'getWebhooks', ReadServices> = async (
  _request,
  { account, nowMillis },
  { reads },
) => {
  const lastAt = await reads.lastTestAt(account.id);
  const { signing, pending, replaced } = secretsAt(account.webhookSecrets, nowMillis);
  const passed = nowMillis - (lastAt ?? Number.NEGATIVE_INFINITY);
  const body: WebhooksView = {
    secrets: [
      ...pending.map((secret) => secretView(secret, 'signs_later')),
      ...(signing ? [secretView(signing, 'signs')] : []),
      ...replaced.map((secret) => secretView(secret, 'replaced')),
    ],
    events: endedEvents,
    notices: noticeTypes,
    test_after_seconds: Math.max(0, Math.ceil((testDeliverySeconds * 1000 - passed) / 1000)),
  };
  return { status: 200, body };
};

function secretView(
  { issuedAt, signsFrom, replacedAt }: SealedSecret,
  state: SecretState,
): WebhooksView['secrets'][number] {
  const until = replacedAt === undefined ? null : replacedAt + replacedSecretSeconds * 1000;
  return {
    issued_at: new Date(issuedAt).toISOString(),
    state,
    signs_from: new Date(signsFrom ?? issuedAt).toISOString(),
    valid_until: until === null ? null : new Date(until).toISOString(),
  };
}
