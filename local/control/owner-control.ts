/** The controls of a service for others: what the operator's command of its owner needs, on loopback. */
import { timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import type { Manifest } from '../backup.ts';
import { FolderRefused, isOfDisk } from '../disk.ts';
import { answerPath, type Publication } from '../front/publish.ts';
import { type Handler, readBody, refuseBody, sendJson, targetOf } from '../http.ts';
import { parseJson } from '../json.ts';
import { type BackupLine, type Copied, proofPath } from '../service-record.ts';

export interface OwnerControlOptions {
  /** Of service.json, which only the owner of the folder can read. */
  readonly secret: string;
  readonly prove: (challenge: string) => string;
  readonly state: () => unknown;
  /** Copies the folder of the service into another one. */
  readonly backup: (to: string, tell: (copied: Copied) => void, tablesOnly: boolean) => Promise<Manifest>;
  /** A client gives up an answer of which nothing comes for minutes. The default is 5 s between two lines. */
  readonly betweenLinesMillis?: number;
  readonly publication: Pick<Publication, 'answer'>;
}

const maxBodyBytes = 64 * 1024;
const backupSchema = z.object({ to: z.string().min(1), tables_only: z.boolean().default(false) });

/** Other users of this machine reach the port as well: only the proof and the publication need no secret. */
export function createOwnerControl({
  secret,
  prove,
  state,
  backup,
  betweenLinesMillis = 5_000,
  publication,
}: OwnerControlOptions): Handler {
  const open: Readonly<Record<string, Handler>> = {
    [`PUT ${answerPath}`]: publication.answer,
    [`GET ${proofPath}`]: (incoming, outgoing) => {
      const challenge = new URLSearchParams(targetOf(incoming).query).get('challenge') ?? '';
      sendJson(outgoing, 200, { proof: prove(challenge) });
    },
  };
  const owned: Readonly<Record<string, Handler>> = {
    'GET /_local/state': (_incoming, outgoing) => sendJson(outgoing, 200, state()),
    'POST /_local/backup': async (incoming, outgoing) => {
      const body = backupSchema.parse(parseJson(String(await readBody(incoming, maxBodyBytes))));
      let copied: Copied = { files: 0, bytes: 0 };
      const say = (line: BackupLine): void => void outgoing.write(`${JSON.stringify(line)}\n`);
      outgoing.writeHead(200, { 'content-type': 'application/x-ndjson' });
      const beat = setInterval(() => say({ copied }), betweenLinesMillis);
      try {
        const { made_at, files } = await backup(body.to, (now) => (copied = now), body.tables_only);
        const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
        say({ made: { to: body.to, made_at, files: files.length, bytes } });
      } catch (error) {
        if (!(error instanceof FolderRefused) && !isOfDisk(error)) throw error;
        say({ refused: error instanceof Error ? error.message : '' });
      } finally {
        clearInterval(beat);
      }
      outgoing.end();
    },
  };
  const expected = Buffer.from(`Bearer ${secret}`);
  return (incoming, outgoing) => {
    const name = `${incoming.method ?? ''} ${targetOf(incoming).path}`;
    const received = Buffer.from(incoming.headers.authorization ?? '');
    const isOwner = received.length === expected.length && timingSafeEqual(received, expected);
    const handle = open[name] ?? (isOwner ? owned[name] : undefined);
    if (handle) return handle(incoming, outgoing);
    refuseBody(incoming, outgoing, 404, { message: 'Not Found' });
    return undefined;
  };
}
