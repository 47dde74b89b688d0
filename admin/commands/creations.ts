import type { Row } from '../../client/command/terminal/output.ts';
import type { Account } from '../../service/accounts/account.ts';
import { placeOfRequest } from '../../service/api/request-id.ts';
import { copyAgain } from '../../service/copies/copy-again.ts';
import { cancelCreation } from '../../service/creations/cancel.ts';
import { owedCopy } from '../../service/creations/copy-items.ts';
import { type CreationRecord, creationStatuses, isTerminal } from '../../service/creations/creation.ts';
import { eraseCreation } from '../../service/creations/erase.ts';
import { checkAfterCommand, subjectOf } from '../../service/notices/check-thresholds.ts';
import { readLedgerRows } from '../../service/usage/booked-row-reads.ts';
import type { AccountId, CreationId } from '../../service/values/ids.ts';
import { isKnownVersion, schema } from '../../service/values/runtime.ts';
import type { OperatorCommand } from '../operator-command.ts';
import { creationDetails, creationRow } from '../creation-view.ts';
import { OperatorError } from '../operator-error.ts';
import type { OperatorServices } from '../services.ts';
import * as values from '../terminal/values.ts';

/** Finds creations: those of an account, or the one that a request made. */
interface ListOptions {
  readonly status?: string;
  readonly model?: string;
  readonly user?: string;
  readonly limit: string;
}

type Store = Pick<OperatorServices, 'creations'>;

/**
 * BatchGetItem takes at most 100 keys and gives at most 16 MB. An item has at most 400 KB, so 40 items always fit.
 */
const pageSize = 40;
const mostListed = 1_000;
const mostDays = 365;
const dayMillis = 86_400_000;

/** The newest creations of an account that match the options. Reads pages until it has enough creations. */
async function listCreations(
  services: Store,
  account: Account,
  options: ListOptions,
): Promise<CreationRecord[]> {
  const status = creationStatuses.find((known) => known === options.status);
  if (options.status !== undefined && !status)
    throw new OperatorError(`--status: must be one of ${creationStatuses.join(', ')}.`);
  const limit = values.count('--limit', options.limit, 1, mostListed);
  const found: CreationRecord[] = [];
  for await (const creation of newestFirst(services, account.id)) {
    const fits =
      (!status || creation.status === status) &&
      (options.model === undefined || creation.model === options.model) &&
      (options.user === undefined || creation.user === options.user);
    if (fits) found.push(creation);
    if (found.length === limit) break;
  }
  return found;
}

/** The creation that a request made. The ledger row of the charge names the request, and its id the account. */
async function findByRequest(
  services: OperatorServices,
  requestId: string,
  options: { readonly account?: string; readonly days: string },
): Promise<CreationRecord | undefined> {
  const days = values.count('--days', options.days, 1, mostDays);
  const now = services.clock.now();
  const since = new Date(now - days * dayMillis).toISOString();
  // The last row can be of the next day, by the clock of another machine.
  const read = { from: since.slice(0, 10), to: new Date(now + dayMillis).toISOString().slice(0, 10) };
  const only = options.account ?? placeOfRequest(requestId)?.accountId;
  for await (const account of accountsOf(services, only)) {
    for await (const rows of readLedgerRows(services.table, account, read)) {
      const charge = rows.find((row) => row.requestId === requestId && row.at >= since);
      if (charge?.creationId !== undefined) return (await services.creations.readAll([charge.creationId]))[0];
    }
  }
  return undefined;
}

/** The accounts whose ledgers are read: the given one, or all. */
export async function* accountsOf(
  services: OperatorServices,
  only: string | undefined,
): AsyncGenerator<AccountId> {
  if (only !== undefined) yield (await values.account(services, only)).id;
  else for await (const page of services.accounts.pages()) for (const { id } of page) yield id;
}

async function* newestFirst({ creations }: Store, account: AccountId): AsyncGenerator<CreationRecord> {
  let before: CreationId | undefined;
  for (;;) {
    const page = await creations.list(account, pageSize, before);
    if (page.length === 0) return;
    yield* page;
    before = page.at(-1)?.id;
  }
}

const restartGraceMillis = 60_000;

