import { describe, expect, it } from 'vitest';
import { OutcomeUnknown, Overloaded } from '../../service/values/errors.ts';
import { CredentialsUnreadable, refusedBy } from '../../service/vendors/provider.ts';
import { SecretLost } from '../../service/webhooks/secret-box.ts';

describe('the errors of core', () => {
  it.each([
    ['Overloaded', Overloaded],
    ['OutcomeUnknown', OutcomeUnknown],
    ['SecretLost', SecretLost],
    ['CredentialsUnreadable', CredentialsUnreadable],
  ])('An error has a name that the log shows: %s', (name, Kind) => {
    const cause = new Error('why');
    expect(new Kind('text', { cause })).toMatchObject({ name, message: 'text', cause });
  });
});

describe('a refusal by a provider', () => {
  it('A refusal has its reason, and a detail only when there is one', () => {
    expect(refusedBy('prompt')).toStrictEqual({ kind: 'refused', reason: 'prompt' });
    expect(refusedBy('failed', 'HTTP 500')).toStrictEqual({
      kind: 'refused',
      reason: 'failed',
      detail: 'HTTP 500',
    });
  });
});
