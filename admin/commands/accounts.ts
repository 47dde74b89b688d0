import type { Row } from '../../client/command/terminal/output.ts';
import type { NoticeSettings } from '../../service/accounts/account-settings-store.ts';
import type { AccountChange } from '../../service/accounts/account-store.ts';
import { type Account, type AccountCondition, conditions } from '../../service/accounts/account.ts';
import { resultMinutes } from '../../service/contract/limits.ts';
import { signedMinutesBy } from '../../service/creations/result-addresses.ts';
import { openAccount, setCreditLine as moveCreditLine } from '../../service/operated/accounts.ts';
import { checkNoticeUrl, setNotices } from '../../service/notices/alert-settings.ts';
import {
  asMicros,
  formatUsd,
  largestAvailableMicros,
  type Micros,
  toUsd,
} from '../../service/values/money.ts';
import type { OperatorCommand } from '../operator-command.ts';
import { knownModels, type MergedCatalog, readMerged } from '../catalog/merged-catalog.ts';
import { eraseAccount } from '../erase/account.ts';
import { exportAccount } from '../erase/export-account.ts';
import { noted } from '../erase/note.ts';
import { OperatorError } from '../operator-error.ts';
import { persist } from '../persistence.ts';
import type { OperatorServices } from '../services.ts';
import * as values from '../terminal/values.ts';
import { type ResultsChoice, resultsChange } from './results.ts';
import { addSetMany } from './set-many-accounts.ts';

export interface NewAccount extends values.LimitOptions {
  readonly name: string;
  readonly balance?: string;
  readonly creditLine?: string;
  readonly sandbox?: string;
}

interface AccountChanges extends values.LimitOptions, ResultsChoice {
  readonly sandbox?: string;
  readonly name?: string;
  readonly condition?: string;
  readonly creditLine?: string;
  readonly providers?: string;
  readonly hideModel?: string[];
  readonly showModel?: string[];
  readonly noticeUrl?: string;
  readonly lowBalance?: string;
}

export function addAccountCommands(program: OperatorCommand): void {
  const accounts = program.task('accounts', 'create, list, show, change, export and erase accounts');
  limitOptions(accounts.task('create', 'create an account'))
    .requiredOption('--name <name>', 'what it is called')
    .option('--balance <usd>', 'its opening balance in USD', '0')
    .option('--credit-line <usd>', 'how far it may go below zero, in USD', '0')
    .option('--sandbox <yes|no>', sandboxHelp, 'no')
    .run(async ({ services, output }, options: NewAccount) => {
      output.show(accountView(await createAccount(services, options), services));
    });
  accounts.task('list', 'all accounts, the oldest first').run(async ({ services, output }) => {
    await output.pages(accountRows(services), 'There is no account yet: accounts create --name NAME');
  });
  accounts
    .task('show <account>', 'one account with its balance and limits')
    .run(async ({ services, output }, id: string) =>
      output.show(accountView(await values.account(services, id), services)),
    );
  limitOptions(accounts.task('set <account>', 'change an account; takes effect at its next request'))
    .option('--name <name>', 'what it is called from now on')
    .option('--condition <condition>', `${conditions.join(', ')}; tried until it succeeds`)
    .option('--credit-line <usd>', 'how far it may go below zero, in USD')
    .option('--providers <list>', 'the only providers it may use, with commas between them; all; or none')
    .option('--hide-model <model...>', 'models that it does not see')
    .option('--show-model <model...>', 'models that it sees again')
    .option('--sandbox <yes|no>', sandboxHelp)
    .option('--notice-url <url>', "where its notices go; '' for nowhere")
    .option('--low-balance <usd>', "wallet.low is told below this, in USD; '' for never")
    .option('--results <access>', "addresses of its new results: signed, unguessable; '' as the service")
    .option('--results-minutes <n>', "how long a signed address opens its result; '' for an hour")
    .run(async ({ services, output, tell }, id: string, changes: AccountChanges) => {
      output.show(accountView(await changeAccount(services, id, changes, tell), services));
    });
  accounts
    .task('erase <account>', 'erase everything of an account but its books; a repetition goes on')
    .requiredOption('--confirm <name>', 'the name of the account')
    .run(async ({ services, output, tell, fail }, id: string, { confirm }: { confirm: string }) => {
      const account = await values.account(services, id);
      if (confirm !== account.name)
        throw new OperatorError(
          `--confirm: must be the name of the account, ${JSON.stringify(account.name)}.`,
        );
      const erased = await noted('eraseAccount', account.id, services, () =>
        eraseAccount(
          account,
          { ...services, ...(services.takesPayments && { forgetCard: services.payments().forgetCard }) },
          tell,
        ),
      );
      const { againAfter, ...counts } = erased;
      output.show({ account: account.id, ...counts, run_again_after: againAfter });
      if (erased.open > 0) fail();
    });
  accounts
    .task('export <account>', 'write everything that the service holds of an account into a folder')
    .requiredOption('--to <folder>', 'gets account.jsonl, creations.jsonl and images')
    .run(async ({ services, output }, id: string, { to }: { to: string }) => {
      const account = await values.account(services, id);
      output.show({ account: account.id, to, ...(await exportAccount(account, to, services)) });
    });
  addSetMany(limitOptions(accounts.command('set-many')));
}

