import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import type { BooksSize } from './generated-books.ts';

const serverFile = fileURLToPath(new URL('books-server.ts', import.meta.url));
const unitsSchema = z.object({ readUnits: z.number() });

/** A process that answers reads of generated books as DynamoDB does. */
export interface BooksProcess {
  /** The address for a client of DynamoDB. */
  readonly url: string;
  /** The units of all reads so far. */
  readUnits(): Promise<number>;
  stop(): void;
}

/** @param wrong the account, by its number, whose balance is a cent too high */
export async function startBooks({ creations, accounts }: BooksSize, wrong: number): Promise<BooksProcess> {
  const server = fork(serverFile, [creations, accounts, wrong].map(String));
  const port = await new Promise<number>((resolve, reject) => {
    server.once('message', (message) => resolve(z.object({ port: z.number() }).parse(message).port));
    server.once('exit', (code) => reject(new Error(`the server of the books ended with ${code}`)));
  });
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    readUnits: async () => unitsSchema.parse(await (await fetch(`${url}/units`)).json()).readUnits,
    stop: () => void server.kill(),
  };
}
