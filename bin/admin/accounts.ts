import type { Command } from 'commander';
import { conditions, type Account } from '../../core/account.ts';
import { randomBase62 } from '../../core/base62.ts';
import type { Catalog } from '../../core/catalog.ts';
import type { AccountId } from '../../core/ids.ts';
import { asMicros, toUsd } from '../../core/money.ts';
import models from '../../catalog/models.json' with { type: 'json' };
import type { Admin } from './admin.ts';
import { OperatorError } from './operator-error.ts';
import type { Row } from './output.ts';
import type { OperatorServices } from './services.ts';
import * as values from './values.ts';

const catalog = models as Catalog;

export interface NewAccount extends values.LimitOptions {
  readonly name: string;
  readonly balance?: string;
  readonly creditLine?: string;
}

interface AccountChanges extends values.LimitOptions {
  readonly condition?: string;
  readonly creditLine?: string;
  readonly providers?: string;
  readonly hideModel?: string[];
  readonly showModel?: string[];
}

export function addAccountCommands(program: Command, admin: Admin): void {
  const accounts = program.command('accounts').description('create, list, show and change accounts');
  limitOptions(accounts.command('create').description('create an account'))
    .requiredOption('--name <name>', 'what it is called')
    .option('--balance <usd>', 'its opening balance in USD', '0')
    .option('--credit-line <usd>', 'how far it may go below zero, in USD', '0')
    .action(admin.run(async ({ services, output }, options: NewAccount) => {
      output.show(accountView(await createAccount(services, options)));
    }));
  accounts
    .command('list')
    .description('all accounts, the oldest first')
    .action(admin.run(async ({ services, output }) => {
      output.list((await services.accounts.list()).map(accountRow), 'There is no account yet: accounts create --name NAME');
    }));
  accounts
    .command('show <account>')
    .description('one account with its balance and limits')
    .action(admin.run(async ({ services, output }, id: string) => output.show(accountView(await values.account(services, id)))));
  limitOptions(accounts.command('set <account>').description('change an account; takes effect at its next request'))
    .option('--condition <condition>', conditions.join(', '))
    .option('--credit-line <usd>', 'how far it may go below zero, in USD')
    .option('--providers <list>', 'the only providers it may use, with commas between them; or all')
    .option('--hide-model <model...>', 'models that it does not see')
    .option('--show-model <model...>', 'models that it sees again')
    .action(admin.run(async ({ services, output }, id: string, changes: AccountChanges) => {
      output.show(accountView(await changeAccount(services, await values.account(services, id), changes)));
    }));
}

function limitOptions(command: Command): Command {
  return command
    .option('--post-rate <n>', 'POST requests a minute')
    .option('--get-rate <n>', 'GET requests a minute')
    .option('--max-concurrent <n>', 'creations open at once')
    .option('--deadline <seconds>', 'from acceptance to the end of a creation');
}

/** Creates an account; its opening balance and credit line are ledger rows of their own. */
export async function createAccount(services: OperatorServices, options: NewAccount): Promise<Account> {
  const balance = values.positiveUsd('--balance', options.balance ?? '0', 'zero');
  const creditLine = values.positiveUsd('--credit-line', options.creditLine ?? '0', 'zero');
  const account: Account = {
    id: randomBase62(10, services.randomBytes) as AccountId,
    name: options.name,
    condition: 'active',
    availableMicros: asMicros(0),
    creditLineMicros: asMicros(0),
    inFlight: 0,
    limits: { ...services.defaultLimits, ...values.limits(options) },
    policy: { providers: 'all', hiddenModels: [] },
    webhookSecrets: [],
    createdAt: new Date(services.clock.now()).toISOString(),
  };
  if (!(await services.accounts.create(account))) throw new OperatorError('The id drawn for the account is taken: try again.');
  if (balance > 0) await services.wallet.topUp(account.id, balance, 'opening balance');
  if (creditLine > 0) await services.wallet.setCreditLine(account.id, account.creditLineMicros, creditLine);
  return values.account(services, account.id);
}

async function changeAccount(services: OperatorServices, account: Account, changes: AccountChanges): Promise<Account> {
  const condition = conditions.find((known) => known === changes.condition);
  if (changes.condition !== undefined && !condition) throw new OperatorError(`--condition: must be one of ${conditions.join(', ')}.`);
  const creditLine = changes.creditLine === undefined ? undefined : values.positiveUsd('--credit-line', changes.creditLine, 'zero');
  const change = {
    ...values.limits(changes),
    ...(condition && { condition }),
    ...(changes.providers !== undefined && { providers: providers(changes.providers) }),
    ...((changes.hideModel ?? changes.showModel) && { hiddenModels: hiddenModels(account, changes) }),
  };
  if (Object.keys(change).length === 0 && creditLine === undefined) throw new OperatorError('Nothing to change: name at least one option (see --help).');
  if (Object.keys(change).length > 0) await services.accounts.change(account.id, change);
  if (creditLine !== undefined && !(await services.wallet.setCreditLine(account.id, account.creditLineMicros, creditLine))) {
    throw new OperatorError('The credit line was changed by somebody else at the same time: look at it and try again.');
  }
  return values.account(services, account.id);
}

function providers(list: string): 'all' | string[] {
  if (list === 'all') return 'all';
  const known = new Set<string>(catalog.models.flatMap((model) => model.routes.map((route) => route.provider)));
  const names = list.split(',').map((name) => name.trim()).filter((name) => name !== '' && name !== 'none');
  const unknown = names.find((name) => !known.has(name));
  if (unknown !== undefined) throw new OperatorError(`--providers: there is no provider ${unknown}; known are ${[...known].join(', ')}.`);
  return names;
}

function hiddenModels(account: Account, { hideModel = [], showModel = [] }: AccountChanges): string[] {
  const unknown = [...hideModel, ...showModel].find((id) => !catalog.models.some((model) => model.id === id));
  if (unknown !== undefined) throw new OperatorError(`There is no model ${unknown} in the catalog.`);
  return [...new Set([...account.policy.hiddenModels, ...hideModel])].filter((id) => !showModel.includes(id));
}

function accountRow(account: Account): Row {
  const view = accountView(account);
  const names = ['id', 'name', 'condition', 'available', 'balance', 'credit_line', 'in_flight', 'created_at'];
  return Object.fromEntries(names.map((name) => [name, view[name]]));
}

/** An account as the command shows it; amounts in USD. */
function accountView(account: Account): Row {
  return {
    id: account.id,
    name: account.name,
    condition: account.condition,
    available: toUsd(account.availableMicros),
    balance: toUsd(asMicros(account.availableMicros - account.creditLineMicros)),
    credit_line: toUsd(account.creditLineMicros),
    in_flight: account.inFlight,
    post_rate: account.limits.postRate,
    get_rate: account.limits.getRate,
    max_concurrent: account.limits.maxConcurrent,
    deadline: account.limits.deadlineSeconds,
    providers: account.policy.providers,
    hidden_models: account.policy.hiddenModels,
    webhook_secret_issued: account.webhookSecrets.length > 0,
    created_at: account.createdAt,
  };
}
