/** What the picture of a creation costs after it was rendered: it is stored, and somebody fetches it. */
import { prices } from './prices.ts';

/** A 1K picture as PNG. The other formats are smaller. */
export const usualMegabytes = 1.5;
/** Days for which a result is kept by default. The bucket deletes it a day later. */
export const keptDays = 31;
/**
 * Bytes from AWS to the internet, beside the pictures: the order to the vendor, the answer to POST, and the webhook.
 * An answer to a poll is as long as the answer to POST. The order has no source images here.
 */
const sentBytes = { order: 1_500, answer: 1_400, webhook: 2_000 } as const;

/** USD for 1,000 pictures that are stored as long as the service keeps them. */
export function storedBill(megabytes: number): number {
  return 1000 * (megabytes / 1000) * (keptDays / 30) * prices.objectGigabyteMonth;
}

/** USD for 1,000 pictures that are fetched once each: CloudFront, and its own request to the bucket. */
export function fetchedBill(megabytes: number): number {
  return 1000 * (prices.edgeRequest + prices.objectGet + (megabytes / 1000) * prices.edgeGigabyte);
}

/** USD for what 1,000 creations send to the internet beside their pictures. */
export function trafficBill({
  polls,
  hasWebhook,
}: {
  readonly polls: number;
  readonly hasWebhook: boolean;
}): number {
  const { order, answer, webhook } = sentBytes;
  const bytes = order + (1 + polls) * answer + (hasWebhook ? webhook : 0);
  return 1000 * (bytes / 1e9) * prices.trafficGigabyte;
}
