import { type AnsweredRow, type Reply, row as answeredRow } from '../fake-vendor.ts';

/** The ways in which every fake of the family answers. own-servers.ts and vendors.ts add those of one server. */
export interface CompatibleRow extends AnsweredRow {
  /**
   * Absent: the fake renders a picture. A number is the status of a recorded answer, whose body is in
   * lab/vendors/answers/. 'address': the answer has the address of the picture.
   */
  readonly reply?: number | Reply | 'address';
}

export function row(
  name: string,
  says: string,
  answers: CompatibleRow['answers'],
  reply?: CompatibleRow['reply'],
  sources?: number,
): CompatibleRow {
  return answeredRow(name, says, answers, {
    ...(reply !== undefined && { reply }),
    ...(sources !== undefined && { sources }),
  });
}

const pictureIn = (b64_json: unknown): Reply => ({ status: 200, body: { created: 1, data: [{ b64_json }] } });

/** What can happen at any server. The recorded answers `error` and `down` are in the words of each. */
export const commonRows: readonly CompatibleRow[] = [
  row('success', 'a picture', 'rendered'),
  row('error', '500', 'failed', 500),
  row('down', '503', 'unavailable', 503),
  row('gateway', '502 of a proxy on the way', 'failed', {
    status: 502,
    body: '<html>502 Bad Gateway</html>',
  }),
  row('payment', '402', 'credentials', { status: 402, body: {} }),
  row('empty', '200 without a picture', 'nothing_rendered', { status: 200, body: { data: [] } }),
  row('empty-picture', '200 with an empty picture', 'nothing_rendered', pictureIn('')),
  {
    ...row('no-picture', '200 with a text for a picture', 'rendered', pictureIn('PGh0bWw+')),
    ends: 'InternalFailure',
  },
  row('unknown-shape', '200 with a body of another shape', 'unknown_answer', pictureIn(7)),
  row('redirect', '302 to another host', 'unknown_answer', {
    status: 302,
    headers: { location: 'https://elsewhere.test/' },
  }),
  row('break', 'a connection that is closed after the request', 'unknown_outcome', { status: 'break' }),
];

/** A picture from two source images, and a source image that is too large for a proxy on the way. */
export const sourceRows: readonly CompatibleRow[] = [
  row('sources', 'a picture made from two source images', 'rendered', undefined, 2),
  row('too-large', '413', 'source_image', { status: 413, body: '<html>413</html>' }, 1),
];

export const throttledRow = row('throttled', '429', 'unavailable', 429);