export function addCreationCommands(program: OperatorCommand): void {
  const creations = program.task(
    'creations',
    'list and find creations; look at one, restart it, cancel it, copy it, erase it, refund it',
  );
  creations
    .task('list <account>', 'the creations of an account, the newest first')
    .option('--status <status>', creationStatuses.join(', '))
    .option('--model <id>', 'only this model')
    .option('--user <user>', 'only those that the client rendered for this user')
    .option('--limit <n>', 'how many', '20')
    .run(async ({ services, output }, id: string, options: ListOptions) => {
      const found = await listCreations(services, await values.account(services, id), options);
      output.list(found.map(creationRow), 'There is no such creation.');
    });
  creations
    .task(
      'find <request-id>',
      'the creation that a request made, by the X-Request-Id of its answer; reads the ledger of every account, or of one',
    )
    .option('--account <account>', 'only this one; otherwise all accounts')
    .option('--days <n>', 'how far back', '7')
    .run(async ({ services, output }, requestId: string, options: { account?: string; days: string }) => {
      const found = await findByRequest(services, requestId, options);
      if (!found)
        throw new OperatorError(
          `No creation of the last ${options.days} days was made by the request ${requestId}: a refused or replayed request makes none. --days looks further back.`,
        );
      output.show(await details(services, found));
    });
  creations
    .task(
      'show <id>',
      'everything that is known of a creation: what was asked, the providers tried, the webhook',
    )
    .run(async ({ services, output }, id: string) =>
      output.show(await details(services, await read(services, id))),
    );
  creations
    .task('restart <id>', 'start its next execution: it goes on where the record says')
    .run(async ({ services, output }, id: string) =>
      output.show(await restart(services, await read(services, id))),
    );
  creations
    .task(
      'cancel <id>',
      'cancel a creation as its client can: nothing was sent, or its vendor confirms that it stopped',
    )
    .run(async ({ services, output }, id: string) =>
      output.show(await cancel(services, await read(services, id))),
    );
  creations
    .task('copy <id>', 'copy its picture again into the bucket of its account, as its client can')
    .run(async ({ services, output }, id: string) =>
      output.show(await copy(services, await read(services, id))),
    );
  creations
    .task(
      'erase <id...>',
      'erase texts and images of creations that have ended, as their client can; the books stay',
    )
    .run(async ({ services, output, fail }, ids: string[]) => {
      const rows = await erase(services, ids.map(values.creationId));
      output.list(rows, '');
      if (rows.some(({ outcome }) => outcome !== 'erased')) fail();
    });
  creations
    .task('refund <id>', 'fail an open creation and give its charge back')
    .run(async ({ services, output }, id: string) =>
      output.show(await refund(services, await read(services, id))),
    );
}

async function details(services: OperatorServices, creation: CreationRecord): Promise<Row> {
  return creationDetails(creation, (await services.wallet.charge(creation))?.requestId);
}

async function read(services: OperatorServices, text: string): Promise<CreationRecord> {
  const [creation] = await services.creations.readAll([values.creationId(text)]);
  if (!creation) throw new OperatorError(`There is no creation ${text}.`);
  return creation;
}

async function copy(services: OperatorServices, creation: CreationRecord): Promise<Row> {
  requireKnown(creation);
  if (!(await services.buckets.read(creation.accountId)))
    throw new OperatorError('The account has no bucket for results.');
  const outcome = await copyAgain(creation, { ...services, schema });
  if (outcome !== 'started') throw new OperatorError(`Its picture is not copied again: ${outcome}.`);
  return details(services, { ...creation, copy: owedCopy });
}

async function restart(services: OperatorServices, creation: CreationRecord): Promise<Row> {
  requireKnown(creation);
  if (creation.dueAt === undefined)
    throw new OperatorError(
      `The creation is ${creation.status} and its webhook settled: there is nothing left to do.`,
    );
  const number = creation.executions + 1;
  const noted = await services.openWork.noteStart(
    creation,
    services.clock.now() + restartGraceMillis,
    number,
  );
  if (!noted) throw new OperatorError('The creation moved on meanwhile: look at it again.');
  const outcome = await services.executions.start(creation, number);
  if (outcome !== 'started')
    throw new OperatorError(`The execution could not be started (${outcome}); the reconciler tries again.`);
  return { id: creation.id, execution: number, outcome };
}

/** The command may be older than the release that accepted the creation. */
function requireKnown({ v }: CreationRecord): void {
  if (!isKnownVersion(v, schema))
    throw new OperatorError(
      'A newer release than this command has accepted the creation: use the command of that release.',
    );
}

async function cancel(services: OperatorServices, creation: CreationRecord): Promise<Row> {
  requireKnown(creation);
  const { kind, creation: latest } = await cancelCreation(creation, {}, services.cancellation);
  if (kind === 'not_cancellable')
    throw new OperatorError(
      isTerminal(latest.status)
        ? `The creation is ${latest.status} already.`
        : 'A provider works on the creation, and it did not confirm that it stopped; `creations refund` ends the creation all the same.',
    );
  return details(services, await read(services, creation.id));
}

/** A repetition continues where an earlier run was cut off. */
async function erase(services: OperatorServices, ids: readonly CreationId[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const id of ids) {
    const creation = await services.creations.read(id);
    if (creation) requireKnown(creation);
    const kind = creation ? (await eraseCreation(creation, 'operator', services.erasure)).kind : 'absent';
    rows.push({ id, outcome: kind });
  }
  return rows;
}

async function refund(services: OperatorServices, creation: CreationRecord): Promise<Row> {
  requireKnown(creation);
  if (isTerminal(creation.status)) {
    throw new OperatorError(
      `The creation is ${creation.status} already; give money back with \`wallet adjust ${creation.accountId}\`.`,
    );
  }
  const refund = { failure: 'InternalFailure', nowMillis: services.clock.now(), announce: true } as const;
  const outcome = await services.charges.refund(creation, refund);
  if (outcome === 'busy') throw new OperatorError('The table was too busy; nothing was changed: try again.');
  if (outcome === 'refunded') await checkAfterCommand(subjectOf(creation), services);
  return details(services, await read(services, creation.id));
}
