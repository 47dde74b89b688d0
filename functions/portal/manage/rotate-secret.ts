import * as z from 'zod/mini';
import { issueSecret } from '../../../core/issue-secret.ts';
import { signFromSeconds, type SignFrom } from '../../../core/webhook-secrets.ts';
import type { ManageServices } from '../../services/portal-manage.ts';
import { parseBody } from '../http/body.ts';
import type { PortalHandle } from '../http/caller.ts';
import { changedMeanwhile } from '../http/portal-problems.ts';
import { noSecret, orLost, secretView } from './secrets.ts';

const rotateSchema = z.strictObject({
  sign_from: z.enum(Object.keys(signFromSeconds) as [SignFrom, ...SignFrom[]]),
});

/**
 * POST /webhooks/secret/rotate: a new secret, and the replaced one verifies for 24 h more. Of two who rotate at once
 * the second one is refused, so that no one copies a secret that is already replaced.
 */
export const rotateSecret: PortalHandle<'rotateSecret', ManageServices> = async (
  request,
  caller,
  services,
) => {
  const { sign_from: signFrom } = parseBody(request, rotateSchema);
  if (caller.account.webhookSecrets.length === 0) throw noSecret();
  const issued = await orLost(() => issueSecret(caller.account, signFrom, services));
  if (issued.kind === 'changed_meanwhile') throw changedMeanwhile();
  return {
    status: 200,
    body: await secretView(issued.account, services),
    logged: { note: `signs from ${signFrom}` },
  };
};
