/** How many invitations an account may have and send. */
import { describe, expect, it } from 'vitest';
import { poolEmailsADay, roomForInvitation } from '../../service/portal/invitation-room.ts';
import type { Invitation } from '../../service/portal/people.ts';
import { accountId, now } from '../fixtures/records.ts';

const invitations = (count: number, expiresAt = now + 1): Invitation[] =>
  Array.from({ length: count }, (_, index) => ({
    id: `invitation-${index}`,
    accountId,
    email: `person-${index}@acme.test`,
    role: 'viewer',
    invitedAt: new Date(now).toISOString(),
    invitedBy: 'operator',
    expiresAt,
  }));

const room = (
  listed: readonly Invitation[],
  sent = { byAccount: 0, inAll: 0 },
  emailsADay = poolEmailsADay,
  id = 'new',
) => roomForInvitation({ id }, listed, sent, { emailsADay, nowMillis: now });

describe('the open invitations of an account', () => {
  it('Twenty may be open, and a repetition for the same address is not one more', () => {
    expect(room(invitations(19)).kind).toBe('room');
    expect(room(invitations(20))).toEqual({ kind: 'too_many_open', limit: 20, current: 20 });
    expect(room(invitations(20), undefined, undefined, 'invitation-7').kind).toBe('room');
  });

  it('An invitation that has ended is not open', () => {
    expect(room([...invitations(19), ...invitations(30, now)]).kind).toBe('room');
  });
});

describe('the invitations of a day', () => {
  it('An account sends at most twenty, also where nobody sends e-mails', () => {
    for (const emailsADay of [poolEmailsADay, Infinity]) {
      expect(room([], { byAccount: 19, inAll: 19 }, emailsADay).kind).toBe('room');
      expect(room([], { byAccount: 20, inAll: 20 }, emailsADay)).toEqual({
        kind: 'too_many_sent',
        limit: 20,
        current: 20,
      });
    }
  });

  it('Accounts that send all they may, one after the other, leave each next account a share and never pass the sender', () => {
    const shares: number[] = [];
    let inAll = 0;
    for (let account = 0; account < 8; account += 1) {
      let byAccount = 0;
      while (room([], { byAccount, inAll }).kind === 'room') {
        byAccount += 1;
        inAll += 1;
      }
      shares.push(byAccount);
    }
    expect(shares).toEqual([20, 15, 8, 4, 2, 1, 0, 0]);
    expect(inAll).toBeLessThanOrEqual(poolEmailsADay);
  });

  it('Where nobody sends e-mails, other accounts take nothing away', () => {
    expect(room([], { byAccount: 0, inAll: 1_000 }, Infinity).kind).toBe('room');
  });
});