const sandboxHelp = 'whether it is marked for the sandbox, whose directives can stop a renderer';

function limitOptions(command: OperatorCommand): OperatorCommand {
  return command
    .option('--post-rate <n>', 'POST requests a minute')
    .option('--get-rate <n>', 'GET requests a minute')
    .option('--user-post-rate <n>', 'POST requests a minute of each user token')
    .option('--user-get-rate <n>', 'GET requests a minute of each user token')
    .option('--max-concurrent <n>', 'creations open at once')
    .option('--deadline <seconds>', 'from acceptance to the end of a creation')
    .option('--max-unused-uploads <n>', 'uploads that no creation has used yet');
}

/** Creates an account. The opening balance and the credit line are separate ledger rows. */
export async function createAccount(services: OperatorServices, options: NewAccount): Promise<Account> {
  const balance = values.positiveUsd('--balance', options.balance ?? '0', 'zero');
  const creditLine = values.positiveUsd('--credit-line', options.creditLine ?? '0', 'zero');
  const outcome = await openAccount(
    {
      name: values.shownText('--name', options.name),
      limits: { ...services.defaultLimits, ...values.limits(options) },
      balanceMicros: balance,
      creditLineMicros: creditLine,
      ...(options.sandbox !== undefined && isYes('--sandbox', options.sandbox) && { sandbox: true }),
    },
    services,
  );
  switch (outcome.kind) {
    case 'opened':
      return outcome.account;
    case 'out_of_range':
      throw new OperatorError(`--balance, --credit-line: ${aboveTheLargest}`);
    case 'id_taken':
      throw new OperatorError('The id drawn for the account is taken: try again.');
  }
}

const aboveTheLargest = `what an account can spend must not exceed ${formatUsd(largestAvailableMicros)}.`;

/** Checks all options before it changes anything. */
async function changeAccount(
  services: OperatorServices,
  text: string,
  changes: AccountChanges,
  tell: (line: string) => void,
): Promise<Account> {
  const condition = conditions.find((known) => known === changes.condition);
  if (changes.condition !== undefined && !condition)
    throw new OperatorError(`--condition: must be one of ${conditions.join(', ')}.`);
  const creditLine =
    changes.creditLine === undefined
      ? undefined
      : values.positiveUsd('--credit-line', changes.creditLine, 'zero');
  const isOfCatalog = [changes.providers, changes.hideModel, changes.showModel].some(
    (value) => value !== undefined,
  );
  const merged = isOfCatalog ? await readMerged(services) : undefined;
  const change: AccountChange = {
    ...values.limits(changes),
    ...(changes.name !== undefined && { name: values.shownText('--name', changes.name) }),
    ...(changes.providers !== undefined && { providers: providers(changes.providers, merged) }),
    ...(changes.sandbox !== undefined && { sandbox: isYes('--sandbox', changes.sandbox) || null }),
    ...resultsChange(changes, services.signing),
  };
  const known = (ids: readonly string[] | undefined): readonly string[] =>
    merged ? knownModels(merged.catalog, ids) : [];
  const models = { hide: known(changes.hideModel), show: known(changes.showModel) };
  const notices = noticeSettings(changes);
  const hasNotices = Object.keys(notices).length > 0;
  const hasModels = models.hide.length + models.show.length > 0;
  const hasChange = Object.keys(change).length > 0;
  if (!condition && !hasChange && !hasModels && !hasNotices && creditLine === undefined)
    throw new OperatorError('Nothing to change: name at least one option (see --help).');
  const verdict = await checkNoticeUrl(notices.noticeUrl, services);
  if (verdict.kind === 'refused') throw new OperatorError(`--notice-url: ${verdict.why}.`);
  const account = condition
    ? await setCondition(services, text, condition, tell)
    : await values.account(services, text);
  if (hasChange) await services.accounts.change(account.id, change);
  if (hasModels) await services.accounts.changeHiddenModels(account.id, models);
  if (creditLine !== undefined) await setCreditLine(services, account, creditLine);
  if (hasNotices) await setNotices(account.id, notices, services);
  return values.account(services, account.id);
}

