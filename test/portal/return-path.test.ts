/** Where a sign-in may lead back to. A link to the sign-in can name any page, and must lead to no foreign one. */
import { describe, expect, it } from 'vitest';
import { returnPath } from '../../service/portal/sign-in/login.ts';

/** The parts of paths that URL parsers treat in a special way, and some that they do not. */
const parts = [
  '/',
  '//',
  '..',
  '.',
  '%2e%2e',
  '%2f',
  '\\',
  '\t',
  '\n',
  'evil.test',
  'portal',
  '@',
  ':',
  '?',
  '#',
];

/** Every path of up to five parts. */
function* paths(length: number): Generator<string> {
  yield '/';
  if (length === 0) return;
  for (const rest of paths(length - 1)) for (const part of parts) yield `${rest}${part}`;
}

describe.each(['https://portal.test/', 'https://portal.test/portal/'])('a portal at %s', (address) => {
  const portalUrl = new URL(address);

  it('A sign-in returns to the page that it was begun for', () => {
    const page = `${portalUrl.pathname}creations?status=failed&user=a%2Fb`;
    expect(returnPath(page, portalUrl)).toBe(page);
  });

  it.each([
    '/..//evil.test',
    '/%2e%2e//evil.test',
    '/.//evil.test',
    '//evil.test',
    '/\\evil.test',
    '/portal/..//evil.test',
  ])('A sign-in that is to return to %s returns to the first page', (wanted) => {
    expect(returnPath(wanted, portalUrl)).toBe(portalUrl.pathname);
  });

  it('Whatever a sign-in is to return to, a browser reads the result as the same path of the portal', () => {
    const foreign = [...new Set(paths(4))].filter((wanted) => {
      const path = returnPath(wanted, portalUrl);
      const read = new URL(path, portalUrl);
      const isSame = read.href === `${portalUrl.origin}${path}`;
      return !isSame || read.origin !== portalUrl.origin || !read.pathname.startsWith(portalUrl.pathname);
    });
    expect(foreign).toEqual([]);
  });
});
