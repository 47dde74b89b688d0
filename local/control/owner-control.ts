/** The controls of a service for others: what the operator's command of its owner needs, on loopback. */
import { timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import type { Manifest } from '../backup.ts';
import { FolderRefused, isOfDisk } from '../disk.ts';
import { answerPath, type Publication } from '../front/publish.ts';
import { type Handler, readBody, refuseBody, sendJson, targetOf } from '../http.ts';
import { parseJson } from '../json.ts';
import { proofPath } from '../service-record.ts';

export interface OwnerControlOptions {
  /** Of service.json, which only the owner of the folder can read. */
  readonly secret: string;
  readonly prove: (challenge: string) => string;
  readonly state: () => unknown;
  /** Copies the folder of the service into another one. */
  readonly backup: (to: string) => Promise<Manifest>;
  readonly publication: Pick<Publication, 'answer'>;
}

const maxBodyBytes = 64 * 1024;
const backupSchema = z.object({ to: z.string().min(1) });

/** Other users of this machine reach the port as well: only the proof and the publication need no secret. */
export function createOwnerControl({
  secret,
  prove,
  state,
  backup,
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
      try {
        const { made_at, files } = await backup(body.to);
        const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
        sendJson(outgoing, 200, { to: body.to, made_at, files: files.length, bytes });
      } catch (error) {
        if (!(error instanceof FolderRefused) && !isOfDisk(error)) throw error;
        sendJson(outgoing, 409, { message: error instanceof Error ? error.message : '' });
      }
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
