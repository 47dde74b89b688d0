/** The settings of an account for notices. The operator's command uses them, and later the portal. */
import type { NoticeSettings } from '../accounts/account-settings-store.ts';
import type { Account } from '../accounts/account.ts';
import type { Outbound } from '../outbound/outbound.ts';
import { checkAfterCommand, type ThresholdServices } from './check-thresholds.ts';

export interface NoticeSettingServices extends ThresholdServices {
  readonly outbound: Outbound;
  readonly accounts: { change(id: Account['id'], change: NoticeSettings): Promise<void> };
}

export type NoticeSettingOutcome =
  | { readonly kind: 'set' }
  | { readonly kind: 'refused'; readonly why: string };

/** The address must be one that a webhook may have. It is checked now, and again at every attempt. */
export async function checkNoticeUrl(
  url: string | null | undefined,
  { outbound }: Pick<NoticeSettingServices, 'outbound'>,
): Promise<NoticeSettingOutcome> {
  const verdict = typeof url === 'string' ? await outbound.check(url) : undefined;
  return verdict?.kind === 'refused' ? verdict : { kind: 'set' };
}

/** Checks and stores the settings. An account that is below its new threshold gets the notice at once. */
export async function setNotices(
  id: Account['id'],
  settings: NoticeSettings,
  services: NoticeSettingServices,
): Promise<NoticeSettingOutcome> {
  const outcome = await checkNoticeUrl(settings.noticeUrl, services);
  if (outcome.kind === 'refused') return outcome;
  await services.accounts.change(id, settings);
  await checkAfterCommand({ accountId: id, periods: {} }, services);
  return outcome;
}
