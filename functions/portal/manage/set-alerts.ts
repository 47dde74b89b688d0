import * as z from 'zod/mini';
import type { Account } from '../../../core/account.ts';
import { readClientUrl } from '../../../core/client-url.ts';
import { lookAfterCommand } from '../../../core/look-for-crossings.ts';
import { toUsd } from '../../../core/money.ts';
import { checkNoticeUrl } from '../../../core/notice-settings.ts';
import { alertsVersion } from '../../../core/portal/version.ts';
import type { AlertsView } from '../../../core/portal/views.ts';
import { invalidRequest } from '../../../core/problem.ts';
import type { ManageServices } from '../../services/portal-manage.ts';
import { microsOf, parseBody, usd, version } from '../http/body.ts';
import type { PortalHandle } from '../http/caller.ts';
import { changedMeanwhile } from '../http/portal-problems.ts';

const alertsSchema = z.strictObject({
  notice_url: z.optional(z.nullable(z.string())),
  low_balance: z.optional(z.nullable(usd('above zero'))),
  version,
});

/**
 * PUT /alerts: where notices go, and the threshold of `wallet.low`. A field that the body leaves out stays,
 * and null removes it. An account that is already below the threshold gets the notice at once.
 */
export const setAlerts: PortalHandle<'setAlerts', ManageServices> = async (request, caller, services) => {
  const { account } = caller;
  const body = parseBody(request, alertsSchema, ({ notice_url: url }) => {
    const read = typeof url !== 'string' ? undefined : readClientUrl(url, 'webhook', services.outboundRules);
    return [
      read?.kind === 'refused' ? { field: 'notice_url', code: read.code, message: read.why } : undefined,
    ];
  });
  if (alertsVersion(account) !== body.version) throw changedMeanwhile();
  const { notice_url: noticeUrl = account.noticeUrl ?? null, low_balance: low } = body;
  if (body.notice_url !== undefined) {
    const verdict = await checkNoticeUrl(noticeUrl, services);
    if (verdict.kind === 'refused')
      throw invalidRequest([{ field: 'notice_url', code: 'refused_target', message: verdict.why }]);
  }
  const lowBalanceMicros = typeof low === 'number' ? microsOf(low) : low;
  const next = {
    noticeUrl,
    lowBalanceMicros: lowBalanceMicros === undefined ? (account.lowBalanceMicros ?? null) : lowBalanceMicros,
  };
  if (!(await services.accounts.changeAlerts(account, next))) throw changedMeanwhile();
  await lookAfterCommand({ accountId: account.id, periods: {} }, services);
  return { status: 200, body: alertsView(next) };
};

function alertsView({
  noticeUrl,
  lowBalanceMicros,
}: Parameters<ManageServices['accounts']['changeAlerts']>[1]): AlertsView {
  const stored: Pick<Account, 'noticeUrl' | 'lowBalanceMicros'> = {
    ...(noticeUrl !== null && { noticeUrl }),
    ...(lowBalanceMicros !== null && { lowBalanceMicros }),
  };
  return {
    notice_url: noticeUrl,
    low_balance: lowBalanceMicros === null ? null : toUsd(lowBalanceMicros),
    version: alertsVersion(stored),
  };
}
