import { sign, type KeyObject } from 'node:crypto';

/**
 * Moves an ID token to the virtual clock. The provider knows only real time, and the service, whose clock a test
 * may have set ahead, would find the token expired.
 */
export function atVirtualTime(answer: { body?: unknown }, now: () => number, key: KeyObject): void {
  const { body } = answer;
  if (typeof body !== 'object' || body === null || !('id_token' in body)) return;
  const [header = '', payload = ''] = String(body.id_token).split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { iat: number; exp: number };
  const iat = Math.floor(now() / 1000);
  const moved = JSON.stringify({ ...claims, iat, exp: iat + claims.exp - claims.iat });
  const signed = `${header}.${Buffer.from(moved).toString('base64url')}`;
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
  answer.body = { ...body, id_token: `${signed}.${signature.toString('base64url')}` };
}
