import { issueSecret } from '../../../core/issue-secret.ts';
import type { ManageServices } from '../../services/portal-manage.ts';
import type { PortalHandle } from '../http/caller.ts';
import { orLost, secretView } from './secrets.ts';

/**
 * POST /webhooks/secret/reveal: the signing secret, which is issued when somebody asks for the first time. Two who
 * ask for the first time at once see the same secret.
 */
export const revealSecret: PortalHandle<'revealSecret', ManageServices> = async (
  _request,
  caller,
  services,
) => {
  const { account } = caller;
  if (account.webhookSecrets.length > 0) return { status: 200, body: await secretView(account, services) };
  const issued = await orLost(() => issueSecret(account, 'now', services));
  if (issued.kind === 'issued')
    return { status: 200, body: await secretView(issued.account, services), logged: { note: 'issued' } };
  const now = await services.accounts.read(account.id);
  if (!now) throw new Error('the account is gone');
  return { status: 200, body: await secretView(now, services) };
};
