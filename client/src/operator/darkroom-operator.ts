import { DarkroomError } from '../errors.ts';
import { printAsText, transportOf } from '../http/connect.ts';
import { isPage, keyOf, type ServiceOptions } from '../options.ts';
import { type Calls, callsOf } from './calls.ts';

/** The options of a client of the operator API. */
export interface OperatorOptions extends ServiceOptions {
  /** An operator key (`dk_op_…`). The default is the environment variable DARKROOM_OPERATOR_KEY. */
  readonly apiKey?: string | undefined;
}

/**
 * The client of the operator API: it opens accounts, makes their keys, credits payments and reads usage. Each call needs
 * a scope of the key, which the reference of the operator API names.
 *
 * @example
 * ```ts
 * import { DarkroomOperator } from 'darkroom-client/operator';
 *
 * // Reads DARKROOM_OPERATOR_KEY and DARKROOM_BASE_URL.
 * const operator = new DarkroomOperator();
 * const account = await operator.accounts.create({ name: 'Studio', external_id: 'customer 4711' });
 * const { key } = await operator.keys.create(account.id, { name: 'first', daily_cap: 5 });
 * await operator.payments.create(account.id, { amount: 25, reference: 'invoice 4711' });
 * for await (const row of operator.wallet.ledger(account.id)) console.log(row.kind, row.amount); // payment 25
 * ```
 */
export class DarkroomOperator {
  readonly accounts: Calls<'accounts'>;
  readonly keys: Calls<'keys'>;
  readonly wallet: Calls<'wallet'>;
  readonly payments: Calls<'payments'>;
  readonly adjustments: Calls<'adjustments'>;
  readonly webhookSecrets: Calls<'webhookSecrets'>;
  readonly usage: Calls<'usage'>;
  readonly reports: Calls<'reports'>;
  readonly models: Calls<'models'>;
  readonly providers: Calls<'providers'>;
  readonly actions: Calls<'actions'>;
  /** The root of the operator API. */
  readonly baseUrl: string;

  constructor(options: OperatorOptions = {}) {
    if (isPage()) {
      throw new DarkroomError(
        'This is a page: everybody who opens it could read the operator key. Use the operator API from your server.',
      );
    }
    const key = keyOf(options, 'DARKROOM_OPERATOR_KEY');
    if (!key.startsWith('dk_op_')) {
      throw new DarkroomError(
        'The operator API takes keys that begin with dk_op_, which the command operator-keys create makes. Keys of accounts (dk_live_) and tokens of pages (dk_user_) are for the class Darkroom.',
      );
    }
    const authorization = { header: () => `Bearer ${key}`, renew: () => false };
    const transport = transportOf(options, () => authorization, '/api/operator/v1');
    this.baseUrl = transport.root;
    this.accounts = callsOf('accounts', transport);
    this.keys = callsOf('keys', transport);
    this.wallet = callsOf('wallet', transport);
    this.payments = callsOf('payments', transport);
    this.adjustments = callsOf('adjustments', transport);
    this.webhookSecrets = callsOf('webhookSecrets', transport);
    this.usage = callsOf('usage', transport);
    this.reports = callsOf('reports', transport);
    this.models = callsOf('models', transport);
    this.providers = callsOf('providers', transport);
    this.actions = callsOf('actions', transport);
    printAsText(this);
  }

  /** Names the address and never the key. */
  toString(): string {
    return `DarkroomOperator(${this.baseUrl})`;
  }

  /** Only the address, so that no log holds the key. */
  toJSON(): { baseUrl: string } {
    return { baseUrl: this.baseUrl };
  }
}
