/** The accounts at the vendors whose callbacks are ours: `providers set --callback-account`, `providers callbacks`. */
import { callbackAccountOf } from '../../service/vendors/provider.ts';
import type { ProviderName } from '../../service/catalog/providers.ts';
import type { Row } from '../../client/command/terminal/output.ts';
import { OperatorError } from '../operator-error.ts';
import type { OperatorServices } from '../services.ts';

/**
 * What proves that a callback comes from our account at the vendor. 'account': the operator names the account,
 * because every account gets the same signature. 'key': the vendor signs with a secret of the account, which
 * our key reads.
 */
const proofs: Readonly<Record<string, 'account' | 'key' | undefined>> = {
  fal: 'account',
  replicate: 'key',
} satisfies Partial<Record<ProviderName, 'account' | 'key'>>;

/** Printable ASCII without spaces, such as `github|1234567`. The documents of fal give no form. */
const accountForm = /^[\x21-\x7e]{3,200}$/;

/** @param text the value of --callback-account; empty or false: no account is named any more */
export async function setCallbackAccount(
  services: OperatorServices,
  name: string,
  text: string | false,
): Promise<Row> {
  if (proofs[name] !== 'account') throw new OperatorError(`--callback-account: ${whyNone(name)}`);
  const account = text === false || text === '' ? undefined : accountId(text);
  await services.credentials.setCallbackAccount(name, account);
  return { provider: name, callback_account: account ?? null };
}

function whyNone(name: string): string {
  return proofs[name] === 'key'
    ? `${name} needs no account, because its token proves the account: leave the option out.`
    : `${name} does not call back, so that its jobs are polled: leave the option out.`;
}

function accountId(text: string): string {
  const refuse = (why: string): never => {
    throw new OperatorError(
      `--callback-account: ${why}: give the user id, as the header X-Fal-Webhook-User-Id of one of your webhooks has it.`,
    );
  };
  // An error never repeats the value, because it may be a key.
  if (text.includes(':')) return refuse('this looks like a key or an address');
  if (text.includes('@')) return refuse('this looks like an e-mail address');
  return accountForm.test(text) ? text : refuse('a user id has 3 to 200 printable characters and no spaces');
}

/** Which vendors may call back, and what is missing. */
export async function callbackRows({ credentials, vendorAccess }: OperatorServices): Promise<Row[]> {
  const keys = await credentials.names();
  return Promise.all(
    Object.entries(proofs).map(async ([name, proof]) => {
      const account = await vendorAccess.credentials.read(callbackAccountOf(name));
      const missing = [
        ...(keys.includes(name) ? [] : ['key']),
        ...(proof === 'account' && account === undefined ? ['account'] : []),
      ];
      return {
        provider: name,
        verifiable: missing.length === 0 ? 'yes' : 'no',
        callback_account: proof === 'key' ? 'that of the key' : (account ?? null),
        missing,
      };
    }),
  );
}
