/** What a crowd costs at AWS: units, transitions, invocations, requests and images. Logs and traffic are left out. */
import { rendererSizes } from '../../../lib/renderer-sizes.ts';
import { prices } from '../../../tools/cost/prices.ts';
import type { AwsAccount } from '../../aws/aws-account.ts';

/** Megabytes of the functions, as lib/ sets them. */
const megabytes: Readonly<Record<string, number>> = {
  RenderImage: rendererSizes.any.memoryMegabytes,
  RenderImageSmall: rendererSizes.small.memoryMegabytes,
  RenderImageLarge: rendererSizes.large.memoryMegabytes,
  DeliverWebhook: 256,
  RefundCharge: 512,
  callback: rendererSizes.large.memoryMegabytes,
};
/** The functions of the API, and the reconciler. */
const usualMegabytes = 1_024;

/** USD for all that the account has done so far. */
export function costOf(account: AwsAccount, images: number): number {
  const { writeUnits = 0, readUnits = 0 } = account.table()?.used() ?? {};
  let sum =
    writeUnits * prices.writeUnit +
    readUnits * prices.readUnit +
    account.transitions() * prices.transition +
    account.requests() * prices.apiRequest +
    images * prices.objectPut;
  for (const [name, { invocations, millis }] of account.functions.used()) {
    const gigabytes = (megabytes[name] ?? usualMegabytes) / 1_024;
    sum += invocations * prices.invocation + (millis / 1000) * gigabytes * prices.gigabyteSecond;
  }
  return sum;
}