function isYes(option: string, text: string): boolean {
  if (text !== 'yes' && text !== 'no') throw new OperatorError(`${option}: must be yes or no.`);
  return text === 'yes';
}

/** An empty value removes the setting. */
function noticeSettings({ noticeUrl, lowBalance }: AccountChanges): NoticeSettings {
  return {
    ...(noticeUrl !== undefined && { noticeUrl: noticeUrl === '' ? null : noticeUrl }),
    ...(lowBalance !== undefined && {
      lowBalanceMicros:
        lowBalance === '' ? null : values.positiveUsd('--low-balance', lowBalance, 'above zero'),
    }),
  };
}

/** A suspension is urgent, so it is repeated until it succeeds, and the other changes come after it. */
async function setCondition(
  services: OperatorServices,
  text: string,
  condition: AccountCondition,
  tell: (line: string) => void,
): Promise<Account> {
  const work = async (): Promise<Account> => {
    const account = await values.account(services, text);
    await services.accounts.change(account.id, { condition });
    return account;
  };
  const account = await persist(`set the condition ${condition}`, work, { services, tell });
  tell(`The account ${account.id} is ${condition} from its next request on.`);
  return account;
}

async function setCreditLine(
  services: OperatorServices,
  account: Account,
  creditLine: Micros,
): Promise<void> {
  switch (await moveCreditLine(account, creditLine, services)) {
    case 'changed':
      return;
    case 'changed_meanwhile':
      throw new OperatorError(
        'The credit line was changed by somebody else at the same time: look at it and try again.',
      );
    case 'refused_beside':
    case 'out_of_range':
      throw new OperatorError(`--credit-line: ${aboveTheLargest}`);
  }
}

function providers(list: string, merged: MergedCatalog | undefined): 'all' | string[] {
  const names = list.split(',').map((name) => name.trim());
  if (names.includes(''))
    throw new OperatorError('--providers: a name is missing; write none for no provider at all.');
  if (names.length === 1 && names[0] === 'all') return 'all';
  if (names.length === 1 && names[0] === 'none') return [];
  const known = new Set([
    ...(merged?.catalog.models ?? []).flatMap((model) => model.routes.map((route) => route.provider)),
    ...(merged?.stored?.providers ?? []).map(({ name }) => name),
  ]);
  const unknown = names.find((name) => !known.has(name));
  if (unknown !== undefined)
    throw new OperatorError(
      `--providers: there is no provider ${unknown}; known are ${[...known].join(', ')}.`,
    );
  return [...new Set(names)];
}

async function* accountRows(services: OperatorServices): AsyncGenerator<readonly Row[]> {
  for await (const page of services.accounts.pages())
    yield page.map((account) => accountRow(account, services));
}

function accountRow(account: Account, services: OperatorServices): Row {
  const view = accountView(account, services);
  const names = ['id', 'name', 'condition', 'available', 'balance', 'credit_line', 'in_flight', 'created_at'];
  return Object.fromEntries(names.map((name) => [name, view[name]]));
}

/** The view of an account. Amounts are in USD. */
export function accountView(account: Account, { signing }: Pick<OperatorServices, 'signing'>): Row {
  const signedMinutes = signedMinutesBy(signing)(account);
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
    user_post_rate: account.limits.userPostRate,
    user_get_rate: account.limits.userGetRate,
    max_concurrent: account.limits.maxConcurrent,
    deadline: account.limits.deadlineSeconds,
    max_unused_uploads: account.limits.maxUnusedUploads,
    providers: account.policy.providers,
    hidden_models: account.policy.hiddenModels,
    sandbox: account.sandbox === true,
    results: signedMinutes === undefined ? 'unguessable' : 'signed',
    results_minutes: signedMinutes ?? account.resultsMinutes ?? resultMinutes.usual,
    webhook_secret_issued: account.webhookSecrets.length > 0,
    notice_url: account.noticeUrl ?? null,
    low_balance: account.lowBalanceMicros === undefined ? null : toUsd(account.lowBalanceMicros),
    created_at: account.createdAt,
  };
}
