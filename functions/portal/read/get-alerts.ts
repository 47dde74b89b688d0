import { toUsd } from '../../../core/money.ts';
import { alertsVersion } from '../../../core/portal/version.ts';
import type { AlertsView } from '../../../core/portal/views.ts';
import type { ReadServices } from '../../services/portal-read.ts';
import type { PortalHandle } from '../http/caller.ts';

/** GET /alerts: where notices go, and the threshold of `wallet.low`. */
export const getAlerts: PortalHandle<'getAlerts', ReadServices> = async (_request, { account }) => {
  const { noticeUrl, lowBalanceMicros } = account;
  const body: AlertsView = {
    notice_url: noticeUrl ?? null,
    low_balance: lowBalanceMicros === undefined ? null : toUsd(lowBalanceMicros),
    version: alertsVersion(account),
  };
  return Promise.resolve({ status: 200, body });
};
