import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';

/** Where a service says that it runs on the folder. */
export const serviceFileName = 'service.json';
/** Where a service proves that it is the one of its folder's service.json. */
export const proofPath = '/_local/proof';

const readySchema = z.object({
  pid: z.int(),
  startedAt: z.string(),
  /** New at every start, and told to nobody but the readers of the file. */
  secret: z.string().min(32),
  port: z.int(),
  apiUrl: z.string(),
  localUrl: z.string(),
  awsUrl: z.string(),
  outputs: z.record(z.string(), z.string()),
});
const recordSchema = readySchema.partial({
  port: true,
  apiUrl: true,
  localUrl: true,
  awsUrl: true,
  outputs: true,
});

/** What service.json says of the service that runs on a folder; addresses only once the service is ready. */
export type ServiceRecord = z.output<typeof recordSchema>;

/** The record of a service that is ready. */
export type ReadyService = z.output<typeof readySchema>;

/** What service.json says, also when its service was killed. Undefined without a file that can be read. */
export function readServiceRecord(folder: string): ServiceRecord | undefined {
  try {
    return recordSchema.parse(JSON.parse(readFileSync(path.join(folder, serviceFileName), 'utf8')));
  } catch {
    return undefined;
  }
}

/**
 * The service that runs on the folder and is ready, or undefined. A killed service leaves its file behind,
 * and a stranger may have taken its port since. So the service at that address must prove that it knows
 * the secret of the file.
 */
export async function runningService(folder: string): Promise<ReadyService | undefined> {
  const { data: record } = readySchema.safeParse(readServiceRecord(folder));
  if (record === undefined) return undefined;
  const challenge = randomBytes(32).toString('hex');
  const address = new URL(`${proofPath}?challenge=${challenge}`, record.localUrl);
  const answer = await fetch(address, { redirect: 'error' }).then(
    async (response) => response.text(),
    () => '',
  );
  return isEqual(answer, JSON.stringify({ proof: proofOf(record.secret, challenge) })) ? record : undefined;
}

/** What only a holder of the secret can answer to the challenge: 64 hexadecimal digits. */
export function proofOf(secret: string, challenge: string): string {
  return createHmac('sha256', secret).update(`darkroom folder ${challenge}`).digest('hex');
}

function isEqual(received: string, expected: string): boolean {
  const [left, right] = [Buffer.from(received), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}
