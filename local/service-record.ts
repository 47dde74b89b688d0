import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';

/** The file in which a service says that it runs on the folder. */
export const serviceFileName = 'service.json';
/** The path at which a service proves that it is the service of its folder's service.json. */
export const proofPath = '/_local/proof';

const readySchema = z.object({
  pid: z.int(),
  startedAt: z.string(),
  /** New at every start. Only readers of the file know it. */
  secret: z.string().min(32),
  port: z.int(),
  apiUrl: z.string(),
  localUrl: z.string(),
  awsUrl: z.string(),
  /** With which calls to awsUrl are signed. Absent: a test machine. */
  awsSecretKey: z.string().optional(),
  outputs: z.record(z.string(), z.string()),
});
const recordSchema = readySchema.partial({
  port: true,
  apiUrl: true,
  localUrl: true,
  awsUrl: true,
  outputs: true,
});

/** The content of service.json while a service runs on the folder, with addresses once it is ready. */
export type ServiceRecord = z.output<typeof recordSchema>;

export type ReadyService = z.output<typeof readySchema>;

/** What of a backup is copied so far. */
export interface Copied {
  readonly files: number;
  readonly bytes: number;
}

/** A line of the answer of a backup. The last one is no `copied`. */
export type BackupLine =
  | { readonly copied: Copied }
  | { readonly made: Readonly<Record<string, string | number>> }
  | { readonly refused: string };

/** Reads service.json, which stays behind when its service was killed. Undefined when no file can be read. */
export function readServiceRecord(folder: string): ServiceRecord | undefined {
  try {
    return recordSchema.parse(JSON.parse(readFileSync(path.join(folder, serviceFileName), 'utf8')));
  } catch {
    return undefined;
  }
}

/** The ready service of the folder, or undefined. A stranger may have its port, so it must prove its secret. */
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

/** The proof, as 64 hexadecimal digits. Only a process that knows the secret can compute it. */
export function proofOf(secret: string, challenge: string): string {
  return createHmac('sha256', secret).update(`darkroom folder ${challenge}`).digest('hex');
}

function isEqual(received: string, expected: string): boolean {
  const [left, right] = [Buffer.from(received), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}
