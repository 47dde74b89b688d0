import { type AnsweredRow, reply, type Reply, row } from '../fake-vendor.ts';

/** The ways in which every fake of the family answers. Each server adds its own. */
export interface CompatibleRow extends AnsweredRow {
  /** Absent: the fake renders a picture. 'address': the answer has the address of the picture. */
  readonly reply?: Reply | 'address';
}

const pictureIn = (b64_json: unknown): Reply => reply(200, { created: 1, data: [{ b64_json }] });

/** What can happen at any server. It says in its own words that it failed, or is down. */
export const commonRows = (error: Reply, down: Reply): readonly CompatibleRow[] => [
  row('success', 'a picture', 'rendered'),
  row('error', '500', 'failed', { reply: error }),
  row('down', '503', 'unavailable', { reply: down }),
  row('gateway', '502 of a proxy on the way', 'failed', {
    reply: reply(502, '<html>502 Bad Gateway</html>'),
  }),
  row('payment', '402', 'credentials', { reply: reply(402, {}) }),
  row('empty', '200 without a picture', 'nothing_rendered', { reply: reply(200, { data: [] }) }),
  row('empty-picture', '200 with an empty picture', 'nothing_rendered', { reply: pictureIn('') }),
  row('no-picture', '200 with a text for a picture', 'rendered', {
    reply: pictureIn('PGh0bWw+'),
    ends: 'InternalFailure',
  }),
  row('unknown-shape', '200 with a body of another shape', 'unknown_answer', { reply: pictureIn(7) }),
  row('redirect', '302 to another host', 'unknown_answer', {
    reply: { status: 302, headers: { location: 'https://elsewhere.test/' } },
  }),
  row('break', 'a connection that is closed after the request', 'unknown_outcome', {
    reply: { status: 'break' },
  }),
];

/** A picture from two source images, and a source image that is too large for a proxy on the way. */
export const sourceRows: readonly CompatibleRow[] = [
  row('sources', 'a picture made from two source images', 'rendered', { sources: 2 }),
  row('too-large', '413', 'source_image', { reply: reply(413, '<html>413</html>'), sources: 1 }),
];
