/** The controls of a service for others: what the operator's command of its owner needs, on loopback. */
import { timingSafeEqual } from 'node:crypto';
import type { Publication } from '../front/publish.ts';
import { answerPath } from '../front/publish.ts';
import { type Handler, refuseBody, sendJson, targetOf } from '../http.ts';
import { proofPath } from '../service-record.ts';

export interface OwnerControlOptions {
  /** Of service.json, which only the owner of the folder can read. */
  readonly secret: string;
  readonly prove: (challenge: string) => string;
  readonly state: () => unknown;
  readonly publication: Pick<Publication, 'answer'>;
}

/** Other users of this machine reach the port as well: only the proof and the publication need no secret. */
export function createOwnerControl({ secret, prove, state, publication }: OwnerControlOptions): Handler {
  const open: Readonly<Record<string, Handler>> = {
    [`PUT ${answerPath}`]: publication.answer,
    [`GET ${proofPath}`]: (incoming, outgoing) => {
      const challenge = new URLSearchParams(targetOf(incoming).query).get('challenge') ?? '';
      sendJson(outgoing, 200, { proof: prove(challenge) });
    },
  };
  const owned: Readonly<Record<string, Handler>> = {
    'GET /_local/state': (_incoming, outgoing) => sendJson(outgoing, 200, state()),
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
